"""The application: routers, door, workers and page put together."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files

from fastapi import FastAPI
from starlette.responses import FileResponse, PlainTextResponse
from starlette.staticfiles import StaticFiles

from sottovoce import __version__
from sottovoce.serve import audits, comprise, measure, recording, text, voice
from sottovoce.serve.exchange import add_handlers, problems
from sottovoce.serve.guard import Guard
from sottovoce.serve.metrics import Metrics
from sottovoce.serve.settings import Settings
from sottovoce.serve.workers import Workers

STATIC = str(files("sottovoce.serve") / "static")
REPORT_STYLE = str(files("sottovoce.report") / "page.css")


def create_app(settings: Settings | None = None) -> FastAPI:
    """An application for any ASGI server; it runs as one process with its own workers."""
    settings = settings or Settings()
    app = FastAPI(
        title="sottovoce",
        version=__version__,
        summary="Know what a voice still gives away.",
        lifespan=_with_workers,
        docs_url=None,  # these pages load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.settings = settings
    metrics = Metrics()
    add_handlers(app)
    for service in (voice, text, recording, measure, audits, comprise):
        app.include_router(service.router)

    @app.get(
        "/healthz",
        summary="Whether the service is up",
        tags=["service"],
        responses=problems(403),
    )
    async def health() -> dict[str, str]:
        return {"status": "ok", "version": __version__}

    @app.get(
        "/metrics",
        summary="Counts for Prometheus",
        tags=["service"],
        response_class=PlainTextResponse,
        responses=problems(401, 403),
    )
    async def counts() -> PlainTextResponse:
        return PlainTextResponse(metrics.text())

    @app.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(f"{STATIC}/index.html")

    @app.get("/static/report.css", include_in_schema=False)
    async def style() -> FileResponse:
        """What the page and the reports it shows have in common."""
        return FileResponse(REPORT_STYLE)

    app.mount("/static", StaticFiles(directory=STATIC))
    app.add_middleware(Guard, settings=settings, metrics=metrics)
    return app


@asynccontextmanager
async def _with_workers(app: FastAPI) -> AsyncIterator[None]:
    app.state.workers = Workers(app.state.settings)
    await app.state.workers.start()
    try:
        yield
    finally:
        app.state.workers.close()
