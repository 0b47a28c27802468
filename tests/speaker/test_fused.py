"""Fusion of blocks: weights by logistic regression, one product for all scores."""

from __future__ import annotations

import numpy as np
import pytest
from error_codes import raises_code
from scipy.optimize import minimize

from sottovoce.core.errors import TooFewError
from sottovoce.speaker.blocks import Block
from sottovoce.speaker.concatenation import select_block
from sottovoce.speaker.embeddings import Embeddings
from sottovoce.speaker.fused import Fused, fusion_weights
from sottovoce.speaker.linkage import make_linkage
from sottovoce.speaker.linkage_functions import LinkageFunction

BLOCKS = (Block("voice", 12), Block("pitch", 4), Block("nothing", 6))
STRENGTH = {"voice": 1.0, "pitch": 0.7, "nothing": 0.0}


def recordings(seed: int, speakers: int = 32, each: int = 8, prefix: str = "s") -> Embeddings:
    """Two blocks that tell speakers apart, independently, and one of noise."""
    rng = np.random.default_rng(seed)
    numbers = np.repeat(np.arange(speakers), each)
    columns = [
        STRENGTH[block.name] * rng.normal(size=(speakers, block.dimension))[numbers]
        + rng.normal(size=(len(numbers), block.dimension))
        for block in BLOCKS
    ]
    return Embeddings.of(
        np.hstack(columns) + 3, [f"{prefix}{number}" for number in numbers], blocks=BLOCKS
    )


def separation(linkage: LinkageFunction, unseen: Embeddings) -> float:
    """Distance between mated and non-mated scores in standard deviations."""
    scores = linkage.enrol(unseen.vectors, 1) @ linkage.trial(unseen.vectors, 1).T
    same = unseen.speakers[:, None] == unseen.speakers
    different = ~same
    np.fill_diagonal(same, val=False)
    return float((scores[same].mean() - scores[different].mean()) / scores[different].std())


@pytest.fixture(scope="module")
def fused() -> Fused:
    train = recordings(0)
    linkage = make_linkage("fused", train, like=train)
    assert isinstance(linkage, Fused)
    return linkage


def test_informative_blocks_have_weights_and_noise_has_almost_none(fused: Fused) -> None:
    weights = {part.block.name: part.weight for part in fused.blocks}
    unseen = recordings(1, prefix="u")
    contribution = {
        part.block.name: part.weight * float(np.std(_block_scores(fused, part.block.name, unseen)))
        for part in fused.blocks
    }
    assert min(weights.values()) >= 0
    assert contribution["voice"] > contribution["pitch"] > 4 * contribution["nothing"]


def _block_scores(fused: Fused, name: str, unseen: Embeddings) -> np.ndarray:
    part = next(part for part in fused.blocks if part.block.name == name)
    vectors = select_block(unseen, name).vectors
    return part.linkage.enrol(vectors, 1) @ part.linkage.trial(vectors, 1).T


def test_scores_are_the_weighted_sum_of_the_blocks(fused: Fused) -> None:
    unseen = recordings(2, prefix="u")
    scores = fused.enrol(unseen.vectors, 3) @ fused.trial(unseen.vectors, 3).T
    expected = sum(
        part.weight
        * (
            part.linkage.enrol(unseen.vectors[:, part.columns], 3)
            @ part.linkage.trial(unseen.vectors[:, part.columns], 3).T
        )
        for part in fused.blocks
    )
    np.testing.assert_allclose(scores, expected, rtol=1e-4, atol=1e-4)


def test_fusion_beats_every_block_alone(fused: Fused) -> None:
    unseen = recordings(3, prefix="u")
    alone = [
        separation(make_linkage("whitening", select_block(recordings(0), name), like=part), part)
        for name in ("voice", "pitch", "nothing")
        for part in [select_block(unseen, name)]
    ]
    assert separation(fused, unseen) > max(alone)


def test_vectors_without_blocks_are_one_block() -> None:
    whole = recordings(0)
    plain = Embeddings.of(whole.vectors, whole.names[whole.speakers])
    linkage = make_linkage("fused", plain, like=plain)
    assert isinstance(linkage, Fused)
    assert [part.block.dimension for part in linkage.blocks] == [22]


def test_too_few_speakers_are_refused() -> None:
    train = recordings(0, speakers=7)
    with raises_code("too-few", TooFewError):
        make_linkage("fused", train, like=train)


def test_weights_equal_a_slow_search_where_all_are_positive() -> None:
    rng = np.random.default_rng(5)
    mated = np.arange(600) < 200
    scores = rng.normal(size=(600, 2)) * [1, 5] + np.outer(mated, [1.0, 4.0])

    def loss(parameters: np.ndarray) -> float:
        scaled = (scores - scores.mean(0)) / scores.std(0)
        margins = np.where(mated, 1, -1) * (scaled @ parameters[:2] + parameters[2])
        costs = np.log1p(np.exp(-margins))
        means = costs[mated].mean() + costs[~mated].mean()
        return float(means / 2 + 1e-3 * (parameters[:2] ** 2).sum())

    slow = minimize(
        loss, np.zeros(3), method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-12}
    )
    expected = slow.x[:2] / scores.std(0)
    np.testing.assert_allclose(fusion_weights(scores, mated), expected, rtol=1e-3)


def test_a_block_that_misleads_gets_no_weight_and_one_block_always_has_some() -> None:
    mated = np.arange(400) < 100
    rng = np.random.default_rng(6)
    helpful, misleading = rng.normal(size=400) + mated, rng.normal(size=400) - mated
    weights = fusion_weights(np.column_stack([helpful, misleading]), mated)
    assert weights[0] > 0
    assert weights[1] == 0
    assert fusion_weights(misleading[:, None], mated).tolist() == [1.0]
