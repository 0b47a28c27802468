"""Running items: each writes a folder with its result and drawings, whole or not at all."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path

from sottovoce import __version__
from sottovoce.core.errors import InputError, SottovoceError
from sottovoce.core.files import write_text
from sottovoce.core.locks import locked
from sottovoce.core.records import Record, read_json_record, write_json
from sottovoce.papers.catalogue import item_status
from sottovoce.papers.data import PaperData
from sottovoce.papers.items import PaperItem
from sottovoce.papers.results import PaperResult

RESULT = "result.json"
SPEECH = ("corpus", "train", "crowd")
"""Inputs that every item may use."""
INPUTS = {"words": "ner"}
"""Inputs by the needs of items, where they have another name."""


@dataclass(frozen=True, slots=True)
class StoredResult(Record):
    """A result and what it was made from, as its file holds them."""

    version: str
    inputs: dict[str, str]
    """The names of the corpora and files that the user gave."""
    seed: int
    result: PaperResult


def run_item(item: PaperItem, data: PaperData) -> PaperResult:
    """Compute an item and write its folder.

    Parameters
    ----------
    item : PaperItem
        The item.
    data : PaperData
        What it is computed from; its folder gets a folder of the item's id.

    Raises
    ------
    InputError
        ``missing-data`` if the item needs something that the user did not name.
    """
    needs = item_status(item, data).needs
    if needs is not None:
        raise InputError(f"{item.id} needs {needs}", code="missing-data")
    earlier = stored_result(item, data)
    spent = 0.0 if earlier is None or earlier.quick != data.quick else earlier.cpu_seconds
    with locked(data.folder):
        started = time.process_time()
        output = item.run(data)
        result = PaperResult(
            item.id,
            item.document,
            item.title,
            output.made_from,
            data.quick,
            tuple(output.tables),
            tuple(output.drawings),
            tuple(output.compared),
            tuple(output.remarks),
            data.skip,
            round(spent + time.process_time() - started, 1),
        )
        folder = data.folder / item.id
        for name, figure in output.drawings.items():
            write_text(folder / f"{name}.svg", figure.svg)
        write_json(folder / RESULT, StoredResult(__version__, data.named(), data.seed, result))
    return result


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an item in a run of several."""

    item: PaperItem
    result: PaperResult | None
    """None where it could not run."""
    reason: str | None = None
    """Why not."""
    kept: bool = False
    """Whether the result was there already."""


def finished_or_reason(item: PaperItem, data: PaperData) -> Outcome:
    """Take a finished result, or say that there is none, without computing anything.

    Parameters
    ----------
    item : PaperItem
        The item.
    data : PaperData
        The inputs that a result must have been made from.
    """
    stored = stored_result(item, data, skipped=True)
    if stored is not None:
        return Outcome(item, stored, kept=True)
    needs = item_status(item, data).needs
    return Outcome(item, None, needs or f"to be computed: sottovoce paper {item.id}")


def run_or_explain(item: PaperItem, data: PaperData) -> Outcome:
    """Compute an item, take a finished result, or say why there is none.

    Parameters
    ----------
    item : PaperItem
        The item.
    data : PaperData
        What it is computed from. A finished result of the same inputs is taken, in a quick run
        also one of a complete run.
    """
    stored = stored_result(item, data)
    if stored is not None:
        return Outcome(item, stored, kept=True)
    try:
        return Outcome(item, run_item(item, data))
    except SottovoceError as error:
        return Outcome(item, None, str(error).removeprefix(f"{item.id} "))


def stored_result(item: PaperItem, data: PaperData, *, skipped: bool = False) -> PaperResult | None:
    """Read the finished result of an item, if it was made from the same inputs.

    Parameters
    ----------
    item : PaperItem
        The item.
    data : PaperData
        The inputs; a result of a quick run does not stand for a complete one.
    skipped : bool, default False
        Whether a result is taken in which other attacks were left out.
    """
    path = data.folder / item.id / RESULT
    try:
        stored = read_json_record(StoredResult, path, advice="run the item again")
    except InputError:
        return None
    given, used = data.named(), [*SPEECH, *(INPUTS.get(need, need) for need in item.needs)]
    same = all(stored.inputs.get(name) == given.get(name) for name in used)
    if (stored.version, stored.seed) != (__version__, data.seed):
        return None
    if not same or (stored.result.quick and not data.quick):
        return None
    if stored.result.skipped != data.skip and not skipped:
        return None
    return stored.result


def drawing_path(data: PaperData, result: PaperResult, name: str) -> Path:
    """Return where a drawing lies.

    Parameters
    ----------
    data : PaperData
        With the folder of the results.
    result : PaperResult
        The result it belongs to.
    name : str
        Its name.
    """
    return data.folder / result.id / f"{name}.svg"


def with_progress(data: PaperData, label: str) -> PaperData:
    """Put the name of an item before the names of its stages.

    Parameters
    ----------
    data : PaperData
        With the progress to call.
    label : str
        Name of the item.
    """
    show = data.progress
    if show is None:
        return data
    return replace(data, progress=lambda stage, done, total: show(f"{label}: {stage}", done, total))
