"""Running items: each writes a folder with its drawings and, when they are complete, its result."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from sottovoce import __version__
from sottovoce.core.errors import InputError, SottovoceError
from sottovoce.core.files import write_text
from sottovoce.core.locks import locked
from sottovoce.core.records import Record, read_json_record, write_json
from sottovoce.papers.catalogue import item_status
from sottovoce.papers.data import NamedInput, PaperData
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
    inputs: dict[str, tuple[NamedInput, ...]]
    """The corpora, folders and files that the user gave and the item uses, by option."""
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
    with locked(data.folder):
        output = item.run(data)
        result = PaperResult(
            item.id,
            item.document,
            item.title,
            output.made_from,
            not item.whole and data.quick,
            tuple(output.tables),
            tuple(output.drawings),
            tuple(output.compared),
            tuple(output.remarks),
            tuple(output.skipped),
        )
        folder = data.folder / item.id
        (folder / RESULT).unlink(missing_ok=True)  # an earlier one has other drawings
        for name, figure in output.drawings.items():
            write_text(folder / f"{name}.svg", figure.svg)
        stored = StoredResult(__version__, data.named(_used(item)), data.seed, result)
        write_json(folder / RESULT, stored)
    return result


def _used(item: PaperItem) -> list[str]:
    """The options of the inputs that an item uses."""
    return [*SPEECH, *(INPUTS.get(need, need) for need in item.needs)]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an item in a run of several."""

    item: PaperItem
    result: PaperResult | None
    """None where it could not run."""
    reason: str | None = None
    """Why not, to follow a colon."""
    kept: bool = False
    """Whether the result was there already."""
    failed: bool = False
    """Whether it could run, but ended with an error."""


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
    command = f"to be computed: sottovoce paper {item.id}"
    return Outcome(item, None, command if needs is None else _needing(needs))


def _needing(needs: str) -> str:
    return f"it needs {needs}"


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
        needs = item_status(item, data).needs
        if needs is not None:
            return Outcome(item, None, _needing(needs))
        return Outcome(item, run_item(item, data))
    except SottovoceError as error:
        return Outcome(item, None, f"an error: {error}", failed=True)


def stored_result(item: PaperItem, data: PaperData, *, skipped: bool = False) -> PaperResult | None:
    """Read the finished result of an item, if it was made from the same inputs.

    Parameters
    ----------
    item : PaperItem
        The item.
    data : PaperData
        The inputs; a result of a quick run does not stand for a complete one.
    skipped : bool, default False
        Whether a result is taken in which attacks were left out that ``data`` asks for.
    """
    path = data.folder / item.id / RESULT
    try:
        stored = read_json_record(StoredResult, path, advice="run the item again")
    except InputError:
        return None
    if (stored.version, stored.seed) != (__version__, data.seed):
        return None
    if stored.result.quick and not data.quick:
        return None
    if not skipped and not set(stored.result.skipped) <= set(data.skip):
        return None
    if stored.inputs != data.named(_used(item)):
        return None
    if not all(drawing_path(data, stored.result, name).is_file() for name in stored.result.figures):
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
