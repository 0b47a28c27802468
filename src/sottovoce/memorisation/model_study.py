"""The language models of a study: trained on text with canaries, asked about them. Needs torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sottovoce.anonymise.keys import Secret
from sottovoce.core.errors import SottovoceError
from sottovoce.core.types import FloatArray
from sottovoce.findings import (
    CanaryExposure,
    CanaryGroup,
    ControlFinding,
    EstimatorCheck,
    LanguageModelFinding,
    ModelCheck,
    TextDescription,
)
from sottovoce.learn import PrivateRun
from sottovoce.measure.exposure import (
    exact_exposure,
    fitted_exposure,
    sampled_exposure,
    summarise_exposures,
)
from sottovoce.memorisation.canaries import (
    BLANK,
    Canary,
    CanarySpec,
    Space,
    draw_canaries,
    insertion_places,
)
from sottovoce.memorisation.language_model import (
    LanguageModel,
    LanguageModelSettings,
    candidate_perplexities,
    new_model,
    perplexity,
    train_model,
    train_private_model,
)
from sottovoce.memorisation.private_training import PrivacyBudget, privacy_finding
from sottovoce.memorisation.study import LanguageModels, Privacy
from sottovoce.memorisation.vocabulary import Vocabulary
from sottovoce.memorisation.word_vectors import read_vectors

Sentences = list[list[str]]


@dataclass(frozen=True, slots=True)
class StudyText:
    """Text with canaries in it, ready to train on."""

    name: str
    train: Sentences
    """With the canaries."""
    test: Sentences
    specs: tuple[CanarySpec, ...]
    canaries: tuple[Canary, ...]
    vocabulary: Vocabulary
    description: TextDescription

    @property
    def spaces(self) -> dict[str, Space]:
        """The space of each specification by its id."""
        return {spec.id: spec.space for spec in self.specs}


def insert_canaries(
    name: str,
    train: Sentences,
    test: Sentences,
    specs: tuple[CanarySpec, ...],
    secret: Secret,
    *,
    vocabulary: int,
) -> StudyText:
    """Draw canaries and put them into a text.

    Parameters
    ----------
    name : str
        What the text is called.
    train, test : list of lists of str
        Words of each sentence.
    specs : tuple of CanarySpec
        What is inserted; spaces are filled in.
    secret : Secret
        The key of the draws.
    vocabulary : int
        Most frequent words that models know.
    """
    canaries = draw_canaries(specs, secret)
    places = insertion_places(canaries, len(train), secret)
    mixed: Sentences = []
    for number in range(len(train) + 1):
        mixed += [sentence.split() for sentence in places.get(number, ())]
        mixed += train[number : number + 1]
    always = [word for canary in canaries for word in canary.sentence.split()]
    for spec in specs:
        if spec.space.digits is not None:
            always += [*"0123456789"] if spec.space.spaced else []
        else:
            always += [w for i in range(len(spec.space)) for w in spec.space[i].split()]
    known = Vocabulary.of(train, most=vocabulary, always=always)
    description = TextDescription(
        name=name,
        sentences=len(train),
        words=sum(map(len, train)),
        vocabulary=len(known),
        test_sentences=len(test),
        canaries=len(canaries),
        inserted=len(mixed) - len(train),
    )
    return StudyText(name, mixed, test, specs, tuple(canaries), known, description)


def study_model(
    text: StudyText,
    settings: LanguageModels,
    privacy: Privacy | None,
    vectors: str | None,
    *,
    seed: int,
    keep: Path,
) -> LanguageModelFinding:
    """Train one language model and measure the exposure of all canaries on the way.

    Parameters
    ----------
    text : StudyText
        Text with canaries.
    settings : LanguageModels
        Size, training, and after which epochs to measure.
    privacy : Privacy or None
        Train with differential privacy.
    vectors : str or None
        File of word vectors.
    seed : int
        Of weights, batches and samples. The noise of private training has a secret of its own.
    keep : Path
        Folder that gets the model.
    """
    table = None if vectors is None else read_vectors(Path(vectors), text.vocabulary, seed=seed)
    epochs = settings.epochs if privacy is None else privacy.epochs
    wanted = {epoch for epoch in settings.check if epoch <= epochs} | {epochs}
    checks: list[ModelCheck] = []

    def check(epoch: int, model: LanguageModel) -> None:
        if epoch in wanted:
            checks.append(_check(epoch, model, text))

    chosen = LanguageModelSettings(
        settings.embedding,
        settings.hidden,
        settings.epochs,
        settings.batch,
        settings.learning_rate,
        settings.vocabulary,
        seed,
    )
    model = new_model(text.vocabulary, chosen, table)
    run: PrivateRun | None = None
    if privacy is None:
        train_model(model, text.train, chosen, check)
    else:
        budget = PrivacyBudget(**privacy.model_dump())
        run = train_private_model(model, text.train, budget, check)
    model.save(keep)
    rng = np.random.default_rng([seed, 7])
    embedding = "random" if vectors is None else Path(vectors).name
    label = "without privacy" if privacy is None else privacy.label
    return LanguageModelFinding(
        label=label if vectors is None else f"{label}, {embedding}",
        embedding=embedding,
        parameters=sum(value.numel() for value in model.parameters() if value.requires_grad),
        checks=tuple(checks),
        estimators=_estimators(model, text, settings.sample, rng),
        controls=tuple(_control(model, text, spec, settings.controls, rng) for spec in text.specs),
        privacy=None if run is None else privacy_finding(run),
    )


def _scores(model: LanguageModel, template: str, space: Space) -> FloatArray:
    """Log-perplexities of all values of a space."""
    prefix = template.partition(BLANK)[0].split()
    return candidate_perplexities(model, prefix, [space[i].split() for i in range(len(space))])


def _check(epoch: int, model: LanguageModel, text: StudyText) -> ModelCheck:
    by_group: dict[tuple[str, int], list[CanaryExposure]] = {}
    for canary in text.canaries:
        bits = _scores(model, canary.template, text.spaces[canary.spec])
        exposure = exact_exposure(bits, canary.number)
        by_group.setdefault((canary.spec, canary.repetitions), []).append(
            CanaryExposure(canary.name, canary.repetitions, exposure)
        )
    groups = tuple(
        CanaryGroup(
            spec,
            repetitions,
            summarise_exposures([entry.exposure for entry in entries])
            if len(entries) > 1
            else None,
            tuple(entries),
        )
        for (spec, repetitions), entries in by_group.items()
    )
    return ModelCheck(epoch, perplexity(model, text.train), perplexity(model, text.test), groups)


def _estimators(
    model: LanguageModel, text: StudyText, sample: int, rng: np.random.Generator
) -> tuple[EstimatorCheck, ...]:
    results = []
    for canary in text.canaries:
        bits = _scores(model, canary.template, text.spaces[canary.spec])
        others = np.delete(bits, canary.number)
        if len(others) <= sample:
            continue
        drawn = others[rng.choice(len(others), sample, replace=False)]
        secret = float(bits[canary.number])
        try:
            fitted = fitted_exposure(secret, drawn, len(bits))
        except SottovoceError:
            fitted = None
        results.append(
            EstimatorCheck(
                canary.name,
                canary.repetitions,
                exact_exposure(bits, canary.number),
                sampled_exposure(secret, drawn, len(bits)),
                fitted,
            )
        )
    return tuple(results)


def _control(
    model: LanguageModel,
    text: StudyText,
    spec: CanarySpec,
    count: int,
    rng: np.random.Generator,
) -> ControlFinding:
    """Exposure of random values that were never inserted, spread over all templates of a spec."""
    canaries = [canary for canary in text.canaries if canary.spec == spec.id]
    inserted = {canary.number for canary in canaries if canary.repetitions}
    templates = list(dict.fromkeys(canary.template for canary in canaries))
    free = np.setdiff1d(np.arange(len(spec.space)), sorted(inserted))
    exposures = []
    for number, template in enumerate(templates):
        wanted = len(range(number, count, len(templates)))
        bits = _scores(model, template, spec.space)
        drawn = rng.choice(free, min(wanted, len(free)), replace=False)
        exposures += [exact_exposure(bits, int(value)) for value in drawn]
    summary = summarise_exposures(exposures)
    return ControlFinding(spec.id, summary, summary.low <= summary.null_mean <= summary.high)


def sentences_of(lines: Sequence[str]) -> Sentences:
    """Split lines into words; empty ones are left out.

    Parameters
    ----------
    lines : sequence of str
        A sentence each.
    """
    return [words for line in lines if (words := line.split())]
