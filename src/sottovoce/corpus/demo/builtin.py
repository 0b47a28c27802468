"""The built-in corpus: SYNTHETIC speech, made on first use, for a machine with no other.

The speakers never lived: :mod:`~sottovoce.corpus.demo.synthesis` draws their voices at random and
says sentences with them. Each has two sessions, one to enrol and one for trials. Word times
are exact, and what a sentence gives away in words (names, places, dates, numbers) is listed too.

Results on it say that a set-up works, never how private real speech is.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import wave
from collections.abc import Iterator
from functools import partial
from itertools import groupby
from pathlib import Path

import numpy as np

from sottovoce.core.atomic_directory import atomic_directory
from sottovoce.core.errors import UsageError
from sottovoce.core.files import write_text
from sottovoce.core.types import Progress
from sottovoce.corpus.demo.phones import TEMPLATES, Word, fill, written
from sottovoce.corpus.demo.synthesis import Speech, synthesise
from sottovoce.corpus.demo.voices import RATE, Session, Voice, draw_session, draw_voice
from sottovoce.corpus.manifest import write_manifest
from sottovoce.corpus.utterance import Corpus, Utterance

VERSION = 1
"""To be raised with every change that can be heard or read in the corpus."""

SEED = 20_201_025
MARKER = "complete.json"
ADVICE = "set SOTTOVOCE_CACHE to another folder"
SESSIONS = ("a", "b")
SPLITS = ("enrol", "trial")

KINDS = {
    **dict.fromkeys(("name", "surname"), "person"),
    **dict.fromkeys(("place", "street"), "place"),
    **dict.fromkeys(("day", "month"), "date"),
    **dict.fromkeys(("digit", "tens", "unit", "hour"), "number"),
}
"""What the words in a template's gaps give away; other gaps give away nothing."""

README = """\
SYNTHETIC SPEECH

Nobody said this. A program drew {speakers} voices at random and synthesised {utterances} sentences
with each (sottovoce, built-in corpus, version {version}, seed {seed}). Use it to try a set-up; it
says nothing about how private the speech of real people is.

manifest.csv   one row an utterance; session a is to enrol, session b for trials
words.ctm      utterance, channel, start and duration in seconds, word: exact, not estimated
entities.csv   the words that name a person, a place, a date or a number; words count from 0
audio/         16 kHz, 16 bit, mono
{marker}  settings and SHA-256 of every file; without it the folder is not used
"""


def cache_folder() -> Path:
    """Where generated files are kept: ``SOTTOVOCE_CACHE``, or the system's place for caches."""
    if named := os.environ.get("SOTTOVOCE_CACHE"):
        return Path(named)
    if os.path.isabs(base := os.environ.get("XDG_CACHE_HOME", "")):
        return Path(base) / "sottovoce"
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData/Local") / "sottovoce/Cache"
    home = "Library/Caches" if sys.platform == "darwin" else ".cache"
    return Path.home() / home / "sottovoce"


def builtin_corpus(
    cache: Path | None = None,
    *,
    speakers: int = 40,
    utterances: int = 12,
    seed: int = SEED,
    progress: Progress | None = None,
) -> Path:
    """The folder of the synthetic corpus, made first if it is not there whole.

    Genders alternate. The first half of a speaker's utterances is the session to enrol, the other
    half the one for trials. A smaller corpus with the same seed has the same first speakers. The
    same settings make the same bytes on one machine; another version of NumPy or SciPy, or another
    processor, may round a sample differently. ``progress`` is called with the number of utterances
    made and to be made.
    """
    settings = _settings(speakers, utterances, seed)
    folder = (cache or cache_folder()) / f"synthetic-v{VERSION}-{speakers}x{utterances}-{seed}"
    if not _whole(folder, settings):
        _make(folder, settings, progress)
    return folder


def _settings(speakers: int, utterances: int, seed: int) -> dict[str, int]:
    for what, value, least in (
        ("speakers", speakers, 2),
        ("utterances", utterances, 2),
        ("seed", seed, 0),
    ):
        if value < least:
            raise UsageError(f"built-in corpus: {what} is {value}; give at least {least}")
    return {"version": VERSION, "speakers": speakers, "utterances": utterances, "seed": seed}


# ------------------------------------------------------------------------------ whole or not


def _whole(folder: Path, settings: dict[str, int]) -> bool:
    """Whether a folder has the marker of these settings and every file it lists, unchanged."""
    try:
        marker = json.loads((folder / MARKER).read_text("utf-8"))
        files: dict[str, str] = marker.pop("files")
        return marker == settings and all(_sha256(folder / n) == h for n, h in files.items())
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return False


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _make(folder: Path, settings: dict[str, int], progress: Progress | None) -> None:
    """Write the corpus and the marker that lists the hash of every file."""
    complete = partial(_whole, settings=settings)  # another process may be faster
    with atomic_directory(folder, keep_existing=complete, advice=ADVICE) as temporary:
        _fill(temporary, settings, progress)
        files = sorted(path for path in temporary.rglob("*") if path.is_file())
        hashes = {path.relative_to(temporary).as_posix(): _sha256(path) for path in files}
        write_text(temporary / MARKER, json.dumps({**settings, "files": hashes}, indent=1))


# ------------------------------------------------------------------------------- the content


def _fill(folder: Path, settings: dict[str, int], progress: Progress | None) -> None:
    """Write all files but the marker."""
    total = settings["speakers"] * settings["utterances"]
    rows: list[Utterance] = []
    times: list[str] = []
    entities = ["utterance,first,last,kind,text"]
    for said, words, speech in _utterances(folder, settings):
        _write_wave(said.path, speech)
        rows.append(said)
        times += _ctm(said.id, speech)
        entities += _entities(said.id, words)
        if progress:
            progress(len(rows), total)
    write_manifest(Corpus(folder.name, folder, tuple(rows)), folder)
    write_text(folder / "words.ctm", "\n".join(times) + "\n")
    write_text(folder / "entities.csv", "\n".join(entities) + "\n")
    write_text(folder / "README.txt", README.format(**settings, marker=MARKER))


def _utterances(
    folder: Path, settings: dict[str, int]
) -> Iterator[tuple[Utterance, list[Word], Speech]]:
    """Everything that is said, speaker by speaker."""
    seed, count = settings["seed"], settings["utterances"]
    for speaker in range(settings["speakers"]):
        name = f"syn-{speaker + 1:03d}"
        voice, sessions, order = _cast(seed, speaker)
        for index in range(count):
            part = 2 * index // count
            rng = _generator(seed, speaker, 2, index)
            words = fill(TEMPLATES[order[index % len(order)]], rng)
            key = f"{name}-{SESSIONS[part]}-{index + 1:02d}"
            said = Utterance(
                key,
                folder / "audio" / name / f"{key}.wav",
                name,
                gender=voice.gender,
                language="en",
                transcript=written(words),
                session=SESSIONS[part],
                split=SPLITS[part],
            )
            yield said, words, synthesise(words, voice, sessions[part], rng)


def _cast(seed: int, speaker: int) -> tuple[Voice, list[Session], list[int]]:
    """A speaker's voice, sessions and order of sentences; they rest on seed and number only."""
    rng = _generator(seed, speaker, 1, 0)
    voice = draw_voice(rng, "m" if speaker % 2 else "f")
    sessions = [draw_session(rng) for _ in SESSIONS]
    return voice, sessions, rng.permutation(len(TEMPLATES)).tolist()


def _generator(seed: int, speaker: int, purpose: int, index: int) -> np.random.Generator:
    return np.random.default_rng([seed, speaker, purpose, index])


def _write_wave(path: Path, speech: Speech) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(np.round(speech.samples * 32767).astype("<i2").tobytes())


def _ctm(key: str, speech: Speech) -> Iterator[str]:
    for timing in speech.words:
        yield f"{key} 1 {timing.start:.3f} {timing.end - timing.start:.3f} {timing.word}"


def _entities(key: str, words: list[Word]) -> Iterator[str]:
    """Runs of words of one kind; words of a sentence count from 0."""
    for kind, run in groupby(enumerate(words), lambda item: KINDS.get(item[1].slot, "")):
        if kind:
            found = list(run)
            text = " ".join(word.text for _, word in found)
            yield f"{key},{found[0][0]},{found[-1][0]},{kind},{text}"
