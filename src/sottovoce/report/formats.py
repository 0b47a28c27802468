"""Numbers as text, the same way in sentences, tables and figures."""

from __future__ import annotations

from collections.abc import Callable

NumberFormat = Callable[[float | None], str]
"""Writes a number; a missing one is a dash."""

MISSING = "–"
"""Stands for a number that was not measured."""


def percent(value: float | None) -> str:
    """Write a share for a sentence, without a decimal that is zero.

    Parameters
    ----------
    value : float or None
        The share, from 0 to 1.

    Examples
    --------
    >>> percent(0.95), percent(0.9512), percent(0.00012)
    ('95\\xa0%', '95.1\\xa0%', '0.012\\xa0%')
    """
    if value is None:
        return MISSING
    return f"{_percent_digits(value).removesuffix('.0')}\u00a0%"


def percent_column(value: float | None) -> str:
    """Write a share for a column, always with its decimal.

    Parameters
    ----------
    value : float or None
        The share, from 0 to 1.
    """
    return MISSING if value is None else f"{_percent_digits(value)}\u00a0%"


def _percent_digits(value: float) -> str:
    """Return one decimal, or two significant digits where that would be zero."""
    return f"{100 * value:.1f}" if value >= 0.001 or value <= 0 else f"{100 * value:.2g}"


def decimals(digits: int) -> NumberFormat:
    """Return a writer of numbers with a fixed number of decimals.

    Parameters
    ----------
    digits : int
        Decimals, at least 0.
    """
    # a zero is added so that nothing is shown as -0.00
    return lambda value: MISSING if value is None else f"{round(value, digits) + 0.0:.{digits}f}"


def interval_in_brackets(low: float | None, high: float | None) -> str:
    """Write the interval of a share for a sentence; empty where there is none.

    Parameters
    ----------
    low, high : float or None
        The ends, from 0 to 1.

    Examples
    --------
    >>> interval_in_brackets(0.25, 0.5)
    ' (25\\xa0% to 50\\xa0%)'
    """
    if low is None or high is None:
        return ""
    return f" ({percent(low)} to {percent(high)})"


def counted(number: int, singular: str, plural: str | None = None) -> str:
    """Write a number with its noun.

    Parameters
    ----------
    number : int
        How many there are.
    singular : str
        The noun for one.
    plural : str, optional
        The noun for any other number; by default the singular with an s.

    Examples
    --------
    >>> counted(1, "person", "people"), counted(1200, "recording")
    ('1 person', '1,200 recordings')
    """
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def speech_of_length(length: int) -> str:
    """Say how much speech an attacker has of a person.

    Parameters
    ----------
    length : int
        Recordings a conversation.
    """
    return "single recordings" if length == 1 else f"conversations of {length} recordings"


def utterances_a_conversation(length: int) -> str:
    """Name a conversation length in the legend of a figure.

    Parameters
    ----------
    length : int
        Utterances a conversation.
    """
    return f"{counted(length, 'utterance')} a conversation"
