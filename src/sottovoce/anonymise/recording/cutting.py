"""A corpus cut into pieces: renamed, shuffled, without speakers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.recording.align import UnalignedError, align
from sottovoce.anonymise.recording.export import NOBODY
from sottovoce.anonymise.recording.secure import faded
from sottovoce.anonymise.recording.slice import Rest, Slice, hard_cut, shuffled_names, slice_words
from sottovoce.anonymise.recording.tiers import read_ctm
from sottovoce.anonymise.recording.timing import TimedWord, check_times
from sottovoce.core.atomic_directory import atomic_directory, refuse_inside
from sottovoce.core.errors import InputError
from sottovoce.core.types import Progress
from sottovoce.corpus.audio import SHORTEST, load_native, save_audio
from sottovoce.corpus.manifest import write_manifest
from sottovoce.corpus.utterance import Corpus, Utterance


@dataclass(frozen=True, slots=True)
class Cutting:
    """How a corpus is cut."""

    seconds: float = 3.0
    rest: Rest = "merge"
    hard: Literal["first", "all"] | None = None
    """Regardless of words: the first piece, or all."""
    lang: str = "en"


@dataclass(frozen=True, slots=True)
class Cut:
    """What came of cutting a corpus."""

    utterances: int
    pieces: int
    left_out: tuple[tuple[str, str], ...]
    """Utterances whose words could not be found, and why."""

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "utterances": self.utterances,
            "pieces": self.pieces,
            "left_out": [{"utterance": one, "why": why} for one, why in self.left_out],
        }


def cut_corpus(
    corpus: Corpus,
    target: Path,
    settings: Cutting,
    *,
    secret: Secret,
    times: Path | None = None,
    progress: Progress | None = None,
) -> Cut:
    """Write the pieces of a corpus into the new folder ``target``.

    ``times`` is a CTM file with the words of every utterance; without one they are aligned.
    """
    refuse_inside(target, corpus.root)
    known = read_ctm(times) if times else None
    rows: list[Utterance] = []
    left_out: list[tuple[str, str]] = []
    with atomic_directory(target, mode=0o700, equal_mtimes=True) as folder:
        for count, one in enumerate(corpus, 1):
            try:
                rows += _one(one, folder, settings, secret, known)
            except InputError as error:
                left_out.append((one.id, str(error).removeprefix(f"{one.path}: ")))
            if progress:
                progress(count, len(corpus))
        if not rows:
            raise InputError(_none_cut(left_out))
        rows.sort(key=lambda row: row.id)
        write_manifest(Corpus(target.name, folder, tuple(rows)), folder)
    return Cut(len(corpus) - len(left_out), len(rows), tuple(left_out))


def _none_cut(left_out: Sequence[tuple[str, str]]) -> str:
    if not left_out:
        return "no piece is long enough to be heard; give more seconds"
    return f"{len(left_out):,} recordings left out, nothing cut: {left_out[0][1]}"


def _one(
    one: Utterance,
    folder: Path,
    settings: Cutting,
    secret: Secret,
    known: dict[str, list[TimedWord]] | None,
) -> list[Utterance]:
    """Cut one recording; hard pieces have no text, since a word may be cut in two."""
    audio, rate = load_native(one)
    words: Sequence[TimedWord] = ()
    if settings.hard is None:
        words = _words(one, audio, rate, settings, known)
        spans = [(word.start, word.end) for word in words]
        cut = slice_words(spans, len(audio), rate, seconds=settings.seconds, rest=settings.rest)
    else:
        whole = settings.hard == "all"
        cut = hard_cut(len(audio), rate, settings.seconds, all_of_it=whole)
        cut = [piece for piece in cut if piece.end - piece.start >= SHORTEST * rate]
    ids = [f"{one.speaker}/{one.id}/{number}" for number in range(len(cut))]
    rows = []
    for name, place in shuffled_names(secret, ids):
        piece: Slice = cut[place]
        path = folder / "audio" / f"{name}.flac"
        save_audio(path, faded(audio, piece, rate), rate)
        text = " ".join(word.text for word in words[piece.first : piece.stop])
        rows.append(Utterance(name, path, NOBODY, language=one.language, transcript=text))
    return rows


def _words(
    one: Utterance,
    audio: Any,
    rate: int,
    settings: Cutting,
    known: dict[str, list[TimedWord]] | None,
) -> Sequence[TimedWord]:
    if known is not None:
        if one.id not in known:
            raise UnalignedError("no word times for it")
        check_times([(word.start, word.end) for word in known[one.id]], len(audio) / rate)
        return known[one.id]
    found = align(audio, rate, one.transcript, lang=one.language or settings.lang)
    if found.doubts:
        raise UnalignedError(found.doubts[0])
    return found.words
