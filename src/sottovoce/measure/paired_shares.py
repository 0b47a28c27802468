"""Differences between shares that are known for each speaker, such as Linkability."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from math import hypot

import numpy as np

from sottovoce.core.types import FloatArray
from sottovoce.findings import PairedDifference
from sottovoce.measure.intervals import Interval, check_confidence, share_interval
from sottovoce.measure.joint_draws import simultaneous_half_widths
from sottovoce.measure.resampling import MIN_SPEAKERS, draw_weights


def compare_shares(
    shares: Mapping[str, Mapping[str, float]],
    *,
    interval: float = 0.95,
    replicates: int = 1000,
    seed: int = 0,
) -> tuple[PairedDifference, ...]:
    """Compute the differences of mean shares between all pairs of systems, speaker by speaker.

    Parameters
    ----------
    shares : mapping of str to mapping of str to float
        By system and speaker, from 0 to 1; a higher share discloses more. Speakers whom not all
        systems have are left out.
    interval : float, default 0.95
        Confidence with which the intervals of all pairs hold together, between 0 and 1.
    replicates : int, default 1000
        Resamples of speakers.
    seed : int, default 0
        Of the resamples.

    Returns
    -------
    tuple of PairedDifference
        One per pair of systems; without interval if fewer than five speakers are common.

    Examples
    --------
    >>> risks = {"a": dict.fromkeys("uvwxyz", 0.9), "b": dict.fromkeys("uvwxyz", 0.1)}
    >>> round(compare_shares(risks)[0].value, 3)
    0.8
    """
    check_confidence(interval)
    systems = list(shares)
    common = sorted(set.intersection(*(set(by_speaker) for by_speaker in shares.values())))
    pairs = list(combinations(range(len(systems)), 2))
    if len(common) < MIN_SPEAKERS:
        note = f"{len(common)} speakers in common; an interval needs {MIN_SPEAKERS}"
        return tuple(_without_interval(systems[i], systems[j], note) for i, j in pairs)
    table = np.array([[shares[name][speaker] for speaker in common] for name in systems])
    weights = draw_weights(len(common), np.random.default_rng(seed), replicates)
    means, draws = table.mean(axis=1), table @ weights / len(common)
    differences = np.stack([draws[i] - draws[j] for i, j in pairs], axis=1)
    by_speaker = np.stack([table[i] - table[j] for i, j in pairs], axis=1)
    errors = by_speaker.std(axis=0, ddof=1) / np.sqrt(len(common))
    degrees = np.full(len(pairs), len(common) - 1.0)
    widths = simultaneous_half_widths(errors, by_speaker, interval, degrees)
    return tuple(
        _difference((systems[i], systems[j]), table[[i, j]], means[[i, j]], column, width, interval)
        for (i, j), column, width in zip(pairs, differences.T, widths.tolist(), strict=True)
    )


def _without_interval(first: str, second: str, note: str) -> PairedDifference:
    return PairedDifference(first, second, None, None, None, note=note)


def _difference(
    names: tuple[str, str],
    table: FloatArray,
    means: FloatArray,
    draws: FloatArray,
    width: float,
    confidence: float,
) -> PairedDifference:
    first, second = means.tolist()
    reach_first, reach_second = (_reach(shares, confidence) for shares in table)
    below = hypot(width, reach_first[0], reach_second[1])
    above = hypot(width, reach_first[1], reach_second[0])
    ends = Interval(max(first - second - below, -1.0), min(first - second + above, 1.0))
    more = None
    if not ends.low <= 0 <= ends.high:
        more = names[0] if ends.low > 0 else names[1]
    return PairedDifference(
        *names,
        first_value=first,
        second_value=second,
        value=first - second,
        low=ends.low,
        high=ends.high,
        share_below=float(np.mean(draws < 0)),
        share_above=float(np.mean(draws > 0)),
        discloses_more=more,
    )


def _reach(shares: FloatArray, confidence: float) -> tuple[float, float]:
    """How far a share that all speakers have may lie below and above; elsewhere nothing."""
    if np.ptp(shares) > 0:
        return 0.0, 0.0
    interval = share_interval(shares, confidence)
    return float(shares[0]) - interval.low, interval.high - float(shares[0])
