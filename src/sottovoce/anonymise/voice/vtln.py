"""Conversion by vocal tract length: each class of sounds warped towards a target speaker's.

For each class i of the source the class m of the target and the warp α with the least distance
|c_i warped by α − c_m| are looked for together; frames are warped by their class's α, smoothed over
time, and pitch is brought to the target's. Sündermann and Ney 2003; Srivastava et al. 2020.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy.ndimage import uniform_filter1d

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.voice.classes import (
    SHAPE_BINS,
    VoiceModel,
    active,
    find_classes,
    nearest,
    shapes,
)
from sottovoce.anonymise.voice.conditioning import condition
from sottovoce.anonymise.voice.method import METHODS, MethodCard, Setting, recorded
from sottovoce.anonymise.voice.pitch import gaussian_pitch, log_pitch
from sottovoce.anonymise.voice.targets import (
    SELECTIONS,
    Selection,
    corpus_targets,
    model_of,
    shipped_targets,
)
from sottovoce.core.types import Audio, FloatArray
from sottovoce.corpus.utterance import Corpus
from sottovoce.signal import world
from sottovoce.signal.warp import axis, power, read_at

GRID = np.linspace(-0.20, 0.20, 21)
"""Warps that are tried for a class."""
FINE = np.linspace(-0.20, 0.20, 161)
"""Warps that frames take between those of neighbouring classes."""
SMOOTHING = 15
"""Frames (75 ms) over which α is smoothed, so that a change of class does not click."""
_TABLE = power(axis(world.BINS), FINE[:, None])
_TRIED = power(axis(SHAPE_BINS), GRID[:, None])


class Vtln:
    """Spectra warped class by class towards a target speaker, with the target's pitch."""

    name = "vtln"
    card = MethodCard(
        name="vtln",
        summary="Warps each class of sounds, and pitch, towards those of a target speaker.",
        settings=(
            Setting(
                "selection",
                "rand",
                "One target for all, a speaker, or an utterance.",
                words=SELECTIONS,
            ),
            Setting(
                "targets", None, "Corpus of target speakers instead of the shipped.", path=True
            ),
        ),
        keeps=("duration", "rhythm", "F0 shape", "energy", "words"),
        leaks="Pitch contour, rhythm and wording, and the fine shape of spectra between warps.",
        reversible="largely: a few warps a speaker, which can be searched for",
        reference="Sündermann and Ney 2003, VTLN-based cross-language voice conversion",
    )

    def __init__(
        self,
        secret: Secret | None = None,
        *,
        selection: str = "rand",
        targets: Path | str | None = None,
    ) -> None:
        self.secret = secret or Secret.generate()
        self.settings = self.card.checked(selection=selection, targets=targets)
        self.targets = _targets(self.settings["targets"])
        self.selection = Selection(
            self.settings["selection"], len(self.targets), self.secret, self.name
        )
        self._sources: dict[str, VoiceModel] = {}

    def fit(self, corpus: Corpus) -> Self:
        """Find the classes and the pitch of every speaker, from half a minute of each."""
        self.selection.fit(corpus.speakers)
        for who, own in corpus.by_speaker().items():
            if model := model_of(who, own):
                self._sources[who] = model
        return self

    def transform(self, audio: Audio, rate: int, *, speaker: str, utterance: str) -> Audio:
        """The recording warped towards its target; an unknown speaker is known from it alone."""
        source = self._sources.get(speaker)
        target = self.targets[self.selection.target(speaker, utterance)]
        return condition(lambda samples: convert(samples, source, target), audio, rate)

    def record(self) -> dict[str, Any]:
        """Method, settings and how many targets there are."""
        return {**recorded(self.name, self.settings), "target_speakers": len(self.targets)}


METHODS.add(Vtln.name, Vtln)


def _targets(path: Path | None) -> tuple[VoiceModel, ...]:
    if path is None:
        return shipped_targets()
    from sottovoce.corpus.formats import open_corpus

    return corpus_targets(open_corpus(path))


def find_warps(source: FloatArray, target: FloatArray) -> FloatArray:
    """α of each source class: the one that, with any target class, leaves the least distance."""
    tried = np.stack([read_at(source, omega) for omega in _TRIED], axis=1)  # class × α × bin
    tried -= tried.mean(axis=2, keepdims=True)
    apart = np.square(tried[:, :, None] - target[None, None]).sum(axis=3)  # class × α × class
    return np.asarray(GRID[apart.min(axis=2).argmin(axis=1)])


def convert(samples: FloatArray, source: VoiceModel | None, target: VoiceModel) -> FloatArray:
    """A signal at 16 kHz warped towards a target; without ``source``, known from itself."""
    voice = world.analyse(samples)
    logs = np.log(voice.envelope)
    speech = active(voice.envelope)
    points = shapes(logs[speech])
    classes = source.classes if source and len(source.classes) else find_classes(points)
    alpha = np.zeros(len(logs))
    if len(points):
        alpha[speech] = find_warps(classes, target.classes)[nearest(points, classes)]
    alpha = uniform_filter1d(alpha, SMOOTHING, mode="nearest")
    omega = _TABLE[np.rint((alpha - FINE[0]) / (FINE[1] - FINE[0])).astype(np.intp)]
    own = source.pitch if source and source.pitch else log_pitch(voice.f0)
    f0 = gaussian_pitch(voice.f0, own, target.pitch) if own and target.pitch else voice.f0
    changed = world.Voice(f0, np.exp(read_at(logs, omega)), read_at(voice.aperiodicity, omega))
    return world.synthesise(changed)
