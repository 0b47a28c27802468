"""The service: FastAPI routers, worker processes and a static page."""
