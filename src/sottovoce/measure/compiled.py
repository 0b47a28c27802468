"""Loops that numba compiles, where it is installed: ``pip install 'sottovoce[fast]'``.

Without it the same numbers come from numpy and scipy, a few times slower.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, fastmath=True, nogil=True)
def add_pairs(
    starts: NDArray[np.int64],
    enrol: NDArray[np.int32],
    trial: NDArray[np.int32],
    weights: NDArray[np.float32],
) -> NDArray[np.float64]:
    """Add up, per resample and cell, weights[enrol] · weights[trial] over the trials of the cell.

    Trials are in order of cells and cell c holds those from starts[c] to starts[c + 1]. The sum of
    a cell is kept in registers: a row of weights (speakers × resamples) is a few of them.

    Parameters
    ----------
    starts : array of int64
        Where the trials of each cell start, and their total number at the end.
    enrol, trial : array of int32
        Speakers of each trial, in order of cells.
    weights : array of float32 or float64, speakers × resamples
        How often each speaker is drawn.

    Returns
    -------
    array of float64, resamples × cells
    """
    columns = weights.shape[1]
    total = np.empty((columns, len(starts) - 1), np.float64)
    row = np.empty(columns, weights.dtype)
    for c in range(len(starts) - 1):
        row[:] = 0
        for i in range(starts[c], starts[c + 1]):
            a, b = enrol[i], trial[i]
            for r in range(columns):
                row[r] += weights[a, r] * weights[b, r]
        for r in range(columns):
            total[r, c] = row[r]
    return total


@njit(cache=True, fastmath=True, nogil=True)
def add_priced_pairs(
    starts: NDArray[np.int64],
    enrol: NDArray[np.int32],
    trial: NDArray[np.int32],
    prices: NDArray[np.float32],
    weights: NDArray[np.float32],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Do the same as :func:`add_pairs`, and add up the weighted prices of all trials.

    Parameters
    ----------
    starts, enrol, trial, weights
        See :func:`add_pairs`.
    prices : array of the type of the weights
        Of each trial, in order of cells.

    Returns
    -------
    counts : array of float64, resamples × cells
    sums : array of float64, resamples
        Sums within a cell have the type of the weights, sums of them are doubles.
    """
    columns = weights.shape[1]
    total = np.empty((columns, len(starts) - 1), np.float64)
    sums = np.zeros(columns, np.float64)
    row, priced = np.empty(columns, weights.dtype), np.empty(columns, weights.dtype)
    for c in range(len(starts) - 1):
        row[:] = 0
        priced[:] = 0
        for i in range(starts[c], starts[c + 1]):
            a, b, price = enrol[i], trial[i], prices[i]
            for r in range(columns):
                both = weights[a, r] * weights[b, r]
                row[r] += both
                priced[r] += price * both
        for r in range(columns):
            total[r, c] = row[r]
            sums[r] += priced[r]
    return total, sums


@njit(cache=True, nogil=True)
def pool_groups(mated: NDArray[Any], nonmated: NDArray[Any], first: NDArray[np.int64]) -> int:
    """Pool adjacent violators in place; the first k entries of the arrays are the k blocks.

    Steps that hold nothing are passed over. Cross products of counts decide: no division rounds.

    Parameters
    ----------
    mated, nonmated : array
        Counts per step; overwritten.
    first : array of int64
        Filled with the first step of each block.

    Returns
    -------
    int
        k
    """
    k = 0
    for i in range(len(mated)):
        t, n, begin = mated[i], nonmated[i], i
        if t == 0 and n == 0:
            continue
        while k > 0 and mated[k - 1] * n >= t * nonmated[k - 1]:
            k -= 1
            t += mated[k]
            n += nonmated[k]
            begin = first[k]
        mated[k], nonmated[k], first[k] = t, n, begin
        k += 1
    return k


@njit(cache=True, nogil=True)
def isolate(
    scores: NDArray[np.float32],
    top: NDArray[np.int64],
    owner: NDArray[np.int32],
    slot: NDArray[np.int32],
    counts: NDArray[np.int32],
    first: NDArray[np.int64],
    true: int,
    orders: NDArray[np.int32],
    speakers_at: NDArray[np.int32],
    shifts: NDArray[np.int32],
    populations: NDArray[np.int64],
    gather: int,
) -> NDArray[np.float64]:
    """Share of folds that single someone out, draws × populations; see ``singling_out``.

    Small populations are gathered and their highest vectors kept; in large ones the list of the
    highest vectors of all speakers is walked, passing over who is not included.

    Parameters
    ----------
    scores, top, owner, slot, counts, first, true, orders, speakers_at, shifts, populations, gather
        Arrays of :class:`~sottovoce.measure.isolation.TestVectors` and
        :class:`~sottovoce.measure.isolation.Draws`, and the numbers of
        :func:`~sottovoce.measure.isolation.isolations`.
    """
    speakers, kept = len(counts), counts[true] - 1
    shares = np.empty((len(shifts), len(populations)))
    buffer, buffer_index = np.empty(24, np.float32), np.empty(24, np.int64)
    state = np.empty((4, 10))
    for d in range(len(shifts)):
        places, at = orders[d % len(orders)], speakers_at[d % len(orders)]
        shift = shifts[d]
        own_place = places[(true + shift) % speakers]
        for p in range(len(populations)):
            size = populations[p]
            limit = size - 1 if own_place >= size - 1 else size
            if size <= gather:
                filled = 0
                for place in range(limit + 1):
                    if place < limit:
                        j = (at[place] - shift) % speakers
                    elif own_place >= limit:
                        j = true
                    else:
                        break
                    for i in range(first[j], first[j] + counts[j]):
                        filled = _keep(buffer, buffer_index, filled, scores[i], i)
                listed, limit = buffer_index[:filled], speakers
            else:
                listed = top
            shares[d, p] = _walk(
                listed, scores, owner, slot, counts, true, kept, places, shift, limit, state
            )
    return shares


@njit(cache=True, nogil=True)
def _keep(
    buffer: NDArray[np.float32], index: NDArray[np.int64], filled: int, score: float, i: int
) -> int:
    """Insert into a list of the highest scores, in falling order; gives its new length."""
    if filled == len(buffer):
        if score <= buffer[filled - 1]:
            return filled
        filled -= 1
    k = filled
    while k > 0 and buffer[k - 1] < score:
        buffer[k], index[k] = buffer[k - 1], index[k - 1]
        k -= 1
    buffer[k], index[k] = score, i
    return filled + 1


@njit(cache=True, nogil=True)
def _walk(
    order: NDArray[np.int64],
    scores: NDArray[np.float32],
    owner: NDArray[np.int32],
    slot: NDArray[np.int32],
    counts: NDArray[np.int32],
    true: int,
    kept: int,
    places: NDArray[np.int32],
    shift: int,
    limit: int,
    state: NDArray[np.float64],
) -> float:
    """Decide the ten folds from vectors in falling order; NaN if there are too few of them.

    Exactly one test vector passes if the highest test score is above the threshold and the second
    is not, so of each fold only those two and two calibration scores matter.
    """
    speakers = len(places)
    seen, upper, highest, second = state[0], state[1], state[2], state[3]
    seen[:] = 0
    highest[:] = -np.inf
    second[:] = -np.inf
    open_folds, successes = 10, 0
    for i in order:
        j = owner[i]
        if j != true and places[(j + shift) % speakers] >= limit:
            continue
        s = np.float64(scores[i])
        k, mine = counts[j], slot[i]
        for fold in range(10):
            if seen[fold] > kept:
                continue
            if fold % k == mine:
                if highest[fold] == -np.inf:
                    highest[fold] = s
                elif second[fold] == -np.inf:
                    second[fold] = s
                continue
            seen[fold] += 1
            if seen[fold] == kept:
                upper[fold] = s
            elif seen[fold] > kept:
                threshold = (upper[fold] + s) / 2
                successes += highest[fold] > threshold and not second[fold] > threshold
                open_folds -= 1
        if open_folds == 0:
            return successes / 10
    return np.nan
