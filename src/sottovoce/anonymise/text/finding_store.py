"""Findings of many texts, kept in a temporary file while the texts are read again."""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Iterable, Iterator

from sottovoce.anonymise.text.masked_text import Finding

IN_MEMORY = 8 << 20
"""Bytes from which the file is on disk; it has no name there and holds positions, no words."""
_COUNT = struct.Struct("<I")
_FINDING = struct.Struct("<IIdHH")


class FindingStore:
    """Findings of texts in order, written once and read any number of times.

    Examples
    --------
    >>> store = FindingStore()
    >>> store.append([Finding(5, 8, "PER", 0.9, "list")])
    >>> store.append([])
    >>> [[finding.kind for finding in findings] for findings in store]
    [['PER'], []]
    """

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115
        self._numbers: dict[str, int] = {}

    def append(self, findings: Iterable[Finding]) -> None:
        """Add the findings of the next text.

        Parameters
        ----------
        findings : iterable of Finding
            The findings.
        """
        rows = [
            _FINDING.pack(f.start, f.end, f.score, self._number(f.kind), self._number(f.rule))
            for f in findings
        ]
        self._file.write(_COUNT.pack(len(rows)) + b"".join(rows))

    def _number(self, name: str) -> int:
        return self._numbers.setdefault(name, len(self._numbers))

    def __iter__(self) -> Iterator[list[Finding]]:
        """Read the findings of each text; only one reading at a time."""
        names = list(self._numbers)
        self._file.seek(0)
        while head := self._file.read(_COUNT.size):
            rows = self._file.read(_COUNT.unpack(head)[0] * _FINDING.size)
            yield [
                Finding(start, end, names[kind], score, names[rule])
                for start, end, score, kind, rule in _FINDING.iter_unpack(rows)
            ]

    def __del__(self) -> None:
        self._file.close()  # deletes the file
