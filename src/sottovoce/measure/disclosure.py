"""What the adversary learns in bits: the ZEBRA framework (Nautsch et al. 2020).

ECE profiles, the expected disclosure D_ECE, the worst case log10(l) and its category tag.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.core.errors import InputError
from sottovoce.core.records import Record
from sottovoce.measure.calibration import (
    Blocks,
    block_llrs,
    laplace_blocks,
    oracle_blocks,
)
from sottovoce.measure.scores import ScoreSource
from sottovoce.measure.tally import Tally
from sottovoce.measure.verification import as_tally

FULL_DISCLOSURE = 1 / (2 * math.log(2))
"""D_ECE of perfectly separated classes, in bits."""

TAGS = {
    "0": "no evidence at all: the odds stay 50 : 50",
    "A": "some evidence: the best guess is wrong more often than once in 10",
    "B": "the best guess is wrong once in 10 to 100",
    "C": "the best guess is wrong once in 100 to 10 000",
    "D": "the best guess is wrong once in 10 000 to 100 000",
    "E": "the best guess is wrong once in 100 000 to 1 000 000",
    "F": "the best guess is wrong less than once in 1 000 000",
}
"""Categories of ZEBRA Table 1 in words (flat prior: before the evidence, 50 : 50)."""

_BOUNDS = {"F": 6.0, "E": 5.0, "D": 4.0, "C": 2.0, "B": 1.0}


def tag_of(log10_lr: float) -> str:
    """Category of a worst case: a boundary belongs to the higher category (10¹ is B).

    Parameters
    ----------
    worst_case : float
        log10 of the largest likelihood ratio.
    """
    if log10_lr <= 0.0:
        return "0"
    return next((tag for tag, bound in _BOUNDS.items() if log10_lr >= bound), "A")


def _sigmoid(log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities of log-odds."""
    return np.exp(-np.logaddexp(0.0, -log_odds))


@dataclass(frozen=True, slots=True, eq=False)
class EceProfile(Record):
    """Empirical cross-entropy over the adversary's prior, in bits."""

    prior_log_odds: NDArray[np.float64]
    """Natural log of π/(1−π)."""
    ece: NDArray[np.float64]
    """After oracle calibration: what the adversary still does not know."""
    zero_evidence: NDArray[np.float64]
    """Perfect privacy: the entropy of the prior itself."""

    @property
    def prior(self) -> NDArray[np.float64]:
        """The prior probability π that a pair is mated."""
        return _sigmoid(self.prior_log_odds)


def ece_profile(scores: ScoreSource | Tally, prior_log_odds: ArrayLike | None = None) -> EceProfile:
    r"""Compute ECE after oracle calibration over prior log-odds.

    .. math:: ECE(\pi) = \pi \langle \log_2(1 + \tfrac{1-\pi}{a\pi}) \rangle_{a}
              + (1-\pi) \langle \log_2(1 + \tfrac{b\pi}{1-\pi}) \rangle_{b}

    Nautsch et al. 2020, eq. 4, with a and b the likelihood ratios of mated and non-mated scores.

    Parameters
    ----------
    scores : ScoreSource or Tally
        Mated and non-mated scores, or their tally.
    prior_log_odds : array_like, optional
        Natural logarithms of π / (1 − π), finite; default −10 … 10 in 201 steps.
    """
    tally = as_tally(scores)
    grid = np.linspace(-10, 10, 201) if prior_log_odds is None else prior_log_odds
    odds = np.atleast_1d(np.asarray(grid, dtype=np.float64))
    blocks = oracle_blocks(tally)
    llr = block_llrs(blocks, tally.n_mated, tally.n_nonmated)
    weight_mated = blocks.mated / tally.n_mated
    weight_nonmated = blocks.nonmated / tally.n_nonmated
    if not np.isfinite(odds).all():
        raise InputError(
            "prior log-odds must be finite; leave out certainty (π = 0 or 1)", code="not-finite"
        )
    prior, rest = _sigmoid(odds), _sigmoid(-odds)
    has_mated, has_nonmated = weight_mated > 0, weight_nonmated > 0
    posterior = odds[:, None] + llr[None, :]
    mated_bits = np.logaddexp(0, -posterior[:, has_mated]) @ weight_mated[has_mated]
    nonmated_bits = np.logaddexp(0, posterior[:, has_nonmated]) @ weight_nonmated[has_nonmated]
    zero = prior * np.logaddexp(0, -odds) + rest * np.logaddexp(0, odds)
    ln2 = math.log(2)
    return EceProfile(odds, (prior * mated_bits + rest * nonmated_bits) / ln2, zero / ln2)


@dataclass(frozen=True, slots=True)
class Disclosure(Record):
    """Average and worst disclosure; higher = more disclosed."""

    d_ece: float
    """Expected disclosure in bits: 0 = no evidence … 1/(2 ln 2) ≈ 0.721 = fully disclosed."""
    worst_case_log10_lr: float
    """Strongest evidence for or against any one pair, log10 of a likelihood ratio."""
    tag: str
    """Category of the worst case, a key of :data:`TAGS`."""
    attainable_log10_lr: float
    """The largest worst case this many scores could have shown."""


def disclosure(scores: ScoreSource | Tally) -> Disclosure:
    """Compute expected and worst-case disclosure (ZEBRA eq. 6 and 8) with its category.

    Parameters
    ----------
    scores : ScoreSource or Tally
        Mated and non-mated scores, or their tally.

    Examples
    --------
    >>> from sottovoce.measure import Scores
    >>> disclosure(Scores([5, 6, 7, 8, 9], [0, 1, 2, 3, 4])).tag
    'A'
    """
    tally = as_tally(scores)
    blocks = oracle_blocks(tally)
    worst = worst_case_of(blocks)
    return Disclosure(d_ece_of(blocks), worst, tag_of(worst), attainable(tally))


def d_ece_of(blocks: Blocks) -> float:
    r"""D_ECE from PAV: :math:`(\langle Z(a)\rangle + \langle Z(1/b)\rangle) / \ln 2`, in bits.

    Parameters
    ----------
    blocks : Blocks
        Outcome of plain PAV.
    """
    a, b = blocks.mated / blocks.mated.sum(), blocks.nonmated / blocks.nonmated.sum()
    with np.errstate(divide="ignore"):
        for_mated = np.where(a > 0, a * _z(a / b, a > 0), 0.0)
        for_nonmated = np.where(b > 0, b * _z(b / a, b > 0), 0.0)
    return max(0.0, float((for_mated.sum() + for_nonmated.sum()) / math.log(2)))


_SERIES = np.array([(-1) ** (k + 1) / (2 * (k + 2)) for k in range(9, 0, -1)] + [0.0])


def _z(ratio: NDArray[np.float64], where: NDArray[np.bool_]) -> NDArray[np.float64]:
    r"""Z(x) = ((x−3)(x−1) + 2 ln x) / (4 (x−1)²), 0 at x = 1 and 1/4 at infinity (ZEBRA eq. 6).

    Near 1 the terms cancel to the third order, so the series Σ ±dᵏ/(2(k+2)), d = x − 1, is used.
    """
    d = ratio - 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        value = 0.25 + (np.log(ratio) / d - 1.0) / (2 * d)
    near = where & (np.abs(d) < 0.02)
    if near.any():
        value[near] = np.polyval(_SERIES, d[near])
    value[~(where & np.isfinite(ratio))] = 0.25
    return value


def worst_case_of(blocks: Blocks) -> float:
    """Compute the largest abs(log10 l) after Laplace's rule (ZEBRA eq. 8).

    Parameters
    ----------
    blocks : Blocks
        Outcome of plain PAV.
    """
    n_mated, n_nonmated = blocks.mated.sum().item(), blocks.nonmated.sum().item()
    pooled = laplace_blocks(blocks)
    # likelihood ratios increase, so the strongest evidence is in the first or the last block;
    # a quotient of whole numbers keeps exact powers of ten exact, and with them the tag
    ends = {(pooled.mated[i].item(), pooled.nonmated[i].item()) for i in (0, -1)}
    odds = [(mated * n_nonmated, nonmated * n_mated) for mated, nonmated in ends]
    return max(math.log10(max(over, under) / min(over, under)) for over, under in odds)


def attainable(tally: Tally) -> float:
    """Compute the worst case of perfectly separated classes of this size.

    Parameters
    ----------
    tally : Tally
        Only its numbers of scores matter.
    """
    m, n = tally.n_mated, tally.n_nonmated
    return max(math.log10((m + 1) * n / m), math.log10((n + 1) * m / n))


def chance_worst_case(tally: Tally, rng: np.random.Generator, draws: int = 200) -> float:
    """Estimate the mean worst case of as many scores without evidence.

    Without evidence every order of the labels is as likely as any other, so the gaps between the
    scores of the smaller class are a uniform random composition of the larger. (Scores are taken
    to be distinct; ties can only lower it.)

    Parameters
    ----------
    tally : Tally
        Only its numbers of scores matter.
    rng : numpy.random.Generator
        Draws the orders.
    draws : int, default 200
        How many orders are averaged.
    """
    few, many = sorted((int(tally.n_mated), int(tally.n_nonmated)))
    kept = min(few, 500)  # the extremes are at the ends: the mean does not move beyond
    many = round(many * kept / few)
    worst_cases = []
    for _ in range(draws):
        places = rng.choice(many + kept, kept, replace=False, shuffle=False)
        places.sort()
        worst_cases.append(worst_case_of_places(places, many))
    return float(np.mean(worst_cases))


def worst_case_of_places(places: NDArray[np.int64], many: int) -> float:
    """Compute the worst case from the places that the scores of the smaller class have among all.

    The strongest evidence is in the first or in the last block of PAV. With a dummy score of each
    class at either end, the first block is the beginning with the lowest odds and the last one the
    end with the highest; a last pair of dummies that pools with no score is left out.

    Parameters
    ----------
    places : array of int64
        From 0, rising.
    many : int
        Scores of the other class, as many at least.
    """
    few = len(places)
    place = np.arange(few)
    below = places - place  # of the other class, below each score
    first = np.append((1 + place) / (1 + below), (1 + few) / (1 + many)).min()
    above, beyond = few - place, many - below  # from each score to the end
    last = ((1 + above) / (1 + beyond)).max()
    if last < 1:
        last = max((above / beyond).max(), (1 + few) / (1 + many))
    prior = few / many
    return float(max(abs(math.log10(odds / prior)) for odds in (first, last)))
