"""Kaldi data directories: everything that is peculiar to Kaldi is in here.

    wav.scp       recording path        no commands: they are refused, never run
    utt2spk       utterance speaker
    segments      utterance recording start end      optional; end -1 is the end of the file
    text          utterance words       optional
    spk2gender    speaker f|m           optional
    utt2lang, utt2session, utt2split    optional: utterance word

Without ``segments`` the ids in ``wav.scp`` are those of utterances.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from sottovoce.core.atomic_directory import atomic_directory
from sottovoce.core.errors import InputError
from sottovoce.core.files import write_text
from sottovoce.corpus.defects import Defects
from sottovoce.corpus.gather import Gathering
from sottovoce.corpus.lines import Entries, read_entries
from sottovoce.corpus.paths import base_of, folder_name, portable
from sottovoce.corpus.utterance import Corpus, Utterance

WORDS = {"language": "utt2lang", "session": "utt2session", "split": "utt2split"}
"""Files of one word an utterance; Kaldi itself knows the first only."""
FILES = ("wav.scp", "utt2spk", "spk2utt", "segments", "text", "spk2gender", *WORDS.values())
"""All files that a directory may have."""

TO_END = -1.0
_ARCHIVE = re.compile(r"\.ark:\d+$")


def read_kaldi(folder: Path | str) -> Corpus:
    """Read a data directory; files are joined by id, the order of lines means nothing.

    Every utterance needs a speaker and a recording, and a line whose id nothing else has is a
    defect. Only an utterance without a line in ``text`` is none: the corpus's notes count them.
    """
    folder = Path(folder)
    tables = _Tables(folder, Defects())
    tables.join()
    tables.defects.refuse_any()
    base, notes = base_of((path for _, path in tables.recordings.values()), folder)
    gathered = Gathering(tables.defects)
    for key, (line, _) in tables.listed.items():
        gathered.add(tables.source, line, partial(tables.utterance, key, base))
    notes = (*notes, *tables.notes())
    return gathered.corpus(folder_name(folder), folder, tables.source, notes)


class _Tables:
    """The files of a data directory, by id."""

    def __init__(self, folder: Path, defects: Defects) -> None:
        self.folder, self.defects = folder, defects
        self.recordings = read_entries(folder / "wav.scp", "recording path", defects)
        self.speakers = read_entries(folder / "utt2spk", "utterance speaker", defects)
        self.segments = self._optional("segments", "utterance recording start end")
        self.text = self._optional("text", "utterance words", rest=False)
        self.genders = self._optional("spk2gender", "speaker f|m")
        self.words = {name: self._optional(WORDS[name], "utterance word") for name in WORDS}
        self.source = folder / ("wav.scp" if self.segments is None else "segments")
        self.listed = self.recordings if self.segments is None else self.segments

    def _optional(self, name: str, form: str, *, rest: bool = True) -> Entries | None:
        path = self.folder / name
        return read_entries(path, form, self.defects, rest=rest) if path.exists() else None

    def join(self) -> None:
        """Find every id that one file has and another lacks, and every path that is none."""
        for line, path in self.recordings.values():
            if what := _not_a_path(path):
                self.defects.add(self.folder / "wav.scp", line, what)
        if self.segments is not None:
            self._check_segments(self.segments)
        self._strangers(self.source, self.listed, self.speakers, "utt2spk")
        names = {speaker for _, speaker in self.speakers.values()}
        for file, entries, known in (
            ("utt2spk", self.speakers, self.listed),
            ("text", self.text, self.listed),
            ("spk2gender", self.genders, names),
            *((WORDS[name], self.words[name], self.listed) for name in WORDS),
        ):
            self._strangers(self.folder / file, entries or {}, known, self._of(known))

    def _of(self, known: object) -> str:
        return self.source.name if known is self.listed else "utt2spk"

    def _strangers(self, path: Path, entries: Entries, known: Iterable[str], other: str) -> None:
        known = known if isinstance(known, dict | set) else set(known)
        for key, (line, _) in entries.items():
            if key not in known:
                what = f"the id of this line is not in {other}; the files must match"
                self.defects.add(path, line, what)  # not the id: without one it is a word

    def _check_segments(self, segments: Entries) -> None:
        path = self.folder / "segments"
        for line, rest in segments.values():
            words = rest.split()
            if len(words) != 3 or _seconds(words[1:]) is None:
                what = "not 'utterance recording start end'; give seconds"
                self.defects.add(path, line, what)
            elif words[0] not in self.recordings:
                what = f"recording {words[0]} is not in wav.scp; the files must match"
                self.defects.add(path, line, what)

    def utterance(self, key: str, base: Path) -> Utterance:
        """One utterance from all tables, once they have been joined."""
        recording, start, end = key, None, None
        if self.segments is not None:
            recording, *times = self.segments[key][1].split()
            start, end = _seconds(times) or (None, None)
        speaker = self.speakers[key][1]
        return Utterance(
            key,
            base / self.recordings[recording][1],
            speaker,
            gender=_rest(self.genders, speaker),
            language=_rest(self.words["language"], key),
            transcript=_rest(self.text, key),
            session=_rest(self.words["session"], key),
            split=_rest(self.words["split"], key),
            start=start,
            end=end,
        )

    def notes(self) -> list[str]:
        """What is lacking but no defect."""
        notes = []
        if self.text is not None and (lacking := len(self.listed) - len(self.text)):
            notes.append(f"{self.folder / 'text'}: no line for {lacking:,} utterances")
        if self.segments is not None:
            used = {rest.split()[0] for _, rest in self.segments.values()}
            if idle := len(self.recordings.keys() - used):
                notes.append(f"{self.folder / 'wav.scp'}: {idle:,} recordings have no segment")
        return notes


def _rest(entries: Entries | None, key: str) -> str:
    return entries[key][1] if entries and key in entries else ""


def _not_a_path(path: str) -> str:
    """What is wrong with the second part of a line of ``wav.scp``, if anything."""
    if path.endswith("|") or path.startswith("|"):
        return "a command, and commands are never run; write its output to a file and name that"
    if path == "-" or _ARCHIVE.search(path):
        return f"{path} is no audio file; write it out with wav-copy and name that"
    return ""


def _seconds(words: list[str]) -> tuple[float | None, float | None] | None:
    """Start and end; nothing for the ends of the file, None for what is no pair of numbers."""
    try:
        start, end = map(float, words)
    except ValueError:
        return None
    if end == TO_END:
        return (start or None), None
    return start, end


# ======================================================================================== writing


def write_kaldi(corpus: Corpus, folder: Path | str) -> Path:
    """Write a data directory, whole or not at all, into a folder that is new or empty.

    Files below the folder are named relative to it, others by absolute paths. ``extra`` has no
    place in such a directory and is left out.
    """
    folder = Path(folder)
    files = kaldi_files(corpus, folder)
    with atomic_directory(folder) as temporary:
        for name, text in files.items():
            write_text(temporary / name, text)
    return folder


def _sorted(lines: Iterable[str]) -> list[str]:
    """In Kaldi's order: by the bytes of the first word."""
    return sorted(lines, key=lambda line: line.split(" ", 1)[0].encode())


def kaldi_files(corpus: Corpus, folder: Path) -> dict[str, str]:
    """The text of each file for a directory ``folder``, ``wav.scp`` last.

    What Kaldi has no way to say is refused.
    """
    if not len(corpus):
        raise InputError(f"{corpus.name}: no utterances; there is nothing to write")
    for one in corpus:
        _refuse_unwritable(one, folder)
    files = {
        "utt2spk": [f"{one.id} {one.speaker}" for one in corpus],
        "spk2utt": [
            f"{speaker} {' '.join(_sorted(one.id for one in own))}"
            for speaker, own in corpus.by_speaker().items()
        ],
        "text": _words(corpus, lambda one: one.transcript),
        "spk2gender": [f"{who} {gender}" for who, gender in _genders(corpus).items()],
    }
    for field, name in WORDS.items():
        files[name] = [f"{one.id} {getattr(one, field)}" for one in corpus if getattr(one, field)]
    files |= _audio_files(corpus, folder)
    return {
        name: "".join(f"{line}\n" for line in _sorted(lines))
        for name, lines in files.items()
        if lines
    }


def _audio_files(corpus: Corpus, folder: Path) -> dict[str, list[str]]:
    """``wav.scp`` and, where a recording is cut or holds several utterances, ``segments``."""
    recording_of: dict[Path, str] = {}
    for one in corpus:
        recording_of.setdefault(one.path, one.id)
    cut = any(one.start is not None or one.end is not None for one in corpus)
    scp = [f"{name} {portable(path, folder)}" for path, name in recording_of.items()]
    if not cut and len(recording_of) == len(corpus):
        return {"wav.scp": scp}
    segments = [
        f"{one.id} {recording_of[one.path]} {one.start or 0:.6g} "
        f"{TO_END if one.end is None else one.end:.6g}"
        for one in corpus
    ]
    return {"segments": segments, "wav.scp": scp}


def _words(corpus: Corpus, field: Callable[[Utterance], str]) -> list[str]:
    return [f"{one.id} {' '.join(field(one).split())}" for one in corpus if field(one).strip()]


def _genders(corpus: Corpus) -> dict[str, str]:
    genders: dict[str, str] = {}
    for one in corpus:
        if one.gender and genders.setdefault(one.speaker, one.gender) != one.gender:
            raise InputError(f"{corpus.name}: two genders for speaker {one.speaker}; correct one")
    return genders


def _refuse_unwritable(one: Utterance, folder: Path) -> None:
    for field in ("id", "speaker", "gender", "language", "session", "split"):
        word = getattr(one, field)
        if len(word.split()) > 1 or word != word.strip():
            raise InputError(f"utterance {one.id!r}: its {field} has blanks, Kaldi needs one word")
    path = portable(one.path, folder)
    if path != " ".join(path.splitlines()).strip() or _not_a_path(path):
        raise InputError(f"utterance {one.id!r}: {path!r} cannot stand in wav.scp; rename it")
    if one.channel is not None:
        raise InputError(f"utterance {one.id!r}: channel {one.channel}, Kaldi needs mono files")
