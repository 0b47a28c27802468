"""Figures 16 and 17, Table 8: what taggers remember."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from sottovoce.core.errors import InputError
from sottovoce.core.step_cache import StepCache
from sottovoce.findings import TaggerCheck, TaggerStudy
from sottovoce.memorisation.study import Overfitting, Taggers
from sottovoce.memorisation.tagger_study import study_taggers
from sottovoce.papers.data import PaperData
from sottovoce.papers.items import PaperItem
from sottovoce.papers.results import Cell, Compared, ItemOutput, PaperTable, paper_table
from sottovoce.report.svg import Axis, Figure, Line, arrange, line_chart

CLASSES = ("LOC", "PER", "ORG")
REPETITIONS = (0, 4, 16, 64, 128, 256)
TABLE_8 = {
    "LOC": (1.46, 1.46, 1.51, 2.52, 2.09, 3.29),
    "PER": (0.00, 0.78, 1.10, 3.64, 5.19, 7.89),
    "ORG": (0.00, 0.00, 1.26, 4.16, 5.51, 6.16),
}
"""d-exposure after the last published epoch, by repetitions."""
PUBLISHED_EPOCHS = 150
ROUNDING = 1e-9
"""Bits by which equal d-exposures may differ."""
EPOCHS = (2, 5, 8)
QUICK_EPOCHS = (2, 5)
OVERFITTING = Overfitting(share=0.1, epochs=100, every=5)
QUICK_OVERFITTING = Overfitting(share=0.25, epochs=30, every=3)
QUICK_SENTENCES = 4000
"""Fewer sentences of the set that was tried have no ambiguous word for each class."""


def tagger_study(data: PaperData) -> TaggerStudy:
    """Train taggers on tagged text with ambiguous words inserted.

    Parameters
    ----------
    data : PaperData
        Its folder of tagged text has ``en.train.conll`` and ``en.test.conll`` of one set.
    """
    train, test = _tagged_files(data.ner or Path())
    quick = data.quick
    settings = Taggers(
        data=str(train),
        test=str(test),
        kinds=["bilstm"],
        classes=list(CLASSES),
        repetitions=list(REPETITIONS),
        sentences=QUICK_SENTENCES if quick else None,
        iterations=1,
        epochs=list(QUICK_EPOCHS if quick else EPOCHS),
        overfitting=QUICK_OVERFITTING if quick else OVERFITTING,
    )
    steps = StepCache(data.work / "steps")
    return study_taggers(
        settings, steps, data.progress or (lambda stage, done, total: None), seed=data.seed
    )


def _tagged_files(folder: Path) -> tuple[Path, Path]:
    """The training and test file of the first set of English text that has both."""
    for train in sorted(folder.rglob("en.train.conll*")):
        test = train.with_name(train.name.replace("train", "test"))
        if test.is_file() and train.parent.name != "massive":  # commands have few organisations
            return train, test
    raise InputError(f"{folder}: no en.train.conll with an en.test.conll beside it", code="empty")


def _by_class(checks: Sequence[TaggerCheck], across: str) -> Figure:
    lines, most = [], 1.0
    for style, label in enumerate((*CLASSES, "mean"), start=1):
        x = [_place(getattr(check, across), across) for check in checks]
        bits = [_bits(check, label) for check in checks]
        most = max(most, *bits)
        lines.append(Line(label, x, bits, style))
    values = sorted({getattr(check, across) for check in checks})
    ticks = tuple((_place(value, across), str(value)) for value in values)
    return line_chart(
        f"d-exposure over {across}",
        "One line a class, and their mean.",
        Axis(across, ticks[0][0], max(ticks[-1][0], ticks[0][0] + 1e-9), ticks),
        Axis.nice("d-exposure in bits", 0, 1.05 * most),
        lines,
    )


def _place(value: int, across: str) -> float:
    return math.log2(value + 1) if across == "repetitions" else float(value)


def _bits(check: TaggerCheck, label: str) -> float:
    if label == "mean":
        return check.exposure.value
    return next(c.exposure_bits for c in check.exposure.classes if c.label == label)


def _last_checks(study: TaggerStudy) -> list[TaggerCheck]:
    """The checks after the last epoch, by repetitions."""
    last = max(check.epoch for check in study.checks)
    return sorted((c for c in study.checks if c.epoch == last), key=lambda c: c.repetitions)


def _figure_16(data: PaperData) -> ItemOutput:
    study = tagger_study(data)
    checks = _last_checks(study)
    rises = checks[-1].exposure.value > checks[0].exposure.value
    return ItemOutput(
        _made_from(data, study),
        tables=[_grid(study)],
        drawings={"figure-16": _by_class(checks, "repetitions")},
        compared=[Compared("d-exposure rises with repetitions", "yes", "yes" if rises else "no")],
    )


def _made_from(data: PaperData, study: TaggerStudy) -> str:
    words = ", ".join(f"{word.word} as {word.label}" for word in study.words)
    name = _tagged_files(data.ner or Path())[0].parent.name
    return f"{study.sentences:,} sentences of {name}, with {words} inserted"


def _grid(study: TaggerStudy) -> PaperTable:
    rows: list[tuple[Cell, ...]] = [
        (
            check.tagger,
            check.repetitions,
            check.epoch,
            *(_bits(check, c) for c in CLASSES),
            check.f1,
        )
        for check in study.checks
    ]
    headings = ("tagger", "repetitions", "epoch", *CLASSES, "F1")
    return paper_table("d-exposure in bits", headings, rows, decimals=2)


def _figure_17(data: PaperData) -> ItemOutput:
    study = tagger_study(data)
    if not study.overfitting:
        raise InputError("no tagger was made to overfit", code="empty")
    f1 = line_chart(
        "F1 while overfitting",
        "F1 on training and on test text.",
        Axis.nice("epoch", 0, max(c.epoch for c in study.overfitting)),
        Axis.nice("F1", 0, 1.02),
        [
            Line(
                "training",
                [c.epoch for c in study.overfitting],
                [c.train_f1 for c in study.overfitting],
                1,
            ),
            Line(
                "test", [c.epoch for c in study.overfitting], [c.f1 for c in study.overfitting], 2
            ),
        ],
    )
    figure = arrange(
        "d-exposure while a tagger overfits",
        "Left d-exposure, right F1.",
        [_by_class(study.overfitting, "epoch"), f1],
        columns=2,
    )
    rows: list[tuple[Cell, ...]] = [
        (c.epoch, *(_bits(c, label) for label in CLASSES), c.train_f1, c.f1)
        for c in study.overfitting
    ]
    return ItemOutput(
        _made_from(data, study),
        tables=[
            paper_table(
                "While overfitting", ("epoch", *CLASSES, "F1 training", "F1 test"), rows, decimals=2
            )
        ],
        drawings={"figure-17": figure},
        compared=[_while_overfitting(study.overfitting)],
        remarks=[
            "Overfitting begins where F1 on test text is highest. One tagger of one seed is "
            "measured; no interval says how much its d-exposure would vary."
        ],
    )


def _while_overfitting(checks: Sequence[TaggerCheck]) -> Compared:
    """Whether mean d-exposure rises after the epoch with the highest F1 on test text."""
    best = max(checks, key=lambda check: check.f1)  # the first of equal ones
    later = [check.exposure.value for check in checks if check.epoch > best.epoch]
    bits = best.exposure.value
    why = ""
    if not later:
        answer = f"cannot be told: no overfitting within {best.epoch} epochs"
        why = "F1 on test text is highest at the last epoch that was measured"
    elif max(later) > bits + ROUNDING:
        answer = f"no: {bits:.2f} bits at epoch {best.epoch}, up to {max(later):.2f} later"
        why = "other text, other words and another tagger"
    else:
        answer = f"yes: {bits:.2f} bits at epoch {best.epoch}, at most {max(later):.2f} later"
        if bits >= _most_bits(best) - ROUNDING:
            why = (
                "It has its maximum when overfitting begins and cannot rise, so the claim is not "
                "really tested; the document would take that for a measure of overfitting"
            )
    return Compared("d-exposure stops rising when overfitting begins", "yes", answer, why)


def _most_bits(check: TaggerCheck) -> float:
    """The largest mean d-exposure that there can be."""
    return sum(c.maximum_bits for c in check.exposure.classes) / len(check.exposure.classes)


def _table_8(data: PaperData) -> ItemOutput:
    study = tagger_study(data)
    checks = {check.repetitions: check for check in _last_checks(study)}
    rows: list[tuple[Cell, ...]] = []
    for i, count in enumerate(REPETITIONS):
        cells: list[Cell] = [count]
        for label in CLASSES:
            ours = _bits(checks[count], label) if count in checks else None
            cells += [TABLE_8[label][i], ours]
        rows.append(tuple(cells))
    last = checks[max(checks)].epoch
    why = (
        f"{PUBLISHED_EPOCHS} epochs published, {last} here; other text (CoNLL-2003 may not be "
        "redistributed), other words and another tagger"
    )
    compared = [
        Compared(
            f"d-exposure of {label}, 256 repetitions, bits",
            TABLE_8[label][-1],
            _bits(checks[256], label) if 256 in checks else None,
            why,
        )
        for label in CLASSES
    ]
    headings = ["repetitions"]
    for label in CLASSES:
        headings += [f"{label} published", label]
    return ItemOutput(
        _made_from(data, study),
        tables=[
            paper_table(
                f"d-exposure in bits, published after {PUBLISHED_EPOCHS} epochs, here after {last}",
                headings,
                rows,
                decimals=2,
            ),
            _grid(study),
        ],
        compared=compared,
    )


ITEMS = (
    PaperItem("004-figure-16", "d-exposure over repetitions", _figure_16, ("words", "torch")),
    PaperItem("004-figure-17", "d-exposure while overfitting", _figure_17, ("words", "torch")),
    PaperItem(
        "004-table-8", "d-exposure by class, repetitions and epochs", _table_8, ("words", "torch")
    ),
)
