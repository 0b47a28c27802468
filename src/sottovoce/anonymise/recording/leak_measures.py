"""Measures of what masked recordings still reveal: rates, recovered words, traces in the signal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from sottovoce.anonymise.recording.mask import MaskedRecording, MaskedSpan, noise_like
from sottovoce.anonymise.recording.words import spoken_words, word_key
from sottovoce.asr.normalise import normalise
from sottovoce.core.records import JsonObject
from sottovoce.core.types import Audio, RealArray

SIGNIFICANCE = 0.01
"""A guesser is better than chance if chance does as well with less than this probability."""


@dataclass(frozen=True, slots=True)
class Rate:
    """Hits among tries, with the Clopper-Pearson interval at 95 % and the chance level."""

    hits: int
    total: int
    chance: float

    @property
    def interval(self) -> tuple[float, float]:
        """Clopper and Pearson 1934; 0 to 1 if nothing was tried."""
        k, n = self.hits, self.total
        low = float(stats.beta.ppf(0.025, k, n - k + 1)) if k else 0.0
        high = float(stats.beta.ppf(0.975, k + 1, n - k)) if k < n else 1.0
        return low, high

    @property
    def above_chance(self) -> bool:
        """Whether the one-sided binomial test against chance is significant."""
        if not self.total:
            return False
        chance = min(self.chance, 1.0)
        p_value = stats.binomtest(self.hits, self.total, chance, "greater").pvalue
        return bool(p_value < SIGNIFICANCE)

    def to_dict(self) -> JsonObject:
        """Return the fields and what follows from them for JSON."""
        low, high = self.interval
        return {
            "hits": self.hits,
            "total": self.total,
            "share": self.hits / self.total if self.total else None,
            "low": low,
            "high": high,
            "chance": self.chance,
            "above_chance": self.above_chance,
        }


@dataclass(frozen=True, slots=True)
class WordErrors:
    """Errors of a recogniser among the words that were said.

    Inserted words are errors too, so there can be more errors than words.

    >>> round(WordErrors(98, 69).share, 2)
    1.42
    """

    errors: int
    words: int

    @property
    def share(self) -> float | None:
        """The word error rate; None without words."""
        return self.errors / self.words if self.words else None

    def to_dict(self) -> JsonObject:
        """Return the fields and the share for JSON."""
        return {"errors": self.errors, "words": self.words, "share": self.share}


@dataclass(slots=True)
class HitCounter:
    """Counts hits and tries, and the hits that are expected by chance."""

    hits: int = 0
    total: int = 0
    expected: float = 0.0

    def add(self, hits: int, total: int, chance: float = 0.0) -> None:
        """Add tries.

        Parameters
        ----------
        hits, total : int
            Hits among how many tries.
        chance : float, default 0
            Probability of a hit by chance in each of these tries.
        """
        self.hits += hits
        self.total += total
        self.expected += chance * total

    def rate(self, chance: float | None = None) -> Rate:
        """Return the rate of hits.

        Parameters
        ----------
        chance : float, optional
            The chance level; by default the mean of the chances of all tries.
        """
        if self.total and chance is None:
            return Rate(self.hits, self.total, self.expected / self.total)
        return Rate(self.hits, self.total, chance or 0.0)


# ================================================================================= recovered words


def count_recovered(
    masked: Sequence[str], transcript: str, remaining: Sequence[str] = (), *, lang: str = "en"
) -> tuple[int, int]:
    """Count the masked words that a transcript of the masked recording contains.

    A run of several masked words is first looked for as a whole, in any spelling of its numbers;
    otherwise each of its words counts by itself. A word in the transcript counts once, and not at
    all if a word that was not masked explains it.

    Parameters
    ----------
    masked : sequence of str
        Runs of words that were masked together.
    transcript : str
        What a recogniser heard.
    remaining : sequence of str, optional
        The words that were not masked.
    lang : str, default "en"
        Language of the recording, by whose rules words are normalised.

    Returns
    -------
    (int, int)
        Recovered words and masked words.

    >>> count_recovered(["Ann Lee", "the"], "the sister of an Lee", ["the", "sister", "of"])
    (1, 3)
    """
    runs = [[word.text for word in spoken_words(run)] for run in masked]
    explained, hits, single = list(remaining), 0, list[str]()
    for words in runs:
        if len(words) > 1 and _unexplained(" ".join(words), transcript, explained, lang):
            hits += len(words)
            explained += words
        else:
            single += words
    counts = Counter(word_key(word) for word in single)
    for key, word in {word_key(word): word for word in single}.items():
        hits += min(counts[key], _unexplained(word, transcript, explained, lang))
    return hits, sum(map(len, runs))


def _unexplained(phrase: str, transcript: str, explained: Sequence[str], lang: str) -> int:
    """Count how often a phrase is in a transcript beyond the explained words."""
    text = " ".join(explained)
    words = normalise(phrase, lang).split()
    normalised = _occurrences(words, normalise(transcript, lang).split())
    normalised -= _occurrences(words, normalise(text, lang).split())
    by_key = _occurrences(_keys(phrase), _keys(transcript)) - _occurrences(
        _keys(phrase), _keys(text)
    )
    return max(0, normalised, by_key)


def _keys(text: str) -> list[str]:
    return [word_key(word.text) for word in spoken_words(text)]


def _occurrences(phrase: list[str], words: list[str]) -> int:
    size = len(phrase)
    starts = range(len(words) - size + 1) if size else ()
    return sum(words[start : start + size] == phrase for start in starts)


# =========================================================================== traces in the signal

MAX_CORRELATION = 0.2
"""Below this correlation a filling does not resemble the original, whatever the chance level."""
CHANCE_FACTOR = 1.5
"""How many times the correlation of independent noise a filling may reach."""
COPY_CORRELATION = 0.9
"""From this correlation on a filling is the original, even if the noise reaches as much."""
NOISE_DRAWS = 2
"""Draws of noise that each masked stretch is compared with."""


def reverse_spans(masked: MaskedRecording) -> Audio:
    """Return the recording with every masked stretch reversed in time.

    Parameters
    ----------
    masked : MaskedRecording
        The recording.
    """
    audio = np.array(masked.audio)
    for span in masked.spans:
        audio[slice(*span.after)] = masked.audio[slice(*span.after)][::-1]
    return audio


def is_untouched(original: Audio, masked: MaskedRecording, ramp: float = 0.005) -> bool:
    """Tell whether all samples outside the masked stretches and their ramps are unchanged.

    Parameters
    ----------
    original : Audio
        The recording before the mask.
    masked : MaskedRecording
        The recording after the mask.
    ramp : float, default 0.005
        Seconds beside a masked stretch that may differ.
    """
    width = round(ramp * masked.rate)
    starts = [(0, 0), *((span.before[1], span.after[1]) for span in masked.spans)]
    ends = [*((span.before[0], span.after[0]) for span in masked.spans)]
    ends.append((len(original), len(masked.audio)))
    for index, ((old_start, new_start), (old_end, new_end)) in enumerate(
        zip(starts, ends, strict=True)
    ):
        left, right = width * (index > 0), width * (index < len(masked.spans))
        size = max(0, old_end - old_start - left - right)
        old, new = original[old_start + left :][:size], masked.audio[new_start + left :][:size]
        if old_end - old_start != new_end - new_start or not np.array_equal(old, new):
            return False
    return True


def correlation(original: Audio, masked: MaskedRecording) -> float:
    """Return the largest normalised cross-correlation of a filling with what it replaced.

    Parameters
    ----------
    original : Audio
        The recording before the mask.
    masked : MaskedRecording
        The recording after the mask.
    """
    return max(
        (
            _cross_correlation(original[slice(*span.before)], filling)
            for span, filling in _fillings(masked)
        ),
        default=0.0,
    )


def correlation_by_chance(original: Audio, masked: MaskedRecording) -> float:
    """Return the correlation that noise with the spectrum of the kept audio reaches.

    Noise resembles any sound a little, and the best of many stretches more than that.

    Parameters
    ----------
    original : Audio
        The recording before the mask.
    masked : MaskedRecording
        The recording after the mask.
    """
    edges = [0, *(edge for span in masked.spans for edge in span.before), len(original)]
    pieces = zip(edges[::2], edges[1::2], strict=True)
    kept = np.concatenate([original[start:end] for start, end in pieces])
    rng = np.random.default_rng(0)
    return max(
        (
            _cross_correlation(original[slice(*span.before)], noise_like(kept, len(filling), rng))
            for span, filling in _fillings(masked)
            for _ in range(NOISE_DRAWS)
        ),
        default=0.0,
    )


def correlation_limit(by_chance: float) -> float:
    """Return the correlation from which on a filling resembles the original too much.

    Parameters
    ----------
    by_chance : float
        From :func:`correlation_by_chance`.
    """
    return min(COPY_CORRELATION, max(MAX_CORRELATION, CHANCE_FACTOR * by_chance))


def _fillings(masked: MaskedRecording) -> Iterator[tuple[MaskedSpan, Audio]]:
    return ((span, masked.audio[slice(*span.after)]) for span in masked.spans)


def _cross_correlation(first: RealArray, second: RealArray) -> float:
    """Return the largest normalised cross-correlation, forwards or backwards."""
    old, new = np.asarray(first, np.float64), np.asarray(second, np.float64)
    scale = np.sqrt((old**2).sum() * (new**2).sum())
    if scale == 0:
        return 0.0
    size = 1 << int(len(old) + len(new)).bit_length()
    spectrum = np.fft.rfft(old, size)
    products = (spectrum * np.conj(np.fft.rfft(signal, size)) for signal in (new, new[::-1]))
    return max(float(np.abs(np.fft.irfft(product, size)).max() / scale) for product in products)
