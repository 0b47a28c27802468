"""Pseudo-phonetic classes: the typical spectra of a voice, found without knowing the words.

Envelopes of active frames are compared in the log domain without their level, so that loud frames
do not rule, and grouped by k-means. Sündermann and Ney 2003.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce.anonymise.voice.pitch import LogPitch
from sottovoce.core.types import FloatArray
from sottovoce.signal.world import BINS

STEP = 4
"""Every fourth bin of an envelope is looked at; WORLD's envelopes are smooth."""
SHAPE_BINS = (BINS - 1) // STEP + 1
CLASSES = 8
ACTIVE = 0.06
"""Share of the mean energy above which a frame counts as active."""
ROUNDS = 30


@dataclass(frozen=True, slots=True)
class VoiceModel:
    """What is known of a speaker: typical spectra and pitch."""

    name: str
    classes: FloatArray
    """Classes × bins: log envelopes without their level; none if nothing was active."""
    pitch: LogPitch | None
    """None where nothing was voiced."""


def active(envelope: FloatArray) -> NDArray[np.bool_]:
    """Which frames have enough energy to be speech."""
    energy = envelope[:, ::STEP].sum(axis=1)
    return np.asarray(energy > ACTIVE * energy.mean())


def shapes(logs: FloatArray) -> FloatArray:
    """Log envelopes of few bins, without their level."""
    few = logs[:, ::STEP]
    return np.asarray(few - few.mean(axis=1, keepdims=True))


def nearest(points: FloatArray, centres: FloatArray) -> NDArray[np.intp]:
    """The index of the closest centre for each point."""
    squares = np.einsum("cb,cb->c", centres, centres)
    return np.asarray(np.argmin(squares - 2 * points @ centres.T, axis=1), np.intp)


def find_classes(points: FloatArray, count: int = CLASSES) -> FloatArray:
    """The centres of k-means; fewer than ``count`` if there are fewer points.

    It begins with equal groups along the direction of greatest spread, so it always ends the same.
    """
    count = min(count, len(points))
    if count == 0:
        return points[:0]
    spread = points - points.mean(axis=0)
    _, directions = np.linalg.eigh(spread.T @ spread)
    order = np.argsort(spread @ directions[:, -1], kind="stable")
    centres = np.stack([points[group].mean(axis=0) for group in np.array_split(order, count)])
    member = np.full(len(points), -1)
    for _ in range(ROUNDS):
        found = nearest(points, centres)
        if np.array_equal(found, member):
            break
        member = found
        for one in np.unique(member):
            centres[one] = points[member == one].mean(axis=0)
    return centres
