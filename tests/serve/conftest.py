"""One service for all tests; only this machine may be reached."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest
from live_service import Service, running


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only this machine may be reached."""
    connect, resolve = socket.socket.connect, socket.getaddrinfo

    def only_here(self: socket.socket, address: Any) -> None:
        assert self.family == socket.AF_UNIX or address[0] == "127.0.0.1", address
        connect(self, address)

    def only_known(host: Any, *rest: Any, **named: Any) -> Any:
        assert host in ("127.0.0.1", "localhost"), host
        return resolve(host, *rest, **named)

    monkeypatch.setattr(socket.socket, "connect", only_here)
    monkeypatch.setattr(socket, "getaddrinfo", only_known)


@pytest.fixture(scope="session")
def service() -> Iterator[Service]:
    with running() as one:
        yield one
