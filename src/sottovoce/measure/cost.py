"""The logarithmic cost that C_llr averages: log2(1 + e^s), as sums that add."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.types import RealArray
from sottovoce.measure.scores import CHUNK


@dataclass(frozen=True, slots=True)
class Cost:
    """Sum and sum of squares of the costs of some scores, in bits."""

    total: float = 0.0
    squares: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.total + other.total, self.squares + other.squares)

    def redrawn(self, count: int, rng: np.random.Generator) -> Cost:
        """Draw the sum over a resample from its normal limit.

        Parameters
        ----------
        count : int
            Trials of the resample, as many as behind this sum.
        rng : numpy.random.Generator
            Source of the draw.
        """
        spread = math.sqrt(max(0.0, self.squares - self.total**2 / count))
        return Cost(self.total + spread * float(rng.standard_normal()), self.squares)


def bits(scores: RealArray) -> NDArray[np.float64]:
    """Compute log2(1 + e^s) of each score, stable for any s: the cost of calling it mated.

    Parameters
    ----------
    scores : array of float32 or float64
        Natural-log likelihood ratios.
    """
    return np.logaddexp(0.0, scores.astype(np.float64)) / math.log(2.0)


def cost(scores: RealArray) -> Cost:
    """Add up the costs of some scores, a chunk at a time.

    Parameters
    ----------
    scores : array of float32 or float64
        Natural-log likelihood ratios; those of mated trials with the sign turned.
    """
    total = Cost()
    for start in range(0, len(scores), CHUNK):
        part = bits(scores[start : start + CHUNK])
        total += Cost(float(part.sum()), float(part @ part))
    return total
