"""Calibration on other scores: from scores to likelihood ratios without a look at the labels.

Oracle calibration (:mod:`~sottovoce.measure.calibration`) is an upper limit that is found with the
labels of the scores at hand. Here the map is learnt from the scores of other speakers and applied.

Logistic regression: Brümmer & du Preez, "Application-independent evaluation of speaker detection",
Computer Speech & Language 20, 2006; prior-weighted as in the toolkits FoCal and BOSARIS.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.core.errors import InputError
from sottovoce.core.types import FloatArray, RealArray
from sottovoce.measure.calibration import calibrate
from sottovoce.measure.scores import CHUNK, ScoreSource

Method = Literal["logistic", "pav"]


class LlrMap(Protocol):
    """A map from scores to natural-log likelihood ratios."""

    def llr(self, scores: ArrayLike) -> FloatArray:
        """Calibrate scores."""

    def to_dict(self) -> dict[str, list[float | str]] | dict[str, float]:
        """Return what the map consists of."""


@dataclass(frozen=True, slots=True)
class LogisticCalibration:
    """An affine map from score to natural-log likelihood ratio.

    >>> LogisticCalibration(slope=2.0, offset=-1.0, prior=0.5).llr([0.0, 1.5])
    array([-1.,  2.])
    """

    slope: float
    offset: float
    prior: float
    """The prior that the training weighed both classes by."""

    def llr(self, scores: ArrayLike) -> FloatArray:
        """Calibrate scores.

        Parameters
        ----------
        scores : array_like
            In any order.
        """
        return np.asarray(self.slope * np.asarray(scores, np.float64) + self.offset)

    def to_dict(self) -> dict[str, float]:
        """The map as slope and offset."""
        return {"slope": self.slope, "offset": self.offset, "prior": self.prior}


def fit_calibration(
    train: ScoreSource, method: Method = "logistic", *, prior: float = 0.5
) -> LlrMap:
    """Learn a calibration from scores with labels.

    Parameters
    ----------
    train : ScoreSource
        Scores of other speakers than those whose scores will be calibrated.
    method : {"logistic", "pav"}, default "logistic"
        An affine map, or a non-decreasing step map. The latter is found by PAV with Laplace's rule,
        so that no likelihood ratio is infinite.
    prior : float, default 0.5
        For ``logistic``: the prior at which the calibration is meant to be best.

    Raises
    ------
    InputError
        Those of :func:`fit_logistic`.
    """
    return (
        fit_logistic(train, prior=prior) if method == "logistic" else calibrate(train, laplace=True)
    )


def fit_logistic(train: ScoreSource, *, prior: float = 0.5) -> LogisticCalibration:
    r"""Learn slope a and offset b by prior-weighted logistic regression.

    .. math:: \min_{a,b}\ \frac{\pi}{m} \sum_{mated} \ln(1 + e^{-(as + b + \tau)})
                        + \frac{1 - \pi}{n} \sum_{non-mated} \ln(1 + e^{as + b + \tau}),
              \quad \tau = \ln\frac{\pi}{1 - \pi}

    Parameters
    ----------
    train : ScoreSource
        Mated and non-mated scores; they are read about ten times.
    prior : float, default 0.5
        π, above 0 and below 1.

    Raises
    ------
    InputError
        ``out-of-range`` for the prior; ``separable`` where a threshold separates the classes, so
        that no slope is steep enough.
    """
    if not 0.0 < prior < 1.0:
        raise InputError(f"prior {prior:g}: must be above 0 and below 1", code="out-of-range")
    _refuse_separable(train)
    centre, scale = _location_and_scale(train)
    problem = _LogisticProblem(train, centre, scale, prior)
    slope, offset = _newton(problem.value_and_derivatives)
    return LogisticCalibration(float(slope / scale), float(offset - slope * centre / scale), prior)


def _refuse_separable(train: ScoreSource) -> None:
    """Refuse classes that meet in one score at most."""
    lowest, highest = math.inf, -math.inf
    for chunk in train.nonmated_chunks():
        lowest, highest = min(lowest, float(chunk.min())), max(highest, float(chunk.max()))
    if train.mated.min() >= highest or train.mated.max() <= lowest:
        raise InputError(
            f"{train.name}: a threshold separates mated from non-mated scores, so logistic "
            "regression finds no slope; use the method pav, or add trials",
            code="separable",
        )


def _location_and_scale(train: ScoreSource) -> tuple[float, float]:
    """Where most mated scores lie; outliers do not count, which keeps the problem well posed."""
    low, middle, high = np.percentile(train.mated.astype(np.float64), (25, 50, 75)).tolist()
    return middle, (high - low) or (train.high - train.low)


Derivatives = tuple[float, FloatArray, FloatArray]
"""A value, its gradient and its matrix of second derivatives."""


@dataclass(frozen=True, slots=True, eq=False)
class _LogisticProblem:
    """The cost of a slope and an offset for scores that are moved and scaled."""

    train: ScoreSource
    centre: float
    scale: float
    prior: float

    def value_and_derivatives(self, parameters: FloatArray) -> Derivatives:
        """Cost, gradient and second derivatives at a slope and an offset."""
        log_odds = math.log(self.prior / (1 - self.prior))
        value, gradient, curvature = 0.0, np.zeros(2), np.zeros((2, 2))
        for scores, sign, weight in self._parts():
            x = (scores.astype(np.float64) - self.centre) / self.scale
            z = sign * (parameters[0] * x + parameters[1] + log_odds)
            wrong = np.exp(-np.logaddexp(0.0, z))  # 1 / (1 + e^z)
            value += weight * float(np.logaddexp(0.0, -z).sum())
            columns = np.stack((x, np.ones_like(x)))
            gradient -= sign * weight * (columns @ wrong)
            curvature += weight * (columns * (wrong * (1 - wrong))) @ columns.T
        return value, gradient, curvature

    def _parts(self) -> Iterator[tuple[RealArray, float, float]]:
        """Scores in chunks, with the sign and the weight of their class."""
        mated = self.train.mated
        for start in range(0, len(mated), CHUNK):
            yield mated[start : start + CHUNK], 1.0, self.prior / len(mated)
        for chunk in self.train.nonmated_chunks():
            yield chunk, -1.0, (1 - self.prior) / self.train.n_nonmated


MAX_STEPS = 500
CONVERGED = 1e-13
"""Newton's method ends where a step would lower the cost by less than this share of it."""


def _newton(function: Callable[[FloatArray], Derivatives]) -> FloatArray:
    """Minimise a convex function of two parameters by Newton's method with halved steps."""
    parameters: NDArray[np.float64] = np.zeros(2)
    value, gradient, curvature = function(parameters)
    for _ in range(MAX_STEPS):
        step = np.linalg.solve(curvature, gradient)
        if float(gradient @ step) <= CONVERGED * value:
            return np.asarray(parameters - step)
        new_value, gradient, curvature = function(parameters - step)
        while new_value > value:
            step /= 2
            new_value, gradient, curvature = function(parameters - step)
        parameters, value = parameters - step, new_value
    raise InputError(
        "logistic regression did not converge; the scores of both classes hardly overlap: use the "
        "method pav, or add trials",
        code="not-converged",
    )
