"""The built-in corpus of SYNTHETIC speech, which is made on first use.

The speakers do not exist: their voices are drawn at random and synthesised
(:mod:`~sottovoce.corpus.demo.synthesis`). Each has two sessions, one for enrolment and one for
trials. Word times are exact, and the words that reveal something (names, places, dates, numbers)
are listed.

Results on this corpus show that a set-up works; they say nothing about the privacy of real speech.
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
from sottovoce.corpus.demo.phones import TEMPLATES, Word, fill, spell
from sottovoce.corpus.demo.synthesis import Speech, synthesise
from sottovoce.corpus.demo.voices import RATE, Session, Voice, draw_session, draw_voice
from sottovoce.corpus.manifest import write_manifest
from sottovoce.corpus.utterance import Corpus, Utterance

VERSION = 1
"""To be raised with every change of the audio or text of the corpus."""

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
"""The kind of entity that a word in a gap of a template is; words in other gaps are none."""

README = """\
SYNTHETIC SPEECH

Nobody said this. A program drew {speakers} voices at random and synthesised {utterances} sentences
with each (sottovoce, built-in corpus, version {version}, seed {seed}). Use it to try a set-up; it
says nothing about how private the speech of real people is.

manifest.csv   one row per utterance; session a is to enrol, session b for trials
words.ctm      utterance, channel, start and duration in seconds, word: exact, not estimated
entities.csv   the words that name a person, a place, a date or a number; words count from 0
audio/         16 kHz, 16 bit, mono
{marker}  settings and SHA-256 of every file; without it the folder is not used
"""


def cache_folder() -> Path:
    """Return the folder for generated files: ``SOTTOVOCE_CACHE``, or the system's for caches."""
    if chosen := os.environ.get("SOTTOVOCE_CACHE"):
        return Path(chosen)
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
    """Return the folder of the synthetic corpus; it is made if it is missing or damaged.

    Genders alternate. The first half of a speaker's utterances is the session for enrolment, the
    other half the session for trials. A smaller corpus with the same seed has the same first
    speakers. The same settings make the same bytes on one machine; another version of NumPy or
    SciPy, or another processor, may round a sample differently.

    Parameters
    ----------
    cache : Path, optional
        The folder for generated files; by default :func:`cache_folder`.
    speakers : int, default 40
        Number of speakers, at least 2.
    utterances : int, default 12
        Utterances of each speaker, at least 2.
    seed : int, default SEED
        Determines voices, sessions and words; at least 0.
    progress : callable, optional
        Called with the number of utterances that are made, and of all.

    Raises
    ------
    UsageError
        ``out-of-range``.
    InputError
        ``not-writable``.
    """
    settings = _settings(speakers, utterances, seed)
    folder = (cache or cache_folder()) / f"synthetic-v{VERSION}-{speakers}x{utterances}-{seed}"
    if not _is_complete(folder, settings):
        _make(folder, settings, progress)
    return folder


def _settings(speakers: int, utterances: int, seed: int) -> dict[str, int]:
    for name, value, least in (
        ("speakers", speakers, 2),
        ("utterances", utterances, 2),
        ("seed", seed, 0),
    ):
        if value < least:
            raise UsageError(
                f"built-in corpus: {name} is {value}; give at least {least}", code="out-of-range"
            )
    return {"version": VERSION, "speakers": speakers, "utterances": utterances, "seed": seed}


# ------------------------------------------------------------------------------ completeness


def _is_complete(folder: Path, settings: dict[str, int]) -> bool:
    """Tell whether a folder has the marker of these settings and all its files, unchanged."""
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
    complete = partial(_is_complete, settings=settings)  # another process may be faster
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
    for utterance, words, speech in _utterances(folder, settings):
        _write_wave(utterance.path, speech)
        rows.append(utterance)
        times += _ctm(utterance.id, speech)
        entities += _entities(utterance.id, words)
        if progress:
            progress(len(rows), total)
    write_manifest(Corpus(folder.name, folder, tuple(rows)), folder)
    write_text(folder / "words.ctm", "\n".join(times) + "\n")
    write_text(folder / "entities.csv", "\n".join(entities) + "\n")
    write_text(folder / "README.txt", README.format(**settings, marker=MARKER))


def _utterances(
    folder: Path, settings: dict[str, int]
) -> Iterator[tuple[Utterance, list[Word], Speech]]:
    """Synthesise all utterances, speaker by speaker."""
    seed, count = settings["seed"], settings["utterances"]
    for speaker in range(settings["speakers"]):
        name = f"syn-{speaker + 1:03d}"
        voice, sessions, order = _draw_speaker(seed, speaker)
        for index in range(count):
            part = 2 * index // count
            rng = _generator(seed, speaker, 2, index)
            words = fill(TEMPLATES[order[index % len(order)]], rng)
            key = f"{name}-{SESSIONS[part]}-{index + 1:02d}"
            utterance = Utterance(
                key,
                folder / "audio" / name / f"{key}.wav",
                name,
                gender=voice.gender,
                language="en",
                transcript=spell(words),
                session=SESSIONS[part],
                split=SPLITS[part],
            )
            yield utterance, words, synthesise(words, voice, sessions[part], rng)


def _draw_speaker(seed: int, speaker: int) -> tuple[Voice, list[Session], list[int]]:
    """Draw a speaker's voice, sessions and order of sentences, from seed and number alone."""
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
    """List runs of words of one kind; the words of a sentence count from 0."""
    for kind, group in groupby(enumerate(words), lambda item: KINDS.get(item[1].slot, "")):
        if kind:
            run = list(group)
            text = " ".join(word.text for _, word in run)
            yield f"{key},{run[0][0]},{run[-1][0]},{kind},{text}"
