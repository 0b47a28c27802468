"""Every error a user can meet.

    SottovoceError           one clear line; the command line prints it and exits with 2
    ├── InputError           a file or an array is not what it should be
    │   └── TooFewError      there is too little data for the number that was asked for
    ├── UsageError           an option or a name that does not exist
    └── MissingExtraError    an optional package is needed; says what to install

A message names the input, the limit that was broken and what to do next. Its ``code`` says the
same to a program: a short name in kebab case such as ``duplicate-id``, which tests and clients of
the service may rely on; the wording may change.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar


class SottovoceError(Exception):
    """The base of all errors that are the input's fault, not the program's.

    Parameters
    ----------
    message : str
        One line for a person: the input, the limit, the next step.
    code : str, optional
        A short name for programs and tests; by default that of the class.
    """

    default_code: ClassVar[str] = "error"

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(" ".join(message.split()))  # one line, whatever was quoted in it
        self.code = code or self.default_code


class InputError(SottovoceError):
    """A file or an array is not what it should be."""

    default_code = "bad-input"


class TooFewError(InputError):
    """There is too little data for the number that was asked for."""

    default_code = "too-few"


class UsageError(SottovoceError):
    """An option or a name that does not exist."""

    default_code = "bad-usage"


class MissingExtraError(SottovoceError):
    """An optional package is needed.

    Parameters
    ----------
    what : str
        What cannot be done without the package, to begin the sentence with.
    extra : str
        The extra of this package that brings it.
    """

    default_code = "missing-extra"

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional package: pip install 'sottovoce[{extra}]'")


def first_few(items: Iterable[str], total: int, *, most: int = 3) -> str:
    """Join the first few of ``total`` items and say how many more there are.

    Parameters
    ----------
    items : iterable of str
        The items, or at least the first ``most`` of them.
    total : int
        How many items there are.
    most : int, default 3
        How many are named.
    """
    shown = [item for item, _ in zip(items, range(most), strict=False)]
    more = total - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")


def first_line(error: Exception, *, most: int = 100) -> str:
    """Return the beginning of a library's message, to be quoted in one of ours.

    Parameters
    ----------
    error : Exception
        What the library raised; if it has no message, its class is named.
    most : int, default 100
        Characters that are quoted at most.
    """
    return (str(error).splitlines() or [type(error).__name__])[0][:most]
