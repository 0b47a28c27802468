"""What C_llr adds up: the cost of each score taken as a natural-log likelihood ratio, in bits."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import InputError
from sottovoce.core.types import RealArray

PIECE = 1 << 15
"""Scores handled at a time, so that every step on them stays in cache."""
FACTORS = 512
"""Factors of a product, each at most 2: the product stays far below the largest double."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Sum of the costs of some scores in bits and, where it is needed, the sum of their squares."""

    total: float = 0.0
    squares: float | None = None

    def __add__(self, other: Cost) -> Cost:
        if self.squares is None or other.squares is None:
            return Cost(self.total + other.total)
        return Cost(self.total + other.total, self.squares + other.squares)

    def redrawn(self, count: int, rng: np.random.Generator) -> Cost:
        """Draw the sum over a resample from its normal limit; needs the sum of squares.

        Parameters
        ----------
        count : int
            Trials of the resample, as many as behind this sum.
        rng : numpy.random.Generator
            Source of the draw.
        """
        spread = math.sqrt(max(0.0, self._known_squares() - self.total**2 / count))
        return Cost(self.total + spread * float(rng.standard_normal()), self.squares)

    def thinned(self, count: float, kept: float, rng: np.random.Generator) -> Cost:
        """Draw the sum over trials that are kept at random from its normal limit.

        Parameters
        ----------
        count : float
            Trials behind this sum.
        kept : float
            How many of them are kept.
        rng : numpy.random.Generator
            Source of the draw.
        """
        share = kept / count
        spread = max(0.0, self._known_squares() - self.total**2 / count)
        deviation = math.sqrt(share * (1 - share) * spread) * float(rng.standard_normal())
        return Cost(share * self.total + deviation)

    def _known_squares(self) -> float:
        if self.squares is None:
            raise InputError(
                "these costs have no squares; make the tally with Tally.of(…, squares=True)",
                code="missing-costs",
            )
        return self.squares


def bits(scores: RealArray) -> NDArray[np.float64]:
    """Compute log2(1 + e^s) of each score, stable for any s: the cost of calling it mated.

    Parameters
    ----------
    scores : array of float32 or float64
        Natural-log likelihood ratios.
    """
    wide = scores.astype(np.float64)
    above = np.maximum(wide, 0.0)
    above += np.log1p(np.exp(-np.abs(wide, out=wide), out=wide), out=wide)
    above /= math.log(2.0)
    return above


def cost(scores: RealArray, *, squares: bool = False) -> Cost:
    """Add up the costs of some scores, a piece at a time.

    Without the squares no logarithm per score is needed: log(1 + e^s) = max(s, 0) + log(1 + e^-|s|)
    and the second terms of :data:`FACTORS` scores are the logarithm of one product.

    Parameters
    ----------
    scores : array of float32 or float64
        Natural-log likelihood ratios; those of mated trials with the sign turned.
    squares : bool, default False
        Add up the squares too, which resamples by trial need: a logarithm per score.
    """
    pieces = [scores[start : start + PIECE] for start in range(0, len(scores), PIECE)]
    if squares:
        sums = [(float(part.sum()), float(part @ part)) for part in map(bits, pieces)]
        return Cost(math.fsum(total for total, _ in sums), math.fsum(square for _, square in sums))
    buffer = np.empty(PIECE)
    return Cost(math.fsum(_nats(piece, buffer) for piece in pieces) / math.log(2.0))


def _nats(piece: RealArray, buffer: NDArray[np.float64]) -> float:
    """Sum of log(1 + e^s) over at most :data:`PIECE` scores.

    The product of 1 + a and 1 + b is kept as its excess over 1, a + b + a·b: all terms are
    positive, so nothing cancels, and the sum of very small costs is as exact as that of large ones.
    """
    part = buffer[: len(piece)]
    part[:] = piece
    above = float(np.maximum(part, 0.0).sum())
    np.exp(np.copysign(part, -1.0, out=part), out=part)
    buffer[len(piece) :] = 0.0
    excess = buffer
    while len(excess) > PIECE // FACTORS:
        left, right = excess[: len(excess) // 2], excess[len(excess) // 2 :]
        excess = left * right
        excess += left
        excess += right
    return above + float(np.log1p(excess).sum())
