"""A real service on the loopback interface, and clips to send to it."""

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
from signals import harmonics, noise, tone

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
requests = pytest.importorskip("requests")

from sottovoce.serve.app import listen, make_server  # noqa: E402
from sottovoce.serve.settings import Settings  # noqa: E402


@dataclass
class Service:
    """A running service."""

    url: str
    app: Any
    session: Any

    def post(self, path: str, **options: Any) -> Any:
        return self.session.post(self.url + path, timeout=60, **options)

    def get(self, path: str, **options: Any) -> Any:
        return self.session.get(self.url + path, timeout=60, **options)


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
    """Return an audio file of a synthetic vowel with some noise; after two seconds it repeats."""
    period = min(seconds, 2.0)
    pitch = 110 + 10 * seed % 90 + tone(3, period, rate=rate, level=5)
    weights = [np.exp(-((k * 120 - 700) ** 2) / 4e5) for k in range(1, 20)]
    sound = harmonics(pitch, weights, period, rate=rate)
    hiss = noise(period, rate=rate, level=0.003, seed=seed)
    sound = 0.2 * sound / np.abs(sound).max() + hiss
    buffer = io.BytesIO()
    samples = np.resize(sound, int(rate * seconds))
    soundfile.write(buffer, samples, rate, format=kind, subtype="PCM_16")
    return buffer.getvalue()


def samples(data: bytes) -> tuple[Any, int]:
    audio, rate = soundfile.read(io.BytesIO(data), dtype="float64")
    return audio, rate
