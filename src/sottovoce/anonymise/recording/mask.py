"""Words taken out of a recording, and the same words out of its text.

A masked stretch is replaced, never mixed with something or turned round: what was there is gone.
By default it becomes as long as every other masked stretch, since its length tells words apart. The
kept side fades over a few milliseconds; beyond that no sample is touched.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sottovoce.anonymise.recording.timing import Alignment, TimedWord
from sottovoce.anonymise.recording.words import Token
from sottovoce.core.errors import InputError, UsageError
from sottovoce.core.types import Audio

How = Literal["silence", "noise", "beep", "cut"]

BEEP = 1000.0
"""Hertz."""
REACH = 3
"""Where there is a pause beside a word, the mask reaches this many pads into it."""


@dataclass(frozen=True, slots=True)
class Masking:
    """How words are masked."""

    how: How = "silence"
    pad: float = 0.03
    """Seconds beyond both ends of a word: times are estimates."""
    ramp: float = 0.005
    """Seconds over which the kept side fades."""
    length: float | None = 0.4
    """Seconds of every masked stretch; None leaves each as long as its words were."""

    def __post_init__(self) -> None:
        if self.how not in get_args(How):
            raise UsageError(f"mask {self.how!r}; choose {', '.join(get_args(How))}")
        for name, value, most in (("pad", self.pad, 1), ("ramp", self.ramp, 0.1)):
            if not 0 <= value <= most:
                raise UsageError(f"{name} of {value:g} s; give 0 to {most} s")
        if self.length is not None and not 0.02 <= self.length <= 10:
            raise UsageError(f"length of {self.length:g} s; give 0.02 to 10 s, or none")

    @classmethod
    def strict(cls) -> Masking:
        """A wider pad: fewer ends of words left, more of their neighbours lost."""
        return cls(pad=0.05)


@dataclass(frozen=True, slots=True)
class Target:
    """Words to be masked together: ``words[first : last + 1]``, and what they are."""

    first: int
    last: int
    label: str = "PRIVATE"


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch that was masked: samples before, samples after, and the words in it."""

    first: int
    last: int
    labels: tuple[str, ...]
    before: tuple[int, int]
    after: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Masked:
    """A recording without some of its words."""

    audio: Audio
    rate: int
    spans: tuple[Span, ...]
    words: tuple[TimedWord | None, ...]
    """All words on the new time axis; None for those that were masked."""

    @property
    def alignment(self) -> Alignment:
        """The words that are left, on the new time axis."""
        kept = tuple(word for word in self.words if word is not None)
        return Alignment(kept, len(self.audio) / self.rate)


def mask(
    audio: Audio,
    rate: int,
    alignment: Alignment,
    targets: Iterable[Target],
    masking: Masking = Masking(),  # frozen
    *,
    rng: np.random.Generator | None = None,
) -> Masked:
    """Replace the target words; ``rng`` draws the noise.

    A word of which less than half would be left, between two masked ones, is masked with them.
    """
    if abs(len(audio) / rate - alignment.seconds) > 0.5 / rate + 1e-6:
        raise InputError(
            f"{len(audio) / rate:.3f} s of audio with times for {alignment.seconds:.3f} s; align "
            "what is to be masked"
        )
    marked = _marked(alignment, list(targets))
    spans = _spans(alignment, marked, masking, rate, len(audio))
    while swallowed := _swallowed(alignment, marked, spans, rate):
        marked |= dict.fromkeys(swallowed, "")
        spans = _spans(alignment, marked, masking, rate, len(audio))
    kept = [end for span in spans for end in span.before]
    kept = [0, *kept, len(audio)]
    pieces = [audio[a:b] for a, b in zip(kept[::2], kept[1::2], strict=True)]
    filler = _Filler(pieces, rate, masking, rng or np.random.default_rng())
    return _assemble(pieces, spans, filler, alignment, marked, rate, masking)


# ======================================================================================= the spans


def _marked(alignment: Alignment, targets: Sequence[Target]) -> dict[int, str]:
    count = len(alignment.words)
    marked: dict[int, str] = {}
    for one in targets:
        if not 0 <= one.first <= one.last < count:
            raise InputError(f"words {one.first} to {one.last} of {count}; correct the targets")
        marked |= dict.fromkeys(range(one.first, one.last + 1), one.label)
    return marked


def _spans(
    alignment: Alignment, marked: dict[int, str], masking: Masking, rate: int, size: int
) -> list[Span]:
    """Runs of marked words with their pads; runs that touch, ramps included, are one."""
    words, spans = alignment.words, list[Span]()
    for at in sorted(marked):
        gap_before = words[at].start - (words[at - 1].end if at else 0.0)
        after = words[at + 1].start if at + 1 < len(words) else alignment.seconds
        start = words[at].start - _pad(gap_before, masking.pad)
        end = words[at].end + _pad(after - words[at].end, masking.pad)
        a, b = max(0, int(np.floor(start * rate))), min(size, int(np.ceil(end * rate)))
        labels = (marked[at],) if marked[at] else ()
        last = spans[-1] if spans else None
        touching = last and (a <= last.before[1] + 2 * masking.ramp * rate or last.last == at - 1)
        if last and touching:
            labels = tuple(dict.fromkeys((*last.labels, *labels)))
            spans[-1] = Span(last.first, at, labels, (last.before[0], b), (0, 0))
        else:
            spans.append(Span(at, at, labels, (a, b), (0, 0)))
    return spans


def _pad(gap: float, pad: float) -> float:
    return pad if gap <= pad else min(gap, REACH * pad)


def _swallowed(
    alignment: Alignment, marked: dict[int, str], spans: Sequence[Span], rate: int
) -> list[int]:
    """Words that are not marked but of which the spans leave less than half."""
    lost = []
    for at, word in enumerate(alignment.words):
        a, b = word.start * rate, word.end * rate
        covered = sum(max(0.0, min(b, span.before[1]) - max(a, span.before[0])) for span in spans)
        if at not in marked and covered > (b - a) / 2:
            lost.append(at)
    return lost


# ====================================================================================== the sound


def _assemble(
    pieces: Sequence[Audio],
    spans: Sequence[Span],
    filler: _Filler,
    alignment: Alignment,
    marked: dict[int, str],
    rate: int,
    masking: Masking,
) -> Masked:
    """Kept pieces and what stands for the masked ones, in turn; and where the words are now."""
    out: list[Audio] = []
    done: list[Span] = []
    words: list[TimedWord | None] = []
    size, before, next_word = 0, 0, 0
    for place, piece in enumerate(pieces):
        stop = spans[place].first if place < len(spans) else len(alignment.words)
        low, high = before / rate, (before + len(piece)) / rate
        shift = (size - before) / rate
        words += [_moved(alignment.words[at], low, high, shift) for at in range(next_word, stop)]
        out.append(_faded(piece, rate, masking.ramp, place > 0, place < len(spans)))
        size += len(piece)
        if place < len(spans):
            span = spans[place]
            filling = filler.fill(span.before[1] - span.before[0])
            out.append(filling)
            done.append(replace(span, after=(size, size + len(filling))))
            size += len(filling)
            before = span.before[1]
            words += [None] * (span.last + 1 - span.first)
            next_word = span.last + 1
    return Masked(np.concatenate(out), rate, tuple(done), tuple(words))


def _moved(word: TimedWord, low: float, high: float, shift: float) -> TimedWord:
    """A kept word on the new time axis, without what the pad of a neighbour took of it."""
    start, end = max(word.start, low), min(word.end, high)
    return replace(word, start=start + shift, end=end + shift, phones=())


def _faded(piece: Audio, rate: int, ramp: float, left: bool, right: bool) -> Audio:
    """A kept piece with raised-cosine ramps towards masked neighbours."""
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
    """What stands for masked words; it is made of the kept sound only."""

    def __init__(
        self, pieces: Sequence[Audio], rate: int, masking: Masking, rng: np.random.Generator
    ) -> None:
        self.rate, self.masking, self.rng = rate, masking, rng
        self.kept = np.concatenate(pieces) if pieces else np.zeros(0, np.float32)
        level = np.sqrt(np.mean(np.square(self.kept, dtype=np.float64))) if len(self.kept) else 0.0
        self.level = float(level) or 0.05

    def fill(self, natural: int) -> Audio:
        """The filling of one masked stretch."""
        length = self.masking.length
        size = natural if length is None else round(length * self.rate)
        if self.masking.how == "cut":
            return np.zeros(0, np.float32)
        if self.masking.how == "silence":
            return np.zeros(size, np.float32)
        made = self._beep(size) if self.masking.how == "beep" else self._noise(size)
        return _faded(made.astype(np.float32), self.rate, self.masking.ramp, True, True)

    def _beep(self, size: int) -> NDArray[np.float64]:
        time = np.arange(size) / self.rate
        return np.asarray(self.level * np.sqrt(2) * np.sin(2 * np.pi * BEEP * time), np.float64)

    def _noise(self, size: int) -> NDArray[np.float64]:
        noise = noise_like(self.kept, size, self.rng)
        scale = np.sqrt(np.mean(noise**2)) if size else 1.0
        return np.asarray(np.clip(self.level / max(scale, 1e-12) * noise, -1, 1), np.float64)


def noise_like(kept: Audio, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Noise with the long-term spectrum of a sound, at any level."""
    width = 512
    noise = rng.standard_normal(size + 2 * width)
    frames = kept[: len(kept) // width * width].reshape(-1, width)
    if len(frames):
        power = np.mean(np.abs(np.fft.rfft(frames * np.hanning(width), axis=1)) ** 2, axis=0)
        shape = np.roll(np.fft.irfft(np.sqrt(power)), width // 2) * np.hanning(width)
        noise = np.convolve(noise, shape, mode="same")
    return noise[width : width + size]


# ======================================================================================== the text


def mask_text(text: str, said: Sequence[Token], spans: Iterable[Span], *, typed: bool) -> str:
    """The text without the masked words, or with what they were: ``<PER>``.

    ``said`` are the tokens of the text that the spans count.

    >>> from sottovoce.anonymise.recording.words import tokens
    >>> text = "I am Ann Lee, from Bonn."
    >>> spans = [Span(2, 3, ("PER",), (0, 0), (0, 0)), Span(5, 5, ("LOC",), (0, 0), (0, 0))]
    >>> mask_text(text, tokens(text), spans, typed=True)
    'I am <PER>, from <LOC>.'
    >>> mask_text(text, tokens(text), spans, typed=False)
    'I am, from.'
    """
    out, at = "", 0
    for span in spans:
        put = f"<{'+'.join(span.labels) or 'PRIVATE'}>" if typed else ""
        between = text[at : said[span.first].begin]
        out += (between if typed else between.rstrip()) + put
        at = said[span.last].stop
    return (out + text[at:]).strip()
