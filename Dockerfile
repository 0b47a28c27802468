# The service and its page: docker build -t sottovoce . && docker run -p 127.0.0.1:5000:5000 sottovoce
FROM python:3.11-slim

RUN useradd --create-home --uid 10001 sottovoce
WORKDIR /app
COPY pyproject.toml README.md LICENSE constraints.txt ./
COPY src ./src
RUN pip install --no-cache-dir -c constraints.txt '.[serve,align]'

USER sottovoce
ENV PYTHONUNBUFFERED=1 OMP_NUM_THREADS=1
EXPOSE 5000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
  CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:5000/healthz', timeout=4)"]
# Inside a container 0.0.0.0 is the container itself; the option -p decides who can reach it.
CMD ["sottovoce", "serve", "--host", "0.0.0.0", "--port", "5000", "--insecure"]
