"""Phone durations: how long each sound of the language lasts, relative to the speaker's pace."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress

import numpy as np

from sottovoce.anonymise.recording.align import PHONE_FRAMES
from sottovoce.anonymise.recording.decoder import FRAME, Segment, force_align
from sottovoce.anonymise.recording.pronunciation import model_folder, pronounce
from sottovoce.anonymise.recording.words import spoken_words
from sottovoce.attack.evidence.block import mean_and_spread
from sottovoce.attack.evidence.words import Transcriber
from sottovoce.core.errors import SottovoceError
from sottovoce.core.types import FloatArray

PHONES = tuple(PHONE_FRAMES)
"""Phones of American English in ARPAbet."""
PRIOR = 3.0
"""Occurrences of typical length that are added to each phone, so that rare ones do not jump."""


class Durations:
    """Mean log length of each phone relative to its typical length and to the pace.

    The words are those of a recogniser, so that no transcript is needed; where it hears none, or
    the aligner cannot place them, all lengths are typical.

    Parameters
    ----------
    transcriber : Transcriber
        Recognises the words.

    Raises
    ------
    MissingExtraError
        If the aligner is not installed.
    """

    name = "durations"
    dimension = len(PHONES) + 5

    def __init__(self, transcriber: Transcriber) -> None:
        model_folder()
        self.transcriber = transcriber
        self.version = f"1 {transcriber.name}"

    def describe(self, samples: FloatArray) -> FloatArray:
        """Describe the length of phones, words and pauses.

        Parameters
        ----------
        samples : array of float64, n
            One channel at 16 kHz.
        """
        words = [token.text for token in spoken_words(self.transcriber.text(samples))]
        return describe_segments(_aligned(samples, words))


def _aligned(samples: FloatArray, words: Sequence[str]) -> list[Segment]:
    """Words and pauses; nothing where the words cannot be pronounced or placed."""
    if not words:
        return []
    with suppress(SottovoceError):
        lexicon = pronounce(words)
        if all(word in lexicon for word in words):
            return force_align(samples, [lexicon[word] for word in words]) or []
    return []


def describe_segments(segments: Iterable[Segment]) -> FloatArray:
    """Describe aligned words and pauses.

    Parameters
    ----------
    segments : iterable of Segment
        Words with their phones, and pauses.

    Returns
    -------
    array of float64, 44
        For each phone, then pace, its spread, share of pauses inside, and their length and spread.
    """
    listed = list(segments)
    spoken = [
        (PHONES.index(name), np.log((end - start) / PHONE_FRAMES[name]))
        for segment in listed
        for name, start, end in segment.phones
        if name in PHONE_FRAMES and end > start
    ]
    numbers = np.array([number for number, _ in spoken], np.int64)
    lengths = np.array([length for _, length in spoken])
    pace = mean_and_spread(lengths, 0.0)
    sums = np.bincount(numbers, lengths - pace[0], minlength=len(PHONES))
    counts = np.bincount(numbers, minlength=len(PHONES))
    return np.concatenate([sums / (counts + PRIOR), pace, _pauses(listed)])


def _pauses(segments: Sequence[Segment]) -> FloatArray:
    """Share of the time between first and last word that is pauses, and their log seconds."""
    words = [at for at, segment in enumerate(segments) if segment.word is not None]
    inside = segments[words[0] : words[-1] + 1] if words else ()
    lengths = np.array([s.end - s.start for s in inside if s.word is None]) * FRAME
    total = sum(segment.end - segment.start for segment in inside) * FRAME
    return np.concatenate(
        [[lengths.sum() / total if total else 0.0], mean_and_spread(np.log(lengths), np.log(0.2))]
    )
