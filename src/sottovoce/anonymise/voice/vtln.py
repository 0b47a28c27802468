"""VTLN-based voice conversion: each class of sounds is warped towards a target speaker.

For each class i of the source, the class m of the target and the warp α with the smallest distance
|c_i warped by α − c_m| are searched jointly. Frames are warped by the α of their class, smoothed
over time, and F0 is mapped to that of the target. Sündermann and Ney 2003; Srivastava et al. 2020.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.ndimage import uniform_filter1d

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.voice.card import MethodCard, Setting, method_record
from sottovoce.anonymise.voice.conditioning import condition
from sottovoce.anonymise.voice.method import METHODS, SpeakerwiseAnonymiser
from sottovoce.anonymise.voice.pitch import gaussian_pitch, log_pitch
from sottovoce.anonymise.voice.targets import (
    CLASSES,
    SELECTIONS,
    SHAPE_BINS,
    TargetSelection,
    VoiceModel,
    active_frames,
    corpus_targets,
    shipped_targets,
    spectral_shapes,
    voice_model,
)
from sottovoce.core.clustering import k_means, nearest_centre
from sottovoce.core.records import JsonObject
from sottovoce.core.types import Audio, FloatArray
from sottovoce.corpus.utterance import Corpus, Utterance
from sottovoce.signal import world
from sottovoce.signal.spectrum import axis, power, read_at

GRID = np.linspace(-0.20, 0.20, 21)
"""Values of α that are tried for a class."""
FINE = np.linspace(-0.20, 0.20, 161)
"""Values to which the smoothed α of frames is rounded."""
SMOOTHING = 15
"""Frames (75 ms) over which α is smoothed, so that a change of class makes no click."""
_FINE_WARPS = power(axis(world.BINS), FINE[:, None])
_GRID_WARPS = power(axis(SHAPE_BINS), GRID[:, None])


class Vtln(SpeakerwiseAnonymiser[VoiceModel]):
    """Warp spectra class by class towards a target speaker, and take over the target's pitch.

    Parameters
    ----------
    secret : Secret, optional
        The key of the draws; a new one by default.
    selection : {"rand", "session", "const", "perm"}
        A target for each utterance, one for all, or one for each speaker.
    targets : path-like, optional
        Corpus of target speakers; by default those that come with the package.
    """

    name = "vtln"
    card = MethodCard(
        name="vtln",
        summary="Warps each class of sounds, and pitch, towards those of a target speaker.",
        settings=(
            Setting(
                "selection",
                "rand",
                "One target for all, for each speaker, for each session, or for each utterance.",
                words=SELECTIONS,
            ),
            Setting("targets", None, "Corpus of other target speakers.", path=True),
        ),
        keeps=("duration", "rhythm", "F0 shape", "energy", "words"),
        leaks="Pitch contour, rhythm, wording, and fine spectral detail.",
        reversible="largely: a few warps for each speaker, which can be searched for",
        reference="Sündermann and Ney 2003, VTLN-based cross-language voice conversion",
        fit="optional",
        draws=("target speaker",),
        per_utterance=("selection", "rand"),
        inverse=("warp",),
    )

    def __init__(
        self,
        secret: Secret | None = None,
        *,
        selection: str = "rand",
        targets: Path | str | None = None,
    ) -> None:
        super().__init__()
        self.secret = secret or Secret.generate()
        self.settings = self.card.checked(selection=selection, targets=targets)
        self.targets = _load_targets(self.settings.path("targets"))
        self.selection = TargetSelection(
            self.settings.word("selection"), len(self.targets), self.secret, self.name
        )

    def begin_fit(self, corpus: Corpus) -> None:
        """Assign targets to all speakers.

        Parameters
        ----------
        corpus : Corpus
            All recordings that are going to be anonymised.
        """
        self.selection.fit(corpus)

    def learn_speaker(self, speaker: str, utterances: Sequence[Utterance]) -> VoiceModel | None:
        """Learn the sound classes and the pitch of a speaker, from half a minute.

        Parameters
        ----------
        speaker : str
            Id of the speaker.
        utterances : sequence of Utterance
            All recordings of the speaker.
        """
        return voice_model(speaker, utterances)

    def transform(self, audio: Audio, rate: int, *, speaker: str, utterance: str) -> Audio:
        """Return the recording warped towards its target speaker.

        Parameters
        ----------
        audio : ndarray of float32, shape (n,)
            One channel, samples within ±1.
        rate : int
            Sample rate in Hz.
        speaker, utterance : str
            Ids; a speaker unknown to :meth:`fit` is learnt from this recording.

        Returns
        -------
        ndarray of float32, shape (n,)
            Same length, rate and loudness.
        """
        source = self.learnt.get(speaker)
        target = self.targets[self.selection.target(speaker, utterance)]
        return condition(lambda samples: convert(samples, source, target), audio, rate)

    def change_of(self, audio: Audio, rate: int, *, speaker: str, utterance: str) -> FloatArray:
        """Return the mean α over the speech of a recording.

        Parameters
        ----------
        audio : ndarray of float32, shape (n,)
            The original recording, which decides how often each class of sounds occurs.
        rate : int
            Sample rate in Hz.
        speaker, utterance : str
            Ids, as for :meth:`transform`.
        """
        source = self.learnt.get(speaker)
        target = self.targets[self.selection.target(speaker, utterance)]
        warps: list[FloatArray] = []

        def measure(samples: FloatArray) -> FloatArray:
            _, envelope = world.analyse_envelope(samples)
            warps.append(frame_warps(envelope, source, target)[active_frames(envelope)])
            return samples

        condition(measure, audio, rate)
        speech = np.concatenate([*warps, np.zeros(0)])
        return np.array([speech.mean() if len(speech) else 0.0])

    def undo(self, audio: Audio, rate: int, change: FloatArray) -> Audio:
        """Warp all sounds back by one α. A pitch that was mapped stays as it is.

        Parameters
        ----------
        audio : ndarray of float32, shape (n,)
            An anonymised recording.
        rate : int
            Sample rate in Hz.
        change : ndarray of float64, shape (1,)
            The mean α; it is moved into the range that the method searches.
        """
        alpha = float(np.clip(change[0], GRID[0], GRID[-1]))
        omega = power(axis(world.BINS), -alpha / (1 - alpha))  # the inverse of a power warp is one

        def unwarp(samples: FloatArray) -> FloatArray:
            voice = world.analyse(samples)
            envelope = np.exp(read_at(np.log(voice.envelope), omega))
            aperiodicity = read_at(voice.aperiodicity, omega)
            return world.synthesise(world.Voice(voice.f0, envelope, aperiodicity))

        return condition(unwarp, audio, rate)

    def record(self) -> JsonObject:
        """Return method, settings and the number of target speakers."""
        return {
            **method_record(self.name, self.settings, self.selection.scope),
            "target_speakers": len(self.targets),
        }


METHODS.add(Vtln.name, Vtln)


def _load_targets(path: Path | None) -> tuple[VoiceModel, ...]:
    if path is None:
        return shipped_targets()
    from sottovoce.corpus.formats import open_corpus

    return corpus_targets(open_corpus(path))


def find_warps(source: FloatArray, target: FloatArray) -> FloatArray:
    """Find the warp of each source class that brings it closest to any target class.

    Parameters
    ----------
    source : ndarray of float64, shape (classes, bins)
        Spectral shapes of the source speaker.
    target : ndarray of float64, shape (classes, bins)
        Spectral shapes of the target speaker.

    Returns
    -------
    ndarray of float64, shape (classes,)
        α of each source class.
    """
    warped = np.stack([read_at(source, omega) for omega in _GRID_WARPS], axis=1)  # class × α × bin
    warped -= warped.mean(axis=2, keepdims=True)
    distance = np.square(warped[:, :, None] - target[None, None]).sum(axis=3)  # class × α × class
    return np.asarray(GRID[distance.min(axis=2).argmin(axis=1)])


def convert(samples: FloatArray, source: VoiceModel | None, target: VoiceModel) -> FloatArray:
    """Convert a signal at 16 kHz towards a target speaker.

    Parameters
    ----------
    samples : ndarray of float64, shape (n,)
        The signal.
    source : VoiceModel or None
        The speaker; without it the speaker is learnt from the signal itself.
    target : VoiceModel
        The target speaker.

    Returns
    -------
    ndarray of float64
        The converted signal, up to a few milliseconds longer.
    """
    voice = world.analyse(samples)
    alpha = frame_warps(voice.envelope, source, target)
    omega = _FINE_WARPS[np.rint((alpha - FINE[0]) / (FINE[1] - FINE[0])).astype(np.intp)]
    pitch = source.pitch if source and source.pitch else log_pitch(voice.f0)
    f0 = gaussian_pitch(voice.f0, pitch, target.pitch) if pitch and target.pitch else voice.f0
    envelope = np.exp(read_at(np.log(voice.envelope), omega))
    return world.synthesise(world.Voice(f0, envelope, read_at(voice.aperiodicity, omega)))


def frame_warps(envelope: FloatArray, source: VoiceModel | None, target: VoiceModel) -> FloatArray:
    """Find the α of each frame that warps it towards a target speaker.

    Parameters
    ----------
    envelope : ndarray of float64, shape (frames, 513)
        Power spectra.
    source : VoiceModel or None
        The speaker; without it the speaker is learnt from these frames.
    target : VoiceModel
        The target speaker.

    Returns
    -------
    ndarray of float64, shape (frames,)
        Smoothed over time; 0 far from speech.
    """
    speech = active_frames(envelope)
    shapes = spectral_shapes(np.log(envelope[speech]))
    classes = source.classes if source and len(source.classes) else k_means(shapes, CLASSES)
    alpha = np.zeros(len(envelope))
    if len(shapes):
        alpha[speech] = find_warps(classes, target.classes)[nearest_centre(shapes, classes)]
    return np.asarray(uniform_filter1d(alpha, SMOOTHING, mode="nearest"))
