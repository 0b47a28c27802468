"""The McAdams coefficient: formants moved by bending the angles of a predictor's poles.

A pole at angle φ goes to φ^α (radians). With α below 1 what lies under 1 rad (2.5 kHz at 16 kHz)
moves up and what lies above moves down; the excitation, and with it pitch and rhythm, stays.
McAdams 1984; Patino et al. 2021; baseline B2 of the VoicePrivacy Challenges.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.voice.conditioning import RATE, condition
from sottovoce.anonymise.voice.method import METHODS, MethodCard, Setting, recorded
from sottovoce.core.errors import UsageError
from sottovoce.core.types import Audio, FloatArray
from sottovoce.corpus.utterance import Corpus
from sottovoce.signal.lpc import Poles, burg, poles_of, predictors_of, refilter

FRAME = RATE // 50
HOP = FRAME // 2
ORDER = 20
NARROWEST = 0.999
"""The largest modulus of a pole: no formant rings longer than that."""


class McAdams:
    """Formants bent by a coefficient that is fixed, or drawn for each speaker or utterance."""

    name = "mcadams"
    card = MethodCard(
        name="mcadams",
        summary="Moves formants by raising the angles of linear-prediction poles to a power.",
        settings=(
            Setting(
                "coefficient",
                "utterance",
                "The power, or for whom one is drawn; 1 changes nothing.",
                low=0.3,
                high=1.5,
                words=("speaker", "utterance"),
            ),
            Setting("low", 0.5, "Lowest coefficient that is drawn.", low=0.3, high=1.5),
            Setting("high", 0.9, "Highest coefficient that is drawn.", low=0.3, high=1.5),
        ),
        keeps=("duration", "rhythm", "F0", "energy", "words"),
        leaks="Pitch, rhythm and wording are untouched, and one number tells how formants moved.",
        reversible="nearly: an attacker who finds the coefficient bends the formants back",
        reference="Patino et al. 2021, Speaker anonymisation using the McAdams coefficient",
    )

    def __init__(
        self,
        secret: Secret | None = None,
        *,
        coefficient: float | str = "utterance",
        low: float = 0.5,
        high: float = 0.9,
    ) -> None:
        self.secret = secret or Secret.generate()
        self.settings = self.card.checked(coefficient=coefficient, low=low, high=high)
        if self.settings["low"] > self.settings["high"]:
            raise UsageError(f"mcadams: low={low} is above high={high}; exchange them")

    def fit(self, corpus: Corpus) -> Self:
        """Nothing is learnt."""
        return self

    def transform(self, audio: Audio, rate: int, *, speaker: str, utterance: str) -> Audio:
        """The recording with its formants moved."""
        coefficient = self._coefficient(speaker, utterance)
        return condition(lambda samples: bend_formants(samples, coefficient), audio, rate)

    def record(self) -> dict[str, Any]:
        """Method and settings."""
        return recorded(self.name, self.settings)

    def _coefficient(self, speaker: str, utterance: str) -> float:
        given = self.settings["coefficient"]
        if not isinstance(given, str):
            return float(given)
        names = (speaker,) if given == "speaker" else (speaker, utterance)
        draw = self.secret.generator(self.name, *names)
        return float(draw.uniform(self.settings["low"], self.settings["high"]))


METHODS.add(McAdams.name, McAdams)


def bend_formants(samples: FloatArray, coefficient: float) -> FloatArray:
    """Move the formants of a signal at 16 kHz, in frames of 20 ms every 10 ms."""
    window = np.sqrt(_HANN)
    count = -(-len(samples) // HOP) + 1  # every sample lies in two frames
    padded = np.pad(samples, (HOP, count * HOP - len(samples)))
    frames = sliding_window_view(padded, FRAME)[::HOP] * window
    predictors = burg(frames, ORDER)
    changed = predictors_of(bend(poles_of(predictors), coefficient))
    frames = refilter(frames, predictors, changed) * window
    halves = frames.reshape(count, 2, HOP)
    whole = np.zeros((count + 1, HOP))
    whole[:-1] += halves[:, 0]
    whole[1:] += halves[:, 1]
    return whole.ravel()[HOP : HOP + len(samples)]


_HANN = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(FRAME) / FRAME)
"""Two of them, half a frame apart, sum to one."""


def bend(poles: Poles, coefficient: float) -> Poles:
    """Poles at φ^α instead of φ, none beyond π; real poles stay."""
    modulus = np.minimum(np.abs(poles), NARROWEST)
    angle = np.angle(poles)
    bent = np.minimum(np.abs(angle) ** coefficient, np.pi)
    return np.where(poles.imag == 0, poles, modulus * np.exp(1j * np.copysign(bent, angle)))
