"""Target speakers: whose voice is imitated, and who imitates whom.

CONST is one target for everybody, PERM one for each speaker and different ones as long as they
last, RAND a fresh one for each utterance. Srivastava et al. 2020; Maouche et al. 2020.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path

import numpy as np

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.voice.classes import CLASSES, VoiceModel, active, find_classes, shapes
from sottovoce.anonymise.voice.conditioning import RATE
from sottovoce.anonymise.voice.pitch import LogPitch, log_pitch
from sottovoce.core.arrays import load_arrays
from sottovoce.core.errors import InputError, SottovoceError
from sottovoce.core.types import FloatArray
from sottovoce.corpus.audio import load_audio
from sottovoce.corpus.utterance import Corpus, Utterance
from sottovoce.signal import world

SELECTIONS = ("const", "perm", "rand")
ENOUGH = 30.0
"""Seconds of a speaker that are looked at."""
_SHIPPED = "vtln_targets.npz"


class Selection:
    """Which of so many targets a speaker or utterance gets; follows from the secret."""

    def __init__(self, kind: str, count: int, secret: Secret, method: str) -> None:
        self.kind, self.count, self.secret, self.method = kind, count, secret, method
        self._given: dict[str, int] = {}

    def fit(self, speakers: Iterable[str]) -> None:
        """Give every speaker a target for ``perm``; more speakers than targets share some."""
        order = self.secret.generator(self.method, "perm").permutation(self.count)
        ranked = sorted(set(speakers), key=lambda who: self.secret.digest(self.method, "rank", who))
        self._given = {who: int(order[i % self.count]) for i, who in enumerate(ranked)}

    def target(self, speaker: str, utterance: str) -> int:
        """The index of the target; a speaker unknown to ``fit`` gets any."""
        if self.kind == "perm" and speaker in self._given:
            return self._given[speaker]
        names = {"const": (), "perm": (speaker,), "rand": (speaker, utterance)}[self.kind]
        return int(self.secret.generator(self.method, self.kind, *names).integers(self.count))


@cache
def shipped_targets() -> tuple[VoiceModel, ...]:
    """The voices that come with the package; see models/NOTICE.md."""
    path = Path(str(files("sottovoce.anonymise.voice") / "models" / _SHIPPED))
    found = load_arrays(path, ("names", "classes", "pitch"), save="recipes/vtln_targets.py")
    rows = zip(found["names"].tolist(), found["classes"], found["pitch"], strict=True)
    return tuple(
        VoiceModel(name, classes.astype(np.float64), LogPitch(*map(float, pitch)))
        for name, classes, pitch in rows
    )


def corpus_targets(corpus: Corpus) -> tuple[VoiceModel, ...]:
    """The speakers of a corpus as targets; those without voiced speech are left out."""
    models = [model_of(who, own) for who, own in corpus.by_speaker().items()]
    usable = tuple(model for model in models if model and len(model.classes) and model.pitch)
    if not usable:
        raise InputError(f"{corpus.name}: no speaker can serve as target; name another corpus")
    return usable


def model_of(speaker: str, utterances: Iterable[Utterance]) -> VoiceModel | None:
    """Classes and pitch from the first half minute of a speaker; None if nothing is readable."""
    found = [learn(samples) for samples in _first(utterances)]
    if not found:
        return None
    points = np.concatenate([points for points, _ in found])
    f0 = np.concatenate([f0 for _, f0 in found])
    return VoiceModel(speaker, find_classes(points, CLASSES), log_pitch(f0))


def learn(samples: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Shapes of the active frames and F0 of a signal at 16 kHz."""
    f0, envelope = world.analyse_envelope(samples)
    return shapes(np.log(envelope[active(envelope)])), f0


def _first(utterances: Iterable[Utterance]) -> Iterator[FloatArray]:
    """Recordings until there is enough; what cannot be read is told when it is anonymised."""
    left = int(ENOUGH * RATE)
    for one in utterances:
        if left <= 0:
            return
        try:
            samples = load_audio(one, RATE)[:left].astype(np.float64)
        except SottovoceError:
            continue
        left -= len(samples)
        yield samples
