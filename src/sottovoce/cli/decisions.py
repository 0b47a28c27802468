"""Options of the commands that mask words: replay decisions, or propose them for a review."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click

from sottovoce.cli.options import write_json
from sottovoce.core.errors import UsageError

if TYPE_CHECKING:
    from sottovoce.anonymise.decisions import DecisionCounts, Decisions

P = ParamSpec("P")
R = TypeVar("R")


def decision_options(command: Callable[P, R]) -> Callable[P, R]:
    """Add ``--decisions`` and ``--propose`` to a command.

    Parameters
    ----------
    command : callable
        The function of the command; it receives ``decisions_path`` and ``propose``.
    """
    for option in (
        click.option(
            "--propose",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Write what would be masked to FILE, for a review, and nothing else.",
        ),
        click.option(
            "--decisions",
            "decisions_path",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Mask as decided in a review: a file of --propose or of the page.",
        ),
    ):
        command = option(command)
    return command


def load_decisions(path: Path | None) -> Decisions | None:
    """Read the file of ``--decisions``, if it was given.

    Parameters
    ----------
    path : Path, optional
        The file.
    """
    from sottovoce.anonymise.decisions import read_decisions

    return read_decisions(path) if path else None


def refuse_existing(path: Path) -> None:
    """Refuse to overwrite a file, which may be a review.

    Parameters
    ----------
    path : Path
        The file to be written.

    Raises
    ------
    UsageError
        ``exists`` if it is there already.
    """
    if path.exists():
        raise UsageError(f"{path}: exists already; name another file to write", code="exists")


def write_proposal(path: Path, decisions: Decisions, json_to: str | None) -> None:
    """Write decisions for a review and say how many there are.

    Parameters
    ----------
    path : Path
        The new file.
    decisions : Decisions
        What would be masked.
    json_to : str, optional
        ``-``, or the file for the counts.

    Raises
    ------
    UsageError
        ``exists`` if the file is there already: it may be a review.
    """
    from sottovoce.anonymise.decisions import count_decisions, write_decisions

    refuse_existing(path)
    write_decisions(path, decisions)
    documents = decisions.documents
    counts = count_decisions(d for document in documents for d in document.decisions)
    if json_to is not None:
        write_json({"out": str(path), "texts": len(documents), "decided": counts}, json_to)
    if json_to != "-":
        click.echo(f"{describe_counts(counts)}, in {len(documents):,} texts; written to {path}")
    click.echo(
        f"{path} has no words, but tells where they are: keep it as private as the texts", err=True
    )


def describe_counts(counts: DecisionCounts) -> str:
    """Say who decided what, in words.

    Parameters
    ----------
    counts : DecisionCounts
        Numbers of decisions.
    """
    masked = f"masks: {counts.rule:,} by rules, {counts.model:,} by models, {counts.person:,} by a"
    return f"{masked} person; {counts.kept_by_person:,} refused by a person"
