"""Learnt linear maps: the gradient, whitening, and the gain over cosine."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from error_codes import raises_code
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import approx_fprime

from sottovoce.core.errors import TooFewError
from sottovoce.measure import Scores, eer
from sottovoce.speaker import Cosine, Embeddings, LinkageFunction
from sottovoce.speaker.linkage_functions import (
    SCALE,
    Projected,
    _Loss,
    fit_projection,
    fit_whitening,
)

Floats = NDArray[np.float64]


def voices(
    seed: int, speakers: int = 30, each: int = 6, size: int = 16, directions: int = 4
) -> Embeddings:
    """Speakers differ in a few directions, the same for all seeds; recordings most in others."""
    rng, fixed = np.random.default_rng(seed), np.random.default_rng(99)
    turn = np.linalg.qr(fixed.normal(size=(size, size)))[0]
    places = np.zeros((speakers, size))
    places[:, :directions] = rng.normal(size=(speakers, directions))
    spread = np.r_[np.full(directions, 0.3), np.full(size - directions, 2.0)]
    who = np.repeat(np.arange(speakers), each)
    vectors = (places[who] + spread * rng.normal(size=(len(who), size))) @ turn + 1.0
    return Embeddings.of(vectors, [f"{speaker:03}" for speaker in who])


def eer_of(linkage: LinkageFunction, embeddings: Embeddings) -> float:
    """EER of the first half of each speaker's recordings against each of the others."""
    table = embeddings.vectors.reshape(len(embeddings.names), -1, embeddings.dimension)
    half = table.shape[1] // 2
    models = linkage.enrol(table[:, :half].mean(1), half)
    trials = linkage.trial(table[:, half:].reshape(-1, embeddings.dimension), half)
    scores = models @ trials.T
    mated = np.arange(len(table))[:, None] == np.repeat(np.arange(len(table)), half)
    return eer(Scores(scores[mated], scores[~mated]))


def slow_loss(
    vectors: Floats, speakers: NDArray[np.int64], matrix: Floats, start: Floats, penalty: float
) -> float:
    """The loss as it is defined, one recording at a time."""

    def cosine(first: Floats, second: Floats) -> float:
        a, b = first @ matrix, second @ matrix
        return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))

    total, count = 0.0, 0
    for i, speaker in enumerate(speakers):
        others = [j for j in np.flatnonzero(speakers == speaker) if j != i]
        if not others:
            continue
        logits = []
        for candidate in range(speakers.max() + 1):
            rows = others if candidate == speaker else np.flatnonzero(speakers == candidate)
            logits.append(SCALE * cosine(vectors[i], vectors[rows].mean(0)))
        total += np.log(np.exp(np.array(logits)).sum()) - logits[speaker]
        count += 1
    return total / count + penalty / len(start) * float(np.square(matrix - start).sum()) / 2


# ===================================================================================== the gradient


@settings(max_examples=15)
@given(st.integers(0, 1000), st.sampled_from([0.0, 0.1, 3.0]))
def test_loss_is_the_definition_and_its_gradient_that_of_finite_differences(
    seed: int, penalty: float
) -> None:
    rng = np.random.default_rng(seed)
    speakers = np.repeat(np.arange(4), [1, 2, 3, 4])  # a single recording counts as a rival only
    vectors = rng.normal(size=(10, 3)) + 2 * rng.normal(size=(4, 3))[speakers]
    start, matrix = rng.normal(size=(2, 3, 3))
    loss = _Loss(vectors, speakers, start, penalty)
    value, gradient = loss(matrix.ravel())
    assert value == pytest.approx(slow_loss(vectors, speakers, matrix, start, penalty))
    numeric = approx_fprime(matrix.ravel(), lambda flat: loss(flat)[0], 1e-7)
    np.testing.assert_allclose(gradient, numeric, atol=1e-4 * max(1.0, np.abs(numeric).max()))


# ======================================================================================== whitening


def within(embeddings: Embeddings, linkage: Projected) -> Floats:
    """Covariance within speakers after the map, without bringing to length one."""
    moved = (embeddings.vectors - linkage.centre) @ linkage.matrix
    means = np.array([moved[embeddings.speakers == s].mean(0) for s in range(30)])
    rest = moved - means[embeddings.speakers]
    return np.asarray(rest.T @ rest / (len(rest) - len(means)))


def test_whitening_makes_a_sphere_of_what_varies_within_speakers() -> None:
    train = voices(0)
    np.testing.assert_allclose(
        within(train, fit_whitening(train, shrinkage=0.0)), np.eye(16), atol=1e-4
    )
    half = within(train, fit_whitening(train, shrinkage=0.5))
    assert np.linalg.eigvalsh(half).max() > 1.2  # half-way only


def test_full_shrinkage_is_cosine_from_the_centre() -> None:
    train, unseen = voices(0), voices(1)
    white, cosine = fit_whitening(train, shrinkage=1.0), Cosine(train.vectors.mean(0))
    np.testing.assert_allclose(
        white.enrol(unseen.vectors, 1), cosine.enrol(unseen.vectors, 1), atol=1e-5
    )


def test_whitening_works_with_fewer_vectors_than_dimensions() -> None:
    train = voices(0, speakers=4, each=3, size=40)
    for shrinkage in (0.0, 0.5):
        assert np.isfinite(fit_whitening(train, shrinkage=shrinkage).enrol(train.vectors)).all()


@pytest.mark.parametrize("seed", [1300, 1957, 2049, 2343])
def test_whitening_of_many_equal_variances(seed: int) -> None:
    """SciPy's solver gave up on these, on processors without AVX-512."""
    rng = np.random.default_rng(seed)
    rest = rng.normal(size=(14, 192)) * rng.exponential(1, 192)
    rest /= np.linalg.norm(rest, axis=1, keepdims=True)
    train = Embeddings.of(np.r_[rest, -rest], [f"{speaker:02}" for speaker in range(14)] * 2)
    assert np.isfinite(fit_whitening(train, shrinkage=0.1).enrol(train.vectors)).all()


# ========================================================================================= training


def test_training_helps_with_unseen_speakers() -> None:
    train, unseen = voices(0), voices(1)
    plain = eer_of(Cosine(train.vectors.mean(0)), unseen)
    white = eer_of(fit_whitening(train, shrinkage=0.2), unseen)
    trained = eer_of(fit_projection(train, shrinkage=0.9, penalty=0.1), unseen)
    assert plain > 0.25  # there is something to gain
    assert white < plain - 0.1 and trained < plain - 0.1


def test_training_improves_on_where_it_starts() -> None:
    train, unseen = voices(0), voices(1)
    start = fit_projection(train, shrinkage=0.9, iterations=0)
    trained = fit_projection(train, shrinkage=0.9, penalty=0.1)
    assert eer_of(trained, unseen) < eer_of(start, unseen) - 0.05


def test_a_heavy_penalty_keeps_the_map_where_it_starts() -> None:
    train = voices(0, speakers=8)
    white = fit_whitening(train, shrinkage=0.5)
    held = fit_projection(train, shrinkage=0.5, penalty=1e9)
    np.testing.assert_allclose(
        held.enrol(train.vectors), white.enrol(train.vectors), atol=1e-4
    )  # cosine does not see the scale
    assert (white.name, held.name) == ("whitening", "projection")


@pytest.mark.parametrize("fit", [fit_whitening, fit_projection])
@pytest.mark.parametrize("speakers", [["a"] * 6, list("abcdef")])
def test_too_few_speakers_or_vectors(
    fit: Callable[[Embeddings], Projected], speakers: list[str]
) -> None:
    vectors = np.random.default_rng(0).normal(size=(6, 3))
    with raises_code("too-few", TooFewError) as caught:
        fit(Embeddings.of(vectors, speakers, name="few"))
    assert str(caught.value).startswith("few: 6 vectors of ")


@pytest.mark.parametrize("fit", [fit_whitening, fit_projection])
def test_equal_vectors_of_a_speaker_are_refused(fit: Callable[[Embeddings], Projected]) -> None:
    vectors = np.repeat(np.random.default_rng(0).normal(size=(3, 4)), 2, axis=0)
    with raises_code("constant", TooFewError):
        fit(Embeddings.of(vectors, list("aabbcc"), name="twice"))
