"""Target speakers: models of their voices, and the choice of a target for each speaker.

A voice model holds the typical spectra of a speaker, found without knowing the words: envelopes of
active frames are compared in the log domain without their level, so that loud frames do not
dominate, and clustered by k-means into pseudo-phonetic classes (Sündermann and Ney 2003).

The choice of targets follows Srivastava et al. 2020 and Maouche et al. 2020: ``const`` is one
target for all speakers, ``perm`` one for each speaker, ``rand`` one for each utterance. ``session``
is one for each session of a speaker.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.voice.conditioning import RATE, first_recordings
from sottovoce.anonymise.voice.draw_scope import DrawScope
from sottovoce.anonymise.voice.pitch import LogPitch, log_pitch
from sottovoce.core.arrays import load_arrays
from sottovoce.core.clustering import k_means
from sottovoce.core.errors import InputError
from sottovoce.core.types import FloatArray
from sottovoce.corpus.utterance import Corpus, Utterance
from sottovoce.signal import world

SELECTIONS = ("const", "perm", "session", "rand")
"""One target for all speakers, for each speaker, for each session, or for each utterance."""
BIN_STEP = 4
"""Every fourth bin of an envelope is used; WORLD's envelopes are smooth."""
SHAPE_BINS = (world.BINS - 1) // BIN_STEP + 1
"""Bins of a spectral shape."""
CLASSES = 8
"""Classes of spectral shapes of a speaker."""
ACTIVE = 0.06
"""Share of the mean energy above which a frame counts as active."""
SECONDS = 30.0
"""Seconds of speech from which a speaker is learnt."""
_SHIPPED = "vtln_targets.npz"


@dataclass(frozen=True, slots=True)
class VoiceModel:
    """Typical spectra and pitch of a speaker."""

    name: str
    classes: FloatArray
    """Log envelopes without their level, classes × bins; no rows if no frame was active."""
    pitch: LogPitch | None
    """None if no frame was voiced."""


def active_frames(envelope: FloatArray) -> NDArray[np.bool_]:
    """Tell which frames have enough energy to be speech.

    Parameters
    ----------
    envelope : ndarray of float64, shape (frames, 513)
        Power spectra of WORLD.

    Returns
    -------
    ndarray of bool, shape (frames,)
        True where the energy is above 6 % of the mean energy.
    """
    energy = envelope[:, ::BIN_STEP].sum(axis=1)
    return np.asarray(energy > ACTIVE * energy.mean())


def spectral_shapes(log_envelope: FloatArray) -> FloatArray:
    """Reduce log envelopes to every fourth bin and remove their level.

    Parameters
    ----------
    log_envelope : ndarray of float64, shape (frames, 513)
        Natural logarithm of power spectra.

    Returns
    -------
    ndarray of float64, shape (frames, 129)
        Shapes of mean 0.
    """
    reduced = log_envelope[:, ::BIN_STEP]
    return np.asarray(reduced - reduced.mean(axis=1, keepdims=True))


def analyse_shapes(samples: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Compute the spectral shapes of active frames and F0 of a signal at 16 kHz.

    Parameters
    ----------
    samples : ndarray of float64, shape (n,)
        The signal.

    Returns
    -------
    shapes : ndarray of float64, shape (active frames, 129)
        Spectral shapes.
    f0 : ndarray of float64, shape (frames,)
        F0 in Hz, 0 where unvoiced.
    """
    f0, envelope = world.analyse_envelope(samples)
    return spectral_shapes(np.log(envelope[active_frames(envelope)])), f0


def voice_model(speaker: str, utterances: Iterable[Utterance]) -> VoiceModel | None:
    """Learn the voice of a speaker from half a minute of recordings.

    Parameters
    ----------
    speaker : str
        Id of the speaker.
    utterances : iterable of Utterance
        Recordings of the speaker.

    Returns
    -------
    VoiceModel or None
        None if no recording can be read.
    """
    shapes, f0 = [], []
    missing = int(SECONDS * RATE)
    for audio in first_recordings(utterances, SECONDS):
        samples = audio[:missing].astype(np.float64)
        missing -= len(samples)
        recording_shapes, recording_f0 = analyse_shapes(samples)
        shapes.append(recording_shapes)
        f0.append(recording_f0)
    if not shapes:
        return None
    classes = k_means(np.concatenate(shapes), CLASSES)
    return VoiceModel(speaker, classes, log_pitch(np.concatenate(f0)))


@cache
def shipped_targets() -> tuple[VoiceModel, ...]:
    """Load the voice models that come with the package; see models/NOTICE.md."""
    path = Path(str(files("sottovoce.anonymise.voice") / "models" / _SHIPPED))
    arrays = load_arrays(path, ("names", "classes", "pitch"), save="recipes/vtln_targets.py")
    rows = zip(arrays["names"].tolist(), arrays["classes"], arrays["pitch"], strict=True)
    return tuple(
        VoiceModel(name, classes.astype(np.float64), LogPitch(*map(float, pitch)))
        for name, classes, pitch in rows
    )


def corpus_targets(corpus: Corpus) -> tuple[VoiceModel, ...]:
    """Learn the voices of all speakers of a corpus.

    Parameters
    ----------
    corpus : Corpus
        Recordings of target speakers.

    Returns
    -------
    tuple of VoiceModel
        Speakers without voiced speech are left out.

    Raises
    ------
    InputError
        If no speaker is left (``empty``).
    """
    models = [voice_model(name, utterances) for name, utterances in corpus.by_speaker().items()]
    usable = tuple(model for model in models if model and len(model.classes) and model.pitch)
    if not usable:
        raise InputError(
            f"{corpus.name}: no speaker can serve as target; name another corpus", code="empty"
        )
    return usable


class TargetSelection:
    """Choice of one of several targets for a speaker or an utterance; follows from the secret.

    Parameters
    ----------
    kind : {"const", "perm", "session", "rand"}
        One target for all, for each speaker, for each session of a speaker, or for each utterance.
    count : int
        Number of targets.
    secret : Secret
        The key of the draws.
    method : str
        Name of the method, so that two methods with one secret draw independently.
    """

    def __init__(self, kind: str, count: int, secret: Secret, method: str) -> None:
        self.kind, self.count, self.secret, self.method = kind, count, secret, method
        scopes = {"perm": "speaker", "session": "session", "rand": "utterance"}
        self.scope = DrawScope(scopes.get(kind, "speaker"), secret)
        self._assigned: dict[str, int] = {}

    def fit(self, corpus: Corpus) -> None:
        """Assign targets to all speakers for ``perm``, and learn the sessions for ``session``.

        Parameters
        ----------
        corpus : Corpus
            All recordings. Speakers get different targets as long as there are enough.
        """
        self.scope.fit(corpus)
        order = self.secret.generator(self.method, "perm").permutation(self.count)
        ranked = sorted(
            set(corpus.speakers),
            key=lambda speaker: self.secret.digest(self.method, "rank", speaker),
        )
        self._assigned = {
            speaker: int(order[rank % self.count]) for rank, speaker in enumerate(ranked)
        }

    def target(self, speaker: str, utterance: str) -> int:
        """Return the number of the target, from 0.

        Parameters
        ----------
        speaker : str
            Id of the speaker; one unknown to :meth:`fit` gets any target.
        utterance : str
            Id of the utterance.
        """
        if self.kind == "perm" and speaker in self._assigned:
            return self._assigned[speaker]
        names = () if self.kind == "const" else self.scope.names(speaker, utterance)
        return int(self.secret.generator(self.method, self.kind, *names).integers(self.count))
