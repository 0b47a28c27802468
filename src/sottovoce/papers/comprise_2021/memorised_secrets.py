"""Figures 18 and 19, Table 9: what language models remember of secrets in their text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sottovoce.core.errors import InputError
from sottovoce.core.files import write_text
from sottovoce.corpus.utterance import Corpus
from sottovoce.findings import LanguageModelFinding, MemorisationFindings, ModelCheck
from sottovoce.memorisation.canaries import CanarySpec
from sottovoce.memorisation.run import run_memorisation
from sottovoce.memorisation.study import BUILTIN, LanguageModels, MemorisationStudy
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

NAMES = (
    *("john", "mary", "oliver", "laura", "peter", "susan", "henry", "alice"),
    *("frank", "grace", "martin", "helen", "robert", "julia", "simon", "nora"),
)
TEMPLATES = {"pin": "{name} atm pin number is {}", "illness": "{name} is suffering from {}"}
SECRETS = {"pin": {"digits": 4, "spaced": True}, "illness": {"vocabulary": 1}}
"""Templates and spaces of the document: any word of the text may be an illness."""
MULTIPLE = {"pin": 10, "illness": 16}
"""Secrets of different people in a text with several."""
EPOCHS = (1, 2, 5, 8, 10, 15, 20)
PRIVACY = {"epsilon": 10, "delta": 2.0e-5, "epochs": 10}
SENTENCES = 1000
SEEDS, QUICK_SEEDS = 3, 1
INSERTIONS = ("single", "multiple")

_NO_VECTORS = (
    "GloVe, ELMo and BERT vectors cannot be had here: random ones are trained. Files of vectors "
    "run with --vectors FILE, which may be repeated."
)


@dataclass(frozen=True, slots=True)
class _Exposed:
    """Models of all seeds that were trained in one way."""

    insertion: str
    label: str
    models: tuple[LanguageModelFinding, ...]

    @property
    def epochs(self) -> list[int]:
        return [check.epoch for check in self.models[0].checks]

    def bits(self, spec: str, epoch: int | None = None) -> list[float]:
        """Mean exposure of the secrets of each seed, by default after the last epoch."""
        checks = [
            model.last if epoch is None else next(c for c in model.checks if c.epoch == epoch)
            for model in self.models
        ]
        return [_inserted_bits(check, spec) for check in checks]

    def mean(self, spec: str, epoch: int | None = None) -> float:
        return float(np.mean(self.bits(spec, epoch)))


def _inserted_bits(check: ModelCheck, spec: str) -> float:
    """Mean exposure of what was inserted once."""
    (bits,) = [g.bits for g in check.groups if g.spec == spec and g.repetitions == 1]
    return bits


def secret_studies(data: PaperData) -> tuple[list[_Exposed], list[MemorisationFindings]]:
    """Train language models on text with one secret or several of each kind, by several seeds.

    Parameters
    ----------
    data : PaperData
        The transcripts of its corpus are the text; with the built-in corpus, synthetic text.
    """
    text, test = _texts(data)
    exposed: list[_Exposed] = []
    everything: list[MemorisationFindings] = []
    for insertion in INSERTIONS:
        findings = [
            run_memorisation(
                _study(data, insertion, text, test, seed),
                data.work / "memorisation" / f"{insertion}-{seed}",
                progress=data.progress,
            )
            for seed in range(data.seed, data.seed + (QUICK_SEEDS if data.quick else SEEDS))
        ]
        everything += findings
        exposed += [
            _Exposed(insertion, models[0].label, models)
            for models in zip(*(entry.language_models for entry in findings), strict=True)
        ]
    return exposed, everything


def _study(
    data: PaperData, insertion: str, text: str, test: str | None, seed: int
) -> MemorisationStudy:
    canaries = [
        CanarySpec.model_validate(
            {
                "id": spec,
                "template": TEMPLATES[spec],
                "names": NAMES,
                "space": SECRETS[spec],
                "repetitions": [0, 1] if insertion == "single" else [1],
                "canaries": 1 if insertion == "single" else MULTIPLE[spec],
            }
        )
        for spec in TEMPLATES
    ]
    models = LanguageModels.model_validate(
        {
            "epochs": EPOCHS[-1],
            "check": list(EPOCHS if insertion == "single" else EPOCHS[-1:]),
            "privacy": [None, PRIVACY],
            "vectors": [None, *map(str, data.vectors)],
        }
    )
    return MemorisationStudy(
        name=f"{insertion} insertion",
        text=text,
        test=test,
        sentences=SENTENCES,
        canaries=canaries,
        language_model=models,
        seed=seed,
    )


def _texts(data: PaperData) -> tuple[str, str | None]:
    """Files of the training and the test text, or the built-in text."""
    if data.synthetic:
        return BUILTIN, None
    text = _write_transcripts(data.attacked, data.work)
    if text is None:
        raise InputError(
            f"{data.attacked.name}: no transcripts, which language models are trained on; name "
            "another --corpus",
            code="missing-transcript",
        )
    other = None if data.training is None else _write_transcripts(data.training, data.work)
    return str(text), None if other is None else str(other)


def _write_transcripts(corpus: Corpus, folder: Path) -> Path | None:
    lines = [" ".join(utterance.transcript.lower().split()) for utterance in corpus]
    kept = [line for line in lines if line]
    path = folder / f"{corpus.name}.transcripts.txt"
    if kept:
        write_text(path, "\n".join(kept) + "\n")
    return path if kept else None


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
    rows: list[tuple[Cell, ...]] = [
        (
            spec,
            models.insertion,
            models.label,
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
        "exposure in bits",
        "least of seeds",
        "most of seeds",
        "test perplexity",
    )
    plain = {m.insertion: m for m in exposed if m.models[0].privacy is None}
    return ItemOutput(
        _made_from(findings),
        tables=[
            paper_table("Exposure after the last epoch", headings, rows, decimals=2),
            _control_table(exposed),
        ],
        drawings={
            "figure-18": arrange(
                "Exposure by insertion",
                "One panel a kind of secret; one secret, or several of different people.",
                [_insertion_panel(exposed, spec) for spec in TEMPLATES],
                columns=2,
            )
        },
        compared=[
            Compared(
                f"several secrets of a kind lower the exposure ({spec})",
                "yes, except for GloVe",
                "yes" if plain["multiple"].mean(spec) < plain["single"].mean(spec) else "no",
            )
            for spec in TEMPLATES
        ],
        remarks=[
            f"Several secrets are those of {MULTIPLE['pin']} or {MULTIPLE['illness']} people; the "
            "mean of all of them is given, where the document has that of the first.",
            _NO_VECTORS,
        ],
    )


def _control_table(exposed: Sequence[_Exposed]) -> PaperTable:
    rows: list[tuple[Cell, ...]] = [
        (
            control.spec,
            models.insertion,
            models.label,
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


def _insertion_panel(exposed: Sequence[_Exposed], spec: str) -> Figure:
    lines, most = [], 1.0
    for style, label in enumerate(dict.fromkeys(models.label for models in exposed), start=1):
        bits = [
            next(m for m in exposed if (m.insertion, m.label) == (insertion, label)).mean(spec)
            for insertion in INSERTIONS
        ]
        lines.append(Line(label, [0.0, 1.0], bits, style))
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
            name = f"{spec}, {models.label}"
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
            Compared(
                f"epoch at which the maximum is reached, {spec}",
                "12 (GloVe) to 36 (BERT)" if spec == "illness" else "not given",
                _first_full(single, spec),
                "other text and network, and random vectors" if spec == "illness" else "",
            )
            for spec in TEMPLATES
        ],
        remarks=[_NO_VECTORS],
    )


def _first_full(single: Sequence[_Exposed], spec: str) -> str:
    """The epoch from which on the secret of every seed is the model's first guess."""
    plain = next(models for models in single if models.models[0].privacy is None)
    groups = [g for g in plain.models[0].last.groups if g.spec == spec]
    most = groups[0].canaries[0].exposure.maximum_bits
    full = [e for e in plain.epochs if min(plain.bits(spec, e)) >= most - 1e-9]
    if full:
        return str(full[0])
    return f"not within {plain.epochs[-1]} ({plain.mean(spec):.2f} of {most:.2f} bits)"


def _table_9(data: PaperData) -> ItemOutput:
    exposed, findings = secret_studies(data)
    rows: list[tuple[Cell, ...]] = [
        ("illness", f"{name} (published)", *values) for name, values in TABLE_9.items()
    ]
    ours: dict[tuple[str, str], dict[tuple[str, bool], float]] = {}
    for models in exposed:
        private = models.models[0].privacy is not None
        for spec in TEMPLATES:
            cells = ours.setdefault((spec, models.models[0].embedding), {})
            cells[models.insertion, private] = models.mean(spec)
    order = [(insertion, private) for insertion in INSERTIONS for private in (False, True)]
    for (spec, embedding), cells in ours.items():
        rows.append((spec, f"{embedding} (here)", *(cells[place] for place in order)))
    headings = ("secret", "vectors", "single", "single, private", "multiple", "multiple, private")
    why = "ε = 10 in both; other text, network and vectors, fewer epochs"
    here = ours["illness", exposed[0].models[0].embedding]
    return ItemOutput(
        _made_from(findings),
        tables=[paper_table("Exposure in bits", headings, rows, decimals=2)],
        compared=[
            Compared(f"exposure of an illness, {name}, bits", published, here[place], why)
            for name, published, place in (
                ("single insertion", "5.87 to 14.85", ("single", False)),
                ("single insertion, private", "0.12 to 2.04", ("single", True)),
                ("multiple insertion", "7.9 to 14.85", ("multiple", False)),
                ("multiple insertion, private", "0.65 to 2.20", ("multiple", True)),
            )
        ],
        remarks=[_NO_VECTORS],
    )


_NEEDS = ("torch", "accounting")
ITEMS = (
    PaperItem("004-figure-18", "Exposure of secrets by insertions", _figure_18, _NEEDS),
    PaperItem("004-figure-19", "Exposure over epochs", _figure_19, _NEEDS),
    PaperItem("004-table-9", "Exposure with and without private training", _table_9, _NEEDS),
)
