"""Simulated scores of several systems on the same speakers and trials."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sottovoce.measure import Scores, Speakers


def paired_systems(
    distances: Sequence[float],
    *,
    speakers: int = 20,
    utterances: int = 10,
    seed: int = 0,
    shared: float = 0.8,
    named: bool = True,
) -> list[Scores]:
    """Score sets whose speakers and trials are the same, one per distance of the classes.

    ``shared`` is the share of the variance of speakers and trials that all systems have in common.
    """
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(speakers), utterances)
    enrol, trial = np.where(~np.eye(speakers, dtype=bool))
    common = [rng.normal(0, 1, size) for size in (speakers, len(who), len(enrol))]
    names = np.array([f"s{k:03d}" for k in range(speakers)])
    numbers = Speakers(who, enrol, trial, speakers, names if named else None)
    sets = []
    for number, distance in enumerate(distances):
        ease, mated, nonmated = (
            np.sqrt(shared) * part + np.sqrt(1 - shared) * rng.normal(0, 1, len(part))
            for part in common
        )
        sets.append(
            Scores(
                distance + 0.5 * ease[who] + 0.85 * mated,
                0.3 * (ease[enrol] + ease[trial]) + 0.85 * nonmated,
                speakers=numbers,
                name=f"system {number}",
            )
        )
    return sets
