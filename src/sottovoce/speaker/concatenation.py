"""Several encoders as one, whose vectors are made of blocks."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sottovoce.core.errors import InputError
from sottovoce.core.types import Audio, Vector
from sottovoce.signal.fbank import RATE
from sottovoce.speaker.blocks import Block, block_columns
from sottovoce.speaker.embeddings import Embeddings
from sottovoce.speaker.encoders import Encoder, EncoderCard


class ConcatenatedEncoder:
    """Joins the vectors of several encoders; each is a block of the result.

    Parameters
    ----------
    parts : sequence of Encoder
        At least one; a block has the name of its encoder.
    """

    def __init__(self, parts: Sequence[Encoder]) -> None:
        self.parts = tuple(parts)
        """The encoders, which a cache may run one by one (see :func:`join_blocks`)."""
        cards = [part.card for part in self.parts]
        self.blocks = tuple(Block(card.name, card.dimension) for card in cards)
        """Name and dimension of the vectors of each part."""
        self.card = _joined_card(cards, self.blocks)

    @property
    def trained_on(self) -> frozenset[str]:
        """Speakers that any of the encoders was trained on."""
        return frozenset().union(*(part.trained_on for part in self.parts))

    def embed(self, audio: Audio, rate: int = RATE) -> Vector:
        """Embed a recording with every encoder.

        Parameters
        ----------
        audio : array of float32
            Samples of one channel, at least 0.1 s and not silent.
        rate : int, default 16000
            Samples per second.
        """
        return np.concatenate([part.embed(audio, rate) for part in self.parts])


def _joined_card(cards: Sequence[EncoderCard], blocks: tuple[Block, ...]) -> EncoderCard:
    return EncoderCard(
        name=" + ".join(card.name for card in cards),
        dimension=sum(card.dimension for card in cards),
        licence="; ".join(dict.fromkeys(card.licence for card in cards)),
        origin="; ".join(dict.fromkeys(card.origin for card in cards)),
        sha256=hashlib.sha256(" ".join(card.sha256 for card in cards).encode()).hexdigest(),
        blocks=blocks,
    )


def join_blocks(blocks: Sequence[Block], sets: Sequence[Embeddings]) -> Embeddings:
    """Put embeddings of the same recordings side by side.

    Parameters
    ----------
    blocks : sequence of Block
        Name and dimension of each set, as the card of the concatenated encoder has them.
    sets : sequence of Embeddings
        The same recordings in the same order, each with another encoder.

    Raises
    ------
    InputError
        ``mismatch`` where the recordings differ.
    """
    first = sets[0]
    for other in sets[1:]:
        same = len(other) == len(first) and np.array_equal(
            other.names[other.speakers], first.names[first.speakers]
        )
        if not same or not _same_ids(first, other):
            raise InputError(
                f"{other.origin}: other recordings than {first.origin}; embed the same corpus "
                "with all encoders",
                code="mismatch",
            )
    return Embeddings.of(
        np.hstack([embeddings.vectors for embeddings in sets]),
        first.names[first.speakers],
        utterances=first.utterances,
        gender=first.gender,
        draws=first.draws,
        blocks=blocks,
        name=first.name,
        origin=first.origin,
    )


def select_block(embeddings: Embeddings, name: str) -> Embeddings:
    """Return the vectors of one block alone.

    Parameters
    ----------
    embeddings : Embeddings
        Vectors made of blocks.
    name : str
        Name of one of its blocks.
    """
    columns = next(at for block, at in block_columns(embeddings.blocks) if block.name == name)
    vectors = np.ascontiguousarray(embeddings.vectors[:, columns])
    origin = f"{embeddings.origin} ({name})"
    return replace(embeddings, vectors=vectors, origin=origin, blocks=())


def _same_ids(first: Embeddings, second: Embeddings) -> bool:
    if first.utterances is None or second.utterances is None:
        return first.utterances is second.utterances
    return np.array_equal(first.utterances, second.utterances)
