"""Settings of a card are checked when a method is made; single recordings are fitted first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Self

import numpy as np
import pytest
from error_codes import raises_code

from sottovoce.anonymise.voice import (
    METHODS,
    MethodCard,
    Setting,
    fit_recording,
    make_method,
    method_record,
    transform_recording,
)
from sottovoce.anonymise.voice.card import SettingValue
from sottovoce.core.errors import UsageError
from sottovoce.core.records import JsonObject
from sottovoce.core.types import Audio
from sottovoce.corpus import Corpus, Utterance, save_audio

CARD = MethodCard(
    "example",
    "An example.",
    (
        Setting("strength", 0.5, "How strong.", low=0, high=2, words=("random",)),
        Setting("count", 8, "How many.", low=1, high=64, integer=True),
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
    settings = CARD.checked(strength="1.5", count="12", gender="opposite", targets="a/b")
    assert settings == {"strength": 1.5, "count": 12, "gender": "opposite", "targets": Path("a/b")}
    assert CARD.checked(strength="random")["strength"] == "random"
    assert settings.number("strength") == 1.5 and settings.count("count") == 12
    assert settings.word("gender") == "opposite" and settings.path("targets") == Path("a/b")
    plain = {"strength": 1.5, "count": 12, "gender": "opposite", "targets": "b"}
    assert method_record("example", settings) == {"method": "example", "settings": plain}


@pytest.mark.parametrize(
    ("name", "value", "code", "hint"),
    [
        ("strenght", 1, "unknown-name", "'strength'"),
        ("strength", 3, "out-of-range", "strength=3: use 0 to 2 | random"),
        ("strength", "nan", "out-of-range", "0 to 2"),
        ("count", 1.5, "out-of-range", "whole number"),
        ("gender", "oposite", "out-of-range", "'opposite'"),
        ("gender", None, "out-of-range", "same"),
    ],
)
def test_wrong_settings_are_refused(name: str, value: SettingValue, code: str, hint: str) -> None:
    with raises_code(code, UsageError) as caught:
        CARD.checked(**{name: value})
    assert hint in str(caught.value)


def test_settings_of_another_type_are_a_programming_error() -> None:
    settings = CARD.checked(strength="random")
    assert settings.count("strength") is None
    for access in (settings.number, settings.path):
        with pytest.raises(TypeError):
            access("strength")
    with pytest.raises(TypeError):
        settings.word("count")


def test_unknown_methods() -> None:
    with pytest.raises(UsageError) as caught:
        make_method("nothing")
    assert "'nothing'" in str(caught.value)


@pytest.mark.parametrize("name", list(METHODS))
def test_cards_describe_their_methods(name: str) -> None:
    card = METHODS[name].card
    described = card.to_dict()
    assert card.name == described["name"] == name and card.draws
    settings = described["settings"]
    assert isinstance(settings, dict) and list(settings) == [
        setting.name for setting in card.settings
    ]
    assert described["fit"] == card.fit and described["keeps"] == list(card.keeps)
    json.dumps(described, allow_nan=False)


class NeedsFit:
    """A method as the protocol allows it: ``transform`` fails for speakers unknown to ``fit``."""

    name = "needs-fit"

    def __init__(self) -> None:
        self.gains: dict[str, float] = {}

    def fit(self, corpus: Corpus) -> Self:
        self.gains |= dict.fromkeys(corpus.speakers, 0.5)
        return self

    def transform(self, audio: Audio, rate: int, *, speaker: str, utterance: str) -> Audio:
        return audio * np.float32(self.gains[speaker])

    def record(self) -> JsonObject:
        return {"method": self.name, "settings": {}}


def test_a_single_recording_is_fitted_before_it_is_transformed(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    save_audio(path, np.full(4000, 0.25, np.float32), 8000)
    audio, rate = transform_recording(NeedsFit(), Utterance("u", path, "ann"))
    assert rate == 8000
    np.testing.assert_array_equal(audio, np.full(4000, 0.125, np.float32))
    method = NeedsFit()
    fit_recording(method, Utterance("u", path, "bob"))
    assert method.gains == {"bob": 0.5}
