"""Pitch of one speaker brought to that of another: by mean and spread, or by percentiles.

Only voiced frames (F0 above 0) are changed, and whether a frame is voiced never changes.
COMPRISE deliverable D2.3 (2021), equations 3 and 4.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.types import FloatArray

LOWEST, HIGHEST = 50.0, 600.0
"""Hertz between which mapped pitch stays."""
NARROWEST = 0.02
"""Least spread of log F0 that is believed: a third of a semitone; less would be blown up."""
ENOUGH = 20
"""Voiced frames from which on an utterance tells its own distribution."""


class LogPitch(NamedTuple):
    """Mean and standard deviation of log F0."""

    mean: float
    sd: float


def log_pitch(f0: FloatArray) -> LogPitch | None:
    """Mean and spread of the voiced frames; None where nothing is voiced."""
    logs = np.log(f0[f0 > 0])
    return LogPitch(float(logs.mean()), float(logs.std())) if len(logs) else None


def gaussian_pitch(f0: FloatArray, source: LogPitch, target: LogPitch) -> FloatArray:
    """log F0' = (log F0 − μ_o) / σ_o · σ_t + μ_t."""
    voiced = f0 > 0
    stretch = target.sd / max(source.sd, NARROWEST)
    logs = (np.log(f0[voiced]) - source.mean) * stretch + target.mean
    mapped = f0.copy()
    mapped[voiced] = np.exp(np.clip(logs, np.log(LOWEST), np.log(HIGHEST)))
    return mapped


def percentile_pitch(
    f0: FloatArray, target: FloatArray, *, source: FloatArray | None = None
) -> FloatArray:
    """F0' = F_t⁻¹(F_o(F0)): each frame takes the target's pitch of the same percentile.

    ``target`` and ``source`` are F0 values or evenly spaced percentiles of the two speakers. The
    distribution F_o is that of the utterance; with fewer than 20 voiced frames it is ``source``'s,
    since a single syllable would be stretched over the whole range of the target otherwise. With
    neither, the utterance's median goes to the target's and its shape is kept.
    """
    voiced = f0 > 0
    target = np.sort(target[target > 0])
    if not voiced.any() or not len(target):
        return f0.copy()
    own = f0[voiced]
    if len(own) < ENOUGH:
        known = source[source > 0] if source is not None else own[:0]
        if len(known) < 2:
            return _to_median(f0, voiced, float(np.median(target)))
        own = known
    mapped = f0.copy()
    mapped[voiced] = np.interp(_share_below(f0[voiced], own), _shares(target), target)
    return mapped


def _to_median(f0: FloatArray, voiced: NDArray[np.bool_], median: float) -> FloatArray:
    mapped = f0.copy()
    mapped[voiced] = np.clip(f0[voiced] * (median / np.median(f0[voiced])), LOWEST, HIGHEST)
    return mapped


def _share_below(values: FloatArray, sample: FloatArray) -> FloatArray:
    """F(x) of a sample: 0 at its lowest, 1 at its highest, straight between; ties in their middle.

    The exact inverse of reading percentiles off the sample, so that a speaker mapped onto
    themselves stays as they are.
    """
    ordered = np.sort(sample)
    distinct, first, count = np.unique(ordered, return_index=True, return_counts=True)
    middle = _shares(ordered)[first] + (count - 1) / 2 / max(len(ordered) - 1, 1)
    return np.asarray(np.interp(values, distinct, middle))


def _shares(ordered: FloatArray) -> FloatArray:
    return np.linspace(0, 1, len(ordered)) if len(ordered) > 1 else np.full(1, 0.5)
