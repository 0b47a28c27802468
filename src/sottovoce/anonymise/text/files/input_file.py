"""A file of text, or standard input, that is read several times a block at a time."""

from __future__ import annotations

import codecs
import hashlib
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from sottovoce.anonymise.text.source_text import split_text
from sottovoce.core.errors import InputError
from sottovoce.core.files import check_exists

STANDARD_STREAM = "-"
"""Name that stands for standard input or output."""
BLOCK = 1 << 18
"""Bytes that are read at once."""
IN_MEMORY = 16 << 20
"""Bytes of standard input that are held in memory; more are in a temporary file without a name."""
MAX_LINE = 2_000_000
"""Characters of a line, or of a row of a table, at most; only plain text may have longer ones."""
BYTE_ORDER_MARK = "\ufeff"
_HEAD = 4096
_LINE_END = re.compile(r"\r\n|\n|\r")


class InputFile:
    """A file in UTF-8, or standard input.

    Parameters
    ----------
    path : Path
        The file; ``-`` is standard input. A pipe is copied first, since it is read several times.

    Raises
    ------
    InputError
        ``not-found``, ``empty`` or ``unreadable``.
    """

    def __init__(self, path: Path) -> None:
        self._copy: IO[bytes] | None = None
        self.path = path
        self.name = "standard input" if str(path) == STANDARD_STREAM else str(path)
        self.position = 0
        """Bytes of the current reading."""
        self.has_mark = False
        """Whether the file begins with a byte order mark; known after the first block."""
        self._digest = ""
        with _readable(self.name):
            if str(path) == STANDARD_STREAM:
                self._copy = _copy_stream(sys.stdin.buffer)
            elif path.exists() and not path.is_file() and not path.is_dir():
                with path.open("rb") as stream:
                    self._copy = _copy_stream(stream)
            else:
                check_exists(path)
            self.size = path.stat().st_size if self._copy is None else self._copy.tell()
        if not self.size:
            raise InputError(f"{self.name}: empty (0 bytes); write it again", code="empty")

    def head(self) -> bytes:
        """Return the first bytes of the file."""
        with self._opened() as file:
            return file.read(_HEAD)

    @property
    def sha256(self) -> str:
        """Digest of the whole file in hexadecimal digits; empty before the first reading ends."""
        return self._digest

    def close(self) -> None:
        """Delete the copy of a stream."""
        if self._copy is not None:
            self._copy.close()

    def __del__(self) -> None:
        self.close()

    @contextmanager
    def _opened(self) -> Iterator[IO[bytes]]:
        with _readable(self.name):
            if self._copy is None:
                with self.path.open("rb") as file:
                    yield file
            else:
                self._copy.seek(0)
                yield self._copy

    def blocks(self) -> Iterator[str]:
        """Read the characters of the file, without a byte order mark.

        Raises
        ------
        InputError
            ``not-utf8``, ``binary``, or ``changed`` if it is not the file of the first reading.
        """
        decoder = codecs.getincrementaldecoder("utf-8")()
        digest = hashlib.sha256()
        self.position = 0
        with self._opened() as file:
            while data := file.read(BLOCK):
                digest.update(data)
                text = self._decode(decoder, data)
                if not self.position:
                    self.has_mark = text.startswith(BYTE_ORDER_MARK)
                    text = text.removeprefix(BYTE_ORDER_MARK)
                self.position += len(data)
                yield text
        self._decode(decoder, b"")
        self._check_digest(digest.hexdigest())

    def _decode(self, decoder: codecs.IncrementalDecoder, data: bytes) -> str:
        pending = len(decoder.getstate()[0])
        try:
            text = decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            raise InputError(
                f"{self.name}: not UTF-8 from byte {self.position - pending + error.start}; "
                "convert it, e.g. with iconv -t utf-8",
                code="not-utf8",
            ) from None
        if "\0" in text:
            raise InputError(f"{self.name}: binary data; name a text file in UTF-8", code="binary")
        return text

    def _check_digest(self, digest: str) -> None:
        if self._digest and digest != self._digest:
            raise InputError(
                f"{self.name}: changed while it was read; run the command again", code="changed"
            )
        self._digest = digest

    def lines(self) -> Iterator[str]:
        r"""Read lines that end in ``\n``, with their ends; a very long one is cut between words.

        A carriage return before the end stays part of the line.
        """
        rest = ""
        for block in self.blocks():
            *lines, rest = (rest + block).split("\n")
            for line in lines:
                yield line + "\n"
            if len(rest) > MAX_LINE:
                *parts, rest = split_text(rest)
                yield from parts
        if rest:
            yield rest

    def universal_lines(self) -> Iterator[str]:
        r"""Read lines that end in ``\r\n``, ``\n`` or ``\r``, with their ends.

        Raises
        ------
        InputError
            ``too-long`` for a line of more than :data:`MAX_LINE` characters.
        """
        rest = ""
        for block in self.blocks():
            text = rest + block
            done = 0
            for match in _LINE_END.finditer(text, max(len(rest) - 1, 0)):
                if match.end() == len(text) and text.endswith("\r"):
                    break  # a line feed may follow in the next block
                yield text[done : match.end()]
                done = match.end()
            rest = text[done:]
            self.check_length(rest)
        if rest:
            yield rest

    def check_length(self, text: str) -> None:
        """Refuse a line or row that is too long to be held in memory.

        Parameters
        ----------
        text : str
            The line or row so far.
        """
        if len(text) > MAX_LINE:
            raise InputError(
                f"{self.name}: a line or row has more than {MAX_LINE:,} characters; is a quotation "
                "mark open, or the format another one (--format)?",
                code="too-long",
            )


def _copy_stream(stream: IO[bytes]) -> IO[bytes]:
    """Copy a stream that can be read only once, so that it can be read again."""
    copy = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115
    shutil.copyfileobj(stream, copy)
    return copy


@contextmanager
def _readable(name: str) -> Iterator[None]:
    """Turn errors of the operating system into one clear line."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"{name}: cannot be read ({error.strerror}); check the name", code="unreadable"
        ) from None
