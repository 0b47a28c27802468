"""Training a recogniser: learns, resumes, repeats, and is the same network as ONNX."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from error_codes import raises_code

pytest.importorskip("torch")
pytest.importorskip("onnx")

import torch

from sottovoce.asr.ctc import best_path
from sottovoce.asr.trained import TrainedHead
from sottovoce.core.records import read_json_record
from sottovoce.measure.utility import word_errors
from sottovoce.training.recogniser import (
    RecogniserSettings,
    TrainedRecogniserCard,
    split_held_out,
    train_recogniser,
)
from sottovoce.training.recogniser_data import (
    NO_TARGET,
    Batch,
    BatchSampler,
    SpokenText,
    padded,
)
from sottovoce.training.recogniser_networks import CtcHead

WORDS = ("ab", "ba", "cab", "abba", "bac")
SMALL = RecogniserSettings(
    epochs=14, seconds=12, width=32, blocks=1, dropout=0.0, learning_rate=1e-2
)


def spoken(speakers: int = 5, each: int = 12, seed: int = 0) -> list[SpokenText]:
    """Features in which each character has its direction, held for a few frames."""
    rng = np.random.default_rng(seed)
    directions = {char: rng.normal(size=12) for char in " abc"}
    recordings = []
    for number in range(speakers * each):
        text = " ".join(rng.choice(WORDS, 12))
        frames = [
            directions[char] * (hold < 3) + 0.1 * rng.normal(size=12)
            for char in text
            for hold in range(int(rng.integers(4, 7)))
        ]
        features = np.array(frames, np.float16)
        recordings.append(SpokenText(f"s{number % speakers}", features, text))
    return recordings


def train(folder: Path, settings: RecogniserSettings = SMALL, **options: object) -> Path:
    folder.mkdir(exist_ok=True)
    target = folder / "head.onnx"
    train_recogniser(spoken(), settings, target, source="made up", key="k", **options)  # type: ignore[arg-type]
    return target


def test_learns_and_onnx_is_the_same(tmp_path: Path) -> None:
    stages: list[str] = []
    target = train(tmp_path, progress=lambda stage, done, total: stages.append(stage))
    card = read_json_record(TrainedRecogniserCard, target.with_suffix(".json"), advice="")
    assert card.held_out_wer < 0.1 < card.learning_curve[0].held_out_wer
    assert set(card.speakers).isdisjoint(card.held_out_speakers)
    assert "held-out WER" in stages[-1]
    head = TrainedHead(target, card.alphabet, card.sha256)
    held_out = [r for r in spoken() if r.speaker in card.held_out_speakers]
    logs = [head.log_probabilities(recording.features) for recording in held_out]
    assert np.allclose(np.exp(logs[0]).sum(1), 1, atol=1e-4)
    errors = [
        word_errors(recording.text, best_path(values, card.alphabet))
        for recording, values in zip(held_out, logs, strict=True)
    ]
    wrong = sum(each.total for each in errors) / sum(each.words for each in errors)
    assert wrong == pytest.approx(card.held_out_wer, abs=0.02)
    assert not list(tmp_path.glob(".*unfinished"))


def test_interrupted_run_gives_the_same_file(tmp_path: Path) -> None:
    settings = RecogniserSettings(epochs=4, seconds=30, width=16, blocks=1)
    whole = train(tmp_path / "whole", settings)

    class StoppedError(Exception):
        pass

    def stop(stage: str, done: int, total: int) -> None:
        if done > total // 2:
            raise StoppedError

    with pytest.raises(StoppedError):
        train(tmp_path / "parts", settings, progress=stop)
    assert not (tmp_path / "parts" / "head.onnx").exists()
    parts = train(tmp_path / "parts", settings)
    assert parts.read_bytes() == whole.read_bytes()
    other = train(tmp_path / "other", replace(settings, seed=1))
    assert other.read_bytes() != whole.read_bytes()


def test_padding_changes_nothing() -> None:
    torch.manual_seed(0)
    recordings = spoken()[:4]
    sampler = BatchSampler(recordings, " abc", 30.0, 0)
    head = CtcHead(sampler.mean, sampler.deviation, 4, width=16, blocks=3, dropout=0.0).eval()
    lengths = torch.tensor([len(recording.features) for recording in recordings])
    with torch.inference_mode():
        together = head(torch.from_numpy(padded(recordings)), lengths)
        for row, recording in zip(together, recordings, strict=True):
            alone = head(torch.from_numpy(recording.features.astype(np.float32))[None])[0]
            assert torch.allclose(row[: len(alone)], alone, atol=1e-5)


def test_batches_repeat_and_hold_every_recording() -> None:
    recordings = spoken()
    sampler = BatchSampler(recordings, " abc", 40.0, 3)
    first, again, next_epoch = (list(sampler.epoch(number)) for number in (0, 0, 1))
    assert all(np.array_equal(a.features, b.features) for a, b in zip(first, again, strict=True))
    assert not np.array_equal(first[0].features, next_epoch[0].features)
    assert sum(len(batch.lengths) for batch in first) == len(recordings)


def test_refuses_too_little_speech() -> None:
    few = [SpokenText(f"s{i}", np.zeros((50, 4), np.float16), "a") for i in range(3)]
    with raises_code("too-few"):
        split_held_out(few, share=0.2, seed=0, source="few")
    short = [SpokenText(f"s{i}", np.zeros((50, 4), np.float16), "a") for i in range(9)]
    with raises_code("too-few"):
        split_held_out(short, share=0.2, seed=0, source="short")


@pytest.mark.parametrize("bad", [{"epochs": 0}, {"held_out": 1.0}, {"learning_rate": 2.0}])
def test_refuses_settings(bad: dict[str, float]) -> None:
    with raises_code("out-of-range"):
        RecogniserSettings(**bad)  # type: ignore[arg-type]


def test_flat_targets_spread_the_text_evenly() -> None:
    features = np.zeros((2, 12, 1), np.float32)
    batch = Batch(features, np.array([12, 6]), np.array([1, 2, 3, 4, 4, 1]), np.array([4, 2]))
    flat = batch.flat_targets(12)
    assert flat[0].tolist() == [1, 0, 0, 2, 0, 0, 3, 0, 0, 4, 0, 0]
    assert flat[1].tolist() == [4, 0, 0, 1, 0, 0, *[NO_TARGET] * 6]
