"""What a training run discloses at least: a lower bound of ε from canaries in a single run.

Each of m canaries is put into the training data or left out, by a fair coin. After training, an
attacker guesses for some of them whether they were in. If training is (ε, δ)-differentially
private, few guesses can be right, so many right guesses refute small ε (Steinke, Nasr and
Jagielski 2023, "Privacy Auditing with One (1) Training Run").

A bound below the claimed ε proves nothing about stronger attacks; a bound above it proves that
the claim is wrong.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from sottovoce.core.errors import InputError, TooFewError, UsageError
from sottovoce.core.records import Record, optional

SHARES = (1.0, 0.5, 0.25, 0.125)
"""Shares of the canaries for which an attacker may guess; the confidence is divided by their
number, so that choosing the best is fair."""
FEWEST = 10
"""Canaries without which no ε can be refuted."""
LARGEST_EPSILON = 100.0


@dataclass(frozen=True, slots=True)
class PrivacyAudit(Record):
    """A lower bound of ε, and what it rests on."""

    epsilon_lower: float
    """With the given confidence, the run is not (ε, δ)-differentially private for smaller ε."""
    delta: float
    confidence: float
    canaries: int
    """m, how many canaries there were; each was inserted with probability one half."""
    guesses: int
    """r, for how many of them the attacker guessed."""
    correct: int
    """v, how many guesses were right."""
    claimed_epsilon: float | None = optional()
    """ε that the accountant computed for the run (PLD)."""
    attack: str | None = optional()
    """How the attacker scored canaries."""

    @property
    def refutes_claim(self) -> bool:
        """Whether the run discloses more than was claimed."""
        return self.claimed_epsilon is not None and self.epsilon_lower > self.claimed_epsilon


def audit_scores(
    scores: ArrayLike,
    inserted: ArrayLike,
    *,
    delta: float,
    confidence: float = 0.95,
    claimed_epsilon: float | None = None,
    attack: str | None = None,
) -> PrivacyAudit:
    """Bound ε from below by what an attacker's scores tell.

    The attacker guesses that the canaries with the highest scores were inserted and those with the
    lowest were not, equally many each; it may guess for all, or only where it is surest.

    Parameters
    ----------
    scores : array-like of float, m
        Higher for canaries that the attacker takes for inserted.
    inserted : array-like of bool, m
        Which ones were, by independent fair coins.
    delta : float
        δ of the claim, from 0 to below 1.
    confidence : float, default 0.95
        Between 0 and 1.
    claimed_epsilon : float, optional
        What the run claims.
    attack : str, optional
        How the scores were made.

    Raises
    ------
    InputError
        ``wrong-shape``, ``not-finite`` or ``too-few``.
    """
    values, truth = np.asarray(scores, float), np.asarray(inserted, bool)
    if values.shape != truth.shape or values.ndim != 1:
        raise InputError(
            f"scores have the shape {values.shape}, insertions {truth.shape}; give one of each "
            "for every canary",
            code="wrong-shape",
        )
    if np.isnan(values).any():
        raise InputError("a score of a canary is not a number; check the attack", code="not-finite")
    if len(values) < FEWEST:
        raise TooFewError(f"{len(values)} canaries; an audit needs {FEWEST} or more")
    order = np.argsort(values, kind="stable")
    each = 1 - (1 - confidence) / len(SHARES)
    best: tuple[float, int, int] | None = None
    for share in SHARES:
        side = max(1, int(share * len(values) / 2))
        correct = int(truth[order[-side:]].sum() + (~truth[order[:side]]).sum())
        bound = epsilon_lower_bound(len(values), 2 * side, correct, delta=delta, confidence=each)
        if best is None or bound > best[0]:
            best = bound, 2 * side, correct
    assert best is not None  # noqa: S101 - there are shares
    return PrivacyAudit(
        epsilon_lower=best[0],
        delta=delta,
        confidence=confidence,
        canaries=len(values),
        guesses=best[1],
        correct=best[2],
        claimed_epsilon=claimed_epsilon,
        attack=attack,
    )


def epsilon_lower_bound(
    canaries: int, guesses: int, correct: int, *, delta: float, confidence: float = 0.95
) -> float:
    """Return the largest ε that so many right guesses refute.

    Parameters
    ----------
    canaries : int
        m, inserted with probability one half each.
    guesses : int
        r, at most m; chosen before it is known which are right.
    correct : int
        v, at most r.
    delta : float
        δ, from 0 to below 1.
    confidence : float, default 0.95
        Between 0 and 1.

    Examples
    --------
    >>> round(epsilon_lower_bound(100, 100, 100, delta=0), 2)
    3.49
    >>> epsilon_lower_bound(100, 100, 50, delta=0)
    0.0
    """
    if not 0 <= correct <= guesses <= canaries or not 0 <= delta < 1 or not 0 < confidence < 1:
        raise UsageError(
            f"{correct} of {guesses} guesses for {canaries} canaries, δ = {delta}, confidence "
            f"{confidence}: impossible",
            code="out-of-range",
        )
    refuted = 1 - confidence

    def refutes(epsilon: float) -> bool:
        return guess_p_value(canaries, guesses, correct, epsilon, delta) <= refuted

    if not refutes(0.0):
        return 0.0
    low, high = 0.0, 1.0
    while high < LARGEST_EPSILON and refutes(high):
        low, high = high, 2 * high
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (middle, high) if refutes(middle) else (low, middle)
    return low


def guess_p_value(canaries: int, guesses: int, correct: int, epsilon: float, delta: float) -> float:
    r"""Bound the probability of at least so many right guesses under (ε, δ)-privacy.

    .. math:: p = \Pr[W \ge v] + 2 m \delta \max_{1 \le i \le v} \frac{\Pr[v > W \ge v - i]}{i},
       \qquad W \sim \mathrm{Binomial}\left(r, \frac{e^\epsilon}{1 + e^\epsilon}\right)

    Parameters
    ----------
    canaries, guesses, correct : int
        m, r and v.
    epsilon, delta : float
        The privacy that is tested.
    """
    right = scipy.special.expit(epsilon)
    tail = float(scipy.special.bdtrc(correct - 1, guesses, right)) if correct else 1.0
    if delta == 0 or correct == 0:
        return tail
    steps = np.arange(1, correct + 1)
    at_least = np.ones(correct)  # Pr[W >= v - i], which is 1 for i = v
    at_least[:-1] = scipy.special.bdtrc(correct - steps[:-1] - 1, guesses, right)
    excess = (at_least - tail) / steps
    return min(1.0, tail + 2 * canaries * delta * float(excess.max()))
