"""Whether pieces of text can be put together again: linkability of successive slices.

An attacker scores how well one slice follows another with a trigram model of other text. ``joint``
is the score of COMPRISE deliverable D2.3 (2021), equation 6, ln P of the two words before the cut
and the two after it. It is high for frequent words wherever they stand; ``mutual`` takes off what
the words give by themselves and links about four times as much, so it is the one to rest on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sottovoce.attack.text.trigrams import TrigramModel
from sottovoce.core.errors import TooFewError
from sottovoce.core.types import FloatArray, IntArray
from sottovoce.findings import HitRate, Reassembly, SliceText
from sottovoce.measure import measure_scores
from sottovoce.measure.intervals import share_interval
from sottovoce.measure.scores import Scores, Speakers

SliceScore = Literal["joint", "mutual"]
SLICE_SCORES: tuple[SliceScore, ...] = ("mutual", "joint")
WORDS_PER_SECOND = 2.7
"""Of speech; D2.3 slices by seconds."""
NONMATED = 4
"""Random pairs for each pair of successive slices."""
MEASURES = ("d_sys", "d_sys_corrected", "eer")
_EDGE = 2
"""Words before and after a cut that a trigram model can use."""


@dataclass(frozen=True, slots=True, eq=False)
class Slices:
    """Slices of documents: the words at both edges of each."""

    last: IntArray
    """Places of the last two words of each slice, slices × 2."""
    first: IntArray
    """Places of the first two words of each slice."""
    document: IntArray
    """The document of each slice; those of one document follow one another."""

    def __len__(self) -> int:
        return len(self.document)

    @property
    def followed(self) -> IntArray:
        """Slices whose successor is the next slice."""
        return np.flatnonzero(self.document[:-1] == self.document[1:])


def make_slices(documents: Sequence[Sequence[str]], model: TrigramModel, *, words: int) -> Slices:
    """Cut documents into slices of so many words.

    Parameters
    ----------
    documents : sequence of sequences of str
        Words of each document.
    model : TrigramModel
        Whose vocabulary is used.
    words : int
        Words of a slice; a shorter remainder is a slice of its own if it has two words.

    Raises
    ------
    TooFewError
        If no document has two slices.
    """
    pieces = [
        [document[start : start + words] for start in range(0, len(document), words)]
        for document in documents
    ]
    return slices_of(pieces, model)


def slices_of(pieces: Sequence[Sequence[Sequence[str]]], model: TrigramModel) -> Slices:
    """Take slices that were cut already.

    Parameters
    ----------
    pieces : sequence of sequences of sequences of str
        Words of each slice of each document, in their order; slices of one word are left out.
    model : TrigramModel
        Whose vocabulary is used.

    Raises
    ------
    TooFewError
        If no document has two slices of at least two words.
    """
    last, first, owners = [], [], []
    for owner, document in enumerate(pieces):
        for words in document:
            if len(words) < _EDGE:
                continue
            piece = model.numbers(words)
            last.append(piece[-_EDGE:])
            first.append(piece[:_EDGE])
            owners.append(owner)
    slices = Slices(np.array(last), np.array(first), np.array(owners, np.int64))
    if len(slices) < 2 or not len(slices.followed):
        raise TooFewError(
            "no document has two slices of at least two words; cut shorter, or give longer "
            "documents"
        )
    return slices


def score_pairs(
    slices: Slices, before: IntArray, after: IntArray, model: TrigramModel, score: SliceScore
) -> FloatArray:
    """Score how well slices follow others; higher is better.

    Parameters
    ----------
    slices : Slices
        All slices.
    before, after : ndarray of int64, shape (n,)
        Numbers of the slices of each pair.
    model : TrigramModel
        Trained on other text.
    score : {"mutual", "joint"}
        See the module.
    """
    left, right = slices.last[before], slices.first[after]
    joint = model.sentence_log_probability(np.concatenate((left, right), axis=1))
    if score == "joint":
        return joint
    alone = model.sentence_log_probability(left) + model.sentence_log_probability(right)
    return np.asarray(joint - alone)


def slice_scores(
    slices: Slices, model: TrigramModel, score: SliceScore, *, seed: int = 0
) -> Scores:
    """Score successive slices (mated) and random pairs from different documents (non-mated).

    Parameters
    ----------
    slices : Slices
        All slices.
    model : TrigramModel
        Trained on other text.
    score : {"mutual", "joint"}
        See the module.
    seed : int, default 0
        Of the random pairs.

    Returns
    -------
    Scores
        For all measures of scores; documents take the place of speakers.

    Raises
    ------
    TooFewError
        If there is one document only.
    """
    before = slices.followed
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, len(slices), (2, NONMATED * len(before)))
    owners = slices.document
    left, right = drawn[:, owners[drawn[0]] != owners[drawn[1]]]
    if not len(left):
        raise TooFewError("one document; slices of at least 2 are needed to be confused with")
    return Scores(
        score_pairs(slices, before, before + 1, model, score),
        score_pairs(slices, left, right, model, score),
        speakers=Speakers.from_names(owners[before], owners[left], owners[right]),
        name=f"slices, {score}",
    )


def reassemble(
    slices: Slices,
    model: TrigramModel,
    score: SliceScore = "mutual",
    *,
    most: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Reassembly:
    """Look for the successor of each slice among all others.

    Parameters
    ----------
    slices : Slices
        All slices.
    model : TrigramModel
        Trained on other text.
    score : {"mutual", "joint"}, default "mutual"
        See the module.
    most : int, default 1000
        Slices to choose from, at most: whole documents are drawn until there are so many.
    confidence : float, default 0.95
        Of the intervals, over documents.
    seed : int, default 0
        Of the documents.

    Returns
    -------
    Reassembly
        A tie counts against the attacker.
    """
    some = _whole_documents(slices, most, np.random.default_rng(seed))
    everybody = np.arange(len(some))
    tried = some.followed
    ranks = np.empty(len(tried), np.int64)
    for row, slice_number in enumerate(tried.tolist()):
        before = np.full(len(some), slice_number)
        scores = score_pairs(some, before, everybody, model, score)
        scores[slice_number] = -np.inf
        ranks[row] = np.count_nonzero(scores >= scores[slice_number + 1])
    hits = []
    for k in (1, 10):
        by_document = _means(ranks <= k, some.document[tried])
        ends = share_interval(by_document, confidence)
        chance = min(1.0, k / (len(some) - 1))
        hits.append(HitRate(k, float(by_document.mean()), ends.low, ends.high, chance))
    return Reassembly(tuple(hits), slices=len(some), tried=len(tried))


def measure_slices(
    documents: Sequence[Sequence[str]],
    model: TrigramModel,
    seconds: Sequence[float],
    *,
    confidence: float = 0.95,
    seed: int = 0,
) -> tuple[SliceText, ...]:
    """Measure what the words of slices of speech give away, by both scores.

    Parameters
    ----------
    documents : sequence of sequences of str
        Words of each utterance.
    model : TrigramModel
        Trained on other text.
    seconds : sequence of float
        Lengths of slices of speech; a second has :data:`WORDS_PER_SECOND` words, and a slice has
        at least two.
    confidence : float, default 0.95
        Of the intervals, over utterances.
    seed : int, default 0
        Of the random pairs.

    Raises
    ------
    TooFewError
        If no document has two slices of any length.
    """
    results: list[SliceText] = []
    shortage: TooFewError | None = None
    for length in sorted(set(seconds)):
        words = max(_EDGE, math.ceil(length * WORDS_PER_SECOND))
        try:
            slices = make_slices(documents, model, words=words)
        except TooFewError as error:
            shortage = error
            continue
        for name in SLICE_SCORES:
            scores = slice_scores(slices, model, name, seed=seed)
            summary = measure_scores(scores, interval=confidence, only=MEASURES, seed=seed)
            found = reassemble(slices, model, name, confidence=confidence, seed=seed)
            results.append(
                SliceText(
                    words=words,
                    score=name,
                    slices=len(slices),
                    d_sys=summary.measures["d_sys"],
                    d_sys_corrected=summary.measures["d_sys_corrected"],
                    eer=summary.measures["eer"],
                    reassembly=found,
                    seconds=length,
                )
            )
    if not results and shortage is not None:
        raise shortage
    return tuple(results)


def _whole_documents(slices: Slices, most: int, rng: np.random.Generator) -> Slices:
    """Slices of random documents, at least of one with a successor."""
    owners, counts = np.unique(slices.document, return_counts=True)
    order = rng.permutation(len(owners))
    first = np.flatnonzero(counts[order] > 1)[:1]
    order = np.concatenate((order[first], np.delete(order, first)))
    fitting = int(np.searchsorted(np.cumsum(counts[order]), most, side="right"))
    rows = np.isin(slices.document, owners[order[: max(1, fitting)]])
    return Slices(slices.last[rows], slices.first[rows], slices.document[rows])


def _means(values: NDArray[np.bool_], groups: IntArray) -> FloatArray:
    _, numbers, counts = np.unique(groups, return_inverse=True, return_counts=True)
    return np.asarray(np.bincount(numbers, values.astype(np.float64)) / counts)
