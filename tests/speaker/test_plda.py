"""PLDA: scores by definition, training by EM, and the gain over cosine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from error_codes import raises_code
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import multivariate_normal, spearmanr

from sottovoce.core.errors import InputError, TooFewError
from sottovoce.measure import Scores, eer
from sottovoce.speaker import Cosine, Embeddings, LinkageFunction, Plda
from sottovoce.speaker.embeddings import BLOCK
from sottovoce.speaker.plda import SCORING_BLOCK, enrol_rows, trial_rows
from sottovoce.speaker.plda_training import LEAST_PSI, Statistics, moments

Floats = NDArray[np.float64]


def covariance(rng: np.random.Generator, size: int, scale: float = 1.0) -> Floats:
    root = rng.normal(size=(size, 2 * size))
    return np.asarray(scale * root @ root.T / (2 * size))


def draw(
    seed: int,
    counts: Any,
    between: Floats,
    within: Floats,
    mean: float = 0.0,
) -> Embeddings:
    """Vectors of the two-covariance model: ``counts`` of each speaker."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(len(counts)), counts)
    zero = np.zeros(len(between))
    places = rng.multivariate_normal(zero, between, len(counts))
    return Embeddings.of(mean + places[who] + rng.multivariate_normal(zero, within, len(who)), who)


def small(seed: int = 0, size: int = 3, **options: Any) -> tuple[Embeddings, Plda]:
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 6, 40)
    voices = draw(seed, counts, covariance(rng, size, 2.0), covariance(rng, size), mean=1.0)
    return voices, Plda.fit(voices, **{"length_norm": False, **options})


def covariances(plda: Plda) -> tuple[Floats, Floats]:
    """B and W, from VᵀBV = diag(ψ) and VᵀWV = I."""
    back = np.linalg.inv(plda.transform)
    return back.T @ np.diag(plda.psi) @ back, back.T @ back


def direct_llr(plda: Plda, enrolled: Floats, trial: Floats) -> float:
    """Density of all vectors stacked, if one speaker speaks, over that if two do."""
    between, within = covariances(plda)

    def log_density(vectors: Floats) -> float:
        n = len(vectors)
        spread = np.kron(np.ones((n, n)), between) + np.kron(np.eye(n), within)
        return float(multivariate_normal(np.zeros(spread.shape[0]), spread).logpdf(vectors.ravel()))

    moved = plda.frontend(np.vstack((enrolled, trial))) - plda.mean
    return log_density(moved) - log_density(moved[:-1]) - log_density(moved[-1:])


# ======================================================================================== scoring


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("seed", [0, 1])
def test_score_is_the_ratio_of_densities(n: int, seed: int) -> None:
    _, plda = small(seed)
    rng = np.random.default_rng(seed)
    enrolled = rng.normal(1, 2, (4, n, 3)).astype(np.float32).astype(np.float64)
    trials = rng.normal(1, 2, (5, 3)).astype(np.float32).astype(np.float64)
    expected = [[direct_llr(plda, some, trial) for trial in trials] for some in enrolled]
    means = (enrolled.mean(1) - plda.frontend.centre - plda.mean) @ plda.transform
    points = (trials - plda.frontend.centre - plda.mean) @ plda.transform
    for counts in (np.array(n), np.full(4, n)):
        exact = enrol_rows(means, counts, plda.psi) @ trial_rows(points, counts, plda.psi).T
        np.testing.assert_allclose(exact, expected, rtol=0, atol=1e-9)
    for given_counts in (n, np.full(4, n)):
        models = plda.enrol(enrolled.mean(1).astype(np.float32), given_counts)
        table = plda.trial(trials.astype(np.float32), given_counts)
        np.testing.assert_allclose(models @ table.T, expected, rtol=1e-5, atol=1e-4)


def test_one_utterance_is_scored_by_definition_after_length_normalisation() -> None:
    voices, plda = small(3, size=4, lda=3, length_norm=True)
    some = voices.vectors[:6]
    scores = plda.enrol(some, 1) @ plda.trial(some, 1).T
    exact = some.astype(np.float64)
    expected = [[direct_llr(plda, a[None], b[None]) for b in exact] for a in exact]
    np.testing.assert_allclose(scores, expected, atol=1e-4)
    np.testing.assert_allclose(np.square(plda.frontend(some)).sum(1), 3.0)
    np.testing.assert_allclose(scores, scores.T, atol=1e-4)  # symmetric for one utterance


def test_mixed_counts_agree_with_equal_ones() -> None:
    voices, plda = small()
    counts = np.random.default_rng(0).integers(1, 9, len(voices))
    mixed = plda.enrol(voices.vectors, counts) @ plda.trial(voices.vectors, counts).T
    for n in range(1, 9):
        equal = plda.enrol(voices.vectors, n) @ plda.trial(voices.vectors, n).T
        np.testing.assert_allclose(mixed[counts == n], equal[counts == n], atol=1e-4)


def test_tables_have_the_promised_widths_and_blocks_do_not_show() -> None:
    _, plda = small()
    many = np.random.default_rng(0).normal(size=(2 * SCORING_BLOCK + 3, 3)).astype(np.float32)
    counts = np.arange(len(many)) % 7 + 1
    linkage: LinkageFunction = plda
    cases: list[tuple[Any, int]] = [(2, 5), (np.int64(2), 5), (counts, 7)]
    for given_counts, width in cases:
        models, trials = linkage.enrol(many, given_counts), linkage.trial(many, given_counts)
        assert models.shape == trials.shape == (len(many), width)
        assert models.dtype == trials.dtype == np.float32
    last = slice(SCORING_BLOCK, None)
    np.testing.assert_array_equal(
        plda.enrol(many, counts)[last], plda.enrol(many[last], counts[last])
    )


def test_scores_do_not_depend_on_the_basis_of_the_vectors() -> None:
    voices, plda = small(1)
    mix = np.random.default_rng(0).normal(size=(3, 3))
    turned = Embeddings.of(voices.vectors @ mix + 5, voices.names[voices.speakers])
    other = Plda.fit(turned, length_norm=False)
    scores = plda.enrol(voices.vectors, 1) @ plda.trial(voices.vectors, 1).T
    turned_scores = other.enrol(turned.vectors, 1) @ other.trial(turned.vectors, 1).T
    np.testing.assert_allclose(scores, turned_scores, rtol=1e-4, atol=2e-3)


# ======================================================================================= training


@given(
    seed=st.integers(0, 10_000),
    size=st.integers(1, 5),
    speakers=st.integers(2, 25),
    length_norm=st.booleans(),
)
def test_likelihood_never_falls(seed: int, size: int, speakers: int, length_norm: bool) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 7, speakers)
    counts[0] += size
    scale = 10.0 ** rng.uniform(-2, 2)
    voices = draw(seed, counts, covariance(rng, size, scale), covariance(rng, size))
    log_likelihoods = np.array(
        Plda.fit(voices, length_norm=length_norm and size > 1, iterations=15).log_likelihoods
    )
    assert len(log_likelihoods) == 16 and np.isfinite(log_likelihoods).all()
    assert (np.diff(log_likelihoods) >= -1e-9 * np.abs(log_likelihoods[:-1])).all()


def test_likelihood_is_the_density_of_the_data() -> None:
    voices, plda = small(2, iterations=4)
    between, within = covariances(plda)
    moved = plda.frontend(voices.vectors) - plda.mean
    total = 0.0
    for speaker in range(len(voices.names)):
        vectors = moved[voices.speakers == speaker]
        n = len(vectors)
        spread = np.kron(np.ones((n, n)), between) + np.kron(np.eye(n), within)
        total += multivariate_normal(np.zeros(3 * n), spread).logpdf(vectors.ravel())
    assert plda.log_likelihoods[-1] == pytest.approx(total, rel=1e-5)  # the ridge counts too


@pytest.mark.parametrize("iterations", [0, 10])
def test_the_true_covariances_are_recovered(iterations: int) -> None:
    rng = np.random.default_rng(7)
    between, within = covariance(rng, 4, 3.0), covariance(rng, 4)
    voices = draw(8, rng.integers(2, 12, 3000), between, within, mean=-2.0)
    plda = Plda.fit(voices, length_norm=False, iterations=iterations)
    found_between, found_within = covariances(plda)
    assert np.linalg.norm(found_between - between) < 0.06 * np.linalg.norm(between)
    assert np.linalg.norm(found_within - within) < 0.03 * np.linalg.norm(within)
    assert (np.diff(plda.psi) <= 0).all()


def test_moments_are_right_on_average_with_few_and_unequal_speakers() -> None:
    between, within = np.array([[100.0]]), np.array([[1.0]])
    variances = []
    for seed in range(600):
        voices = draw(seed, [1, 2, 20], between, within, mean=3.0)
        model = moments(Statistics.of(voices, lambda v: v.astype(np.float64)))
        variances.append(model.psi[0] / model.transform[0, 0] ** 2)
    assert np.mean(variances) == pytest.approx(100, rel=0.15)


def test_em_finds_the_likeliest_model_where_it_is_known() -> None:
    """Equal counts have a closed form: W = S_w/(N − S), W + nB = n Σ z zᵀ / S."""
    rng = np.random.default_rng(9)
    between, within = covariance(rng, 3, 4.0), covariance(rng, 3)
    voices = draw(9, np.full(200, 5), between, within)
    plda = Plda.fit(voices, length_norm=False, iterations=200)
    data = Statistics.of(voices, plda.frontend)
    found_between, found_within = covariances(plda)
    np.testing.assert_allclose(found_within, data.within / data.beyond, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(
        found_within + 5 * found_between, 5 * data.means.T @ data.means / 200, rtol=1e-4, atol=1e-5
    )


def test_statistics_are_the_same_over_several_blocks() -> None:
    rng = np.random.default_rng(0)
    who = rng.integers(0, 50, BLOCK + 100)
    vectors = rng.normal(size=(len(who), 2)).astype(np.float32) + 3
    data = Statistics.of(Embeddings.of(vectors, who), lambda v: v.astype(np.float64))
    exact = vectors.astype(np.float64)
    means = np.array([exact[who == s].mean(0) for s in range(50)])
    rest = exact - means[np.unique(who, return_inverse=True)[1]]
    order = np.argsort([str(s) for s in range(50)])  # names are sorted as text
    np.testing.assert_allclose(data.mean, exact.mean(0))
    np.testing.assert_allclose(data.means, means[order] - exact.mean(0), atol=1e-12)
    np.testing.assert_allclose(data.within, rest.T @ rest, rtol=1e-5, atol=1e-5 * len(who))


def test_a_constant_coordinate_changes_nothing() -> None:
    voices, _ = small(4)
    padded = np.hstack((voices.vectors, np.full((len(voices), 1), 7, np.float32)))
    wider = Plda.fit(Embeddings.of(padded, voices.speakers), length_norm=False)
    plain = Plda.fit(Embeddings.of(voices.vectors, voices.speakers), length_norm=False)
    plain_scores = plain.enrol(voices.vectors, 2) @ plain.trial(voices.vectors, 2).T
    wider_scores = wider.enrol(padded, 2) @ wider.trial(padded, 2).T
    np.testing.assert_allclose(plain_scores, wider_scores, atol=2e-3)


def test_no_direction_starts_without_variance_between_speakers() -> None:
    rng = np.random.default_rng(0)
    voices = Embeddings.of(rng.normal(size=(200, 4)), np.arange(200) % 20)
    assert moments(Statistics.of(voices, lambda v: v.astype(np.float64))).psi.min() == LEAST_PSI


# ============================================================================ the gain over cosine


def eer_of(linkage: LinkageFunction, voices: Embeddings, enrolled: int) -> float:
    """EER of models of the first ``enrolled`` vectors of each speaker against the last one."""
    by_speaker = voices.vectors.reshape(len(voices.names), -1, voices.dimension)
    models = linkage.enrol(by_speaker[:, :enrolled].mean(1), enrolled)
    scores = models @ linkage.trial(by_speaker[:, -1], enrolled).T
    same = np.eye(len(scores), dtype=bool)
    return eer(Scores(scores[same], scores[~same]))


def nuisance(seed: int) -> Embeddings:
    """Speakers differ in all of 20 directions, recordings vary most in 4 of them."""
    within = np.diag(np.r_[np.full(4, 50.0), np.full(16, 1.0)])
    voices = draw(seed, np.full(150, 8), 0.7 * np.eye(20), within)
    order = np.argsort(voices.speakers, kind="stable")
    return Embeddings.of(voices.vectors[order], [f"{s:03}" for s in voices.speakers[order]])


@pytest.mark.parametrize(
    "options", [{}, {"length_norm": False}, {"lda": 16}, {"lda": 16, "length_norm": False}]
)
def test_plda_ignores_the_variation_within_speakers(options: dict[str, Any]) -> None:
    plda, unseen = Plda.fit(nuisance(0), **options), nuisance(1)
    cosine = Cosine(plda.frontend.centre)
    for enrolled in (1, 5):
        assert eer_of(plda, unseen, enrolled) < 0.8 * eer_of(cosine, unseen, enrolled)


@pytest.mark.parametrize("length_norm", [True, False])
def test_more_enrolment_utterances_link_better(length_norm: bool) -> None:
    plda, unseen = Plda.fit(nuisance(0), length_norm=length_norm), nuisance(1)
    rates = [eer_of(plda, unseen, enrolled) for enrolled in (1, 2, 6)]
    assert rates[0] > rates[1] > rates[2]


def test_a_mean_of_several_has_the_length_such_means_have() -> None:
    plda, unseen = Plda.fit(nuisance(0)), nuisance(1)
    by_speaker = unseen.vectors.reshape(150, 8, 20)
    means = plda.frontend(unseen.vectors).reshape(150, 8, 20)[:, :4].mean(1)
    typical = np.square((means - plda.mean) @ plda.transform).sum()
    between, within = covariances(plda)
    assert plda.share == pytest.approx(np.trace(between) / np.trace(between + within))
    model = plda._coordinates(by_speaker[:, :4].mean(1), np.array(4))
    assert np.square(model).sum() == pytest.approx(typical, rel=0.1)


def test_lda_keeps_the_directions_that_tell_speakers_apart() -> None:
    rng = np.random.default_rng(0)
    between = np.diag([4.0, 0.0, 0.0, 4.0, 0.0, 0.0])
    voices = draw(0, np.full(300, 5), between, covariance(rng, 6))
    projection = Plda.fit(voices, lda=2).frontend.projection
    assert projection is not None and projection.shape == (6, 2)
    moved = Statistics.of(voices, lambda v: v @ projection)
    np.testing.assert_allclose(moved.within / moved.beyond, np.eye(2), atol=1e-5)
    whole = Statistics.of(voices, lambda v: v.astype(np.float64))
    ratio = np.linalg.eigvals(np.linalg.solve(whole.within, whole.between)).real
    kept = np.diag(moved.between) / np.diag(moved.within)
    np.testing.assert_allclose(np.sort(kept), np.sort(ratio)[-2:], rtol=1e-4)


def test_lda_works_with_fewer_vectors_than_dimensions() -> None:
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(12), 3)
    voices = Embeddings.of(3 * rng.normal(size=(12, 60))[who] + rng.normal(size=(36, 60)), who)
    plda = Plda.fit(voices, lda=5)
    scores = plda.enrol(voices.vectors, 1) @ plda.trial(voices.vectors, 1).T
    same = who[:, None] == who
    assert np.isfinite(scores).all() and scores[same].mean() > 0 > scores[~same].mean()


# ====================================================================================== shrinkage


def all_scores(linkage: LinkageFunction, vectors: NDArray[np.float32], n: int = 1) -> Floats:
    return np.asarray(linkage.enrol(vectors, n) @ linkage.trial(vectors, n).T, np.float64)


def test_no_shrinkage_changes_nothing() -> None:
    voices, plda = small(length_norm=True)
    again = Plda.fit(voices, shrinkage=0.0)
    np.testing.assert_array_equal(again.transform, plda.transform)
    np.testing.assert_array_equal(again.psi, plda.psi)
    assert again.share == plda.share
    little = Plda.fit(voices, shrinkage=1e-9)
    np.testing.assert_allclose(
        all_scores(little, voices.vectors), all_scores(plda, voices.vectors), atol=1e-4
    )


@pytest.mark.parametrize("amount", [0.2, 0.7])
def test_shrinkage_mixes_both_covariances_with_spheres(amount: float) -> None:
    voices, plain = small(1)
    shrunk = Plda.fit(voices, length_norm=False, shrinkage=amount)
    for mixed, full in zip(covariances(shrunk), covariances(plain), strict=True):
        sphere = np.trace(full) / len(full) * np.eye(len(full))
        np.testing.assert_allclose(mixed, (1 - amount) * full + amount * sphere, atol=1e-9)
    assert shrunk.share == pytest.approx(plain.share)  # traces stay


def test_shrunk_to_spheres_pairs_are_ordered_as_by_cosine() -> None:
    voices, unseen = nuisance(0), nuisance(1)
    some = unseen.vectors[:60]
    cosine = all_scores(Cosine(voices.vectors.mean(0)), some).ravel()
    likeness = [
        spearmanr(all_scores(Plda.fit(voices, shrinkage=s), some).ravel(), cosine).statistic
        for s in (0.0, 0.5, 1 - 1e-9)
    ]
    assert likeness[0] < likeness[1] < likeness[2]
    assert likeness[2] > 0.999


def test_shrinkage_works_with_fewer_vectors_than_dimensions() -> None:
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(12), 3)
    places = rng.normal(size=(24, 60))
    train = Embeddings.of(3 * places[who] + rng.normal(size=(36, 60)), who)
    unseen = 3 * places[12 + who] + rng.normal(size=(36, 60))
    same = who[:, None] == who
    for shrinkage in (0.2, 0.95):
        scores = all_scores(Plda.fit(train, shrinkage=shrinkage), unseen.astype(np.float32))
        assert np.isfinite(scores).all() and scores[same].mean() > scores[~same].max()


@pytest.mark.parametrize("shrinkage", [-0.1, 1.0, 2.0, float("nan")])
def test_shrinkage_out_of_range(shrinkage: float) -> None:
    voices, _ = small()
    with raises_code("out-of-range", InputError):
        Plda.fit(voices, shrinkage=shrinkage)


# ========================================================================================= checks


@pytest.mark.parametrize("options", [{}, {"lda": 2, "length_norm": True}])
def test_saved_and_loaded(options: dict[str, Any], tmp_path: Path) -> None:
    voices, plda = small(**options)
    plda.save(tmp_path / "new" / "plda.npz")
    again = Plda.load(tmp_path / "new" / "plda.npz")
    assert [p.name for p in (tmp_path / "new").iterdir()] == ["plda.npz"]
    assert again.log_likelihoods == plda.log_likelihoods
    assert again.frontend.length_norm is plda.frontend.length_norm
    for n in (1, voices.counts):
        models = voices.vectors[: len(voices.names)]
        np.testing.assert_array_equal(again.enrol(models, n), plda.enrol(models, n))
        np.testing.assert_array_equal(again.trial(models, n), plda.trial(models, n))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("psi", [1.0, 1.0]),
        ("psi", [1.0, 1.0, -1.0]),
        ("psi", np.empty(0)),
        ("psi", ["a", "b", "c"]),
        ("mean", [0.0, 0.0, np.nan]),
        ("mean", [0.0, 0.0]),
        ("share", -0.5),
        ("share", [0.5]),
        ("centre", [[0.0, 0.0, 0.0]]),
        ("transform", np.eye(2)),
        ("projection", np.eye(2)),
        ("length_norm", 1),
        ("log_likelihoods", [[1.0]]),
        ("transform", np.array([{}], object)),
        ("psi", None),
    ],
)
def test_inconsistent_models_are_refused(name: str, value: Any, tmp_path: Path) -> None:
    _, plda = small()
    path = tmp_path / "plda.npz"
    plda.save(path)
    with np.load(path) as archive:
        arrays = {**archive}
    del arrays[name if value is None else "log_likelihoods"]
    arrays["log_likelihoods"] = np.zeros(1)
    if value is not None:
        arrays[name] = np.asarray(value)
    np.savez(path, **arrays)
    with pytest.raises(InputError) as caught:
        Plda.load(path)
    message = str(caught.value)
    assert str(path) in message and (repr(name) in message or "objects" in message)


def test_files_that_do_not_hold_a_model(tmp_path: Path) -> None:
    path = tmp_path / "plda.npz"
    with pytest.raises(InputError) as caught:
        Plda.load(path)
    assert "no such file" in str(caught.value)
    _, plda = small()
    plda.save(path)
    whole = path.read_bytes()
    for part in (b"", b"PK", whole[:-30], whole[: len(whole) // 2], b"x" * 50):
        path.write_bytes(part)
        with pytest.raises(InputError) as caught:
            Plda.load(path)
        assert str(path) in str(caught.value)


def test_too_little_to_learn_from() -> None:
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(12, 4))
    with raises_code("too-few-speakers", TooFewError):
        Plda.fit(Embeddings.of(vectors, ["a"] * 12))
    with raises_code("too-few-vectors", TooFewError):
        Plda.fit(Embeddings.of(vectors, np.arange(12)))
    few = Embeddings.of(vectors, [*range(9), 0, 1, 2], name="few")
    with raises_code("too-few-vectors", TooFewError) as caught:
        Plda.fit(few)
    assert str(caught.value).startswith("few: 12 vectors of 9 speakers; 4 dimensions need 13")
    assert len(Plda.fit(few, lda=3).psi) == 3
    same = Embeddings.of(np.repeat(vectors, 5, axis=0), np.repeat(np.arange(12), 5))
    with raises_code("constant", InputError):
        Plda.fit(same)


@pytest.mark.parametrize("lda", [0, -1, 4, 100])
def test_lda_out_of_range(lda: int) -> None:
    voices, _ = small()
    with raises_code("out-of-range", InputError) as caught:
        Plda.fit(voices, lda=lda)
    assert f"lda {lda}; must be 1 to 3" in str(caught.value)


def test_wrong_input_to_scoring() -> None:
    voices, plda = small()
    with raises_code("mismatch", InputError):
        plda.enrol(voices.vectors[:, :2], 1)
    with raises_code("mismatch", InputError):
        plda.trial(voices.vectors[0], 1)
    counts: Any
    for counts in (0, -1, 1.5, np.zeros(len(voices), int), True):
        with raises_code("out-of-range", InputError):
            plda.enrol(voices.vectors, counts)
    with raises_code("wrong-shape", InputError):
        plda.enrol(voices.vectors, np.array([1, 2]))
    with raises_code("out-of-range", InputError):
        Plda.fit(voices, iterations=-1)
