"""Figures 16 to 19, Tables 8 and 9: what taggers and language models remember."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from sottovoce.core.errors import InputError
from sottovoce.core.step_cache import StepCache
from sottovoce.findings import (
    CanaryGroup,
    LanguageModelFinding,
    MemorisationFindings,
    TaggerCheck,
    TaggerStudy,
)
from sottovoce.memorisation.run import run_memorisation
from sottovoce.memorisation.study import Overfitting, Taggers, builtin_study
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
"""d-exposure after 150 epochs, by repetitions."""
TABLE_9 = {
    "GloVe-100d": (5.87, 1.61, 7.9, 1.72),
    "GloVe-300d": (6.03, 1.17, 13.65, 2.19),
    "ELMo-1024d": (13.39, 2.04, 9.33, 0.65),
    "BERT-768d": (14.85, 0.12, 14.85, 1.62),
    "BERT-1024d": (14.85, 0.27, 14.85, 2.20),
}
"""Exposure of an illness in bits: single insertion without and with privacy, multiple likewise."""


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
        kinds=["bilstm"] if not quick else ["crf"],
        classes=list(CLASSES),
        repetitions=list(REPETITIONS),
        sentences=2000 if quick else None,
        iterations=40,
        overfitting=Overfitting(
            share=0.5 if quick else 0.1, epochs=30 if quick else 250, every=5 if quick else 25
        ),
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
        compared=[
            Compared(
                "d-exposure stops rising when overfitting begins",
                "yes",
                f"mean {study.overfitting[0].exposure.value:.2f} bits at first, "
                f"{study.overfitting[-1].exposure.value:.2f} at last",
            )
        ],
    )


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
    why = "other text (CoNLL-2003 may not be redistributed), other words and another tagger"
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
            paper_table("d-exposure in bits, last epoch", headings, rows, decimals=2),
            _grid(study),
        ],
        compared=compared,
    )


def language_models(data: PaperData) -> MemorisationFindings:
    """Train language models on text with canaries, with and without privacy.

    Parameters
    ----------
    data : PaperData
        With files of word vectors, if the user names any.
    """
    study = builtin_study()
    if study.language_model is not None and data.vectors:
        vectors = [None, *(str(path) for path in data.vectors)]
        settings = study.language_model.model_copy(update={"vectors": vectors})
        study = study.model_copy(update={"language_model": settings})
    return run_memorisation(study, data.work / "memorisation", progress=data.progress)


def _figure_18(data: PaperData) -> ItemOutput:
    findings = language_models(data)
    rows: list[tuple[Cell, ...]] = [
        (model.label, model.embedding, group.spec, group.repetitions, group.bits)
        for model in findings.language_models
        for group in model.last.groups
    ]
    specs = sorted({str(row[2]) for row in rows})
    panels = [_exposure_panel(findings, spec) for spec in specs]
    headings = ("model", "vectors", "secret", "insertions", "exposure in bits")
    return ItemOutput(
        _text_of(findings),
        tables=[paper_table("Exposure", headings, rows, decimals=2)],
        drawings={
            "figure-18": arrange(
                "Exposure by insertions", "One panel a kind of secret.", panels, columns=2
            )
        },
        compared=[
            Compared(
                "one insertion is memorised without privacy",
                "yes, up to the maximum",
                _largest(findings),
            )
        ],
        remarks=[_NO_VECTORS],
    )


_NO_VECTORS = (
    "GloVe, ELMo and BERT vectors cannot be had here: random ones are trained. Files of vectors "
    "run with --vectors FILE, which may be repeated."
)


def _text_of(findings: MemorisationFindings) -> str:
    text = findings.text
    if text is None:
        return "no text"
    synthetic = "synthetic " if findings.synthetic else ""
    return f"{synthetic}text of {text.sentences:,} sentences, {text.inserted} of them canaries"


def _largest(findings: MemorisationFindings) -> str:
    plain = [m for m in findings.language_models if m.privacy is None]
    once = [g for m in plain for g in m.last.groups if g.repetitions == 1]
    best = max(once, key=lambda group: group.bits)
    most = best.canaries[0].exposure.maximum_bits
    return f"{best.bits:.2f} of {most:.2f} bits ({best.spec})"


def _exposure_panel(findings: MemorisationFindings, spec: str) -> Figure:
    lines = []
    for style, model in enumerate(findings.language_models, start=1):
        groups = sorted(
            (g for g in model.last.groups if g.spec == spec), key=lambda g: g.repetitions
        )
        x = [float(i) for i in range(len(groups))]
        lines.append(Line(f"{model.label}, {model.embedding}", x, [g.bits for g in groups], style))
        counts = [group.repetitions for group in groups]
    ticks = tuple((float(i), str(count)) for i, count in enumerate(counts))
    return line_chart(
        spec,
        "Exposure in bits over insertions.",
        Axis("insertions", 0, max(1.0, ticks[-1][0]), ticks),
        Axis.nice("exposure in bits", 0, 15),
        lines,
    )


def _figure_19(data: PaperData) -> ItemOutput:
    findings = language_models(data)
    lines, rows = [], []
    for style, model in enumerate(findings.language_models, start=1):
        points = [(check.epoch, _once(check.groups)) for check in model.checks]
        name = f"{model.label}, {model.embedding}"
        lines.append(Line(name, [e for e, _ in points], [b for _, b in points], style))
        rows += [(name, epoch, bits) for epoch, bits in points]
    last = max(int(row[1]) for row in rows)
    return ItemOutput(
        _text_of(findings),
        tables=[
            paper_table(
                "Exposure of secrets inserted once", ("model", "epoch", "bits"), rows, decimals=2
            )
        ],
        drawings={
            "figure-19": line_chart(
                "Exposure over epochs",
                "Mean over secrets that were inserted once.",
                Axis.nice("epoch", 0, last),
                Axis.nice("exposure in bits", 0, 15),
                lines,
            )
        },
        compared=[
            Compared(
                "maximum reached (GloVe at 12, BERT at 36 epochs)",
                "yes",
                _largest(findings),
            )
        ],
        remarks=[_NO_VECTORS],
    )


def _once(groups: Sequence[CanaryGroup]) -> float:
    """Mean exposure of secrets that were inserted once."""
    bits = [group.bits for group in groups if group.repetitions == 1]
    return sum(bits) / len(bits)


def _table_9(data: PaperData) -> ItemOutput:
    findings = language_models(data)
    rows: list[tuple[Cell, ...]] = [(name, *values) for name, values in TABLE_9.items()]
    ours: dict[str, dict[bool, LanguageModelFinding]] = {}
    for model in findings.language_models:
        ours.setdefault(model.embedding, {})[model.privacy is not None] = model
    for embedding, models in ours.items():
        cells: list[Cell] = [f"{embedding} (here)"]
        for repetitions in (1, 4):
            for private in (False, True):
                trained = models.get(private)
                cells.append(None if trained is None else _mean_bits(trained, repetitions))
        rows.append(tuple(cells))
    here = rows[-1]
    headings = ("vectors", "single", "single, private", "multiple", "multiple, private")
    return ItemOutput(
        _text_of(findings),
        tables=[paper_table("Exposure in bits", headings, rows, decimals=2)],
        compared=[
            Compared(
                "exposure after private training, single insertion, bits",
                "0.12 to 2.04",
                here[2],
                "ε = 10 in both; other text, network and vectors. Multiple: four insertions of the "
                "same secret here, several secrets there",
            )
        ],
        remarks=[_NO_VECTORS],
    )


def _mean_bits(model: LanguageModelFinding, repetitions: int) -> float | None:
    bits = [group.bits for group in model.last.groups if group.repetitions == repetitions]
    return sum(bits) / len(bits) if bits else None


ITEMS = (
    PaperItem("004-figure-16", "d-exposure over repetitions", _figure_16, ("words", "torch")),
    PaperItem("004-figure-17", "d-exposure while overfitting", _figure_17, ("words", "torch")),
    PaperItem(
        "004-table-8", "d-exposure by class, repetitions and epochs", _table_8, ("words", "torch")
    ),
    PaperItem(
        "004-figure-18", "Exposure of secrets by insertions", _figure_18, ("torch", "accounting")
    ),
    PaperItem("004-figure-19", "Exposure over epochs", _figure_19, ("torch", "accounting")),
    PaperItem(
        "004-table-9",
        "Exposure with and without private training",
        _table_9,
        ("torch", "accounting"),
    ),
)
