"""What a user chooses about the reading of a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class ReadingOptions:
    """Choices of the formats that have fields or columns."""

    copied_fields: Sequence[str] = ()
    """JSON fields to copy without searching them, such as ``speaker`` or ``words.norm``."""
    columns: Sequence[str] = ()
    """Columns of a table to search: names, or numbers from 1 if there is no header."""
    header: bool = True
    """Whether the first row of a table holds the names of its columns."""
