"""Training of synthesisers: a few steps learn, checkpoints continue, exports run."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from error_codes import raises_code
from signals import vowel

from sottovoce.anonymise import Secret
from sottovoce.anonymise.voice.frames import ENVELOPE, SPLIT
from sottovoce.asr.content import ContentEncoder
from sottovoce.cli import run
from sottovoce.core.errors import InputError
from sottovoce.core.step_cache import StepCache
from sottovoce.corpus import Corpus, Utterance, save_audio, write_manifest
from sottovoce.speaker.encoders import campplus
from sottovoce.training.synthesiser_data import (
    Version,
    analyse_utterances,
    content_reduction,
    data_statistics,
    make_versions,
)


def simulated_versions(rng: np.random.Generator, frames: int = 90) -> list[Version]:
    """Make two versions of an utterance whose envelope depends on content and speaker."""
    content = rng.normal(size=(frames, 288)).astype(np.float32)
    versions = []
    for _ in range(2):
        speaker = rng.normal(size=192).astype(np.float32)
        table = np.tile(content[:, : ENVELOPE + 1], SPLIT) + speaker[0]
        prosody = rng.normal(size=(frames, 3 * SPLIT)).astype(np.float32)
        noise = rng.normal(size=content.shape).astype(np.float32)
        versions.append(Version(content + 0.1 * noise, prosody, table.astype(np.float32), speaker))
    return versions


def test_versions_share_their_timing_and_differ_in_voice() -> None:
    audio = (0.4 * vowel(seconds=0.8)).astype(np.float32)
    rng = np.random.default_rng(0)
    plain, other = make_versions(audio, rng, ContentEncoder(), campplus(), 1)
    assert plain.content.shape == other.content.shape == (len(plain.target), 288)
    assert plain.target.shape == (len(plain.content), SPLIT * (ENVELOPE + 1))
    assert np.abs(plain.target - other.target).mean() > 0.05
    np.testing.assert_array_equal(plain.prosody[:, 1], other.prosody[:, 1])  # voicing
    assert np.abs(plain.content.mean(0)).max() < 1e-3


def test_analysed_utterances_are_read_back(tmp_path: Path) -> None:
    save_audio(tmp_path / "a.wav", (0.4 * vowel(seconds=0.5)).astype(np.float32), 16000)
    (tmp_path / "b.wav").write_bytes(b"no audio")
    utterances = [Utterance(name, tmp_path / f"{name}.wav", "ann") for name in "abc"]
    content, encoder = ContentEncoder(), campplus()

    def analyse() -> tuple[StepCache, list[Version]]:
        cache = StepCache(tmp_path / "data")
        versions, damaged, missing = analyse_utterances(
            utterances, cache, content, encoder, versions=1
        )
        assert versions is not None and damaged is None and missing is None
        return cache, versions

    cache, versions = analyse()
    assert len(versions) == 2 and cache.computed["versions"] == 1
    again, same = analyse()
    assert not again.computed["versions"] and again.reused["versions"] == 1
    np.testing.assert_array_equal(versions[1].content, same[1].content)
    (stored,) = (tmp_path / "data").rglob("*.npz")
    stored.write_bytes(stored.read_bytes()[:-200])
    assert analyse()[0].computed["versions"] == 1  # a damaged file is computed again


def test_content_reduction_ignores_the_voice() -> None:
    rng = np.random.default_rng(0)
    data = []
    for _ in range(6):
        content = rng.normal(size=(200, 20)).astype(np.float32)
        voices = rng.normal(size=(2, 1, 20)).astype(np.float32)
        voices[:, :, 5:] = 0  # a voice moves the first five dimensions only
        data.append([Version(content + 3 * v, content, content, content[0]) for v in voices])
    directions = content_reduction(data, 15)
    weight = np.square(directions / np.linalg.norm(directions, axis=0)).sum(1)
    assert weight[:5].max() < 0.2 * weight[5:].min()


@pytest.mark.parametrize("model", ["xvector", "dar"])
def test_training_learns_and_continues_from_a_checkpoint(model: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from sottovoce.training.synthesiser import (
        NETWORKS,
        Segments,
        Trainer,
        mel_cepstral_distortion,
        train,
    )
    from sottovoce.training.synthesiser_networks import SynthesisNetwork

    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    data = [simulated_versions(rng) for _ in range(4)]
    statistics = data_statistics(data, codes=8)

    def network() -> SynthesisNetwork:
        torch.manual_seed(0)
        return NETWORKS[model](statistics)

    before = mel_cepstral_distortion(network(), data)
    uninterrupted = train(network(), Segments(data), tmp_path / "first", 8)
    assert mel_cepstral_distortion(uninterrupted, data) < before
    interrupted = Trainer(network(), 8)
    for _ in range(3):
        interrupted.advance(Segments(data))
    interrupted.save(tmp_path / "second")
    continued = train(network(), Segments(data), tmp_path / "second", 8)
    for name, value in uninterrupted.state_dict().items():
        torch.testing.assert_close(continued.state_dict()[name], value)
    (tmp_path / "bad").write_bytes(b"no checkpoint")
    with raises_code("damaged", InputError):
        train(network(), Segments(data), tmp_path / "bad", 8)


def write_voices(folder: Path, count: int, prefix: str, each: int) -> None:
    utterances = []
    for i in range(count):
        for j in range(each):
            path = folder / f"{prefix}{i}_{j}.wav"
            tone = vowel((500 + 60 * i, 1500 + 90 * j, 2600), 2.2, 100 + 12 * i)
            save_audio(path, (0.4 * tone).astype(np.float32), 16000)
            utterances.append(Utterance(path.stem, path, f"{prefix}{i}", gender="fm"[i % 2]))
    write_manifest(Corpus(prefix, folder, tuple(utterances)), folder)


@pytest.mark.slow
@pytest.mark.parametrize("model", ["xvector", "dar"])
def test_the_command_trains_a_usable_method(model: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from sottovoce.anonymise.voice.dar import Dar
    from sottovoce.anonymise.voice.xvector import XVector

    for name, count, each in (("corpus", 4, 3), ("pool", 8, 1)):
        (tmp_path / name).mkdir()
        write_voices(tmp_path / name, count, name, each)
    out = tmp_path / "out"
    arguments = [str(tmp_path / "corpus"), "--pool", str(tmp_path / "pool"), "--out", str(out)]
    assert run(["train", "synthesiser", *arguments, "--steps", "3", "--model", model]) == 0
    card = json.loads((out / f"{model}.json").read_text())
    assert card["held out"]["utterances"] == 3 and card["steps"] == 3
    audio = (0.4 * vowel(seconds=0.5)).astype(np.float32)
    method = (
        XVector(Secret.reproducible(1), synthesiser=out / "xvector.onnx", pool=out / "pool.npz")
        if model == "xvector"
        else Dar(
            Secret.reproducible(1), synthesiser=out / "dar.onnx", voices=out / "dar_voices.npz"
        )
    )
    assert np.isfinite(method.transform(audio, 16000, speaker="a", utterance="u")).all()


def test_without_torch_the_pip_line_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "torch", None)
    assert run(["train", "synthesiser", "c", "--pool", "p", "--out", str(tmp_path)]) == 2
    assert "pip install 'sottovoce[train]'" in capsys.readouterr().err
