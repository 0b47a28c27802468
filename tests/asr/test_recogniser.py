"""The registry of recognisers and the languages that they declare."""

from __future__ import annotations

from typing import ClassVar

import pytest

from sottovoce.asr.recogniser import (
    DEFAULT_RECOGNISER,
    RECOGNISERS,
    make_recogniser,
    understands,
)
from sottovoce.core.errors import UsageError
from sottovoce.core.registry import Registry
from sottovoce.core.types import Audio


class Latvian:
    """A recogniser of another package."""

    languages: ClassVar[frozenset[str]] = frozenset({"lv"})

    def transcribe(self, audio: Audio, rate: int) -> str:
        return "labdien"


@pytest.fixture
def latvian(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register a recogniser for one test."""
    registered: Registry[type] = RECOGNISERS
    monkeypatch.setattr(registered, "_added", {**registered._added, "latvian": Latvian})


def test_an_unknown_name_is_refused() -> None:
    assert DEFAULT_RECOGNISER in RECOGNISERS
    with pytest.raises(UsageError) as error:
        make_recogniser("moonshine-tyni")
    assert "moonshine-tiny" in str(error.value)
    with pytest.raises(UsageError):
        understands("moonshine-tyni", "en")


@pytest.mark.usefixtures("latvian")
@pytest.mark.parametrize(
    ("name", "language", "expected"),
    [
        *[
            ("moonshine-tiny", code, True)
            for code in ("", "en", "eng", "English", "en-US", "en_GB")
        ],
        *[("moonshine-tiny", code, False) for code in ("lv", "de", "e", "lv-LV")],
        *[("latvian", code, True) for code in ("", "lv", "lv-LV")],
        ("latvian", "en", False),
    ],
)
def test_a_recogniser_declares_its_languages(name: str, language: str, expected: bool) -> None:
    assert understands(name, language) is expected


@pytest.mark.usefixtures("latvian")
def test_a_registered_recogniser_is_made_by_its_name() -> None:
    assert isinstance(make_recogniser("latvian"), Latvian)
