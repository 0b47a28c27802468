"""The corpora of a study: usable recordings, descriptions, provenance, and the work they need."""

from __future__ import annotations

import hashlib
import platform
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np

from sottovoce.attack.inputs import SpeechDivision, divide_speech
from sottovoce.attack.speech import SpeechSet
from sottovoce.audit.requirements import check_attributes
from sottovoce.audit.study import Study
from sottovoce.core.atomic_directory import refuse_inside
from sottovoce.core.engine import SPEECH_MEMORY, Engine, LocalEngine
from sottovoce.core.errors import InputError, SottovoceError
from sottovoce.core.records import Record
from sottovoce.core.step_cache import Step, StepCache, records_of
from sottovoce.core.types import StageProgress
from sottovoce.corpus.audio import load_audio, load_length
from sottovoce.corpus.formats import open_corpus
from sottovoce.corpus.trials import read_trials
from sottovoce.corpus.utterance import Corpus, Utterance
from sottovoce.findings import (
    AuditFindings,
    CorpusDescription,
    CorpusDigest,
    Provenance,
    TrainingDescription,
)
from sottovoce.signal.fbank import RATE
from sottovoce.speaker.encoders import prepare

LIBRARIES = ("numpy", "scipy", "polars", "onnxruntime", "soundfile", "soxr", "pyworld-prebuilt")
READ_GROUP = 64
"""Recordings that a worker of a cluster reads together."""
_DRAWS = (
    "repeatable by the seeds of the study: do not release the speech in this folder as protected"
)


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


@dataclass(frozen=True, slots=True)
class StudyCorpora:
    """The corpora of a study as they are listed, before any recording is read."""

    corpus: Corpus
    train: Corpus | None
    division: SpeechDivision
    """Enrolment, trials and training, if all recordings can be used."""


def open_corpora(study: Study, folder: Path) -> StudyCorpora:
    """Open the corpora of a study, and refuse what their lists show; nothing is written.

    Parameters
    ----------
    study : Study
        The study.
    folder : Path
        Folder of the audit.

    Raises
    ------
    InputError
        ``nested`` for an audit inside a corpus, ``not-disjoint`` for speakers that are attacked and
        trained on, and those of :func:`divide_speech` and :func:`read_trials`.
    UsageError
        ``missing-column`` for an attribute without labels.
    """
    corpus = open_outside(study.corpus, folder)
    train = None if study.train is None else open_outside(study.train, folder)
    check_attributes(study, corpus)
    trials = None if study.trials is None else read_trials(study.trials, corpus)
    others = None if train is None else SpeechSet.of(train)
    division = divide_speech(SpeechSet.of(corpus), others, seed=study.seed, trials=trials)
    return StudyCorpora(corpus, train, division)


def vet(
    corpus: Corpus,
    steps: StepCache,
    *,
    jobs: int = 2,
    engine: Engine | None = None,
    progress: StageProgress | None = None,
) -> VettedSpeech:
    """Read every recording once and exclude what cannot be used, by name.

    Parameters
    ----------
    corpus : Corpus
        All recordings.
    steps : StepCache
        Where the result is kept.
    jobs : int, default 2
        How many recordings are read at a time, in threads.
    engine : Engine, optional
        What reads recordings instead of threads of this process.
    progress : StageProgress, optional
        Called after each recording.

    Raises
    ------
    InputError
        With the code ``empty`` if no recording can be used.
    """
    speech = SpeechSet.of(corpus)
    worker = engine or LocalEngine(jobs)
    vetting = steps.get(_STEP, [speech.key], lambda: _read_all(corpus, worker, progress))
    return VettedSpeech(speech.with_ids(set(vetting.usable)), vetting.seconds, vetting.excluded)


def _read_all(corpus: Corpus, engine: Engine, progress: StageProgress | None) -> _Vetting:
    usable, excluded, samples = [], [], 0
    places = {utterance.id: corpus.where(i) for i, utterance in enumerate(corpus)}
    lengths = engine.map(
        length_or_defect, corpus, label="reading", group=READ_GROUP, memory=SPEECH_MEMORY
    )
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


def length_or_defect(utterance: Utterance) -> int | str:
    """Return the samples of a recording, or why it cannot be used.

    Parameters
    ----------
    utterance : Utterance
        The recording.
    """
    try:
        audio = load_audio(utterance, RATE)
        prepare(np.asarray(audio, np.float32), RATE)
    except SottovoceError as error:
        return str(error).removeprefix(f"{utterance.path}: ")
    return len(audio)


def describe_corpus(vetted: VettedSpeech, division: SpeechDivision) -> CorpusDescription:
    """Describe the attacked corpus and how it was divided.

    Parameters
    ----------
    vetted : VettedSpeech
        All usable recordings.
    division : SpeechDivision
        Enrolment, trials and training.
    """
    corpus = vetted.speech.corpus
    genders: dict[str, int] = {}
    for utterances in corpus.by_speaker().values():
        gender = next((utterance.gender for utterance in utterances if utterance.gender), "")
        genders[gender] = genders.get(gender, 0) + 1
    return CorpusDescription(
        name=corpus.name,
        speakers=len(corpus.speakers),
        attacked_speakers=len(division.trial.corpus.speakers),
        utterances=len(corpus),
        hours=round(vetted.seconds / 3600, 4),
        genders=genders,
        enrol=len(division.enrol.corpus),
        trial=len(division.trial.corpus),
        excluded=(*vetted.excluded, *division.left_out),
    )


def describe_training(train: Corpus, vetted: VettedSpeech | None) -> TrainingDescription:
    """Describe the speech that attackers train on.

    Parameters
    ----------
    train : Corpus
        The training speech.
    vetted : VettedSpeech or None
        The corpus it is, if the study names one; None for a part of the attacked corpus.
    """
    return TrainingDescription(
        name=train.name,
        speakers=len(train.speakers),
        utterances=len(train),
        part_of_corpus=vetted is None,
        excluded=() if vetted is None else vetted.excluded,
    )


def describe_provenance(study: Study, findings: AuditFindings) -> Provenance:
    """Describe what an audit was made from; reads every file of its corpora.

    Parameters
    ----------
    study : Study
        As it was run, with the folders of its corpora.
    findings : AuditFindings
        What it found.
    """
    inputs = {"corpus": digest_corpus(open_corpus(study.corpus))}
    if study.train is not None:
        inputs["train"] = digest_corpus(open_corpus(study.train))
    return Provenance(
        tool="sottovoce",
        version=version("sottovoce"),
        python=platform.python_version(),
        libraries={name: version(name) for name in LIBRARIES},
        study=findings.study,
        seed=study.seed,
        draws=_DRAWS,
        encoder=findings.encoder,
        inputs=inputs,
    )


def digest_corpus(corpus: Corpus) -> CorpusDigest:
    """Digest ids, speakers and the content of all recordings, in the order of ids.

    Parameters
    ----------
    corpus : Corpus
        A file that several utterances share is read once.
    """
    digest = hashlib.sha256()
    contents: dict[str, bytes] = {}
    for utterance in sorted(corpus, key=lambda utterance: utterance.id):
        path = str(utterance.path)
        if path not in contents:
            try:
                with utterance.path.open("rb") as file:
                    contents[path] = hashlib.file_digest(file, "sha256").digest()
            except OSError:
                contents[path] = b"unreadable"
        digest.update(f"{utterance.id}\0{utterance.speaker}\0".encode() + contents[path])
    return CorpusDigest(corpus.name, len(corpus), digest.hexdigest())


def total_seconds(corpus: Corpus) -> float:
    """Return the length of all recordings, without those that cannot be read.

    Parameters
    ----------
    corpus : Corpus
        The recordings.
    """
    total = 0.0
    for utterance in corpus:
        try:
            total += load_length(utterance).seconds
        except SottovoceError:
            continue
    return total
