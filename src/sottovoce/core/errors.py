"""Every error a user can meet.

    SottovoceError           one clear line; the command line prints it and exits with 2
    ├── InputError           a file or an array is not what it should be
    │   └── TooFewError      there is too little data for the number that was asked for
    ├── UsageError           an option or a name that does not exist
    └── MissingExtraError    an optional package is needed; says what to install

A message names the input, the limit that was broken and what to do next.
"""

from __future__ import annotations

from collections.abc import Iterable


class SottovoceError(Exception):
    """The base of all errors that are the input's fault, not the program's."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))  # one line, whatever was quoted in it


class InputError(SottovoceError):
    """A file or an array is not what it should be."""


class TooFewError(InputError):
    """There is too little data for the number that was asked for."""


class UsageError(SottovoceError):
    """An option or a name that does not exist."""


class MissingExtraError(SottovoceError):
    """An optional package is needed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional package: pip install 'sottovoce[{extra}]'")


def first_few(items: Iterable[str], total: int, *, most: int = 3) -> str:
    """Join the first few of ``total`` items and say how many more there are."""
    shown = [item for item, _ in zip(items, range(most), strict=False)]
    more = total - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")
