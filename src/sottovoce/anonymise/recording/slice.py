"""Cut recordings into short pieces, at word boundaries or after a number of seconds.

A piece takes words until it is long enough; the cut is in the middle of the gap to the next word.
The pieces partition the words and the samples. A remainder at the end that is too short joins the
last piece, is kept, or is dropped. :func:`slice_corpus` writes the pieces of a corpus with new
names, in a new order and without speakers.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.recording.align import UnalignedError, align
from sottovoce.anonymise.recording.slice_map import MappedSlice, write_map
from sottovoce.anonymise.recording.word_times import TimedWord, check_times, read_ctm
from sottovoce.core.atomic_directory import atomic_directory, refuse_inside
from sottovoce.core.errors import InputError, UsageError
from sottovoce.core.records import Record
from sottovoce.core.types import Audio, Progress
from sottovoce.corpus.audio import SHORTEST, load_native, save_audio
from sottovoce.corpus.manifest import write_manifest
from sottovoce.corpus.utterance import Corpus, Utterance

Remainder = Literal["merge", "keep", "drop"]

UNKNOWN_SPEAKER = "unknown"
"""The speaker of every piece."""
FADE = 0.005
"""Seconds of fade at both ends of a piece, so that no sample tells which piece came next."""


@dataclass(frozen=True, slots=True)
class Slice(Record):
    """Consecutive words ``words[first:stop]`` and their samples ``audio[start:end]``."""

    first: int
    stop: int
    start: int
    end: int


def slice_words(
    times: Sequence[tuple[float, float]],
    size: int,
    rate: int,
    *,
    seconds: float,
    rest: Remainder = "merge",
) -> list[Slice]:
    """Cut a recording at word boundaries.

    Parameters
    ----------
    times : sequence of (float, float)
        Start and end of each word in seconds.
    size : int
        Number of samples of the recording.
    rate : int
        Sampling rate in Hz.
    seconds : float
        Least length of a piece (δ), 0.05 to 3600; a shorter recording is one piece.
    rest : {"merge", "keep", "drop"}, default "merge"
        What becomes of a remainder at the end that is too short.

    >>> [(piece.first, piece.stop) for piece in slice_words(
    ...     [(0, 1), (1, 2), (2, 3)], 30, 10, seconds=2)]
    [(0, 3)]
    """
    check_seconds(seconds)
    _check_remainder(rest)
    gaps = itertools.pairwise(times)
    cuts = [0, *(_middle(before, after, rate, size) for before, after in gaps), size]
    pieces: list[Slice] = []
    first = 0
    for stop in range(1, len(times) + 1):
        if cuts[stop] - cuts[first] >= seconds * rate:
            pieces.append(Slice(first, stop, cuts[first], cuts[stop]))
            first = stop
    if first < len(times) or not times:
        _add_remainder(pieces, Slice(first, len(times), cuts[first] if times else 0, size), rest)
    return pieces


def check_seconds(seconds: float) -> None:
    """Refuse lengths of pieces that make no sense.

    Parameters
    ----------
    seconds : float
        0.05 to 3600.
    """
    if not 0.05 <= seconds <= 3600:
        raise UsageError(f"pieces of {seconds:g} s; give 0.05 s to an hour", code="out-of-range")


def _check_remainder(rest: str) -> None:
    if rest not in get_args(Remainder):
        choices = ", ".join(get_args(Remainder))
        raise UsageError(f"rest {rest!r}; choose {choices}", code="unknown-name")


def _middle(before: tuple[float, float], after: tuple[float, float], rate: int, size: int) -> int:
    """Return the sample in the middle of the gap between two words."""
    return min(size, round((before[1] + after[0]) / 2 * rate))


def _add_remainder(pieces: list[Slice], remainder: Slice, rest: Remainder) -> None:
    if not pieces or rest == "keep":
        pieces.append(remainder)
    elif rest == "merge":
        last = pieces.pop()
        pieces.append(Slice(last.first, remainder.stop, last.start, remainder.end))


def slice_seconds(size: int, rate: int, seconds: float, *, first_only: bool = True) -> list[Slice]:
    """Cut a recording after a number of seconds, regardless of words.

    Parameters
    ----------
    size : int
        Number of samples of the recording.
    rate : int
        Sampling rate in Hz.
    seconds : float
        Length of a piece, 0.05 to 3600; the last may be shorter.
    first_only : bool, default True
        Return the first piece only.
    """
    check_seconds(seconds)
    step = max(1, round(seconds * rate))
    starts = [0] if first_only else range(0, size, step)
    return [Slice(0, 0, start, min(start + step, size)) for start in starts]


def shuffled_names(secret: Secret, ids: Sequence[str]) -> list[tuple[str, int]]:
    """Draw new names for pieces, and an order that depends on nothing but the secret.

    A name is a keyed digest of the id of the piece, so neither names nor order tell which piece
    came before which.

    Parameters
    ----------
    secret : Secret
        Key of the digests.
    ids : sequence of str
        One id per piece.

    Returns
    -------
    list of (str, int)
        New name and index in ``ids``, in the new order.
    """
    return sorted((secret.digest("slice", id_).hex()[:16], index) for index, id_ in enumerate(ids))


def cut_with_fade(audio: Audio, piece: Slice, rate: int) -> Audio:
    """Return the samples of a piece with a short linear fade at both ends.

    Parameters
    ----------
    audio : Audio
        The recording.
    piece : Slice
        The samples to cut out.
    rate : int
        Sampling rate in Hz.
    """
    samples = np.array(audio[piece.start : piece.end])
    width = min(round(FADE * rate), len(samples) // 2)
    if width:
        rise = ((np.arange(width) + 0.5) / width).astype(np.float32)
        samples[:width] *= rise
        samples[-width:] *= rise[::-1]
    return samples


# ====================================================================================== a corpus


@dataclass(frozen=True, slots=True)
class SliceSettings:
    """How a corpus is cut."""

    seconds: float = 3.0
    """Least length of a piece; without words, its length."""
    rest: Remainder = "merge"
    """What becomes of a remainder at the end that is too short."""
    hard: Literal["first", "all"] | None = None
    """Cut regardless of words, and take the first piece or all."""
    lang: str = "en"
    """Language of utterances for which the corpus has none."""


@dataclass(frozen=True, slots=True)
class LeftOut(Record):
    """An utterance that is not in a result."""

    utterance: str
    why: str
    """The reason, without any word of the utterance."""


@dataclass(frozen=True, slots=True)
class SlicedCorpus(Record):
    """Counts of a corpus that was cut."""

    utterances: int
    """Utterances that were cut."""
    pieces: int
    left_out: tuple[LeftOut, ...]
    """Utterances whose words could not be found."""


def slice_corpus(
    corpus: Corpus,
    target: Path,
    settings: SliceSettings,
    *,
    secret: Secret,
    times: Path | None = None,
    map_path: Path | None = None,
    progress: Progress | None = None,
) -> SlicedCorpus:
    """Write the pieces of a corpus into a new folder.

    Parameters
    ----------
    corpus : Corpus
        With transcripts, unless it is cut regardless of words.
    target : Path
        The new folder.
    settings : SliceSettings
        Length of the pieces, and where to cut.
    secret : Secret
        Key of the new names and the order.
    times : Path, optional
        CTM file with the words of every utterance; without it the utterances are aligned.
    map_path : Path, optional
        Where to write which slice came from which recording, for whoever evaluates the slices.
    progress : Progress, optional
        Called after each utterance.

    Raises
    ------
    InputError
        ``too-few`` if there is no piece to write, ``nested`` if the target is inside the corpus.
    """
    refuse_inside(target, corpus.root)
    known_times = read_ctm(times) if times else None
    rows: list[Utterance] = []
    origins: list[MappedSlice] = []
    left_out: list[LeftOut] = []
    with atomic_directory(target, mode=0o700, equal_mtimes=True) as folder:
        for count, utterance in enumerate(corpus, 1):
            try:
                pieces = _slice_utterance(utterance, folder, settings, secret, known_times)
                rows += [piece for piece, _ in pieces]
                origins += [origin for _, origin in pieces]
            except InputError as error:
                left_out.append(without_path(error, utterance))
            if progress:
                progress(count, len(corpus))
        if not rows:
            raise InputError(_nothing_cut(left_out), code="too-few")
        rows.sort(key=lambda row: row.id)
        write_manifest(Corpus(target.name, folder, tuple(rows)), folder)
        if map_path is not None:
            write_map(map_path, sorted(origins, key=lambda origin: origin.slice))
    return SlicedCorpus(len(corpus) - len(left_out), len(rows), tuple(left_out))


def without_path(error: InputError, utterance: Utterance) -> LeftOut:
    """Record why an utterance is left out, without the path at the start of the message.

    Parameters
    ----------
    error : InputError
        The reason.
    utterance : Utterance
        The utterance that is left out.
    """
    return LeftOut(utterance.id, str(error).removeprefix(f"{utterance.path}: "))


def _nothing_cut(left_out: Sequence[LeftOut]) -> str:
    if not left_out:
        return "no piece is long enough to be heard; give more seconds"
    return f"{len(left_out):,} recordings left out, nothing cut: {left_out[0].why}"


def _slice_utterance(
    utterance: Utterance,
    folder: Path,
    settings: SliceSettings,
    secret: Secret,
    known_times: dict[str, list[TimedWord]] | None,
) -> list[tuple[Utterance, MappedSlice]]:
    """Cut a recording; pieces regardless of words have no text, since a word may be cut in two."""
    audio, rate = load_native(utterance)
    words: Sequence[TimedWord] = ()
    if settings.hard is None:
        words = _timed_words(utterance, audio, rate, settings, known_times)
    pieces = _pieces(words, len(audio), rate, settings)
    ids = [f"{utterance.speaker}/{utterance.id}/{number}" for number in range(len(pieces))]
    rows = []
    for name, index in shuffled_names(secret, ids):
        piece = pieces[index]
        path = folder / "audio" / f"{name}.flac"
        save_audio(path, cut_with_fade(audio, piece, rate), rate)
        text = " ".join(word.text for word in words[piece.first : piece.stop])
        language = utterance.language
        slice_ = Utterance(name, path, UNKNOWN_SPEAKER, language=language, transcript=text)
        origin = MappedSlice(name, utterance.id, index, piece.start / rate, piece.end / rate)
        rows.append((slice_, origin))
    return rows


def _pieces(
    words: Sequence[TimedWord], size: int, rate: int, settings: SliceSettings
) -> list[Slice]:
    if settings.hard is None:
        times = [(word.start, word.end) for word in words]
        return slice_words(times, size, rate, seconds=settings.seconds, rest=settings.rest)
    pieces = slice_seconds(size, rate, settings.seconds, first_only=settings.hard == "first")
    return [piece for piece in pieces if piece.end - piece.start >= SHORTEST * rate]


def _timed_words(
    utterance: Utterance,
    audio: Audio,
    rate: int,
    settings: SliceSettings,
    known_times: dict[str, list[TimedWord]] | None,
) -> Sequence[TimedWord]:
    if known_times is not None:
        if utterance.id not in known_times:
            raise UnalignedError("no word times for it", code="not-found")
        words = known_times[utterance.id]
        check_times([(word.start, word.end) for word in words], len(audio) / rate)
        return words
    lang = utterance.language or settings.lang
    alignment = align(audio, rate, utterance.transcript, lang=lang)
    if alignment.doubts:
        raise UnalignedError(alignment.doubts[0])
    return alignment.words
