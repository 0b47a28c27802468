"""A trigram language model with interpolated Kneser-Ney smoothing.

Discounts for counts of 1, 2 and more as in Chen and Goodman 1998. Probabilities are stored as in
ARPA files: those of n-grams that were seen, and for each context the weight of the shorter one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import TooFewError
from sottovoce.core.types import FloatArray, IntArray

UNKNOWN, START, END = "<unk>", "<s>", "</s>"
ORDER = 3
_START = 1
"""Place of the start of a sentence in the vocabulary."""
NEVER = 1e-99
"""Probability of a start within a sentence, as ARPA files have it."""
_DISCOUNTS = (0.5, 0.75, 0.9)
"""Used where the counts of counts give none."""


@dataclass(frozen=True, slots=True, eq=False)
class NgramTable:
    """N-grams of one order in the order of their keys, with natural logarithms."""

    keys: IntArray
    log_probability: FloatArray
    back_off: FloatArray
    """Weight of the shorter context where this n-gram is a context; 0 where it is none."""

    def find(self, keys: IntArray) -> tuple[IntArray, FloatArray]:
        """Return the row of each key, and 1 where it is there, else 0.

        Parameters
        ----------
        keys : ndarray of int64
            Keys of n-grams.
        """
        rows = np.minimum(np.searchsorted(self.keys, keys), max(len(self.keys) - 1, 0))
        if not len(self.keys):
            return rows, np.zeros(len(keys))
        return rows, (self.keys[rows] == keys).astype(np.float64)


@dataclass(frozen=True, eq=False)
class TrigramModel:
    """Probabilities of words after two others."""

    words: tuple[str, ...]
    """The vocabulary; a word is known by its place."""
    tables: tuple[NgramTable, NgramTable, NgramTable]
    """Unigrams, bigrams and trigrams. A key is the number whose digits are the words."""

    @cached_property
    def _places(self) -> dict[str, int]:
        return {word: place for place, word in enumerate(self.words)}

    def numbers(self, words: Sequence[str]) -> IntArray:
        """Return the places of words; that of ``<unk>`` for unknown ones.

        Parameters
        ----------
        words : sequence of str
            Words as the model was trained on.
        """
        unknown = self._places[UNKNOWN]
        return np.array([self._places.get(word, unknown) for word in words], np.int64)

    def log_probability(self, *words: IntArray) -> FloatArray:
        """Return ln P of the last of one to three words after the others, for many at once.

        Parameters
        ----------
        *words : ndarray of int64, shape (n,)
            Places of words, those of a context first.
        """
        table = self.tables[len(words) - 1]
        if len(words) == 1:
            return table.log_probability[words[0]]
        rows, seen = table.find(self._keys(words))
        shorter = self.log_probability(*words[1:])
        context_table = self.tables[len(words) - 2]
        context_rows, known = context_table.find(self._keys(words[:-1]))
        backed_off = known * context_table.back_off[context_rows] + shorter
        return np.where(seen > 0, table.log_probability[rows], backed_off)

    def sentence_log_probability(self, words: IntArray) -> FloatArray:
        """Return ln P of sequences without sentence ends, a row each (equation 5 of D2.3).

        Parameters
        ----------
        words : ndarray of int64, shape (n, length)
            Places of words.
        """
        total = np.zeros(len(words))
        for last in range(words.shape[1]):
            context = [words[:, i] for i in range(max(0, last - ORDER + 1), last + 1)]
            total += self.log_probability(*context)
        return total

    def _keys(self, words: Sequence[IntArray]) -> IntArray:
        keys = words[0]
        for word in words[1:]:
            keys = keys * len(self.words) + word
        return keys


def train_trigrams(sentences: Iterable[Sequence[str]], *, least: int = 2) -> TrigramModel:
    """Train a model.

    Parameters
    ----------
    sentences : iterable of sequences of str
        Words of each sentence.
    least : int, default 2
        Words that occur less often are ``<unk>``.

    Raises
    ------
    TooFewError
        If there is no sentence with words.
    """
    lists = [list(sentence) for sentence in sentences]
    counts = Counter(word for sentence in lists for word in sentence)
    if not counts:
        raise TooFewError("no words to train a language model on; add text")
    known = sorted(word for word, count in counts.items() if count >= least)
    words = (UNKNOWN, START, END, *known)
    place = {word: number for number, word in enumerate(words)}
    stream: list[int] = []
    for sentence in lists:
        stream += [_START, *(place.get(word, 0) for word in sentence), 2]
    return TrigramModel(words, _kneser_ney(np.array(stream, np.int64), len(words)))


def _kneser_ney(stream: IntArray, size: int) -> tuple[NgramTable, NgramTable, NgramTable]:
    """Tables of all orders from sentences with their ends."""
    inside = stream[1:] != _START  # no n-gram reaches over the start of a sentence
    bigrams, seen = _count(stream[:-1] * size + stream[1:], inside)
    triples = (stream[:-2] * size + stream[1:-1]) * size + stream[2:]
    trigrams, counts = _count(triples, inside[1:] & inside[:-1])
    # a bigram counts as often as there are different words before it; none is before a start
    endings, different = np.unique(trigrams % size**2, return_counts=True)
    bigram_counts = seen.copy()
    bigram_counts[np.searchsorted(bigrams, endings)] = different
    unigrams = _unigrams(np.bincount(bigrams % size, minlength=size))
    second = _interpolate(bigrams, bigram_counts, size, unigrams[bigrams % size])
    shorter = second.probability[np.searchsorted(bigrams, trigrams % size**2)]
    third = _interpolate(trigrams, counts, size, shorter)
    words = np.arange(size)
    return (
        NgramTable(words, np.log(unigrams), second.weights_of(words)),
        NgramTable(bigrams, np.log(second.probability), third.weights_of(bigrams)),
        NgramTable(trigrams, np.log(third.probability), np.zeros(len(trigrams))),
    )


def _count(keys: IntArray, inside: NDArray[np.bool_]) -> tuple[IntArray, IntArray]:
    distinct, counts = np.unique(keys[inside], return_counts=True)
    return distinct, counts.astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class _Interpolated:
    probability: FloatArray
    contexts: IntArray
    weights: FloatArray
    """Share of each context that goes to the shorter one."""

    def weights_of(self, keys: IntArray) -> FloatArray:
        """Logarithms of the weights of contexts; 0 for what is no context."""
        rows = np.minimum(np.searchsorted(self.contexts, keys), max(len(self.contexts) - 1, 0))
        if not len(self.contexts):
            return np.zeros(len(keys))
        return np.where(self.contexts[rows] == keys, np.log(self.weights[rows]), 0.0)


def _interpolate(keys: IntArray, counts: IntArray, size: int, shorter: FloatArray) -> _Interpolated:
    """Discount the counts of each context and give what is taken to the shorter context."""
    discount = _discounts(counts)[np.minimum(counts, ORDER) - 1]
    contexts, context = np.unique(keys // size, return_inverse=True)
    totals = np.bincount(context, counts)
    weights = np.bincount(context, discount) / totals
    probability = (counts - discount) / totals[context] + weights[context] * shorter
    return _Interpolated(probability, contexts, weights)


def _unigrams(counts: IntArray) -> FloatArray:
    """Discounted counts of words, interpolated with all words being equally likely."""
    possible = np.arange(len(counts)) != _START
    discount = np.where(counts > 0, _discounts(counts)[np.minimum(counts, ORDER) - 1], 0.0)
    shared = discount.sum() / counts.sum() / possible.sum()
    probability = (counts - discount) / counts.sum() + shared
    return np.where(possible, probability, NEVER)


def _discounts(counts: IntArray) -> FloatArray:
    """Discounts of counts of 1, 2, and 3 or more."""
    n1, n2, n3, n4 = (float(np.count_nonzero(counts == k)) for k in range(1, 5))
    if min(n1, n2, n3) == 0:
        return np.array(_DISCOUNTS)
    share = n1 / (n1 + 2 * n2)
    found = np.array([1 - 2 * share * n2 / n1, 2 - 3 * share * n3 / n2, 3 - 4 * share * n4 / n3])
    usable = (found > 0) & (found < np.arange(1, 4))
    return np.where(usable, found, _DISCOUNTS)
