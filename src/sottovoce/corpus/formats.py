"""Which format a corpus has: looked for in a fixed order, and said when nothing fits.

A package adds its own with an entry point in the group ``sottovoce.corpora``: a :class:`Format`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from sottovoce.core.errors import InputError
from sottovoce.core.files import check_there
from sottovoce.core.registry import Registry
from sottovoce.corpus.kaldi import read_kaldi
from sottovoce.corpus.lhotse import is_lhotse, read_lhotse
from sottovoce.corpus.manifest import NAME, read_manifest
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
    """A format: what it is told by, in words and as a function, and its reader."""

    sign: str
    """What a folder of this format has, for the message that nothing fits."""
    recognises: Callable[[Path], bool]
    """Whether a path that exists, a file or a folder, is of this format."""
    read: Callable[[Path], Corpus]


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
FORMATS.add("manifest", Format(NAME, _is_manifest, read_manifest))
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
"""Fits much of what the others fit too, so it is asked last."""


def open_corpus(path: Path | str) -> Corpus:
    """Read a corpus of any known format; no audio is opened.

    The first that fits is taken: a manifest, a Kaldi directory, Lhotse manifests, the trees of
    Common Voice, VCTK and LibriSpeech, then folders named after speakers. A list may also be named
    itself, where a folder has several. ``builtin`` is the synthetic corpus that is made on first
    use, unless there is something of that name.
    """
    path = Path(path)
    if str(path) == BUILTIN and not path.exists():
        from sottovoce.corpus.demo.builtin import builtin_corpus

        made = read_manifest(builtin_corpus())
        return replace(made, name="built-in corpus (synthetic)")
    check_there(path)
    formats = [*(FORMATS[name] for name in FORMATS), FOLDERS]
    try:
        for one in formats:
            if one.recognises(path):
                return one.read(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check its rights") from None
    if path.is_file():
        raise InputError(
            f"{path}: not a list of utterances; name a manifest .csv, a Common Voice .tsv beside "
            "clips/, a Lhotse .jsonl or .jsonl.gz, or the corpus's folder"
        )
    looked = "; ".join(one.sign for one in formats)
    raise InputError(f"{path}: no corpus; looked for {looked}. Write a {NAME}")
