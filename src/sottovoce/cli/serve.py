"""``sottovoce serve``: the services over HTTP, and their page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sottovoce.core.errors import InputError, MissingExtraError, UsageError

if TYPE_CHECKING:
    from sottovoce.serve.settings import Settings


@click.command(
    epilog="Example: sottovoce serve, then open http://127.0.0.1:5000",
    short_help="The services over HTTP, with a page for the browser.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=5000,
    show_default=True,
    help="Port to listen on; 0 takes a free one.",
)
@click.option(
    "--token-file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Clients must send the token in FILE (Authorization: Bearer …).",
)
@click.option(
    "--insecure", is_flag=True, help="Let other machines in without a token (see --host)."
)
@click.option(
    "--certificate",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Encrypt: certificate chain (PEM) for TLS.",
)
@click.option(
    "--certificate-key",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Private key (PEM) of the certificate, if it is in another file.",
)
@click.option("--workers", type=int, help="Number of worker processes. [default: one per core]")
@click.option(
    "--max-mb", type=int, default=32, show_default=True, help="Largest size of a request."
)
@click.option(
    "--memory-mb", type=int, default=3072, show_default=True, help="Memory limit of a worker."
)
@click.option(
    "--queue", type=int, default=64, show_default=True, help="Number of requests that may wait."
)
@click.option(
    "--connections",
    type=int,
    default=512,
    show_default=True,
    help="Number of connections open at once.",
)
@click.option(
    "--uploads-mb",
    type=int,
    default=512,
    show_default=True,
    help="Memory for all requests together.",
)
@click.option(
    "--seconds", type=float, default=60.0, show_default=True, help="Time limit of a request."
)
@click.option(
    "--audits",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Show the reports of the audits in DIR.",
)
@click.option(
    "--pool",
    "pools",
    multiple=True,
    metavar="NAME=FILE",
    help="Pool of voices that clients may choose by NAME (anonymise pool); may be repeated.",
)
def command(
    host: str,
    port: int,
    token_file: Path | None,
    insecure: bool,
    certificate: Path | None,
    certificate_key: Path | None,
    workers: int | None,
    max_mb: int,
    memory_mb: int,
    queue: int,
    connections: int,
    uploads_mb: int,
    seconds: float,
    audits: Path | None,
    pools: tuple[str, ...],
) -> None:
    """Serve the page and the services until interrupted.

    Only this machine can reach them unless --host says otherwise. Nothing that clients send is
    stored, and the log holds only sizes, durations and status codes.
    """
    from sottovoce.serve.settings import MEGABYTE, Settings
    from sottovoce.serve.workers import start_preloading

    optional = {} if workers is None else {"workers": workers}
    settings = Settings(
        host=host,
        port=port,
        token=None if token_file is None else _token(token_file),
        insecure=insecure,
        certificate=certificate,
        key=certificate_key,
        max_bytes=max_mb * MEGABYTE,
        upload_bytes=uploads_mb * MEGABYTE,
        connections=connections,
        worker_bytes=memory_mb * MEGABYTE,
        queue=queue,
        seconds=seconds,
        audits=audits,
        pools=_pool_files(pools),
        **optional,
    )
    start_preloading()  # while the web framework is imported
    try:
        from sottovoce.serve.app import run
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("fastapi", "starlette", "uvicorn"):
            raise
        raise MissingExtraError("sottovoce serve", "serve") from None
    for path in settings.pools.values():
        _check_pool(path)
    if not settings.loopback:
        _warn(settings)
    run(settings)


def _warn(settings: Settings) -> None:
    """Say who can reach the service, and what protects it."""
    access = "" if settings.token else " by everybody (--insecure)"
    encryption = "" if settings.certificate else ", and nothing is encrypted (--certificate)"
    if access or encryption:
        click.echo(
            f"warning: {settings.host} can be reached from other machines{access}{encryption}",
            err=True,
        )


def _pool_files(pairs: Sequence[str]) -> dict[str, Path]:
    """Files of ``--pool`` by the name that clients choose them by."""
    from sottovoce.cli.options import key_values

    form, example = "NAME=FILE", "readers=readers.npz"
    files = key_values(pairs, "--pool", form=form, example=example)
    for name, file in files.items():
        if not file:
            raise UsageError(
                f"--pool {name}=: names no file; write it as {form}, e.g. {example}",
                code="wrong-shape",
            )
    return {name: Path(file) for name, file in files.items()}


def _check_pool(path: Path) -> None:
    """Refuse a file that is no pool for the x-vector anonymiser."""
    from sottovoce.anonymise.voice import make_method

    make_method("xvector", pool=path)


def _token(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        raise InputError(
            f"{path}: cannot read a token from it; check the name", code="unreadable"
        ) from None
