"""Which of the eight languages a sentence is in, and how sure that is.

The probability of a language follows from how frequent the words of a sentence are in each of
them (naive Bayes). A sentence says little by itself if it is short, so it takes part of the
evidence of the sentences around it: the languages of a document are a Markov chain that rarely
changes. Names say nothing about a language and are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.anonymise.text.lexicon import LANGUAGES, frequencies, listed_names, strip_clitics
from sottovoce.anonymise.text.masked_text import PLACEHOLDER
from sottovoce.anonymise.text.source_text import SourceText
from sottovoce.core.types import FloatArray
from sottovoce.core.unicode_offsets import normalise_unicode

UNKNOWN_ZIPF = 4
"""Twice the Zipf frequency of a word in a language whose list it is not in."""
TEMPER = 0.7
"""Power of the likelihood: words of a sentence are not independent. Chosen on MASSIVE dev."""
VERY_COMMON_ZIPF = 11
"""Twice the Zipf frequency from which a listed name counts as a word: *will*, *Mai*."""
STAY = 0.95
"""Probability that the next sentence of a document is in the same language."""
REACH = 8
"""Sentences on either side that count."""
MIN_PROBABILITY = 0.05
"""A language that is more probable than this is not ruled out. In MASSIVE dev, commands without
neighbours, the true one is ruled out in 0.15 % of them, and 4 % are searched as several languages;
with 0.01 these are 0.04 % and 8 %."""
MIN_WORDS = 3
"""Words of a sentence whose language is judged by itself."""
WORDS_OF_A_LANGUAGE = 40_000
"""Words of a list of frequencies, at most."""
BLOCK = 4096
"""Sentences that are judged together."""
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_SENTENCE_END = re.compile(r"(?<=[.!?…;])\s+(?=[^\W\d_])|\s*[\r\n]\s*")


class Sentence(NamedTuple):
    """A sentence of a text, or a line of it."""

    text: int
    """Number of its text, from 0."""
    end: int
    """The character after its last, in its text."""
    document: str
    evidence: FloatArray
    """Log-likelihood of each language, up to a constant."""


class JudgedSentence(NamedTuple):
    """A sentence with the probability of each language."""

    text: int
    end: int
    probabilities: FloatArray


@cache
def _word_frequencies() -> tuple[dict[str, int], NDArray[np.int8]]:
    """Return the row of each listed word, and twice its Zipf frequency, words × languages."""
    rows: dict[str, int] = {}
    table = np.full((len(LANGUAGES) * WORDS_OF_A_LANGUAGE, len(LANGUAGES)), UNKNOWN_ZIPF, np.int8)
    for column, lang in enumerate(LANGUAGES):
        for word, zipf in frequencies(lang).items():
            table[rows.setdefault(word, len(rows)), column] = zipf
    names = listed_names()
    top = table.max(axis=1).tolist()
    for word in [w for w, i in rows.items() if top[i] < VERY_COMMON_ZIPF and w in names]:
        del rows[word]
    return rows, table


def language_evidence(text: str) -> FloatArray:
    """Return the log-likelihood of each language, up to a constant.

    Parameters
    ----------
    text : str
        A sentence. Placeholders of an anonymised text count for nothing.

    Returns
    -------
    array
        One number for each of :data:`.lexicon.LANGUAGES`; all equal if no word is known.
    """
    rows, table = _word_frequencies()
    bare = PLACEHOLDER.sub(" ", normalise_unicode(text)).casefold()
    words = (strip_clitics(word) for word in _WORD.findall(bare))
    known = [rows[word] for word in words if word in rows]
    counts = table[known].sum(axis=0, dtype=np.float64)
    return np.asarray(counts * (TEMPER * 0.5 * np.log(10)))


def split_sentences(text: str) -> Iterator[tuple[int, FloatArray]]:
    """Yield the end and the evidence of each sentence or line of a text.

    Parameters
    ----------
    text : str
        The text; if it is empty, it is one sentence. Sentences of one or two words are joined to
        the next one.
    """
    start = 0
    for cut in _SENTENCE_END.finditer(text):
        piece = text[start : cut.end()]
        if cut.end() < len(text) and len(piece.split()) >= MIN_WORDS:
            yield cut.end(), language_evidence(piece)
            start = cut.end()
    yield len(text), language_evidence(text[start:])


def sentences_of(texts: Iterable[SourceText]) -> Iterator[Sentence]:
    """Yield the sentences of all texts.

    Parameters
    ----------
    texts : iterable of SourceText
        The texts.
    """
    for number, source in enumerate(texts):
        for end, evidence in split_sentences(source.text):
            yield Sentence(number, end, source.document, evidence)


def judge_sentences(sentences: Iterable[Sentence], block: int = BLOCK) -> Iterator[JudgedSentence]:
    """Yield every sentence with the probabilities of its language.

    Parameters
    ----------
    sentences : iterable of Sentence
        In order; only a block of them is held in memory.
    block : int, default BLOCK
        Sentences of a block. The probabilities do not depend on it.
    """
    pending: list[Sentence] = []
    done = 0
    for sentence in sentences:
        pending.append(sentence)
        if len(pending) - done >= block + REACH:
            stop = len(pending) - REACH
            yield from _judged(pending, done, stop)
            pending = pending[stop - REACH :] if stop > REACH else pending
            done = min(stop, REACH)
    yield from _judged(pending, done, len(pending))


def _judged(sentences: Sequence[Sentence], start: int, stop: int) -> Iterator[JudgedSentence]:
    if start == stop:
        return
    probabilities = language_probabilities(
        np.stack([sentence.evidence for sentence in sentences]),
        [sentence.document for sentence in sentences],
    )
    for sentence, row in zip(sentences[start:stop], probabilities[start:stop], strict=True):
        yield JudgedSentence(sentence.text, sentence.end, row)


def language_probabilities(evidence: FloatArray, documents: Sequence[str]) -> FloatArray:
    """Return the probability of each language for sentences in a row.

    Parameters
    ----------
    evidence : array
        Log-likelihoods, sentences × languages.
    documents : sequence of str
        The document of each sentence; documents tell nothing about each other.

    Returns
    -------
    array
        Sentences × languages; each row sums to 1. A sentence further away than :data:`REACH`
        has no influence.
    """
    same = np.array([a == b for a, b in pairwise(documents)], bool)
    before = _messages(evidence, same)
    after = _messages(evidence[::-1], same[::-1])[::-1]
    return _softmax(evidence + before + after)


def _messages(evidence: FloatArray, same: NDArray[np.bool_]) -> FloatArray:
    """Return the evidence that sentences before each sentence give for its language."""
    stay, change = np.log(STAY), np.log((1 - STAY) / (len(LANGUAGES) - 1))
    message = np.zeros_like(evidence)
    for _ in range(REACH if len(evidence) > 1 else 0):
        likely = evidence[:-1] + message[:-1]
        likely = likely - likely.max(axis=1, keepdims=True)
        total = np.log(np.exp(likely).sum(axis=1, keepdims=True))
        passed = np.logaddexp(likely + np.log1p(-np.exp(change - stay)) + stay, total + change)
        passed -= passed.max(axis=1, keepdims=True)
        message = np.zeros_like(evidence)
        message[1:] = np.where(same[:, None], passed, 0.0)
    return message


def _softmax(scores: FloatArray) -> FloatArray:
    likely = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(likely / likely.sum(axis=1, keepdims=True))
