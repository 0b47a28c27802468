"""The error tree, and lists cut short."""

from __future__ import annotations

import pytest

from sottovoce.core.errors import (
    InputError,
    MissingExtraError,
    SottovoceError,
    TooFewError,
    UsageError,
    first_few,
)


@pytest.mark.parametrize("kind", [InputError, TooFewError, UsageError, MissingExtraError])
def test_every_error_is_a_sottovoce_error(kind: type[Exception]) -> None:
    assert issubclass(kind, SottovoceError)


def test_too_little_data_is_an_input_error() -> None:
    assert issubclass(TooFewError, InputError)
    assert not issubclass(UsageError, InputError)
    assert not issubclass(SottovoceError, (ValueError, OSError))


def test_a_missing_extra_says_what_to_type() -> None:
    error = MissingExtraError("reading arks", "kaldi")
    assert str(error) == ("reading arks needs an optional package: pip install 'sottovoce[kaldi]'")


@pytest.mark.parametrize(
    ("items", "total", "text"),
    [
        ("", 0, ""),
        ("a", 1, "a"),
        ("abc", 3, "a, b, c"),
        ("abcd", 4, "a, b, c and 1 more"),
        ("abc", 12_345, "a, b, c and 12,342 more"),
        ("a", 2, "a and 1 more"),
    ],
)
def test_first_few(items: str, total: int, text: str) -> None:
    assert first_few(list(items), total) == text


def test_first_few_of_another_number() -> None:
    assert first_few(["a", "b", "c"], 3, most=1) == "a and 2 more"
    assert first_few((letter for letter in "ab"), 2, most=5) == "a, b"
