"""Anonymise a file as the command does, and return the new file."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from sottovoce.anonymise.text import TextAnonymiser
from sottovoce.anonymise.text.file_run import FileRun
from sottovoce.anonymise.text.files import ReadingOptions, open_text_file
from sottovoce.anonymise.text.run_summary import RunSummary, SummaryCollector


def anonymise_file(
    anonymiser: TextAnonymiser,
    path: Path,
    form: str | None = None,
    *,
    copied: tuple[str, ...] = (),
    columns: tuple[str, ...] = (),
    header: bool = True,
    kind: str | None = None,
) -> tuple[str, RunSummary]:
    """Return the new file and the summary of the run."""
    options = ReadingOptions(copied, columns, header)
    collector = SummaryCollector(anonymiser)
    with closing(open_text_file(path, form, options)) as file:
        run = FileRun(anonymiser, file)
        new = "".join(run.pieces(collector.add))
    return new, collector.summary(passes=run.passes, kind=kind)


def read_texts(path: Path, form: str | None = None) -> list[str]:
    """Return the texts of a file."""
    with closing(open_text_file(path, form)) as file:
        return [text.text for text in file.texts()]
