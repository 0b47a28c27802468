"""The service as a process: uvicorn with logs that hold no data."""

from __future__ import annotations

import logging
import socket
import sys

import uvicorn

from sottovoce.core.errors import InputError
from sottovoce.serve.app import create_app
from sottovoce.serve.guard import LOG
from sottovoce.serve.settings import Settings


def make_server(settings: Settings) -> uvicorn.Server:
    """A server that is not started yet."""
    for name in ("uvicorn.access", "python_multipart.multipart"):
        logging.getLogger(name).disabled = True  # their lines hold parts of requests
    config = uvicorn.Config(
        create_app(settings),
        access_log=False,
        log_config=None,
        server_header=False,
        timeout_keep_alive=10,
        timeout_graceful_shutdown=5,
        h11_max_incomplete_event_size=1 << 16,
    )
    return uvicorn.Server(config)


def listen(settings: Settings) -> socket.socket:
    """A socket where clients may knock at once; they are let in when the workers are ready."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        return socket.create_server((settings.host, settings.port), family=family)
    except OSError as error:
        raise InputError(
            f"{settings.host}:{settings.port}: cannot be listened on ({error.strerror}); name "
            "another --host or --port"
        ) from None


def run(settings: Settings) -> None:
    """Serve until interrupted."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    LOG.addHandler(handler)
    LOG.setLevel(logging.INFO)
    listener = listen(settings)
    where = listener.getsockname()
    LOG.info("listening on http://%s:%d (Ctrl-C ends)", where[0], where[1])
    make_server(settings).run(sockets=[listener])
