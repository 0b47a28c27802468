"""TF-IDF of words and of their letters: what a text is made of, as sparse rows."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|[█\[\]]+")
"""Words with apostrophes inside, and the signs that stand for removed words."""
WORD_GRAMS = (1, 2)
LETTER_GRAMS = (2, 3, 4)
LEAST_TEXTS = 3
"""Training texts a feature must occur in."""


def words_of(text: str) -> list[str]:
    """Split a text into words in lower case.

    Parameters
    ----------
    text : str
        Any text.

    >>> words_of("Don't call ANN, please")
    ["don't", 'call', 'ann', 'please']
    """
    return _WORD.findall(text.lower())


def _features(text: str) -> Iterator[str]:
    words = words_of(text)
    for size in WORD_GRAMS:
        for start in range(len(words) - size + 1):
            yield f"w {' '.join(words[start : start + size])}"
    for word in words:
        padded = f" {word} "
        for size in LETTER_GRAMS:
            for start in range(len(padded) - size + 1):
                yield f"c{padded[start : start + size]}"


@dataclass(frozen=True, slots=True, eq=False)
class TextVectors:
    """Turns texts into rows; learnt from training texts."""

    places: dict[str, int]
    weights: tuple[float, ...]
    """Inverse document frequency of each feature."""

    @classmethod
    def learn(cls, texts: Sequence[str]) -> TextVectors:
        """Choose the features that occur in enough texts.

        Parameters
        ----------
        texts : sequence of str
            Training texts.
        """
        counts = Counter(feature for text in texts for feature in set(_features(text)))
        kept = sorted(name for name, count in counts.items() if count >= LEAST_TEXTS)
        weights = tuple(math.log((1 + len(texts)) / (1 + counts[name])) + 1 for name in kept)
        return cls({name: place for place, name in enumerate(kept)}, weights)

    def transform(self, texts: Sequence[str]) -> csr_array:
        """Return one row of unit length per text: (1 + ln count) times the weight of a feature.

        Parameters
        ----------
        texts : sequence of str
            Any texts; features that were not learnt are ignored.
        """
        columns: list[int] = []
        values: list[float] = []
        ends = [0]
        for text in texts:
            counts = Counter(_features(text))
            row = [
                (place, (1 + math.log(count)) * self.weights[place])
                for name, count in counts.items()
                if (place := self.places.get(name)) is not None
            ]
            norm = math.sqrt(sum(value * value for _, value in row)) or 1.0
            columns += [place for place, _ in row]
            values += [value / norm for _, value in row]
            ends.append(len(columns))
        shape = (len(texts), len(self.places))
        return csr_array((np.array(values), np.array(columns, np.int64), np.array(ends)), shape)
