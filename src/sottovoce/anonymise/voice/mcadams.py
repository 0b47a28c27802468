"""McAdams coefficient: formants are moved by changing the angles of linear-prediction poles.

A pole at angle φ moves to φ^α (radians). With α < 1, formants below 1 rad (2.5 kHz at 16 kHz) move
up and those above move down. The excitation stays, and with it pitch and rhythm. McAdams 1984;
Patino et al. 2021; baseline B2 of the VoicePrivacy Challenges.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.voice.card import MethodCard, Setting, method_record
from sottovoce.anonymise.voice.conditioning import RATE, condition
from sottovoce.anonymise.voice.draw_scope import SCOPES, DrawScope
from sottovoce.anonymise.voice.method import METHODS
from sottovoce.core.errors import UsageError
from sottovoce.core.records import JsonObject
from sottovoce.core.types import Audio, FloatArray
from sottovoce.corpus.utterance import Corpus
from sottovoce.signal.spectrum import Poles, burg, poles_of, predictors_of, refilter

FRAME = RATE // 50
"""Samples of a frame: 20 ms."""
HOP = FRAME // 2
ORDER = 20
"""Order of the linear prediction."""
MAX_MODULUS = 0.999
"""Largest modulus of a pole, which bounds how long a formant rings."""


class McAdams:
    """Move formants by a coefficient that is fixed, or drawn for each speaker or utterance.

    Parameters
    ----------
    secret : Secret, optional
        The key of the draws; a new one by default.
    coefficient : float or {"utterance", "speaker"}, default "utterance"
        The exponent α from 0.3 to 1.5 (1 changes nothing), or for whom it is drawn.
    low, high : float, default 0.5 and 0.9
        Range from which it is drawn.

    Raises
    ------
    UsageError
        If a value is out of range, or ``low`` above ``high``.
    """

    name = "mcadams"
    card = MethodCard(
        name="mcadams",
        summary="Bends a voice by moving its resonances: the angles of linear-prediction poles are "
        "raised to a power.",
        settings=(
            Setting(
                "coefficient",
                "utterance",
                "Exponent of pole angles (1 changes nothing), or for whom it is drawn.",
                low=0.3,
                high=1.5,
                words=SCOPES,
            ),
            Setting("low", 0.5, "Lowest coefficient that is drawn.", low=0.3, high=1.5),
            Setting("high", 0.9, "Highest coefficient that is drawn.", low=0.3, high=1.5),
        ),
        keeps=("duration", "rhythm", "F0", "energy", "words"),
        leaks="Pitch, rhythm and wording stay, and one number describes how formants moved.",
        reversible="nearly: an attacker who recognises the coefficient moves the formants back; "
        "measured on 40 speakers, originals enrolled: EER 16 % as released, 4 % undone",
        reference="Patino et al. 2021, Speaker anonymisation using the McAdams coefficient",
        fit="unused",
        draws=("coefficient",),
        per_utterance=("coefficient", "utterance"),
        inverse=("coefficient",),
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
        if self.settings.number("low") > self.settings.number("high"):
            raise UsageError(
                f"mcadams: low={low} is above high={high}; exchange them", code="out-of-range"
            )
        drawn_for = self.settings["coefficient"]
        kind = drawn_for if isinstance(drawn_for, str) else "speaker"
        self.scope = DrawScope(kind, self.secret)

    def fit(self, corpus: Corpus) -> Self:
        """Learn which recordings belong to one session, if draws are made for each session.

        Parameters
        ----------
        corpus : Corpus
            All recordings that are going to be anonymised.
        """
        self.scope.fit(corpus)
        return self

    def transform(self, audio: Audio, rate: int, *, speaker: str, utterance: str) -> Audio:
        """Return the recording with its formants moved.

        Parameters
        ----------
        audio : ndarray of float32, shape (n,)
            One channel, samples within ±1.
        rate : int
            Sample rate in Hz.
        speaker, utterance : str
            Ids; the coefficient follows from them and the secret.

        Returns
        -------
        ndarray of float32, shape (n,)
            Same length, rate and loudness.
        """
        coefficient = self._coefficient(speaker, utterance)
        return condition(lambda samples: bend_formants(samples, coefficient), audio, rate)

    def change_of(self, audio: Audio, rate: int, *, speaker: str, utterance: str) -> FloatArray:
        """Return the coefficient of a recording.

        Parameters
        ----------
        audio : ndarray of float32, shape (n,)
            Ignored: the coefficient is drawn before anything is heard.
        rate : int
            Ignored.
        speaker, utterance : str
            Ids; the coefficient follows from them and the secret.
        """
        return np.array([self._coefficient(speaker, utterance)])

    def undo(self, audio: Audio, rate: int, change: FloatArray) -> Audio:
        """Move the formants back: the exponent of the inverse is 1 / α.

        Parameters
        ----------
        audio : ndarray of float32, shape (n,)
            An anonymised recording.
        rate : int
            Sample rate in Hz.
        change : ndarray of float64, shape (1,)
            The coefficient; it is moved into the range of the setting, 0.3 to 1.5.
        """
        exponent = 1 / float(np.clip(change[0], 0.3, 1.5))
        return condition(lambda samples: bend_formants(samples, exponent), audio, rate)

    def record(self) -> JsonObject:
        """Return method and settings."""
        return method_record(self.name, self.settings, self.scope)

    def _coefficient(self, speaker: str, utterance: str) -> float:
        coefficient = self.settings["coefficient"]
        if not isinstance(coefficient, str):
            return self.settings.number("coefficient")
        rng = self.secret.generator(self.name, *self.scope.names(speaker, utterance))
        return float(rng.uniform(self.settings.number("low"), self.settings.number("high")))


METHODS.add(McAdams.name, McAdams)


def bend_formants(samples: FloatArray, coefficient: float) -> FloatArray:
    """Move the formants of a signal at 16 kHz, in frames of 20 ms every 10 ms.

    Parameters
    ----------
    samples : ndarray of float64, shape (n,)
        The signal.
    coefficient : float
        Exponent α of the pole angles.

    Returns
    -------
    ndarray of float64, shape (n,)
        The changed signal.
    """
    window = np.sqrt(_HANN)
    count = -(-len(samples) // HOP) + 1  # every sample is in two frames
    padded = np.pad(samples, (HOP, count * HOP - len(samples)))
    frames = sliding_window_view(padded, FRAME)[::HOP] * window
    predictors = burg(frames, ORDER)
    changed = predictors_of(bend_poles(poles_of(predictors), coefficient))
    frames = refilter(frames, predictors, changed) * window
    halves = frames.reshape(count, 2, HOP)
    output = np.zeros((count + 1, HOP))
    output[:-1] += halves[:, 0]
    output[1:] += halves[:, 1]
    return output.ravel()[HOP : HOP + len(samples)]


_HANN = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(FRAME) / FRAME)
"""Periodic Hann window: copies half a frame apart sum to 1."""


def bend_poles(poles: Poles, coefficient: float) -> Poles:
    """Move poles from angle φ to φ^α, at most π; real poles stay.

    Parameters
    ----------
    poles : ndarray of complex128
        Poles of any shape.
    coefficient : float
        Exponent α.

    Returns
    -------
    ndarray of complex128
        Poles of the same shape; the modulus of complex ones is at most :data:`MAX_MODULUS`.
    """
    modulus = np.minimum(np.abs(poles), MAX_MODULUS)
    angle = np.angle(poles)
    bent = np.minimum(np.abs(angle) ** coefficient, np.pi)
    return np.where(poles.imag == 0, poles, modulus * np.exp(1j * np.copysign(bent, angle)))
