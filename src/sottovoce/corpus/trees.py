"""Corpora that are trees of folders: LibriSpeech, VCTK, Common Voice, a folder for each speaker."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from sottovoce.core.errors import InputError, first_few
from sottovoce.corpus.reading import (
    CorpusBuilder,
    Defects,
    folder_name,
    numbered_lines,
    place,
    read_entries,
)
from sottovoce.corpus.utterance import Corpus, Utterance

AUDIO_ENDINGS = frozenset(
    (
        *(".aif", ".aiff", ".au", ".caf", ".flac", ".mp3"),
        *(".oga", ".ogg", ".opus", ".sph", ".w64", ".wav"),
    )
)
"""Endings of names that make a file in a folder an audio file."""


def _audio_below(folder: Path, seen: frozenset[str] = frozenset()) -> Iterator[Path]:
    """List all audio files below a folder by name; links are followed, but not in circles."""
    real = os.path.realpath(folder)
    if real in seen:
        return
    for path in _visible(folder):
        if path.is_dir():
            yield from _audio_below(path, seen | {real})
        elif path.suffix.lower() in AUDIO_ENDINGS:
            yield path


def _visible(folder: Path) -> list[Path]:
    """List the content of a folder by name, without hidden files."""
    try:
        return sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError as error:
        raise InputError(
            f"{folder}: cannot be read ({error.strerror}); check its rights", code="unreadable"
        ) from None


def _audio_in(folder: Path) -> list[Path]:
    return [path for path in _visible(folder) if path.suffix.lower() in AUDIO_ENDINGS]


def _folders(folder: Path) -> list[Path]:
    return [path for path in _visible(folder) if path.is_dir()]


# ==================================================================================== LibriSpeech


def is_librispeech(path: Path) -> bool:
    """Tell whether chapters with ``*.trans.txt`` lie two or three folders below.

    Parameters
    ----------
    path : Path
        A folder.
    """
    return any(next(path.glob(f"{depth}*.trans.txt"), None) for depth in ("*/*/", "*/*/*/"))


def read_librispeech(path: Path | str) -> Corpus:
    """Read LibriSpeech or one of its subsets: ``subset/speaker/chapter/*.flac``.

    A chapter is a session, a subset a split. ``SPEAKERS.TXT``, which has the genders, lies above
    the subsets; the names of people in it are not kept.

    Parameters
    ----------
    path : Path or str
        The folder of the subsets, or of one subset.
    """
    path = Path(path)
    subsets = [path] if next(path.glob("*/*/*.trans.txt"), None) else _folders(path)
    builder = CorpusBuilder()
    candidates = [folder / "SPEAKERS.TXT" for folder in (path, path.parent)]
    table = next((file for file in candidates if file.is_file()), None)
    genders = _libri_genders(table, builder.defects) if table else {}
    notes = [] if table else [f"{path}: no SPEAKERS.TXT here or above, so genders are unknown"]
    missing = 0
    for subset in subsets:
        for chapter in (chapter for speaker in _folders(subset) for chapter in _folders(speaker)):
            missing += _libri_chapter(chapter, subset, genders, builder)
    if missing:
        notes.append(f"{path}: {missing:,} recordings have no transcript")
    return builder.corpus(folder_name(path), path, path, notes)


def _libri_genders(table: Path, defects: Defects) -> dict[str, str]:
    """Read lines ``14 | F | train-clean-360 | 25.03 | name``; comments begin with a semicolon."""
    genders = {}
    for number, line in numbered_lines(table):
        cells = [cell.strip() for cell in line.split("|")]
        if line.startswith(";"):
            continue
        if len(cells) < 2 or cells[1] not in ("F", "M"):
            defects.add(table, number, "not 'speaker | F or M | …'; correct the line")
        else:
            genders[cells[0]] = cells[1]
    return genders


def _libri_chapter(
    chapter: Path, subset: Path, genders: dict[str, str], builder: CorpusBuilder
) -> int:
    """Add the recordings of a chapter; return how many have no transcript."""
    speaker = chapter.parent.name
    table = chapter / f"{speaker}-{chapter.name}.trans.txt"
    texts = read_entries(table, "id words", builder.defects) if table.is_file() else {}
    files = {path.stem: path for path in _audio_in(chapter)}
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
        builder.add(file, None, build)
    for key in texts.keys() - files.keys():
        message = "no recording with the id of this line beside it; restore it"
        builder.defects.add(table, texts[key][0], message, code="not-found")
    return len(files.keys() - texts.keys())


# =========================================================================================== VCTK

MICROPHONE = re.compile(r"_mic(\d+)$")


def is_vctk(path: Path) -> bool:
    """Tell whether there is a folder ``wav48`` or ``wav48_silence_trimmed``.

    Parameters
    ----------
    path : Path
        A folder.
    """
    return any(path.glob("wav48*/"))


def read_vctk(path: Path | str) -> Corpus:
    """Read VCTK: ``wav48*/p225/p225_001*``, ``txt/p225/p225_001.txt``, ``speaker-info.txt``.

    Of two microphones the first is taken, else every sentence would occur twice.

    Parameters
    ----------
    path : Path or str
        The folder that holds the others.
    """
    path = Path(path)
    recordings = _vctk_recordings(path)
    builder = CorpusBuilder()
    table = path / "speaker-info.txt"
    speakers = _vctk_speakers(table, builder.defects) if table.is_file() else {}
    notes = [] if speakers else [f"{path}: no speaker-info.txt, so genders are unknown"]
    skipped = missing = 0
    for file in (file for folder in _folders(recordings) for file in _audio_in(folder)):
        microphone = MICROPHONE.search(file.stem)
        if microphone and microphone[1] != "1":
            skipped += 1
            continue
        text = path / "txt" / file.parent.name / f"{MICROPHONE.sub('', file.stem)}.txt"
        missing += not text.is_file()
        builder.add(file, None, partial(_vctk_utterance, file, text, speakers))
    if skipped:
        notes.append(f"{recordings}: {skipped:,} recordings of other microphones are left out")
    if missing:
        notes.append(f"{path / 'txt'}: {missing:,} recordings have no transcript")
    return builder.corpus(folder_name(path), path, path, notes)


def _vctk_recordings(path: Path) -> Path:
    folders = sorted(path.glob("wav48*/"))
    if len(folders) != 1:
        names = ", ".join(folder.name for folder in folders) or "no wav48*"
        raise InputError(
            f"{path}: {names}; one folder of recordings is needed",
            code="ambiguous" if folders else "not-found",
        )
    return folders[0]


def _vctk_utterance(file: Path, text: Path, speakers: dict[str, dict[str, str]]) -> Utterance:
    speaker = file.parent.name
    known = speakers.get(speaker, {})
    lines = numbered_lines(text) if text.is_file() else []
    return Utterance(
        file.stem,
        file,
        speaker,
        gender=known.get("gender", ""),
        language="en",
        transcript=" ".join(line.strip() for _, line in lines),
        extra={name: value for name, value in known.items() if name != "gender"},
    )


def _vctk_speakers(table: Path, defects: Defects) -> dict[str, dict[str, str]]:
    """Read lines ``p225  23  F  English  Southern England``; an id may lack the p."""
    speakers = {}
    for number, line in numbered_lines(table):
        words = line.split()
        if words[0] == "ID":
            continue
        if len(words) < 3 or words[2] not in ("F", "M"):
            defects.add(table, number, "not 'speaker age F or M accent region'; correct the line")
            continue
        key = f"p{words[0]}" if words[0].isdigit() else words[0]
        accent = words[3] if len(words) > 3 else ""
        cells = {"gender": words[2], "age": words[1], "accent": accent}
        speakers[key] = {**cells, "region": " ".join(words[4:])}
    return speakers


# =================================================================================== Common Voice

CV_SPLITS = ("train", "dev", "test")
CV_NEEDED = ("client_id", "path", "sentence")
CV_COLUMNS = (*CV_NEEDED, "gender", "locale")


def is_common_voice(path: Path) -> bool:
    """Tell whether there is a folder ``clips`` beside tables.

    Parameters
    ----------
    path : Path
        The folder of both, or one of the tables.
    """
    folder = path if path.is_dir() else path.parent
    return (folder / "clips").is_dir() and any(folder.glob("*.tsv"))


def read_common_voice(path: Path | str) -> Corpus:
    """Read Common Voice; a table's name becomes the split, and further columns are kept.

    Parameters
    ----------
    path : Path or str
        One table, or a folder: then train, dev and test are read, or else ``validated.tsv``.
    """
    path = Path(path)
    folder = path if path.is_dir() else path.parent
    tables = [path] if path.is_file() else [folder / f"{name}.tsv" for name in CV_SPLITS]
    tables = [table for table in tables if table.is_file()] or [folder / "validated.tsv"]
    builder = CorpusBuilder()
    for table in tables:
        for line, row in _cv_rows(table, builder.defects):
            builder.add(table, line, partial(_cv_utterance, row, folder, table.stem))
    unread = sorted({table.name for table in folder.glob("*.tsv")} - {t.name for t in tables})
    notes = [f"{folder}: not read: {first_few(unread, len(unread))}"] if unread else []
    name = folder_name(folder) if path.is_dir() else path.stem
    return builder.corpus(name, folder, path, notes)


def _cv_rows(table: Path, defects: Defects) -> Iterator[tuple[int, dict[str, str]]]:
    header: list[str] = []
    for number, line in numbered_lines(table):
        cells = line.split("\t")
        if not header:
            header = cells
            _refuse_missing_columns(header, place(table, number))
        elif len(cells) != len(header):
            message = f"{len(cells)} cells for {len(header)} columns; one tab between two cells"
            defects.add(table, number, message)
        else:
            yield number, dict(zip(header, cells, strict=True))


def _refuse_missing_columns(header: list[str], where: str) -> None:
    for name in CV_NEEDED:
        if name not in header:
            known = ", ".join(column for column in header if column in CV_COLUMNS)
            raise InputError(
                f"{where}: no column {name!r} (has {known or 'none of them'}); name it so",
                code="missing-column",
            )


def _cv_utterance(row: dict[str, str], folder: Path, split: str) -> Utterance:
    file = Path(row["path"])
    for name in ("client_id", "path"):
        if not row[name].strip():
            raise InputError(f"no {name}; fill it in or remove the row", code="empty")
    return Utterance(
        file.stem,
        folder / "clips" / (file if file.suffix else f"{file}.mp3"),
        row["client_id"],
        gender=row.get("gender", "").split("_")[0],  # female_feminine, male_masculine
        language=row.get("locale", ""),
        transcript=row["sentence"],
        split=split,
        extra={name: cell for name, cell in row.items() if cell and name not in CV_COLUMNS},
    )


# ====================================================================== a folder for each speaker


def is_folder_per_speaker(path: Path) -> bool:
    """Tell whether folders hold audio.

    Parameters
    ----------
    path : Path
        The folder of those folders.
    """
    return any(next(_audio_below(folder), None) for folder in _folders(path))


def read_folders(path: Path | str) -> Corpus:
    """Read folders that have the names of speakers; the folders inside one are its sessions.

    The id is the path below ``path`` without ending, as in ``id10270/x6uYqmx31kE/00001``.

    Parameters
    ----------
    path : Path or str
        The folder of those folders.
    """
    path = Path(path)
    builder = CorpusBuilder()
    for folder in _folders(path):
        for file in _audio_below(folder):
            builder.add(file, None, partial(_folder_utterance, file, folder, path))
    loose = [file.name for file in _audio_in(path) if file.is_file()]
    notes = []
    if loose:
        names = first_few(loose, len(loose))
        notes.append(f"{path}: in no speaker's folder, so left out: {names}")
    return builder.corpus(folder_name(path), path, path, notes)


def _folder_utterance(file: Path, folder: Path, root: Path) -> Utterance:
    session = file.parent.relative_to(folder).as_posix()
    return Utterance(
        file.relative_to(root).with_suffix("").as_posix(),
        file,
        folder.name,
        session="" if session == "." else session,
    )
