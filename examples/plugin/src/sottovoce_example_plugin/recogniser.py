"""A recogniser: counts syllables by their energy and writes one ``la`` for each.

It recognises no words; it shows what a recogniser has to have.
"""

from typing import ClassVar

import numpy as np

from sottovoce.core.types import Audio


class SyllableCounter:
    """Writes one syllable for every rise of the energy above half of its largest value."""

    languages: ClassVar[frozenset[str]] = frozenset({"en", "de", "es", "fr", "it", "nl", "pt"})

    def transcribe(self, audio: Audio, rate: int) -> str:
        """Return ``la`` as often as there are syllables."""
        frame = max(1, rate // 20)
        frames = audio[: len(audio) // frame * frame].reshape(-1, frame)
        energy = np.square(frames.astype(np.float64)).mean(axis=1)
        loud = energy > 0.5 * energy.max(initial=0)
        rises = np.diff(loud.astype(int), prepend=0) > 0
        return " ".join(["la"] * int(np.count_nonzero(rises)))
