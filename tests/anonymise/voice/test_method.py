"""Cards and settings: checked at the door, with a hint."""

from __future__ import annotations

from pathlib import Path

import pytest

from sottovoce.anonymise.voice import METHODS, MethodCard, make_method
from sottovoce.anonymise.voice.method import Setting, recorded
from sottovoce.core.errors import UsageError

CARD = MethodCard(
    "example",
    "An example.",
    (
        Setting("strength", 0.5, "How strong.", low=0, high=2, words=("random",)),
        Setting("count", 8, "How many.", low=1, high=64, whole=True),
        Setting("gender", "same", "Whose.", words=("same", "opposite")),
        Setting("targets", None, "Where from.", path=True),
    ),
    keeps=("duration",),
    leaks="All.",
    reversible="yes",
    reference="none",
)


def test_defaults_and_typed_text() -> None:
    assert CARD.checked() == {"strength": 0.5, "count": 8, "gender": "same", "targets": None}
    given = CARD.checked(strength="1.5", count="12", gender="opposite", targets="a/b")
    assert given == {"strength": 1.5, "count": 12, "gender": "opposite", "targets": Path("a/b")}
    assert CARD.checked(strength="random")["strength"] == "random"
    assert recorded("example", given)["settings"]["targets"] == "b"


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("strenght", 1, "did you mean 'strength'"),
        ("strength", 3, r"strength=3: use 0 to 2 \| random"),
        ("strength", "nan", "use 0 to 2"),
        ("count", 1.5, "whole number"),
        ("gender", "oposite", "did you mean 'opposite'"),
        ("gender", None, "use same"),
    ],
)
def test_wrong_settings_are_named(name: str, value: object, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        CARD.checked(**{name: value})


def test_unknown_methods() -> None:
    with pytest.raises(UsageError, match="no voice anonymiser is called 'nothing'"):
        make_method("nothing")
    assert all(METHODS[name].card.name == name for name in METHODS)
