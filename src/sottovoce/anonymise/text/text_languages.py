"""The languages of texts: one that was chosen for all, or decided sentence by sentence."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import repeat
from typing import NamedTuple, Protocol

import numpy as np

from sottovoce.anonymise.text.language_identification import (
    MIN_PROBABILITY,
    JudgedSentence,
    Sentence,
    judge_sentences,
    sentences_of,
    split_sentences,
)
from sottovoce.anonymise.text.lexicon import LANGUAGES
from sottovoce.anonymise.text.masked_text import Finding, MaskedText
from sottovoce.anonymise.text.source_text import LanguageSpan, SourceText
from sottovoce.core.types import FloatArray

FoundText = tuple[SourceText, Sequence[Finding], Sequence[LanguageSpan]]
"""A text, what was found in it, and its languages."""
FoundReading = Callable[[], Iterable[FoundText]]
"""Starts to read the texts, with what was found in them."""


class TextLanguages(Protocol):
    """The languages of texts, in order; can be read any number of times."""

    def __iter__(self) -> Iterator[Sequence[LanguageSpan]]:
        """Yield the languages of each text."""

    def widen(self, found: FoundReading) -> Collection[int]:
        """Add languages that texts may be in once their private words are hidden.

        Parameters
        ----------
        found : callable
            Starts to read the texts, with what was found in them.

        Returns
        -------
        collection of int
            Numbers of the texts that got further languages.
        """


class OneLanguage:
    """The same language for every text.

    Parameters
    ----------
    lang : str
        Language code.
    """

    def __init__(self, lang: str) -> None:
        self._spans = (LanguageSpan(sys.maxsize, (lang,), 1.0),)

    def __iter__(self) -> Iterator[Sequence[LanguageSpan]]:
        """Yield the language, without end."""
        return repeat(self._spans)

    def widen(self, found: FoundReading) -> Collection[int]:
        """Add no language.

        Parameters
        ----------
        found : callable
            Starts to read the texts, which is not done.
        """
        return ()


class _Columns(NamedTuple):
    """Spans of all texts, one number each, so that many texts take little memory."""

    text: array[int]
    end: array[int]
    candidates: array[int]
    """A bit for each language."""
    first: array[int]
    probability: array[float]


class DecidedLanguages:
    """Languages that were decided for every sentence of texts.

    Sentences in a row with the same most probable language are one span, whose candidates are
    those of all its sentences.

    Parameters
    ----------
    texts : iterable of SourceText
        The texts.

    Examples
    --------
    >>> text = SourceText("Wie geht es dir heute? I am very well, thank you.")
    >>> [(span.end, span.candidates) for span in next(iter(DecidedLanguages([text])))]
    [(23, ('de',)), (49, ('en',))]
    """

    def __init__(self, texts: Iterable[SourceText]) -> None:
        self._columns = _Columns(array("I"), array("I"), array("B"), array("B"), array("f"))
        for sentence in judge_sentences(sentences_of(texts)):
            self._add(sentence)

    def _add(self, sentence: JudgedSentence) -> None:
        text, end, probabilities = sentence
        first = int(probabilities.argmax())
        possible = _possible(probabilities)
        columns, probability = self._columns, float(probabilities[first])
        if columns.text and columns.text[-1] == text and columns.first[-1] == first:
            columns.end[-1] = end
            columns.candidates[-1] |= possible
            columns.probability[-1] = min(columns.probability[-1], probability)
            return
        for column, value in zip(columns[:4], (text, end, possible, first), strict=True):
            column.append(value)
        columns.probability.append(probability)

    def widen(self, found: FoundReading) -> Collection[int]:
        """Add languages that texts may be in once their private words are hidden.

        Parameters
        ----------
        found : callable
            Starts to read the texts, with what was found in them.

        Returns
        -------
        collection of int
            Numbers of the texts that got further languages.
        """
        changed: set[int] = set()
        rows, ends, candidates = self._columns.text, self._columns.end, self._columns.candidates
        row, before, start = 0, 0, 0
        for text, end, probabilities in judge_sentences(_hidden_sentences(found())):
            start = start if text == before else 0
            while rows[row] < text or ends[row] <= start < end:
                row += 1
            possible = _possible(probabilities)
            for span in range(row, len(rows)):
                if rows[span] != text or (span > row and ends[span - 1] >= end):
                    break
                if possible & ~candidates[span]:
                    candidates[span] |= possible
                    changed.add(text)
            before, start = text, end
        return changed

    def __iter__(self) -> Iterator[Sequence[LanguageSpan]]:
        """Yield the languages of each text."""
        spans: list[LanguageSpan] = []
        current = 0
        for text, end, possible, first, probability in zip(*self._columns, strict=True):
            if text != current:
                yield tuple(spans)
                spans, current = [], text
            others = [i for i in range(len(LANGUAGES)) if possible >> i & 1 and i != first]
            candidates = tuple(LANGUAGES[i] for i in (first, *others))
            spans.append(LanguageSpan(end, candidates, probability))
        if spans:
            yield tuple(spans)


def _possible(probabilities: FloatArray) -> int:
    """Return a bit for each language that is not ruled out."""
    return sum(1 << i for i in np.flatnonzero(probabilities >= MIN_PROBABILITY).tolist())


def _hidden_sentences(found: Iterable[FoundText]) -> Iterator[Sentence]:
    """Yield the sentences of texts without their private words; ends are those of the originals."""
    for number, (source, findings, _) in enumerate(found):
        view = MaskedText.hide(source.text, ((f.start, f.end) for f in findings))
        for end, evidence in split_sentences(view.text):
            original = view.source_offset(end - 1) + 1 if end else 0
            yield Sentence(number, original, source.document, evidence)
