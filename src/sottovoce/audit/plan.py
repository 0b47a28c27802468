"""What an audit would do, and about how long it would take, before it does it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sottovoce.attack import ATTACKERS
from sottovoce.attack.inputs import divide_speech
from sottovoce.attack.speech import SpeechSet
from sottovoce.audit.corpora import open_outside
from sottovoce.audit.measuring import measured_populations
from sottovoce.audit.study import Study
from sottovoce.core.errors import SottovoceError
from sottovoce.corpus.audio import load_length
from sottovoce.corpus.trials import read_trials
from sottovoce.corpus.utterance import Corpus

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
        repeated = enrol_seconds + train_seconds if _attackers_anonymise(study) else 0.0
        speech = attacked_seconds + repeated
        speed = ANONYMISING.get(spec.method, ANONYMISING_OTHERS)
        total += speech * (1 / speed + 1 / EMBEDDING)
        total += len(study.attackers) * len(study.linkage) * ATTACKING
        total += min(study.utility.utterances, len(trial.corpus)) * 4 / RECOGNISING
        yield (
            f"{number}. {spec.label}: anonymise {speech / 60:.0f} min of speech, "
            f"{len(study.attackers)} attackers × {len(study.linkage)} linkage functions"
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


def _attackers_anonymise(study: Study) -> bool:
    """Whether an attacker needs speech that it anonymises itself."""
    return any(
        form in ("attacker", "similar")
        for name in study.attackers
        for form in (ATTACKERS[name].enrolment, ATTACKERS[name].training)
    )
