"""One recording secured: its voice changed, its private words masked in sound and text.

The order is fixed: first the voice, then the alignment of what will be released with what was
said (or of the original, if that leaves no doubt and its times hold), then the mask, last the
slices. A recording that cannot be aligned with confidence is
withheld: its words might lie outside the mask.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Literal

import numpy as np

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.recording.align import UnalignedError, align
from sottovoce.anonymise.recording.mask import Masked, Masking, Target, mask, mask_text
from sottovoce.anonymise.recording.slice import Rest, Slice, slice_words
from sottovoce.anonymise.recording.timing import Alignment
from sottovoce.anonymise.recording.words import tokens
from sottovoce.anonymise.voice.method import VoiceAnonymiser
from sottovoce.core.errors import InputError
from sottovoce.core.types import Audio
from sottovoce.corpus.audio import load_native
from sottovoce.corpus.utterance import Utterance

DOUBTFUL = 0.2
"""Share of words in doubt from which on the whole is."""
MOVED = 0.05
"""Seconds between the words of the original and the released recording, in the median."""
FADE = 0.005
"""Seconds at both ends of a slice, so that no sample tells which one came next."""


class WithheldError(InputError):
    """A recording that is not released, and why; the reason holds no word of it."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How recordings are secured."""

    masking: Masking = field(default_factory=Masking)
    typed: bool = False
    """Whether the text says what was masked, such as <PER>, instead of nothing."""
    strict: bool = False
    """Whether one doubtful word anywhere is enough to withhold a recording."""
    seconds: float | None = None
    """Least length of slices; None leaves recordings whole."""
    rest: Rest = "merge"
    times: Literal["best", "released", "original"] = "best"
    """Which recording is aligned: what will be released, the original of the same length, or the
    first and, where that leaves doubts, the second."""


@dataclass(frozen=True, slots=True)
class Secured:
    """A recording that may be released, with what it was made from for those who verify it."""

    one: Utterance
    lang: str
    voiced: Audio
    """In its new voice, before the mask."""
    alignment: Alignment
    masked: Masked
    text: str


def secure(
    one: Utterance,
    targets: Sequence[Target],
    settings: Settings,
    *,
    secret: Secret,
    method: VoiceAnonymiser | None = None,
    lang: str = "en",
) -> Secured:
    """Secure one recording; :class:`WithheldError` if that cannot be done with confidence."""
    original, rate = load_native(one)
    voiced = original
    if method is not None:
        voiced = method.transform(original, rate, speaker=one.speaker, utterance=one.id)
    found = _aligned(original, voiced, rate, one.transcript, lang, targets, settings)
    rng = secret.generator("mask", one.speaker, one.id)
    masked = mask(voiced, rate, found, targets, settings.masking, rng=rng)
    text = mask_text(one.transcript, tokens(one.transcript), masked.spans, typed=settings.typed)
    return Secured(one, lang, voiced, found, masked, text)


def _aligned(
    original: Audio,
    voiced: Audio,
    rate: int,
    text: str,
    lang: str,
    targets: Sequence[Target],
    settings: Settings,
) -> Alignment:
    """Times without doubt, of the released recording or, where they hold for it, the original."""
    if len(original) != len(voiced) and settings.times == "original":
        raise WithheldError("the new voice changed its length; align what is released")
    try:
        first = align(original if settings.times == "original" else voiced, rate, text, lang=lang)
        why = doubt(first, targets, strict=settings.strict)
        if not why:
            return first
        if settings.times == "best" and voiced is not original and len(original) == len(voiced):
            second = align(original, rate, text, lang=lang)
            why = doubt(second, targets, strict=settings.strict) or drift(first, second)
            if not why:
                return second
    except UnalignedError as error:
        why = str(error)
    raise WithheldError(why)


def drift(released: Alignment, original: Alignment) -> str:
    """Whether the new voice moved the words, so that times of the original do not hold for it."""
    pairs = zip(released.words, original.words, strict=True)
    apart = median(max(abs(a.start - b.start), abs(a.end - b.end)) for a, b in pairs)
    return f"the new voice moved words by {apart:.2f} s" if apart > MOVED else ""


def doubt(found: Alignment, targets: Sequence[Target], *, strict: bool = False) -> str:
    """Why a recording is to be withheld; empty if it is not."""
    if found.doubts:
        return found.doubts[0]
    if any(word.doubt == "sound" for word in found.words):
        return "a word does not sound as it is written"
    near = {at for one in targets for at in range(one.first - 1, one.last + 2)}
    if any(not word.trusted for at, word in enumerate(found.words) if at in near):
        return "a word to be masked, or one beside it, is not surely where it was found"
    doubtful = sum(not word.trusted for word in found.words)
    if doubtful > (0 if strict else DOUBTFUL * len(found.words)):
        return f"{doubtful} of {len(found.words)} words are not surely where they were found"
    return ""


@dataclass(frozen=True, slots=True)
class Piece:
    """What is written to one file."""

    audio: Audio
    text: str


def pieces(done: Secured, settings: Settings) -> list[Piece]:
    """The recording whole, or its slices that have a word left."""
    masked = done.masked
    if settings.seconds is None:
        return [Piece(masked.audio, done.text)]
    blocks = _blocks(done, settings.typed)
    cut = slice_words(
        [(start, end) for start, end, *_ in blocks],
        len(masked.audio),
        masked.rate,
        seconds=settings.seconds,
        rest=settings.rest,
    )
    made = []
    for one in cut:
        inside = blocks[one.first : one.stop]
        if any(kept for *_, kept in inside):
            text = " ".join(text for *_, text, _ in inside if text)
            made.append(Piece(faded(masked.audio, one, masked.rate), text))
    return made


def faded(audio: Audio, piece: Slice, rate: int) -> Audio:
    """The samples of a slice with a short fade at both ends."""
    cut = np.array(audio[piece.start : piece.end])
    width = min(round(FADE * rate), len(cut) // 2)
    if width:
        rise = ((np.arange(width) + 0.5) / width).astype(np.float32)
        cut[:width] *= rise
        cut[-width:] *= rise[::-1]
    return cut


Block = tuple[float, float, str, bool]


def _blocks(done: Secured, typed: bool) -> list[Block]:
    """Kept words and masked stretches in order: start, end, text, whether it is a kept word."""
    rate = done.masked.rate
    kept = [(w.start, w.end, w.text, True) for w in done.masked.words if w is not None]
    gone = [
        (a / rate, b / rate, f"<{'+'.join(span.labels) or 'PRIVATE'}>" if typed else "", False)
        for span in done.masked.spans
        for a, b in [span.after]
    ]
    return sorted([*kept, *gone])
