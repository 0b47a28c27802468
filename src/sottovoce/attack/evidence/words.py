"""Words: what is said, as a recogniser hears it.

People repeat words and phrases, and those who speak about the same things share them: recordings of
one session are about one topic, so a link by words may be one by topic. That is a link all the
same, but one that another topic would break.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from itertools import pairwise

import numpy as np

from sottovoce.asr.normalise import normalise
from sottovoce.asr.recogniser import DEFAULT_RECOGNISER, Recogniser, make_recogniser
from sottovoce.core.types import FloatArray
from sottovoce.signal.fbank import RATE

WORD_VALUES, LETTER_VALUES = 128, 128
"""Values into which words and pairs of words, and groups of letters, are hashed."""
LETTERS = (3, 4)
"""Lengths of groups of letters."""


class Transcriber:
    """Recognises each recording once, for all describers that need its words.

    Parameters
    ----------
    name : str, default "moonshine-tiny"
        A registered recogniser.

    Raises
    ------
    MissingExtraError
        If the recogniser needs a package that is not installed.
    """

    def __init__(self, name: str = DEFAULT_RECOGNISER) -> None:
        self.name = name
        self._recogniser: Recogniser = make_recogniser(name)
        self._texts: dict[bytes, str] = {}

    def text(self, samples: FloatArray) -> str:
        """Return the words of a recording.

        Parameters
        ----------
        samples : array of float64, n
            One channel at 16 kHz.
        """
        audio = np.asarray(samples, np.float32)
        key = hashlib.sha256(audio.tobytes()).digest()
        if key not in self._texts:
            self._texts[key] = self._recogniser.transcribe(audio, RATE)
        return self._texts[key]


class Words:
    """Words, pairs of words and groups of letters, hashed into a fixed number of values.

    Each of the two halves has length 1, however much is said, and a last value is always 1, so
    that a recording without words has a vector too. Weinberger et al., "Feature hashing for large
    scale multitask learning", ICML 2009.

    Parameters
    ----------
    transcriber : Transcriber
        Recognises the words.
    """

    name = "words"
    dimension = WORD_VALUES + LETTER_VALUES + 1

    def __init__(self, transcriber: Transcriber) -> None:
        self.transcriber = transcriber
        self.version = f"1 {transcriber.name}"

    def describe(self, samples: FloatArray) -> FloatArray:
        """Describe the words.

        Parameters
        ----------
        samples : array of float64, n
            One channel at 16 kHz.
        """
        return describe_text(self.transcriber.text(samples))


def describe_text(text: str) -> FloatArray:
    """Hash the words and letters of a text.

    Parameters
    ----------
    text : str
        English text with or without punctuation.

    Returns
    -------
    array of float64, 257
    """
    words = normalise(text).split()
    pairs = [f"{first} {second}" for first, second in pairwise(words)]
    line = f" {' '.join(words)} " if words else ""
    letters = [line[at : at + size] for size in LETTERS for at in range(len(line) - size + 1)]
    halves = (_hashed([*words, *pairs], WORD_VALUES), _hashed(letters, LETTER_VALUES))
    return np.concatenate([*halves, [1.0]])


def _hashed(terms: list[str], size: int) -> FloatArray:
    """Sum of signed hashes, each term with the root of its count, scaled to length 1."""
    counts: defaultdict[str, int] = defaultdict(int)
    for term in terms:
        counts[term] += 1
    values = np.zeros(size)
    for term, count in counts.items():
        number = int.from_bytes(hashlib.blake2b(term.encode(), digest_size=8).digest(), "big")
        values[(number >> 1) % size] += (1.0 if number & 1 else -1.0) * np.sqrt(count)
    return np.asarray(values / max(float(np.linalg.norm(values)), 1e-12))
