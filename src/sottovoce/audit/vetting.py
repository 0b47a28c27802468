"""Recordings that can be used, and those that are left out and why."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sottovoce.audit.steps import Speech
from sottovoce.core.atomic_directory import refuse_inside
from sottovoce.core.errors import InputError, SottovoceError
from sottovoce.core.parallel import map_ahead
from sottovoce.core.types import StageProgress
from sottovoce.corpus.audio import load_audio
from sottovoce.corpus.formats import open_corpus
from sottovoce.corpus.utterance import Corpus, Utterance
from sottovoce.signal.fbank import RATE
from sottovoce.speaker.encoders import prepare


@dataclass(frozen=True, slots=True)
class Vetted:
    """Speech that can be anonymised and embedded."""

    speech: Speech
    seconds: float
    excluded: tuple[str, ...]
    """Where each recording left out is listed, and why it cannot be used."""


def open_outside(name: str, folder: Path) -> Corpus:
    """A corpus that the folder of an audit is not part of."""
    corpus = open_corpus(name)
    refuse_inside(folder, corpus.root)
    return corpus


def vet(corpus: Corpus, *, jobs: int = 2, progress: StageProgress | None = None) -> Vetted:
    """Read every recording once; what cannot be used is left out by name, not silently."""
    good, excluded, samples = set(), [], 0
    places = {one.id: corpus.where(i) for i, one in enumerate(corpus)}
    looked = map_ahead(_look, corpus, workers=jobs, ahead=4 * jobs)
    for done, (one, found) in enumerate(looked, 1):
        if isinstance(found, str):
            excluded.append(f"{places[one.id]}: {found}")
        else:
            good.add(one.id)
            samples += found
        if progress:
            progress(f"reading {corpus.name}", done, len(corpus))
    if not good:
        raise InputError(f"{corpus.name}: none of {len(corpus):,} recordings can be used")
    kept = corpus.select(lambda one: one.id in good) if excluded else corpus
    return Vetted(Speech.of(kept), samples / RATE, tuple(excluded))


def _look(one: Utterance) -> int | str:
    try:
        audio = load_audio(one, RATE)
        prepare(np.asarray(audio, np.float32), RATE)
    except SottovoceError as error:
        return str(error).removeprefix(f"{one.path}: ")
    return len(audio)
