"""The choice of a back-end, for every command that compares voices."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from sottovoce.errors import InputError, UsageError
from sottovoce.registry import did_you_mean

if TYPE_CHECKING:
    from sottovoce.speaker import Backend, Embeddings

F = TypeVar("F", bound=Callable[..., Any])

BACKENDS = ("cosine", "euclidean", "plda")


def backend_options(command: F) -> F:
    """``--backend``, ``--train`` and ``--lda``."""
    for option in (
        click.option("--lda", type=int, metavar="N", help="Dimensions plda keeps. [default: all]"),
        click.option(
            "--train",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Embeddings to take the centre from; plda learns from them.",
        ),
        click.option(
            "--backend",
            type=click.Choice(BACKENDS),
            default="cosine",
            show_default=True,
            help="What turns two embeddings into a score.",
        ),
    ):
        command = option(command)
    return command


def make_backend(name: str, train: Path | None, lda: int | None, *, like: Embeddings) -> Backend:
    """Make a back-end by name for vectors ``like`` those it will be given."""
    from sottovoce.speaker import Cosine, Euclidean, Plda

    if name not in BACKENDS:
        raise UsageError(did_you_mean("back-end", name, list(BACKENDS)))
    if name == "plda" and train is None:
        raise UsageError("--backend plda learns from other speakers; name them with --train")
    if lda is not None and name != "plda":
        raise UsageError("--lda goes with --backend plda")
    if train is None:
        return Cosine() if name == "cosine" else Euclidean()
    from sottovoce.speaker.readers import read_embeddings

    voices = read_embeddings(train)
    if voices.dimension != like.dimension:
        raise InputError(
            f"{train}: vectors of {voices.dimension} numbers, those to be compared have "
            f"{like.dimension}; embed both with the same encoder"
        )
    if name == "plda":
        return Plda.fit(voices, lda=lda)
    centre = voices.vectors.mean(axis=0, dtype="float64")
    return Cosine(centre) if name == "cosine" else Euclidean(centre)
