"""Retraining CAM++: deterministic, resumable, stopped by held-out speakers, usable as ONNX."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from buzzing_voices import write_voices
from error_codes import raises_code

from sottovoce.cli import run
from sottovoce.core.errors import MissingExtraError, TooFewError, UsageError
from sottovoce.corpus import Corpus, Utterance, open_corpus
from sottovoce.speaker.encoders import campplus, make_encoder
from sottovoce.training import encoder as encoder_training
from sottovoce.training.encoder_data import CropSampler
from sottovoce.training.encoder_retraining import RetrainingSettings, retrain_encoder
from sottovoce.training.held_out_test import held_out_test

needs_torch = pytest.mark.skipif(
    find_spec("torch") is None or find_spec("onnx") is None, reason="needs the extra train"
)
SMALL = RetrainingSettings(steps=4, batch=4, seconds=0.5, test_every=2, learning_rate=1e-3)


@pytest.fixture(scope="module")
def voices(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_voices(tmp_path_factory.mktemp("voices"))


@pytest.mark.parametrize(
    "setting", [{"steps": 0}, {"trained_blocks": 4}, {"held_out": 0.0}, {"patience": 0}]
)
def test_settings_out_of_range(setting: dict[str, float]) -> None:
    with raises_code("out-of-range", UsageError):
        RetrainingSettings(**setting)  # type: ignore[arg-type]


def test_a_missing_extra_is_named(
    voices: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoder_training, "find_spec", lambda _: None)
    with raises_code("missing-extra", MissingExtraError):
        retrain_encoder([open_corpus(voices)], SMALL, tmp_path / "x.onnx")


def test_all_draws_of_a_speaker_are_one_class(voices: Path) -> None:
    corpus = open_corpus(voices)
    other = corpus.select(speakers=["v0", "v1"])
    sampler = CropSampler([corpus, other], SMALL)
    assert sampler.classes == 8 * 3
    assert [len(utterances) for utterances in sampler.by_speaker] == [8, 8, 4, 4, 4, 4, 4, 4]


def test_draws_are_compared_with_each_other_only() -> None:
    """Vectors that tell draws and not speakers: perfect within a draw, useless between draws."""
    names = [("a", "a1"), ("a", "a2"), ("b", "b1"), ("b", "b2")]
    draw = [Utterance(name, Path(name), speaker) for speaker, name in names]
    pseudo_voices = [
        np.array([[9, 0], [9, 1], [-9, 0], [-9, 1]], np.float32),
        np.array([[0, 9], [1, 9], [0, -9], [1, -9]], np.float32),
    ]
    assert held_out_test([draw], pseudo_voices[:1]).eer == 0
    crossed = held_out_test([draw, draw], pseudo_voices)
    # between draws: each speaker's 2 other recordings, both ways; never a recording with itself
    assert (crossed.n_mated, crossed.n_nonmated) == (4, 8)
    assert crossed.eer > 0.2


@needs_torch
def test_twice_the_same_and_resumable(
    voices: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = open_corpus(voices)
    draws = [corpus, corpus]
    whole, stopped = tmp_path / "whole.onnx", tmp_path / "stopped.onnx"
    settings = replace(SMALL, patience=9)
    stages: list[str] = []
    card = retrain_encoder(draws, settings, whole, progress=lambda stage, *_: stages.append(stage))
    assert "loss" in stages[0] and "held-out EER" in stages[-1]

    def interrupt(_: str, step: int, __: int) -> None:
        if step == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        retrain_encoder(draws, settings, stopped, progress=interrupt)
    assert not stopped.exists()
    steps: list[int] = []
    again = retrain_encoder(
        draws, settings, stopped, progress=lambda _, step, __: steps.append(step)
    )
    assert steps == [3, 4]
    assert stopped.read_bytes() == whole.read_bytes()
    assert again.learning_curve == card.learning_curve
    assert [point.step for point in card.learning_curve] == [0, 2, 4]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "stopped.json",
        "stopped.onnx",
        "whole.json",
        "whole.onnx",
    ]


@needs_torch
def test_early_layers_keep_their_weights(voices: Path, tmp_path: Path) -> None:
    from sottovoce.training.campplus import load_campplus
    from sottovoce.training.encoder_retraining import _RetrainingRun

    corpus = open_corpus(voices).select(speakers=["v0", "v1"])
    settings = replace(SMALL, trained_blocks=1)
    training = _RetrainingRun([corpus], [corpus], settings, tmp_path / "x.onnx")
    training.resume()
    before = load_campplus(campplus().path).state_dict()
    training.advance()
    changed = {
        name.rsplit(".", 1)[0] if name.startswith("head") else ".".join(name.split(".")[:2])
        for name, weight in training.network.state_dict().items()
        if not weight.equal(before[name])
    }
    assert changed == {"stages.2", "project.weight"}


@needs_torch
def test_training_stops_without_improvement(voices: Path, tmp_path: Path) -> None:
    """The starting network already tells the voices apart, so nothing can improve."""
    settings = replace(SMALL, steps=9, test_every=1, patience=2, learning_rate=1e-6)
    card = retrain_encoder([open_corpus(voices)], settings, tmp_path / "x.onnx")
    if card.learning_curve[0].eer == 0:
        assert card.chosen_step == 0 and len(card.learning_curve) == 3
    best = min(point.eer for point in card.learning_curve)
    assert card.held_out.eer == best


@needs_torch
def test_training_lowers_the_loss(voices: Path, tmp_path: Path) -> None:
    import torch

    from sottovoce.training.encoder_retraining import _RetrainingRun

    corpus = open_corpus(voices).select(speakers=["v0", "v3", "v6"])
    settings = replace(SMALL, steps=12, batch=12, test_every=30, learning_rate=1e-4)
    training = _RetrainingRun([corpus], [corpus], settings, tmp_path / "x.onnx")
    training.resume()
    banks, classes = training.sampler.draw(10_000)

    def loss() -> float:
        vectors = torch.from_numpy(training._embed(banks))
        with torch.no_grad():
            return float(training.loss(vectors, torch.from_numpy(classes), 0.2))

    before = loss()
    while training.step < 10:
        training.advance()
    assert loss() < 0.95 * before


@needs_torch
def test_the_command_retrains(
    voices: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "mine.onnx"
    options = "--network campplus --steps 2 --batch 4 --seconds 0.5 --licence CC0"
    command = ["train", "encoder", str(voices), str(voices), "--out", str(target)]
    assert run([*command, *options.split()]) == 0
    assert "held out: 2 speakers, EER" in capsys.readouterr().out
    card = json.loads((tmp_path / "mine.json").read_text())
    assert len(card["data"]) == 2 and card["started_from"] == campplus().card.sha256
    encoder = make_encoder(str(target), sha256=card["sha256"])
    assert encoder.card.licence == "CC0" and encoder.card.dimension == 192
    assert encoder.trained_on == {f"v{speaker}" for speaker in range(8)}
    assert run([*command, "--network", "campplus", "--width", "64"]) == 2


@needs_torch
def test_too_few_speakers(voices: Path, tmp_path: Path) -> None:
    corpus: Corpus = open_corpus(voices).select(speakers=["v0", "v1"])
    with raises_code("too-few", TooFewError):
        retrain_encoder([corpus], SMALL, tmp_path / "x.onnx")
