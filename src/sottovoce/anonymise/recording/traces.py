"""Traces of masked words in the samples: what can be computed without listening."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sottovoce.anonymise.recording.mask import Masked, Span, noise_like
from sottovoce.core.types import Audio

CORRELATION = 0.2
"""Up to here a filling is not like what was there, whatever it is like else."""
MARGIN = 1.5
"""How much more than by chance a filling may be like what was there."""
SAME = 0.9
"""From here on a filling is what was there: noise as narrow as that proves nothing."""
DRAWS = 2
"""Noises that each stretch is held against."""


def turned_round(masked: Masked) -> Audio:
    """The recording with every masked stretch backwards."""
    turned = np.array(masked.audio)
    for span in masked.spans:
        turned[slice(*span.after)] = masked.audio[slice(*span.after)][::-1]
    return turned


def untouched(before: Audio, masked: Masked, ramp: float = 0.005) -> bool:
    """Whether all samples but the masked stretches and the ramps beside them are as they were."""
    width = round(ramp * masked.rate)
    ends = [(0, 0), *((span.before[1], span.after[1]) for span in masked.spans)]
    starts = [*((span.before[0], span.after[0]) for span in masked.spans)]
    starts.append((len(before), len(masked.audio)))
    for place, ((a, x), (b, y)) in enumerate(zip(ends, starts, strict=True)):
        left, right = width * (place > 0), width * (place < len(masked.spans))
        size = max(0, b - a - left - right)
        old, new = before[a + left :][:size], masked.audio[x + left :][:size]
        if b - a != y - x or not np.array_equal(old, new):
            return False
    return True


def correlation(before: Audio, masked: Masked) -> float:
    """The largest normalised cross-correlation of any stretch with what it replaced."""
    return max((_alike(before[slice(*s.before)], new) for s, new in _fillings(masked)), default=0.0)


def correlation_by_chance(before: Audio, masked: Masked) -> float:
    """The same with noise that has the spectrum of the kept sound, and so nothing of the words.

    Noise is a little like any sound, and the most alike of many stretches more than that: this
    tells how much.
    """
    edges = [0, *(edge for span in masked.spans for edge in span.before), len(before)]
    pieces = zip(edges[::2], edges[1::2], strict=True)
    kept = np.concatenate([before[start:end] for start, end in pieces])
    rng = np.random.default_rng(0)
    return max(
        (
            _alike(before[slice(*span.before)], noise_like(kept, len(new), rng))
            for span, new in _fillings(masked)
            for _ in range(DRAWS)
        ),
        default=0.0,
    )


def correlation_limit(by_chance: float) -> float:
    """From where on a filling is too much like what was there."""
    return min(SAME, max(CORRELATION, MARGIN * by_chance))


def _fillings(masked: Masked) -> Iterator[tuple[Span, Audio]]:
    return ((span, masked.audio[slice(*span.after)]) for span in masked.spans)


def _alike(one: NDArray[np.floating], other: NDArray[np.floating]) -> float:
    """The largest normalised cross-correlation, forwards or backwards."""
    old, new = np.asarray(one, np.float64), np.asarray(other, np.float64)
    scale = np.sqrt((old**2).sum() * (new**2).sum())
    if scale == 0:
        return 0.0
    size = 1 << int(len(old) + len(new)).bit_length()
    spectrum = np.fft.rfft(old, size)
    return max(
        float(np.abs(np.fft.irfft(spectrum * np.conj(np.fft.rfft(way, size)), size)).max() / scale)
        for way in (new, new[::-1])
    )
