"""What several test modules share.

One hypothesis profile for all: the same examples on every run, no deadline on busy machines.
``pytest --hypothesis-profile=explore`` draws new and many more examples.
"""

# ruff: noqa: E402

from __future__ import annotations

import os

# Workers share the processors: threads of theirs would wait for each other most of the time.
for library in ("OMP", "OPENBLAS"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from sottovoce.measure import acceleration

settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=60)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile("repeatable")

LONGEST = (
    "test_page.py",
    "test_review_page.py",
    "test_service_attacks.py",
    "test_run.py",
    "test_verify.py",
    "test_site.py",
    "test_report_page.py",
)
"""Files with a browser, a service or whole audits."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start the longest files first, so that no worker waits for one of them at the end."""
    items.sort(key=lambda item: item.path.name not in LONGEST)


@pytest.fixture(autouse=True)
def no_network(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing may reach for the network; tests of services and clusters may reach this machine."""
    connect, resolve = socket.socket.connect, socket.getaddrinfo
    here = (
        ("127.0.0.1", "localhost")
        if request.path.parent.name in ("serve", "plugin", "cluster")
        else ()
    )

    def only_here(self: socket.socket, address: Any) -> None:
        local = bool(here) and self.family == socket.AF_UNIX
        assert local or address[0] in here, "something reached for the network"
        connect(self, address)

    def only_known(host: Any, *rest: Any, **named: Any) -> Any:
        assert host in here, "something reached for the network"
        return resolve(host, *rest, **named)

    monkeypatch.setattr(socket.socket, "connect", only_here)
    monkeypatch.setattr(socket, "getaddrinfo", only_known)


@pytest.fixture(scope="session")
def service() -> Iterator[Any]:
    """One running service for all tests of it."""
    from live_service import running

    with running() as service:
        yield service


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One corpus for all tests of audits."""
    from small_corpus import make_corpus

    return make_corpus(tmp_path_factory.mktemp("corpus") / "voices")


@pytest.fixture(scope="session")
def audit(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One audit of it."""
    from small_corpus import study

    from sottovoce.audit.run import run_audit

    folder = tmp_path_factory.mktemp("audit") / "out"
    run_audit(study(corpus), folder)
    return folder


@pytest.fixture(params=["plain", "compiled"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Run a test twice: on numpy and scipy alone, and on the compiled loops if numba is there."""
    if request.param == "plain":
        monkeypatch.setattr(acceleration, "loops_for", lambda work: None)
        yield "plain"
        return
    pytest.importorskip("numba")
    monkeypatch.setattr(acceleration, "WORTH_COMPILING", 0)
    yield "compiled"


@pytest.fixture(scope="session")
def plugin_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder that the example plug-in is installed in."""
    from plugin_package import install_plugin

    return install_plugin(tmp_path_factory.mktemp("plugin"))


@pytest.fixture(scope="module")
def plugin(plugin_folder: Path) -> Iterator[None]:
    """Make the example plug-in known to this process while a module of tests runs."""
    sys.path.insert(0, str(plugin_folder))
    yield
    sys.path.remove(str(plugin_folder))
