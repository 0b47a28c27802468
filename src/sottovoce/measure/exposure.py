r"""Exposure: how far a model has memorised a secret that was put into its training data.

All values of a space R are ranked by the model's log-perplexity Px. With rank 1 for the most likely
value, the exposure of a secret s is

.. math:: \log_2 |R| - \log_2 \#\{r \in R : Px(r) \leq Px(s)\}

bits (Carlini et al. 2019; COMPRISE deliverable D2.3, equation 7). A secret that the model has never
seen has a random rank, and an exposure of 1.44 bits on average: never read an exposure without its
p-value. Where the space is too large to be scored, the rank is estimated from a random sample.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

from sottovoce.core.errors import InputError, TooFewError
from sottovoce.findings.exposure import Exposure, ExposureSummary
from sottovoce.findings.memorisation import CanaryExposure, CanaryGroup
from sottovoce.measure.intervals import check_confidence, student_quantile

_NAME = re.compile(r"(?P<spec>.+)-(?P<repetitions>\d+)x-\d+")
"""Names of canaries as ``sottovoce memorisation insert`` gives them."""
MINIMUM_SAMPLE = 30
"""Fewest random values behind an estimate."""


def exact_exposure(perplexities: ArrayLike, secret: int) -> Exposure:
    """Compute the exposure of a secret from the log-perplexities of its whole space.

    Parameters
    ----------
    perplexities : array_like of float, shape (values,)
        Log-perplexities of all values of the space, in any base.
    secret : int
        Which of them is the secret.

    Returns
    -------
    Exposure
        Values that are as likely as the secret count as more likely, so a model that cannot tell
        them apart has an exposure of 0.

    Raises
    ------
    InputError
        ``not-finite`` for values that are no numbers, ``out-of-range`` for a secret that is not in
        the space.
    TooFewError
        If the space has fewer than two values.
    """
    values = _checked(perplexities)
    if len(values) < 2:
        raise TooFewError(f"a space of {len(values)} values; a secret needs at least 2 to hide in")
    if not 0 <= secret < len(values):
        raise InputError(
            f"secret {secret} is not in the space of {len(values):,} values; give its number",
            code="out-of-range",
        )
    rank = int(np.count_nonzero(values <= values[secret]))
    largest = math.log2(len(values))
    bits = largest - math.log2(rank)
    size = len(values)
    return Exposure(bits, largest, rank, "exact", rank / size, size, size)


def sampled_exposure(secret: float, sample: ArrayLike, space: int) -> Exposure:
    """Estimate the exposure of a secret from random other values of its space.

    Parameters
    ----------
    secret : float
        Log-perplexity of the secret.
    sample : array_like of float, shape (values,)
        Log-perplexities of values drawn at random.
    space : int
        Size of the space.

    Returns
    -------
    Exposure
        At most log2 of the size of the sample and one: a memorised secret has more.
    """
    values = _checked_sample(secret, sample, space)
    before = int(np.count_nonzero(values <= secret))
    share = (before + 1) / (len(values) + 1)
    scored = len(values) + 1
    return Exposure(-math.log2(share), math.log2(scored), None, "sampled", share, space, scored)


def fitted_exposure(secret: float, sample: ArrayLike, space: int) -> Exposure:
    """Extrapolate the exposure of a secret by a skew-normal distribution fitted to a sample.

    Parameters
    ----------
    secret : float
        Log-perplexity of the secret.
    sample : array_like of float, shape (values,)
        Log-perplexities of values drawn at random.
    space : int
        Size of the space.

    Returns
    -------
    Exposure
        At most log2 of the size of the space. For memorised secrets it was several bits too low
        where the exact value is known.
    """
    values = _checked_sample(secret, sample, space)
    if values.min() == values.max():
        raise InputError(
            "all sampled log-perplexities are equal; nothing can be fitted: use the sampled method",
            code="degenerate",
        )
    largest = math.log2(space)
    log_share = float(stats.skewnorm.logcdf(secret, *stats.skewnorm.fit(values))) / math.log(2)
    bits = min(max(-log_share, 0.0), largest)
    return Exposure(bits, largest, None, "skew-normal", 2.0**-bits, space, len(values) + 1)


def null_exposure(space: int) -> float:
    """Return the mean exposure of a secret that the model has never seen.

    All ranks are equally likely, which gives log2 n − log2(n!) / n, 1.44 bits for large spaces.

    Parameters
    ----------
    space : int
        Size n of the space.
    """
    return (math.log(space) - float(special.gammaln(space + 1)) / space) / math.log(2)


def summarise_exposures(
    exposures: Sequence[Exposure], *, confidence: float = 0.95
) -> ExposureSummary:
    """Average the exposures of secrets that were treated alike.

    Parameters
    ----------
    exposures : sequence of Exposure
        At least two, found by the same method.
    confidence : float, default 0.95
        Of the interval, Student's t within the possible values. Exposures that are all equal have
        an interval that reaches to that of a further secret nobody has seen.

    Raises
    ------
    InputError
        ``mixed-methods`` if they were found by different methods, which cannot be compared.
    TooFewError
        If there are fewer than two.
    """
    check_confidence(confidence)
    if len(exposures) < 2:
        raise TooFewError(f"{len(exposures)} secret; a mean exposure needs at least 2")
    methods = {exposure.method for exposure in exposures}
    if len(methods) > 1:
        raise InputError(
            f"exposures by different methods: {', '.join(sorted(methods))}; use one for all",
            code="mixed-methods",
        )
    bits = np.array([exposure.exposure_bits for exposure in exposures])
    null_mean = float(np.mean([null_exposure(exposure.space) for exposure in exposures]))
    largest = float(np.mean([exposure.maximum_bits for exposure in exposures]))
    low, high = _mean_ends(bits, null_mean, confidence)
    return ExposureSummary(
        value=float(bits.mean()),
        low=max(0.0, low),
        high=min(largest, high),
        confidence=confidence,
        secrets=len(bits),
        method=exposures[0].method,
        null_mean=null_mean,
        p_value=float(special.gammaincc(len(bits), math.log(2) * bits.sum())),
    )


def group_exposures(exposures: Mapping[str, Exposure]) -> tuple[CanaryGroup, ...]:
    """Group canaries that were inserted equally often, by names such as ``pin-4x-2``.

    Parameters
    ----------
    exposures : mapping of str to Exposure
        By the name of the canary; names of another form are in no group.

    Returns
    -------
    tuple of CanaryGroup
        By specification, then by rising repetitions.
    """
    groups: dict[tuple[str, int], list[CanaryExposure]] = {}
    for name, exposure in exposures.items():
        match = _NAME.fullmatch(name)
        if match:
            repetitions = int(match["repetitions"])
            entry = CanaryExposure(name, repetitions, exposure)
            groups.setdefault((match["spec"], repetitions), []).append(entry)
    return tuple(
        CanaryGroup(
            spec,
            repetitions,
            summarise_exposures([entry.exposure for entry in groups[spec, repetitions]])
            if len(groups[spec, repetitions]) > 1
            else None,
            tuple(groups[spec, repetitions]),
        )
        for spec, repetitions in sorted(groups)
    )


def _mean_ends(
    bits: NDArray[np.float64], null_mean: float, confidence: float
) -> tuple[float, float]:
    """Student's t; with equal values the spread is that with one more secret nobody has seen."""
    mean, spread = float(bits.mean()), float(bits.std(ddof=1))
    if spread == 0:
        spread = float(np.append(bits, null_mean).std(ddof=1))
    half = student_quantile(len(bits) - 1, confidence) * spread / math.sqrt(len(bits))
    return mean - half, mean + half


def _checked(values: ArrayLike) -> NDArray[np.float64]:
    numbers = np.asarray(values, np.float64).ravel()
    if not np.isfinite(numbers).all():
        where = int(np.flatnonzero(~np.isfinite(numbers))[0])
        raise InputError(
            f"log-perplexity {where} is {numbers[where]}; all must be finite numbers",
            code="not-finite",
        )
    return numbers


def _checked_sample(secret: float, sample: ArrayLike, space: int) -> NDArray[np.float64]:
    values = _checked(sample)
    _checked([secret])
    if len(values) < MINIMUM_SAMPLE:
        raise TooFewError(
            f"{len(values)} sampled values; at least {MINIMUM_SAMPLE} are needed to estimate a rank"
        )
    if space < len(values) + 1:
        raise InputError(
            f"a space of {space:,} values cannot give {len(values):,} others; score all of it",
            code="out-of-range",
        )
    return values
