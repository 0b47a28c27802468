"""Linkability D_sys: how far mated scores stand out where they occur.

Maouche et al. 2020, section 3.3, after Gomez-Barrero et al. 2018.

No threshold and no order of scores is assumed, so it sees evidence that threshold measures miss
(non-mated scores in between, for instance). The price is a histogram: it needs enough scores, and
with few it shows some linkability where there is none. That bias is estimated and reported.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import InputError, TooFewError
from sottovoce.core.records import Record
from sottovoce.measure.counting import make_edges
from sottovoce.measure.scores import ScoreSource
from sottovoce.measure.tally import Counts, Tally

_MOST_DRAWN = 1_000_000_000
"""Scores that NumPy draws labels of; it refuses more."""
MIN_MATED = 20
"""Ten mated scores a bin, two bins at least: with one bin nothing could ever be linked."""


@dataclass(frozen=True, slots=True, eq=False)
class Linkability(Record):
    """Global linkability and the local curve it is the mean of."""

    d_sys: float
    """0 = unlinkable … 1 = every mated score gives its pair away."""
    chance: float
    """Mean D_sys of the same scores with shuffled labels: the bias of the histogram."""
    edges: NDArray[np.float64]
    """Bin edges over the range of all scores."""
    local: NDArray[np.float64]
    """D(s) in each bin."""
    mated: NDArray[np.float64]
    """Share of mated scores in each bin."""
    nonmated: NDArray[np.float64]
    """Share of non-mated scores in each bin."""


def default_bins(n_mated: int) -> int:
    """Return a bin per ten mated scores, 100 at most.

    Parameters
    ----------
    n_mated : int
        How many mated scores there are.
    """
    return min(n_mated // 10, 100)


def linkability(
    scores: ScoreSource | Tally,
    *,
    omega: float = 1.0,
    bins: int | None = None,
    permutations: int = 200,
    rng: np.random.Generator | None = None,
) -> Linkability:
    r"""Global linkability of mated against non-mated scores.

    .. math:: D_{sys} = \int p(s \mid H)\, D_\leftrightarrow(s)\, ds, \qquad
              D_\leftrightarrow(s) = \max(0, 2 \frac{\omega\,lr(s)}{1 + \omega\,lr(s)} - 1)

    with densities from equal-width histograms over the range of all scores, so the integral is a
    plain sum over bins. Gomez-Barrero et al., IEEE TIFS 13(6), 2018; Maouche et al. 2020, eq. 3.

    Parameters
    ----------
    omega
        Prior ratio p(mated) / p(non-mated), above 0.
    bins
        Number of bins; default one per ten mated scores, 100 at most.
    permutations
        Shuffles of the labels from which ``chance`` is estimated (0: chance is NaN).
    rng
        Draws the shuffles; default a generator with a fixed seed, so results repeat.
    """
    tally = _histogram(scores, bins)
    if permutations < 0:
        raise InputError(f"{permutations} permutations; must be 0 or more", code="out-of-range")
    if not (np.isfinite(omega) and omega > 0):
        raise InputError(
            f"omega {omega}: the prior ratio must be a finite number above 0", code="out-of-range"
        )
    mated, nonmated = tally.binned()
    local = _local(mated, nonmated, omega)
    rng = rng or np.random.default_rng(0)
    chance = chance_d_sys(mated, nonmated, omega=omega, permutations=permutations, rng=rng)
    share, other = mated / mated.sum(), nonmated / nonmated.sum()
    edges = np.asarray(tally.edges)
    return Linkability(float(share @ local), chance, edges, local, share, other)


def _histogram(scores: ScoreSource | Tally, bins: int | None) -> Tally:
    if isinstance(scores, Tally):
        if scores.edges is None or len(scores.edges) < 3:
            raise InputError(
                "this tally has no histogram of 2 bins; use Tally.of(…, bins=…)",
                code="missing-bins",
            )
        check_linkable(int(scores.n_mated), scores.edges[0], scores.edges[-1])
        return scores
    check_linkable(len(scores.mated), scores.low, scores.high)
    bins = default_bins(len(scores.mated)) if bins is None else bins
    if bins < 2:
        raise InputError(
            f"{bins} bins; a histogram that can link anything needs at least 2",
            code="out-of-range",
        )
    return Tally.of(scores, bins=bins)


def check_linkable(n_mated: int, low: float, high: float) -> None:
    """Refuse data from which no histogram can be made.

    Parameters
    ----------
    n_mated : int
        How many mated scores there are.
    low, high : float
        The range of all scores.
    """
    if n_mated < MIN_MATED:
        raise TooFewError(f"{n_mated} mated scores; D_sys needs {MIN_MATED}: add mated trials")
    if not low < high:
        raise InputError(
            f"all scores are {low:g}; a histogram needs at least two distinct scores",
            code="constant",
        )
    make_edges(low, high, default_bins(n_mated))


def d_sys_of(mated: Counts, nonmated: Counts, omega: float = 1.0) -> float:
    """Compute D_sys from counts per bin.

    Parameters
    ----------
    mated, nonmated : array
        Counts of both classes in each bin.
    omega : float, default 1
        Prior ratio p(mated) / p(non-mated).
    """
    return float((mated / mated.sum()) @ _local(mated, nonmated, omega))


def _local(mated: Counts, nonmated: Counts, omega: float) -> NDArray[np.float64]:
    """D(s) per bin; 0 where there is no mated score."""
    p = omega * mated / mated.sum(axis=-1, keepdims=True)
    q = nonmated / nonmated.sum(axis=-1, keepdims=True)
    total = p + q
    with np.errstate(invalid="ignore"):
        return np.where(total > 0, np.maximum(0.0, (p - q) / total), 0.0)


def _draw_labels(
    total: NDArray[np.int64], mated: int, permutations: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw how many of the scores of each bin are labelled mated, so many in all.

    NumPy draws from fewer than 10⁹ scores. Of more, first every score is kept with a probability
    that leaves a few more than are needed, and of those the labels are drawn: a uniform subset of
    a uniform subset is a uniform subset of all.
    """
    scores = int(total.sum())
    if scores < _MOST_DRAWN:
        return rng.multivariate_hypergeometric(total, mated, size=permutations, method="marginals")
    share = min(1.0, (mated + 10 * np.sqrt(mated) + 10) / scores)
    draws = np.empty((permutations, len(total)), np.int64)
    for row in draws:
        kept = rng.binomial(total, share)
        while kept.sum() < mated:
            kept = rng.binomial(total, share)
        row[:] = rng.multivariate_hypergeometric(kept, mated, method="marginals")
    return draws


def chance_d_sys(
    mated: Counts,
    nonmated: Counts,
    *,
    omega: float = 1.0,
    permutations: int,
    rng: np.random.Generator,
) -> float:
    """Estimate the mean D_sys over shuffled labels.

    Shuffling labels leaves the bins' totals; the mated ones among them are a hypergeometric draw.

    Parameters
    ----------
    mated, nonmated : array
        Counts of both classes in each bin.
    omega : float, default 1
        Prior ratio p(mated) / p(non-mated).
    permutations : int
        How many shuffles; NaN is returned for none.
    rng : numpy.random.Generator
        Draws the shuffles.
    """
    if not permutations:
        return float("nan")
    total = (mated + nonmated).astype(np.int64)
    draws = _draw_labels(total, int(mated.sum()), permutations, rng)
    shares = draws / mated.sum()
    return float((shares * _local(draws, total - draws, omega)).sum(axis=1).mean())
