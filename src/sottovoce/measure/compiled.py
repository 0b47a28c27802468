"""Two loops that numba compiles, where it is installed: ``pip install 'sottovoce[fast]'``.

Without it the same sums are made by scipy's sparse products, a few times slower.
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
    """Weighted counts per resample and cell: Σ weights[enrol] · weights[trial] over its trials.

    Trials are in order of cells and cell c holds those from starts[c] to starts[c + 1]. The sum of
    a cell is kept in registers: a row of weights (speakers × resamples) is a few of them.
    """
    columns = weights.shape[1]
    total = np.empty((columns, len(starts) - 1), np.float64)
    row = np.empty(columns, np.float32)
    for c in range(len(starts) - 1):
        row[:] = 0
        for i in range(starts[c], starts[c + 1]):
            a, b = enrol[i], trial[i]
            for r in range(columns):
                row[r] += weights[a, r] * weights[b, r]
        for r in range(columns):
            total[r, c] = row[r]
    return total


@njit(cache=True, nogil=True)
def pool_groups(mated: NDArray[Any], nonmated: NDArray[Any], first: NDArray[np.int64]) -> int:
    """Pool adjacent violators in place; the first k entries of the arrays are the k blocks.

    Steps that hold nothing are passed over. Cross products of counts decide: no division rounds.
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
