"""Recordings that can be used, and those that are left out and why."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sottovoce.attack.speech import SpeechSet
from sottovoce.core.atomic_directory import refuse_inside
from sottovoce.core.errors import InputError, SottovoceError
from sottovoce.core.parallel import map_ahead
from sottovoce.core.records import Record
from sottovoce.core.step_cache import Step, StepCache, records_of
from sottovoce.core.types import StageProgress
from sottovoce.corpus.audio import load_audio
from sottovoce.corpus.formats import open_corpus
from sottovoce.corpus.utterance import Corpus, Utterance
from sottovoce.signal.fbank import RATE
from sottovoce.speaker.encoders import prepare


@dataclass(frozen=True, slots=True)
class VettedSpeech:
    """Speech that can be anonymised and embedded."""

    speech: SpeechSet
    seconds: float
    """Length of all usable recordings."""
    excluded: tuple[str, ...]
    """Where each excluded recording is listed, and why it cannot be used."""


@dataclass(frozen=True, slots=True)
class _Vetting(Record):
    """What reading every recording of a corpus showed."""

    usable: tuple[str, ...]
    """Ids."""
    seconds: float
    excluded: tuple[str, ...]


_STEP = Step("vetted", records_of(_Vetting))


def open_outside(name: str, folder: Path) -> Corpus:
    """Open a corpus that does not contain the folder of the audit.

    Parameters
    ----------
    name : str
        Folder or list of the corpus, or ``builtin``.
    folder : Path
        Folder of the audit.

    Raises
    ------
    InputError
        With the code ``nested`` for an audit inside its corpus.
    """
    corpus = open_corpus(name)
    refuse_inside(folder, corpus.root)
    return corpus


def vet(
    corpus: Corpus, steps: StepCache, *, jobs: int = 2, progress: StageProgress | None = None
) -> VettedSpeech:
    """Read every recording once and exclude what cannot be used, by name.

    Parameters
    ----------
    corpus : Corpus
        All recordings.
    steps : StepCache
        Where the result is kept.
    jobs : int, default 2
        How many recordings are read at a time.
    progress : StageProgress, optional
        Called after each recording.

    Raises
    ------
    InputError
        With the code ``empty`` if no recording can be used.
    """
    speech = SpeechSet.of(corpus)
    vetting = steps.get(_STEP, [speech.key], lambda: _read_all(corpus, jobs, progress))
    return VettedSpeech(speech.with_ids(set(vetting.usable)), vetting.seconds, vetting.excluded)


def _read_all(corpus: Corpus, jobs: int, progress: StageProgress | None) -> _Vetting:
    usable, excluded, samples = [], [], 0
    places = {utterance.id: corpus.where(i) for i, utterance in enumerate(corpus)}
    lengths = map_ahead(_length_or_defect, corpus, workers=jobs, ahead=4 * jobs)
    for done, (utterance, length) in enumerate(lengths, 1):
        if isinstance(length, str):
            excluded.append(f"{places[utterance.id]}: {length}")
        else:
            usable.append(utterance.id)
            samples += length
        if progress:
            progress(f"reading {corpus.name}", done, len(corpus))
    if not usable:
        raise InputError(
            f"{corpus.name}: none of {len(corpus):,} recordings can be used", code="empty"
        )
    return _Vetting(tuple(usable), samples / RATE, tuple(excluded))


def _length_or_defect(utterance: Utterance) -> int | str:
    """Samples of a recording, or why it cannot be used."""
    try:
        audio = load_audio(utterance, RATE)
        prepare(np.asarray(audio, np.float32), RATE)
    except SottovoceError as error:
        return str(error).removeprefix(f"{utterance.path}: ")
    return len(audio)
