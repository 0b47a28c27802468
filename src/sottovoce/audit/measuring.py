"""What is measured of one attack: scores, curves and re-identification."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from sottovoce.attack import EmbeddingSets
from sottovoce.attack.artifacts import SCORES
from sottovoce.audit.study import PlannedAttack, Study
from sottovoce.core.errors import SottovoceError
from sottovoce.core.records import Record
from sottovoce.core.types import IntArray
from sottovoce.corpus.utterance import Corpus
from sottovoce.findings import (
    AttackRecord,
    AttackRow,
    AttributeInference,
    GroupRisk,
    Groups,
    NotMeasured,
    OriginalsFinding,
    OriginalsRecord,
    Reidentification,
    ScoreCurves,
    ScoreSummary,
    Similarity,
)
from sottovoce.measure import (
    ReidentificationSettings,
    measure_scores,
    reidentify,
    score_curves,
    similarity,
)
from sottovoce.measure.readers import read_scores
from sottovoce.speaker.embeddings import Embeddings
from sottovoce.speaker.linkage_functions import LinkageFunction


@dataclass(frozen=True, slots=True)
class Measurement(Record):
    """Everything that is computed from the scores and embeddings of an attack."""

    scores: ScoreSummary
    curves: ScoreCurves
    reidentification: Reidentification


def measure_attack(
    folder: Path, enrol: Embeddings, trial: Embeddings, linkage: LinkageFunction, study: Study
) -> Measurement:
    """Measure an attack from the scores that it left.

    Parameters
    ----------
    folder : Path
        Of the attack, or of the attack on originals.
    enrol : Embeddings
        Enrolment recordings of the attack.
    trial : Embeddings
        Trial recordings of the attack.
    linkage : LinkageFunction
        The trained linkage function of the attack.
    study : Study
        Conversation lengths, populations, confidence and seed.
    """
    scores = read_scores(folder / SCORES)
    settings = ReidentificationSettings(
        lengths=_possible_lengths(study.lengths, trial.counts),
        populations=_possible_populations(study.populations, len(enrol.names)),
        confidence=study.interval,
        seed=study.seed,
    )
    return Measurement(
        scores=measure_scores(scores, interval=study.interval, seed=study.seed),
        curves=score_curves(scores),
        reidentification=reidentify(enrol, trial, linkage, settings=settings),
    )


def _possible_lengths(lengths: Sequence[int], counts: IntArray) -> tuple[int, ...]:
    """Lengths that some speaker has enough utterances for; at least the shortest."""
    most = int(np.max(counts))
    return tuple(length for length in lengths if length <= most) or (min(lengths),)


def _possible_populations(
    populations: Sequence[int] | None, n_speakers: int
) -> tuple[int, ...] | None:
    if populations is None:
        return None
    return tuple(sorted({min(population, n_speakers) for population in populations}))


def measured_populations(study: Study, n_speakers: int) -> list[int]:
    """Return the population sizes that figures are measured for.

    Parameters
    ----------
    study : Study
        May name sizes; by default they follow from the number of speakers.
    n_speakers : int
        Enrolled speakers.
    """
    settings = ReidentificationSettings(
        populations=_possible_populations(study.populations, n_speakers)
    )
    return settings.sizes(n_speakers)


def attack_row(
    planned: PlannedAttack,
    folder: Path,
    record: AttackRecord,
    measurement: Measurement,
    groups: Groups,
    attributes: dict[str, AttributeInference | NotMeasured],
) -> AttackRow:
    """Put together the row of one attack.

    Parameters
    ----------
    planned : PlannedAttack
        Anonymiser, attacker and linkage function as the study names them.
    folder : Path
        Of the attack, relative to that of the audit.
    record : AttackRecord
        How good the attacker was.
    measurement : Measurement
        What was measured.
    groups : Groups
        Risk of groups of speakers.
    attributes : dict
        Attributes that were inferred.
    """
    return AttackRow(
        anonymiser=planned.anonymiser.label,
        method=planned.anonymiser.method,
        settings=dict(planned.anonymiser.settings),
        attacker=planned.attacker.name,
        attacker_summary=planned.attacker.summary,
        attacker_rank=planned.attacker.rank,
        encoder=planned.settings.encoder,
        representation=record.representation,
        draws=record.draws,
        linkage=planned.linkage,
        linked_with=record.trained.name,
        techniques=record.techniques,
        unavailable=record.unavailable,
        evidence=record.evidence,
        trained=record.trained,
        trust=record.trust,
        folder=folder.as_posix(),
        score_file=(folder / SCORES).as_posix(),
        scores=measurement.scores,
        curves=measurement.curves,
        reidentification=measurement.reidentification,
        groups=groups,
        attributes=attributes,
    )


def originals_finding(
    linkage: str, folder: Path, record: OriginalsRecord, measurement: Measurement
) -> OriginalsFinding:
    """Put together what a linkage function does to originals.

    Parameters
    ----------
    linkage : str
        As the study names it.
    folder : Path
        Of the attack on originals, relative to that of the audit.
    record : OriginalsRecord
        How the linkage function was trained.
    measurement : Measurement
        What was measured.
    """
    return OriginalsFinding(
        linkage=linkage,
        linked_with=record.trained.name,
        score_file=(folder / SCORES).as_posix(),
        scores=measurement.scores,
        curves=measurement.curves,
        reidentification=measurement.reidentification,
    )


def similarity_of_trials(sets: EmbeddingSets, confidence: float) -> Similarity | NotMeasured:
    """Compare the trials before and after anonymisation.

    Parameters
    ----------
    sets : EmbeddingSets
        Original and released trials are used.
    confidence : float
        Of the intervals, between 0 and 1.

    Returns
    -------
    Similarity or NotMeasured
        DeID, G_VD and the matrices, or why there are none.
    """
    try:
        result = similarity(
            sets["trial", "original"], sets["trial", "released"], interval=confidence
        )
    except SottovoceError as error:
        return NotMeasured(str(error))
    return replace(result, name="trials")


def group_risks(reidentification: Reidentification, corpus: Corpus) -> Groups:
    """Average the risk of the speakers of each gender, at the shortest conversation length.

    Parameters
    ----------
    reidentification : Reidentification
        With the risk of each speaker.
    corpus : Corpus
        With the gender of the speakers; those without one are left out.
    """
    gender = {utterance.speaker: utterance.gender for utterance in corpus if utterance.gender}
    shortest = min((risk.length for risk in reidentification.speakers), default=1)
    by_gender: dict[str, list[float]] = {}
    for risk in reidentification.speakers:
        if risk.length == shortest and risk.speaker in gender:
            by_gender.setdefault(gender[risk.speaker], []).append(risk.linkability)
    return {
        "gender": {
            name: GroupRisk(len(risks), float(np.mean(risks)))
            for name, risks in sorted(by_gender.items())
        }
    }
