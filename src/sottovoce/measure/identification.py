"""Identification in populations of any size: linkability, rank, top-k, open-set verification.

A population of N holds the true speaker and N − 1 others drawn at random from all M. Expectations
over all draws have closed forms in g, the number of the M others who score as high or higher, so
there is no drawing and no noise of draws; one pass over the scores gives every N. With a *core*
(speakers who are in every population, as the 20 test speakers are in the COMPRISE study), only the
rest is drawn.

In open-set verification everybody in the population is a non-mated speaker. The population always
holds the core; the expected counts of non-mated scores are those of the core plus a share of those
of the rest, so the curve of the *expected* ROC needs no draws: one tally of the core, one of
everybody. (The mean over draws of an EER is not quite the EER of the mean ROC; the two agree to
0.0003 where this was simulated.)
"""

from __future__ import annotations

from copy import copy
from typing import Self

import numpy as np
import scipy
from numpy.typing import NDArray

from sottovoce.core.errors import TooFewError
from sottovoce.core.types import FloatArray, IntArray, Vectors
from sottovoce.findings import OpenSetPoint
from sottovoce.measure.calibration import oracle_blocks
from sottovoce.measure.counting import CellCounts, count_on, make_cuts
from sottovoce.measure.linkability import d_sys_of
from sottovoce.measure.population import Standing
from sottovoce.measure.tally import Tally
from sottovoce.measure.verification import eer, min_cllr_of, rocch_eer_of


def top_k(standing: Standing, populations: list[int], k: int = 1) -> FloatArray:
    r"""Compute the probability that the true speaker is among the first k.

    A tie counts against the adversary, as in Vauquier et al. eq. 3. With x others in the draw who
    are not below the true speaker, x is hypergeometric, and :math:`P = P(x \leq k - 1)`. For k = 1
    this is linkability: :math:`\binom{M-g}{N-1} / \binom{M}{N-1}`.

    Parameters
    ----------
    standing : Standing
        How many others score above and equal to the true speaker in each trial.
    populations : list of int
        Population sizes N.
    k : int, default 1
        1 is Linkability.

    Returns
    -------
    array of float64, trials × populations
    """
    pairs, inverse, rest = _kinds(standing)
    probabilities = np.empty((len(pairs), len(populations)))
    for column, size in enumerate(populations):
        drawn = size - max(1, standing.core)
        certain = k >= size
        probabilities[:, column] = (
            1.0 if certain else _at_most(k - 1 - pairs[:, 0], pairs[:, 1], rest, drawn)
        )
    return probabilities[inverse]


def expected_rank(standing: Standing, populations: list[int]) -> FloatArray:
    """Compute the mean rank of the true speaker; equal scores share their ranks.

    Parameters
    ----------
    standing : Standing
        How many others score above and equal to the true speaker in each trial.
    populations : list of int
        Population sizes N.

    Returns
    -------
    array of float64, trials × populations
    """
    rest = standing.models - max(1, standing.core)
    core = standing.core_above + standing.core_equal / 2
    others = standing.above + standing.equal / 2 - core
    drawn = np.array(populations) - max(1, standing.core)
    return np.asarray(1 + core[:, None] + np.outer(others, drawn / max(1, rest)))


def _kinds(standing: Standing) -> tuple[IntArray, IntArray, int]:
    """Distinct (not below in the core, not below in the rest), and which each trial is of."""
    core = standing.core_above + standing.core_equal
    rest = standing.above + standing.equal - core
    pairs, inverse = np.unique(np.stack((core, rest), axis=1), axis=0, return_inverse=True)
    return pairs, inverse.ravel(), standing.models - max(1, standing.core)


def _at_most(most: IntArray, marked: IntArray, total: int, drawn: int) -> NDArray[np.float64]:
    """P(at most so many of the marked among ``drawn`` of ``total``), hypergeometric, by logs."""
    probability = np.zeros(len(marked))
    whole = _log_choose(total, drawn)
    for x in range(int(max(most.max(initial=-1), -1)) + 1):
        fits = (x <= most) & (x <= marked) & (drawn - x <= total - marked) & (x <= drawn)
        some = marked[fits]
        logs = _log_choose(some, x) + _log_choose(total - some, drawn - x) - whole
        probability[fits] += np.exp(logs)
    return np.minimum(probability, 1.0)


def _log_choose(n: IntArray | int, k: int) -> NDArray[np.float64]:
    n = np.asarray(n, np.float64)
    return np.asarray(
        scipy.special.gammaln(n + 1)
        - scipy.special.gammaln(k + 1)
        - scipy.special.gammaln(n - k + 1)
    )


def rank_disclosure(
    ranks_below: IntArray, others: int, populations: list[int]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    r"""Similarity-rank disclosure in bits: mean and worst case for each population.

    The rank tells :math:`\log_2 N - H(\text{rank})` bits about the speaker on average and
    :math:`\log_2 (N \max_r p_r)` at worst. A histogram of ranks would need far more trials than
    there are ranks, so p is a beta-binomial fitted to the ranks by maximum likelihood; drawing a
    smaller population at random leaves a beta-binomial with the same two parameters.

    ``ranks_below`` counts the others ranked before the true speaker, of ``others`` in all.

    Parameters
    ----------
    ranks_below : array of int
        Others ranked before the true speaker in each trial, two trials at least.
    others : int
        How many others there are.
    populations : list of int
        Population sizes N.
    """
    if len(ranks_below) < 2:
        raise TooFewError(f"{len(ranks_below)} trial; a distribution of ranks needs at least 2")
    alpha, beta = fit_beta_binomial(ranks_below, others)
    mean, worst = [], []
    for size in populations:
        log_p = _log_beta_binomial(np.arange(size), size - 1, alpha, beta)
        p = np.exp(log_p)
        mean.append((np.log(size) * p.sum() + scipy.special.xlogy(p, p).sum()) / np.log(2))
        worst.append((np.log(size) + log_p.max()) / np.log(2))
    return np.maximum(mean, 0.0), np.maximum(worst, 0.0)


def chance_rank_disclosure(
    trials: int, others: int, populations: list[int], rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Estimate the mean and worst disclosure that as many trials show without evidence.

    Parameters
    ----------
    trials, others : int
        How many trials and other speakers there are.
    populations : list of int
        Population sizes N.
    rng : numpy.random.Generator
        Draws the ranks.
    """
    drawn = [
        rank_disclosure(rng.integers(0, others + 1, trials), others, populations) for _ in range(20)
    ]
    mean, worst = np.mean(drawn, axis=0)
    return mean, worst


def fit_beta_binomial(values: IntArray, total: int) -> tuple[float, float]:
    """Fit the parameters of a beta-binomial on 0 … total by maximum likelihood.

    Newton's method on the logarithms of the parameters, damped until each step goes uphill.

    Parameters
    ----------
    values : array of int
        0 … total.
    total : int
        Largest possible value.

    Returns
    -------
    tuple of float
        α and β, at most e⁹ and at least e⁻⁹.
    """
    x, counts = np.unique(values, return_counts=True)
    weights = counts / counts.sum()
    logs, damping = np.zeros(2), 1e-3
    best = _fit(logs, x, weights, total)
    for _ in range(200):
        slope, curvature = _fit_derivatives(logs, x, weights, total)
        size = np.maximum(np.abs(np.diag(curvature)), 1e-9)
        step = np.linalg.solve(damping * np.diag(size) - curvature, slope)
        tried = np.clip(logs + step, -9.0, 9.0)
        reached = _fit(tried, x, weights, total)
        if reached < best:
            damping *= 10
            if damping > 1e9:
                break
            continue
        gained, logs, best = reached - best, tried, reached
        damping = max(damping / 10, 1e-12)
        if gained < 1e-13:
            break
    return float(np.exp(logs[0])), float(np.exp(logs[1]))


def _fit(logs: FloatArray, x: IntArray, weights: FloatArray, total: int) -> float:
    """Mean log-likelihood, up to a constant."""
    alpha, beta = np.exp(logs)
    return float(
        weights @ scipy.special.betaln(x + alpha, total - x + beta)
        - scipy.special.betaln(alpha, beta)
    )


def _fit_derivatives(
    logs: FloatArray, x: IntArray, weights: FloatArray, total: int
) -> tuple[FloatArray, FloatArray]:
    """Slope and curvature of the mean log-likelihood in the logarithms of the parameters.

    zeta(2, x) is the trigamma function ψ′(x).
    """
    alpha, beta = np.exp(logs)
    both = alpha + beta
    shared = scipy.special.digamma(both) - scipy.special.digamma(total + both)
    first = np.array(
        [
            weights @ scipy.special.digamma(x + alpha) - scipy.special.digamma(alpha) + shared,
            weights @ scipy.special.digamma(total - x + beta)
            - scipy.special.digamma(beta)
            + shared,
        ]
    )
    second = np.full((2, 2), scipy.special.zeta(2, both) - scipy.special.zeta(2, total + both))
    second[0, 0] += weights @ scipy.special.zeta(2, x + alpha) - scipy.special.zeta(2, alpha)
    second[1, 1] += weights @ scipy.special.zeta(2, total - x + beta) - scipy.special.zeta(2, beta)
    parameters = np.array([alpha, beta])
    curvature = second * np.outer(parameters, parameters) + np.diag(first * parameters)
    return first * parameters, curvature


def _log_beta_binomial(x: IntArray, total: int, alpha: float, beta: float) -> NDArray[np.float64]:
    choose = (
        scipy.special.gammaln(total + 1)
        - scipy.special.gammaln(x + 1)
        - scipy.special.gammaln(total - x + 1)
    )
    return np.asarray(
        choose
        + scipy.special.betaln(x + alpha, total - x + beta)
        - scipy.special.betaln(alpha, beta)
    )


class Counter:
    """Counts the blocks of scores that ``stand`` shows it, those of the core also apart."""

    def __init__(
        self, mated: Vectors, core: IntArray, *, edges: NDArray[np.float64] | None = None
    ) -> None:
        self.mated = mated
        self.core = core
        self.edges = edges
        self.cuts = make_cuts(mated) if edges is None else edges[1:-1]
        self._everybody, self._inside = self._fresh_counts()

    def _fresh_counts(self) -> tuple[CellCounts, CellCounts]:
        return (
            CellCounts(self.cuts, self.mated.dtype),
            CellCounts(self.cuts, self.mated.dtype),
        )

    def __call__(self, scores: Vectors, first: int) -> None:
        """Count a block; the place-holders of true speakers lie below every cut."""
        self._everybody.count(scores.ravel())
        here = self.core[(self.core >= first) & (self.core < first + scores.shape[1])] - first
        if len(here):
            self._inside.count(scores[:, here].ravel())

    def empty(self) -> Self:
        """Return a counter on the same cuts that has counted nothing."""
        part = copy(self)
        part._everybody, part._inside = self._fresh_counts()
        return part

    def add(self, part: Self) -> None:
        """Add what was counted in a part of the scores.

        Parameters
        ----------
        part : Counter
            On the same cuts.
        """
        self._everybody.add(part._everybody)
        self._inside.add(part._inside)

    def expected_tally(self, population: int, models: int) -> Tally:
        """Return the tally that is expected in the core and others drawn at random.

        Parameters
        ----------
        population : int
            Speakers in all; no fewer than the core.
        models : int
            Enrolled speakers.
        """
        core = len(self.core)
        return self.tally((population - core) / (models - core) if models > core else 1.0)

    def tally(self, share: float = 1.0) -> Tally:
        """Return the tally of the core and a share of all others.

        Parameters
        ----------
        share : float, default 1
            Of the speakers outside the core; 1 is everybody.
        """
        everybody, inside = self._everybody.cells(), self._inside.cells()
        for cells in (everybody, inside):  # the place-holders
            cells[0] -= len(self.mated)
        nonmated = everybody if share == 1.0 else inside + share * (everybody - inside)
        mated = count_on(self.cuts, self.mated)
        return Tally(self.cuts, mated, nonmated, edges=self.edges)


def open_set(
    counter: Counter, binned: Counter | None, populations: list[int], models: int, length: int
) -> list[OpenSetPoint]:
    """Compute the open-set measures over population sizes from the core to everybody.

    Parameters
    ----------
    counter : Counter
        Counts on the cuts of the mated scores.
    binned : Counter or None
        Counts on histogram bins, for D_sys; None where there are too few scores for it.
    populations : list of int
        Sizes; those smaller than the core are left out.
    models : int
        Enrolled speakers.
    length : int
        Conversation length, in utterances.
    """
    core = len(counter.core)
    points = []
    for size in [n for n in populations if n >= max(2, core)]:
        tally = counter.expected_tally(size, models)
        blocks = oracle_blocks(tally)
        d_sys = None
        if binned is not None:
            d_sys = d_sys_of(*binned.expected_tally(size, models).binned())
        points.append(
            OpenSetPoint(length, size, eer(tally), rocch_eer_of(blocks), min_cllr_of(blocks), d_sys)
        )
    return points


def mean_by_speaker(values: NDArray[np.float64], speakers: IntArray) -> NDArray[np.float64]:
    """Average the rows of a table over the trials of each speaker.

    Parameters
    ----------
    values : array of float64, trials × columns
        One row per trial.
    speakers : array of int, trials
        Whose trial each is.

    Returns
    -------
    array of float64, speakers × columns
        In order of the speakers' numbers.
    """
    order = np.argsort(speakers, kind="stable")
    _, first, counts = np.unique(speakers[order], return_index=True, return_counts=True)
    sums = np.add.reduceat(values[order], first, axis=0)
    return np.asarray(sums / counts.reshape(-1, *[1] * (values.ndim - 1)))
