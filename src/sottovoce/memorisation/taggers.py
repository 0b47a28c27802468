"""Taggers whose d-exposure is measured: the package's CRF, and a BiLSTM (torch, extra ``learn``).

Any other tagger is measured in the same way: it has to tell how confident it is that a word of a
sentence has a label.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from sottovoce.anonymise.text.conll import Sentence, spans_of
from sottovoce.anonymise.text.crf import Crf, TaggerCard
from sottovoce.anonymise.text.lexicon import lexicon
from sottovoce.core.types import FloatArray
from sottovoce.findings import ClassExposure, DiscriminativeExposure
from sottovoce.measure.discriminative_exposure import class_exposure, discriminative_exposure
from sottovoce.memorisation.tagged_text import (
    PHRASE,
    AmbiguousWord,
    blank_place,
    phrase_with,
    words_of_class,
)
from sottovoce.training.taggers import PLAIN_PENALTIES, fit


class ConfidentTagger(Protocol):
    """A tagger that tells how confident it is."""

    def confidences(self, sentences: Sequence[Sequence[str]], place: int, label: str) -> FloatArray:
        """Return P(label) of one word of each sentence."""

    def tags(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        """Return the most likely tags of each sentence."""


class CrfTagger:
    """A conditional random field with the features of the package's taggers.

    Parameters
    ----------
    sentences : sequence of Sentence
        Training data.
    lang : str, default "en"
        Language, for lists of names and places.
    iterations : int, default 60
        Of L-BFGS.
    """

    def __init__(
        self, sentences: Sequence[Sentence], *, lang: str = "en", iterations: int = 60
    ) -> None:
        weights = fit(
            sentences, lang, PLAIN_PENALTIES, iterations, TaggerCard(lang=lang), lambda i: None
        )
        self._crf = Crf(weights, lexicon(lang))

    def confidences(self, sentences: Sequence[Sequence[str]], place: int, label: str) -> FloatArray:
        """Return the marginal probability of a label of one word of each sentence.

        Parameters
        ----------
        sentences : sequence of sequences of str
            Words of each sentence.
        place : int
            Which word.
        label : str
            An IOB2 label; one that the data do not have has probability 0.
        """
        if label not in self._crf.labels:
            return np.zeros(len(sentences))
        column = self._crf.labels.index(label)
        likely = self._crf.marginals(self._crf.emissions(sentences))
        return np.array([float(table[place, column]) for table in likely])

    def tags(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        """Return the best path of each sentence.

        Parameters
        ----------
        sentences : sequence of sequences of str
            Words of each sentence.
        """
        return self._crf.best_paths(self._crf.emissions(sentences))


def tagger_exposure(
    tagger: ConfidentTagger,
    sentences: Sequence[Sentence],
    words: Sequence[AmbiguousWord],
    phrase: str = PHRASE,
) -> DiscriminativeExposure:
    """Measure the d-exposure of a tagger.

    Parameters
    ----------
    tagger : ConfidentTagger
        Trained on the data with the words inserted.
    sentences : sequence of Sentence
        The data without them.
    words : sequence of AmbiguousWord
        What was inserted, one word a class.
    phrase : str, default :data:`~sottovoce.memorisation.tagged_text.PHRASE`
        The phrase that they were inserted in.
    """
    place = blank_place(phrase)
    classes: list[ClassExposure] = []
    for entry in words:
        others = [w for w in words_of_class(sentences, entry.label) if w != entry.word]
        filled = [phrase_with(word, phrase) for word in (entry.word, *others)]
        confidences = tagger.confidences(filled, place, f"B-{entry.label}")
        classes.append(
            class_exposure(entry.label, entry.word, float(confidences[0]), confidences[1:])
        )
    return discriminative_exposure(classes)


def span_f1(
    tagger: ConfidentTagger, sentences: Sequence[Sentence], classes: Sequence[str]
) -> float:
    """Return F1 of entities, as the CoNLL scorer counts them.

    Parameters
    ----------
    tagger : ConfidentTagger
        The tagger.
    sentences : sequence of Sentence
        Test data.
    classes : sequence of str
        Entities of other classes are ignored.
    """
    right = told = true = 0
    all_tags = tagger.tags([sentence.words for sentence in sentences])
    for sentence, tags in zip(sentences, all_tags, strict=True):
        gold = {span for span in sentence.spans if span[2] in classes}
        found = {span for span in spans_of(tags) if span[2] in classes}
        right += len(gold & found)
        told += len(found)
        true += len(gold)
    return 2 * right / (told + true) if told + true else 0.0


EpochCheck = Callable[[int, ConfidentTagger], None]
"""Called after an epoch with its number from 1 and the tagger."""
