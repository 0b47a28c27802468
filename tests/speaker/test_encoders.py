"""The encoder that ships with the package."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sottovoce.core.errors import InputError, SottovoceError, UsageError
from sottovoce.core.types import Audio, Vector
from sottovoce.speaker import encoders
from sottovoce.speaker.encoders import OnnxEncoder, campplus, make_encoder, prepare


def voice(pitch: float, seconds: float = 2.0, rate: int = 16000, seed: int = 0) -> Audio:
    """A buzz with formants: enough of a voice for an encoder to tell two apart."""
    t = np.arange(int(seconds * rate)) / rate
    tone = sum(np.sin(2 * np.pi * pitch * k * t) / k for k in range(1, 30))
    noise = np.random.default_rng(seed).normal(0, 0.05, len(t))
    return (0.1 * (tone + noise) * (1 + 0.5 * np.sin(2 * np.pi * 4 * t))).astype(np.float32)


@pytest.fixture(scope="module")
def encoder() -> OnnxEncoder:
    return campplus()


def cosine(a: Vector, b: Vector) -> float:
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def test_the_weights_are_what_their_card_says(encoder: OnnxEncoder) -> None:
    assert encoder.card.sha256 == encoders.CAMPPLUS.sha256 and encoder.card.licence == "Apache-2.0"
    assert encoder.embed(voice(120), 16000).shape == (encoder.card.dimension,)


def test_the_same_voice_is_nearer_than_another(encoder: OnnxEncoder) -> None:
    first, again, other = (
        encoder.embed(voice(pitch, seed=seed), 16000)
        for pitch, seed in ((120, 0), (120, 1), (230, 2))
    )
    assert cosine(first, again) > cosine(first, other) + 0.03


def test_level_and_rate_hardly_matter(encoder: OnnxEncoder) -> None:
    loud = encoder.embed(voice(150), 16000)
    quiet = encoder.embed(voice(150) * np.float32(0.003), 16000)
    faster = encoder.embed(voice(150, rate=48000), 48000)
    assert cosine(loud, quiet) > 0.999 and cosine(loud, faster) > 0.9


def test_short_and_long_recordings(encoder: OnnxEncoder) -> None:
    assert np.isfinite(encoder.embed(voice(150, 0.11), 16000)).all()
    long = encoder.embed(np.tile(voice(150, 2.0), 40), 16000)
    assert cosine(long, encoder.embed(voice(150, 2.0), 16000)) > 0.9


@pytest.mark.parametrize(
    ("audio", "words"),
    [
        (np.zeros(16000, np.float32), "silence"),
        (np.full(16000, np.nan, np.float32), "finite"),
        (np.ones((2, 16000), np.float32), "one channel"),
        (np.ones(100, np.float32), "at least 0.1 s"),
    ],
)
def test_what_has_no_voice_is_refused(audio: Audio, words: str) -> None:
    with pytest.raises(SottovoceError, match=words):
        prepare(audio, 16000)


def test_a_swapped_file_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "other.onnx"
    path.write_bytes(b"not a network")
    with pytest.raises(InputError, match="SHA-256"):
        make_encoder(str(path), sha256="00" * 32)
    with pytest.raises(InputError, match=r"other\.onnx: not a usable ONNX network"):
        make_encoder(str(path)).embed(voice(120), 16000)
    with pytest.raises(InputError, match="cannot be read"):
        make_encoder(str(tmp_path / "none.onnx"))


def test_an_encoder_may_be_named_by_its_file(encoder: OnnxEncoder, tmp_path: Path) -> None:
    path = tmp_path / "mine.onnx"
    path.write_bytes(encoder.path.read_bytes())
    mine = make_encoder(str(path), sha256=encoder.card.sha256)
    assert mine.card.name == "mine" and mine.card.dimension == 192
    np.testing.assert_array_equal(mine.embed(voice(120), 16000), encoder.embed(voice(120), 16000))
    with pytest.raises(UsageError, match="did you mean 'campplus'"):
        make_encoder("camplus")


def _saved_network(path: Path, shape: list[object], axis: int, inputs: int = 1) -> None:
    """A network that averages its input over one axis."""
    onnx = pytest.importorskip("onnx")
    make, kind = onnx.helper, onnx.TensorProto.FLOAT
    given = [make.make_tensor_value_info(f"x{i}", kind, shape) for i in range(inputs)]
    found = [make.make_tensor_value_info("y", kind, ["n", "d"])]
    node = make.make_node("ReduceMean", ["x0"], ["y"], axes=[axis], keepdims=0)
    graph = make.make_graph([node], "mean", given, found)
    model = make.make_model(graph, opset_imports=[make.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, path)


@pytest.mark.parametrize(
    ("shape", "axis"), [(["n", "t", 80], 1), (["n", "t", "b"], 1), ([1, 80, "t"], 2)]
)
def test_networks_of_other_projects(tmp_path: Path, shape: list[object], axis: int) -> None:
    path = tmp_path / "other.onnx"
    _saved_network(path, shape, axis)
    encoder = make_encoder(str(path))
    assert encoder.card.dimension == 80 and encoder.embed(voice(150), 16000).shape == (80,)


def test_a_network_that_wants_more_than_filter_banks(tmp_path: Path) -> None:
    path = tmp_path / "two.onnx"
    _saved_network(path, ["n", "t", 80], 1, inputs=2)
    with pytest.raises(InputError, match="does not take filter banks"):
        make_encoder(str(path)).embed(voice(150), 16000)
