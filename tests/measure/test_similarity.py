"""Voice similarity matrices, DeID and G_VD (Noé et al. 2020)."""

from __future__ import annotations

import json
import math
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from error_codes import raises_code
from numpy.typing import NDArray

from sottovoce.core.errors import InputError, SottovoceError, TooFewError
from sottovoce.core.types import Vectors
from sottovoce.findings import Range, Similarity
from sottovoce.measure import pair_scores
from sottovoce.measure.similarity import READINGS, similarity
from sottovoce.speaker import Cosine, Embeddings, Euclidean, LinkageFunction, Plda
from sottovoce.speaker.linkage_functions import Counts

Array = NDArray[np.float64]

module = import_module("sottovoce.measure.similarity")  # a function may have its name

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "reference_similarity.json").read_text("utf-8")
)


def voices(
    speakers: int = 6, each: int = 4, *, noise: float = 0.8, seed: int = 0
) -> tuple[Array, list[str]]:
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(speakers), each)
    vectors = rng.normal(size=(speakers, 8))[who] + noise * rng.normal(size=(len(who), 8))
    return vectors, [f"s{i}" for i in who]


def altered(vectors: Array, seed: int = 1) -> Array:
    """An anonymiser that leaves something of each voice."""
    return 0.5 * vectors + np.random.default_rng(seed).normal(size=vectors.shape)


@pytest.fixture
def pair() -> tuple[Embeddings, Embeddings]:
    vectors, who = voices()
    return Embeddings.of(vectors, who), Embeddings.of(altered(vectors), who)


# ================================================================================ golden values


@pytest.mark.parametrize("block", [1 << 22, 500])
@pytest.mark.parametrize("name", GOLDEN["sets"])
def test_reference_set(name: str, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Origin of the numbers: ``origin`` in the file."""
    monkeypatch.setattr(pair_scores, "BLOCK_SCORES", block)
    entry = GOLDEN["sets"][name]
    expected = entry["expected"]
    original = Embeddings.of(np.array(GOLDEN["original"], np.float32), GOLDEN["speakers"])
    anonymised = Embeddings.of(np.array(entry["anonymised"], np.float32), GOLDEN["speakers"])
    found = similarity(original, anonymised, interval=None)
    assert found.d_diag == pytest.approx(expected["d_diag"], abs=1e-9)
    assert found.deid == pytest.approx(expected["deid"], abs=1e-9)
    assert found.gvd_db == pytest.approx(expected["gvd_db"], abs=1e-9)
    for kind in ("oo", "op", "pp"):
        assert np.abs(found.matrix(kind) - expected[kind]).max() < 1e-9


def test_the_reference_has_four_sets() -> None:
    assert sorted(GOLDEN["sets"]) == ["half", "identity", "injective", "one_voice"]


# =================================================================== the definition, written out


def slow_pav(trials: list[tuple[float, bool]]) -> list[tuple[float, float]]:
    """(lowest score, LLR) of each step; dummies at both ends, equal scores one step."""
    steps: list[list[float]] = [[-math.inf, 1, 1]]
    for score, mated in sorted(trials):
        if steps[-1][0] != score:
            steps.append([score, 0, 0])
        steps[-1][1 if mated else 2] += 1
    steps.append([math.inf, 1, 1])
    blocks: list[list[float]] = []
    for step in steps:
        blocks.append(list(step))
        while len(blocks) > 1 and blocks[-2][1] * blocks[-1][2] >= blocks[-1][1] * blocks[-2][2]:
            _, mated_count, nonmated_count = blocks.pop()
            blocks[-1][1] += mated_count
            blocks[-1][2] += nonmated_count
    odds = sum(mated for _, mated in trials) / sum(not mated for _, mated in trials)
    return [(start, math.log(m / n / odds)) for start, m, n in blocks]


def slow_matrix(a: Array, b: Array, who: list[str]) -> Array:
    def cosine(x: Array, y: Array) -> float:
        return math.fsum(x * y) / math.sqrt(math.fsum(x * x)) / math.sqrt(math.fsum(y * y))

    scores = {(k, m): cosine(a[k], b[m]) for k in range(len(a)) for m in range(len(b)) if k != m}
    # equal pairs of OO and PP differ in the last digit at most
    trials = [(round(score, 12), who[k] == who[m]) for (k, m), score in scores.items()]
    steps = slow_pav(trials)
    names = sorted(set(who))
    sums = {(i, j): [0.0, 0] for i in names for j in names}
    for (k, m), score in scores.items():
        llr = next(llr for start, llr in reversed(steps) if start <= round(score, 12))
        sums[who[k], who[m]][0] += llr
        sums[who[k], who[m]][1] += 1
    return np.array(
        [[1 / (1 + math.exp(-sums[i, j][0] / sums[i, j][1])) for j in names] for i in names]
    )


def slow_dominance(matrix: Array) -> float:
    n = len(matrix)
    diagonal = sum(matrix[i, i] for i in range(n)) / n
    rest = sum(matrix[i, j] for i in range(n) for j in range(n) if i != j) / (n * (n - 1))
    return float(abs(diagonal - rest))


@pytest.mark.parametrize("seed", range(5))
def test_equals_the_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    who = [f"s{i}" for i in rng.integers(0, 4, 22)]
    who += ["s0", "s0", "s1", "s1", "s2", "s2", "s3", "s3"]
    places = {name: rng.normal(size=6) for name in sorted(set(who))}
    before = np.array([places[name] + rng.normal(size=6) for name in who], np.float32)
    after = np.array(0.6 * before + rng.normal(size=before.shape), np.float32)
    found = similarity(Embeddings.of(before, who), Embeddings.of(after, who), interval=None)
    a, b = before.astype(np.float64), after.astype(np.float64)
    d = {}
    for kind, x, y in (("oo", a, a), ("op", a, b), ("pp", b, b)):
        matrix = slow_matrix(x, y, who)
        assert np.abs(found.matrix(kind) - matrix).max() < 1e-9
        d[kind] = slow_dominance(matrix)
    assert found.d_diag == pytest.approx(d, abs=1e-9)
    assert found.deid == pytest.approx(1 - d["op"] / d["oo"], abs=1e-9)
    assert found.gvd_db == pytest.approx(10 * math.log10(d["pp"] / d["oo"]), abs=1e-8)


# ========================================================================================= laws


@pytest.mark.parametrize("linkage", ["cosine", "euclidean", "plda"])
def test_doing_nothing_is_exactly_zero(linkage: str) -> None:
    vectors, who = voices(12, 5)
    original = Embeddings.of(vectors, who)
    function: LinkageFunction = Plda.fit(original)
    if linkage != "plda":
        function = Cosine() if linkage == "cosine" else Euclidean()
    found = similarity(original, Embeddings.of(vectors, who), function)
    assert (found.deid, found.gvd_db) == (0.0, 0.0)
    assert found.range_of("deid") == Range(0.0, 0.0)
    assert np.array_equal(found.matrix("oo"), found.matrix("op"))
    assert found.linkage == linkage


def test_matrices_within_one_set_are_symmetric(pair: tuple[Embeddings, Embeddings]) -> None:
    found = similarity(*pair, interval=None)
    for kind in ("oo", "pp"):
        assert np.allclose(found.matrix(kind), found.matrix(kind).T, rtol=0, atol=1e-12)


def test_rows_may_come_in_any_order(pair: tuple[Embeddings, Embeddings]) -> None:
    order = np.random.default_rng(3).permutation(len(pair[0]))
    moved = [Embeddings.of(one.vectors[order], one.names[one.speakers][order]) for one in pair]
    a, b = similarity(*pair), similarity(moved[0], moved[1])
    assert a.speakers == b.speakers
    assert (b.deid, b.gvd_db) == pytest.approx((a.deid, a.gvd_db), abs=1e-12)
    for kind in a.matrices:
        assert np.abs(b.matrix(kind) - a.matrix(kind)).max() < 1e-12
    before, after = a.range_of("deid"), b.range_of("deid")
    assert before and after and after.low == pytest.approx(before.low, abs=1e-12)


def test_speakers_may_have_other_names(pair: tuple[Embeddings, Embeddings]) -> None:
    names = np.array(["f", "b", "e", "a", "d", "c"])
    renamed = [Embeddings.of(one.vectors, names[one.speakers]) for one in pair]
    a, b = similarity(*pair, interval=None), similarity(renamed[0], renamed[1], interval=None)
    assert (b.deid, b.gvd_db) == pytest.approx((a.deid, a.gvd_db), abs=1e-12)
    order = np.argsort(names)
    assert np.abs(b.matrix("op") - a.matrix("op")[np.ix_(order, order)]).max() < 1e-12


def test_ids_are_joined_in_any_order_and_the_rest_is_counted() -> None:
    vectors, who = voices()
    after = altered(vectors)
    ids = [f"u{i}" for i in range(len(who))]
    plain = similarity(Embeddings.of(vectors, who), Embeddings.of(after, who), interval=None)
    order = np.random.default_rng(5).permutation(len(who)).tolist()
    extra = np.ones((2, 8))
    original = Embeddings.of(np.vstack((vectors, extra[:1])), [*who, "s0"], utterances=[*ids, "x"])
    anonymised = Embeddings.of(
        np.vstack((after[order], extra)),
        [*(who[i] for i in order), "s1", "new"],
        utterances=[*(ids[i] for i in order), "y", "z"],
    )
    joined = similarity(original, anonymised, interval=None)
    assert joined.deid == pytest.approx(plain.deid, abs=1e-12)
    assert (joined.excluded.only_original, joined.excluded.only_anonymised) == (1, 2)
    assert joined.n_utterances == len(who)
    assert plain.excluded.to_dict() == {
        "only_original": 0,
        "only_anonymised": 0,
        "n_speakers": 0,
        "speakers": [],
    }


def test_a_speaker_with_one_recording_is_left_out_and_named() -> None:
    vectors, who = voices()
    after = altered(vectors)
    plain = similarity(Embeddings.of(vectors, who), Embeddings.of(after, who), interval=None)
    extra = np.ones((1, 8))
    more = [Embeddings.of(np.vstack((extra, one)), ["only", *who]) for one in (vectors, after)]
    found = similarity(more[0], more[1], interval=None)
    assert found.excluded.speakers == ("only",)
    assert "only" not in found.speakers and "only" not in {
        one.speaker for one in found.standing_out
    }
    assert (found.deid, found.gvd_db) == pytest.approx((plain.deid, plain.gvd_db), abs=1e-12)
    assert found.n_mated == 6 * 4 * 3 and found.n_nonmated == 24 * 20


def test_who_stands_out() -> None:
    """One of eight speakers is not anonymised at all."""
    vectors, who = voices(8, 5, noise=0.4)
    after = np.random.default_rng(7).normal(size=vectors.shape)
    left = [i for i, name in enumerate(who) if name == "s3"]
    after[left] = vectors[left]
    found = similarity(Embeddings.of(vectors, who), Embeddings.of(after, who), interval=None)
    assert found.standing_out[0].speaker == "s3"
    values = [one.value for one in found.standing_out]
    assert values[0] > 2 * max(values[1], 0.1)
    assert all(a >= b for a, b in pairwise(values))
    op = found.matrix("op")
    i = found.speakers.index("s3")
    others = np.concatenate((np.delete(op[i], i), np.delete(op[:, i], i)))
    assert values[0] == pytest.approx(op[i, i] - others.mean(), abs=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_steps_found_on_a_grid_are_those_found_by_search(seed: int) -> None:
    rng = np.random.default_rng(seed)
    starts = np.unique(np.float32(rng.normal(0, 10.0 ** rng.integers(-30, 30), seed // 2)))
    scores = np.concatenate((starts, np.nextafter(starts, np.float32(-np.inf)), -starts, [0, 9]))
    scores = np.concatenate((scores, rng.normal(0, 1, 500))).astype(np.float32)[None]
    found = pair_scores._Steps(np.concatenate(([-np.inf], starts)), cells=64)(scores)
    assert np.array_equal(found, np.searchsorted(starts, scores, side="right"))


# ==================================================================================== intervals


def test_intervals_hold_the_value_and_follow_the_seed(pair: tuple[Embeddings, Embeddings]) -> None:
    found, again = similarity(*pair, seed=1), similarity(*pair, seed=1)
    assert found.intervals == again.intervals != similarity(*pair, seed=2).intervals
    values = {**found.d_diag, "deid": found.deid, "gvd_db": found.gvd_db}
    for name, value in values.items():
        assert value is not None
        interval = found.range_of(name)
        assert interval is not None, name
        assert interval.low <= value <= interval.high and interval.low < interval.high
        assert name != "deid" or interval.high <= 1.0


def test_weights_count_as_repeated_speakers() -> None:
    """w_i copies on the diagonal; pairs of copies of one speaker are no pairs of two speakers."""
    matrix = np.random.default_rng(0).random((4, 4))
    drawn = [0, 0, 2, 3]
    weights = np.bincount(drawn, minlength=4).astype(float)
    rest = [matrix[i, j] for i in drawn for j in drawn if i != j]
    expected = np.mean([matrix[i, i] for i in drawn]) - np.mean(rest)
    assert pair_scores.dominance(matrix, weights) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(("table", "close"), [(1 << 25, 1e-6), (1, 0.05)])
def test_a_resample_with_everyone_once_is_the_sample(
    table: int, close: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also on a coarse table of counts, then nearly."""
    monkeypatch.setattr(pair_scores, "TABLE", table)
    vectors, _ = voices(8, 6)
    numbers = np.repeat(np.arange(8), 6)
    one, two = (np.asarray(side, np.float32) for side in (vectors, altered(vectors)))
    told: list[tuple[int, int]] = []
    scores = pair_scores.PairScores(one, two, numbers, Cosine(), lambda *step: told.append(step))
    kept = pair_scores.speaker_pairs(scores, counted=True)
    assert kept.counts is not None
    assert np.array_equal(kept.counts.sum(axis=2), scores.pairs)
    assert table > 1 or kept.counts.shape[2] == pair_scores.FEWEST_CELLS
    weights = np.ones((3, 8))
    draws = pair_scores.resampled_dominance(kept.counts, weights, lambda *step: None)
    assert draws == pytest.approx(pair_scores.dominance(kept.similarity, weights[0]), abs=close)


def test_a_resample_is_calibrated_anew() -> None:
    """Speaker 2 counted twice is two speakers with the same scores."""
    rng = np.random.default_rng(0)
    counts = rng.integers(1, 9, (3, 3, 5)).astype(np.float32)
    weights = np.array([[1.0, 1.0, 2.0]])
    (found,) = pair_scores.resampled_dominance(counts, weights, lambda *step: None)
    trials = []
    for i, w in enumerate(weights[0]):
        for j, v in enumerate(weights[0]):
            for cell in range(5):
                times = w if i == j else w * v
                trials += [(float(cell), i == j)] * int(times * counts[i, j, cell])
    steps = slow_pav(trials)
    llrs = [next(llr for s, llr in reversed(steps) if s <= cell) for cell in range(5)]
    matrix = 1 / (1 + np.exp(-(counts @ llrs) / counts.sum(axis=2)))
    assert found == pytest.approx(pair_scores.dominance(matrix, weights[0]), abs=1e-6)


def test_a_resample_has_two_speakers_at_least() -> None:
    weights = module._draw_weights(2, 500, np.random.default_rng(0))
    assert (weights == 1).all()


def test_fewer_than_five_speakers_have_no_interval() -> None:
    vectors, who = voices(4)
    found = similarity(Embeddings.of(vectors, who), Embeddings.of(altered(vectors), who))
    assert found.interval is None and found.intervals is None
    assert any("5 are needed" in note for note in found.notes)
    assert found.to_dict()["intervals"] is None


# ======================================================================================= guards


def of(vectors: Any, who: Any, **options: Any) -> Embeddings:
    return Embeddings.of(vectors, who, **{"name": "p.npz", **options})


def bad_inputs() -> dict[str, tuple[Embeddings, Embeddings, str]]:
    vectors, who = voices(3, 2)
    ids = [f"u{i}" for i in range(6)]
    good = of(vectors, who, name="o.npz")
    with_ids = of(vectors, who, name="o.npz", utterances=ids)
    swapped = [who[2], *who[1:]]
    one = (of(vectors, ["a"] * 6), of(vectors, ["a"] * 6))
    alone = (of(vectors, list("aabcde")), of(vectors, list("aabcde")))
    return {
        "length": (good, of(vectors[:4], who[:4]), "4 vectors"),
        "speakers": (good, of(vectors, swapped), "row 0 (s1, originally s0)"),
        "speakers of ids": (with_ids, of(vectors, swapped, utterances=ids), "row 0"),
        "order": (good, of(vectors, who[::-1]), "and 1 more"),
        "no id": (with_ids, of(vectors, who, utterances=["v" + i for i in ids]), "in common"),
        "dimension": (good, of(vectors[:, :5], who), "5 numbers"),
        "one speaker": (*one, "recordings in both sets: 1;"),
        "one usable speaker": (*alone, "recordings in both sets: 1;"),
    }


@pytest.mark.parametrize("name", bad_inputs())
def test_bad_input_is_one_clear_line(name: str) -> None:
    original, anonymised, words = bad_inputs()[name]
    with pytest.raises(InputError) as caught:
        similarity(original, anonymised)
    said = str(caught.value)
    assert words in said and "\n" not in said and ".npz" in said and ";" in said


def test_too_few_speakers_is_told_apart() -> None:
    original, anonymised, _ = bad_inputs()["one speaker"]
    with pytest.raises(TooFewError):
        similarity(original, anonymised)


@pytest.mark.parametrize("options", [{"interval": 95.0}, {"interval": 0.0}, {"replicates": 3}])
def test_wrong_settings(options: Any, pair: tuple[Embeddings, Embeddings]) -> None:
    with raises_code("out-of-range", SottovoceError):
        similarity(*pair, **options)


def test_originals_that_cannot_be_told_apart() -> None:
    vectors, who = voices()
    found = similarity(Embeddings.of(np.ones_like(vectors), who), Embeddings.of(vectors, who))
    assert found.d_diag["oo"] == 0.0
    assert found.deid is None and found.gvd_db is None
    assert any("D_diag(OO) = 0" in note for note in found.notes)
    assert found.range_of("deid") is None and found.range_of("pp") is not None
    json.dumps(found.to_dict(), allow_nan=False)


@pytest.mark.parametrize("speakers", range(5, 12))
def test_one_voice_for_everyone(speakers: int) -> None:
    """With some numbers of speakers the means of equal numbers differ by rounding."""
    vectors, who = voices(speakers, 3)
    one = Embeddings.of(np.ones_like(vectors), who)
    found = similarity(Embeddings.of(vectors, who), one, replicates=20)
    assert found.d_diag["pp"] == 0.0 and found.gvd_db is None
    assert any("D_diag(PP) = 0" in note for note in found.notes)
    assert found.deid is not None and found.deid > 0.8
    json.dumps(found.to_dict(), allow_nan=False)


def test_vectors_too_large_for_a_back_end() -> None:
    class Steep(Euclidean):
        def enrol(self, vectors: Vectors, counts: Counts = 1) -> Vectors:
            return np.float32(1e38) * super().enrol(vectors, counts)

    found = Embeddings.of(*voices())
    with (
        np.errstate(over="ignore"),
        raises_code("out-of-range", InputError),
    ):
        similarity(found, found, Steep())


# ====================================================================================== results


def test_dict_keeps_the_contract(pair: tuple[Embeddings, Embeddings]) -> None:
    found = similarity(*pair)
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert isinstance(data["deid"], float) and isinstance(data["gvd_db"], float)
    assert set(data["d_diag"]) == {"oo", "op", "pp"}
    assert set(data["intervals"]) == {"deid", "gvd_db", "d_diag"}
    assert set(data["intervals"]["deid"]) == {"low", "high"}
    assert set(data["intervals"]["d_diag"]) == {"oo", "op", "pp"}
    assert np.shape(data["matrices"]["op"]) == (6, 6) and len(data["speakers"]) == 6
    assert set(data["standing_out"][0]) == {"speaker", "value"}
    assert data["interval"] == {
        "confidence": 0.95,
        "unit": "speaker",
        "count": 6,
        "replicates": 1000,
    }
    assert set(data["readings"]) == set(READINGS) == {"deid", "gvd_db"}
    assert data["excluded"]["n_speakers"] == 0 and data["notes"] == []


def test_only_the_worst_ten_are_written() -> None:
    vectors, who = voices(12, 3)
    one = Embeddings.of(vectors, who)
    found: Similarity = similarity(one, one, interval=None)
    assert len(found.standing_out) == len(found.to_dict()["standing_out"]) == 12


def test_progress_comes_to_its_end(
    pair: tuple[Embeddings, Embeddings], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pair_scores, "BLOCK_SCORES", 24 * 7)  # rows: 7, 7, 7, 3
    told: list[tuple[int, int]] = []
    similarity(*pair, interval=None, progress=lambda done, total: told.append((done, total)))
    assert told == [(i, 24) for i in range(1, 25)]
