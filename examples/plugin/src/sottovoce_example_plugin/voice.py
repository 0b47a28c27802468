"""A voice anonymiser: stretches or squeezes the spectrum by a factor drawn for each speaker."""

from typing import Self

import numpy as np
from scipy.signal import istft, stft

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.voice import MethodCard, Setting, method_record
from sottovoce.core.records import JsonObject
from sottovoce.core.types import Audio
from sottovoce.corpus import Corpus

FRAME_SECONDS = 0.032


class SpectrumWarp:
    """Moves every frequency by one factor; a higher factor sounds like a shorter vocal tract."""

    name = "spectrum-warp"
    card = MethodCard(
        name="spectrum-warp",
        summary="Stretches or squeezes the spectrum by a factor drawn for each speaker.",
        settings=(Setting("strength", 0.15, "Largest change of a frequency.", low=0.01, high=0.5),),
        keeps=("duration", "pauses", "rhythm", "loudness"),
        leaks="Rhythm and manner of speaking stay, and the factor can be estimated and undone.",
        reversible="yes, by whoever knows or estimates the factor",
        reference="The example plug-in of sottovoce.",
        fit="unused",
        draws=("factor",),
    )

    def __init__(self, secret: Secret, **settings: float) -> None:
        self.secret = secret
        self.settings = self.card.checked(**settings)

    def fit(self, corpus: Corpus) -> Self:
        """Do nothing: the factor follows from the secret and the speaker's id."""
        return self

    def transform(self, audio: Audio, rate: int, *, speaker: str, utterance: str) -> Audio:
        """Return the recording with another spectrum and the same length and loudness."""
        strength = self.settings.number("strength")
        sign = self.secret.generator(self.name, speaker).choice([-1, 1])
        factor = 1 + sign * strength
        frame = min(int(FRAME_SECONDS * rate), len(audio))
        frequencies, _, spectrum = stft(audio, rate, nperseg=frame)
        sources = np.arange(len(frequencies)) / factor
        warped = [np.interp(sources, np.arange(len(frequencies)), c) for c in np.abs(spectrum).T]
        changed = istft(np.array(warped).T * np.exp(1j * np.angle(spectrum)), rate, nperseg=frame)
        samples = np.resize(changed[1], len(audio))
        loudness = np.sqrt(np.mean(audio**2) / max(np.mean(samples**2), 1e-12))
        return np.asarray(np.clip(samples * loudness, -1, 1), np.float32)

    def record(self) -> JsonObject:
        """Return method and settings; never the secret or the factor."""
        return method_record(self.name, self.settings)
