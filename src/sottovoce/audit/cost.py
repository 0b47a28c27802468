"""What an audit costs before it is run: processor time, memory and bytes of each stage.

Every rate was measured on one core (docs/scale.md says how, and how far predictions were off). Work
on speech grows with its length, comparing voices with the number of pairs, and each attack and
worker adds a constant.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sottovoce.attack.inputs import SpeechDivision
from sottovoce.audit.corpora import open_corpora, total_seconds
from sottovoce.audit.measuring import measured_populations
from sottovoce.audit.study import Study
from sottovoce.core.records import Record
from sottovoce.report.formats import counted

ANONYMISING = {"mcadams": 150.0, "voicemask": 31.0, "vtln": 15.0, "xvector": 15.0, "dar": 14.0}
"""Seconds of speech anonymised in a second on one core, as measured."""


@dataclass(frozen=True, slots=True)
class Rates(Record):
    """How fast the work is done: seconds of speech in a second on one core, if not said else."""

    anonymising: Mapping[str, float] = field(default_factory=lambda: dict(ANONYMISING))
    """By method."""
    anonymising_others: float = 4.0
    """Methods that were not measured."""
    reading: float = 2000.0
    embedding: float = 86.0
    recognising: float = 30.0
    encoding: float = 110.0
    """Features of content."""
    learning: float = 25.0
    """Training of a recogniser, all epochs."""
    comparing: float = 24.0
    """Pitch and loudness."""
    rating: float = 0.4
    """Seconds to rate the quality of a recording; at most 24 are rated."""
    attacking: float = 2.5
    """Seconds of one attack and its measures, besides the comparison of voices."""
    pairs: float = 6e7
    """Comparisons of two voices in a second, counted twice for each length."""
    starting: float = 3.0
    """Seconds that a worker takes to start and to load packages and networks."""


WORKER_MEMORY = 700_000_000
"""Bytes that a worker needs: networks, and one recording or one block of scores."""
BYTES_PER_SECOND = 20_000
"""Of anonymised speech, as FLAC at 16 kHz."""
VECTOR_BYTES = 900
"""Of an embedding with its names."""
CLIENT_BYTES_PER_UTTERANCE = 1_500
"""Memory of the process that starts the audit."""


@dataclass(frozen=True, slots=True)
class StageCost(Record):
    """The cost of one stage."""

    stage: str
    cpu_seconds: float
    parallel: bool
    """Whether the workers share it."""
    bytes_written: int = 0
    parts: int | None = None
    """Into how many parts it can be divided; None for more than there are workers."""

    def wall_seconds(self, workers: int) -> float:
        """Return how long it takes.

        Parameters
        ----------
        workers : int
            Cores that work at the same time.
        """
        if not self.parallel:
            return self.cpu_seconds
        return self.cpu_seconds / min(workers, self.parts or workers)


@dataclass(frozen=True, slots=True)
class AuditCost(Record):
    """The cost of an audit, if nothing of it is done yet."""

    stages: tuple[StageCost, ...]
    workers: int
    worker_memory: int
    """Bytes that each worker needs."""
    client_memory: int
    """Bytes that the process needs that starts the audit."""

    @property
    def cpu_seconds(self) -> float:
        """Processor time of all stages."""
        return sum(stage.cpu_seconds for stage in self.stages)

    @property
    def wall_seconds(self) -> float:
        """Time until the report, with workers of one core each that nothing else slows down."""
        return sum(stage.wall_seconds(self.workers) for stage in self.stages)

    @property
    def bytes_written(self) -> int:
        """Speech and embeddings in the folder of the audit."""
        return sum(stage.bytes_written for stage in self.stages)

    def lines(self) -> Iterator[str]:
        """Generate a table for a person."""
        for stage in self.stages:
            written = f", {stage.bytes_written / 1e9:,.2f} GB" if stage.bytes_written else ""
            where = "" if stage.parallel else " (not divided)"
            yield f"   {stage.stage}: {hours(stage.cpu_seconds)} of CPU time{written}{where}"
        yield (
            f"About {max(1, round(self.wall_seconds / 60)):,} min on {self.workers} cores "
            f"({hours(self.cpu_seconds)} of CPU time), {self.bytes_written / 1e9:,.2f} GB written, "
            f"{self.worker_memory / 1e9:.1f} GB a worker, {self.client_memory / 1e9:.1f} GB where "
            "it is started, if nothing is done yet."
        )


def hours(seconds: float) -> str:
    """Write a time for a person.

    Parameters
    ----------
    seconds : float
        The time.

    >>> hours(90), hours(7200)
    ('1.5 min', '2.0 h')
    """
    return f"{seconds / 60:,.1f} min" if seconds < 3600 else f"{seconds / 3600:,.1f} h"


@dataclass(frozen=True, slots=True)
class SpeechAmount:
    """How much speech there is of a kind."""

    seconds: float
    utterances: int
    speakers: int


@dataclass(frozen=True, slots=True)
class StudyAmounts:
    """What the cost of a study depends on."""

    enrol: SpeechAmount
    trial: SpeechAmount
    train: SpeechAmount

    @classmethod
    def of(cls, division: SpeechDivision) -> StudyAmounts:
        """Measure the parts of a corpus; the header of every recording is read.

        Parameters
        ----------
        division : SpeechDivision
            Enrolment, trials and training.
        """
        parts = (division.enrol.corpus, division.trial.corpus, division.train.corpus)
        enrol, trial, train = (
            SpeechAmount(total_seconds(part), len(part), len(part.speakers)) for part in parts
        )
        return cls(enrol, trial, train)


def estimate(
    study: Study,
    amounts: StudyAmounts,
    *,
    workers: int = 2,
    cluster: bool = False,
    rates: Rates | None = None,
) -> AuditCost:
    """Estimate the cost of an audit from measured rates.

    Parameters
    ----------
    study : Study
        The study.
    amounts : StudyAmounts
        Length and number of the recordings.
    workers : int, default 2
        Cores that work at the same time.
    cluster : bool, default False
        Whether they are those of a cluster, which also shares the attacks.
    rates : Rates, optional
        Default those that were measured.
    """
    rates = rates or Rates()
    enrol, trial, train = amounts.enrol, amounts.trial, amounts.train
    originals = enrol.seconds + trial.seconds + train.seconds
    utterances = enrol.utterances + trial.utterances + train.utterances
    stages = [
        StageCost("starting workers", rates.starting * workers, True),
        StageCost("reading", originals / rates.reading, True),
        StageCost(
            "embedding originals", originals / rates.embedding, True, utterances * VECTOR_BYTES
        ),
    ]
    for spec in study.anonymiser_specs:
        draws = _most_draws(study)
        speech = enrol.seconds + trial.seconds + draws * (enrol.seconds + train.seconds)
        count = enrol.utterances + trial.utterances + draws * (enrol.utterances + train.utterances)
        speed = rates.anonymising.get(spec.method, rates.anonymising_others)
        written = round(speech * BYTES_PER_SECOND)
        stages.append(StageCost(f"{spec.label}: anonymising", speech / speed, True, written))
        embedded = speech - enrol.seconds  # the operator's enrolment is not embedded
        vectors = (count - enrol.utterances) * VECTOR_BYTES
        stages.append(
            StageCost(f"{spec.label}: embedding", embedded / rates.embedding, True, vectors)
        )
        stages.append(StageCost(f"{spec.label}: utility", _utility(study, trial, rates), True))
        if study.utility.retrained:
            heard = 2 * (train.seconds + trial.seconds) / rates.encoding
            learnt = 2 * train.seconds / rates.learning
            stages.append(StageCost(f"{spec.label}: recognisers", heard + learnt, False))
    attacks = len(study.attacks) + len(study.linkages)
    pairs = 2 * len(study.lengths) * trial.utterances * enrol.speakers
    attacking = attacks * (rates.attacking + pairs / rates.pairs)
    stages.append(StageCost("attacking", attacking, cluster, parts=attacks))
    return AuditCost(
        tuple(stages), workers, WORKER_MEMORY, 500_000_000 + utterances * CLIENT_BYTES_PER_UTTERANCE
    )


def _utility(study: Study, trial: SpeechAmount, rates: Rates) -> float:
    """Seconds to measure the utility of one anonymiser, and its share of that of originals."""
    chosen = min(study.utility.utterances, trial.utterances)
    speech = chosen * trial.seconds / max(1, trial.utterances)
    total = 0.0
    if study.utility.f0:
        total += speech / rates.comparing
    if study.utility.wer:
        total += 2 * speech / rates.recognising
    if study.utility.quality:
        total += 2 * min(24, chosen) * rates.rating
    return total


def plan_lines(
    study: Study, folder: Path, *, workers: int = 2, cluster: bool = False
) -> Iterator[str]:
    """Generate the steps of an audit in order, and an estimate of its cost.

    Parameters
    ----------
    study : Study
        The study.
    folder : Path
        Folder of the audit; nothing is written.
    workers : int, default 2
        How many cores the estimate is for.
    cluster : bool, default False
        Whether they are those of a cluster.
    """
    corpora = open_corpora(study, folder)
    corpus, division = corpora.corpus, corpora.division
    trial, train = division.trial, division.train
    yield (
        f"1. read {len(corpus):,} recordings of {len(corpus.speakers)} speakers; attack "
        f"{len(trial.corpus.speakers)}, train on {len(train.corpus.speakers)} others"
        + (f"; leave out {len(division.left_out):,}" if division.left_out else "")
    )
    amounts = StudyAmounts.of(division)
    draws = _most_draws(study)
    speech = (
        amounts.enrol.seconds
        + amounts.trial.seconds
        + draws * (amounts.enrol.seconds + amounts.train.seconds)
    )
    for number, spec in enumerate(study.anonymiser_specs, 2):
        yield (
            f"{number}. {spec.label}: anonymise {speech / 60:.0f} min of speech, "
            f"{counted(len(study.attacks_on(spec)), 'attack')}"
        )
    yield from _unmeasured_limits(study, len(division.enrol.corpus.speakers))
    yield from estimate(study, amounts, workers=workers, cluster=cluster).lines()


def amounts_of(study: Study, folder: Path) -> StudyAmounts:
    """Measure how much speech a study works on.

    Parameters
    ----------
    study : Study
        The study.
    folder : Path
        Folder of the audit; nothing is written.
    """
    return StudyAmounts.of(open_corpora(study, folder).division)


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


def _most_draws(study: Study) -> int:
    """How many times attackers anonymise their speech; 0 where none does."""
    return max(
        attack.settings.draws if attack.attacker.anonymises else 0 for attack in study.attacks
    )
