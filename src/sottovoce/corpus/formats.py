"""The registry of corpus formats, and opening a corpus of any of them.

Formats are tried in the order of the registry; the first that recognises a path reads it. A package
adds a format with an entry point in the group ``sottovoce.corpora`` that names a :class:`Format`:

    [project.entry-points."sottovoce.corpora"]
    my_format = "my_package:MY_FORMAT"

where ``MY_FORMAT = Format("index.xml (my format)", is_my_format, read_my_format)``. Its reader
returns a :class:`~sottovoce.corpus.utterance.Corpus` and opens no audio; one that uses
:class:`~sottovoce.corpus.reading.CorpusBuilder` reports all defects at once, with file and line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from sottovoce.core.errors import InputError
from sottovoce.core.files import check_exists
from sottovoce.core.registry import Registry
from sottovoce.corpus.kaldi import read_kaldi
from sottovoce.corpus.lhotse import is_lhotse, read_lhotse
from sottovoce.corpus.manifest import NAME, read_manifest
from sottovoce.corpus.parquet_manifest import NAME as PARQUET_NAME
from sottovoce.corpus.parquet_manifest import is_parquet_manifest, read_parquet_manifest
from sottovoce.corpus.trees import (
    is_common_voice,
    is_folder_per_speaker,
    is_librispeech,
    is_vctk,
    read_common_voice,
    read_folders,
    read_librispeech,
    read_vctk,
)
from sottovoce.corpus.utterance import Corpus


@dataclass(frozen=True, slots=True)
class Format:
    """A corpus format."""

    sign: str
    """What a folder of this format contains, for the message that no format fits."""
    recognises: Callable[[Path], bool]
    """Tells whether a path that exists, a file or a folder, is of this format."""
    read: Callable[[Path], Corpus]
    """Reads the corpus; opens no audio."""


def _is_manifest(path: Path) -> bool:
    return path.suffix == ".csv" if path.is_file() else (path / NAME).is_file()


def _is_kaldi(path: Path) -> bool:
    return path.name == "wav.scp" if path.is_file() else (path / "wav.scp").is_file()


def _read_kaldi(path: Path) -> Corpus:
    return read_kaldi(path.parent if path.is_file() else path)


def _folder(recognises: Callable[[Path], bool]) -> Callable[[Path], bool]:
    return lambda path: path.is_dir() and recognises(path)


BUILTIN = "builtin"

FORMATS: Registry[Format] = Registry("corpus format", group="sottovoce.corpora")
"""Corpus formats by name, in the order in which they are tried."""
FORMATS.add("manifest", Format(NAME, _is_manifest, read_manifest))
FORMATS.add(
    "parquet_manifest",
    Format(PARQUET_NAME, is_parquet_manifest, read_parquet_manifest),
)
FORMATS.add("kaldi", Format("wav.scp with utt2spk (Kaldi)", _is_kaldi, _read_kaldi))
FORMATS.add(
    "lhotse", Format("*cuts*.jsonl[.gz] or *supervisions* (Lhotse)", is_lhotse, read_lhotse)
)
FORMATS.add(
    "common_voice", Format("clips/ with *.tsv (Common Voice)", is_common_voice, read_common_voice)
)
FORMATS.add("vctk", Format("wav48*/ (VCTK)", _folder(is_vctk), read_vctk))
FORMATS.add(
    "librispeech",
    Format("speaker/chapter/*.trans.txt (LibriSpeech)", _folder(is_librispeech), read_librispeech),
)

FOLDERS = Format("a folder of audio for each speaker", _folder(is_folder_per_speaker), read_folders)
"""Recognises many trees of other formats too, so it is tried last, after those of plug-ins."""


def open_corpus(path: Path | str, where: Mapping[str, str] | None = None) -> Corpus:
    """Read a corpus of any known format; no audio is opened.

    Parameters
    ----------
    path : Path or str
        A folder, or a list such as a manifest where a folder has several. The first format that
        recognises it is taken: a manifest, a Kaldi directory, Lhotse manifests, the trees of
        Common Voice, VCTK and LibriSpeech, formats of plug-ins, then folders named after speakers.
        ``builtin`` is the synthetic corpus, which is made on first use, unless there is a file or
        folder of that name.
    where : mapping of str to str, optional
        Of a manifest in Parquet only the utterances with these values of columns.

    Raises
    ------
    InputError
        If there is nothing at the path, or no format recognises it.
    DefectsError
        With all lines of a list that cannot be used.
    """
    path = Path(path)
    if str(path) == BUILTIN and not path.exists():
        from sottovoce.corpus.demo import builtin_corpus

        return replace(read_manifest(builtin_corpus()), name="built-in corpus (synthetic)")
    check_exists(path)
    if where:
        return _select(path, where)
    formats = [*(FORMATS[name] for name in FORMATS), FOLDERS]
    try:
        for candidate in formats:
            if candidate.recognises(path):
                return candidate.read(path)
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror}); check its rights", code="unreadable"
        ) from None
    raise _unknown_format(path, formats)


def _select(path: Path, where: Mapping[str, str]) -> Corpus:
    if not is_parquet_manifest(path):
        raise InputError(
            f"{path}: utterances are selected from a {PARQUET_NAME} only; leave --where out",
            code="unneeded-selection",
        )
    return read_parquet_manifest(path, where)


def _unknown_format(path: Path, formats: list[Format]) -> InputError:
    if path.is_file():
        return InputError(
            f"{path}: not a list of utterances; name a manifest .csv, a Common Voice .tsv beside "
            "clips/, a Lhotse .jsonl or .jsonl.gz, or the corpus's folder",
            code="unknown-format",
        )
    signs = "; ".join(candidate.sign for candidate in formats)
    return InputError(
        f"{path}: no corpus; looked for {signs}. Write a {NAME}", code="unknown-format"
    )
