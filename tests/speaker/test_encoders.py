"""Speaker encoders: the built-in one, networks in files, models of Hugging Face in folders."""

from __future__ import annotations

import json
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from error_codes import raises_code
from signals import harmonics, noise, tone

from sottovoce.core.errors import InputError, SottovoceError, UsageError
from sottovoce.core.types import Audio, Vector
from sottovoce.speaker import encoders, hugging_face
from sottovoce.speaker.encoders import (
    OnnxEncoder,
    WithoutPauses,
    campplus,
    make_encoder,
    prepare,
)
from sottovoce.speaker.hugging_face import HF_WEIGHTS, HuggingFaceEncoder


def voice(pitch: float, seconds: float = 2.0, rate: int = 16000, seed: int = 0) -> Audio:
    """A buzz with formants: enough of a voice for an encoder to tell two apart."""
    buzz = harmonics(pitch, [1 / k for k in range(1, 30)], seconds, rate=rate)
    hiss = noise(seconds, rate=rate, level=0.05, seed=seed)
    loudness = 1 + tone(4, seconds, rate=rate, level=0.5)
    return (0.1 * (buzz + hiss) * loudness).astype(np.float32)


@pytest.fixture(scope="module")
def encoder() -> OnnxEncoder:
    return campplus()


def cosine(a: Vector, b: Vector) -> float:
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


# ============================================================================= the built-in encoder


def test_the_weights_match_their_card(encoder: OnnxEncoder) -> None:
    assert encoder.card.sha256 == encoders.CAMPPLUS.sha256 and encoder.card.licence == "Apache-2.0"
    assert encoder.embed(voice(120), 16000).shape == (encoder.card.dimension,)
    assert encoder.trained_on == frozenset()


def test_the_card_as_json() -> None:
    assert encoders.EncoderCard("n", 3, "l", "o", "ab").to_dict() == {
        "name": "n",
        "dimension": 3,
        "licence": "l",
        "origin": "o",
        "sha256": "ab",
    }


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
    ("audio", "detail"),
    [
        (np.zeros(16000, np.float32), "silence"),
        (np.full(16000, np.nan, np.float32), "finite"),
        (np.ones((2, 16000), np.float32), "one channel"),
        (np.ones(100, np.float32), "at least 0.1 s"),
    ],
)
def test_audio_without_a_voice_is_refused(audio: Audio, detail: str) -> None:
    with pytest.raises(SottovoceError) as caught:
        prepare(audio, 16000)
    assert detail in str(caught.value)


# =============================================================================== networks in files


def test_a_swapped_or_damaged_file_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "other.onnx"
    path.write_bytes(b"not a network")
    with raises_code("mismatch", InputError):
        make_encoder(str(path), sha256="00" * 32)
    with raises_code("damaged", InputError) as caught:
        make_encoder(str(path)).embed(voice(120), 16000)
    assert "other.onnx" in str(caught.value)
    with raises_code("unreadable", InputError):
        make_encoder(str(tmp_path / "none.onnx"))


def test_an_encoder_by_the_path_of_its_file(encoder: OnnxEncoder, tmp_path: Path) -> None:
    path = tmp_path / "mine.onnx"
    path.write_bytes(encoder.path.read_bytes())
    mine = make_encoder(str(path), sha256=encoder.card.sha256)
    assert mine.card.name == "mine" and mine.card.dimension == 192
    np.testing.assert_array_equal(mine.embed(voice(120), 16000), encoder.embed(voice(120), 16000))
    with pytest.raises(UsageError) as caught:
        make_encoder("camplus")
    assert "did you mean 'campplus'" in str(caught.value)


def test_the_card_beside_a_file_names_the_training_speakers(
    encoder: OnnxEncoder, tmp_path: Path
) -> None:
    path = tmp_path / "mine.onnx"
    path.write_bytes(encoder.path.read_bytes())
    card = {
        "name": "my encoder",
        "licence": "CC0",
        "sha256": encoder.card.sha256,
        "speakers": ["ann", "bob"],
        "held_out_speakers": ["cyd"],
    }
    (tmp_path / "mine.json").write_text(json.dumps(card))
    mine = make_encoder(str(path))
    assert mine.trained_on == {"ann", "bob", "cyd"}
    assert WithoutPauses(mine).trained_on == mine.trained_on
    assert (mine.card.name, mine.card.licence, mine.card.origin) == (
        "my encoder",
        "CC0",
        "mine.onnx",
    )


@pytest.mark.parametrize(
    "content", ['{"speakers": ["ann"]}', '{"speakers": ["ann"], "sha256": "00"}', "[]", "{", ""]
)
def test_a_card_of_another_network_is_ignored(
    encoder: OnnxEncoder, content: str, tmp_path: Path
) -> None:
    path = tmp_path / "mine.onnx"
    path.write_bytes(encoder.path.read_bytes())
    (tmp_path / "mine.json").write_text(content)
    assert make_encoder(str(path)).trained_on == frozenset()


def _saved_network(path: Path, shape: list[object], axis: int, inputs: int = 1) -> None:
    """A network that averages its input over one axis."""
    onnx = pytest.importorskip("onnx")
    make, kind = onnx.helper, onnx.TensorProto.FLOAT
    input_list = [make.make_tensor_value_info(f"x{i}", kind, shape) for i in range(inputs)]
    outputs = [make.make_tensor_value_info("y", kind, ["n", "d"])]
    node = make.make_node("ReduceMean", ["x0"], ["y"], axes=[axis], keepdims=0)
    graph = make.make_graph([node], "mean", input_list, outputs)
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


def test_a_network_with_other_inputs_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "two.onnx"
    _saved_network(path, ["n", "t", 80], 1, inputs=2)
    with raises_code("unsupported", InputError):
        make_encoder(str(path)).embed(voice(150), 16000)


# ===================================================================================== Hugging Face

needs_packages = pytest.mark.skipif(
    find_spec("transformers") is None or find_spec("torch") is None,
    reason="needs transformers and torch",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny WavLM with random weights."""
    package = import_module("transformers")
    import_module("torch").manual_seed(0)
    config = package.WavLMConfig(
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        conv_dim=(8, 8),
        conv_kernel=(10, 8),
        conv_stride=(10, 8),
        num_conv_pos_embeddings=8,
        num_conv_pos_embedding_groups=2,
        tdnn_dim=(16, 16, 16, 16, 24),
        xvector_output_dim=12,
    )
    path = tmp_path_factory.mktemp("model")
    package.WavLMForXVector(config).save_pretrained(path)
    package.Wav2Vec2FeatureExtractor().save_pretrained(path)
    return path


@needs_packages
def test_a_model_in_a_folder(folder: Path) -> None:
    encoder = make_encoder(f"hf:{folder}")
    assert encoder.card.dimension == 12 and len(encoder.card.sha256) == 64
    assert encoder.trained_on == frozenset()
    audio = np.random.default_rng(0).normal(0, 0.1, 16000).astype(np.float32)
    vector = encoder.embed(audio, 16000)
    assert vector.shape == (12,) and vector.dtype == np.float32 and np.isfinite(vector).all()
    np.testing.assert_allclose(encoder.embed(audio * 0.5, 16000), vector, atol=1e-4)
    with pytest.raises(InputError) as caught:
        encoder.embed(0 * audio, 16000)
    assert "silence" in str(caught.value)


@needs_packages
def test_other_weights_in_a_folder_are_noticed(folder: Path, tmp_path: Path) -> None:
    with raises_code("mismatch", InputError):
        make_encoder(f"hf:{folder}", sha256="00" * 32)
    with raises_code("unreadable", InputError):
        make_encoder(f"hf:{tmp_path}")
    (tmp_path / HF_WEIGHTS).write_bytes(b"nothing")
    with raises_code("damaged", InputError):
        _ = HuggingFaceEncoder(tmp_path).card


def test_a_missing_package_is_named_with_the_line_to_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hugging_face, "find_spec", lambda _: None)
    with raises_code("missing-extra") as caught:
        make_encoder(f"hf:{tmp_path}")
    assert "pip install transformers torch" in str(caught.value)


# =========================================================================================== pauses


def test_vectors_without_pauses_have_another_card() -> None:
    plain = campplus()
    wrapped = WithoutPauses(plain)
    assert wrapped.card.sha256 != plain.card.sha256 and "pauses" in wrapped.card.name
    rng = np.random.default_rng(0)
    audio = (rng.normal(0, 0.1, 16000) * np.repeat([1.0, 1e-4], 8000)).astype(np.float32)
    expected = plain.embed(audio[:9800], 16000)
    assert cosine(wrapped.embed(audio, 16000), expected) > 0.95
