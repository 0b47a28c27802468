"""What a private training run spends: two accountants side by side, and the noise for a budget.

The mechanism is the Poisson-subsampled Gaussian mechanism, T times: each record (or each person)
is in a lot with probability q, and noise of z times the clipping bound is added to the sum of
the lot. Two accountants bound its ε for a given δ:

- RDP, Rényi differential privacy with orders up to 4,096 (Mironov 2017; Wang et al. 2019). It is
  the accountant of the published tables.
- PLD, the privacy loss distribution (Koskela et al. 2020), which is tighter.

Both come from Google's ``dp-accounting``. The relation of neighbours is that one record is added
or removed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from types import ModuleType
from typing import Literal

from sottovoce.core.errors import MissingExtraError, UsageError
from sottovoce.core.records import Record

Accountant = Literal["rdp", "pld"]

ORDERS = (
    *(1 + step / 10 for step in range(1, 100)),
    *(float(order) for order in range(11, 64)),
    *(float(order) for order in (64, 80, 96, 128, 192, 256, 384, 512, 768)),
    *(float(order) for order in (1024, 1536, 2048, 3072, 4096)),
)
"""Orders of Rényi divergence. Those above 64 matter for ε below 0.1: without them RDP cannot
certify much less than that."""

NEIGHBOURS = "add or remove one"
SAMPLING = "Poisson"
LARGEST_NOISE = 1e6
"""Noise multiplier above which calibration gives up."""
_TOLERANCE = 5e-4
"""Relative width of the last interval of the bisection."""


@dataclass(frozen=True, slots=True)
class PrivacySpent(Record):
    """What a run of DPSGD spends, with everything that the claim depends on."""

    rdp_epsilon: float
    """ε by Rényi differential privacy."""
    pld_epsilon: float
    """ε by the privacy loss distribution."""
    delta: float
    """δ, the probability with which ε may be exceeded."""
    sampling_rate: float
    """q, the probability with which a record is in a lot."""
    noise_multiplier: float
    """z, the standard deviation of the noise as a multiple of the clipping bound."""
    steps: int
    """T, the number of lots."""
    orders: tuple[float, ...]
    """Orders of Rényi divergence that were tried."""
    best_order: float | None
    """The order that gave ``rdp_epsilon``; None if nothing was spent."""
    neighbours: str
    """Relation of data sets that are to be hard to tell apart."""
    sampling: str
    """How lots are drawn; another sampling is not covered."""
    library: str
    """Name and version of the library that computed both."""

    def epsilon(self, accountant: Accountant = "rdp") -> float:
        """Return the ε of one accountant.

        Parameters
        ----------
        accountant : {"rdp", "pld"}, default "rdp"
            Which one.
        """
        return self.rdp_epsilon if accountant == "rdp" else self.pld_epsilon


def account(
    *, sampling_rate: float, noise_multiplier: float, steps: int, delta: float
) -> PrivacySpent:
    """Compute what a run of DPSGD with Poisson lots spends.

    Parameters
    ----------
    sampling_rate : float
        q, the probability with which a record is in a lot, above 0 and at most 1.
    noise_multiplier : float
        z, the noise as a multiple of the clipping bound, above 0.
    steps : int
        T, the number of lots, at least 0.
    delta : float
        δ, between 0 and 1; less than one over the number of records.

    Returns
    -------
    PrivacySpent
        ε by both accountants, and what they depend on.

    Raises
    ------
    UsageError
        ``out-of-range``.
    MissingExtraError
        Without the extra ``learn``.

    Examples
    --------
    >>> spent = account(sampling_rate=256 / 60_000, noise_multiplier=1.1, steps=2340, delta=1e-5)
    >>> round(spent.rdp_epsilon, 2), round(spent.pld_epsilon, 2)
    (1.1, 0.92)
    """
    _check_mechanism(sampling_rate, steps, delta)
    if not 0 < noise_multiplier < float("inf"):
        raise UsageError(
            f"noise multiplier {noise_multiplier}: use a number above 0", code="out-of-range"
        )
    library = _library()
    rdp, best_order = _rdp_epsilon(library, sampling_rate, noise_multiplier, steps, delta)
    return PrivacySpent(
        rdp_epsilon=rdp,
        pld_epsilon=_pld_epsilon(library, sampling_rate, noise_multiplier, steps, delta),
        delta=delta,
        sampling_rate=sampling_rate,
        noise_multiplier=noise_multiplier,
        steps=steps,
        orders=ORDERS,
        best_order=best_order,
        neighbours=NEIGHBOURS,
        sampling=SAMPLING,
        library=f"dp-accounting {version('dp-accounting')}",
    )


def calibrate_noise(
    *,
    epsilon: float,
    delta: float,
    sampling_rate: float,
    steps: int,
    accountant: Accountant = "rdp",
) -> float:
    """Find the least noise with which a run stays within a budget.

    Parameters
    ----------
    epsilon : float
        ε, the budget of the whole run, above 0.
    delta : float
        δ of the budget.
    sampling_rate : float
        q, the probability with which a record is in a lot.
    steps : int
        T, the number of lots, at least 1.
    accountant : {"rdp", "pld"}, default "rdp"
        With ``rdp`` both accountants stay within the budget; with ``pld``, which needs less
        noise, only PLD does.

    Returns
    -------
    float
        z, such that ε is at most the budget.

    Raises
    ------
    UsageError
        ``out-of-range``, also if no noise up to a million would do.

    Examples
    --------
    >>> round(calibrate_noise(epsilon=1, delta=1e-5, sampling_rate=512 / 60_000, steps=293), 2)
    1.12
    """
    _check_mechanism(sampling_rate, steps, delta)
    if steps < 1 or not 0 < epsilon < float("inf"):
        raise UsageError(
            f"ε = {epsilon} for {steps} steps: use an ε above 0 and at least 1 step",
            code="out-of-range",
        )
    library = _library()

    def spends(noise: float, by: Accountant) -> float:
        mechanism = (library, sampling_rate, noise, steps, delta)
        return _rdp_epsilon(*mechanism)[0] if by == "rdp" else _pld_epsilon(*mechanism)

    noise = _least_noise(lambda noise: spends(noise, accountant), epsilon)
    while accountant == "rdp" and spends(noise, "pld") > epsilon:  # its grid rounds upwards
        noise *= 1.01
    return noise


def _least_noise(epsilon_of: Callable[[float], float], epsilon: float) -> float:
    """Bisect; ε falls with the noise."""
    high = 1.0
    while epsilon_of(high) > epsilon:
        high *= 2
        if high > LARGEST_NOISE:
            raise UsageError(
                f"ε = {epsilon}: no noise is enough; take fewer steps, smaller lots or a larger "
                "budget",
                code="out-of-range",
            )
    low = high / 2
    while low > _TOLERANCE and epsilon_of(low) <= epsilon:
        low, high = low / 2, low
    while high - low > _TOLERANCE * high:
        middle = (low + high) / 2
        low, high = (low, middle) if epsilon_of(middle) <= epsilon else (middle, high)
    return high


def _check_mechanism(sampling_rate: float, steps: int, delta: float) -> None:
    if not 0 < sampling_rate <= 1:
        raise UsageError(
            f"sampling rate {sampling_rate}: use a number above 0 and at most 1",
            code="out-of-range",
        )
    if steps < 0:
        raise UsageError(f"{steps} steps: use 0 or a positive number", code="out-of-range")
    if not 0 < delta < 1:
        raise UsageError(f"δ = {delta}: use a number between 0 and 1", code="out-of-range")


def _library() -> ModuleType:
    try:
        import dp_accounting
    except ImportError:
        raise MissingExtraError("accounting for privacy", "learn") from None
    module: ModuleType = dp_accounting
    return module


@cache  # the seeds of a study repeat one mechanism
def _rdp_epsilon(
    library: ModuleType, sampling_rate: float, noise: float, steps: int, delta: float
) -> tuple[float, float | None]:
    from dp_accounting import rdp

    if steps == 0:
        return 0.0, None
    with _quiet():
        accountant = rdp.RdpAccountant(orders=ORDERS)
        accountant.compose(_mechanism(library, sampling_rate, noise), steps)
        epsilon, order = accountant.get_epsilon_and_optimal_order(delta)
    return float(epsilon), float(order)


@cache
def _pld_epsilon(
    library: ModuleType, sampling_rate: float, noise: float, steps: int, delta: float
) -> float:
    from dp_accounting import pld

    if steps == 0:
        return 0.0
    accountant = pld.PLDAccountant()
    accountant.compose(_mechanism(library, sampling_rate, noise), steps)
    return float(accountant.get_epsilon(delta))


def _mechanism(library: ModuleType, sampling_rate: float, noise: float) -> object:
    return library.PoissonSampledDpEvent(sampling_rate, library.GaussianDpEvent(noise))


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence remarks about orders that do not converge: they are left out, which is safe."""
    logger = logging.getLogger("absl")
    before = logger.disabled
    logger.disabled = True
    try:
        yield
    finally:
        logger.disabled = before
