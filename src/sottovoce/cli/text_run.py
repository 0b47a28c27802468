"""Running ``anonymise text`` on a file: what is written, and what is said about it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sottovoce.cli.decisions import describe_counts
from sottovoce.cli.options import provenance, stage_bar
from sottovoce.core.atomic_directory import delete_on_failure
from sottovoce.core.files import atomic_file
from sottovoce.core.records import JsonObject, dump_json

if TYPE_CHECKING:
    from sottovoce.anonymise.decisions import Decisions
    from sottovoce.anonymise.keys import Secret
    from sottovoce.anonymise.text import TextAnonymiser
    from sottovoce.anonymise.text.files import TextFile
    from sottovoce.anonymise.text.known_leaks import SampleLeak
    from sottovoce.anonymise.text.run_summary import RunSummary
    from sottovoce.anonymise.text.span_list import JsonList
    from sottovoce.core.engine import Engine

STANDARD_OUTPUT = "-"
MAX_NAMED_FIELDS = 10
"""Fields or columns that a warning names."""


@dataclass(frozen=True)
class TextRun:
    """What a run writes, and what it is asked to report."""

    target: Path
    """The new file; ``-`` is standard output."""
    new_secret: Path | None
    """Where the secret is stored, if it is new."""
    json_to: str | None
    report: bool
    corpus_tables: bool
    """Whether values are drawn from the file itself."""
    kind: str | None
    """Kind of text that the user has named."""
    sample: SampleLeak | None
    """What was missed in a sample that the user has labelled."""
    settings: Mapping[str, object]
    """Settings for the provenance."""
    decisions: Decisions | None = None
    """What was decided in a review."""

    @property
    def to_standard_output(self) -> bool:
        """Whether the new text goes to standard output."""
        return str(self.target) == STANDARD_OUTPUT


def run_text_file(
    run: TextRun, anonymiser: TextAnonymiser, secret: Secret, file: TextFile, engine: Engine
) -> None:
    """Anonymise a file, and say what was done.

    Parameters
    ----------
    run : TextRun
        What is written and reported.
    anonymiser : TextAnonymiser
        Finds and replaces private values.
    secret : Secret
        What its draws depend on.
    file : TextFile
        The file.
    engine : Engine
        What searches the texts.
    """
    from sottovoce.anonymise.text.file_run import FileRun
    from sottovoce.anonymise.text.run_summary import SummaryCollector
    from sottovoce.anonymise.text.span_list import SpanList

    if file.by_content:
        click.echo(f"{file.file.name}: read as {file.format}, by its content", err=True)
    collector = SummaryCollector(anonymiser)
    spans = None if run.json_to is None else SpanList()
    listeners = [collector.add, *([] if spans is None else [spans.add])]
    with stage_bar() as show:
        prepared = FileRun(
            anonymiser,
            file,
            use_corpus_tables=run.corpus_tables,
            decisions=run.decisions,
            on_chunk=lambda name: show(name, file.file.position, file.file.size),
            engine=engine,
        )
        with _saved_secret(run, secret):
            _write(run, prepared.pieces(*listeners))
    summary = collector.summary(passes=prepared.passes, kind=run.kind, sample=run.sample)
    _warn(run, anonymiser, file)
    if run.json_to is not None and spans is not None:
        fields = {**summary.to_dict(), **_file_fields(run, anonymiser, file)}
        _write_json(run.json_to, fields, {"spans": spans.spans, "mask": spans.masks})
    if run.json_to != STANDARD_OUTPUT:
        _print_summary(run, summary)
    if not summary.private_values:
        click.echo("nothing was replaced: this is the text as it was; read it first", err=True)


@contextmanager
def _saved_secret(run: TextRun, secret: Secret) -> Iterator[None]:
    """Store a new secret; it is deleted again if the text cannot be written."""
    if run.new_secret is None:
        yield
        return
    with delete_on_failure(run.new_secret):
        secret.save(run.new_secret)
        yield


def _write(run: TextRun, pieces: Iterable[str]) -> None:
    """Write the new text: a file whole or not at all, standard output as it comes."""
    if run.to_standard_output:
        for piece in pieces:
            sys.stdout.buffer.write(piece.encode())
        sys.stdout.buffer.flush()
        return
    with atomic_file(run.target) as temporary, temporary.open("wb") as output:
        output.writelines(piece.encode() for piece in pieces)


def _file_fields(run: TextRun, anonymiser: TextAnonymiser, file: TextFile) -> JsonObject:
    """Return the fields of the JSON that concern the file."""
    paths = [path for path in (file.file.path, run.target) if str(path) != STANDARD_OUTPUT]
    tables = sorted({kind for kind, _ in anonymiser.replacer.corpus_tables})
    return {
        "format": file.format,
        "left_out_fields": list(file.reader.left_out),
        "not_searched_columns": list(file.reader.not_searched),
        "corpus_tables": list(tables) if run.corpus_tables else None,
        "provenance": provenance(paths, **run.settings),
    }


def _write_json(json_to: str, fields: JsonObject, lists: Mapping[str, JsonList]) -> None:
    """Print JSON or write it to a file; long lists are copied piece by piece."""
    with _json_output(json_to) as write:
        write(dump_json(fields, indent=2).rstrip()[:-1].rstrip())
        for name, rows in lists.items():
            write(f',\n  "{name}": ')
            for piece in rows.pieces():
                write(piece)
        write("\n}\n")


@contextmanager
def _json_output(json_to: str) -> Iterator[Callable[[str], object]]:
    if json_to == STANDARD_OUTPUT:
        yield sys.stdout.write
        return
    with atomic_file(Path(json_to)) as temporary, temporary.open("w", encoding="utf-8") as output:
        yield output.write


def _print_summary(run: TextRun, summary: RunSummary) -> None:
    """Say how much was found; on standard error if the text goes to standard output."""
    values = "value" if summary.private_values == 1 else "values"
    texts = "text" if summary.texts == 1 else "texts"
    target = "standard output" if run.to_standard_output else run.target
    lines = [
        f"{summary.private_values:,} private {values} in {summary.texts:,} {texts}; "
        f"written to {target}"
    ]
    if run.report or run.decisions is not None:
        lines.append(describe_counts(summary.decided))
    if run.report:
        lines += summary.lines()
    click.echo("\n".join(lines), err=run.to_standard_output)
    for caution in [] if run.report else summary.languages.cautions():
        click.echo(f"caution: {caution}", err=True)


def _warn(run: TextRun, anonymiser: TextAnonymiser, file: TextFile) -> None:
    """Say what was left out or not searched, by name and never by content."""
    if file.reader.left_out:
        count, names = _named(file.reader.left_out, "field")
        click.echo(
            f"left out {count} with words that were not searched: {names}; "
            "--copy-fields copies them",
            err=True,
        )
    if file.reader.not_searched:
        count, names = _named(file.reader.not_searched, "column")
        click.echo(
            f"copied {count} without searching: {names}; --columns names those to search", err=True
        )
    if run.corpus_tables and not anonymiser.replacer.draws_from_corpus():
        from sottovoce.anonymise.text.replacer import MIN_CONTRIBUTORS, MIN_VALUES

        click.echo(
            f"--allow-corpus-tables changed nothing: no type that the strategy draws has "
            f"{MIN_VALUES} values that {MIN_CONTRIBUTORS} texts share",
            err=True,
        )


def _named(names: Sequence[str], what: str) -> tuple[str, str]:
    """Return how many there are, and the first names."""
    shown = ",".join(names[:MAX_NAMED_FIELDS]) + (" …" if len(names) > MAX_NAMED_FIELDS else "")
    return f"{len(names):,} {what}" + ("s" if len(names) > 1 else ""), shown
