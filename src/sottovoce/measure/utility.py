"""What anonymised speech is still good for: its words, melody, length, loudness and quality.

Takes words and arrays; who recognises the words and who tracks the pitch does not matter here. The
estimate of quality is that of DNSMOS P.835 (Reddy et al. 2022), from the package ``speechmos``
(MIT), which carries the network. That package itself is not imported: it would bring others that
are not needed. The network was made to rate noise suppression: on converted voices its figure is a
hint, not a listening test.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.core.edit_distance import count_edits
from sottovoce.core.errors import InputError, MissingExtraError, TooFewError
from sottovoce.core.onnx_networks import load_network
from sottovoce.core.records import Record
from sottovoce.measure.intervals import interval_of, mean_interval
from sottovoce.measure.resampling import MIN_SPEAKERS, MIN_TRIALS

MIN_FRAMES = 10
"""Frames voiced in both recordings that a correlation of pitch needs."""


@dataclass(frozen=True, slots=True)
class WordErrors(Record):
    """Differences between what was said and what was recognised."""

    words: int
    """Words that were said."""
    substitutions: int
    deletions: int
    insertions: int

    @property
    def total(self) -> int:
        """All differences."""
        return self.substitutions + self.deletions + self.insertions

    def __add__(self, other: WordErrors) -> WordErrors:
        return WordErrors(
            self.words + other.words,
            self.substitutions + other.substitutions,
            self.deletions + other.deletions,
            self.insertions + other.insertions,
        )


def word_errors(reference: str, hypothesis: str) -> WordErrors:
    """Count the fewest word errors that explain a transcript; among those, the most right words.

    Words are what spaces separate: normalise both transcripts first.

    Parameters
    ----------
    reference, hypothesis : str
        What was said and what was recognised, both normalised; blanks separate words.

    Examples
    --------
    >>> word_errors("the cat sat on the mat", "the bat sat mat please")
    WordErrors(words=6, substitutions=1, deletions=2, insertions=1)
    """
    words = reference.split()
    return WordErrors(len(words), *count_edits(words, hypothesis.split()))


@dataclass(frozen=True, slots=True)
class Average(Record):
    """A figure over a corpus, with its interval where there are enough speakers."""

    value: float
    low: float | None
    high: float | None
    resampled: str
    """What was drawn: ``speaker``, ``utterance`` or, without an interval, nothing."""


def word_error_rate(
    errors: Sequence[WordErrors],
    speakers: Sequence[str] | None = None,
    *,
    confidence: float = 0.95,
    resamples: int = 1000,
    rng: np.random.Generator,
) -> Average:
    """Compute the WER: all errors over all words that were said. May exceed 1.

    The interval comes from resamples of speakers, or of utterances where speakers are unknown or
    fewer than five.

    Parameters
    ----------
    errors : sequence of WordErrors
        One an utterance.
    speakers : sequence of str, optional
        Who speaks in each utterance.
    confidence : float, default 0.95
        Between 0 and 1.
    resamples : int, default 1000
        Resamples behind the interval.
    rng : numpy.random.Generator
        Source of the resamples.
    """
    counts = np.array(
        [(utterance.total, utterance.words) for utterance in errors], np.float64
    ).reshape(-1, 2)
    if not counts[:, 1].sum():
        raise TooFewError(
            "no word in the references; a word error rate needs transcripts", code="empty"
        )
    value = float(counts[:, 0].sum() / counts[:, 1].sum())
    draws, name = _resampled_rates(counts, speakers, resamples, rng)
    if not name:
        return Average(value, None, None, "")
    interval = interval_of(value, draws, confidence, bounds=(0.0, math.inf))
    return Average(value, interval.low, interval.high, name)


def word_error_difference(
    first: Sequence[WordErrors],
    second: Sequence[WordErrors],
    speakers: Sequence[str] | None = None,
    *,
    confidence: float = 0.95,
    resamples: int = 1000,
    rng: np.random.Generator,
) -> Average:
    """Compute the WER of one system minus that of another on the same utterances.

    Both are computed from the same resamples of speakers, so what makes a speaker hard for both
    does not widen the interval.

    Parameters
    ----------
    first, second : sequence of WordErrors
        One an utterance, in the same order, with the same words said.
    speakers : sequence of str, optional
        Who speaks in each utterance.
    confidence : float, default 0.95
        Between 0 and 1.
    resamples : int, default 1000
        Resamples behind the interval.
    rng : numpy.random.Generator
        Source of the resamples.

    Examples
    --------
    >>> worse, better = word_errors("a b c d", "a b"), word_errors("a b c d", "a b c")
    >>> word_error_difference([worse], [better], rng=np.random.default_rng(0)).value
    0.25
    """
    words = [errors.words for errors in first]
    if words != [errors.words for errors in second]:
        raise InputError(
            "the two systems were tested on other utterances; give both the same references",
            code="mismatch",
        )
    if not sum(words):
        raise TooFewError(
            "no word in the references; a word error rate needs transcripts", code="empty"
        )
    pairs = zip(first, second, words, strict=True)
    counts = np.array([(a.total - b.total, count) for a, b, count in pairs], np.float64)
    value = float(counts[:, 0].sum() / counts[:, 1].sum())
    draws, name = _resampled_rates(counts, speakers, resamples, rng)
    if not name:
        return Average(value, None, None, "")
    interval = interval_of(value, draws, confidence)
    return Average(value, interval.low, interval.high, name)


def _resampled_rates(
    counts: NDArray[np.float64],
    speakers: Sequence[str] | None,
    resamples: int,
    rng: np.random.Generator,
) -> tuple[NDArray[np.float64], str]:
    """Errors over words in resamples of speakers or utterances, and which of the two."""
    groups, name = _groups(len(counts), speakers)
    if not name:
        return np.empty(0), ""
    n = int(groups.max()) + 1
    sums = np.zeros((n, 2))
    np.add.at(sums, groups, counts)
    drawn = rng.multinomial(n, np.full(n, 1 / n), size=resamples) @ sums
    drawn = drawn[drawn[:, 1] > 0]
    return drawn[:, 0] / drawn[:, 1], name


def average(
    values: ArrayLike, speakers: Sequence[str] | None = None, *, confidence: float = 0.95
) -> Average:
    """Average one value per utterance; with speakers, the speakers' means (Student's t).

    Parameters
    ----------
    values : array_like
        One value per utterance.
    speakers : sequence of str, optional
        Who speaks in each utterance.
    confidence : float, default 0.95
        Between 0 and 1.
    """
    given = np.asarray(values, np.float64)
    if given.ndim != 1 or not len(given):
        raise TooFewError("no value to average; give one an utterance")
    groups, name = _groups(len(given), speakers)
    means = np.bincount(groups, given) / np.bincount(groups)
    if not name:
        return Average(float(means.mean()), None, None, "")
    interval = mean_interval(means, confidence)
    return Average(float(means.mean()), interval.low, interval.high, name)


def _groups(count: int, speakers: Sequence[str] | None) -> tuple[NDArray[np.int64], str]:
    """Which group each utterance is in, and what a group is; no name when there are too few."""
    if speakers is not None:
        if len(speakers) != count:
            raise InputError(
                f"{len(speakers)} speakers for {count} utterances; give one each", code="mismatch"
            )
        names, groups = np.unique(np.asarray(speakers), return_inverse=True)
        if len(names) >= MIN_SPEAKERS:
            return groups, "speaker"
    return np.arange(count), "utterance" if count >= MIN_TRIALS else ""


def f0_correlation(original: ArrayLike, anonymised: ArrayLike) -> float:
    """Compute Pearson's correlation of pitch over the frames voiced in both recordings.

    A frame without voice is 0 or NaN. Where one track is longer, the other is stretched to it.

    Parameters
    ----------
    original, anonymised : array_like
        F0 in Hz, one value per frame; 0 or NaN where there is no voice. The shorter track is
        stretched.
    """
    first, second = np.asarray(original, np.float64), np.asarray(anonymised, np.float64)
    if first.ndim != 1 or second.ndim != 1 or not len(first) or not len(second):
        raise InputError(
            f"pitch of shapes {first.shape}, {second.shape}; give one value per frame",
            code="wrong-shape",
        )
    frames = max(len(first), len(second))
    first, second = (track[_stretched(len(track), frames)] for track in (first, second))
    voiced = (first > 0) & (second > 0)
    if voiced.sum() < MIN_FRAMES:
        raise TooFewError(
            f"{int(voiced.sum())} frames voiced in both recordings; a correlation of pitch needs "
            f"{MIN_FRAMES}"
        )
    first, second = (track[voiced] - track[voiced].mean() for track in (first, second))
    size = math.sqrt(float(first @ first) * float(second @ second))
    if size <= 1e-9:
        raise TooFewError(
            "the pitch of one recording never changes; it has no correlation", code="constant"
        )
    return float(np.clip(first @ second / size, -1.0, 1.0))


def _stretched(length: int, frames: int) -> NDArray[np.int64]:
    """The frame of a shorter track at the same share of its length."""
    return np.asarray((np.arange(frames) + 0.5) * length / frames, np.int64)


def duration_ratio(original: float, anonymised: float) -> float:
    """Compute how long anonymised speech is, in lengths of the original.

    Parameters
    ----------
    original, anonymised : float
        Lengths above 0, in seconds or samples.
    """
    if not (original > 0 and anonymised > 0):
        raise InputError(
            f"lengths of {original:g} and {anonymised:g}; both must be above 0",
            code="out-of-range",
        )
    return anonymised / original


def loudness_difference(original: ArrayLike, anonymised: ArrayLike) -> float:
    """Compute how much louder anonymised speech is, in dB of the root mean square.

    Parameters
    ----------
    original, anonymised : array_like
        Samples; neither may be silent.
    """
    powers = []
    for name, audio in (("original", original), ("anonymised", anonymised)):
        samples = np.asarray(audio, np.float64)
        power = float(np.mean(np.square(samples))) if samples.size else 0.0
        if not 0 < power < math.inf:
            raise InputError(
                f"the {name} recording is silent or not finite; it has no loudness",
                code="silent",
            )
        powers.append(power)
    return 10 * math.log10(powers[1] / powers[0])


QUALITY_MODEL = "DNSMOS P.835"
QUALITY_PACKAGE = "speechmos"
QUALITY_WINDOW = 144_160
"""Samples the network listens to: 9.01 s."""
OVERALL_POLYNOMIAL = (-0.06766283, 1.11546468, 0.04602535)
"""From what the network gives to a mean vote from 1 to 5: a polynomial, highest power first."""


class QualityModel:
    """Rates recordings from 1 (bad) to 5 (excellent)."""

    def __init__(self) -> None:
        self._network: Any = load_network(_package_file())

    def overall(self, audio: NDArray[np.float32]) -> float:
        """Rate the first nine seconds; shorter recordings are repeated.

        Parameters
        ----------
        audio : array of float32
            Samples at 16 kHz, at least one.

        Returns
        -------
        float
            OVRL, 1 to 5.
        """
        if not len(audio):
            raise InputError(
                "a recording without samples has no quality; leave it out", code="empty"
            )
        window = np.resize(np.asarray(audio, np.float32), QUALITY_WINDOW)[None]
        (ratings,) = self._network.run(None, {"input_1": window})
        return float(np.polyval(OVERALL_POLYNOMIAL, ratings[0, 2]))


def _package_file() -> Path:
    package = find_spec(QUALITY_PACKAGE)
    if package is None or not package.submodule_search_locations:
        raise MissingExtraError("an estimate of speech quality", "quality")
    folder = Path(next(iter(package.submodule_search_locations)))
    return folder / "dnsmos_models" / "sig_bak_ovr.onnx"
