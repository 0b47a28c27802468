"""Figures 18 and 19, Table 9: what language models remember of secrets in their text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import numpy as np

from sottovoce.findings import MemorisationFindings
from sottovoce.papers.comprise_2021.secret_models import (
    EPOCHS,
    INSERTIONS,
    MULTIPLE,
    TEMPLATES,
    ExposedModels,
    private_epochs,
    secret_studies,
)
from sottovoce.papers.data import PaperData
from sottovoce.papers.items import PaperItem
from sottovoce.papers.results import Cell, Compared, ItemOutput, PaperTable, paper_table
from sottovoce.report.svg import Axis, Figure, Line, arrange, line_chart

TABLE_9 = {
    "GloVe-100d": (5.87, 1.61, 7.9, 1.72),
    "GloVe-300d": (6.03, 1.17, 13.65, 2.19),
    "ELMo-1024d": (13.39, 2.04, 9.33, 0.65),
    "BERT-768d": (14.85, 0.12, 14.85, 1.62),
    "BERT-1024d": (14.85, 0.27, 14.85, 2.20),
}
"""Exposure of an illness in bits: single insertion without and with privacy, multiple likewise."""
TABLE_9_EPOCHS = 40
"""Of all models of the document's table."""
AGREEING_SEEDS = 3
"""Seeds that have to agree before a claim is answered."""

_NO_VECTORS = (
    "No --vectors FILE was given, so random vectors are trained. GloVe, ELMo or BERT vectors run "
    "as such files; the option may be repeated."
)


def _made_from(findings: Sequence[MemorisationFindings]) -> str:
    text = findings[0].text
    if text is None:
        return "no text"
    synthetic = "synthetic text" if findings[0].synthetic else f"text of {text.name}"
    seeds = len({entry.seed for entry in findings})
    return (
        f"{synthetic}: {text.sentences:,} sentences, {text.words:,} words; means of {seeds} "
        f"seed{'s' if seeds > 1 else ''}"
    )


def _figure_18(data: PaperData) -> ItemOutput:
    exposed, findings = secret_studies(data)
    return ItemOutput(
        _made_from(findings),
        tables=[_exposure_table(exposed), _control_table(exposed)],
        drawings={
            "figure-18": arrange(
                "Exposure by insertion",
                "One panel a kind of secret; one secret, or several of different people.",
                [_insertion_panel(exposed, spec) for spec in TEMPLATES],
                columns=2,
            )
        },
        compared=[
            _lower_with_several(pair, spec) for pair in _plain(exposed) for spec in TEMPLATES
        ],
        remarks=[
            f"Several secrets are those of {MULTIPLE['pin']} or {MULTIPLE['illness']} people; the "
            "mean of all of them is given, where the document has that of the first.",
            "The document measures illnesses after 5 epochs and PINs after 40. Here private models "
            f"train {private_epochs()} epochs, the others {EPOCHS[-1]}.",
            *_about_vectors(data),
        ],
    )


def _plain(exposed: Sequence[ExposedModels]) -> list[dict[str, ExposedModels]]:
    """For each kind of vectors, the models without privacy by insertion."""
    by_embedding: dict[str, dict[str, ExposedModels]] = {}
    for models in exposed:
        if not models.private:
            by_embedding.setdefault(models.embedding, {})[models.insertion] = models
    return list(by_embedding.values())


def _lower_with_several(models: Mapping[str, ExposedModels], spec: str) -> Compared:
    """Whether several secrets have a lower exposure than one; the numbers if seeds disagree."""
    single, multiple = (models[insertion].bits(spec) for insertion in INSERTIONS)
    lower = [several < one for several, one in zip(multiple, single, strict=True)]
    quantity = (
        f"several secrets of a kind lower the exposure ({spec}, {models['single'].embedding})"
    )
    if len(lower) >= AGREEING_SEEDS and all(lower):
        return Compared(quantity, "yes, except for GloVe", "yes")
    numbers = (", ".join(f"{bits:.2f}" for bits in values) for values in (single, multiple))
    return Compared(
        quantity,
        "yes, except for GloVe",
        "single {}, multiple {} bits".format(*numbers),
        f"lower with {sum(lower)} of {len(lower)} seeds; {AGREEING_SEEDS} that agree are needed "
        "for an answer",
    )


def _about_vectors(data: PaperData) -> list[str]:
    return [] if data.vectors else [_NO_VECTORS]


def _exposure_table(exposed: Sequence[ExposedModels]) -> PaperTable:
    rows: list[tuple[Cell, ...]] = [
        (
            spec,
            models.insertion,
            models.name,
            models.epochs[-1],
            models.mean(spec),
            min(models.bits(spec)),
            max(models.bits(spec)),
            float(np.mean([model.last.test_perplexity for model in models.models])),
        )
        for spec in TEMPLATES
        for models in exposed
    ]
    headings = (
        "secret",
        "insertion",
        "model",
        "epochs",
        "exposure in bits",
        "least of seeds",
        "most of seeds",
        "test perplexity",
    )
    return paper_table("Exposure after the last epoch", headings, rows, decimals=2)


def _control_table(exposed: Sequence[ExposedModels]) -> PaperTable:
    rows: list[tuple[Cell, ...]] = [
        (
            control.spec,
            models.insertion,
            models.name,
            control.summary.secrets,
            control.summary.value,
            control.summary.low,
            control.summary.high,
            control.summary.null_mean,
        )
        for models in exposed
        for control in models.models[0].controls
    ]
    headings = ("secret", "insertion", "model", "values", "mean bits", "low", "high", "expected")
    return paper_table("Values that were never inserted, first seed", headings, rows, decimals=2)


def _insertion_panel(exposed: Sequence[ExposedModels], spec: str) -> Figure:
    lines, most = [], 1.0
    for style, name in enumerate(dict.fromkeys(models.name for models in exposed), start=1):
        bits = [
            next(m for m in exposed if (m.insertion, m.name) == (insertion, name)).mean(spec)
            for insertion in INSERTIONS
        ]
        lines.append(Line(name, [0.0, 1.0], bits, style))
    for models in exposed:
        groups = [g for g in models.models[0].last.groups if g.spec == spec]
        most = max(most, groups[0].canaries[0].exposure.maximum_bits)
    ticks = ((0.0, INSERTIONS[0]), (1.0, INSERTIONS[1]))
    return line_chart(
        spec,
        f"Exposure in bits, at most {most:.2f}.",
        Axis("insertion", -0.2, 1.2, ticks),
        Axis.nice("exposure in bits", 0, most),
        lines,
    )


def _figure_19(data: PaperData) -> ItemOutput:
    exposed, findings = secret_studies(data)
    single = [models for models in exposed if models.insertion == "single"]
    lines: list[Line] = []
    rows: list[tuple[Cell, ...]] = []
    for models in single:
        for spec in TEMPLATES:
            bits = [models.mean(spec, epoch) for epoch in models.epochs]
            name = f"{spec}, {models.name}"
            lines.append(Line(name, models.epochs, bits, len(lines) + 1))
            rows += [(name, epoch, value) for epoch, value in zip(models.epochs, bits, strict=True)]
    return ItemOutput(
        _made_from(findings),
        tables=[
            paper_table(
                "Exposure of a secret inserted once", ("model", "epoch", "bits"), rows, decimals=2
            )
        ],
        drawings={
            "figure-19": line_chart(
                "Exposure over epochs",
                "Exposure in bits of a PIN and of an illness that were inserted once.",
                Axis.nice("epoch", 0, max(models.epochs[-1] for models in single)),
                Axis.nice("exposure in bits", 0, 15),
                lines,
            )
        },
        compared=[
            _reached(models["single"], spec) for models in _plain(exposed) for spec in TEMPLATES
        ],
        remarks=_about_vectors(data),
    )


def _reached(models: ExposedModels, spec: str) -> Compared:
    """The epoch from which on the secret of every seed is the model's first guess."""
    groups = [g for g in models.models[0].last.groups if g.spec == spec]
    most = groups[0].canaries[0].exposure.maximum_bits
    full = [e for e in models.epochs if min(models.bits(spec, e)) >= most - 1e-9]
    ours = f"not within {models.epochs[-1]} ({models.mean(spec):.2f} of {most:.2f} bits)"
    quantity = f"epoch at which the maximum is reached, {spec}, {models.embedding} vectors"
    published, why = "not given", ""
    if spec == "illness":
        published, why = "12 (GloVe) to 36 (BERT)", _why(models)
    return Compared(quantity, published, str(full[0]) if full else ours, why)


def _why(models: ExposedModels) -> str:
    """What differs from the document's models."""
    vectors = ", and random vectors" if models.embedding == "random" else ""
    return f"other text and network{vectors}"


def _table_9(data: PaperData) -> ItemOutput:
    exposed, findings = secret_studies(data)
    rows: list[tuple[Cell, ...]] = [
        ("illness", f"{name} (published)", TABLE_9_EPOCHS, *values)
        for name, values in TABLE_9.items()
    ]
    for plain in _plain(exposed):
        of_vectors = [m for m in exposed if m.embedding == plain["single"].embedding]
        rows += [row for spec in TEMPLATES for row in _table_9_rows(of_vectors, spec)]
    headings = (
        *("secret", "vectors", "epochs"),
        *("single", "single, private", "multiple", "multiple, private"),
    )
    return ItemOutput(
        _made_from(findings),
        tables=[paper_table("Exposure in bits", headings, rows, decimals=2)],
        compared=[row for models in exposed for row in _illness_compared(models)],
        remarks=[
            f"Private models train {private_epochs()} epochs, the others {EPOCHS[-1]}: compare "
            f"them after {private_epochs()}. The more exposed epoch stands first.",
            *_about_vectors(data),
        ],
    )


def _table_9_rows(exposed: Sequence[ExposedModels], spec: str) -> Iterator[tuple[Cell, ...]]:
    """A row for each epoch that is shown; None where a model was not trained so long."""
    by_place = {(models.insertion, models.private): models for models in exposed}
    single = by_place["single", False]
    for epoch in single.by_disclosure(spec):
        cells = [
            models.mean(spec, epoch) if epoch in (models := by_place[place]).epochs else None
            for place in product(INSERTIONS, (False, True))
        ]
        yield (spec, f"{single.embedding} (here)", epoch, *cells)


PUBLISHED_RANGES = {
    ("single", False): "5.87 to 14.85",
    ("single", True): "0.12 to 2.04",
    ("multiple", False): "7.9 to 14.85",
    ("multiple", True): "0.65 to 2.20",
}
"""Of Table 9, by insertion and privacy."""


def _illness_compared(models: ExposedModels) -> Iterator[Compared]:
    private = ", private" if models.private else ""
    epsilon = "; ε = 10 in both" if models.private else ""
    for epoch in models.by_disclosure("illness"):
        yield Compared(
            f"exposure of an illness, {models.embedding} vectors, {models.insertion} insertion"
            f"{private}, after {epoch} epochs, bits",
            PUBLISHED_RANGES[models.insertion, models.private],
            models.mean("illness", epoch),
            f"{TABLE_9_EPOCHS} epochs published{epsilon}; {_why(models)}",
        )


_NEEDS = ("torch", "accounting", "transcripts", "vectors")
ITEMS = (
    PaperItem("004-figure-18", "Exposure of secrets by insertions", _figure_18, _NEEDS),
    PaperItem("004-figure-19", "Exposure over epochs", _figure_19, _NEEDS),
    PaperItem("004-table-9", "Exposure with and without private training", _table_9, _NEEDS),
)
