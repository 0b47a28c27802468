"""Word vectors from a text file: a word and its numbers a line, as GloVe writes them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sottovoce.core.errors import InputError
from sottovoce.core.types import FloatArray
from sottovoce.corpus.reading import numbered_lines
from sottovoce.memorisation.vocabulary import Vocabulary


def read_vectors(path: Path, vocabulary: Vocabulary, *, seed: int = 0) -> FloatArray:
    """Read the vectors of the words of a vocabulary; words without one get a random vector.

    Parameters
    ----------
    path : Path
        The file; a first line with two numbers is left out.
    vocabulary : Vocabulary
        Wanted words.
    seed : int, default 0
        Of the random vectors.

    Raises
    ------
    InputError
        ``damaged`` for a line that is no vector, ``empty`` if no word has one.
    """
    known: dict[str, list[float]] = {}
    width = 0
    for number, line in numbered_lines(path):
        word, *values = line.split()
        if number == 1 and len(values) == 1:
            continue
        width = width or len(values)
        if len(values) != width or not width:
            raise InputError(f"{path}, line {number}: not {width} numbers", code="damaged")
        if word in vocabulary:
            try:
                known[word] = [float(value) for value in values]
            except ValueError:
                raise InputError(f"{path}, line {number}: no numbers", code="damaged") from None
    if not known:
        raise InputError(f"{path}: no vector of any word of the text", code="empty")
    table = np.random.default_rng(seed).normal(0, 0.1, (len(vocabulary), width))
    for place, word in enumerate(vocabulary.words):
        if word in known:
            table[place] = known[word]
    return np.asarray(table / np.sqrt(np.mean(np.square(table))), np.float64)
