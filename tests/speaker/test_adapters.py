"""Encoders of other packages, from local folders."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from sottovoce.core.errors import InputError, SottovoceError
from sottovoce.speaker import adapters
from sottovoce.speaker.adapters import HuggingFaceEncoder
from sottovoce.speaker.encoders import WithoutPauses, campplus, make_encoder

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
    audio = np.random.default_rng(0).normal(0, 0.1, 16000).astype(np.float32)
    vector = encoder.embed(audio, 16000)
    assert vector.shape == (12,) and vector.dtype == np.float32 and np.isfinite(vector).all()
    np.testing.assert_allclose(encoder.embed(audio * 0.5, 16000), vector, atol=1e-4)
    with pytest.raises(InputError, match="silence"):
        encoder.embed(0 * audio, 16000)


@needs_packages
def test_other_weights_than_were_meant(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="SHA-256"):
        make_encoder(f"hf:{folder}", sha256="00" * 32)
    with pytest.raises(InputError, match="cannot be read"):
        make_encoder(f"hf:{tmp_path}")
    (tmp_path / adapters.WEIGHTS).write_bytes(b"nothing")
    with pytest.raises(InputError, match="no model"):
        _ = HuggingFaceEncoder(tmp_path).card


def test_without_the_package_the_line_to_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adapters, "find_spec", lambda _: None)
    with pytest.raises(SottovoceError, match="pip install transformers torch"):
        make_encoder(f"hf:{tmp_path}")


def test_vectors_without_pauses_are_marked() -> None:
    plain = campplus()
    bare = WithoutPauses(plain)
    assert bare.card.sha256 != plain.card.sha256 and "pauses" in bare.card.name
    rng = np.random.default_rng(0)
    speech = rng.normal(0, 0.1, 16000) * np.repeat([1.0, 1e-4], 8000)
    audio = speech.astype(np.float32)
    only = plain.embed(audio[:9800], 16000)
    found = bare.embed(audio, 16000)
    assert found @ only > 0.95 * np.linalg.norm(found) * np.linalg.norm(only)
