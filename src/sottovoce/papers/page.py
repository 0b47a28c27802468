"""The page "The papers, reproduced": every item with its numbers, or why there are none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from sottovoce.core.files import write_text
from sottovoce.papers.data import PaperData
from sottovoce.papers.items import DOCUMENTS
from sottovoce.papers.results import Compared, PaperResult, PaperTable
from sottovoce.papers.runner import Outcome, drawing_path
from sottovoce.papers.speech import QUICK_TRAINING, TRAINING
from sottovoce.report.formats import MISSING

MOST_ROWS = 40
"""Rows of a table on the page; all are in ``result.json``."""

_ABSENT = "Not here:"

INTRODUCTION = (
    "# The papers, reproduced\n\n"
    "Every table and figure of the five documents that this package implements, computed by one "
    "command each, with the published numbers beside ours. This page is written by a command, not "
    "by hand:\n\n"
    "```sh\n{command}\n```\n\n"
    "`sottovoce paper --list` shows all items and what those need that do not run; "
    "`sottovoce paper ITEM` computes one. A run that was stopped continues. Without `--quick` an "
    "item attacks the whole corpus; what was made on a part says so, and finished complete runs "
    "are kept in quick ones. The speech that attackers train on (`--train`) is always cut, as a "
    "rule to {complete}, with `--quick` to {quick}. Numbers of other speakers, encoders and "
    "anonymisers are not expected to be equal: the page says what differs. Names of attackers are "
    "[ours](terminology.md#what-the-attacker-knows), which are not those of every document, except "
    "where an item says so.\n"
)


def write_page(
    path: Path,
    outcomes: Sequence[Outcome],
    data: PaperData,
    command: str,
    *,
    keep: bool = False,
) -> None:
    """Write the page and its drawings, which go to ``images/papers`` beside it.

    Parameters
    ----------
    path : Path
        The Markdown file.
    outcomes : sequence of Outcome
        In the order of the page.
    data : PaperData
        With the folder of the results.
    command : str
        What makes the page.
    keep : bool, default False
        Whether items without a result keep the section that the page had, so that results of
        several machines can be gathered.
    """
    kept = _computed_sections(path) if keep else {}
    finished = sum(o.result is not None or o.item.id in kept for o in outcomes)
    summary = f"{finished} of {len(outcomes)} items are here."
    introduction = INTRODUCTION.format(
        command=command, complete=_training(TRAINING), quick=_training(QUICK_TRAINING)
    )
    parts = [introduction, summary]
    document = ""
    for outcome in outcomes:
        if outcome.item.document != document:
            document = outcome.item.document
            parts.append(f"\n## {document}: {DOCUMENTS[document]}\n")
        if outcome.result is None and outcome.item.id in kept:
            parts.append(kept[outcome.item.id])
        else:
            parts += _section(outcome, path.parent, data)
    write_text(path, "\n".join(parts).rstrip() + "\n")


def _training(part: tuple[int, int, float]) -> str:
    speakers, utterances, seconds = part
    return f"the first {seconds:g} s of {utterances} utterances of each of {speakers} speakers"


def _computed_sections(path: Path) -> dict[str, str]:
    """The sections of a page that hold results, by item."""
    if not path.is_file():
        return {}
    sections: dict[str, list[str]] = {}
    item = ""
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("#"):
            item = line.removeprefix("### ").partition(":")[0] if line.startswith("### ") else ""
        if item:
            sections.setdefault(item, []).append(line)
    texts = {name: "\n".join(lines).rstrip() + "\n" for name, lines in sections.items()}
    return {name: text for name, text in texts.items() if f"\n{_ABSENT}" not in text}


def _section(outcome: Outcome, folder: Path, data: PaperData) -> Iterator[str]:
    item, result = outcome.item, outcome.result
    yield f"### {item.id}: {item.title}\n"
    if result is None:
        yield f"{_ABSENT} {(outcome.reason or '').rstrip('.')}.\n"
        return
    part = " A quick run on a part of the data." if result.quick else ""
    yield f"Computed from {result.made_from}.{part}\n"
    for name in result.figures:
        target = folder / "images" / "papers" / f"{item.id}.svg"
        write_text(target, drawing_path(data, result, name).read_text("utf-8"))
        yield f"![{item.title}](images/papers/{item.id}.svg)\n"
    if result.compared:
        yield from _compared(result)
    for table in result.tables:
        yield from _table(table)
    remarks = list(result.remarks)
    if result.skipped:
        remarks.append(f"Left out for lack of time: {'; '.join(result.skipped)}.")
    for remark in remarks:
        yield f"- {remark}"
    if remarks:
        yield ""


def _compared(result: PaperResult) -> Iterator[str]:
    reasons = list(dict.fromkeys(row.why for row in result.compared if row.why))
    marks = {why: f"<sup>{number}</sup>" for number, why in enumerate(reasons, start=1)}
    yield "| quantity | published | here |"
    yield "| --- | --- | --- |"
    for row in result.compared:
        cells = (_plain(row.quantity), _value(row.published), _ours(row) + marks.get(row.why, ""))
        yield f"| {' | '.join(cells)} |"
    yield ""
    if reasons:
        yield "Differences: " + " ".join(f"{marks[why]} {why}." for why in reasons) + "\n"


def _ours(row: Compared) -> str:
    return MISSING if row.ours is None else _value(row.ours)


def _value(value: float | str) -> str:
    return _plain(value) if isinstance(value, str) else f"{value:.4g}"


def _table(table: PaperTable) -> Iterator[str]:
    shown = table.rows[:MOST_ROWS]
    rest = len(table.rows) - len(shown)
    more = f" ({len(table.rows)} rows, the first {MOST_ROWS})" if rest else ""
    yield f'??? note "{table.caption}{more}"\n'
    yield f"    | {' | '.join(map(_plain, table.headings))} |"
    yield f"    | {' | '.join(['---'] * len(table.headings))} |"
    for row in shown:
        yield f"    | {' | '.join(_plain(table.cell(cell)) for cell in row)} |"
    yield ""


def _plain(text: str) -> str:
    """Text that Markdown does not take for markup."""
    return text.replace("|", "\\|").replace("[", "\\[").replace("<", "&lt;")
