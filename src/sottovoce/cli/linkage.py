"""Options of every command that compares embeddings: Kaldi's files, and the linkage function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click

from sottovoce.core.errors import UsageError
from sottovoce.core.registry import did_you_mean

if TYPE_CHECKING:
    from sottovoce.speaker import Embeddings, LinkageFunction

P = ParamSpec("P")
R = TypeVar("R")


def kaldi_options(command: Callable[P, R]) -> Callable[P, R]:
    """Add ``--utt2spk`` and ``--scp-root`` to a command.

    Parameters
    ----------
    command : callable
        The function of the command; it receives ``utt2spk`` and ``scp_root``, each a Path or None.
    """
    for option in (
        click.option(
            "--scp-root",
            type=click.Path(path_type=Path),
            metavar="DIR",
            help="Folder that paths in .scp files start from. [default: that of the file]",
        ),
        click.option(
            "--utt2spk",
            type=click.Path(path_type=Path),
            help="Speakers of Kaldi embeddings (.ark, .scp).",
        ),
    ):
        command = option(command)
    return command


def linkage_options(command: Callable[P, R]) -> Callable[P, R]:
    """Add ``--linkage``, ``--train``, ``--lda`` and ``--shrinkage`` to a command.

    Parameters
    ----------
    command : callable
        The function of the command; it receives ``linkage``, ``train``, ``lda`` and ``shrinkage``.
    """
    for option in (
        click.option(
            "--shrinkage",
            type=click.FloatRange(0, 1, max_open=True),
            metavar="X",
            help="How far plda, whitening and projection pull the variation within speakers to an "
            "even one, below 1; needed where training vectors are few. [default: that of the "
            "linkage function]",
        ),
        click.option(
            "--lda", type=int, metavar="N", help="Dimensions that plda keeps. [default: all]"
        ),
        click.option(
            "--train",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Embeddings of other speakers to train the linkage function on; cosine and "
            "euclidean only take their centre.",
        ),
        click.option(
            "--linkage",
            default="cosine",
            show_default=True,
            help="Linkage function, which turns two embeddings into a score: cosine, euclidean, "
            "whitening, projection, plda or a registered one.",
        ),
    ):
        command = option(command)
    return command


def linkage_from_options(
    name: str,
    train: Embeddings | None = None,
    *,
    evaluated: Sequence[Embeddings],
    lda: int | None = None,
    shrinkage: float | None = None,
) -> LinkageFunction:
    """Make the linkage function that the options of a command choose.

    Parameters
    ----------
    name : str
        Value of ``--linkage``.
    train : Embeddings, optional
        Content of ``--train``.
    evaluated : sequence of Embeddings
        All sets that will be compared; none may share a speaker or a vector with ``train``.
    lda : int, optional
        Value of ``--lda``.
    shrinkage : float, optional
        Value of ``--shrinkage``.

    Raises
    ------
    UsageError
        ``unknown-name`` where no linkage function has this name, ``unsupported`` where it does not
        have one of the settings.
    InputError
        ``not-disjoint`` where the training set holds what is evaluated.
    """
    from sottovoce.speaker.leakage import make_evaluation_linkage
    from sottovoce.speaker.linkage import LINKAGES, given_settings

    if name not in LINKAGES:
        message = did_you_mean("linkage function", name, list(LINKAGES))
        raise UsageError(f"--linkage: {message}", code="unknown-name")
    settings = given_settings(name, lda=lda, shrinkage=shrinkage)
    return make_evaluation_linkage(name, train, evaluated, **settings)
