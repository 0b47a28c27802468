"""The corpora of a study: usable recordings, descriptions, provenance, and the work they need."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np

from sottovoce.attack.inputs import SpeechDivision, divide_speech
from sottovoce.attack.speech import SpeechSet
from sottovoce.audit.measuring import measured_populations
from sottovoce.audit.study import Study
from sottovoce.core.atomic_directory import refuse_inside
from sottovoce.core.errors import InputError, SottovoceError
from sottovoce.core.parallel import map_ahead
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
from sottovoce.report.formats import counted
from sottovoce.signal.fbank import RATE
from sottovoce.speaker.encoders import prepare

LIBRARIES = ("numpy", "scipy", "polars", "onnxruntime", "soundfile", "soxr", "pyworld-prebuilt")
_DRAWS = "repeatable by the seed: do not release the speech in this folder as protected"


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


ANONYMISING = {"mcadams": 70.0, "voicemask": 16.0, "vtln": 15.0, "xvector": 15.0, "dar": 14.0}
"""Seconds of speech anonymised in a second on one core, as measured."""
ANONYMISING_OTHERS = 4.0
"""The same for methods that were not measured."""
EMBEDDING = 45.0
"""Seconds of speech embedded in a second on one core."""
RECOGNISING = 30.0
"""Seconds of speech recognised in a second on one core."""
ATTACKING = 20.0
"""Seconds of one attack and its measures."""


def plan_lines(study: Study, folder: Path, *, cores: int = 2) -> Iterator[str]:
    """Generate the steps of an audit in order, and an estimate of its duration.

    Parameters
    ----------
    study : Study
        The study.
    folder : Path
        Folder of the audit; nothing is written.
    cores : int, default 2
        How many cores the estimate is for.
    """
    corpus = open_outside(study.corpus, folder)
    others = None if study.train is None else SpeechSet.of(open_outside(study.train, folder))
    trials = None if study.trials is None else read_trials(study.trials, corpus)
    division = divide_speech(SpeechSet.of(corpus), others, seed=study.seed, trials=trials)
    enrol, trial, train = division.enrol, division.trial, division.train
    attacked_seconds = total_seconds(enrol.corpus) + total_seconds(trial.corpus)
    train_seconds, enrol_seconds = total_seconds(train.corpus), total_seconds(enrol.corpus)
    total = (attacked_seconds + train_seconds) / EMBEDDING
    yield (
        f"1. read {len(corpus):,} recordings of {len(corpus.speakers)} speakers; attack "
        f"{len(trial.corpus.speakers)}, train on {len(train.corpus.speakers)} others"
        + (f"; leave out {len(division.left_out):,}" if division.left_out else "")
    )
    for number, spec in enumerate(study.anonymiser_specs, 2):
        speech = attacked_seconds + _most_draws(study) * (enrol_seconds + train_seconds)
        speed = ANONYMISING.get(spec.method, ANONYMISING_OTHERS)
        total += speech * (1 / speed + 1 / EMBEDDING)
        total += len(study.attacks_on(spec)) * ATTACKING
        total += min(study.utility.utterances, len(trial.corpus)) * 4 / RECOGNISING
        yield (
            f"{number}. {spec.label}: anonymise {speech / 60:.0f} min of speech, "
            f"{counted(len(study.attacks_on(spec)), 'attack')}"
        )
    yield from _unmeasured_limits(study, len(enrol.corpus.speakers))
    yield f"About {max(1, round(total / cores / 60))} min on {cores} cores, if nothing is done yet."


def _unmeasured_limits(study: Study, n_speakers: int) -> Iterator[str]:
    """Limits on populations that are not measured in this corpus."""
    sizes = measured_populations(study, n_speakers)
    for limit in study.parsed_limits:
        if limit.population is not None and limit.population not in sizes:
            listed = ", ".join(f"{size:,}" for size in sizes)
            yield (
                f"The limit {limit.text} will not hold: with {n_speakers:,} speakers no population "
                f"of {limit.population:,} is measured, only {listed}."
            )


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


def _most_draws(study: Study) -> int:
    """How many times attackers anonymise their speech; 0 where none does."""
    return max(
        attack.settings.draws if attack.attacker.anonymises else 0 for attack in study.attacks
    )
