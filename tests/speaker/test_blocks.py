"""Vectors of several encoders side by side: blocks in memory, in files and in digests."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from error_codes import raises_code
from signals import noise

from sottovoce.core.errors import InputError
from sottovoce.core.types import Audio, Vector
from sottovoce.speaker.blocks import Block
from sottovoce.speaker.concatenation import ConcatenatedEncoder, join_blocks, select_block
from sottovoce.speaker.embeddings import Embeddings
from sottovoce.speaker.encoders import EncoderCard
from sottovoce.speaker.readers import read_embeddings

BLOCKS = (Block("voice", 3), Block("pitch", 2))


class Counting:
    """An encoder whose vectors are the length of the audio times 1, 2, …."""

    def __init__(self, name: str, dimension: int, speakers: frozenset[str] = frozenset()) -> None:
        self.card = EncoderCard(name, dimension, "MIT", "here", name * 8)
        self.trained_on = speakers

    def embed(self, audio: Audio, rate: int) -> Vector:
        return np.arange(1, self.card.dimension + 1, dtype=np.float32) * np.float32(
            len(audio) / rate
        )


def blocked(seed: int = 0) -> Embeddings:
    vectors = np.random.default_rng(seed).normal(size=(6, 5))
    return Embeddings.of(vectors, list("aabbcc"), utterances=list("uvwxyz"), blocks=BLOCKS)


def test_a_block_is_its_columns_with_the_same_speakers() -> None:
    embeddings = blocked()
    pitch = select_block(embeddings, "pitch")
    np.testing.assert_array_equal(pitch.vectors, embeddings.vectors[:, 3:])
    assert pitch.blocks == ()
    assert pitch.utterances is not None
    assert pitch.utterances.tolist() == list("uvwxyz")
    assert embeddings.rows(np.array([0, 3])).blocks == BLOCKS


def test_blocks_survive_writing_and_reading(tmp_path: Path) -> None:
    embeddings = blocked()
    embeddings.write(tmp_path / "blocks.npz")
    read = read_embeddings(tmp_path / "blocks.npz")
    assert read.blocks == BLOCKS
    assert read.digest() == embeddings.digest()


def test_the_digest_covers_blocks_and_is_unchanged_without() -> None:
    embeddings = blocked()
    ids = list("uvwxyz")
    plain = Embeddings.of(embeddings.vectors, list("aabbcc"), utterances=ids)
    halves = [Block("voice", 2), Block("x", 3)]
    other = Embeddings.of(embeddings.vectors, list("aabbcc"), utterances=ids, blocks=halves)
    assert len({embeddings.digest(), plain.digest(), other.digest()}) == 3


def test_blocks_that_are_not_the_columns_are_refused() -> None:
    vectors = np.ones((2, 5))
    with raises_code("mismatch", InputError):
        Embeddings.of(vectors, ["a", "b"], blocks=[Block("voice", 3)])
    with raises_code("duplicate-id", InputError):
        Embeddings.of(vectors, ["a", "b"], blocks=[Block("voice", 3), Block("voice", 2)])


def test_a_file_with_half_of_the_blocks_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "half.npz"
    np.savez(path, vectors=np.ones((2, 5)), speakers=["a", "b"], blocks=["voice", "pitch"])
    with raises_code("wrong-shape", InputError):
        read_embeddings(path)


def test_a_concatenated_encoder_names_its_blocks_and_everyone_it_was_trained_on() -> None:
    encoder = ConcatenatedEncoder([Counting("voice", 3, frozenset({"ann"})), Counting("pitch", 2)])
    assert encoder.card.blocks == BLOCKS
    assert encoder.card.dimension == 5
    assert encoder.trained_on == {"ann"}
    np.testing.assert_allclose(
        encoder.embed(noise(1.0).astype(np.float32), 16_000), [1, 2, 3, 1, 2]
    )
    swapped = ConcatenatedEncoder(encoder.parts[::-1])
    assert swapped.card.sha256 != encoder.card.sha256


def test_joined_parts_equal_the_concatenated_encoder() -> None:
    whole = blocked()
    parts = [select_block(whole, block.name) for block in BLOCKS]
    joined = join_blocks(BLOCKS, parts)
    assert joined.digest() == whole.digest()
    with raises_code("mismatch", InputError):
        join_blocks(BLOCKS, [parts[0], parts[1].rows(np.array([1, 0, 2, 3, 4, 5]))])
    with raises_code("mismatch", InputError):
        join_blocks(BLOCKS, [parts[0], parts[1].rows(np.arange(5))])
