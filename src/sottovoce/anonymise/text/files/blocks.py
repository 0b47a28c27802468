"""Blocks: pieces of a file that are read, and written again with other texts, by themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from sottovoce.anonymise.text.anonymised_text import AnonymisedText
from sottovoce.anonymise.text.files.input_file import InputFile
from sottovoce.anonymise.text.source_text import SourceText
from sottovoce.core.errors import InputError


@dataclass(frozen=True, slots=True)
class Block:
    """A line, a cue, a row …: its texts, and how to write it with other texts."""

    texts: Sequence[SourceText]
    write: Callable[[Sequence[AnonymisedText]], str]
    """Returns the new block for the new texts, with its line ends."""


def verbatim(source: str) -> Block:
    """Return a block without texts, which is written as it is.

    Parameters
    ----------
    source : str
        Characters of the file.
    """
    return Block((), lambda results: source)


class Reader(Protocol):
    """Reads files of one format."""

    @property
    def left_out(self) -> Sequence[str]:
        """Fields that are not written, known after the first reading."""

    @property
    def not_searched(self) -> Sequence[str]:
        """Columns that are copied without being searched, known after the first reading."""

    def blocks(self, file: InputFile) -> Iterator[Block]:
        """Read a file; together its blocks are the whole file."""


def bad_line(file: InputFile, number: int, expected: str) -> InputError:
    """Return the error for a line that does not have its format.

    Parameters
    ----------
    file : InputFile
        The file.
    number : int
        Number of the line, from 1.
    expected : str
        What is wrong, or what it should be.
    """
    return InputError(f"{file.name}:{number}: {expected}", code="bad-line")
