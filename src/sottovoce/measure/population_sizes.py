"""Sizes of the populations that a curve of re-identification is made of."""

from __future__ import annotations

import numpy as np

MOST_SIZES = 200
"""Population sizes at most where a curve is drawn over all of them."""
SMALL_POPULATIONS = (2, 5, 10)
"""Default population sizes below 20: circles that an attacker who knows somebody can think of."""


def default_populations(everybody: int) -> list[int]:
    """Return 2, 5, 10, 20, 40, 80, … and everybody; nothing for fewer than 2 speakers.

    Parameters
    ----------
    everybody : int
        How many speakers there are.
    """
    if everybody < 2:
        return []
    sizes = [size for size in SMALL_POPULATIONS if size < everybody]
    size = 20
    while size < everybody:
        sizes.append(size)
        size *= 2
    return [*sizes, everybody]


def all_populations(everybody: int) -> list[int]:
    """Return every population size from 2 to everybody, or 200 of them in equal ratios.

    Parameters
    ----------
    everybody : int
        How many speakers there are, at least 2.
    """
    if everybody <= MOST_SIZES:
        return list(range(2, everybody + 1))
    sizes: list[int] = np.unique(np.geomspace(2, everybody, MOST_SIZES).astype(np.int64)).tolist()
    return [*sizes[:-1], everybody]
