"""Labelling a sample of sentences in a terminal or an editor, for ``anonymise text --label``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sottovoce.core.errors import InputError

if TYPE_CHECKING:
    from sottovoce.anonymise.keys import Secret
    from sottovoce.anonymise.text.labelling import LabelledText
    from sottovoce.anonymise.text.multilingual_detector import AnyDetector

_HELP = (
    "Return if the brackets are right. Else: 'PER ann lee' makes words private, '- ann lee' takes\n"
    "brackets away, 's' leaves the sentence for later, 'q' stops; the next run goes on there."
)


def label_sample(
    texts: Sequence[str], count: int, target: Path, detector: AnyDetector, secret: Secret
) -> None:
    """Draw sentences, propose labels, and ask a person about each; an existing file is continued.

    Parameters
    ----------
    texts : sequence of str
        The texts to draw from.
    count : int
        Sentences to draw.
    target : Path
        The file of labels; if it exists its sentences are kept.
    detector : AnyDetector
        Proposes what is private.
    secret : Secret
        Decides which sentences are drawn.
    """
    from sottovoce.anonymise.text.labelling import draw_sentences, propose_labels, read_labels

    if target.exists():
        labels = read_labels(target)
    else:
        labels = propose_labels(draw_sentences(texts, count, secret), detector)
        _write(target, labels, detector.lang)
    if sys.stdin.isatty():
        labels = _ask(labels, target, detector.lang)
    done = sum(row.checked for row in labels)
    click.echo(f"{done:,} of {len(labels):,} sentences are checked in {target}")
    if done < len(labels):
        click.echo("edit it (its first lines say how), or run this again in a terminal")
    click.echo(f"then: sottovoce anonymise text --evaluate {target} --lang {detector.lang}")


def _ask(labels: Sequence[LabelledText], target: Path, lang: str) -> list[LabelledText]:
    """Ask about every sentence that is not checked; save after each."""
    rows = list(labels)
    waiting = [i for i, row in enumerate(rows) if not row.checked]
    if waiting:
        click.echo(_HELP)
    for number, i in enumerate(waiting, 1):
        click.echo(f"\n{number} of {len(waiting)}")
        row = _ask_one(rows[i])
        if row is None:
            break
        if row != rows[i]:
            rows[i] = row
            _write(target, rows, lang)
    return rows


def _ask_one(row: LabelledText) -> LabelledText | None:
    """Ask until a sentence is right or left for later; None to stop."""
    from sottovoce.anonymise.text.labelling import apply_reply

    while not row.checked:
        click.echo(row.markup())
        reply = click.prompt("right?", default="", show_default=False).strip()
        if reply == "q":
            return None
        if reply == "s":
            break
        try:
            row = apply_reply(row, reply)
        except InputError as error:
            click.echo(str(error))
    return row


def _write(target: Path, labels: Sequence[LabelledText], lang: str) -> None:
    """Write the file, readable for its owner alone: it has private words."""
    from sottovoce.anonymise.text.labelling import format_labels
    from sottovoce.core.files import write_text

    write_text(target, format_labels(labels, lang))
    target.chmod(0o600)
