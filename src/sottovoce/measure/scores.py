"""Mated and non-mated scores, checked once at the door.

Everything in :mod:`sottovoce.measure` takes a :class:`ScoreSource`: the mated scores as one array
and the non-mated ones in chunks. :class:`Scores` is the source that fits in memory;
:class:`~sottovoce.measure.score_stream.ScoreStream` is one that does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.core.arrays import names_as_text
from sottovoce.core.errors import InputError
from sottovoce.core.types import AnyArray, IntArray, RealArray

LARGEST = 1e100
"""The largest score that is taken: sums of squares of such scores are still finite."""

LARGEST_EXACT = 1 << 53
"""The largest whole number up to which doubles hold every whole number."""

CHUNK = 1 << 18
"""Scores handled at a time: a float32 chunk of this size sorts inside a second-level cache."""


@dataclass(frozen=True, slots=True, eq=False)
class Speakers:
    """Who speaks in each trial, as numbers 0 … count − 1; what a resample by speaker needs."""

    mated: IntArray
    nonmated_enrol: IntArray
    nonmated_trial: IntArray
    count: int
    names: NDArray[np.str_] | None = None
    """Name of each number, in alphabetical order, if names are known: what pairs two score sets."""

    @classmethod
    def from_names(
        cls, mated: ArrayLike, enrol: ArrayLike, trial: ArrayLike, *, origin: str | None = None
    ) -> Speakers:
        """Number the speakers: one name per mated trial, two names a non-mated trial.

        Parameters
        ----------
        mated : array_like
            Speaker of each mated trial, a name or a number.
        enrol, trial : array_like
            Speakers of both sides of each non-mated trial.
        origin : str, optional
            What to call them in error messages, such as the file they come from.
        """
        before = "" if origin is None else f"{origin}: "
        given = {"mated": mated, "non-mated enrol": enrol, "non-mated trial": trial}
        sides = {
            f"{before}{side} speakers": _distinct_names(values, f"{before}{side} speakers")
            for side, values in given.items()
        }
        names = np.unique(np.concatenate([distinct for distinct, _ in sides.values()]))
        numbers = []
        for where, (distinct, codes) in sides.items():
            numbers.append(np.searchsorted(names, distinct)[codes])
            _refuse_nameless(names, numbers[-1], where)
        return cls(numbers[0], numbers[1], numbers[2], len(names), names)


class ScoreSource(Protocol):
    """What the measures ask of a set of scores."""

    @property
    def name(self) -> str:
        """What to call this set in messages and legends."""

    @property
    def mated(self) -> RealArray:
        """Scores of pairs of one speaker."""

    @property
    def n_nonmated(self) -> int:
        """How many scores of pairs of different speakers there are."""

    @property
    def low(self) -> float:
        """The smallest score of both classes."""

    @property
    def high(self) -> float:
        """The largest score of both classes."""

    @property
    def speakers(self) -> Speakers | None:
        """Who speaks in each trial, if known."""

    def nonmated_chunks(self) -> Iterator[RealArray]:
        """Go through the non-mated scores, in any order; may be asked for again."""


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Scores:
    """Mated and non-mated scores in memory, higher = more alike.

    >>> scores = Scores([1.0, 2.0, 3.0], [0.0, 0.5, 1.5, 1.0])
    >>> scores.n_mated, scores.n_nonmated
    (3, 4)

    Parameters
    ----------
    mated, nonmated
        One-dimensional and finite, at least one of each. float32 is kept, all else is float64.
    speakers
        Who speaks in each trial; makes resampling by speaker possible.
    name
        What to call this set in tables and legends.
    origin
        What to call it in error messages, such as the file it comes from; default its name.
    """

    mated: RealArray
    nonmated: RealArray
    speakers: Speakers | None
    name: str
    low: float
    high: float

    def __init__(
        self,
        mated: ArrayLike,
        nonmated: ArrayLike,
        *,
        speakers: Speakers | None = None,
        name: str = "scores",
        origin: str | None = None,
    ) -> None:
        where = origin or name
        sides = {"mated": mated, "nonmated": nonmated}
        arrays = {side: as_scores(values, f"{where}: {side}") for side, values in sides.items()}
        ranges = [check_finite(values, f"{where}: {side}") for side, values in arrays.items()]
        if speakers is not None:
            _check_speakers(speakers, len(arrays["mated"]), len(arrays["nonmated"]), where)
        for field, value in {
            **arrays,
            "speakers": speakers,
            "name": name,
            "low": min(low for low, _ in ranges),
            "high": max(high for _, high in ranges),
        }.items():
            object.__setattr__(self, field, value)

    @property
    def n_mated(self) -> int:
        """How many mated scores there are."""
        return len(self.mated)

    @property
    def n_nonmated(self) -> int:
        """How many non-mated scores there are."""
        return len(self.nonmated)

    def nonmated_chunks(self) -> Iterator[RealArray]:
        """Go through the non-mated scores, a chunk at a time."""
        yield self.nonmated


def _distinct_names(values: ArrayLike, where: str) -> tuple[NDArray[np.str_], IntArray]:
    """The different names as text, and which of them each value is."""
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "UiuOS":
        raise InputError(
            f"{where}: {array.dtype} of shape {array.shape}; give a flat list of names or numbers",
            code="wrong-type",
        )
    if array.dtype.kind == "O":
        array = names_as_text(array, where)
    distinct, codes = _distinct(array)
    return names_as_text(distinct, where), codes


def _distinct(array: AnyArray) -> tuple[AnyArray, IntArray]:
    """The different values and which of them each one is; whole numbers by a table if it is short.

    Different numbers are different texts, so only the different ones need be turned into text.
    """
    if array.dtype.kind in "iu" and len(array):
        low, high = int(array.min()), int(array.max())
        if high - low <= 4 * len(array) and high < 1 << 63:
            shifted = array.astype(np.int64) - low
            table = np.bincount(shifted)
            present = np.flatnonzero(table)
            table[present] = np.arange(len(present))
            return present + low, table[shifted]
    distinct, codes = np.unique(array, return_inverse=True)
    return distinct, codes.astype(np.int64)


def _refuse_nameless(names: NDArray[np.str_], numbers: IntArray, where: str) -> None:
    """Refuse empty names: looked for among the different ones, which are few."""
    for empty in np.flatnonzero(np.char.strip(names) == ""):
        for place in np.flatnonzero(numbers == empty)[:1]:
            raise InputError(
                f"{where}: position {place:,} has an empty name; name the speaker",
                code="missing-name",
            )


def as_scores(values: ArrayLike, where: str) -> RealArray:
    """Turn ``values`` into a flat array of float32 or float64, or say what is wrong with it.

    Parameters
    ----------
    values : array_like
        Numbers.
    where : str
        What they are, for messages.
    """
    try:
        array = np.asarray(values)
    except ValueError:
        raise InputError(
            f"{where}: rows of different lengths; give one flat list", code="wrong-shape"
        ) from None
    if array.ndim != 1:
        raise InputError(
            f"{where}: shape {array.shape}; scores must be a flat list (one axis)",
            code="wrong-shape",
        )
    if array.size == 0:
        raise InputError(
            f"{where}: no scores; at least 1 is needed: add trials of this kind", code="empty"
        )
    if array.dtype.kind not in "fiu":
        raise InputError(
            f"{where}: {array.dtype} values; scores must be real numbers", code="wrong-type"
        )
    if array.dtype == np.float32:
        return array
    if array.dtype.kind in "iu" and array.dtype.itemsize > 4:
        check_exact(int(array.min()), int(array.max()), where)
    return array.astype(np.float64, copy=False)


def check_exact(low: int, high: int, where: str) -> None:
    """Refuse whole numbers that float64 would round, since different scores would become equal.

    Parameters
    ----------
    low, high : int
        Range of the scores.
    where : str
        What they are, for messages.
    """
    largest = max(-low, high)
    if largest > LARGEST_EXACT:
        raise InputError(
            f"{where}: a whole number of size {largest:,}; beyond 2^53 doubles do not hold all "
            "whole numbers: rescale the scores and save them as float64",
            code="out-of-range",
        )


def check_finite(values: RealArray, where: str) -> tuple[float, float]:
    """Give the range of ``values``; refuse NaN and infinity, naming the first place.

    Parameters
    ----------
    values : array of float32 or float64
        Any scores, one at least.
    where : str
        What they are, for messages.
    """
    low, high = float(values.min()), float(values.max())
    if low >= -LARGEST and high <= LARGEST:
        return low, high
    refuse_not_finite([values], where)
    most = max(abs(low), abs(high))
    raise InputError(
        f"{where}: a score of size {most:g}; at most {LARGEST:g}: rescale them",
        code="out-of-range",
    )


def refuse_not_finite(chunks: Iterable[RealArray], where: str) -> None:
    """Raise an error that says where the first score is that is not finite, if there is one.

    Parameters
    ----------
    chunks : iterable of array
        All scores, in their order.
    where : str
        What they are, for messages.
    """
    total = bad = first = 0
    value = np.nan
    for chunk in chunks:
        places = np.flatnonzero(~np.isfinite(chunk))
        if len(places) and not bad:
            first, value = total + int(places[0]), float(chunk[places[0]])
        bad += len(places)
        total += len(chunk)
    if bad:
        raise InputError(
            f"{where}: {bad:,} of {total:,} scores are not finite, the first ({value}) at position "
            f"{first:,}; remove or recompute these trials",
            code="not-finite",
        )


def _check_speakers(speakers: Speakers, n_mated: int, n_nonmated: int, name: str) -> None:
    have = (len(speakers.mated), len(speakers.nonmated_enrol), len(speakers.nonmated_trial))
    if have != (n_mated, n_nonmated, n_nonmated):
        raise InputError(
            f"{name}: speakers given for {have[0]:,} mated and {have[1]:,}/{have[2]:,} non-mated "
            f"trials, but there are {n_mated:,} and {n_nonmated:,} scores; give one a trial",
            code="mismatch",
        )
    same = np.flatnonzero(speakers.nonmated_enrol == speakers.nonmated_trial)
    if len(same):
        raise InputError(
            f"{name}: {len(same):,} non-mated trials have one speaker on both sides, the first at "
            f"position {same[0]:,}; correct the labels or the speakers",
            code="bad-label",
        )


def example_scores(speakers: int = 40, utterances: int = 8) -> Scores:
    """Simulate log-likelihood ratios of a weak anonymiser, with speakers of varying risk.

    Every utterance is compared with an enrolment of each speaker. Some speakers are easier to
    recognise than others, so trials of one speaker rise and fall together.

    Parameters
    ----------
    speakers : int, default 40
        Enrolled speakers, who all speak in trials.
    utterances : int, default 8
        Trials a speaker.
    """
    rng = np.random.default_rng(20201025)
    ease = rng.normal(0.0, 0.8, speakers)
    enrol, trial = np.divmod(np.arange(speakers * speakers * utterances), speakers * utterances)
    trial //= utterances
    mated = enrol == trial
    spread = rng.normal(0.0, 1.7, len(enrol))
    scores = np.where(mated, 1.6 + ease[enrol], -1.6 - 0.4 * (ease[enrol] + ease[trial])) + spread
    who = Speakers(enrol[mated], enrol[~mated], trial[~mated], speakers)
    return Scores(scores[mated], scores[~mated], speakers=who, name="example (simulated)")
