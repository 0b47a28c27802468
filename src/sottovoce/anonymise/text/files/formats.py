"""Which format a file has, by its name and its content, and which files are refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from sottovoce.anonymise.text.files.blocks import Block, Reader, verbatim
from sottovoce.anonymise.text.files.ctm import CtmReader
from sottovoce.anonymise.text.files.input_file import BYTE_ORDER_MARK, STANDARD_STREAM, InputFile
from sottovoce.anonymise.text.files.json_lines import JsonLinesReader
from sottovoce.anonymise.text.files.options import ReadingOptions
from sottovoce.anonymise.text.files.plain import KaldiReader, PlainReader, StmReader
from sottovoce.anonymise.text.files.subtitles import SubRipReader, WebVttReader
from sottovoce.anonymise.text.files.tables import TableReader
from sottovoce.anonymise.text.source_text import SourceText
from sottovoce.core.errors import InputError, UsageError

_MakeReader = Callable[[ReadingOptions], Reader]
_READERS: dict[str, _MakeReader] = {
    "lines": PlainReader,
    "kaldi": KaldiReader,
    "jsonl": JsonLinesReader,
    "ctm": CtmReader,
    "stm": StmReader,
    "srt": SubRipReader,
    "vtt": WebVttReader,
    "csv": TableReader,
    "tsv": lambda options: TableReader(options, ("\t",)),
}
FORMATS = tuple(_READERS)
_TABLES = ("csv", "tsv")
_SUFFIXES = {f".{name}": name for name in FORMATS[2:]} | {".tab": "tsv", ".ndjson": "jsonl"}
_BY_CONTENT = ("lines", "srt", "vtt")
"""Formats by name that the content may correct: the suffix may be missing or wrong."""

_TO_TEXT = "save it as plain text (.txt) first"
_TO_TABLE = "save the table as .csv first, then name its columns with --columns"
_TO_TEXT_OR_TABLE = "save it as .txt or .csv first"
_TO_SUBTITLES = "convert it to .srt or .vtt first"
_TO_EXPORT = "export its text as .srt, .csv or .txt first"
_UNPACK = "unpack it first"
_IS_AUDIO = "this is sound: see 'sottovoce anonymise recording --help'"
_MAY_BE_LINES = "no reader knows its structure: --format lines takes every line as text"
_REFUSED_SUFFIXES = {
    **dict.fromkeys(("docx", "doc", "odt", "rtf", "pages", "pptx", "ppt", "epub"), _TO_TEXT),
    "pdf": "save it as plain text first, e.g. with pdftotext",
    **dict.fromkeys(("xlsx", "xls", "ods", "parquet", "sqlite", "db"), _TO_TABLE),
    **dict.fromkeys(
        ("ass", "ssa", "sbv", "sub", "lrc", "ttml", "dfxp", "stl", "scc"), _TO_SUBTITLES
    ),
    **dict.fromkeys(("textgrid", "eaf", "trs", "cha", "html", "htm", "xml", "tei"), _TO_EXPORT),
    **dict.fromkeys(("gz", "zip", "xz", "bz2", "7z", "tar", "tgz", "zst"), _UNPACK),
    **dict.fromkeys(("wav", "flac", "mp3", "ogg", "opus", "m4a", "mp4", "webm"), _IS_AUDIO),
    **dict.fromkeys(("yaml", "yml", "toml", "ini", "sql", "tex", "rst"), _MAY_BE_LINES),
    "json": 'write one object a line ({"text": …}) as .jsonl first',
}
"""What to do about files of other formats, by the ending of their name."""
_BINARY = (
    (rb"%PDF-", "a PDF", _REFUSED_SUFFIXES["pdf"]),
    (
        rb"PK\x03\x04",
        "a Zip archive, as .docx, .odt and .xlsx are",
        "save it as .txt or .csv first",
    ),
    (rb"\xd0\xcf\x11\xe0", "an old Office file", _TO_TEXT_OR_TABLE),
    (rb"\{\\rtf", "Rich Text", _TO_TEXT),
    (rb"\x1f\x8b|BZh\d|\xfd7zXZ|7z\xbc\xaf|\x28\xb5\x2f\xfd", "compressed", _UNPACK),
    (rb"RIFF....WAVE|fLaC|OggS|ID3", "sound", _IS_AUDIO),
    (rb"PAR1|SQLite format 3", "a table in binary form", _TO_TABLE),
)
_UTF16 = re.compile(rb"\xff\xfe|\xfe\xff")
_TIME = r"(?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3}"
_CONTENT = {
    "vtt": re.compile(r"WEBVTT(?:\s|$)"),
    "srt": re.compile(rf"\s*(?:\d+[ \t]*\n)?{_TIME}[ \t]*-->[ \t]*{_TIME}"),
    "ctm": re.compile(r"(?:;;.*\n)*(?:\S+ +\S+ +\d+\.\d+ +\d+\.\d+ +\S+(?: +\d*\.?\d+)?\s*\n){3}"),
    "stm": re.compile(r"(?:;;.*\n)*(?:\S+ +\S+ +\S+ +\d+\.\d+ +\d+\.\d+ +\S.*\n){2}"),
}
_REFUSED_CONTENT = (
    (r"(?:<\?xml|<!DOCTYPE|<html|<tt\b|<TEI)", "mark-up", _TO_EXPORT),
    (r"\[Script Info\]", "subtitles in SubStation form", _TO_SUBTITLES),
    (rf"{_TIME},{_TIME}\s*\n", "subtitles in SubViewer form", _TO_SUBTITLES),
    (r"File type = \"ooTextFile", "a Praat TextGrid", _TO_EXPORT),
    (r"(?:\[[a-z]+:.*\]\s*\n)*(?:\[\d+:\d\d\.\d+\].*\n){2}", "lyrics with times", _TO_SUBTITLES),
    (r"\[?\s*\{\s*\"[^\"\n]+\"\s*:", "JSON", _REFUSED_SUFFIXES["json"]),
)


def open_text_file(
    path: Path, form: str | None = None, options: ReadingOptions | None = None
) -> TextFile:
    """Open a file of texts, or standard input.

    Parameters
    ----------
    path : Path
        A file in UTF-8; ``-`` is standard input.
    form : str, optional
        One of :data:`FORMATS`; by default recognised by the name and the content.
    options : ReadingOptions, optional
        Choices of the formats that have fields or columns.

    Raises
    ------
    InputError
        For a file that cannot be read, or of a format that is not supported (``unsupported``).
    UsageError
        For an unknown format, or options that the format does not have (``unsupported``).
    """
    if form is not None and form not in FORMATS:
        raise UsageError(
            f"format {form!r} does not exist; choose from {', '.join(FORMATS)}", code="unknown-name"
        )
    if form is None:
        _refuse_by_name(path)
    file = InputFile(path)
    head = file.head()
    _refuse_binary(file, head)
    by_name = form or format_of(path)
    found = by_name if form else _by_content(file, head, by_name)
    options = options or ReadingOptions()
    _check_options(file, found, options)
    return TextFile(file, found, _READERS[found](options), by_content=found != by_name)


def format_of(path: Path) -> str:
    """Return the format that a file name stands for.

    Parameters
    ----------
    path : Path
        The file.
    """
    return "kaldi" if path.name == "text" else _SUFFIXES.get(path.suffix.lower(), "lines")


def _refuse_by_name(path: Path) -> None:
    advice = _REFUSED_SUFFIXES.get(path.suffix.lower().removeprefix("."))
    if advice is not None and str(path) != STANDARD_STREAM:
        raise InputError(f"{path}: {path.suffix} is not supported; {advice}", code="unsupported")


def _refuse_binary(file: InputFile, head: bytes) -> None:
    """Refuse what is no text, whatever its name is."""
    for magic, what, advice in _BINARY:
        if re.match(magic, head, re.DOTALL):
            raise InputError(f"{file.name}: {what}; {advice}", code="unsupported")
    if _UTF16.match(head):
        raise InputError(
            f"{file.name}: not UTF-8 from byte 0, probably UTF-16; convert it, e.g. with "
            "iconv -f utf-16 -t utf-8",
            code="not-utf8",
        )


def _by_content(file: InputFile, head: bytes, by_name: str) -> str:
    """Return the format that the beginning of a file shows, if its name may be wrong."""
    text = head.decode("utf-8", "ignore").removeprefix(BYTE_ORDER_MARK)
    text = re.sub(r"\r\n?", "\n", text)
    for name in ("vtt", "srt"):
        if _CONTENT[name].match(text):
            return name
    if by_name not in _BY_CONTENT:
        return by_name
    if _is_json_row(text.partition("\n")[0]):
        return "jsonl"
    for form, what, advice in _REFUSED_CONTENT:
        if re.match(form, text.lstrip(), re.IGNORECASE):
            raise InputError(
                f"{file.name}: {what}; {advice}, or use --format lines", code="unsupported"
            )
    return next((name for name in ("ctm", "stm") if _CONTENT[name].match(text)), by_name)


def _is_json_row(line: str) -> bool:
    try:
        row = json.loads(line)
    except ValueError:
        return False
    return isinstance(row, dict) and ("text" in row or "words" in row)


def _check_options(file: InputFile, form: str, options: ReadingOptions) -> None:
    """Refuse options that the format does not have."""
    if options.copied_fields and form != "jsonl":
        raise UsageError(
            f"{file.name}: fields are to be copied, but the format {form!r} has none; use jsonl",
            code="unsupported",
        )
    if (options.columns or not options.header) and form not in _TABLES:
        raise UsageError(
            f"{file.name}: columns are named, but the format {form!r} has none; use csv or tsv",
            code="unsupported",
        )


@dataclass
class TextFile:
    """A file of texts that is read several times."""

    file: InputFile
    format: str
    """One of :data:`FORMATS`."""
    reader: Reader
    by_content: bool
    """Whether the content shows another format than the name."""

    def blocks(self) -> Iterator[Block]:
        """Read the file; together its blocks are the whole file, byte for byte.

        Raises
        ------
        InputError
            ``bad-line`` names a line; ``empty`` if there are no words.
        """
        empty, marked = True, False
        for block in self.reader.blocks(self.file):
            if self.file.has_mark and not marked:
                marked = True
                yield verbatim(BYTE_ORDER_MARK)
            empty = empty and not any(text.text.strip() for text in block.texts)
            yield block
        if empty:
            raise InputError(
                f"{self.file.name}: no words in it; name a file with text", code="empty"
            )

    def texts(self) -> Iterator[SourceText]:
        """Read the texts of all blocks."""
        for block in self.blocks():
            yield from block.texts

    def close(self) -> None:
        """Delete the copy of a stream."""
        self.file.close()
