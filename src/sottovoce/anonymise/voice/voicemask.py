"""VoiceMask: the frequency axis of an utterance is warped by a random amount.

The warp is h = quadratic ∘ bilinear; α and β are drawn again until the distortion
D = ∫ |h(ω) − ω| dω is in its range. Qian et al. 2018; parameters as in COMPRISE.
"""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.voice.card import MethodCard, Setting, method_record
from sottovoce.anonymise.voice.conditioning import condition
from sottovoce.anonymise.voice.draw_scope import SCOPES, DrawScope
from sottovoce.anonymise.voice.method import METHODS
from sottovoce.anonymise.voice.pitch import LogPitch, gaussian_pitch, log_pitch
from sottovoce.anonymise.voice.targets import shipped_targets
from sottovoce.core.errors import UsageError
from sottovoce.core.records import JsonObject
from sottovoce.core.types import Audio, FloatArray
from sottovoce.corpus.utterance import Corpus
from sottovoce.signal import world
from sottovoce.signal.spectrum import axis, bilinear, quadratic, read_at

ALPHA = (0.08, 0.10)
"""Range of |α|; its sign is drawn, too."""
BETA = 2.0
"""Largest |β|; the warp is increasing in this range."""
MAX_DRAWS = 1000
"""Draws after which a range of distortion counts as unreachable; most need fewer than ten."""
_OMEGA = axis(world.BINS)


class Warp(NamedTuple):
    """Parameters of the warp h."""

    alpha: float
    beta: float

    def __call__(self, omega: FloatArray) -> FloatArray:
        """Return h(ω)."""
        return quadratic(bilinear(omega, self.alpha), self.beta)

    def inverse(self, omega: FloatArray) -> FloatArray:
        """Return h⁻¹(ω), interpolated between the bins of an envelope."""
        return np.asarray(np.interp(omega, self(_OMEGA), _OMEGA))


def distortion(warp: Warp) -> float:
    """Compute the distortion D = ∫ |h(ω) − ω| dω over 0 … π.

    Parameters
    ----------
    warp : Warp
        The warp h.
    """
    return float(np.trapezoid(np.abs(warp(_OMEGA) - _OMEGA), _OMEGA))


def draw_warp(generator: np.random.Generator, low: float, high: float) -> Warp:
    """Draw α and β until the distortion is in a range.

    Parameters
    ----------
    generator : numpy.random.Generator
        Source of the draws.
    low, high : float
        Range of the distortion; with ``high`` 0 the warp changes nothing.

    Returns
    -------
    Warp
        A warp within the range.

    Raises
    ------
    UsageError
        If no warp has such a distortion (``out-of-range``).
    """
    if high == 0:
        return Warp(0.0, 0.0)
    for _ in range(MAX_DRAWS):
        size = generator.uniform(*ALPHA)
        warp = Warp(float(generator.choice((-size, size))), float(generator.uniform(-BETA, BETA)))
        if low <= distortion(warp) <= high:
            return warp
    raise UsageError(
        f"voicemask: no warp has a distortion between {low:g} and {high:g}; use 0.32 and 0.40",
        code="out-of-range",
    )


class VoiceMask:
    """Warp spectra along the frequency axis, by a warp drawn for each utterance or speaker.

    Parameters
    ----------
    secret : Secret, optional
        The key of the draws; a new one by default.
    low, high : float, default 0.32 and 0.40
        Range of the distortion; ``high`` 0 changes nothing.
    draw : {"utterance", "session", "speaker"}
        For whom a warp is drawn.
    pitch : {"keep", "gaussian"}
        Whether F0 is kept or mapped to that of a drawn speaker.

    Raises
    ------
    UsageError
        If a value is out of range, or no warp is in the range of distortion.
    """

    name = "voicemask"
    card = MethodCard(
        name="voicemask",
        summary="Warps the frequency axis of each utterance by a randomly drawn warp.",
        settings=(
            Setting("low", 0.32, "Smallest distortion.", low=0, high=1.5),
            Setting("high", 0.40, "Largest distortion; 0 changes nothing.", low=0, high=1.5),
            Setting("draw", "utterance", "Who gets one warp.", words=SCOPES),
            Setting(
                "pitch",
                "keep",
                "Keep F0, or map it to that of a drawn speaker.",
                words=("keep", "gaussian"),
            ),
        ),
        keeps=("duration", "rhythm", "F0 shape", "F0 unless pitch=gaussian", "energy", "words"),
        leaks="Pitch contour, rhythm, wording, and all spectral detail of the voice, only shifted.",
        reversible="yes: whoever knows or finds the two numbers of the warp can invert it",
        reference="Qian et al. 2018, Hidebehind: enjoy voice input with voiceprint unclonability",
        fit="unused",
        draws=("warp", "target pitch"),
        per_utterance=("draw", "utterance"),
        inverse=("alpha", "beta"),
    )

    def __init__(
        self,
        secret: Secret | None = None,
        *,
        low: float = 0.32,
        high: float = 0.40,
        draw: str = "utterance",
        pitch: str = "keep",
    ) -> None:
        self.secret = secret or Secret.generate()
        if high == 0:
            low = 0.0
        self.settings = self.card.checked(low=low, high=high, draw=draw, pitch=pitch)
        if self.settings.number("low") > self.settings.number("high"):
            raise UsageError(
                f"voicemask: low={low} is above high={high}; exchange them", code="out-of-range"
            )
        self.scope = DrawScope(self.settings.word("draw"), self.secret)
        self._warp("", "")  # refuse an unreachable range now, not at the first recording

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
        """Return the recording with its frequency axis warped.

        Parameters
        ----------
        audio : ndarray of float32, shape (n,)
            One channel, samples within ±1.
        rate : int
            Sample rate in Hz.
        speaker, utterance : str
            Ids; the warp follows from them and the secret.

        Returns
        -------
        ndarray of float32, shape (n,)
            Same length, rate and loudness.
        """
        warp = self._warp(speaker, utterance)
        pitch = self._pitch(speaker, utterance)
        return condition(lambda samples: mask(samples, warp, pitch), audio, rate)

    def change_of(self, audio: Audio, rate: int, *, speaker: str, utterance: str) -> FloatArray:
        """Return α and β of the warp of a recording.

        Parameters
        ----------
        audio : ndarray of float32, shape (n,)
            Ignored: the warp is drawn before anything is heard.
        rate : int
            Ignored.
        speaker, utterance : str
            Ids; the warp follows from them and the secret.
        """
        return np.array(self._warp(speaker, utterance))

    def undo(self, audio: Audio, rate: int, change: FloatArray) -> Audio:
        """Warp the frequency axis back. A pitch that was mapped stays as it is.

        Parameters
        ----------
        audio : ndarray of float32, shape (n,)
            An anonymised recording.
        rate : int
            Sample rate in Hz.
        change : ndarray of float64, shape (2,)
            α and β; they are moved into the range of the draws.
        """
        largest = ALPHA[1], BETA
        alpha, beta = np.clip(change, np.negative(largest), largest).tolist()
        omega = Warp(alpha, beta).inverse(_OMEGA)
        return condition(lambda samples: _with_axis(samples, omega), audio, rate)

    def record(self) -> JsonObject:
        """Return method and settings."""
        return method_record(self.name, self.settings, self.scope)

    def _generator(self, purpose: str, speaker: str, utterance: str) -> np.random.Generator:
        return self.secret.generator(self.name, purpose, *self.scope.names(speaker, utterance))

    def _warp(self, speaker: str, utterance: str) -> Warp:
        generator = self._generator("warp", speaker, utterance)
        return draw_warp(generator, self.settings.number("low"), self.settings.number("high"))

    def _pitch(self, speaker: str, utterance: str) -> LogPitch | None:
        if self.settings["pitch"] == "keep":
            return None
        targets = shipped_targets()
        number = int(self._generator("pitch", speaker, utterance).integers(len(targets)))
        return targets[number].pitch


METHODS.add(VoiceMask.name, VoiceMask)


def mask(samples: FloatArray, warp: Warp, pitch: LogPitch | None = None) -> FloatArray:
    """Warp the spectra of a signal at 16 kHz, and map its F0.

    Parameters
    ----------
    samples : ndarray of float64, shape (n,)
        The signal.
    warp : Warp
        The warp of the frequency axis.
    pitch : LogPitch, optional
        Mean and spread to which log F0 is mapped; by default F0 is kept.

    Returns
    -------
    ndarray of float64
        The changed signal, up to a few milliseconds longer.
    """
    omega = warp(_OMEGA) if warp.alpha or warp.beta else None
    return _with_axis(samples, omega, pitch)


def _with_axis(
    samples: FloatArray, omega: FloatArray | None, pitch: LogPitch | None = None
) -> FloatArray:
    """Read the spectra of a signal at other frequencies, or at their own where there are none."""
    voice = world.analyse(samples)
    f0, envelope, aperiodicity = voice.f0, voice.envelope, voice.aperiodicity
    if omega is not None:
        envelope = np.exp(read_at(np.log(envelope), omega))
        aperiodicity = read_at(aperiodicity, omega)
    source = log_pitch(f0)
    if pitch is not None and source is not None:
        f0 = gaussian_pitch(f0, source, pitch)
    return world.synthesise(world.Voice(f0, envelope, aperiodicity))
