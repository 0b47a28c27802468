"""What several test modules share.

One hypothesis profile for all: the same examples on every run, no deadline on busy machines.
``pytest --hypothesis-profile=explore`` draws new and many more examples.
"""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator

import pytest
from hypothesis import settings

from sottovoce.measure import acceleration, intervals

settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=60)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile("repeatable")

COMPILED = "sottovoce.measure.compiled"


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing in the package may reach for the network."""

    def refuse(*_: object) -> None:
        raise AssertionError("something reached for the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.fixture(params=["plain", "compiled"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Run a test twice: on numpy and scipy alone, and on the compiled loops if numba is there."""
    if request.param == "plain":
        monkeypatch.setattr(acceleration, "load", lambda: None)
        monkeypatch.setattr(acceleration, "loaded", lambda: None)
        yield "plain"
        return
    pytest.importorskip("numba")
    was_loaded = COMPILED in sys.modules
    module = acceleration.load()
    monkeypatch.setattr(acceleration, "loaded", lambda: module)
    monkeypatch.setattr(intervals, "_WORTH_COMPILING", 0)
    yield "compiled"
    if not was_loaded:
        del sys.modules[COMPILED]
