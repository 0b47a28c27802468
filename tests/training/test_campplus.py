"""CAM++ in torch computes what the shipped ONNX network computes, and can be written back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from error_codes import raises_code
from signals import noise

from sottovoce.core.errors import InputError
from sottovoce.corpus import load_audio, open_corpus
from sottovoce.corpus.demo import builtin_corpus
from sottovoce.speaker.encoders import OnnxEncoder, campplus, features, prepare

torch = pytest.importorskip("torch")
pytest.importorskip("onnx")
RATE = 16000


def test_the_same_vectors_as_the_shipped_network(tmp_path: Path) -> None:
    from sottovoce.training.campplus import load_campplus

    encoder = campplus()
    network = load_campplus(encoder.path)
    corpus = open_corpus(builtin_corpus(tmp_path, speakers=5, utterances=4))
    recordings = [load_audio(utterance, RATE) for utterance in corpus]
    recordings += [np.concatenate(recordings[:4])]  # several segments of the masks' context
    assert len(recordings) == 21 and len(recordings[-1]) > 5 * RATE
    for audio in recordings:
        banks = features(prepare(audio, RATE))[None]
        with torch.inference_mode():
            vectors = network(torch.from_numpy(banks)).numpy()
        np.testing.assert_allclose(vectors, encoder.run(banks), rtol=0, atol=1e-4)


def test_changed_weights_are_written_and_read_back(tmp_path: Path) -> None:
    from sottovoce.training.campplus import dump_campplus, load_campplus

    network = load_campplus(campplus().path)
    with torch.no_grad():
        for weight in network.parameters():
            weight *= 1 + 0.01 * torch.randn_like(weight)
        network.norm.running_mean += 0.5
    content = dump_campplus(network, campplus().path)
    assert content == dump_campplus(network, campplus().path)
    path = tmp_path / "changed.onnx"
    path.write_bytes(content)
    banks = features(noise(2.5, level=0.1, seed=0).astype(np.float32))[None]
    with torch.inference_mode():
        vectors = network(torch.from_numpy(banks)).numpy()
    np.testing.assert_allclose(OnnxEncoder(path).run(banks), vectors, rtol=1e-4, atol=1e-4)
    again = load_campplus(path)
    for name, weight in network.state_dict().items():
        assert torch.equal(weight, again.state_dict()[name]), name


def test_another_network_is_refused() -> None:
    from importlib.resources import files

    from sottovoce.training.campplus import load_campplus

    other = Path(str(files("sottovoce.anonymise.voice") / "models" / "xvector.onnx"))
    with raises_code("unsupported", InputError):
        load_campplus(other)
