"""The service: an application of routers, guard, workers and page, and its server process."""

from __future__ import annotations

import logging
import socket
import ssl
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files

import uvicorn
from fastapi import FastAPI
from starlette.responses import FileResponse, PlainTextResponse
from starlette.staticfiles import StaticFiles

from sottovoce import __version__
from sottovoce.core.errors import InputError
from sottovoce.serve import anonymise, audits, catalogue, comprise, measure
from sottovoce.serve.admission import Admission
from sottovoce.serve.connections import (
    BACKLOG,
    LimitedConnection,
    LimitedServer,
    Listener,
    reserve_files,
)
from sottovoce.serve.errors import add_error_handlers
from sottovoce.serve.exchange import describe_errors
from sottovoce.serve.guard import LOG, Guard
from sottovoce.serve.metrics import Metrics
from sottovoce.serve.settings import Settings
from sottovoce.serve.workers import Workers, forbid_core_dumps

STATIC = str(files("sottovoce.serve") / "static")
REPORT_STYLE = str(files("sottovoce.report") / "page.css")


def create_app(settings: Settings | None = None) -> FastAPI:
    """An application for any ASGI server; run it in one process, as it starts its own workers.

    Parameters
    ----------
    settings : Settings, optional
        Limits, token and folder of audits; host and port are not used here.
    """
    settings = settings or Settings()
    app = FastAPI(
        title="sottovoce",
        version=__version__,
        summary="Know what a voice still gives away.",
        lifespan=_with_workers,
        docs_url=None,  # these pages load scripts from other hosts
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.settings = settings
    app.state.admission = admission = Admission(settings)
    metrics = Metrics()
    add_error_handlers(app, settings)
    for service in (anonymise, measure, catalogue, audits, comprise):
        app.include_router(service.router)
    _add_status_routes(app, metrics, admission)
    _add_page(app)
    app.add_middleware(Guard, settings=settings, metrics=metrics, admission=admission)
    return app


def _add_status_routes(app: FastAPI, metrics: Metrics, admission: Admission) -> None:
    @app.get(
        "/healthz",
        summary="Whether the service is up",
        tags=["service"],
        responses=describe_errors(403),
    )
    async def health() -> dict[str, str]:
        return {"status": "ok", "version": __version__}

    @app.get(
        "/metrics",
        summary="Counters for Prometheus",
        tags=["service"],
        response_class=PlainTextResponse,
        responses=describe_errors(401, 403),
    )
    async def counters() -> PlainTextResponse:
        return PlainTextResponse(metrics.text(active=admission.active))


def _add_page(app: FastAPI) -> None:
    @app.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(f"{STATIC}/index.html")

    @app.get("/static/report.css", include_in_schema=False)
    async def style() -> FileResponse:
        """Style that the page shares with the reports it shows."""
        return FileResponse(REPORT_STYLE)

    app.mount("/static", StaticFiles(directory=STATIC))


@asynccontextmanager
async def _with_workers(app: FastAPI) -> AsyncIterator[None]:
    app.state.workers = Workers(app.state.settings)
    await app.state.workers.start()
    try:
        yield
    finally:
        app.state.workers.close()


def make_server(settings: Settings) -> LimitedServer:
    """A uvicorn server that is not started yet, with logs that hold no data of clients.

    Parameters
    ----------
    settings : Settings
        Settings of the application; the address is that of the socket it is run with.
    """
    for name in ("uvicorn.access", "python_multipart.multipart"):
        logging.getLogger(name).disabled = True  # their lines hold parts of requests
    tls = tls_context(settings)
    config = uvicorn.Config(
        create_app(settings),
        http=LimitedConnection,
        ws="none",
        backlog=BACKLOG,
        ssl_context_factory=None if tls is None else lambda config, default: tls,
        access_log=False,
        log_config=None,
        log_level="error",
        server_header=False,
        timeout_keep_alive=10,
        timeout_graceful_shutdown=5,
        h11_max_incomplete_event_size=1 << 16,
    )
    return LimitedServer(config)


def tls_context(settings: Settings) -> ssl.SSLContext | None:
    """Certificate and key, ready for use; None if the settings name no certificate.

    Parameters
    ----------
    settings : Settings
        Files of certificate and key.

    Raises
    ------
    InputError
        If a file cannot be read, is not PEM, or needs a password (``unreadable``).
    """
    if settings.certificate is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        # without a password given here, OpenSSL would ask for one at the terminal
        context.load_cert_chain(settings.certificate, settings.key, password="")
    except (OSError, ValueError) as error:
        files = " and ".join(str(path) for path in (settings.certificate, settings.key) if path)
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(
            f"{files}: cannot be used for TLS ({reason}); give a certificate and its key as PEM, "
            "without a password",
            code="unreadable",
        ) from None
    return context


def listen(settings: Settings) -> Listener:
    """A listening socket; clients can connect at once and are answered when workers are ready.

    Parameters
    ----------
    settings : Settings
        Host, port and number of connections.

    Raises
    ------
    InputError
        If the address is taken or does not exist (``not-available``).
    UsageError
        If the system does not allow so many connections (``out-of-range``).
    """
    reserve_files(settings)
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        listening = socket.create_server(
            (settings.host, settings.port), family=family, backlog=BACKLOG
        )
    except OSError as error:
        raise InputError(
            f"{settings.host}:{settings.port}: cannot listen there ({error.strerror}); name "
            "another --host or --port",
            code="not-available",
        ) from None
    return Listener(settings.connections, listening)


def run(settings: Settings) -> None:
    """Serve until interrupted.

    Parameters
    ----------
    settings : Settings
        All settings of the service.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    LOG.addHandler(handler)
    LOG.setLevel(logging.INFO)
    forbid_core_dumps()
    server = make_server(settings)
    listener = listen(settings)
    host, port = listener.getsockname()[:2]
    scheme = "http" if settings.certificate is None else "https"
    LOG.info("listening on %s://%s:%d (Ctrl-C ends)", scheme, host, port)
    server.run(sockets=[listener])
