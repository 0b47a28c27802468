"""Recognition with pocketsphinx: align known words with a recording, or choose one of several.

An alignment takes two passes: the first finds the words, the second the phones inside them. Words
are given to pocketsphinx as ``w0``, ``w1``, …, so that no character of a word can upset it and no
word can get into its log. It fails silently when its search is pruned too early; then the search is
repeated without pruning. Every search uses a new decoder, since a decoder that has failed must not
be used again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sottovoce.anonymise.recording.pronunciation import Phones, model_folder
from sottovoce.core.errors import MissingExtraError
from sottovoce.core.types import RealArray

RATE = 16_000
"""Sampling rate of the acoustic model in Hz."""
FRAME = 0.01
"""Seconds per frame."""
_NO_PRUNING = {"beam": 0.0, "pbeam": 0.0, "wbeam": 0.0}


class _AlignedUnit(Protocol):
    """A word or a phone in an alignment of pocketsphinx."""

    name: str
    start: int
    duration: int
    score: float

    def __iter__(self) -> Iterator[_AlignedUnit]: ...


class _Hypothesis(Protocol):
    hypstr: str


class _Decoder(Protocol):
    """The part of pocketsphinx's decoder that is used here."""

    def add_word(self, name: str, phones: str, update: bool) -> int: ...
    def add_jsgf_string(self, name: str, grammar: str) -> None: ...
    def activate_search(self, name: str) -> None: ...
    def set_align_text(self, text: str) -> None: ...
    def set_alignment(self) -> None: ...
    def get_alignment(self) -> Iterable[_AlignedUnit] | None: ...
    def start_utt(self) -> None: ...
    def process_raw(self, samples: bytes, *, no_search: bool, full_utt: bool) -> int: ...
    def end_utt(self) -> None: ...
    def hyp(self) -> _Hypothesis | None: ...


@dataclass(frozen=True, slots=True)
class Segment:
    """The frames of a word, or of a pause or noise between words."""

    word: int | None
    """Number of the word, from 0; None for a pause or noise."""
    start: int
    """First frame."""
    end: int
    """Frame after the last."""
    cost: float
    """How much worse a frame fits, on average, than the best unit of the model for that frame."""
    phones: tuple[tuple[str, int, int], ...]
    """Name, first frame and frame after the last of each phone."""


def force_align(
    audio: RealArray, pronunciations: Sequence[Sequence[Phones]]
) -> list[Segment] | None:
    """Find where each word is in a recording.

    Parameters
    ----------
    audio : array of float
        Samples at 16 kHz.
    pronunciations : sequence of sequences of phones
        For each word in order, the pronunciations it may have.

    Returns
    -------
    list of Segment or None
        Words, pauses and noises in order; None if not all words can be placed in this order.
    """
    samples = _to_pcm(audio)
    return _search(samples, pronunciations, {}) or _search(samples, pronunciations, _NO_PRUNING)


def recognise_word(audio: RealArray, pronunciations: Sequence[Sequence[Phones]]) -> int | None:
    """Choose the word of a list that fits a recording best.

    Parameters
    ----------
    audio : array of float
        Samples at 16 kHz.
    pronunciations : sequence of sequences of phones
        For each word, the pronunciations it may have.

    Returns
    -------
    int or None
        Number of the word; None if none fits.
    """
    decoder = _make_decoder()
    names = _add_words(decoder, pronunciations)
    grammar = f"#JSGF V1.0; grammar g; public <word> = {' | '.join(names)};"
    decoder.add_jsgf_string("words", grammar)
    decoder.activate_search("words")
    _decode(decoder, _to_pcm(audio))
    hypothesis = decoder.hyp()
    name = hypothesis.hypstr.split("(")[0] if hypothesis is not None else ""
    return int(name[1:]) if name.startswith("w") else None


def _to_pcm(audio: RealArray) -> bytes:
    """Convert audio to 16-bit samples of equal peak; noise of one step breaks digital silence."""
    peak = float(np.abs(audio).max(initial=0.0))
    scaled = np.asarray(audio, np.float64) * (0.9 * 32767 / peak if peak else 0.0)
    noise = np.random.default_rng(0).uniform(-1, 1, len(scaled))
    return np.rint(scaled + noise).astype("<i2").tobytes()


def _make_decoder(**settings: float) -> _Decoder:
    """Create a decoder with the English acoustic model, without dictionary and without log."""
    folder = model_folder()
    try:
        import pocketsphinx
    except ImportError:
        raise MissingExtraError("alignment", "align") from None
    decoder: _Decoder = pocketsphinx.Decoder(
        hmm=str(folder / "en-us"), dict=None, lm=None, bestpath=False, loglevel="FATAL", **settings
    )
    return decoder


def _add_words(decoder: _Decoder, pronunciations: Sequence[Sequence[Phones]]) -> list[str]:
    """Add words to a decoder under the names ``w0``, ``w1``, … and return these names."""
    entries = [
        (f"w{word}" if variant == 0 else f"w{word}({variant + 1})", " ".join(phones))
        for word, variants in enumerate(pronunciations)
        for variant, phones in enumerate(variants)
    ]
    for number, (name, phones) in enumerate(entries, 1):
        decoder.add_word(name, phones, number == len(entries))
    return [f"w{word}" for word in range(len(pronunciations))]


def _decode(decoder: _Decoder, samples: bytes) -> None:
    """Run the active search of a decoder over a complete recording."""
    decoder.start_utt()
    decoder.process_raw(samples, no_search=False, full_utt=True)
    decoder.end_utt()


def _search(
    samples: bytes, pronunciations: Sequence[Sequence[Phones]], settings: dict[str, float]
) -> list[Segment] | None:
    decoder = _make_decoder(**settings)
    names = _add_words(decoder, pronunciations)
    try:
        decoder.set_align_text(" ".join(names))
        _decode(decoder, samples)
        if decoder.hyp() is None:
            return None
        decoder.set_alignment()
        _decode(decoder, samples)
        segments = [_segment(unit) for unit in decoder.get_alignment() or ()]
    except RuntimeError:  # raised by pocketsphinx if there is no path through the words
        return None
    segments = [segment for segment in segments if segment.end > segment.start]
    words = [segment.word for segment in segments if segment.word is not None]
    return segments if words == list(range(len(pronunciations))) else None


def _segment(unit: _AlignedUnit) -> Segment:
    name = unit.name.split("(")[0]
    index = int(name[1:]) if name[0] == "w" else None
    phones = tuple((phone.name, phone.start, phone.start + phone.duration) for phone in unit)
    cost = -unit.score / max(unit.duration, 1)
    return Segment(index, unit.start, unit.start + unit.duration, cost, phones)
