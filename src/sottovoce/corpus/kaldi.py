"""Kaldi data directories: everything that is peculiar to Kaldi is in here.

    wav.scp       recording path        commands are refused, never run
    utt2spk       utterance speaker
    segments      utterance recording start end      optional; end -1 is the end of the file
    text          utterance words       optional
    spk2gender    speaker f|m           optional
    utt2lang, utt2session, utt2split    optional: utterance word

Without ``segments`` the ids in ``wav.scp`` are those of utterances.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from functools import partial
from pathlib import Path

from sottovoce.core.atomic_directory import atomic_directory
from sottovoce.core.errors import InputError
from sottovoce.core.files import write_text
from sottovoce.corpus.reading import (
    CorpusBuilder,
    Defects,
    DefectsError,
    Entries,
    base_folder,
    folder_name,
    portable_path,
    read_entries,
)
from sottovoce.corpus.utterance import Corpus, Utterance

WORD_FILES = {"language": "utt2lang", "session": "utt2session", "split": "utt2split"}
"""Files of one word per utterance, by field; Kaldi itself has only the first."""
FILES = ("wav.scp", "utt2spk", "spk2utt", "segments", "text", "spk2gender", *WORD_FILES.values())
"""All files that a directory may have."""

END_OF_FILE = -1.0
_ARCHIVE = re.compile(r"\.ark:\d+$")


def read_kaldi(folder: Path | str) -> Corpus:
    """Read a data directory.

    Files are joined by id; the order of lines has no influence. Every utterance needs a speaker and
    a recording, and an id that is in one file only is a defect. The exception is an utterance
    without a line in ``text``: the notes of the corpus count them.

    Parameters
    ----------
    folder : Path or str
        The directory.

    Raises
    ------
    DefectsError
        With all lines that cannot be used.
    """
    folder = Path(folder)
    tables = _Tables(folder, Defects())
    tables.join()
    tables.defects.refuse_any()
    base, notes = base_folder((path for _, path in tables.recordings.values()), folder)
    builder = CorpusBuilder(tables.defects)
    for key, (line, _) in tables.utterances.items():
        builder.add(tables.source, line, partial(tables.utterance, key, base))
    return builder.corpus(folder_name(folder), folder, tables.source, (*notes, *tables.notes()))


def read_utt2spk(path: Path) -> dict[str, str]:
    """Read the speakers of utterances.

    Parameters
    ----------
    path : Path
        A file with lines ``utterance speaker``; blank lines are skipped.

    Returns
    -------
    dict of str to str
        The speaker of each utterance.

    Raises
    ------
    InputError
        ``malformed-line`` or ``duplicate-id`` with the number of the first such line; ``empty``.
    """
    defects = Defects()
    entries = read_entries(path, "utterance speaker", defects)
    for line, speaker in entries.values():
        if len(speaker.split()) > 1:
            defects.add(path, line, "not 'utterance speaker'; correct the line")
    try:
        defects.refuse_any()
    except DefectsError as error:
        first = error.defects[0]
        raise InputError(str(first), code=first.code) from None
    if not entries:
        raise InputError(f"{path}: empty; write lines 'utterance speaker'", code="empty")
    return {utterance: speaker for utterance, (_, speaker) in entries.items()}


class _Tables:
    """The files of a data directory, by id."""

    def __init__(self, folder: Path, defects: Defects) -> None:
        self.folder, self.defects = folder, defects
        self.recordings = read_entries(folder / "wav.scp", "recording path", defects)
        self.speakers = read_entries(folder / "utt2spk", "utterance speaker", defects)
        self.segments = self._optional("segments", "utterance recording start end")
        self.text = self._optional("text", "utterance words", value=False)
        self.genders = self._optional("spk2gender", "speaker f|m")
        self.words = {
            field: self._optional(name, "utterance word") for field, name in WORD_FILES.items()
        }
        self.source = folder / ("wav.scp" if self.segments is None else "segments")
        self.utterances = self.recordings if self.segments is None else self.segments

    def _optional(self, name: str, form: str, *, value: bool = True) -> Entries | None:
        path = self.folder / name
        return read_entries(path, form, self.defects, value=value) if path.exists() else None

    def join(self) -> None:
        """Note every id that is in one file only, and every recording that is no audio file."""
        for line, path in self.recordings.values():
            if message := _not_a_path(path):
                self.defects.add(self.folder / "wav.scp", line, message, code="unsupported")
        if self.segments is not None:
            self._check_segments(self.segments)
        self._refuse_unmatched(self.source.name, self.utterances, self.speakers, "utt2spk")
        for name, entries in (
            ("utt2spk", self.speakers),
            ("text", self.text),
        ):
            self._refuse_unmatched(name, entries, self.utterances, self.source.name)
        speakers = {speaker for _, speaker in self.speakers.values()}
        self._refuse_unmatched("spk2gender", self.genders, speakers, "utt2spk")
        for field, name in WORD_FILES.items():
            self._refuse_unmatched(name, self.words[field], self.utterances, self.source.name)

    def _refuse_unmatched(
        self, name: str, entries: Entries | None, known: Collection[str], other: str
    ) -> None:
        """Note the lines of a file whose ids another file lacks."""
        for key, (line, _) in (entries or {}).items():
            if key not in known:
                # the id itself is not shown: in a text without ids it is a word of a transcript
                message = f"the id of this line is not in {other}; the files must match"
                self.defects.add(self.folder / name, line, message, code="unknown-name")

    def _check_segments(self, segments: Entries) -> None:
        path = self.folder / "segments"
        for line, text in segments.values():
            words = text.split()
            if len(words) != 3 or _seconds(words[1:]) is None:
                self.defects.add(path, line, "not 'utterance recording start end'; give seconds")
            elif words[0] not in self.recordings:
                message = f"recording {words[0]} is not in wav.scp; the files must match"
                self.defects.add(path, line, message, code="unknown-name")

    def utterance(self, key: str, base: Path) -> Utterance:
        """Build an utterance from all tables, once they have been joined.

        Parameters
        ----------
        key : str
            Its id.
        base : Path
            The folder that relative paths start from.
        """
        recording, start, end = key, None, None
        if self.segments is not None:
            recording, *times = self.segments[key][1].split()
            start, end = _seconds(times) or (None, None)
        speaker = self.speakers[key][1]
        return Utterance(
            key,
            base / self.recordings[recording][1],
            speaker,
            gender=_value(self.genders, speaker),
            language=_value(self.words["language"], key),
            transcript=_value(self.text, key),
            session=_value(self.words["session"], key),
            split=_value(self.words["split"], key),
            start=start,
            end=end,
        )

    def notes(self) -> list[str]:
        """Describe what is missing but no defect."""
        notes = []
        if self.text is not None and (missing := len(self.utterances) - len(self.text)):
            notes.append(f"{self.folder / 'text'}: no line for {missing:,} utterances")
        if self.segments is not None:
            used = {text.split()[0] for _, text in self.segments.values()}
            if unused := len(self.recordings.keys() - used):
                notes.append(f"{self.folder / 'wav.scp'}: {unused:,} recordings have no segment")
        return notes


def _value(entries: Entries | None, key: str) -> str:
    return entries[key][1] if entries and key in entries else ""


def _not_a_path(path: str) -> str:
    """Return what is wrong with the path in a line of ``wav.scp``; empty if nothing is."""
    if path.endswith("|") or path.startswith("|"):
        return "a command, and commands are never run; write its output to a file and name that"
    if path == "-" or _ARCHIVE.search(path):
        return f"{path} is no audio file; write it out with wav-copy and name that"
    return ""


def _seconds(words: list[str]) -> tuple[float | None, float | None] | None:
    """Parse start and end, each None at an end of the file; None if they are not two numbers."""
    try:
        start, end = map(float, words)
    except ValueError:
        return None
    if end == END_OF_FILE:
        return (start or None), None
    return start, end


# ======================================================================================== writing


def write_kaldi(corpus: Corpus, folder: Path | str) -> Path:
    """Write a data directory, whole or not at all.

    Files below the folder are named relative to it, others by absolute paths. ``extra`` has no
    place in such a directory and is left out.

    Parameters
    ----------
    corpus : Corpus
        What is listed.
    folder : Path or str
        A folder that is new or empty.

    Returns
    -------
    Path
        The folder.
    """
    folder = Path(folder)
    files = kaldi_files(corpus, folder)
    with atomic_directory(folder) as temporary:
        for name, text in files.items():
            write_text(temporary / name, text)
    return folder


def _sorted(lines: Iterable[str]) -> list[str]:
    """Sort lines as Kaldi does: by the bytes of the first word."""
    return sorted(lines, key=lambda line: line.split(" ", 1)[0].encode())


def kaldi_files(corpus: Corpus, folder: Path) -> dict[str, str]:
    """Return the text of each file of a data directory by name, ``wav.scp`` last.

    Parameters
    ----------
    corpus : Corpus
        What is listed.
    folder : Path
        The directory, which paths are relative to.

    Raises
    ------
    InputError
        ``empty``, or ``unsupported`` for an utterance that these files cannot describe.
    """
    if not len(corpus):
        raise InputError(f"{corpus.name}: no utterances; there is nothing to write", code="empty")
    for utterance in corpus:
        _refuse_unwritable(utterance, folder)
    files = {
        "utt2spk": [f"{utterance.id} {utterance.speaker}" for utterance in corpus],
        "spk2utt": [
            f"{speaker} {' '.join(_sorted(utterance.id for utterance in utterances))}"
            for speaker, utterances in corpus.by_speaker().items()
        ],
        "text": _word_lines(corpus, lambda utterance: utterance.transcript),
        "spk2gender": [f"{speaker} {gender}" for speaker, gender in _genders(corpus).items()],
    }
    for field, name in WORD_FILES.items():
        words = {utterance.id: getattr(utterance, field) for utterance in corpus}
        files[name] = [f"{key} {word}" for key, word in words.items() if word]
    files |= _audio_files(corpus, folder)
    return {
        name: "".join(f"{line}\n" for line in _sorted(lines))
        for name, lines in files.items()
        if lines
    }


def _audio_files(corpus: Corpus, folder: Path) -> dict[str, list[str]]:
    """Return ``wav.scp`` and, if a recording is cut or has several utterances, ``segments``."""
    recording_of: dict[Path, str] = {}
    for utterance in corpus:
        recording_of.setdefault(utterance.path, utterance.id)
    cut = any(utterance.start is not None or utterance.end is not None for utterance in corpus)
    scp = [f"{name} {portable_path(path, folder)}" for path, name in recording_of.items()]
    if not cut and len(recording_of) == len(corpus):
        return {"wav.scp": scp}
    segments = [
        f"{utterance.id} {recording_of[utterance.path]} {utterance.start or 0:.6g} "
        f"{END_OF_FILE if utterance.end is None else utterance.end:.6g}"
        for utterance in corpus
    ]
    return {"segments": segments, "wav.scp": scp}


def _word_lines(corpus: Corpus, field: Callable[[Utterance], str]) -> list[str]:
    texts = {utterance.id: " ".join(field(utterance).split()) for utterance in corpus}
    return [f"{key} {text}" for key, text in texts.items() if text]


def _genders(corpus: Corpus) -> dict[str, str]:
    genders: dict[str, str] = {}
    for utterance in corpus:
        speaker, gender = utterance.speaker, utterance.gender
        if gender and genders.setdefault(speaker, gender) != gender:
            raise InputError(
                f"{corpus.name}: two genders for speaker {speaker}; correct one", code="mismatch"
            )
    return genders


def _refuse_unwritable(utterance: Utterance, folder: Path) -> None:
    for field in ("id", "speaker", "gender", "language", "session", "split"):
        word = getattr(utterance, field)
        if len(word.split()) > 1 or word != word.strip():
            raise _unsupported(utterance, f"its {field} has blanks, Kaldi needs one word")
    path = portable_path(utterance.path, folder)
    if path != " ".join(path.splitlines()).strip() or _not_a_path(path):
        raise _unsupported(utterance, f"{path!r} cannot stand in wav.scp; rename it")
    if utterance.channel is not None:
        raise _unsupported(utterance, f"channel {utterance.channel}, Kaldi needs mono files")


def _unsupported(utterance: Utterance, message: str) -> InputError:
    return InputError(f"utterance {utterance.id!r}: {message}", code="unsupported")
