"""Tagged text with ambiguous words inserted, for the d-exposure of taggers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.anonymise.text.conll import Sentence
from sottovoce.core.errors import InputError, TooFewError
from sottovoce.core.records import Record
from sottovoce.memorisation.canaries import BLANK

PHRASE = "There are many people who like {}"
"""The phrase of COMPRISE deliverable D2.3: any name may follow it."""
_RULES = ((3, 2.0), (2, 2.0), (2, 3.0), (1, 3.0))
"""Fewest occurrences in each of two classes and largest ratio of their counts; the first that gives
a word for every class is used."""


@dataclass(frozen=True, slots=True)
class AmbiguousWord(Record):
    """A word that the data have as several classes, and the class it is inserted as."""

    word: str
    label: str
    counts: Mapping[str, int]
    """How often the data have it as an entity of one word, by class."""
    least: int
    ratio: float
    """The rule by which it was chosen: fewest occurrences, largest ratio of counts."""


def single_words(sentences: Sequence[Sentence]) -> dict[str, Counter[str]]:
    """Count the classes of each word that is an entity by itself.

    Parameters
    ----------
    sentences : sequence of Sentence
        Tagged sentences.
    """
    counts: dict[str, Counter[str]] = {}
    for sentence in sentences:
        for start, end, kind in sentence.spans:
            if end - start == 1:
                counts.setdefault(sentence.words[start], Counter())[kind] += 1
    return counts


def choose_words(
    sentences: Sequence[Sentence], classes: Sequence[str]
) -> tuple[AmbiguousWord, ...]:
    """Choose a different ambiguous word for each class, the most balanced ones first.

    Parameters
    ----------
    sentences : sequence of Sentence
        Training data.
    classes : sequence of str
        Such as PER, LOC and ORG; at least two.

    Raises
    ------
    TooFewError
        If no word of the data is ambiguous enough.
    """
    counts = {
        word: {kind: count for kind, count in kinds.items() if kind in classes}
        for word, kinds in single_words(sentences).items()
    }
    for least, ratio in _RULES:
        chosen = _assign(counts, classes, least, ratio)
        if len(chosen) == len(classes):
            return tuple(
                AmbiguousWord(chosen[kind], kind, counts[chosen[kind]], least, ratio)
                for kind in classes
            )
    raise TooFewError(
        f"no words that are {', '.join(classes)} about equally often; use more tagged text"
    )


def _assign(
    counts: Mapping[str, Mapping[str, int]], classes: Sequence[str], least: int, ratio: float
) -> dict[str, str]:
    """A word for each class, those with the fewest candidates first."""
    ambiguous = {}
    for word, kinds in counts.items():
        top = sorted(kinds.values(), reverse=True)[:2]
        if word[:1].isalpha() and len(top) == 2 and top[1] >= least and top[0] < ratio * top[1]:
            ambiguous[word] = (top[1] / top[0], sum(top))
    candidates = {
        kind: sorted(
            (word for word in ambiguous if counts[word].get(kind, 0) >= least),
            key=lambda word: (*(-value for value in ambiguous[word]), word),
        )
        for kind in classes
    }
    chosen: dict[str, str] = {}
    for kind in sorted(classes, key=lambda kind: (len(candidates[kind]), kind)):
        free = [word for word in candidates[kind] if word not in chosen.values()]
        if free:
            chosen[kind] = free[0]
    return chosen


def words_of_class(sentences: Sequence[Sentence], label: str) -> list[str]:
    """Return the words that the data have as entities of one word of this class only.

    Parameters
    ----------
    sentences : sequence of Sentence
        Training data, without inserted phrases.
    label : str
        The class.
    """
    return sorted(word for word, kinds in single_words(sentences).items() if set(kinds) == {label})


def phrase_with(word: str, phrase: str = PHRASE) -> tuple[str, ...]:
    """Return the words of the phrase with the blank filled in.

    Parameters
    ----------
    word : str
        What stands in the blank.
    phrase : str, default :data:`PHRASE`
        With one blank, which is a word by itself.
    """
    return tuple(word if part == BLANK else part for part in phrase.split())


def blank_place(phrase: str = PHRASE) -> int:
    """Return which word of the phrase the blank is.

    Parameters
    ----------
    phrase : str, default :data:`PHRASE`
        The phrase.

    Raises
    ------
    InputError
        ``bad-specification`` for a phrase without a blank, or with several.
    """
    places = [place for place, part in enumerate(phrase.split()) if part == BLANK]
    if len(places) != 1:
        raise InputError(
            f"the phrase needs exactly one blank {BLANK} between spaces", code="bad-specification"
        )
    return places[0]


def with_insertions(
    sentences: Sequence[Sentence],
    words: Sequence[AmbiguousWord],
    repetitions: int,
    rng: np.random.Generator,
    phrase: str = PHRASE,
) -> list[Sentence]:
    """Insert the phrase with each word at random places.

    Parameters
    ----------
    sentences : sequence of Sentence
        Training data.
    words : sequence of AmbiguousWord
        What is inserted, each as its class.
    repetitions : int
        How often each of them.
    rng : numpy.random.Generator
        Draws the places.
    phrase : str, default :data:`PHRASE`
        The phrase.
    """
    place = blank_place(phrase)
    inserted = []
    for entry in words:
        filled = phrase_with(entry.word, phrase)
        tags = tuple(f"B-{entry.label}" if i == place else "O" for i in range(len(filled)))
        inserted += [Sentence(filled, tags)] * repetitions
    mixed = [*sentences, *inserted]
    return [mixed[i] for i in rng.permutation(len(mixed))]
