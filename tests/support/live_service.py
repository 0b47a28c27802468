"""A real service on loopback, and clips to send it."""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import soundfile

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
requests = pytest.importorskip("requests")

from sottovoce.serve.app import listen, make_server  # noqa: E402
from sottovoce.serve.settings import Settings  # noqa: E402


@dataclass
class Service:
    """A service that runs."""

    url: str
    app: Any
    session: Any

    def post(self, path: str, **given: Any) -> Any:
        return self.session.post(self.url + path, timeout=60, **given)

    def get(self, path: str, **given: Any) -> Any:
        return self.session.get(self.url + path, timeout=60, **given)


@contextmanager
def running(**settings: Any) -> Iterator[Service]:
    chosen = Settings(**{"port": 0, "workers": 2, **settings})
    server, listener = make_server(chosen), listen(chosen)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        end = time.monotonic() + 120
        while not server.started and time.monotonic() < end:
            time.sleep(0.01)
        assert server.started
        with requests.Session() as session:
            session.trust_env = False
            port = listener.getsockname()[1]
            yield Service(f"http://127.0.0.1:{port}", server.config.app, session)
    finally:
        server.should_exit = True
        thread.join(20)
        listener.close()


def clip(seed: int = 0, *, rate: int = 16000, seconds: float = 1.0, kind: str = "WAV") -> bytes:
    """A synthetic vowel with some noise; after two seconds it repeats."""
    rng = np.random.default_rng(seed)
    length = int(rate * seconds)
    n = min(length, 2 * rate)
    t = np.arange(n) / rate
    f0 = 110 + 10 * seed % 90 + 5 * np.sin(2 * np.pi * 3 * t)
    phase = 2 * np.pi * np.cumsum(f0) / rate
    sound = sum(np.sin(k * phase) * np.exp(-((k * 120 - 700) ** 2) / 4e5) for k in range(1, 20))
    sound = 0.2 * sound / np.abs(sound).max() + 0.003 * rng.normal(size=n)
    buffer = io.BytesIO()
    soundfile.write(buffer, np.resize(sound, length), rate, format=kind, subtype="PCM_16")
    return buffer.getvalue()


def samples(data: bytes) -> tuple[Any, int]:
    audio, rate = soundfile.read(io.BytesIO(data), dtype="float64")
    return audio, rate
