"""The service as a process: uvicorn with logs that hold no data."""

from __future__ import annotations

import logging
import sys

import uvicorn

from sottovoce.errors import InputError
from sottovoce.serve.app import create_app
from sottovoce.serve.guard import LOG
from sottovoce.serve.settings import Settings


def make_server(settings: Settings) -> uvicorn.Server:
    """A server that is not started yet."""
    logging.getLogger("uvicorn.access").disabled = True  # its lines hold paths with parameters
    config = uvicorn.Config(
        create_app(settings),
        host=settings.host,
        port=settings.port,
        access_log=False,
        log_config=None,
        server_header=False,
        timeout_keep_alive=10,
        timeout_graceful_shutdown=5,
        h11_max_incomplete_event_size=1 << 16,
    )
    return uvicorn.Server(config)


def run(settings: Settings) -> None:
    """Serve until interrupted."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    LOG.addHandler(handler)
    LOG.setLevel(logging.INFO)
    server = make_server(settings)
    try:
        listener = server.config.bind_socket()
    except SystemExit:
        raise InputError(
            f"{settings.host}:{settings.port}: cannot be listened on; name another --port"
        ) from None
    where = listener.getsockname()
    LOG.info("listening on http://%s:%d (Ctrl-C ends)", where[0], where[1])
    server.run(sockets=[listener])
