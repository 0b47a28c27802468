"""The choice of a back-end, for every command that compares voices."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from sottovoce.core.errors import UsageError
from sottovoce.core.registry import did_you_mean

if TYPE_CHECKING:
    from sottovoce.speaker import Backend, Embeddings

F = TypeVar("F", bound=Callable[..., Any])


def backend_options(command: F) -> F:
    """``--backend``, ``--train`` and ``--lda``."""
    for option in (
        click.option("--lda", type=int, metavar="N", help="Dimensions plda keeps. [default: all]"),
        click.option(
            "--train",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Embeddings to take the centre from; trained back-ends learn from them.",
        ),
        click.option(
            "--backend",
            default="cosine",
            show_default=True,
            help="What turns two embeddings into a score: cosine, euclidean, whitening, "
            "projection or plda.",
        ),
    ):
        command = option(command)
    return command


def make_backend(
    name: str, train: Embeddings | None = None, *, lda: int | None, like: Embeddings
) -> Backend:
    """Make a back-end by name for vectors ``like`` those it will be given."""
    from sottovoce.speaker.linkage import LINKAGES, make_linkage

    if name not in LINKAGES:
        raise UsageError(f"--backend: {did_you_mean('back-end', name, list(LINKAGES))}")
    if lda is not None and name != "plda":
        raise UsageError("--lda goes with --backend plda")
    settings = {} if lda is None else {"lda": lda}
    return make_linkage(name, train, like=like, **settings)
