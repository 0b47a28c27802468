"""Results in plain words: who could do what to whom, how often, against guessing.

A single result is never good news: that one attacker finds no evidence does not mean that there is
none. What is said of a whole audit is in :mod:`.audit_verdicts`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sottovoce.findings import (
    CurvePoint,
    Estimate,
    Reidentification,
    ScoreSummary,
    Similarity,
)
from sottovoce.measure.catalogue import MEASURES
from sottovoce.report.formats import interval_in_brackets, percent, speech_of_length
from sottovoce.report.similarity import standing_out

MEASURE = "eer"
"""The score measure that speaks where nobody was looked for in a population."""
JUDGED = (MEASURE, "d_sys_corrected")
"""The score measures that are judged: by a threshold, and without one."""

Kind = Literal["bad", "doubt", "good"]
"""``bad``: people are found again; ``doubt``: nothing can be concluded; ``good``: neither."""

_STRONGER = "A stronger attacker may still find some."


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is said first about a result."""

    kind: Kind
    headline: str
    finding: str
    """The number behind it, against guessing."""
    further: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    """Why attackers are too weak to be trusted, those that are."""


# ------------------------------------------------------------------------- what is evidence


def headline_point(points: Sequence[CurvePoint]) -> CurvePoint | None:
    """Return the point for the shortest conversations in the largest population.

    Parameters
    ----------
    points : sequence of CurvePoint
        A curve; None is returned for an empty one.
    """
    if not points:
        return None
    shortest = min(point.length for point in points)
    return max(
        (point for point in points if point.length == shortest),
        key=lambda point: point.population,
    )


def point_discloses(point: CurvePoint | None) -> bool:
    """Return whether a point surely lies above guessing.

    Parameters
    ----------
    point : CurvePoint or None
        Its whole interval must lie above chance; without an interval, its value.
    """
    if point is None:
        return False
    bound = point.value if point.low is None else point.low
    return bound > max(point.chance, point.no_evidence or 0.0)


def estimate_discloses(name: str, estimate: Estimate | None) -> bool:
    """Return whether a measure surely lies on the disclosing side of chance.

    Parameters
    ----------
    name : str
        The measure, which knows its direction.
    estimate : Estimate or None
        Its whole interval must lie beyond chance; without an interval, its value.
    """
    if estimate is None or estimate.value is None:
        return False
    measure = MEASURES[name]
    chance = measure.chance if estimate.chance is None else estimate.chance
    if measure.lower_discloses:
        return (estimate.value if estimate.high is None else estimate.high) < chance
    return (estimate.value if estimate.low is None else estimate.low) > chance


def scores_disclose(summary: ScoreSummary) -> bool:
    """Return whether any score measure that is judged surely lies on the disclosing side of chance.

    Parameters
    ----------
    summary : ScoreSummary
        Measures of a score set; those that are missing disclose nothing.
    """
    return any(estimate_discloses(name, summary.measures.get(name)) for name in JUDGED)


# --------------------------------------------------------------------------- single results


def scores_verdict(summary: ScoreSummary) -> Verdict | None:
    """Say whether scores tell pairs of one speaker from pairs of two.

    Parameters
    ----------
    summary : ScoreSummary
        Measures of a score set; None is returned if the EER is not among them.
    """
    estimate = summary.measures.get(MEASURE)
    if estimate is None or estimate.value is None:
        return None
    numbers = eer_sentence("A threshold", estimate)
    linked = d_sys_sentence(summary.measures.get("d_sys_corrected"))
    numbers = f"{numbers} {linked}".rstrip()
    if scores_disclose(summary):
        return Verdict("bad", "These scores tell who is who.", numbers)
    return Verdict("doubt", "These scores show no evidence.", f"{numbers} {_STRONGER}")


def similarity_verdict(result: Similarity) -> Verdict:
    """Say whether anonymised voices are still like themselves.

    Parameters
    ----------
    result : Similarity
        Voices before and after anonymisation.
    """
    count = len(standing_out(result))
    if count:
        return Verdict(
            "bad",
            "Voices are still like themselves.",
            f"{count:,} of {result.n_speakers:,} anonymised voices are clearly nearer to their own "
            "originals than to other people's.",
        )
    return Verdict(
        "doubt",
        "Voices are no longer like themselves.",
        f"None of {result.n_speakers:,} anonymised voices is clearly nearer to its own original. "
        f"{_STRONGER}",
    )


def reidentification_verdict(result: Reidentification) -> Verdict | None:
    """Say whether people are found again in the largest population.

    Parameters
    ----------
    result : Reidentification
        Curves over population size; None is returned if Linkability is not among them.
    """
    if not result.linkability:
        return None
    worst = max(result.linkability, key=lambda point: (point.population, point.value))
    numbers = f"{linkability_sentence('This attacker', worst)}."
    if point_discloses(worst):
        return Verdict("bad", "People are found again.", numbers)
    return Verdict(
        "doubt", "People are not found more often than by guessing.", f"{numbers} {_STRONGER}"
    )


def linkability_sentence(attacker: str, point: CurvePoint) -> str:
    """Say how often the right person is named, without the full stop.

    Parameters
    ----------
    attacker : str
        The subject of the sentence.
    point : CurvePoint
        Linkability at one length and population.
    """
    return (
        f"{attacker} names the right one of {point.population:,} people for "
        f"{percent(point.value)}{interval_in_brackets(point.low, point.high)} of "
        f"{speech_of_length(point.length)}. Guessing names {percent(point.chance)}"
    )


def eer_sentence(attacker: str, estimate: Estimate) -> str:
    """Say how well pairs of one speaker are told from pairs of two.

    Parameters
    ----------
    attacker : str
        The subject of the sentence.
    estimate : Estimate
        The EER.
    """
    chance = MEASURES[MEASURE].chance if estimate.chance is None else estimate.chance
    return (
        f"{attacker} tells pairs of one speaker from others with an equal error rate (EER) of "
        f"{percent(estimate.value)}{interval_in_brackets(estimate.low, estimate.high)}; guessing: "
        f"{percent(chance)}."
    )


def d_sys_sentence(estimate: Estimate | None) -> str:
    """Say how far same-speaker scores stand out, without a threshold; empty if not measured.

    Parameters
    ----------
    estimate : Estimate or None
        The corrected D_sys.
    """
    if estimate is None or estimate.value is None:
        return ""
    ends = "" if estimate.low is None else f" ({estimate.low:.2f} to {estimate.high:.2f})"
    return (
        f"Without a threshold, scores of one speaker stand out by D_sys {estimate.value:.2f}"
        f"{ends}, corrected for the bias of its histogram; guessing: 0."
    )
