"""The representation ``retrained``: made once, refused with a reason, used by the command."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest
from small_speech import small_corpus

from sottovoce.attack import retraining
from sottovoce.attack.representation import REPRESENTATIONS, TrainingSpeech, Unavailable
from sottovoce.attack.speech import SpeechCache, SpeechSet
from sottovoce.cli import run
from sottovoce.speaker.encoders import OnnxEncoder, WithoutPauses, campplus
from sottovoce.training import encoder as encoder_training
from sottovoce.training.encoder_retraining import RetrainingSettings

needs_torch = pytest.mark.skipif(
    find_spec("torch") is None or find_spec("onnx") is None, reason="needs the extra train"
)


def training_speech(folder: Path, speakers: int) -> TrainingSpeech:
    speech = SpeechSet.of(small_corpus(folder / "t", speakers, 2, "t", seconds=0.375))
    cache = SpeechCache(folder / "out", campplus())
    return TrainingSpeech(campplus(), speech, (speech,), speech, None, cache, 0)


def test_the_extra_is_named_where_it_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoder_training, "find_spec", lambda _: None)
    encoder = REPRESENTATIONS["retrained"].make(training_speech(tmp_path, 6))
    assert isinstance(encoder, Unavailable) and "sottovoce[train]" in encoder.reason


@needs_torch
def test_too_few_speakers_are_a_reason(tmp_path: Path) -> None:
    encoder = REPRESENTATIONS["retrained"].make(training_speech(tmp_path, 5))
    assert isinstance(encoder, Unavailable) and "5 speakers" in encoder.reason


@needs_torch
def test_the_command_retrains_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = partial(RetrainingSettings, steps=1, batch=4, seconds=0.5)
    monkeypatch.setattr(retraining, "RetrainingSettings", small)
    small_corpus(tmp_path / "o", 3, 4, "s", seconds=0.375)
    small_corpus(tmp_path / "others", 10, 2, "t", seconds=0.375)
    original, anonymised = str(tmp_path / "o"), str(tmp_path / "a")
    assert run(["anonymise", "voice", original, anonymised, "--reproducible", "0"]) == 0
    words = ["attack", "--original", original, "--anonymised", anonymised, "--out"]
    words += [str(tmp_path / "out"), "--train", str(tmp_path / "others"), "--linkage", "cosine"]
    assert run([*words, "--encoder", "retrained", "--attacker", "semi-informed"]) == 0
    (path,) = (tmp_path / "out" / "encoders").glob("*.onnx")
    card = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    assert len(card["data"]) == 2  # draws
    assert len(card["speakers"]) + len(card["held_out_speakers"]) < 10  # the others judge
    record = json.loads((tmp_path / "out" / "semi-informed" / "attack.json").read_text("utf-8"))
    (representation,) = record["representations"]
    assert representation["name"] == "retrained"
    assert representation["encoder"]["sha256"] == card["sha256"] != campplus().card.sha256
    assert representation["trained_on"] == sorted(card["speakers"] + card["held_out_speakers"])
    written = path.stat().st_mtime_ns
    assert run([*words, "--encoder", "retrained", "--attacker", "semi-informed"]) == 0
    assert path.stat().st_mtime_ns == written
    path.write_bytes(path.read_bytes()[:-100])  # damaged: made again
    assert run([*words, "--encoder", "retrained", "--attacker", "semi-informed"]) == 0
    assert OnnxEncoder(path).card.sha256 == card["sha256"]


@needs_torch
def test_pauses_are_removed_as_for_the_encoder_of_the_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    training = training_speech(tmp_path, 6)
    without = replace(training, encoder=WithoutPauses(training.encoder))
    monkeypatch.setattr("sottovoce.attack.representation.retrained_encoder", lambda *_: campplus())
    assert isinstance(REPRESENTATIONS["retrained"].make(training), OnnxEncoder)
    assert isinstance(REPRESENTATIONS["retrained"].make(without), WithoutPauses)
