"""Training: a few steps learn, a killed run goes on, the export is what was trained."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from voice_signals import vowel

from sottovoce.anonymise import Secret
from sottovoce.anonymise.voice.frames import ENVELOPE, SPLIT
from sottovoce.asr.content import ContentEncoder
from sottovoce.cli import run
from sottovoce.core.errors import InputError
from sottovoce.corpus import Corpus, Utterance, save_audio, write_manifest
from sottovoce.speaker.encoders import campplus
from sottovoce.training.synthesiser_data import (
    Version,
    load_versions,
    make_versions,
    prepare,
)


def invented(rng: np.random.Generator, frames: int = 90) -> list[Version]:
    """Two versions of an utterance whose envelope follows its content and speaker."""
    content = rng.normal(size=(frames, 288)).astype(np.float32)
    made = []
    for _ in range(2):
        speaker = rng.normal(size=192).astype(np.float32)
        table = np.tile(content[:, : ENVELOPE + 1], SPLIT) + speaker[0]
        prosody = rng.normal(size=(frames, 3 * SPLIT)).astype(np.float32)
        noise = rng.normal(size=content.shape).astype(np.float32)
        made.append(Version(content + 0.1 * noise, prosody, table.astype(np.float32), speaker))
    return made


def test_versions_share_their_timing_and_differ_in_voice() -> None:
    audio = (0.4 * vowel(seconds=0.8)).astype(np.float32)
    rng = np.random.default_rng(0)
    plain, other = make_versions(audio, rng, ContentEncoder(), campplus(), 1)
    assert plain.content.shape == other.content.shape == (len(plain.target), 288)
    assert plain.target.shape == (len(plain.content), SPLIT * (ENVELOPE + 1))
    assert np.abs(plain.target - other.target).mean() > 0.05
    np.testing.assert_array_equal(plain.prosody[:, 1], other.prosody[:, 1])  # voicing
    assert np.abs(plain.content.mean(0)).max() < 1e-3


def test_what_is_prepared_is_kept(tmp_path: Path) -> None:
    save_audio(tmp_path / "a.wav", (0.4 * vowel(seconds=0.5)).astype(np.float32), 16000)
    (tmp_path / "b.wav").write_bytes(b"no audio")
    both = [Utterance(name, tmp_path / f"{name}.wav", "ann") for name in "ab"]
    content, encoder = ContentEncoder(), campplus()
    first = prepare(both, tmp_path / "data", content, encoder, versions=1)
    assert first[0] is not None and first[1] is None
    stamp = first[0].stat().st_mtime_ns
    again = prepare(both, tmp_path / "data", content, encoder, versions=1)
    assert again == first and first[0].stat().st_mtime_ns == stamp
    assert len(load_versions(first[0])) == 2


def test_directions_of_content_leave_the_voice_out() -> None:
    from sottovoce.training.content_space import content_reduction

    rng = np.random.default_rng(0)
    data = []
    for _ in range(6):
        said = rng.normal(size=(200, 20)).astype(np.float32)
        voices = rng.normal(size=(2, 1, 20)).astype(np.float32)
        voices[:, :, 5:] = 0  # a voice moves the first five dimensions only
        data.append([Version(said + 3 * v, said, said, said[0]) for v in voices])
    kept = content_reduction(data, 15)
    weight = np.square(kept / np.linalg.norm(kept, axis=0)).sum(1)
    assert weight[:5].max() < 0.2 * weight[5:].min()


@pytest.mark.parametrize("model", ["xvector", "dar"])
def test_a_few_steps_learn_and_go_on_where_they_were(model: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from sottovoce.training.content_space import constants
    from sottovoce.training.synthesiser import MODELS, Segments, Trainer, distortion, train

    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    data = [invented(rng) for _ in range(4)]
    found = constants(data, codes=8)

    def network() -> object:
        torch.manual_seed(0)
        return MODELS[model](found)

    before = distortion(network(), data)  # type: ignore[arg-type]
    whole = train(network(), Segments(data), tmp_path / "whole", 8)  # type: ignore[arg-type]
    assert distortion(whole, data) < before
    half = Trainer(network(), 8)  # type: ignore[arg-type]
    for _ in range(3):
        half.advance(Segments(data))
    half.save(tmp_path / "half")
    rest = train(network(), Segments(data), tmp_path / "half", 8)  # type: ignore[arg-type]
    for name, value in whole.state_dict().items():
        torch.testing.assert_close(rest.state_dict()[name], value)
    (tmp_path / "bad").write_bytes(b"no checkpoint")
    with pytest.raises(InputError, match="remove it to begin anew"):
        train(network(), Segments(data), tmp_path / "bad", 8)  # type: ignore[arg-type]


def voices(folder: Path, count: int, names: str, each: int) -> Path:
    made = []
    for i in range(count):
        for j in range(each):
            path = folder / f"{names}{i}_{j}.wav"
            tone = vowel((500 + 60 * i, 1500 + 90 * j, 2600), 2.2, 100 + 12 * i)
            save_audio(path, (0.4 * tone).astype(np.float32), 16000)
            made.append(Utterance(path.stem, path, f"{names}{i}", gender="fm"[i % 2]))
    write_manifest(Corpus(names, folder, tuple(made)), folder)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("model", ["xvector", "dar"])
def test_the_command_makes_a_method_that_speaks(model: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from sottovoce.anonymise.voice.dar import Dar
    from sottovoce.anonymise.voice.xvector import XVector

    for name, count, each in (("corpus", 4, 3), ("pool", 8, 1)):
        (tmp_path / name).mkdir()
        voices(tmp_path / name, count, name, each)
    out = tmp_path / "out"
    given = [str(tmp_path / "corpus"), "--pool", str(tmp_path / "pool"), "--out", str(out)]
    assert run(["train", "synthesiser", *given, "--steps", "3", "--model", model]) == 0
    card = json.loads((out / f"{model}.json").read_text())
    assert card["held out"]["utterances"] == 3 and card["steps"] == 3
    audio = (0.4 * vowel(seconds=0.5)).astype(np.float32)
    made = (
        XVector(Secret.reproducible(1), synthesiser=out / "xvector.onnx", pool=out / "pool.npz")
        if model == "xvector"
        else Dar(
            Secret.reproducible(1), synthesiser=out / "dar.onnx", voices=out / "dar_voices.npz"
        )
    )
    assert np.isfinite(made.transform(audio, 16000, speaker="a", utterance="u")).all()


def test_without_torch_the_pip_line_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "torch", None)
    assert run(["train", "synthesiser", "c", "--pool", "p", "--out", str(tmp_path)]) == 2
    assert "pip install 'sottovoce[train]'" in capsys.readouterr().err
