"""``sottovoce serve``: the services over HTTP, and their page."""

from __future__ import annotations

from pathlib import Path

import click

from sottovoce.core.errors import InputError, MissingExtraError


@click.command(
    epilog="Example: sottovoce serve, then open http://127.0.0.1:5000",
    short_help="The services over HTTP, with a page for the browser.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=5000, show_default=True)
@click.option(
    "--token-file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Clients must bring the token in FILE (Authorization: Bearer …).",
)
@click.option("--workers", type=int, help="Processes that compute. [default: one a core]")
@click.option(
    "--max-mb", type=int, default=32, show_default=True, help="Size of a request at most."
)
@click.option("--memory-mb", type=int, default=3072, show_default=True, help="Of a worker at most.")
@click.option("--queue", type=int, default=64, show_default=True, help="Requests that may wait.")
@click.option(
    "--seconds", type=float, default=60.0, show_default=True, help="Time a request may take."
)
@click.option(
    "--audits",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Show the reports of the audits in DIR.",
)
def command(
    host: str,
    port: int,
    token_file: Path | None,
    workers: int | None,
    max_mb: int,
    memory_mb: int,
    queue: int,
    seconds: float,
    audits: Path | None,
) -> None:
    """Serve the page and the services until interrupted.

    Only this machine can reach them unless --host says otherwise. Nothing that is sent is kept, and
    the log has sizes, durations and status only.
    """
    from sottovoce.serve.settings import MEGABYTE, Settings

    given = {} if workers is None else {"workers": workers}
    settings = Settings(
        host=host,
        port=port,
        token=None if token_file is None else _token(token_file),
        max_bytes=max_mb * MEGABYTE,
        worker_bytes=memory_mb * MEGABYTE,
        queue=queue,
        seconds=seconds,
        audits=audits,
        **given,
    )
    try:
        from sottovoce.serve.app import run
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("fastapi", "starlette", "uvicorn"):
            raise
        raise MissingExtraError("sottovoce serve", "serve") from None
    if not settings.loopback:
        guarded = "" if settings.token else ", without a token (--token-file)"
        click.echo(
            f"warning: {host} can be reached from other machines{guarded}, and nothing is "
            "encrypted: put a proxy with TLS before it",
            err=True,
        )
    run(settings)


def _token(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        raise InputError(f"{path}: no token can be read there; check the name") from None
