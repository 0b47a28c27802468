"""Places of released recordings where a private word may have been missed.

A mask can only be attacked where there is one. Words that were never detected, or that are not in
the transcript, are looked for in what a recogniser hears in the released sound: words that are
masked elsewhere, words that the taggers and rules find private there, and letters in a row. A place
is an utterance and its times; it never contains a word.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Literal

from sottovoce.anonymise.recording.private_words import FUNCTION_WORDS, Finder
from sottovoce.anonymise.recording.secure import Secured
from sottovoce.anonymise.recording.words import Token, letter_runs, spoken_words, word_key
from sottovoce.core.files import write_text
from sottovoce.core.records import Record

Reason = Literal["masked-word", "private-word", "letters"]

REASONS: dict[Reason, str] = {
    "masked-word": "a word that is masked elsewhere is heard here",
    "private-word": "what is heard here looks private",
    "letters": "letters in a row, as if a word was spelled",
}
"""What each reason means."""


@dataclass(frozen=True, slots=True)
class Place(Record):
    """A place that a person should look at before the export is given away."""

    utterance: str
    """Id in the corpus."""
    start: float | None
    """Seconds in the original recording; None in an export of texts."""
    end: float | None
    why: Reason


@dataclass(frozen=True, slots=True)
class HeardWord:
    """A word that a recogniser heard, and where it was in the original recording."""

    token: Token
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class HeardRecording:
    """What a recogniser heard in a released recording."""

    utterance: str
    lang: str
    text: str
    words: tuple[HeardWord, ...]
    kept: frozenset[str]
    """Keys of the words of the transcript that were not masked."""
    masked: frozenset[str]
    """Keys of the words of the transcript that were masked."""
    accepted: frozenset[str]
    """Keys of the words that a person decided to release."""


def locate_heard(secured: Secured, text: str) -> HeardRecording:
    """Find where the words that a recogniser heard are in the original recording.

    A heard word that is a kept word of the transcript has its times. Any other lies between the
    nearest two of those.

    Parameters
    ----------
    secured : Secured
        The released recording.
    text : str
        What the recogniser heard in it.
    """
    times, masked = secured.alignment.words, secured.masked.words
    kept = [index for index, word in enumerate(masked) if word is not None]
    keys = [word_key(times[index].text) for index in kept]
    tokens = spoken_words(text)
    heard = [word_key(token.text) for token in tokens]
    matches: dict[int, int] = {}
    for block in SequenceMatcher(None, keys, heard, autojunk=False).get_matching_blocks():
        matches |= {block.b + i: kept[block.a + i] for i in range(block.size)}
    ends = [times[matches[i]].end if i in matches else None for i in range(len(tokens))]
    starts = [times[matches[i]].start if i in matches else None for i in range(len(tokens))]
    words = []
    for index, token in enumerate(tokens):
        before = (end for end in reversed(ends[:index]) if end is not None)
        after = (start for start in starts[index + 1 :] if start is not None)
        start, end = starts[index], ends[index]
        start = next(before, 0.0) if start is None else start
        end = next(after, secured.alignment.seconds) if end is None else end
        words.append(HeardWord(token, start, max(start, end)))
    hidden = {word_key(times[i].text) for i, word in enumerate(masked) if word is None}
    return HeardRecording(
        secured.utterance.id,
        secured.lang,
        text,
        tuple(words),
        kept=frozenset(keys),
        masked=frozenset(hidden),
        accepted=_accepted(secured),
    )


def _accepted(secured: Secured) -> frozenset[str]:
    """Return the keys of the words that a person decided to release."""
    released = [d for d in secured.decisions if d.by == "person" and not d.mask]
    return frozenset(
        word_key(token.text)
        for token in spoken_words(secured.utterance.transcript)
        if any(token.start < d.end and d.start < token.end for d in released)
    )


def find_missed(recordings: Sequence[HeardRecording], finder: Finder | None) -> list[Place]:
    """Find the places of released recordings where a private word may have been missed.

    Parameters
    ----------
    recordings : sequence of HeardRecording
        What was heard in all released recordings.
    finder : Finder, optional
        Finds private words in what was heard.

    Returns
    -------
    list of Place
        In the order of the recordings and of time; each stretch once, with its first reason.
    """
    masked = {key for recording in recordings for key in recording.masked} - FUNCTION_WORDS
    texts = [recording.text for recording in recordings]
    spans = finder(texts, [r.lang for r in recordings]) if finder else [()] * len(texts)
    places: list[Place] = []
    for recording, private in zip(recordings, spans, strict=True):
        tokens = [word.token for word in recording.words]
        runs: list[tuple[int, int, Reason]] = [
            (*run, "letters") for run in letter_runs([token.text for token in tokens])
        ]
        runs += [(index, index, "masked-word") for index in _heard_again(recording, masked)]
        for span in private:
            touched = [i for i, t in enumerate(tokens) if t.start < span.end and span.start < t.end]
            runs += [(touched[0], touched[-1], "private-word")] if touched else []
        places += _places(recording, [run for run in runs if not _is_accepted(recording, run)])
    return places


def _is_accepted(recording: HeardRecording, run: tuple[int, int, Reason]) -> bool:
    """Tell whether a person decided to release all words of a run."""
    words = recording.words[run[0] : run[1] + 1]
    return all(word_key(word.token.text) in recording.accepted for word in words)


def _heard_again(recording: HeardRecording, masked: Collection[str]) -> list[int]:
    """Return the heard words that are masked words and that no kept word explains."""
    keys = [word_key(word.token.text) for word in recording.words]
    return [i for i, key in enumerate(keys) if key in masked and key not in recording.kept]


def _places(recording: HeardRecording, runs: Iterable[tuple[int, int, Reason]]) -> list[Place]:
    """Turn runs of heard words into places; a run whose words are in an earlier one is left out."""
    places, covered = [], set[int]()
    for first, last, why in runs:
        if not covered.issuperset(range(first, last + 1)):
            covered.update(range(first, last + 1))
            start, end = recording.words[first].start, recording.words[last].end
            places.append(Place(recording.utterance, round(start, 2), round(end, 2), why))
    return sorted(places, key=lambda place: (place.start or 0.0, place.end or 0.0))


def spelled_in_release(secured: Secured) -> list[Place]:
    """Find letters in a row in the text that is released with a recording.

    Parameters
    ----------
    secured : Secured
        The recording.
    """
    times, accepted = secured.alignment.words, _accepted(secured)
    kept = [i for i, word in enumerate(secured.masked.words) if word is not None]
    words = [times[index].text for index in kept]
    return [
        Place(secured.utterance.id, times[kept[first]].start, times[kept[last]].end, "letters")
        for first, last in letter_runs(words)
        if not {word_key(word) for word in words[first : last + 1]} <= accepted
    ]


def write_places(path: Path, places: Iterable[Place]) -> None:
    """Write places as a table that only its owner may read: it contains the original ids.

    Parameters
    ----------
    path : Path
        A CSV file.
    places : iterable of Place
        What to look at.
    """
    text = io.StringIO()
    rows = [(place.utterance, place.start, place.end, REASONS[place.why]) for place in places]
    csv.writer(text, lineterminator="\n").writerows([("utterance", "start", "end", "why"), *rows])
    write_text(path, text.getvalue())
    path.chmod(0o600)
