"""Remove words from a recording.

A masked stretch is replaced, never mixed with another sound or reversed: nothing of the original
is left. By default all masked stretches get the same length, since the length of a word helps to
guess it. The kept audio fades over a few milliseconds towards a masked stretch; apart from that no
kept sample changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from sottovoce.anonymise.recording.word_times import Alignment, TimedWord
from sottovoce.core.errors import InputError, UsageError
from sottovoce.core.types import Audio, FloatArray

MaskSound = Literal["silence", "noise", "beep", "cut"]

BEEP_HZ = 1000.0
LIST_RULE = "list"
"""Rule of words that the user listed."""
PAUSE_PADS = 3
"""Where there is a pause beside a word, the mask reaches this many pads into it."""


@dataclass(frozen=True, slots=True)
class MaskSettings:
    """How words are masked."""

    how: MaskSound = "silence"
    """What replaces the words."""
    pad: float = 0.03
    """Seconds masked beyond both ends of a word, since times are estimates; 0 to 1."""
    ramp: float = 0.005
    """Seconds over which the kept audio fades; 0 to 0.1."""
    length: float | None = 0.4
    """Seconds of every masked stretch, 0.02 to 10; None keeps the length of the words."""

    def __post_init__(self) -> None:
        if self.how not in get_args(MaskSound):
            raise UsageError(
                f"mask {self.how!r}; choose {', '.join(get_args(MaskSound))}", code="unknown-name"
            )
        for name, value, most in (("pad", self.pad, 1), ("ramp", self.ramp, 0.1)):
            if not 0 <= value <= most:
                raise UsageError(f"{name} of {value:g} s; give 0 to {most} s", code="out-of-range")
        if self.length is not None and not 0.02 <= self.length <= 10:
            raise UsageError(
                f"length of {self.length:g} s; give 0.02 to 10 s, or none", code="out-of-range"
            )

    @classmethod
    def strict(cls) -> MaskSettings:
        """Return settings with a wider pad, which takes more of the neighbouring words."""
        return cls(pad=0.05)


@dataclass(frozen=True, slots=True)
class Target:
    """Words to be masked together: ``words[first : last + 1]``."""

    first: int
    last: int
    label: str = "PRIVATE"
    """Why they are masked, such as ``PER``."""
    rule: str = LIST_RULE
    """What found them, such as ``tagger spoken``."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Sound to be masked whatever its words are, such as speech that is not in the text."""

    start: float
    """Seconds."""
    end: float
    """Seconds."""
    label: str = "PRIVATE"
    """Why it is masked, such as ``PER``."""


@dataclass(frozen=True, slots=True)
class MaskedSpan:
    """A masked stretch and the words in it."""

    first: int
    last: int
    """Before ``first`` if there is no word in it."""
    labels: tuple[str, ...]
    before: tuple[int, int]
    """First sample and sample after the last in the original."""
    after: tuple[int, int]
    """The same in the masked recording."""


@dataclass(frozen=True, slots=True)
class MaskedRecording:
    """A recording without some of its words."""

    audio: Audio
    rate: int
    spans: tuple[MaskedSpan, ...]
    words: tuple[TimedWord | None, ...]
    """All words with their times in the masked recording; None for those that were masked."""

    @property
    def alignment(self) -> Alignment:
        """The remaining words with their times in the masked recording."""
        remaining = tuple(word for word in self.words if word is not None)
        return Alignment(remaining, len(self.audio) / self.rate)


def mask(
    audio: Audio,
    rate: int,
    alignment: Alignment,
    targets: Iterable[Target],
    settings: MaskSettings = MaskSettings(),  # frozen
    *,
    stretches: Sequence[Stretch] = (),
    rng: np.random.Generator | None = None,
) -> MaskedRecording:
    """Replace the target words of a recording.

    A word of which less than half would be left is masked too.

    Parameters
    ----------
    audio : Audio
        Samples of one channel.
    rate : int
        Sampling rate in Hz.
    alignment : Alignment
        The times of all words of the recording.
    targets : iterable of Target
        The words to be masked.
    settings : MaskSettings, optional
        What replaces them, and how wide.
    stretches : sequence of Stretch, optional
        Sound to be masked as well.
    rng : numpy.random.Generator, optional
        Draws the noise.

    Raises
    ------
    InputError
        ``mismatch`` if the alignment is of a recording of another length, ``out-of-range`` if a
        target is not among its words, or a stretch not within it.
    """
    _check_length(len(audio) / rate, alignment.seconds, 0.5 / rate)
    labels = _labels_by_word(alignment, list(targets))
    further = [_stretch_span(alignment, stretch, rate, len(audio)) for stretch in stretches]
    spans = _spans(alignment, labels, further, settings, rate, len(audio))
    while mostly_covered := _mostly_covered(alignment, labels, spans, rate):
        labels |= dict.fromkeys(mostly_covered, "")
        spans = _spans(alignment, labels, further, settings, rate, len(audio))
    edges = [0, *(edge for span in spans for edge in span.before), len(audio)]
    pieces = [audio[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]
    filler = _Filler(pieces, rate, settings, rng or np.random.default_rng())
    return _assemble(pieces, spans, filler, alignment, rate, settings)


# ========================================================================================== spans


def _check_length(audio_seconds: float, aligned_seconds: float, tolerance: float) -> None:
    if abs(audio_seconds - aligned_seconds) > tolerance + 1e-6:
        raise InputError(
            f"{audio_seconds:.3f} s of audio with times for {aligned_seconds:.3f} s; align what is "
            "to be masked",
            code="mismatch",
        )


def _labels_by_word(alignment: Alignment, targets: Sequence[Target]) -> dict[int, str]:
    count = len(alignment.words)
    labels: dict[int, str] = {}
    for target in targets:
        if not 0 <= target.first <= target.last < count:
            raise InputError(
                f"words {target.first} to {target.last} of {count}; correct the targets",
                code="out-of-range",
            )
        labels |= dict.fromkeys(range(target.first, target.last + 1), target.label)
    return labels


def _stretch_span(alignment: Alignment, stretch: Stretch, rate: int, size: int) -> MaskedSpan:
    """Return a stretch as a span without words, between those before and after its middle."""
    if not 0 <= stretch.start < stretch.end <= alignment.seconds + 1e-6:
        raise InputError(
            f"a stretch from {stretch.start:g} to {stretch.end:g} s in {alignment.seconds:g} s; "
            "correct its times",
            code="out-of-range",
        )
    middle = stretch.start + stretch.end
    first = sum(word.start + word.end < middle for word in alignment.words)
    samples = (int(np.floor(stretch.start * rate)), min(size, int(np.ceil(stretch.end * rate))))
    return MaskedSpan(first, first - 1, (stretch.label,), samples, (0, 0))


def _spans(
    alignment: Alignment,
    labels: dict[int, str],
    stretches: Sequence[MaskedSpan],
    settings: MaskSettings,
    rate: int,
    size: int,
) -> list[MaskedSpan]:
    """Pad the words to be masked, and join spans that touch, ramps included."""
    words = [_word_span(alignment, i, labels[i], settings.pad, rate, size) for i in sorted(labels)]
    ramps = 2 * settings.ramp * rate
    spans: list[MaskedSpan] = []
    for span in sorted([*words, *stretches], key=lambda span: (span.before, span.first)):
        last = spans[-1] if spans else None
        if last and (span.before[0] <= last.before[1] + ramps or _adjacent(last, span)):
            spans[-1] = _joined(last, span)
        else:
            spans.append(span)
    return spans


def _adjacent(first: MaskedSpan, second: MaskedSpan) -> bool:
    """Tell whether there is no word between two spans that both have words."""
    has_words = first.first <= first.last and second.first <= second.last
    return has_words and second.first == first.last + 1


def _joined(first: MaskedSpan, second: MaskedSpan) -> MaskedSpan:
    with_words = [span for span in (first, second) if span.first <= span.last] or [first]
    return MaskedSpan(
        min(span.first for span in with_words),
        max(span.last for span in with_words),
        tuple(dict.fromkeys((*first.labels, *second.labels))),
        (first.before[0], max(first.before[1], second.before[1])),
        (0, 0),
    )


def _word_span(
    alignment: Alignment, index: int, label: str, pad: float, rate: int, size: int
) -> MaskedSpan:
    words = alignment.words
    word = words[index]
    gap_before = word.start - (words[index - 1].end if index else 0.0)
    next_start = words[index + 1].start if index + 1 < len(words) else alignment.seconds
    start = word.start - _pad(gap_before, pad)
    end = word.end + _pad(next_start - word.end, pad)
    samples = (max(0, int(np.floor(start * rate))), min(size, int(np.ceil(end * rate))))
    return MaskedSpan(index, index, (label,) if label else (), samples, (0, 0))


def _pad(gap: float, pad: float) -> float:
    return pad if gap <= pad else min(gap, PAUSE_PADS * pad)


def _mostly_covered(
    alignment: Alignment, labels: dict[int, str], spans: Sequence[MaskedSpan], rate: int
) -> list[int]:
    """Find words that are not masked but of which the spans leave less than half."""
    indices = []
    for index, word in enumerate(alignment.words):
        start, end = word.start * rate, word.end * rate
        covered = sum(
            max(0.0, min(end, span.before[1]) - max(start, span.before[0])) for span in spans
        )
        if index not in labels and covered > (end - start) / 2:
            indices.append(index)
    return indices


# ========================================================================================== sound


def _assemble(
    pieces: Sequence[Audio],
    spans: Sequence[MaskedSpan],
    filler: _Filler,
    alignment: Alignment,
    rate: int,
    settings: MaskSettings,
) -> MaskedRecording:
    """Join kept pieces and fillings in turn, and compute where the words are now."""
    parts: list[Audio] = []
    placed: list[MaskedSpan] = []
    words: list[TimedWord | None] = []
    size, position, next_word = 0, 0, 0
    for index, piece in enumerate(pieces):
        stop = spans[index].first if index < len(spans) else len(alignment.words)
        low, high = position / rate, (position + len(piece)) / rate
        shift = (size - position) / rate
        words += [_shifted(alignment.words[i], low, high, shift) for i in range(next_word, stop)]
        parts.append(_fade(piece, rate, settings.ramp, index > 0, index < len(spans)))
        size += len(piece)
        if index < len(spans):
            span = spans[index]
            filling = filler.fill(span.before[1] - span.before[0])
            parts.append(filling)
            placed.append(replace(span, after=(size, size + len(filling))))
            size += len(filling)
            position = span.before[1]
            words += [None] * (span.last + 1 - span.first)
            next_word = span.last + 1
    return MaskedRecording(np.concatenate(parts), rate, tuple(placed), tuple(words))


def _shifted(word: TimedWord, low: float, high: float, shift: float) -> TimedWord:
    """Move a kept word on the time axis and clip what the pad of a neighbour took of it."""
    start, end = max(word.start, low), min(word.end, high)
    return replace(word, start=start + shift, end=end + shift, phones=())


def _fade(piece: Audio, rate: int, ramp: float, left: bool, right: bool) -> Audio:
    """Apply raised-cosine ramps on the sides of masked neighbours."""
    width = min(round(ramp * rate), len(piece) // 2)
    if not width or not (left or right):
        return piece
    rise = (0.5 - 0.5 * np.cos(np.pi * (np.arange(width) + 0.5) / width)).astype(np.float32)
    faded = piece.copy()
    if left:
        faded[:width] *= rise
    if right:
        faded[-width:] *= rise[::-1]
    return faded


class _Filler:
    """Makes what replaces masked words, from the kept audio only."""

    def __init__(
        self, pieces: Sequence[Audio], rate: int, settings: MaskSettings, rng: np.random.Generator
    ) -> None:
        self.rate, self.settings, self.rng = rate, settings, rng
        self.kept = np.concatenate(pieces) if pieces else np.zeros(0, np.float32)
        level = np.sqrt(np.mean(np.square(self.kept, dtype=np.float64))) if len(self.kept) else 0.0
        self.level = float(level) or 0.05

    def fill(self, natural: int) -> Audio:
        """Return the filling of a masked stretch that was ``natural`` samples long."""
        length = self.settings.length
        size = natural if length is None else round(length * self.rate)
        if self.settings.how == "cut":
            return np.zeros(0, np.float32)
        if self.settings.how == "silence":
            return np.zeros(size, np.float32)
        filling = self._beep(size) if self.settings.how == "beep" else self._noise(size)
        return _fade(filling.astype(np.float32), self.rate, self.settings.ramp, True, True)

    def _beep(self, size: int) -> FloatArray:
        time = np.arange(size) / self.rate
        return np.asarray(self.level * np.sqrt(2) * np.sin(2 * np.pi * BEEP_HZ * time), np.float64)

    def _noise(self, size: int) -> FloatArray:
        noise = noise_like(self.kept, size, self.rng)
        scale = np.sqrt(np.mean(noise**2)) if size else 1.0
        return np.asarray(np.clip(self.level / max(scale, 1e-12) * noise, -1, 1), np.float64)


def noise_like(audio: Audio, size: int, rng: np.random.Generator) -> FloatArray:
    """Draw noise with the long-term spectrum of a recording; its level is arbitrary.

    Parameters
    ----------
    audio : Audio
        The recording; white noise is returned if it has less than 512 samples.
    size : int
        Number of samples to draw.
    rng : numpy.random.Generator
        Draws the noise.
    """
    width = 512
    noise = rng.standard_normal(size + 2 * width)
    frames = audio[: len(audio) // width * width].reshape(-1, width)
    if len(frames):
        power = np.mean(np.abs(np.fft.rfft(frames * np.hanning(width), axis=1)) ** 2, axis=0)
        shape = np.roll(np.fft.irfft(np.sqrt(power)), width // 2) * np.hanning(width)
        noise = np.convolve(noise, shape, mode="same")
    return noise[width : width + size]
