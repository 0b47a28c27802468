"""Corpora whose folders say who speaks: LibriSpeech, VCTK, Common Voice, a folder a speaker."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from sottovoce.core.errors import InputError, first_few
from sottovoce.corpus.defects import Defects, place
from sottovoce.corpus.gather import Gathering
from sottovoce.corpus.lines import numbered, read_entries
from sottovoce.corpus.paths import folder_name
from sottovoce.corpus.utterance import Corpus, Utterance

AUDIO = frozenset(
    (
        ".aif",
        ".aiff",
        ".au",
        ".caf",
        ".flac",
        ".mp3",
        ".oga",
        ".ogg",
        ".opus",
        ".sph",
        ".w64",
        ".wav",
    )
)
"""Endings that a folder's audio files are told by."""


def _audio_below(folder: Path, seen: frozenset[str] = frozenset()) -> Iterator[Path]:
    """All audio files below a folder in order of name; links are followed, but not in circles."""
    real = os.path.realpath(folder)
    if real in seen:
        return
    for path in _visible(folder):
        if path.is_dir():
            yield from _audio_below(path, seen | {real})
        elif path.suffix.lower() in AUDIO:
            yield path


def _visible(folder: Path) -> list[Path]:
    """What is in a folder, without hidden files, in order of name."""
    try:
        return sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError as error:
        raise InputError(f"{folder}: cannot be read ({error.strerror}); check its rights") from None


def _folders(folder: Path) -> list[Path]:
    return [path for path in _visible(folder) if path.is_dir()]


# ==================================================================================== LibriSpeech


def is_librispeech(path: Path) -> bool:
    """Whether chapters with ``*.trans.txt`` lie two or three folders below."""
    return any(next(path.glob(f"{depth}*.trans.txt"), None) for depth in ("*/*/", "*/*/*/"))


def read_librispeech(path: Path | str) -> Corpus:
    """Read LibriSpeech or one of its subsets: ``subset/speaker/chapter/*.flac``.

    A chapter is a session, a subset a split. ``SPEAKERS.TXT``, which has the genders, lies above
    the subsets; the names in it are not kept.
    """
    path = Path(path)
    whole = next(path.glob("*/*/*.trans.txt"), None) is None
    gathered = Gathering()
    table = next(
        (at / "SPEAKERS.TXT" for at in (path, path.parent) if (at / "SPEAKERS.TXT").is_file()), None
    )
    genders = _libri_genders(table, gathered.defects) if table else {}
    notes = [] if table else [f"{path}: no SPEAKERS.TXT here or above, so genders are unknown"]
    lacking = 0
    for subset in _folders(path) if whole else [path]:
        for chapter in (chapter for who in _folders(subset) for chapter in _folders(who)):
            lacking += _libri_chapter(chapter, subset, genders, gathered)
    if lacking:
        notes.append(f"{path}: {lacking:,} recordings have no transcript")
    return gathered.corpus(folder_name(path), path, path, notes)


def _libri_genders(table: Path, defects: Defects) -> dict[str, str]:
    """Lines ``14 | F | train-clean-360 | 25.03 | name``; those that begin with ; are comments."""
    genders = {}
    for number, line in numbered(table):
        cells = [cell.strip() for cell in line.split("|")]
        if line.startswith(";"):
            continue
        if len(cells) < 2 or cells[1] not in ("F", "M"):
            defects.add(table, number, "not 'speaker | F or M | …'; correct the line")
        else:
            genders[cells[0]] = cells[1]
    return genders


def _libri_chapter(
    chapter: Path, subset: Path, genders: dict[str, str], gathered: Gathering
) -> int:
    """Add the recordings of a chapter; returns how many have no transcript."""
    speaker = chapter.parent.name
    table = chapter / f"{speaker}-{chapter.name}.trans.txt"
    texts = read_entries(table, "id words", gathered.defects) if table.is_file() else {}
    files = {path.stem: path for path in _visible(chapter) if path.suffix.lower() in AUDIO}
    for key, file in files.items():
        build = partial(
            Utterance,
            key,
            file,
            speaker,
            gender=genders.get(speaker, ""),
            language="en",
            transcript=texts.get(key, (0, ""))[1],
            session=chapter.name,
            split=subset.name,
        )
        gathered.add(file, None, build)
    for key in texts.keys() - files.keys():
        what = "no recording with the id of this line beside it; restore it"
        gathered.defects.add(table, texts[key][0], what)
    return len(files.keys() - texts.keys())


# =========================================================================================== VCTK

MICROPHONE = re.compile(r"_mic(\d+)$")


def is_vctk(path: Path) -> bool:
    """Whether there is a folder ``wav48`` or ``wav48_silence_trimmed``."""
    return any(path.glob("wav48*/"))


def read_vctk(path: Path | str) -> Corpus:
    """Read VCTK: ``wav48*/p225/p225_001*``, ``txt/p225/p225_001.txt``, ``speaker-info.txt``.

    Of two microphones the first is taken, else every sentence would occur twice.
    """
    path = Path(path)
    tops = sorted(path.glob("wav48*/"))
    if len(tops) != 1:
        names = ", ".join(top.name for top in tops) or "no wav48*"
        raise InputError(f"{path}: {names}; one folder of recordings is needed")
    gathered = Gathering()
    table = path / "speaker-info.txt"
    about = _vctk_speakers(table, gathered.defects) if table.is_file() else {}
    notes = [] if about else [f"{path}: no speaker-info.txt, so genders are unknown"]
    others = lacking = 0
    for folder in _folders(tops[0]):
        for file in (file for file in _visible(folder) if file.suffix.lower() in AUDIO):
            microphone = MICROPHONE.search(file.stem)
            if microphone and microphone[1] != "1":
                others += 1
                continue
            text = path / "txt" / folder.name / f"{MICROPHONE.sub('', file.stem)}.txt"
            lacking += not text.is_file()
            gathered.add(file, None, partial(_vctk_utterance, file, text, about))
    if others:
        notes.append(f"{tops[0]}: {others:,} recordings of other microphones are left out")
    if lacking:
        notes.append(f"{path / 'txt'}: {lacking:,} recordings have no transcript")
    return gathered.corpus(folder_name(path), path, path, notes)


def _vctk_utterance(file: Path, text: Path, about: dict[str, dict[str, str]]) -> Utterance:
    speaker = file.parent.name
    known = about.get(speaker, {})
    return Utterance(
        file.stem,
        file,
        speaker,
        gender=known.get("gender", ""),
        language="en",
        transcript=" ".join(line.strip() for _, line in numbered(text)) if text.is_file() else "",
        extra={name: value for name, value in known.items() if name != "gender"},
    )


def _vctk_speakers(table: Path, defects: Defects) -> dict[str, dict[str, str]]:
    """Lines ``p225  23  F  English  Southern England`` under a header; ids also without the p."""
    about = {}
    for number, line in numbered(table):
        words = line.split()
        if words[0] == "ID":
            continue
        if len(words) < 3 or words[2] not in ("F", "M"):
            defects.add(table, number, "not 'speaker age F or M accent region'; correct the line")
            continue
        key = f"p{words[0]}" if words[0].isdigit() else words[0]
        accent = words[3] if len(words) > 3 else ""
        cells = {"gender": words[2], "age": words[1], "accent": accent}
        about[key] = {**cells, "region": " ".join(words[4:])}
    return about


# =================================================================================== Common Voice

CV_SPLITS = ("train", "dev", "test")
CV_NEEDED = ("client_id", "path", "sentence")
CV_OWN = (*CV_NEEDED, "gender", "locale")


def is_common_voice(path: Path) -> bool:
    """Whether there is a folder ``clips`` beside tables, or ``path`` is such a table."""
    folder = path if path.is_dir() else path.parent
    return (folder / "clips").is_dir() and any(folder.glob("*.tsv"))


def read_common_voice(path: Path | str) -> Corpus:
    """Read one table of Common Voice, or of a folder train, dev and test, else ``validated``.

    A table's name becomes the split. All further columns are kept.
    """
    path = Path(path)
    folder = path if path.is_dir() else path.parent
    tables = [path] if path.is_file() else [folder / f"{name}.tsv" for name in CV_SPLITS]
    tables = [table for table in tables if table.is_file()] or [folder / "validated.tsv"]
    gathered = Gathering()
    for table in tables:
        for line, row in _cv_rows(table, gathered.defects):
            gathered.add(table, line, partial(_cv_utterance, row, folder, table.stem))
    others = sorted({table.name for table in folder.glob("*.tsv")} - {t.name for t in tables})
    notes = [f"{folder}: not read: {first_few(others, len(others))}"] if others else []
    name = folder_name(folder) if path.is_dir() else path.stem
    return gathered.corpus(name, folder, path, notes)


def _cv_rows(table: Path, defects: Defects) -> Iterator[tuple[int, dict[str, str]]]:
    header: list[str] = []
    for number, line in numbered(table):
        cells = line.split("\t")
        if not header:
            header = cells
            for name in CV_NEEDED:
                if name not in header:
                    have = ", ".join(one for one in header if one in CV_OWN) or "none of them"
                    where = place(table, number)
                    raise InputError(f"{where}: no column {name!r} (has {have}); name it so")
        elif len(cells) != len(header):
            what = f"{len(cells)} cells for {len(header)} columns; one tab between two cells"
            defects.add(table, number, what)
        else:
            yield number, dict(zip(header, cells, strict=True))


def _cv_utterance(row: dict[str, str], folder: Path, split: str) -> Utterance:
    file = Path(row["path"])
    for name in ("client_id", "path"):
        if not row[name].strip():
            raise InputError(f"no {name}; fill it in or remove the row")
    return Utterance(
        file.stem,
        folder / "clips" / (file if file.suffix else f"{file}.mp3"),
        row["client_id"],
        gender=row.get("gender", "").split("_")[0],  # female_feminine, male_masculine
        language=row.get("locale", ""),
        transcript=row["sentence"],
        split=split,
        extra={name: cell for name, cell in row.items() if cell and name not in CV_OWN},
    )


# =============================================================================== a folder a speaker


def is_folder_per_speaker(path: Path) -> bool:
    """Whether folders hold audio."""
    return any(next(_audio_below(folder), None) for folder in _folders(path))


def read_folders(path: Path | str) -> Corpus:
    """Read folders that have the names of speakers; the folders inside one are its sessions.

    The id is the path below ``path`` without ending, as in ``id10270/x6uYqmx31kE/00001``.
    """
    path = Path(path)
    gathered = Gathering()
    for folder in _folders(path):
        for file in _audio_below(folder):
            gathered.add(file, None, partial(_in_folder, file, folder, path))
    loose = [file for file in _visible(path) if file.is_file() and file.suffix.lower() in AUDIO]
    notes = []
    if loose:
        named = first_few((file.name for file in loose), len(loose))
        notes.append(f"{path}: in no speaker's folder, so left out: {named}")
    return gathered.corpus(folder_name(path), path, path, notes)


def _in_folder(file: Path, folder: Path, root: Path) -> Utterance:
    session = file.parent.relative_to(folder).as_posix()
    return Utterance(
        file.relative_to(root).with_suffix("").as_posix(),
        file,
        folder.name,
        session="" if session == "." else session,
    )
