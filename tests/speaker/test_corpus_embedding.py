"""Embedding a corpus: resumable, no vector lost, bad recordings named."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import soundfile
from error_codes import raises_code
from signals import noise, write_audio

from sottovoce.cli import run
from sottovoce.core.errors import InputError
from sottovoce.core.types import Audio, Vector
from sottovoce.corpus import open_corpus
from sottovoce.speaker import corpus_embedding
from sottovoce.speaker.corpus_embedding import embed_corpus
from sottovoce.speaker.encoders import EncoderCard, prepare
from sottovoce.speaker.readers import read_embeddings


class CountingEncoder:
    """An encoder that is quick, repeatable and counts its calls."""

    card = EncoderCard("counting", 4, "none", "this test", "ab" * 32)
    trained_on: frozenset[str] = frozenset()

    def __init__(self, stop_after: int | None = None) -> None:
        self.calls = 0
        self.stop_after = stop_after

    def embed(self, audio: Audio, rate: int) -> Vector:
        if self.calls == self.stop_after:
            raise KeyboardInterrupt
        self.calls += 1
        audio = prepare(audio, rate)
        parts = [np.sqrt(np.mean(part**2)) for part in np.array_split(audio, 4)]
        return np.array(parts, np.float32)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "voices"
    for number, speaker in enumerate(("ann", "bob")):
        for i in range(5):
            audio = noise(0.5, seed=(number, i))
            write_audio(folder / speaker / f"{speaker}{i}.wav", audio)
    return folder


@pytest.mark.parametrize("name", ["out.npz", "OUT.NPZ"])
def test_vectors_in_the_order_of_the_corpus(name: str, corpus: Path, tmp_path: Path) -> None:
    target = tmp_path / name
    summary = embed_corpus(open_corpus(corpus), CountingEncoder(), target)
    assert (summary.count, summary.resumed, summary.bad) == (10, 0, ())
    embeddings = read_embeddings(target)
    assert embeddings.names.tolist() == ["ann", "bob"] and embeddings.dimension == 4
    ids = [utterance.id for utterance in open_corpus(corpus)]
    assert embeddings.utterances is not None and embeddings.utterances.tolist() == ids
    assert sorted(path.name for path in tmp_path.iterdir()) == [name, "voices"]


def test_a_stopped_run_goes_on(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpus_embedding, "BATCH", 3)
    target = tmp_path / "out.npz"
    with pytest.raises(KeyboardInterrupt):
        embed_corpus(open_corpus(corpus), CountingEncoder(stop_after=7), target, jobs=1)
    assert not target.exists()
    second = CountingEncoder()
    summary = embed_corpus(open_corpus(corpus), second, target, jobs=1)
    assert summary.count == 10 and summary.resumed >= 3 and second.calls == 10 - summary.resumed
    uninterrupted = tmp_path / "whole.npz"
    embed_corpus(open_corpus(corpus), CountingEncoder(), uninterrupted)
    np.testing.assert_array_equal(
        read_embeddings(target).vectors, read_embeddings(uninterrupted).vectors
    )


def test_a_changed_recording_is_embedded_anew(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpus_embedding, "BATCH", 2)
    target = tmp_path / "out.npz"
    with pytest.raises(KeyboardInterrupt):
        embed_corpus(open_corpus(corpus), CountingEncoder(stop_after=6), target, jobs=1)
    soundfile.write(corpus / "ann" / "ann0.wav", np.random.default_rng(9).normal(0, 1, 9000), 16000)
    second = CountingEncoder()
    summary = embed_corpus(open_corpus(corpus), second, target, jobs=1)
    assert second.calls == 10 - summary.resumed and summary.resumed in (3, 5)


def test_bad_recordings_are_named_and_the_rest_is_kept(corpus: Path, tmp_path: Path) -> None:
    (corpus / "ann" / "ann1.wav").write_bytes(b"")
    soundfile.write(corpus / "bob" / "bob2.wav", np.zeros(8000), 16000)
    target = tmp_path / "out.npz"
    with raises_code("bad-recordings", InputError) as caught:
        embed_corpus(open_corpus(corpus), CountingEncoder(), target)
    message = str(caught.value)
    assert "2 of 10 recordings" in message and "--skip-bad" in message
    assert message.index("ann1.wav") < message.index("bob2.wav")
    assert not target.exists()
    second = CountingEncoder()
    summary = embed_corpus(open_corpus(corpus), second, target, skip_bad=True)
    assert summary.count == 8 and len(summary.bad) == 2 and second.calls == 0
    assert np.isfinite(read_embeddings(target).vectors).all()


def test_the_command_with_the_real_encoder(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "out.npz"
    assert run(["embed", str(corpus), str(target), "--json", "-"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["vectors"] == 10
    assert printed["provenance"]["settings"]["encoder"]["licence"] == "Apache-2.0"
    assert read_embeddings(target).vectors.shape == (10, 192)
    assert run(["embed", "--list"]) == 0
    assert "campplus: 192 dimensions, Apache-2.0" in capsys.readouterr().out
    out = str(tmp_path / "out.npz")
    for wrong in (
        ["embed"],
        ["embed", str(corpus), str(tmp_path / "out.txt")],
        ["embed", str(corpus), out, "--split", "enrol"],
        ["embed", str(corpus), out, "--jobs", "0"],
    ):
        assert run(wrong) == 2
        assert capsys.readouterr().err.count("\n") == 1
