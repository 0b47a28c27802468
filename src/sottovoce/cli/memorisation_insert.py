"""``sottovoce memorisation insert``: invented secrets in a model's training text."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sottovoce.cli.options import JsonCommand, json_option, write_json
from sottovoce.cli.secrets import draw_secret, secret_options
from sottovoce.core.errors import InputError

if TYPE_CHECKING:
    from sottovoce.anonymise import Secret
    from sottovoce.memorisation.canaries import Canary, CanarySpec


@click.command(
    cls=JsonCommand,
    epilog="Example: sottovoce memorisation insert text.txt out.txt --canaries canaries.yaml",
    short_help="Put invented secrets into training text.",
)
@click.argument("text", metavar="TEXT", type=click.Path(path_type=Path))
@click.argument("target", metavar="OUT", type=click.Path(path_type=Path))
@click.option(
    "--canaries",
    "specification",
    required=True,
    type=click.Path(path_type=Path),
    metavar="SPEC",
    help="YAML list: id, template with one blank {}, space (digits, values or vocabulary), "
    "repetitions.",
)
@click.option(
    "--sample",
    type=click.IntRange(30),
    metavar="N",
    help="Candidates for each canary, drawn at random. [default: the whole space]",
)
@secret_options
@json_option
def command(
    text: Path,
    target: Path,
    specification: Path,
    sample: int | None,
    secret_path: Path | None,
    reproducible: int | None,
    json_to: str | None,
) -> None:
    """Put invented secrets into TEXT, a sentence a line, and write OUT.

    Beside OUT, and not for whoever trains the model, go OUT.secret and OUT.candidates.csv: all
    values to be scored by the trained model, with the columns canary, candidate, text and inserted.
    Add the column log_perplexity and give the table to sottovoce memorisation exposure.
    """
    from sottovoce.core.files import atomic_file
    from sottovoce.memorisation.canaries import (
        draw_canaries,
        insertion_places,
        read_specs,
        with_canaries,
        with_vocabulary,
    )

    table = target.with_name(f"{target.name}.candidates.csv")
    for path in (target, table):
        if path.exists():
            raise InputError(f"{path}: exists; name another, or delete it", code="exists")
    specs = with_vocabulary(read_specs(specification), lambda: _lines(text))
    lines = sum(1 for _ in _lines(text))
    drawn = draw_secret(target, secret_path, reproducible)
    canaries = draw_canaries(specs, drawn.secret)
    places = insertion_places(canaries, lines, drawn.secret)
    with atomic_file(target) as new_text, atomic_file(table, mode=0o600) as new_table:
        with new_text.open("w", encoding="utf-8", newline="") as file:
            file.writelines(with_canaries(_lines(text), places, lines))
        scored = _write_candidates(new_table, canaries, specs, drawn.secret, sample)
        drawn.save()
    inserted = sum(canary.repetitions for canary in canaries)
    if json_to is not None:
        result = {"lines": lines, "canaries": len(canaries), "inserted": inserted}
        write_json({**result, "candidates": scored}, json_to)
    if json_to != "-":
        click.echo(
            f"{len(canaries)} canaries, {inserted:,} sentences among {lines:,} lines in {target}; "
            f"{scored:,} candidates in {table}"
        )
        click.echo(drawn.note)


def _lines(path: Path) -> Iterator[str]:
    """Lines of a text with their ends, as they are."""
    from sottovoce.core.files import check_exists

    check_exists(path)
    try:
        with path.open(encoding="utf-8", newline="\n") as file:
            yield from file
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8; save it as UTF-8", code="not-utf8") from None


def _write_candidates(
    path: Path,
    canaries: Sequence[Canary],
    specs: Sequence[CanarySpec],
    secret: Secret,
    sample: int | None,
) -> int:
    """Write all values that a model is to score, and return their number."""
    from sottovoce.memorisation.canaries import BLANK, candidates

    spaces = {spec.id: spec.space for spec in specs}
    count = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["canary", "candidate", "text", "inserted"])
        for canary in canaries:
            space = spaces[canary.spec]
            for value, is_secret in candidates(canary, space, secret, most=sample):
                sentence = canary.template.replace(BLANK, value)
                writer.writerow([canary.name, value, sentence, str(is_secret).lower()])
                count += 1
    return count
