"""All score measures of one set of scores, each with interval, chance level and direction."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.core.errors import InputError, SottovoceError
from sottovoce.core.types import Progress
from sottovoce.measure.catalogue import MEASURES, Evidence, Measure
from sottovoce.measure.disclosure import (
    TAGS,
    attainable,
    chance_worst_case,
    tag_of,
    worst_case_of,
)
from sottovoce.measure.intervals import (
    MIN_SPEAKERS,
    MIN_TRIALS,
    Interval,
    by_speaker,
    enough,
    interval_of,
    mated_speakers,
    resample,
)
from sottovoce.measure.linkability import (
    default_bins,
    linkability,
)
from sottovoce.measure.scarce import least_apart, of_share, reaching
from sottovoce.measure.scores import ScoreSource
from sottovoce.measure.tally import Tally
from sottovoce.measure.verification import (
    eer,
)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with everything needed to read it; ``value`` is None where data were too few."""

    value: float | None
    low: float | None
    high: float | None
    chance: float | None
    direction: str
    n_mated: int
    n_nonmated: int
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """By name; ``low`` and ``high`` only where there is an interval, ``note`` if any."""
        entry = {name: getattr(self, name) for name in self.__slots__}
        optional = [name for name in ("low", "high") if entry[name] is None]
        optional += [] if self.note else ["note"]
        return {name: value for name, value in entry.items() if name not in optional}


@dataclass(frozen=True, slots=True)
class Resampling:
    """How the intervals were made."""

    confidence: float
    unit: str
    """``speaker`` or ``trial``."""
    count: int
    """How many speakers (or trials) were resampled."""
    replicates: int

    def to_dict(self) -> dict[str, Any]:
        """By name."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class ScoreSummary:
    """Every score measure of one set of scores."""

    name: str
    n_mated: int
    n_nonmated: int
    measures: dict[str, Estimate]
    tag: str
    attainable_log10_lr: float
    """The largest worst case this many scores could have shown."""
    resampling: Resampling | None
    warnings: tuple[str, ...] = ()
    """What has to be known before any of the numbers is used."""

    def to_dict(self) -> dict[str, Any]:
        """What ``sottovoce measure --json`` prints, without provenance."""
        return {
            "n_mated": self.n_mated,
            "n_nonmated": self.n_nonmated,
            "measures": {name: one.to_dict() for name, one in self.measures.items()},
            "tag": self.tag,
            "tag_meaning": TAGS[self.tag],
            "attainable_log10_lr": self.attainable_log10_lr,
            "interval": self.resampling.to_dict() if self.resampling else None,
            "warnings": list(self.warnings),
        }


def measure_scores(
    scores: ScoreSource,
    *,
    interval: float | None = 0.95,
    replicates: int | None = None,
    only: Iterable[str] | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> ScoreSummary:
    """Compute every score measure (or those in ``only``) of a set of scores.

    Parameters
    ----------
    interval
        Confidence of the intervals, between 0 and 1; None for no intervals.
    replicates
        Resamples behind the intervals; default 1,000, fewer (200 at least) for very large sets.
    seed
        Of the resamples and shuffles: the same seed gives the same intervals.

    >>> from sottovoce.measure import Scores, measure_scores
    >>> summary = measure_scores(Scores([2.0, 3.0, 4.0], [0.0, 1.0, 2.5]), interval=None)
    >>> round(summary.measures["eer"].value, 3)
    0.333
    """
    if interval is not None and not 0.0 < interval < 1.0:
        raise InputError(f"interval {interval}: must lie between 0 and 1, e.g. 0.95")
    chosen = [MEASURES[name] for name in (MEASURES if only is None else only)]
    refusals = {one.name: reason for one in chosen if (reason := _refusal(one, scores))}
    usable = [one for one in chosen if one.name not in refusals]
    names = {one.name for one in usable}
    bins = default_bins(len(scores.mated)) if "linkability" in names else 0
    tally = Tally.of(scores, bins=bins, costs="cllr" in names)
    evidence = Evidence(tally)
    values = {one.name: one.compute(evidence) for one in usable}
    resampling = None
    ranges: dict[str, Interval] = {}
    if interval is not None and enough(scores):
        resampling = _plan(scores, interval, replicates)
        ranges = _ranges(scores, tally, usable, values, resampling, seed, progress)
    chances = _chances(usable, tally, seed)
    estimates = {
        one.name: _estimate(one, scores, values, ranges, chances, refusals) for one in chosen
    }
    return ScoreSummary(
        name=scores.name,
        n_mated=len(scores.mated),
        n_nonmated=scores.n_nonmated,
        measures=estimates,
        tag=tag_of(worst_case_of(evidence.blocks)),
        attainable_log10_lr=attainable(tally),
        resampling=resampling,
        warnings=tuple(_warnings(scores, tally, interval, ranges.get("eer"))),
    )


def _refusal(measure: Measure, scores: ScoreSource) -> str:
    """Why this number cannot be computed from these scores; empty if it can."""
    try:
        measure.check(scores)
    except SottovoceError as error:
        return str(error)
    return ""


def _plan(scores: ScoreSource, confidence: float, replicates: int | None) -> Resampling:
    trials = len(scores.mated) + scores.n_nonmated
    speakers = scores.speakers.count if scores.speakers and by_speaker(scores) else 0
    if replicates is None:
        replicates = max(200, min(1000, 2 * 10**9 // trials)) if speakers else 1000
    if replicates < 20:
        raise InputError(f"{replicates} resamples; an interval needs at least 20")
    unit, count = ("speaker", speakers) if speakers else ("trial", trials)
    return Resampling(confidence, unit, count, replicates)


def _ranges(
    scores: ScoreSource,
    tally: Tally,
    measures: list[Measure],
    values: dict[str, float],
    plan: Resampling,
    seed: int,
    progress: Progress | None,
) -> dict[str, Interval]:
    draws = np.empty((plan.replicates, len(measures)))
    rng = np.random.default_rng(seed)
    for i, drawn in enumerate(resample(scores, tally, replicates=plan.replicates, rng=rng)):
        evidence = Evidence(drawn)
        draws[i] = [one.compute(evidence) for one in measures]
        if progress:
            progress(i + 1, plan.replicates)
    found = {
        one.name: interval_of(
            values[one.name],
            draws[:, i],
            plan.confidence,
            method=one.method,
            bounds=one.bounds,
        )
        for i, one in enumerate(measures)
    }
    still = [one for i, one in enumerate(measures) if np.ptp(draws[:, i]) == 0]
    return found | _unvaried(scores, tally, still, values, found, plan)


def _unvaried(
    scores: ScoreSource,
    tally: Tally,
    measures: list[Measure],
    values: dict[str, float],
    found: dict[str, Interval],
    plan: Resampling,
) -> dict[str, Interval]:
    """Intervals of those measures that every resample repeats, as wide as the doubt is."""
    by_voice = plan.unit == "speaker" and scores.speakers is not None
    units = mated_speakers(scores) if by_voice else min(len(scores.mated), scores.n_nonmated)
    least = Evidence(least_apart(tally, units, plan.confidence)) if eer(tally) == 0 else None
    wider = {}
    for one in measures:
        value = values[one.name]
        if one.scarce == "apart" and least is not None:
            wider[one.name] = reaching(found[one.name], one.compute(least))
        elif one.scarce == "share" and value in (0, 1):
            wider[one.name] = of_share(value, units, plan.confidence)
    return wider


def _chances(measures: list[Measure], tally: Tally, seed: int) -> dict[str, float]:
    """Chance levels; those of a histogram and of a maximum depend on how many scores there are."""
    chances = {one.name: one.chance for one in measures}
    if "linkability" in chances:
        rng = np.random.default_rng([seed, 1])
        chances["linkability"] = linkability(tally, rng=rng).chance
    if "worst_case_log10_lr" in chances:
        rng = np.random.default_rng([seed, 2])
        chances["worst_case_log10_lr"] = chance_worst_case(tally, rng)
    return chances


def _estimate(
    measure: Measure,
    scores: ScoreSource,
    values: dict[str, float],
    ranges: dict[str, Interval],
    chances: dict[str, float],
    refusals: dict[str, str],
) -> Estimate:
    name = measure.name
    spread = ranges.get(name)
    return Estimate(
        value=values.get(name),
        low=spread.low if spread else None,
        high=spread.high if spread else None,
        chance=chances.get(name),
        direction=measure.direction,
        n_mated=len(scores.mated),
        n_nonmated=scores.n_nonmated,
        note=refusals.get(name) or measure.remark,
    )


def _warnings(
    scores: ScoreSource, tally: Tally, interval: float | None, spread: Interval | None
) -> list[str]:
    found = []
    doubt = math.sqrt(1 / len(scores.mated) + 1 / scores.n_nonmated)  # two standard errors at 50 %
    if (spread.low if spread else eer(tally) - doubt) > 0.5:
        found.append(
            "EER above 50 %: the scores point the wrong way (distances instead of similarities, or "
            "labels swapped?); an adversary may simply turn them round, and threshold measures "
            "show next to nothing"
        )
    if interval is not None and not enough(scores):
        found.append(f"fewer than {MIN_TRIALS} trials of one kind: too few for intervals")
    elif interval is not None and scores.speakers and not by_speaker(scores):
        found.append(
            f"mated trials of {mated_speakers(scores)} speakers: intervals by speaker need "
            f"{MIN_SPEAKERS}, so they are by trial and likely too narrow"
        )
    return found
