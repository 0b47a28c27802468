"""The taggers of a study: d-exposure over repetitions and epochs, and while overfitting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sottovoce.anonymise.text.conll import Sentence, read_conll
from sottovoce.core.files import fingerprint
from sottovoce.core.records import Record
from sottovoce.core.step_cache import Step, StepCache, records_of
from sottovoce.core.types import StageProgress
from sottovoce.findings import InsertedWord, TaggerCheck, TaggerStudy
from sottovoce.memorisation.study import Privacy, Taggers
from sottovoce.memorisation.tagged_text import AmbiguousWord, choose_words, with_insertions
from sottovoce.memorisation.taggers import (
    ConfidentTagger,
    CrfTagger,
    span_f1,
    tagger_exposure,
)

if TYPE_CHECKING:
    from sottovoce.memorisation.bilstm import BilstmSettings


@dataclass(frozen=True, slots=True)
class _Checks(Record):
    checks: tuple[TaggerCheck, ...]


_TAGGER = Step("taggers", records_of(_Checks))
MEASURED_TRAINING = 1000
"""Training sentences that the F1 on training data rests on, about so many, evenly spread."""


def study_taggers(
    settings: Taggers, steps: StepCache, progress: StageProgress, *, seed: int
) -> TaggerStudy:
    """Train taggers on data with inserted words, and measure their d-exposure.

    Parameters
    ----------
    settings : Taggers
        Data, kinds, repetitions and epochs.
    steps : StepCache
        Keeps the result of each training.
    progress : StageProgress
        Called before each training.
    seed : int
        Of places, weights and batches.
    """
    sentences = read_conll(Path(settings.data))[: settings.sentences]
    test = read_conll(Path(settings.test))
    words = choose_words(sentences, settings.classes)
    data = _Data(settings, sentences, test, words, seed)
    plans = [
        _Plan(kind, count, privacy, vectors)
        for kind in settings.kinds
        for vectors in (settings.vectors if kind == "bilstm" else [None])
        for privacy in settings.privacy
        for count in settings.repetitions
    ]
    checks: list[TaggerCheck] = []
    for done, plan in enumerate(plans):
        progress("training taggers", done, len(plans))
        checks += steps.get(_TAGGER, [*plan.key, data.key], partial(data.train, plan)).checks
    overfitting: tuple[TaggerCheck, ...] = ()
    if settings.overfitting is not None:
        progress("overfitting a tagger", 0, 1)
        inputs = ["overfitting", settings.overfitting.model_dump(), data.key]
        overfitting = steps.get(_TAGGER, inputs, data.overfit).checks
    return TaggerStudy(
        sentences=len(sentences),
        phrase=settings.phrase,
        words=tuple(InsertedWord(word.word, word.label, word.counts) for word in words),
        checks=tuple(checks),
        overfitting=overfitting,
    )


@dataclass(frozen=True, slots=True)
class _Plan:
    """One training."""

    kind: str
    repetitions: int
    privacy: Privacy | None
    vectors: str | None

    @property
    def key(self) -> list[object]:
        """Everything that distinguishes it from others on the same data."""
        return [
            self.kind,
            self.repetitions,
            None if self.privacy is None else self.privacy.model_dump(),
            None if self.vectors is None else fingerprint(Path(self.vectors)),
        ]

    @property
    def label(self) -> str:
        """Name of the tagger in results."""
        parts = [self.kind]
        if self.vectors is not None:
            parts.append(Path(self.vectors).name)
        if self.privacy is not None:
            parts.append(self.privacy.label)
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class _Data:
    settings: Taggers
    sentences: list[Sentence]
    test: list[Sentence]
    words: tuple[AmbiguousWord, ...]
    seed: int

    @property
    def key(self) -> list[object]:
        """Everything that a trained tagger depends on besides its kind and the repetitions."""
        settings = self.settings
        return [
            [(sentence.words, sentence.tags) for sentence in self.sentences],
            len(self.test),
            settings.classes,
            settings.lang,
            settings.phrase,
            settings.iterations,
            settings.epochs,
            settings.embedding,
            settings.hidden,
            settings.vocabulary,
            self.words,
            self.seed,
        ]

    def train(self, plan: _Plan) -> _Checks:
        """Train one tagger and measure it, a BiLSTM after several epochs."""
        rng = np.random.default_rng([self.seed, plan.repetitions])
        mixed = with_insertions(
            self.sentences, self.words, plan.repetitions, rng, self.settings.phrase
        )
        if plan.kind == "crf":
            settings = self.settings
            tagger = CrfTagger(mixed, lang=settings.lang, iterations=settings.iterations)
            return _Checks((self._check("crf", plan.repetitions, settings.iterations, tagger),))
        return self._train_bilstm(mixed, plan)

    def _train_bilstm(self, mixed: Sequence[Sentence], plan: _Plan) -> _Checks:
        from sottovoce.memorisation.bilstm import train_bilstm, train_private_bilstm
        from sottovoce.memorisation.private_training import PrivacyBudget, privacy_finding

        privacy = plan.privacy
        last = max(self.settings.epochs) if privacy is None else privacy.epochs
        checks: list[TaggerCheck] = []

        def check(epoch: int, tagger: ConfidentTagger) -> None:
            if epoch in self.settings.epochs or epoch == last:
                checks.append(self._check(plan.label, plan.repetitions, epoch, tagger))

        sizes = self._sizes(epochs=last, vectors=plan.vectors)
        if privacy is None:
            train_bilstm(mixed, sizes, check)
            return _Checks(tuple(checks))
        budget = PrivacyBudget(**privacy.model_dump())
        _, run = train_private_bilstm(mixed, sizes, budget, check)
        finding = privacy_finding(run)
        return _Checks(tuple(replace(entry, privacy=finding) for entry in checks))

    def _sizes(
        self, *, epochs: int, dropout: float = 0.5, vectors: str | None = None
    ) -> BilstmSettings:
        from sottovoce.memorisation.bilstm import BilstmSettings

        return BilstmSettings(
            embedding=self.settings.embedding,
            hidden=self.settings.hidden,
            vocabulary=self.settings.vocabulary,
            vectors=vectors,
            dropout=dropout,
            epochs=epochs,
            seed=self.seed,
        )

    def overfit(self) -> _Checks:
        """Train a BiLSTM without dropout on a part of the data, for many epochs."""
        from sottovoce.memorisation.bilstm import train_bilstm

        plan = self.settings.overfitting
        if plan is None:
            return _Checks(())
        rng = np.random.default_rng([self.seed, 1])
        chosen = rng.permutation(len(self.sentences))[: int(plan.share * len(self.sentences))]
        part = [self.sentences[i] for i in chosen]
        mixed = with_insertions(part, self.words, plan.repetitions, rng, self.settings.phrase)
        checks: list[TaggerCheck] = []

        def check(epoch: int, tagger: ConfidentTagger) -> None:
            if epoch == 1 or epoch % plan.every == 0:
                checks.append(self._check("bilstm", plan.repetitions, epoch, tagger, part))

        train_bilstm(mixed, self._sizes(epochs=plan.epochs, dropout=0.0), check)
        return _Checks(tuple(checks))

    def _check(
        self,
        kind: str,
        repetitions: int,
        epoch: int,
        tagger: ConfidentTagger,
        sentences: Sequence[Sentence] | None = None,
    ) -> TaggerCheck:
        data = self.sentences if sentences is None else sentences
        classes = self.settings.classes
        return TaggerCheck(
            tagger=kind,
            repetitions=repetitions,
            epoch=epoch,
            f1=span_f1(tagger, self.test, classes),
            train_f1=span_f1(tagger, data[:: 1 + len(data) // MEASURED_TRAINING], classes),
            exposure=tagger_exposure(tagger, data, self.words, self.settings.phrase),
        )
