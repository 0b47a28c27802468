"""VoiceMask: the frequency axis of a whole utterance bent by a drawn amount.

Two warps one after the other, h = quadratic ∘ bilinear, with α and β drawn anew until the
distortion D = ∫ |h(ω) − ω| dω lies in its range. Qian et al. 2018; parameters as in COMPRISE.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.voice.conditioning import condition
from sottovoce.anonymise.voice.method import METHODS, MethodCard, Setting, recorded
from sottovoce.anonymise.voice.pitch import LogPitch, gaussian_pitch, log_pitch
from sottovoce.anonymise.voice.targets import shipped_targets
from sottovoce.core.errors import UsageError
from sottovoce.core.types import Audio, FloatArray
from sottovoce.corpus.utterance import Corpus
from sottovoce.signal import world
from sottovoce.signal.warp import axis, bilinear, quadratic, read_at

ALPHA = (0.08, 0.10)
"""Range of |α|; its sign is drawn."""
BETA = 2.0
"""β is drawn between −2 and 2, where the warp is increasing."""
DRAWS = 1000
"""Draws after which a range of distortion counts as out of reach; most need fewer than ten."""
_OMEGA = axis(world.BINS)


class Warp(NamedTuple):
    """A drawn warp."""

    alpha: float
    beta: float

    def __call__(self, omega: FloatArray) -> FloatArray:
        """h(ω)."""
        return quadratic(bilinear(omega, self.alpha), self.beta)


def distortion(warp: Warp) -> float:
    """D = ∫ |h(ω) − ω| dω over 0 … π."""
    return float(np.trapezoid(np.abs(warp(_OMEGA) - _OMEGA), _OMEGA))


def draw_warp(generator: np.random.Generator, low: float, high: float) -> Warp:
    """Draw α and β until the distortion lies between ``low`` and ``high``."""
    if high == 0:
        return Warp(0.0, 0.0)
    for _ in range(DRAWS):
        size = generator.uniform(*ALPHA)
        warp = Warp(float(generator.choice((-size, size))), float(generator.uniform(-BETA, BETA)))
        if low <= distortion(warp) <= high:
            return warp
    raise UsageError(
        f"voicemask: no warp has a distortion between {low:g} and {high:g}; use 0.32 and 0.40"
    )


class VoiceMask:
    """Spectra warped along frequency, by a warp drawn for each utterance or speaker."""

    name = "voicemask"
    card = MethodCard(
        name="voicemask",
        summary="Bends the frequency axis of each utterance by a randomly drawn warp.",
        settings=(
            Setting("low", 0.32, "Least distortion.", low=0, high=1.5),
            Setting("high", 0.40, "Greatest distortion; 0 changes nothing.", low=0, high=1.5),
            Setting("draw", "utterance", "Who gets a warp.", words=("utterance", "speaker")),
            Setting(
                "pitch",
                "keep",
                "Keep F0, or map it to a drawn speaker's.",
                words=("keep", "gaussian"),
            ),
        ),
        keeps=("duration", "rhythm", "F0 shape", "F0 unless pitch=gaussian", "energy", "words"),
        leaks="Pitch contour, rhythm and wording; all of a voice's detail, only shifted.",
        reversible="yes: whoever knows or finds the two numbers of the warp undoes it",
        reference="Qian et al. 2018, Hidebehind: enjoy voice input with voiceprint unclonability",
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
        if self.settings["low"] > self.settings["high"]:
            raise UsageError(f"voicemask: low={low} is above high={high}; exchange them")
        self._warp("", "")  # refuse a range out of reach now, not at the first recording

    def fit(self, corpus: Corpus) -> Self:
        """Nothing is learnt."""
        return self

    def transform(self, audio: Audio, rate: int, *, speaker: str, utterance: str) -> Audio:
        """The recording with its frequency axis bent."""
        warp = self._warp(speaker, utterance)
        pitch = self._pitch(speaker, utterance)
        return condition(lambda samples: mask(samples, warp, pitch), audio, rate)

    def record(self) -> dict[str, Any]:
        """Method and settings."""
        return recorded(self.name, self.settings)

    def _generator(self, what: str, speaker: str, utterance: str) -> np.random.Generator:
        names = (speaker,) if self.settings["draw"] == "speaker" else (speaker, utterance)
        return self.secret.generator(self.name, what, *names)

    def _warp(self, speaker: str, utterance: str) -> Warp:
        generator = self._generator("warp", speaker, utterance)
        return draw_warp(generator, self.settings["low"], self.settings["high"])

    def _pitch(self, speaker: str, utterance: str) -> LogPitch | None:
        if self.settings["pitch"] == "keep":
            return None
        voices = shipped_targets()
        return voices[int(self._generator("pitch", speaker, utterance).integers(len(voices)))].pitch


METHODS.add(VoiceMask.name, VoiceMask)


def mask(samples: FloatArray, warp: Warp, pitch: LogPitch | None = None) -> FloatArray:
    """Warp the spectra of a signal at 16 kHz; with ``pitch``, also its F0."""
    voice = world.analyse(samples)
    f0, envelope, aperiodicity = voice.f0, voice.envelope, voice.aperiodicity
    if warp.alpha or warp.beta:
        bent = warp(_OMEGA)
        envelope = np.exp(read_at(np.log(envelope), bent))
        aperiodicity = read_at(aperiodicity, bent)
    own = log_pitch(f0)
    if pitch is not None and own is not None:
        f0 = gaussian_pitch(f0, own, pitch)
    return world.synthesise(world.Voice(f0, envelope, aperiodicity))
