"""The whole study on simulated embeddings: nothing hidden, nothing left, and bad input."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
from error_codes import raises_code

from sottovoce.core.errors import InputError, SottovoceError, TooFewError
from sottovoce.findings import (
    CurvePoint,
    LinkabilityBySize,
    Reidentification,
    SpeakerRisk,
    most_exposed,
)
from sottovoce.measure import population
from sottovoce.measure.conversations import make_trials
from sottovoce.measure.identification import top_k
from sottovoce.measure.isolation import LITERAL_DRAWS
from sottovoce.measure.literal_protocol import literal_populations
from sottovoce.measure.population import Scoring, stand
from sottovoce.measure.reidentification import reidentify
from sottovoce.measure.reidentification_settings import ReidentificationSettings
from sottovoce.measure.scores import Scores
from sottovoce.measure.singling_out import CHANCE, no_evidence
from sottovoce.measure.verification import rocch_eer
from sottovoce.speaker import Cosine, Embeddings, Euclidean, LinkageFunction, Plda

QUICK = ReidentificationSettings(lengths=(1,), draws=10, confidence=None)
CURVES = Reidentification.CURVES


def voices(
    speakers: int = 40,
    each: int = 10,
    *,
    noise: float = 1.0,
    kept: float = 1.0,
    seed: int = 0,
    dimension: int = 16,
) -> tuple[Embeddings, Embeddings]:
    """Enrolment and trials; ``kept`` of each voice is left in the trials (0: nothing at all)."""
    rng = np.random.default_rng(seed)
    places = rng.normal(size=(speakers, dimension))
    who = np.repeat(np.arange(speakers), each)
    names = [f"s{i:03d}" for i in who]
    spread = noise * rng.normal(size=(2, len(who), dimension))
    enrol = Embeddings.of((places[who] + spread[0]).astype(np.float32), names, name="known")
    trial = Embeddings.of((kept * places[who] + spread[1]).astype(np.float32), names, name="heard")
    return enrol, trial


def part(one: Embeddings, keep: Any, name: str = "part") -> Embeddings:
    """Some rows, by number or mask."""
    return Embeddings.of(one.vectors[keep], one.names[one.speakers[keep]], name=name)


def names_of(embeddings: Embeddings) -> list[str]:
    return [str(name) for name in embeddings.names[embeddings.speakers]]


# ===================================================================== nothing hidden, nothing left


@pytest.mark.parametrize("side", ["enrol", "trial"])
def test_a_speaker_whose_vectors_cancel_is_not_a_protected_one(side: str) -> None:
    enrol, trial = voices(noise=0.02)
    changed = {"enrol": enrol, "trial": trial}[side]
    vectors = changed.vectors.copy()
    vectors[25:30] = -vectors[20:25]  # the recordings of s002 are rows 20 to 29
    sides = {"enrol": enrol, "trial": trial, side: Embeddings.of(vectors, names_of(changed))}
    settings = ReidentificationSettings(lengths=(1, 10), draws=10, confidence=None)
    with raises_code("all-zero", InputError) as caught:
        reidentify(sides["enrol"], sides["trial"], settings=settings)
    assert "s002" in str(caught.value)


@pytest.mark.parametrize("literal", [False, True])
def test_perfectly_linkable(literal: bool) -> None:
    settings = ReidentificationSettings(
        lengths=(1, 3), populations=(2, 5, 20, 40), draws=10, literal=literal, confidence=None
    )
    found = reidentify(*voices(noise=0.02), settings=settings)
    for curve in ("linkability", "singling_out", "one_minus_rocch_eer", "top_k"):
        points = getattr(found, curve)
        assert [(p.length, p.population) for p in points] == [
            (length, size) for length in (1, 3) for size in (2, 5, 20, 40)
        ]
        assert all(p.value == 1.0 for p in points), curve
    assert all(p.value == 1.0 for p in found.rank)
    assert [p.value for p in found.normalised_rank[:4]] == [1 / 2, 1 / 5, 1 / 20, 1 / 40]
    for point in found.rank_disclosure:
        assert point.value == pytest.approx(math.log2(point.population), abs=0.02)
    assert {one.vanishes_at for one in found.speakers} == {None}
    assert all(one.linkability == 1.0 for one in found.speakers)
    assert not found.notes


def test_perfectly_linkable_as_far_as_so_few_speakers_can_show() -> None:
    settings = ReidentificationSettings(lengths=(1,), populations=(2, 15), draws=2)
    found = reidentify(*voices(15, 4, noise=0.02), settings=settings)
    for curve in ("linkability", "singling_out", "top_k"):
        for point in getattr(found, curve):
            assert point.low == pytest.approx(0.025 ** (1 / 15)) and point.high == 1.0


@pytest.mark.parametrize(("speakers", "codes"), [(29, ("few-speakers",)), (30, ())])
def test_few_speakers_are_warned_of(speakers: int, codes: tuple[str, ...]) -> None:
    settings = replace(QUICK, confidence=0.95, draws=2)
    found = reidentify(*voices(speakers, 4), settings=settings)
    assert found.warning_codes == codes
    assert len(found.warnings) == len(codes)
    without_intervals = reidentify(*voices(speakers, 4), settings=QUICK)
    assert without_intervals.warning_codes == ()


def test_the_length_with_the_fewest_speakers_is_warned_of() -> None:
    enrol, trial = voices(40, 4)
    kept = (trial.speakers < 12) | (np.arange(len(trial.speakers)) % 4 == 0)
    settings = replace(QUICK, lengths=(1, 2), confidence=0.95, draws=2)
    found = reidentify(enrol, part(trial, kept), settings=settings)
    assert found.warning_codes == ("few-speakers",)
    assert "12 speakers" in found.warnings[0]


SIZES = (5, 20, 80)


@pytest.fixture(scope="module")
def without_evidence() -> list[Reidentification]:
    settings = ReidentificationSettings(lengths=(1,), populations=SIZES, draws=5, k=3)
    return [
        reidentify(*voices(80, 10, kept=0.0, seed=seed), settings=settings) for seed in range(20)
    ]


def level_of(point: CurvePoint) -> float:
    return point.chance if point.no_evidence is None else point.no_evidence


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "measure",
    ["linkability", "singling_out", "one_minus_rocch_eer", "rank", "normalised_rank", "top_k"],
)
def test_nothing_left_gives_chance(
    measure: str, size: int, without_evidence: list[Reidentification]
) -> None:
    """Of 120 such sets 94 to 97 % held the chance level, 90 % that of 1 − ROCCH-EER."""
    points = [p for one in without_evidence for p in getattr(one, measure) if p.population == size]
    assert len(points) == 20
    held = sum(
        p.low is not None and p.high is not None and p.low <= level_of(p) <= p.high for p in points
    )
    assert held >= 15
    values = [p.value for p in points]
    error = np.std(values) / math.sqrt(20)
    excess = 0.01 if measure == "one_minus_rocch_eer" else 0.0  # a hull finds some in noise
    assert np.mean(values) == pytest.approx(level_of(points[0]), abs=4 * error + excess)


@pytest.mark.parametrize("size", SIZES)
def test_nothing_left_tells_next_to_nothing_in_bits(
    size: int, without_evidence: list[Reidentification]
) -> None:
    for found in without_evidence:
        (mean,) = [p for p in found.rank_disclosure if p.population == size]
        (worst,) = [p for p in found.worst_rank_disclosure if p.population == size]
        assert 0.0 < mean.chance < 0.05 and mean.chance < worst.chance < 1.0
        assert 0.0 <= mean.value < 0.05 and mean.value <= worst.value < 1.0
        assert mean.low is not None and mean.low < 0.02


def test_chance_levels(without_evidence: list[Reidentification]) -> None:
    found = without_evidence[0]
    for i, size in enumerate(SIZES):
        assert found.linkability[i].chance == 1 / size
        assert found.singling_out[i].chance == CHANCE
        assert found.singling_out[i].no_evidence == no_evidence(size)
        assert found.one_minus_rocch_eer[i].chance == 0.5
        assert found.rank[i].chance == (size + 1) / 2
        assert found.normalised_rank[i].chance == (size + 1) / 2 / size
        assert (found.top_k[i].chance, found.top_k[i].k) == (3 / size, 3)


def test_new_voices_hide_the_link_but_not_the_person() -> None:
    """Distinct pseudonyms: nobody is linked, yet predicates isolate somebody."""
    enrol, _ = voices(noise=0.1, seed=1)
    _, pseudonyms = voices(noise=0.1, seed=2)
    found = reidentify(enrol, pseudonyms, settings=QUICK)
    assert found.linkability[-1].value < 0.15
    assert found.singling_out[-1].value > 0.6


def test_no_evidence_of_fewer_vectors() -> None:
    settings = replace(QUICK, populations=(20, 150))
    values = [
        [p.value for p in reidentify(*pair, settings=settings).singling_out]
        for pair in (voices(150, 2, kept=0.0, seed=seed) for seed in range(6))
    ]
    stated = reidentify(*voices(150, 2, kept=0.0), settings=settings).singling_out
    for point, found in zip(stated, np.mean(values, axis=0), strict=True):
        assert point.no_evidence == pytest.approx(found, abs=0.03)


# =========================================================================== the published protocol


def test_literal_linkability_agrees_within_the_error_of_its_draws() -> None:
    sizes = [2, 3, 10, 300]
    enrol, trial = voices(300, 1, noise=1.5)
    exact = replace(QUICK, populations=tuple(sizes))
    settled = reidentify(enrol, trial, settings=exact)
    drawn = reidentify(enrol, trial, settings=replace(exact, literal=True))
    # the same conversations, so only the draws of populations differ
    rng = np.random.default_rng([exact.seed, 1])
    trials = make_trials(trial, enrol, length=1, most=1, rng=rng)
    linked = top_k(stand(Scoring(enrol, trials, Cosine())), sizes)
    for i, (sure, noisy) in enumerate(zip(settled.linkability, drawn.linkability, strict=True)):
        p = linked[:, i]
        assert sure.value == pytest.approx(p.mean(), abs=1e-12)
        error = math.sqrt(np.sum(p * (1 - p)) / LITERAL_DRAWS) / len(p)
        assert abs(noisy.value - sure.value) <= 4 * error + 1e-12
        assert (noisy.length, noisy.population, noisy.chance) == (
            sure.length,
            sure.population,
            sure.chance,
        )
    assert drawn.linkability[-1].value == settled.linkability[-1].value  # everybody: no draw
    assert [p.value for p in drawn.rank] == [p.value for p in settled.rank]


def test_literal_error_rates_are_those_of_drawn_populations() -> None:
    enrol, trial = voices(120, 1, noise=2.5)
    sizes = (2, 5, 30, 120)
    exact = replace(QUICK, populations=sizes)
    settled = reidentify(enrol, trial, settings=exact).one_minus_rocch_eer
    drawn = reidentify(enrol, trial, settings=replace(exact, literal=True)).one_minus_rocch_eer
    assert len({point.value for point in settled}) == 1
    assert len({point.value for point in drawn}) == len(sizes)
    assert drawn[-1].value == settled[-1].value  # everybody: no draw
    for point, expected in zip(drawn, settled, strict=True):
        assert point.value == pytest.approx(expected.value, abs=0.06)


def test_literal_error_rates_equal_a_slow_definition() -> None:
    enrol, trial = voices(25, 1, noise=1.5)
    trials = make_trials(trial, enrol, length=1, most=1, rng=np.random.default_rng(1))
    scoring = Scoring(enrol, trials, Cosine())
    sizes = [2, 7, 25]
    outcome = literal_populations(scoring, sizes, np.random.default_rng(4))
    ((_, scores),) = scoring.against_all()
    rng = np.random.default_rng(4)
    target = scores[np.arange(25), trials.speakers]
    for draw in range(LITERAL_DRAWS):
        others = np.array(
            [np.delete(row, i) for row, i in zip(scores, trials.speakers, strict=True)]
        )
        shuffled = rng.permuted(others, axis=1)
        for column, size in enumerate(sizes):
            expected = rocch_eer(Scores(target, shuffled[:, : size - 1].ravel()))
            assert outcome.rocch_eer[draw, column] == pytest.approx(expected, abs=1e-12)


def test_roles_are_swapped_for_singling_out_alone() -> None:
    first, second = voices(30, 4, noise=1.2, seed=3)
    asked = replace(QUICK, populations=(5, 30), swap_roles=True)
    swapped = reidentify(first, second, settings=asked)
    plain = reidentify(first, second, settings=replace(asked, swap_roles=False))
    other_way = reidentify(second, first, settings=replace(asked, swap_roles=False))
    assert swapped.linkability == plain.linkability
    assert swapped.singling_out == other_way.singling_out != plain.singling_out


def test_literal_singling_out_agrees_within_intervals() -> None:
    pair = voices(60, 10, noise=1.2, seed=3)
    settings = ReidentificationSettings(lengths=(1,), populations=(5, 20, 60), draws=40)
    fast = reidentify(*pair, settings=settings).singling_out
    slow = reidentify(*pair, settings=replace(settings, literal=True)).singling_out
    for one, other in zip(fast, slow, strict=True):
        assert one.low is not None and one.high is not None
        assert other.low is not None and other.high is not None
        assert max(one.low, other.low) <= min(one.high, other.high)
        assert one.value == pytest.approx(other.value, abs=0.1)


def test_the_literal_protocol_needs_all_models_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(population, "MODELS", 16)
    with raises_code("unsupported", InputError):
        reidentify(*voices(), settings=replace(QUICK, literal=True))


# =========================================================================================== result


def test_json_of_the_result() -> None:
    found = reidentify(
        *voices(30, 6), settings=ReidentificationSettings(lengths=(1, 2), draws=5, k=4)
    )
    printed = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert printed["enrolled_speakers"] == 30 and printed["linkage"] == "cosine"
    for curve in CURVES:
        points = printed[curve]
        assert [(p["length"], p["population"]) for p in points] == [
            (length, size) for length in (1, 2) for size in (2, 5, 10, 20, 30)
        ]
        for point in points:
            assert {"length", "population", "value", "chance", "low", "high"} <= set(point)
            assert point["low"] <= point["value"] <= point["high"]
    assert {p["k"] for p in printed["top_k"]} == {4}
    assert all("no_evidence" in p for p in printed["singling_out"])
    assert not any("k" in p or "no_evidence" in p for p in printed["linkability"])
    assert set(printed["open_set"][0]) == {
        "length",
        "population",
        "eer",
        "rocch_eer",
        "min_cllr",
        "d_sys",
    }
    assert len(printed["speakers"]) == 60
    assert set(printed["speakers"][0]) == {
        "speaker",
        "length",
        "trials",
        "linkability",
        "vanishes_at",
    }
    assert printed["excluded"] == [
        {
            "length": length,
            "speakers_not_enrolled": 0,
            "speakers_with_too_few_utterances": 0,
        }
        for length in (1, 2)
    ]
    assert printed["notes"] == []


def test_linkability_by_size_is_the_mean_over_all_populations() -> None:
    known, released = voices(6, 4)
    settings = ReidentificationSettings(lengths=(1,), confidence=0.9)
    result = reidentify(known, released, settings=settings)
    (by_size,) = result.by_size
    assert by_size.populations == (2, 3, 4, 5, 6)
    models = known.vectors / np.linalg.norm(known.vectors, axis=1, keepdims=True)
    speakers = sorted(set(names_of(known)))
    means = np.array(
        [models[[owner == name for owner in names_of(known)]].mean(axis=0) for name in speakers]
    )
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    trials = released.vectors / np.linalg.norm(released.vectors, axis=1, keepdims=True)
    for size, value in zip(by_size.populations, by_size.values, strict=True):
        shares: dict[str, list[float]] = {name: [] for name in speakers}
        for vector, name in zip(trials, names_of(released), strict=True):
            scores = means @ vector
            true = speakers.index(name)
            crowds = combinations([i for i in range(6) if i != true], size - 1)
            shares[name].append(
                float(np.mean([scores[true] > max(scores[list(crowd)]) for crowd in crowds]))
            )
        assert value == pytest.approx(np.mean([np.mean(share) for share in shares.values()]))
    for point in result.linkability:
        assert by_size.point(point.population) == point
    assert result.drawn_curve("linkability") == by_size.points
    assert result.drawn_curve("singling_out") == result.singling_out


def test_a_size_between_two_is_that_of_the_smaller_population() -> None:
    curve = LinkabilityBySize(1, (2, 10, 40), (0.9, 0.5, 0.2))
    assert [curve.point(size).population for size in (2, 9, 10, 39, 40, 99)] == [
        2, 2, 10, 10, 40, 40,
    ]  # fmt: skip
    assert curve.point(20) == CurvePoint(1, 10, 0.5, 0.1)


def test_published_protocols_have_no_curve_over_all_sizes() -> None:
    for settings in (ReidentificationSettings(core=True), ReidentificationSettings(literal=True)):
        assert reidentify(*voices(8, 4), settings=replace(settings, lengths=(1,))).by_size == ()


def test_without_intervals_there_are_no_ends() -> None:
    found = reidentify(*voices(25, 4), settings=QUICK).to_dict()
    for curve in CURVES:
        assert found[curve] and all("low" not in p and "high" not in p for p in found[curve])


def test_the_same_seed_gives_the_same_result() -> None:
    settings = ReidentificationSettings(lengths=(1, 3), draws=5, seed=4)
    pair = voices(30, 6, noise=2.0)
    first, again, other = (
        reidentify(*pair, settings=replace(settings, seed=seed)).to_dict() for seed in (4, 4, 5)
    )
    assert first == again
    assert first["singling_out"] != other["singling_out"]


def test_values_do_not_depend_on_intervals() -> None:
    pair = voices(30, 10)
    with_ends = reidentify(*pair, settings=ReidentificationSettings(lengths=(1,), draws=5))
    without = reidentify(
        *pair, settings=ReidentificationSettings(lengths=(1,), draws=5, confidence=None)
    )
    for curve in CURVES:
        values = [[p.value for p in getattr(one, curve)] for one in (with_ends, without)]
        assert values[0] == values[1], curve


def test_a_length_does_not_depend_on_the_others() -> None:
    pair = voices(30, 6)
    both, alone = (
        reidentify(*pair, settings=replace(QUICK, lengths=lengths)) for lengths in ((1, 3), (3,))
    )
    for curve in CURVES:
        of_length = tuple(point for point in both.curve(curve) if point.length == 3)
        assert of_length == alone.curve(curve), curve


def test_the_curves_move_as_they_should() -> None:
    found = reidentify(*voices(80, 9, noise=1.5), settings=replace(QUICK, lengths=(1, 3, 9)))
    for length in (1, 3, 9):
        linked = [p.value for p in found.linkability if p.length == length]
        ranks = [p.value for p in found.rank if p.length == length]
        assert all(a >= b - 1e-12 for a, b in pairwise(linked))
        assert all(a <= b + 1e-12 for a, b in pairwise(ranks))
        eers = {p.value for p in found.one_minus_rocch_eer if p.length == length}
        assert len(eers) == 1  # a random crowd leaves the expected ROC where it is
    at_80 = [p.value for p in found.linkability if p.population == 80]
    assert at_80 == sorted(at_80) and at_80[-1] > at_80[0] + 0.2


@pytest.mark.parametrize("linkage", ["cosine", "euclidean", "plda"])
def test_linkage_functions(linkage: str) -> None:
    train, _ = voices(60, 6, seed=9)
    functions: dict[str, LinkageFunction] = {
        "cosine": Cosine(),
        "euclidean": Euclidean(),
        "plda": Plda.fit(train),
    }
    enrol, trial = voices(30, 6, noise=0.7)
    uneven = part(enrol, np.arange(len(enrol)) % 7 != 3, "uneven")  # models of 5 or 6 utterances
    found = reidentify(uneven, trial, functions[linkage], settings=QUICK)
    assert found.linkage == linkage
    assert found.linkability[-1].value > 0.7 and found.singling_out[-1].value > 0.6


def test_speakers_in_order_of_risk() -> None:
    enrol, trial = voices(40, 5, noise=1.3)
    found = reidentify(enrol, trial, settings=QUICK)
    assert sorted(one.speaker for one in found.speakers) == enrol.names.tolist()
    risks = [one.linkability for one in found.speakers]
    assert risks == sorted(risks, reverse=True)
    assert np.mean(risks) == pytest.approx(found.linkability[-1].value)
    for one in found.speakers:
        assert (one.vanishes_at is None) == (one.linkability >= 0.5)
        assert one.vanishes_at is None or 2 <= one.vanishes_at <= 40


def test_worst_speakers_over_all_lengths() -> None:
    risks = [
        SpeakerRisk("a", 1, 5, 0.2, 30),
        SpeakerRisk("b", 1, 5, 0.9, None),
        SpeakerRisk("a", 3, 5, 0.2, 50),
        SpeakerRisk("c", 3, 5, 1.0, None),
    ]
    assert [(one.speaker, one.length) for one in most_exposed(risks, 3)] == [
        ("c", 3),
        ("b", 1),
        ("a", 3),
    ]


def test_progress_is_told_by_stage() -> None:
    told: list[tuple[str, int, int]] = []
    reidentify(
        *voices(25, 6),
        settings=replace(QUICK, lengths=(1, 2)),
        progress=lambda *what: told.append(what),
    )
    stages = list(dict.fromkeys(name for name, _, _ in told))
    assert stages == ["scores, L = 1", "predicates, L = 1", "scores, L = 2", "predicates, L = 2"]
    for stage in stages:
        last = [(done, total) for name, done, total in told if name == stage][-1]
        assert last[0] == last[1]


def test_a_point_leaves_out_what_is_not_set() -> None:
    assert CurvePoint(1, 20, 0.5, 0.05).to_dict() == {
        "length": 1,
        "population": 20,
        "value": 0.5,
        "chance": 0.05,
    }


# ====================================================================================== little data


def test_speakers_missing_on_one_side_are_counted() -> None:
    enrol, trial = voices(30, 4)
    known = part(enrol, enrol.speakers < 20)
    heard = part(trial, trial.speakers >= 5)
    found = reidentify(known, heard, settings=QUICK)
    assert found.enrolled_speakers == 20
    assert found.excluded[0].speakers_not_enrolled == 10
    assert found.excluded[0].speakers_with_too_few_utterances == 0
    assert len(found.speakers) == 15


def test_speakers_with_too_few_utterances_are_counted() -> None:
    enrol, trial = voices(20, 6)
    short = part(trial, (trial.speakers < 12) | (np.arange(len(trial)) % 6 < 2))
    found = reidentify(enrol, short, settings=replace(QUICK, lengths=(1, 3)))
    assert [one.speakers_with_too_few_utterances for one in found.excluded] == [0, 8]
    assert [one.length for one in found.speakers].count(3) == 12


def test_a_length_nobody_reaches_is_a_note() -> None:
    found = reidentify(*voices(20, 4), settings=replace(QUICK, lengths=(1, 30)))
    assert {p.length for p in found.linkability} == {1}
    assert len(found.notes) == 1 and found.notes[0].startswith("length 30: ")


def test_a_length_with_one_conversation_each_has_no_singling_out() -> None:
    found = reidentify(*voices(20, 4), settings=replace(QUICK, lengths=(1, 3)))
    assert {p.length for p in found.linkability} == {1, 3}
    assert {p.length for p in found.singling_out} == {1}
    assert found.notes[0].startswith("Singling Out, length 3: ")


def test_singling_out_in_crowds_no_larger_than_the_test_speakers() -> None:
    enrol, trial = voices(50, 4)
    found = reidentify(
        enrol,
        part(trial, trial.speakers < 12),
        settings=replace(QUICK, populations=(5, 20, 50)),
    )
    assert [p.population for p in found.linkability] == [5, 20, 50]
    assert [p.population for p in found.singling_out] == [5]


def test_two_speakers_are_enough() -> None:
    found = reidentify(*voices(2, 10), settings=ReidentificationSettings(lengths=(1,), draws=3))
    json.dumps(found.to_dict(), allow_nan=False)
    assert {p.population for curve in CURVES for p in getattr(found, curve)} == {2}


def test_one_speaker_to_be_found() -> None:
    enrol, trial = voices(20, 6)
    found = reidentify(enrol, part(trial, trial.speakers == 3), settings=QUICK)
    json.dumps(found.to_dict(), allow_nan=False)
    assert [one.speaker for one in found.speakers] == ["s003"]


def test_one_voice_for_all_discloses_nothing() -> None:
    """Every vector the same: no attacker can do better than chance."""
    names = [f"s{i:02d}" for i in np.repeat(np.arange(40), 2)]
    for seed in range(12):
        vector = np.random.default_rng(seed).normal(size=16).astype(np.float32)
        one = Embeddings.of(np.tile(vector, (80, 1)), names)
        found = reidentify(one, one, settings=QUICK)
        assert all(p.value == 0.0 for p in found.linkability)
        assert all(p.value == p.chance for p in found.rank)
        assert all(p.value == 0.5 for p in found.one_minus_rocch_eer)
        assert all(one.eer == 0.5 for one in found.open_set)


# ======================================================================================== bad input


def test_one_enrolled_speaker_is_refused() -> None:
    enrol, trial = voices(5, 4)
    with raises_code("too-few", TooFewError):
        reidentify(part(enrol, enrol.speakers == 0, "alone"), trial, settings=QUICK)


def test_different_dimensions_are_refused() -> None:
    enrol, _ = voices(5, 4)
    _, trial = voices(5, 4, dimension=9)
    with raises_code("mismatch", InputError):
        reidentify(enrol, trial, settings=QUICK)


def test_strangers_only_are_refused() -> None:
    enrol, trial = voices(20, 4)
    known, strangers = part(enrol, enrol.speakers < 10), part(trial, trial.speakers >= 10)
    with raises_code("too-few", TooFewError):
        reidentify(known, strangers, settings=QUICK)


def test_a_refusal_gives_the_reason_and_nothing_else() -> None:
    enrol, trial = voices(10, 4)
    ids = np.arange(len(enrol)).astype(np.str_)
    enrol, trial = replace(enrol, utterances=ids), replace(trial, utterances=ids)
    with pytest.raises(TooFewError) as caught:
        reidentify(enrol, trial, settings=replace(QUICK, lengths=(9,)))
    assert str(caught.value).startswith("length 9: heard: no speaker has 9 utterances")
    assert "both sides" not in str(caught.value)


def test_all_lengths_too_long_is_refused() -> None:
    with raises_code("too-few", TooFewError):
        reidentify(*voices(10, 4), settings=replace(QUICK, lengths=(5, 9)))


@pytest.mark.parametrize(
    "bad",
    [
        {"lengths": ()},
        {"lengths": (0,)},
        {"lengths": (3, -1)},
        {"populations": (1,)},
        {"populations": (5, 11)},
        {"k": 0},
        {"conversations": 0},
        {"draws": 0},
        {"enrolled": 0},
        {"enrol_utterances": -2},
        {"confidence": 0.0},
        {"confidence": 95.0},
        {"confidence": math.nan},
    ],
)
def test_bad_settings_are_refused(bad: dict[str, Any]) -> None:
    with raises_code("out-of-range", InputError):
        reidentify(*voices(10, 4), settings=replace(QUICK, **bad))


def test_a_negative_seed_is_refused() -> None:
    with raises_code("out-of-range", SottovoceError):
        reidentify(*voices(10, 4), settings=replace(QUICK, seed=-1))


def test_euclidean_distance_does_not_depend_on_place_or_scale() -> None:
    enrol, trial = voices(20, 4)
    values = []
    for scale, place in ((1.0, 0.0), (100.0, 0.0), (1.0, 100.0), (50.0, 500.0)):
        known, unknown = (
            Embeddings.of(scale * one.vectors + np.float32(place), one.names[one.speakers])
            for one in (enrol, trial)
        )
        found = reidentify(known, unknown, Euclidean(), settings=QUICK)
        values.append([p.value for p in found.linkability])
    np.testing.assert_allclose(values, [values[0]] * 4, atol=0.02)


def test_recordings_on_both_sides_are_refused() -> None:
    enrol, _ = voices(20, 4)
    ids = [f"u{i}" for i in range(len(enrol))]
    named = Embeddings.of(enrol.vectors, enrol.names[enrol.speakers], utterances=ids)
    with raises_code("not-disjoint", InputError):
        reidentify(named, named, settings=QUICK)


def test_one_speaker_is_no_crowd_to_be_singled_out_of() -> None:
    enrol, trial = voices(20, 6)
    asked = replace(QUICK, confidence=0.95)
    found = reidentify(enrol, part(trial, trial.speakers == 3), settings=asked)
    assert found.singling_out == () and "Singling Out" in found.notes[0]
    assert found.one_minus_rocch_eer[0].low == 0.5 and found.one_minus_rocch_eer[0].high == 1.0


def test_crowds_do_not_depend_on_who_is_in_every_population() -> None:
    enrol, trial = voices(60, 4, noise=1.5)
    few = part(trial, trial.speakers < 10)
    asked = replace(QUICK, populations=(20, 60))
    plain = reidentify(enrol, few, settings=asked)
    with_core = reidentify(enrol, few, settings=replace(asked, core=True))
    assert with_core.speakers == plain.speakers
    assert len({risk.vanishes_at for risk in plain.speakers}) > 1


def test_the_trial_speakers_may_be_in_every_population() -> None:
    enrol, trial = voices(60, 4)
    few = part(trial, trial.speakers < 10)
    asked = replace(QUICK, core=True, populations=(5, 20, 60))
    found = reidentify(enrol, few, settings=asked)
    plain = reidentify(enrol, few, settings=replace(asked, core=False))
    assert [p.population for p in found.linkability] == [20, 60]
    everybody, alike = found.linkability[-1], plain.linkability[-1]
    assert everybody.value == pytest.approx(alike.value)  # of everybody there is one population
    with raises_code("conflict", InputError):
        reidentify(enrol, few, settings=replace(asked, literal=True))


def test_error_rates_of_populations_with_a_core_are_those_of_the_open_set() -> None:
    enrol, trial = voices(60, 4, noise=2.5)
    few = part(trial, trial.speakers < 10)
    asked = replace(QUICK, core=True, populations=(10, 20, 60))
    found = reidentify(enrol, few, settings=asked)
    rates = {point.population: point.rocch_eer for point in found.open_set}
    assert [1 - point.value for point in found.one_minus_rocch_eer] == pytest.approx(
        [rates[point.population] for point in found.one_minus_rocch_eer], abs=1e-12
    )
    assert len({point.value for point in found.one_minus_rocch_eer}) == 3
