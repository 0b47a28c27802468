"""Speech of an attack cut into slices: the first seconds of recordings, or pieces between words.

No file is written: a slice is an utterance with another start and end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from sottovoce.anonymise.recording.align import align
from sottovoce.anonymise.recording.slice import check_seconds, slice_words
from sottovoce.anonymise.recording.slice_map import MappedSlice
from sottovoce.anonymise.recording.words import spoken_words
from sottovoce.attack.speech import SpeechCache, SpeechSet
from sottovoce.core.errors import InputError, SottovoceError, first_few
from sottovoce.core.step_cache import Step, cache_key, records_of
from sottovoce.corpus.audio import load_audio, load_length, load_native
from sottovoce.corpus.utterance import Corpus, Utterance
from sottovoce.signal.fbank import RATE
from sottovoce.speaker.encoders import prepare

Cut = Literal["first", "words"]
"""Where slices begin and end."""

WordTimes = tuple[tuple[float, float], ...]
_TIMES = Step("word-times", records_of(dict[str, WordTimes]))
"""Start and end of the words of each utterance that could be aligned."""


@dataclass(frozen=True, slots=True)
class Slicing:
    """How speech is cut before it is attacked."""

    seconds: tuple[float, ...]
    """Lengths of slices, each attacked by itself."""
    cut: Cut = "first"
    """The first seconds of each recording, or all pieces between words of at least so long."""
    lang: str = "en"
    """Language of utterances for which the corpus has none."""

    def check(self) -> None:
        """Refuse lengths that make no sense."""
        for seconds in self.seconds:
            check_seconds(seconds)


@dataclass(frozen=True, slots=True)
class CutSpeech:
    """Slices of a set of recordings."""

    speech: SpeechSet
    mean_seconds: float
    left_out: int
    """Recordings that gave no slice."""


def cut_speech(
    speech: SpeechSet,
    seconds: float,
    cut: Cut,
    cache: SpeechCache,
    *,
    lang: str = "en",
    timed_by: SpeechSet | None = None,
) -> CutSpeech:
    """Cut recordings into slices of one length.

    Parameters
    ----------
    speech : SpeechSet
        Recordings, with transcripts if they are cut between words.
    seconds : float
        Length of a slice; between words, its least length.
    cut : {"first", "words"}
        The first slice of each recording regardless of words, or all slices between words.
    cache : SpeechCache
        Keeps when each word was said.
    lang : str, default "en"
        Language of utterances for which the corpus has none.
    timed_by : SpeechSet, optional
        The same recordings in which the words are looked for instead, such as the originals of
        anonymised ones; they must have the same length.

    Returns
    -------
    CutSpeech
        A slice between words keeps its words as transcript; the first seconds have none.

    Raises
    ------
    InputError
        ``too-few`` if no recording gives a slice.
    """
    times = _word_times(timed_by or speech, cache, lang) if cut == "words" else None
    slices: list[Utterance] = []
    for utterance in speech.corpus:
        pieces = (
            _first(utterance, seconds)
            if times is None
            else _between_words(utterance, times.get(utterance.id, ()), seconds)
        )
        slices += [piece for piece in pieces if _is_usable(piece)]
    sources = {piece.id.rpartition("/")[0] if times else piece.id for piece in slices}
    if not slices:
        raise InputError(
            f"{speech.corpus.name}: no recording gives a slice of {seconds:g} s; give more seconds",
            code="too-few",
        )
    return CutSpeech(
        _set_of(speech, slices),
        float(np.mean([load_length(piece).seconds for piece in slices])),
        len(speech.corpus) - len(sources),
    )


def _set_of(speech: SpeechSet, slices: Sequence[Utterance]) -> SpeechSet:
    corpus = Corpus(speech.corpus.name, speech.corpus.root, tuple(slices))
    places = [(piece.id, piece.start, piece.end) for piece in slices]
    return SpeechSet(corpus, cache_key(speech.key, places))


def _first(utterance: Utterance, seconds: float) -> Iterator[Utterance]:
    """The beginning of a recording; one that is shorter as it is."""
    if load_length(utterance).seconds <= seconds:
        yield utterance
        return
    start = utterance.start or 0.0
    yield replace(utterance, start=start, end=start + seconds, transcript="")


def _between_words(utterance: Utterance, times: WordTimes, seconds: float) -> Iterator[Utterance]:
    if not times:
        return
    length = load_length(utterance)
    samples, offset = round(length.seconds * length.rate), utterance.start or 0.0
    pieces = slice_words(times, samples, length.rate, seconds=seconds)
    words = spoken_words(utterance.transcript)
    for number, piece in enumerate(pieces):
        said = words[piece.first : piece.stop] if len(words) == len(times) else []
        yield replace(
            utterance,
            id=f"{utterance.id}/{number}",
            start=offset + piece.start / length.rate,
            end=offset + piece.end / length.rate,
            transcript=" ".join(word.text for word in said),
        )


def _is_usable(utterance: Utterance) -> bool:
    """Whether a slice can be encoded; the first half second of a recording may be silent."""
    try:
        prepare(np.asarray(load_audio(utterance, RATE), np.float32), RATE)
    except SottovoceError:
        return False
    return True


def _word_times(speech: SpeechSet, cache: SpeechCache, lang: str) -> dict[str, WordTimes]:
    if not any(utterance.transcript for utterance in speech.corpus):
        raise InputError(
            f"{speech.corpus.name}: no transcripts, which cutting between words needs; add them, "
            "or cut the first seconds",
            code="missing-transcript",
        )
    return cache.steps.get(_TIMES, [speech.key, lang], lambda: _align_all(speech, cache, lang))


def _align_all(speech: SpeechSet, cache: SpeechCache, lang: str) -> dict[str, WordTimes]:
    times: dict[str, WordTimes] = {}
    for done, utterance in enumerate(speech.corpus, 1):
        audio, rate = load_native(utterance)
        try:
            found = align(audio, rate, utterance.transcript, lang=utterance.language or lang)
        except InputError:  # counted as left out
            continue
        if not found.doubts:
            times[utterance.id] = tuple((word.start, word.end) for word in found.words)
        if cache.progress:
            cache.progress(f"aligning {speech.corpus.name}", done, len(speech.corpus))
    return times


def match_map(
    trial: SpeechSet, released: Corpus, slices: Sequence[MappedSlice]
) -> tuple[SpeechSet, SpeechSet]:
    """Name released slices by the map that ``sottovoce slice`` kept.

    Parameters
    ----------
    trial : SpeechSet
        Original recordings that are trials.
    released : Corpus
        Slices as they were released.
    slices : sequence of MappedSlice
        The map.

    Returns
    -------
    (SpeechSet, SpeechSet)
        Stretches of the original trials, and the released slices with their speakers; both under
        the names of the slices.

    Raises
    ------
    InputError
        ``mismatch`` for a slice that the map does not know or that is not in the originals.
    """
    known = {entry.slice: entry for entry in slices}
    unknown = [utterance.id for utterance in released if utterance.id not in known]
    if unknown:
        raise InputError(
            f"{released.name}: {first_few(unknown, len(unknown))} not in the map; give the map "
            "that was written beside these slices",
            code="mismatch",
        )
    originals = {utterance.id: utterance for utterance in trial.corpus}
    stretches, named = [], []
    for utterance in released:
        entry = known[utterance.id]
        source = originals.get(entry.utterance)
        if source is None:  # an enrolment recording
            continue
        length, offset = load_length(source).seconds, source.start or 0.0
        if entry.start >= length:
            raise InputError(
                f"{released.name}: slice {entry.slice} begins after the end of {source.id}; give "
                "the originals of the corpus that was cut",
                code="mismatch",
            )
        end = offset + min(entry.end, length)
        stretches.append(replace(source, id=entry.slice, start=offset + entry.start, end=end))
        named.append(replace(utterance, speaker=source.speaker, gender=source.gender))
    if not named:
        raise InputError(
            f"{released.name}: no slice of a trial; give the originals of the corpus that was cut",
            code="mismatch",
        )
    corpus = Corpus(released.name, released.root, tuple(named))
    return _set_of(trial, stretches), SpeechSet.of(corpus)
