"""Language models of text with inserted secrets, trained once for Figures 18, 19 and Table 9."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sottovoce.core.files import write_text
from sottovoce.corpus.utterance import Corpus
from sottovoce.findings import LanguageModelFinding, MemorisationFindings, ModelCheck
from sottovoce.memorisation.canaries import CanarySpec
from sottovoce.memorisation.run import run_memorisation
from sottovoce.memorisation.study import BUILTIN, LanguageModels, MemorisationStudy
from sottovoce.papers.data import PaperData, has_transcripts

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


@dataclass(frozen=True, slots=True)
class ExposedModels:
    """Models of all seeds that were trained in one way."""

    insertion: str
    label: str
    models: tuple[LanguageModelFinding, ...]

    @property
    def private(self) -> bool:
        """Whether they were trained with differential privacy."""
        return self.models[0].privacy is not None

    @property
    def embedding(self) -> str:
        """``random``, or the name of the file of vectors."""
        return self.models[0].embedding

    @property
    def name(self) -> str:
        """The label, with the vectors also where they are random."""
        named = self.embedding in self.label
        return self.label if named else f"{self.label}, {self.embedding}"

    @property
    def epochs(self) -> list[int]:
        """The epochs after which they were checked."""
        return [check.epoch for check in self.models[0].checks]

    def bits(self, spec: str, epoch: int | None = None) -> list[float]:
        """Mean exposure of the secrets of each seed, by default after the last epoch."""
        checks = [
            model.last if epoch is None else next(c for c in model.checks if c.epoch == epoch)
            for model in self.models
        ]
        return [_inserted_bits(check, spec) for check in checks]

    def mean(self, spec: str, epoch: int | None = None) -> float:
        """Return the mean exposure over seeds.

        Parameters
        ----------
        spec : str
            Kind of secret.
        epoch : int, optional
            After which; default the last one.
        """
        return float(np.mean(self.bits(spec, epoch)))

    def by_disclosure(self, spec: str) -> list[int]:
        """The last epoch and the last one of private models, the more exposed one first."""
        epochs = [e for e in self.epochs if e in (private_epochs(), self.epochs[-1])]
        return sorted(epochs, key=lambda epoch: -self.mean(spec, epoch))


def private_epochs() -> int:
    """Return how long private models train."""
    return int(PRIVACY["epochs"])


def _inserted_bits(check: ModelCheck, spec: str) -> float:
    """Mean exposure of what was inserted once."""
    (bits,) = [g.bits for g in check.groups if g.spec == spec and g.repetitions == 1]
    return bits


def secret_studies(data: PaperData) -> tuple[list[ExposedModels], list[MemorisationFindings]]:
    """Train language models on text with one secret or several of each kind, by several seeds.

    Parameters
    ----------
    data : PaperData
        The transcripts of its corpus are the text; with the built-in corpus, synthetic text.
    """
    text, test = _texts(data)
    exposed: list[ExposedModels] = []
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
            ExposedModels(insertion, models[0].label, models)
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
            "check": list(EPOCHS if insertion == "single" else (private_epochs(), EPOCHS[-1])),
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
    training = data.training
    other = training if training is not None and has_transcripts(training) else None
    folder = data.work / "transcripts"  # one each, since both corpora may have the same name
    text = _write_transcripts(data.attacked, folder / "attacked")
    return text, None if other is None else _write_transcripts(other, folder / "training")


def _write_transcripts(corpus: Corpus, folder: Path) -> str:
    lines = [" ".join(utterance.transcript.lower().split()) for utterance in corpus]
    path = folder / f"{corpus.name}.transcripts.txt"
    write_text(path, "\n".join(line for line in lines if line) + "\n")
    return str(path)
