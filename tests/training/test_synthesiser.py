"""Training of synthesisers: a few steps learn, checkpoints continue, exports run."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from error_codes import raises_code
from numpy.typing import NDArray
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
    from sottovoce.training.synthesiser_critics import Listener
    from sottovoce.training.synthesiser_networks import SynthesisNetwork
    from sottovoce.training.synthesiser_objectives import Synthesis

    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    data = [simulated_versions(rng) for _ in range(4)]
    statistics = data_statistics(data, codes=8)

    def network() -> SynthesisNetwork:
        torch.manual_seed(0)
        return NETWORKS[model](statistics)

    def objective(synthesiser: SynthesisNetwork) -> Synthesis:
        torch.manual_seed(1)
        return Synthesis(synthesiser, Listener(statistics, width=8))

    def trained(name: str) -> SynthesisNetwork:
        synthesiser = network()
        return train(synthesiser, objective(synthesiser), Segments(data), tmp_path / name, 8)

    before = mel_cepstral_distortion(network(), data)
    uninterrupted = trained("first")
    assert mel_cepstral_distortion(uninterrupted, data) < before
    synthesiser = network()
    interrupted = Trainer(synthesiser, objective(synthesiser), 8)
    for _ in range(3):
        interrupted.advance(Segments(data))
    interrupted.save(tmp_path / "second")
    continued = trained("second")
    curve = (tmp_path / "second.csv").read_text().splitlines()
    assert [row.split(",")[0] for row in curve] == ["step", "3", "8"]
    for name, value in uninterrupted.state_dict().items():
        torch.testing.assert_close(continued.state_dict()[name], value)
    (tmp_path / "bad").write_bytes(b"no checkpoint")
    with raises_code("damaged", InputError):
        trained("bad")


def test_mel_bands_are_those_of_the_decoded_envelope() -> None:
    torch = pytest.importorskip("torch")
    import pyworld

    from sottovoce.training.synthesiser_objectives import band_matrix

    coded = np.zeros((2, ENVELOPE))
    coded[1, :4] = [3.0, 0.5, -0.4, 0.2]
    decoded = np.diff(np.log(pyworld.decode_spectral_envelope(coded, 16000, 1024)), axis=0)[0]
    low, high = 1127.01048 * np.log1p(np.array([40, 8000]) / 700)  # the mel axis of WORLD's codec
    mel = low + (high - low) * (np.arange(ENVELOPE) + 0.5) / ENVELOPE
    expected = np.interp(700 * np.expm1(mel / 1127.01048), np.linspace(0, 8000, 513), decoded)
    bands = (torch.from_numpy(coded[1]).float() @ band_matrix()).numpy()
    assert np.corrcoef(bands, expected)[0, 1] > 0.999
    torch.testing.assert_close(band_matrix() @ band_matrix().T, torch.eye(ENVELOPE))


def test_a_listener_learns_and_hears_no_difference_in_the_same() -> None:
    torch = pytest.importorskip("torch")
    from sottovoce.training.synthesiser import Segments, Trainer
    from sottovoce.training.synthesiser_critics import Listener
    from sottovoce.training.synthesiser_objectives import Listening

    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    segments = Segments([simulated_versions(rng) for _ in range(4)])
    listener = Listener(data_statistics(segments.data, codes=8), width=48)
    trainer = Trainer(listener, Listening(listener), 40)
    losses = [trainer.advance(segments)["content"] for _ in range(40)]
    assert np.mean(losses[-5:]) < 0.95 * np.mean(losses[:5])
    listener.eval().requires_grad_(False)
    batch = segments.draw(rng, one_voice=True)
    assert float(listener.difference(batch, batch.target)) == 0
    assert float(listener.difference(batch, batch.target + 1)) > 0.01
    np.testing.assert_array_equal(batch.heard, batch.target)  # one voice


def test_fewer_directions_of_content_change_the_envelope() -> None:
    torch = pytest.importorskip("torch")
    from sottovoce.training.synthesiser import Segments
    from sottovoce.training.synthesiser_networks import AcousticNetwork

    rng = np.random.default_rng(0)
    segments = Segments([simulated_versions(rng) for _ in range(2)])
    network = AcousticNetwork(data_statistics(segments.data, codes=8), width=16).eval()
    batch = segments.draw(rng)

    def envelopes(detail: float) -> NDArray[np.float32]:
        inputs = (batch.content, batch.prosody, batch.speaker)
        with torch.no_grad():
            return np.asarray(network(*inputs, torch.tensor(0.0), torch.tensor(detail)))

    np.testing.assert_array_equal(envelopes(192), envelopes(1e9))
    assert not np.allclose(envelopes(192), envelopes(8))


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
    assert (
        run(
            [
                "train",
                "synthesiser",
                *arguments,
                "--steps",
                "3",
                "--listener-steps",
                "2",
                "--model",
                model,
            ]
        )
        == 0
    )
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


@pytest.mark.parametrize(
    ("held_out", "words"), [(["nobody"], "nobody"), (["corpus0", "corpus1"], "2 of them held out")]
)
def test_held_out_speakers_are_checked_first(
    held_out: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("onnx")
    write_voices(tmp_path, 3, "corpus", 1)
    arguments = [str(tmp_path), "--pool", str(tmp_path), "--out", str(tmp_path / "out")]
    for speaker in held_out:
        arguments += ["--held-out", speaker]
    assert run(["train", "synthesiser", *arguments]) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_without_torch_the_pip_line_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "torch", None)
    assert run(["train", "synthesiser", "c", "--pool", "p", "--out", str(tmp_path)]) == 2
    assert "pip install 'sottovoce[train]'" in capsys.readouterr().err
