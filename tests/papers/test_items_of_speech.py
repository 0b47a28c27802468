"""Items that attack speech: what they make of results, with attacks replaced by drawn ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from sottovoce.attack import Attacker
from sottovoce.attack.speech import AnonymiserSpec
from sottovoce.corpus.demo import builtin_corpus
from sottovoce.findings import (
    CurvePoint,
    Estimate,
    RecogniserRate,
    Reidentification,
    RetrainedUtility,
    SliceCurve,
    SlicePoint,
)
from sottovoce.measure import ReidentificationSettings, reidentify
from sottovoce.papers import maouche_2020, vauquier_2025
from sottovoce.papers.catalogue import ITEMS
from sottovoce.papers.comprise_2021 import crowd_attacks, design_choices, design_figures, slices
from sottovoce.papers.comprise_2021.design_choices import Choice, ChoiceResult, DesignStudy
from sottovoce.papers.data import PaperData
from sottovoce.papers.maouche_2020 import Combination
from sottovoce.papers.results import ItemOutput
from sottovoce.papers.runner import run_item, stored_result
from sottovoce.papers.speech import SpeechStudy
from sottovoce.report.retrained import CASES
from sottovoce.speaker.embeddings import Embeddings

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return builtin_corpus(tmp_path_factory.mktemp("cache"), speakers=4, utterances=4)


@pytest.fixture
def run(corpus: Path, tmp_path: Path) -> Callable[[str], ItemOutput]:
    def run_named(name: str) -> ItemOutput:
        output = ITEMS[name].run(PaperData(tmp_path, quick=True, corpus=str(corpus)))
        for figure in output.drawings.values():
            assert ElementTree.fromstring(figure.svg).tag.endswith("svg")
        return output

    return run_named


def elements(output: ItemOutput, name: str, tag: str) -> int:
    return len(list(ElementTree.fromstring(output.drawings[name].svg).iter(f"{SVG}{tag}")))


def drawn_choice(study: DesignStudy, choice: Choice, attacker: str) -> ChoiceResult:
    """Dense is best, and whoever knows more links more."""
    rng = np.random.default_rng(abs(hash((choice, attacker))) % 2**32)
    known = design_choices.ATTACKER_NAMES.index(attacker)
    base = {"dense": 0.1, "random": 0.2}.get(choice.proximity, 0.4)
    changed = 0.0 if choice.pitch == "none" else 0.05
    d_sys = base + 0.1 * known - changed + 0.01 * rng.random()
    return ChoiceResult(choice, attacker, d_sys, 0.4, 0.1 + 0.01 * rng.random())


class DrawnRecognisers:
    """Whatever is anonymised costs words."""

    def __init__(self, data: PaperData, spec: AnonymiserSpec) -> None:
        self.error = 0.1 if spec.settings["gender"] == "same" else 0.2

    def result(self) -> RetrainedUtility:
        wrong = {case: self.error + 0.05 * case.count("A") for case in CASES}
        rates = tuple(RecogniserRate(case, wrong[case], None, None, wrong[case]) for case in CASES)
        return RetrainedUtility("drawn", (), rates, (), 4, 20, 2, 0.95, "")


@pytest.fixture
def drawn_choices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DesignStudy, "_attack", drawn_choice)
    monkeypatch.setattr(DesignStudy, "original_linkability", lambda study: 0.9)
    monkeypatch.setattr(design_figures, "recogniser_comparison", DrawnRecognisers)
    monkeypatch.setattr(design_figures, "described", lambda recognisers: "other trials")


@pytest.mark.usefixtures("drawn_choices")
def test_design_choices_are_means_over_the_others(run: Callable[[str], ItemOutput]) -> None:
    proximity = run("004-figure-6")
    assert len(proximity.tables) == len(design_choices.ATTACKER_NAMES)
    for table in proximity.tables:
        means = {row[0]: row[2] for row in table.rows}
        assert set(means) == set(design_choices.PROXIMITIES)
        assert min(means, key=lambda name: float(means[name] or 0)) == "dense"
    mildest, _, strongest = proximity.tables
    assert all(
        float(known[2] or 0) > float(unknown[2] or 0)
        for unknown, known in zip(mildest.rows, strongest.rows, strict=True)
    )
    (compared,) = proximity.compared
    assert str(compared.ours).startswith("least D_sys: dense (0.2")
    assert "; next random, 0.3" in str(compared.ours) and compared.why == ""
    assert elements(proximity, "figure-6", "circle") == 2 * len(design_choices.PROXIMITIES)
    for number, field in ((5, "DISTANCES"), (7, "GENDERS"), (8, "ASSIGNMENTS")):
        table = run(f"004-figure-{number}").tables[0]
        assert {row[0] for row in table.rows} == set(getattr(design_choices, field))


@pytest.mark.usefixtures("drawn_choices")
def test_attackers_and_pitch(run: Callable[[str], ItemOutput]) -> None:
    for number in (9, 10):
        output = run(f"004-figure-{number}")
        order = str(output.compared[1].ours)
        assert order == "ignorant, lazy-informed, semi-informed"
        assert output.made_from.endswith("utility: other trials")
        utility = output.tables[1].rows
        assert [row[0] for row in utility] == list(CASES)
        assert {row[1] for row in utility} == {design_figures.QUICK_RECOGNISERS}
        assert "1 of 3" in output.remarks[-1]
        assert str(output.compared[-1].ours) == "A-A"
    assert run("004-figure-11").compared[0].ours == "yes"


def drawn_combination(
    study: SpeechStudy, spec: AnonymiserSpec, attacker: Attacker, linkage: str
) -> Combination:
    rng = np.random.default_rng(len(spec.label) + 10 * len(attacker.name) + 100 * len(linkage))
    error = 0.5 * float(rng.random())
    return Combination(
        spec.label, attacker.name, linkage, error, 2 * error, 1 - 2 * error, 1 - 3 * error
    )


def test_72_dots(monkeypatch: pytest.MonkeyPatch, run: Callable[[str], ItemOutput]) -> None:
    monkeypatch.setattr(maouche_2020, "_combination", drawn_combination)
    for name in ("001-figure-4", "001-figure-5"):
        output = run(name)
        assert elements(output, name.partition("-")[2], "circle") == 72
        assert len(output.tables[0].rows) == 72
        assert "1.000" in str(output.compared[1].ours)  # Cllr_min follows from the error


def voices(seed: int, each: int, spread: float = 1.0) -> Embeddings:
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(0).normal(0, 1, (30, 16))
    vectors = np.repeat(centres, each, axis=0) + rng.normal(0, spread, (30 * each, 16))
    return Embeddings.of(vectors, np.repeat([f"s{i:02d}" for i in range(30)], each))


def reidentified(
    study: SpeechStudy, spec: AnonymiserSpec | None, *more: object
) -> Reidentification:
    spread = 0.5 if spec is None else 2.0
    settings = ReidentificationSettings(
        lengths=(1, 3), populations=(5, 10, 20, 30), k=5, confidence=0.95, draws=5
    )
    return reidentify(voices(1, 4, spread), voices(2, 6, spread), settings=settings)


def test_crowds(monkeypatch: pytest.MonkeyPatch, run: Callable[[str], ItemOutput]) -> None:
    monkeypatch.setattr(crowd_attacks, "_attack", reidentified)
    for number in (12, 13, 14):
        output = run(f"004-figure-{number}")
        names = {row[0] for row in output.tables[0].rows}
        assert len(names) == 7 and "baseline" in names
        assert elements(output, f"figure-{number}", "polyline") >= 14


def test_rates_are_means_over_recognisers(tmp_path: Path) -> None:
    choices = [Choice("plda", "dense", gender, "speaker") for gender in ("same", "random")]
    recognisers: list[Any] = [DrawnRecognisers(PaperData(tmp_path), c.spec) for c in choices]
    rates = design_figures.trained_rates(recognisers)
    assert rates["O-O"].mean == pytest.approx(15) and rates["A-A"].mean == pytest.approx(25)
    assert {spread.count for spread in rates.values()} == {2}


def drawn_curve(sliced: object, *rest: object, **more: object) -> SliceCurve:
    """Longer slices are linked better, anonymised ones hardly."""
    anonymised = isinstance(rest[0], Attacker)
    points = []
    for seconds in (0.5, 1.0, 5.0):
        value = 0.1 if anonymised else min(0.9, 0.5 * seconds)
        estimate = Estimate(value, 0.0, "higher = more disclosed", 60, 60, value - 0.05, value)
        linked = CurvePoint(1, 4, value, 0.25, low=value / 2, high=1.0)
        points.append(
            SlicePoint(seconds, seconds, 60, 0, "plda", estimate, estimate, estimate, linked)
        )
    return SliceCurve("first", tuple(points))


def test_slices(monkeypatch: pytest.MonkeyPatch, run: Callable[[str], ItemOutput]) -> None:
    monkeypatch.setattr(SpeechStudy, "inputs", lambda study, spec: None)
    monkeypatch.setattr(SpeechStudy, "sets", lambda study, spec, attackers: None)
    monkeypatch.setattr(slices, "slice_sets", lambda *inputs: [])
    monkeypatch.setattr(slices, "originals_slice_curve", drawn_curve)
    monkeypatch.setattr(slices, "attack_slice_curve", drawn_curve)
    output = run("004-figure-15")
    (table,) = output.tables
    assert [row[1] for row in table.rows] == ["0.5", "1", "5"] * 3
    assert [row[0] for row in table.rows[::3]] == [
        "original",
        "anonymised, lazy-informed",
        "anonymised, semi-informed",
    ]
    assert [entry.ours for entry in output.compared] == ["0.10 to 0.10", "yes"]
    assert elements(output, "figure-15", "polyline") == 3


def unknown_curve() -> SliceCurve:
    curve = drawn_curve(None, None)
    unknown = replace(curve.points[0].d_sys, value=None)
    return replace(curve, points=tuple(replace(p, d_sys=unknown) for p in curve.points))


def test_slices_that_were_not_measured_hide_nothing() -> None:
    """Too few pairs to measure D_sys are not a D_sys of 0."""
    curves = {"original": unknown_curve(), "anonymised, semi-informed": unknown_curve()}
    assert slices._short_slices(curves).ours is None
    assert slices._below_a_second(curves["original"]).ours is None


def test_longer_slices_say_nothing_of_half_a_second() -> None:
    curve = drawn_curve(None, None)
    longer = replace(curve, points=curve.points[1:])
    assert slices._below_a_second(longer).ours is None
    half, second, _ = curve.points
    swapped = replace(
        curve, points=(replace(half, d_sys=second.d_sys), replace(second, d_sys=half.d_sys))
    )
    assert slices._below_a_second(swapped).ours == "no"


def test_an_attack_can_be_left_out(
    monkeypatch: pytest.MonkeyPatch, corpus: Path, tmp_path: Path
) -> None:
    monkeypatch.setattr(crowd_attacks, "_attack", reidentified)
    skip = ("xvector, semi-informed", "xvector, lazy-informed")
    data = PaperData(tmp_path, quick=True, corpus=str(corpus), skip=skip)
    for number in (12, 13, 14):
        item = ITEMS[f"004-figure-{number}"]
        result = run_item(item, data)
        assert result.skipped == skip
        assert not {row[0] for row in result.tables[0].rows} & set(skip)
        assert stored_result(item, replace(data, skip=())) is None
        assert stored_result(item, replace(data, skip=()), skipped=True) == result


def test_nine_panels(monkeypatch: pytest.MonkeyPatch, run: Callable[[str], ItemOutput]) -> None:
    monkeypatch.setattr(vauquier_2025, "_reidentify", reidentified)
    output = run("003-figure-1")
    assert elements(output, "figure-1", "g") >= 6
    attackers = {row[1] for row in output.tables[0].rows}
    assert attackers == set(vauquier_2025.FORMS)
    assert any("30" in remark for remark in output.remarks)


def test_populations_of_the_published_size_are_compared(
    monkeypatch: pytest.MonkeyPatch, run: Callable[[str], ItemOutput]
) -> None:
    monkeypatch.setattr(vauquier_2025, "_reidentify", reidentified)
    output = run("003-figure-1")
    (first, *_) = output.compared
    assert {row[3] for row in output.tables[0].rows} >= {5, 20}
    assert "20 speakers (here 20)" in first.quantity
