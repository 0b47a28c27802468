"""Forced alignment with pocketsphinx: a recording and what was said in it, frame by frame.

Pass one finds the words, pass two the phones inside them. Words are given to pocketsphinx as
``w0``, ``w1``, …, so that no sign in a word can upset it and no word can get into its log. It
fails silently when its search loses the way; then it is asked again without any pruning, and each
time by a decoder of its own, since one that has failed is not to be used again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.anonymise.recording.pronounce import Phones, model_folder
from sottovoce.core.errors import MissingExtraError

RATE = 16_000
FRAME = 0.01
"""Seconds a frame."""
_NO_PRUNING = {"beam": 0.0, "pbeam": 0.0, "wbeam": 0.0}


@dataclass(frozen=True, slots=True)
class Stretch:
    """Frames of one word, or of what is no word: a pause or a noise."""

    word: int | None
    """Which word, counted from 0; none for a pause or noise."""
    start: int
    end: int
    cost: float
    """How much worse a frame fits, on average, than the best the model has for it."""
    phones: tuple[tuple[str, int, int], ...]
    """Name, first frame, frame after the last."""


def force(audio: NDArray[np.floating], ways: Sequence[Sequence[Phones]]) -> list[Stretch] | None:
    """Where each word is in 16 kHz audio; None if it cannot be all of them, in this order.

    ``ways`` has, for each word, the pronunciations it may have.
    """
    samples = pcm(audio)
    return _search(samples, ways, {}) or _search(samples, ways, _NO_PRUNING)


def pcm(audio: NDArray[np.floating]) -> bytes:
    """16-bit samples at one loudness; where there were only zeros, a step of noise."""
    peak = float(np.abs(audio).max(initial=0.0))
    scaled = np.asarray(audio, np.float64) * (0.9 * 32767 / peak if peak else 0.0)
    noise = np.random.default_rng(0).uniform(-1, 1, len(scaled))
    return np.rint(scaled + noise).astype("<i2").tobytes()


def decoder(**settings: Any) -> Any:
    """A pocketsphinx decoder with the bundled English sounds, without dictionary or log."""
    folder = model_folder()
    try:
        from pocketsphinx import Decoder
    except ImportError:
        raise MissingExtraError("alignment", "align") from None
    return Decoder(
        hmm=str(folder / "en-us"), dict=None, lm=None, bestpath=False, loglevel="FATAL", **settings
    )


def teach(search: Any, ways: Sequence[Sequence[Phones]]) -> list[str]:
    """Give a decoder the words ``w0``, ``w1``, … and return these names."""
    listed = [
        (f"w{word}" if way == 0 else f"w{word}({way + 1})", " ".join(phones))
        for word, said in enumerate(ways)
        for way, phones in enumerate(said)
    ]
    for number, (name, phones) in enumerate(listed, 1):
        search.add_word(name, phones, number == len(listed))
    return [f"w{word}" for word in range(len(ways))]


def listen(search: Any, samples: bytes) -> None:
    """Run one search over a whole recording."""
    search.start_utt()
    search.process_raw(samples, no_search=False, full_utt=True)
    search.end_utt()


def _search(
    samples: bytes, ways: Sequence[Sequence[Phones]], settings: dict[str, float]
) -> list[Stretch] | None:
    search = decoder(**settings)
    names = teach(search, ways)
    try:
        search.set_align_text(" ".join(names))
        listen(search, samples)
        if search.hyp() is None:
            return None
        search.set_alignment()
        listen(search, samples)
        found = [_stretch(word) for word in search.get_alignment() or ()]
    except RuntimeError:  # of pocketsphinx, for "no way through"
        return None
    found = [one for one in found if one.end > one.start]
    whole = [one.word for one in found if one.word is not None] == list(range(len(ways)))
    return found if whole else None


def _stretch(word: Any) -> Stretch:
    name = word.name.split("(")[0]
    index = int(name[1:]) if name[0] == "w" else None
    phones = tuple((phone.name, phone.start, phone.start + phone.duration) for phone in word)
    cost = -word.score / max(word.duration, 1)
    return Stretch(index, word.start, word.start + word.duration, cost, phones)
