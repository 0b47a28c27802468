"""Warnings about results: a code for programs and a sentence for people."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sottovoce.findings import Resampling
from sottovoce.measure.intervals import Interval
from sottovoce.measure.resampling import MIN_SPEAKERS, MIN_TRIALS, by_speaker, mated_speakers
from sottovoce.measure.scores import ScoreSource
from sottovoce.measure.tally import Tally
from sottovoce.measure.verification import eer

FEW_SPEAKERS = 30
"""With fewer speakers, a kind of speaker that is one in ten is easily missing altogether."""
EXPOSED_FEW = (
    "in simulations of 20 speakers, 95 % intervals of Cllr_min and D_ECE then held the true value "
    "in 91 % of the sets, and all others disclosed more than their intervals say"
)
"""What simulations of few exposed speakers showed; docs/intervals.md has the table."""

FALSE_ALARMS = (
    "in simulations of 20 speakers, differences between equal systems were claimed in up to 7 % of "
    "the sets instead of 5 %"
)
"""What simulations of equal systems showed; docs/comparing.md has the table."""
FOUND_NEARLY_ALWAYS = (
    "in simulations of 20 speakers, 95 % intervals of shares such as Linkability then held the "
    "true value in 90 % of the sets, and all others disclosed more; where all speakers are found "
    "nearly always, those of the worst rank disclosure held in 86 %, and all others disclosed less"
)
"""What simulations of re-identification showed."""


@dataclass(frozen=True, slots=True)
class Caution:
    """A warning: a code for programs and a sentence for people."""

    code: str
    message: str


def few_speakers(speakers: int, *, simulated: str = "") -> list[Caution]:
    """Warn that intervals over few speakers do not cover a rare kind of speaker.

    Parameters
    ----------
    speakers : int
        How many speakers have mated trials.
    simulated : str, optional
        What simulations showed about the intervals in question, as the rest of a sentence.

    Returns
    -------
    list of Caution
        ``few-speakers`` with fewer than 30, otherwise nothing.
    """
    if speakers >= FEW_SPEAKERS:
        return []
    message = (
        f"mated trials of {speakers} speakers only: where one speaker in ten is much more exposed "
        f"than the others, {0.9**speakers:.0%} of such sets hold none of them, and the intervals "
        "do not cover what was never seen"
    )
    return [Caution("few-speakers", f"{message}; {simulated}" if simulated else message)]


def score_warnings(
    scores: ScoreSource,
    tally: Tally,
    plan: Resampling | None,
    confidence: float | None,
    eer_interval: Interval | None,
) -> list[Caution]:
    """Collect the warnings about a set of scores and its intervals.

    Parameters
    ----------
    scores : ScoreSource
        The scores.
    tally : Tally
        Their counts.
    plan : Resampling or None
        How the scores were resampled, if they were.
    confidence : float or None
        Of the intervals that were asked for; None without intervals.
    eer_interval : Interval or None
        Of the EER, if there is one.

    Returns
    -------
    list of Caution
        ``wrong-way``, ``too-few-trials``, ``speakers-unknown``, ``too-few-speakers`` and
        ``few-speakers``, those that apply.
    """
    cautions = []
    two_errors = math.sqrt(1 / len(scores.mated) + 1 / scores.n_nonmated)  # standard, at EER 50 %
    if (eer_interval.low if eer_interval else eer(tally) - two_errors) > 0.5:
        cautions.append(
            Caution(
                "wrong-way",
                "EER above 50 %: the scores point the wrong way (distances instead of "
                "similarities, or labels swapped?); an adversary may simply turn them round, and "
                "threshold measures show next to nothing",
            )
        )
    if confidence is not None:
        cautions += _about_intervals(scores, plan)
    return cautions


def comparison_warnings(
    sets: Sequence[ScoreSource], paired_by_trial: bool, plan: Resampling | None
) -> list[Caution]:
    """Collect the warnings about the intervals of differences between score sets.

    Parameters
    ----------
    sets : sequence of ScoreSource
        The score sets, as they are compared.
    paired_by_trial : bool
        Whether trials are resampled together, since speakers are unknown.
    plan : Resampling or None
        How the sets were resampled, if they were.

    Returns
    -------
    list of Caution
        ``too-few-trials``, ``speakers-unknown`` and ``few-speakers``, those that apply.
    """
    if plan is None:
        return [_too_few_trials()]
    if paired_by_trial:
        message = (
            "the intervals of differences are too narrow unless no two trials share a speaker: "
            "speakers are unknown, so trials were paired as if they were independent; name the "
            "speakers"
        )
        return [Caution("speakers-unknown", message)]
    if plan.unit != "speaker":
        return []
    return few_speakers(min(map(mated_speakers, sets)), simulated=FALSE_ALARMS)


def _too_few_trials() -> Caution:
    message = f"fewer than {MIN_TRIALS} trials of one kind: too few for intervals"
    return Caution("too-few-trials", message)


def _about_intervals(scores: ScoreSource, plan: Resampling | None) -> list[Caution]:
    if plan is None:
        return [_too_few_trials()]
    speakers = mated_speakers(scores)
    if scores.speakers is None:
        return [
            Caution(
                "speakers-unknown",
                "the intervals are too narrow unless no two trials share a speaker: speakers are "
                "unknown, so trials were resampled. In simulations of 20 speakers such 95 % "
                "intervals held the true value in about three sets of four, those of Cllr, DCF and "
                "error rates at a threshold in as few as one of four; name the speakers",
            )
        ]
    if not by_speaker(scores):
        return [
            Caution(
                "too-few-speakers",
                f"mated trials of {speakers} speakers: intervals by speaker need {MIN_SPEAKERS}, "
                "so they are by trial and too narrow",
            )
        ]
    return few_speakers(speakers, simulated=EXPOSED_FEW)
