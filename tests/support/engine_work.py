"""Functions that workers of a cluster run in tests; they must be able to import them."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sottovoce.core.engine import SharedArray
from sottovoce.core.errors import InputError
from sottovoce.core.remote_work import _FUNCTIONS


def square(number: int) -> int:
    return number * number


def process_of(number: int) -> tuple[int, int]:
    time.sleep(0.05)
    return number, os.getpid()


def kept_functions(run: str) -> int:
    """How many functions of a run this process holds."""
    return sum(key[0] == run for key in _FUNCTIONS)


def refuse_seven(number: int) -> int:
    if number == 7:
        raise InputError("seven of Mrs Plantedname cannot be used", code="seven")
    return number


def divide_by_zero(number: int) -> float:
    return number / 0


def current_path(path: Path) -> str:
    return str(path)


@dataclass(frozen=True)
class SumRows:
    table: SharedArray

    def __call__(self, row: int) -> float:
        return float(np.sum(self.table.array[row], dtype=np.float64))


@dataclass
class CountCalls:
    """Says how often it was called, like an attack that trains something at its first call."""

    calls: int = 0

    def __call__(self, number: int) -> int:
        self.calls += 1
        return self.calls


@dataclass(frozen=True)
class AddNumber:
    """One of several kinds of work."""

    number: int

    def __call__(self, number: int) -> int:
        return self.number + number


@dataclass(frozen=True)
class Record:
    """Appends to a file for every item, to see what is done how often."""

    folder: Path

    def __call__(self, number: int) -> int:
        time.sleep(0.1)
        (self.folder / f"{number}").write_text(f"{number}")
        return number
