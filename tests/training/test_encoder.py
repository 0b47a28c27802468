"""Training an encoder: it learns, it can be stopped anywhere, its network can be used."""

from __future__ import annotations

import json
import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from buzzing_voices import write_voices
from error_codes import raises_code

from sottovoce.cli import run
from sottovoce.core.errors import MissingExtraError, TooFewError, UsageError
from sottovoce.corpus import open_corpus
from sottovoce.speaker.encoders import make_encoder
from sottovoce.training import encoder as encoder_training
from sottovoce.training import encoder_data
from sottovoce.training.encoder import split_speakers, train_encoder
from sottovoce.training.encoder_data import CropSampler, TrainingSettings

RATE = 16000
needs_torch = pytest.mark.skipif(
    find_spec("torch") is None or find_spec("onnx") is None, reason="needs the extra train"
)
SMALL = TrainingSettings("xvector", 16, 8, steps=6, batch=4, seconds=0.5)


@pytest.fixture(scope="module")
def voices(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_voices(tmp_path_factory.mktemp("voices"))


def test_speakers_are_on_one_side_only(voices: Path) -> None:
    corpus = open_corpus(voices)
    (train,), (held_out,) = split_speakers([corpus], held_out=0.15, seed=0)
    assert set(train.speakers).isdisjoint(held_out.speakers)
    assert len(train.speakers) + len(held_out.speakers) == 8 and len(held_out.speakers) == 2
    assert len(train) + len(held_out) == len(corpus)
    few = corpus.select(speakers=["v0", "v1"])
    with raises_code("too-few", TooFewError) as caught:
        split_speakers([few], held_out=0.15, seed=0)
    assert "2 speakers" in str(caught.value)


def test_a_batch_depends_on_its_step_alone(voices: Path) -> None:
    corpus = open_corpus(voices)
    banks, classes = CropSampler([corpus], SMALL).draw(3)
    assert banks.shape == (4, 48, 80) and np.isfinite(banks).all()
    assert classes.min() >= 0 and classes.max() < 8 * len(encoder_data.SPEEDS)
    other = CropSampler([corpus], SMALL)
    other.draw(0)
    other_banks, other_classes = other.draw(3)
    np.testing.assert_array_equal(other_banks, banks)
    np.testing.assert_array_equal(other_classes, classes)


def test_a_small_cache_changes_nothing(voices: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = open_corpus(voices)
    cached, _ = CropSampler([corpus], SMALL).draw(1)
    monkeypatch.setattr(encoder_data, "CACHE", 0)
    decoded, _ = CropSampler([corpus], SMALL).draw(1)
    np.testing.assert_allclose(decoded, cached, atol=0.2)  # cached audio has 16 bits


def test_level_of_noise_and_length_of_echo() -> None:
    rng = np.random.default_rng(0)
    audio = np.sin(np.arange(RATE) * 0.05).astype(np.float32)
    noisy = encoder_data.add_noise(audio, 10.0, 0.5, rng)
    snr = 10 * np.log10(np.mean(audio**2) / np.mean((noisy - audio) ** 2))
    assert snr == pytest.approx(10.0, abs=0.1)
    click = np.zeros(RATE, np.float32)
    click[0] = 1
    echo = encoder_data.add_echo(click, 0.3, rng)
    assert echo[0] == pytest.approx(1.0) and abs(echo[int(0.31 * RATE) :]).max() < 1e-6
    assert len(encoder_data.change_speed(audio, 1.1)) == pytest.approx(RATE / 1.1, abs=2)


@pytest.mark.parametrize(
    ("setting", "code"),
    [
        ({"steps": 0}, "out-of-range"),
        ({"width": 18}, "out-of-range"),
        ({"network": "lstm"}, "unknown-name"),
        ({"held_out": 1.0}, "out-of-range"),
        ({"seconds": 0.1}, "out-of-range"),
    ],
)
def test_settings_out_of_range(setting: dict[str, object], code: str) -> None:
    with raises_code(code, UsageError):
        TrainingSettings(**setting)  # type: ignore[arg-type]


def test_a_missing_extra_is_named(
    voices: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoder_training, "find_spec", lambda _: None)
    with raises_code("missing-extra", MissingExtraError) as caught:
        train_encoder([open_corpus(voices)], SMALL, tmp_path / "x.onnx")
    assert "sottovoce[train]" in str(caught.value)


@needs_torch
@pytest.mark.parametrize("stop", [1, 3, 5])
def test_an_interrupted_run_gives_the_same_network(
    voices: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: int
) -> None:
    monkeypatch.setattr(encoder_training, "SAVE_EVERY", 2)
    corpus = open_corpus(voices)
    train_encoder([corpus], SMALL, tmp_path / "whole.onnx")

    def interrupt(_: str, step: int, __: int) -> None:
        if step == stop:
            raise KeyboardInterrupt

    target = tmp_path / "stopped.onnx"
    with pytest.raises(KeyboardInterrupt):
        train_encoder([corpus], SMALL, target, progress=interrupt)
    assert not target.exists()
    steps: list[int] = []
    train_encoder([corpus], SMALL, target, progress=lambda _, step, __: steps.append(step))
    assert steps[0] == stop // 2 * 2 + 1
    assert target.read_bytes() == (tmp_path / "whole.onnx").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "stopped.onnx",
        "whole.onnx",
    ]


@needs_torch
def test_progress_tells_the_loss_and_the_error_on_held_out_speakers(
    voices: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoder_training, "SAVE_EVERY", 2)
    train, test = split_speakers([open_corpus(voices)], held_out=0.3, seed=0)
    stages: list[str] = []

    def interrupt(stage: str, step: int, _: int) -> None:
        stages.append(stage)
        if step == 3:
            raise KeyboardInterrupt

    target = tmp_path / "mine.onnx"
    with pytest.raises(KeyboardInterrupt):
        train_encoder(train, SMALL, target, held_out=test, progress=interrupt)
    train_encoder(
        train, SMALL, target, held_out=test, progress=lambda stage, *_: stages.append(stage)
    )
    figures = r"training the encoder · loss \d+\.\d\d, held-out EER \d+\.\d%"
    assert all(re.fullmatch(figures, stage) for stage in stages)
    assert len(stages) == 3 + 4 and stages[2] == stages[3]  # step 3 is taken twice
    train_encoder(train, SMALL, tmp_path / "again.onnx")
    assert (tmp_path / "again.onnx").read_bytes() == target.read_bytes()  # tests change nothing


@needs_torch
def test_a_gpu_is_used_where_there_is_one(
    voices: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A device without values stands for the GPU: mixing it with another is an error there too."""
    import torch

    monkeypatch.setattr(encoder_training, "training_device", lambda: torch.device("meta"))
    devices: list[str] = []

    def record(loss: torch.Tensor, *_: object) -> float:
        devices.append(loss.device.type)
        return 0.0

    monkeypatch.setattr(encoder_training, "descend", record)
    training = encoder_training._TrainingRun([open_corpus(voices)], SMALL, tmp_path / "x.onnx")
    training.advance()
    assert devices == ["meta"]


@needs_torch
@pytest.mark.parametrize("network", ["ecapa", "xvector"])
def test_the_command_writes_an_encoder_and_its_card(
    voices: Path, tmp_path: Path, network: str, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "mine.onnx"
    options = f"--network {network} --width 16 --steps 25 --batch 16 --seconds 0.5 --licence CC0"
    assert run(["train", "encoder", str(voices), "--out", str(target), *options.split()]) == 0
    assert "held out: 2 speakers, EER" in capsys.readouterr().out
    card = json.loads((tmp_path / "mine.json").read_text())
    assert len(card["speakers"]) == 6 and len(card["held_out_speakers"]) == 2
    assert card["settings"]["network"] == network and card["held_out"]["n_mated"] == 12
    encoder = make_encoder(str(target), sha256=card["sha256"])
    assert encoder.card.licence == "CC0" and encoder.card.dimension == 192
    assert encoder.trained_on == {f"v{speaker}" for speaker in range(8)}
    for seconds in (0.3, 2.0):
        audio = np.random.default_rng(0).normal(0, 0.1, int(seconds * RATE)).astype(np.float32)
        assert encoder.embed(audio, RATE).shape == (192,)


@needs_torch
def test_training_lowers_the_loss(voices: Path, tmp_path: Path) -> None:
    settings = TrainingSettings("xvector", 16, 16, steps=40, batch=24, seconds=0.5)
    training = encoder_training._TrainingRun([open_corpus(voices)], settings, tmp_path / "x.onnx")
    import torch

    def loss() -> float:
        with torch.no_grad():
            banks, classes = training.sampler.draw(10_000)
            vectors = training.network(torch.from_numpy(banks))
            return float(training.loss(vectors, torch.from_numpy(classes), 0.0))

    before = loss()
    while training.step < settings.steps:
        training.advance()
    assert loss() < 0.7 * before
