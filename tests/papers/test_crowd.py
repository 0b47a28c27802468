"""Document 004, Figures 12 to 14: crowds that hide alike."""

from __future__ import annotations

import math
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
from sottovoce.findings import CurvePoint, OpenSetPoint, Reidentification
from sottovoce.papers.catalogue import ITEMS
from sottovoce.papers.comprise_2021 import crowd_attacks
from sottovoce.papers.comprise_2021.crowd import equivalent_crowds
from sottovoce.papers.comprise_2021.crowd_attacks import ATTACKS, core_of
from sottovoce.papers.data import PaperData
from sottovoce.papers.results import ItemOutput, knowledge_remarks
from sottovoce.papers.speech import SpeechStudy
from sottovoce.speaker.embeddings import Embeddings


def curve(values: dict[int, float]) -> Reidentification:
    points = tuple(CurvePoint(1, size, value, 20 / size, k=20) for size, value in values.items())
    return Reidentification(740, "cosine", top_k=points)


def test_a_crowd_that_hides_alike_is_interpolated() -> None:
    """Half way between 100 and 400 speakers on a logarithmic scale are 200."""
    curves = {
        "baseline": curve({20: 1.0, 100: 0.9, 400: 0.7}),
        "xvector, ignorant": curve({20: 1.0, 40: 0.8}),
    }
    ((name, size, value, found),) = equivalent_crowds(curves)
    assert (name, size, value) == ("xvector, ignorant", 40, 0.8)
    assert float(found) == pytest.approx(math.sqrt(100 * 400))


def test_test_speakers_have_enough_trials() -> None:
    for each, speakers in ((1, 60), (3, 20), (6, 20)):
        names = [f"s{i:03d}" for i in range(200) for _ in range(each)]
        vectors = np.random.default_rng(0).normal(size=(len(names), 4))
        core = core_of(Embeddings.of(vectors, names))
        assert len(core.names) == speakers and len(core) >= 60
    few = Embeddings.of(np.random.default_rng(0).normal(size=(30, 4)), [str(i) for i in range(30)])
    assert core_of(few) is few


def test_no_crowd_beyond_everybody_is_made_up() -> None:
    curves = {"baseline": curve({20: 1.0, 100: 0.9}), "mcadams": curve({20: 1.0, 40: 0.5})}
    ((_, _, _, found),) = equivalent_crowds(curves)
    assert found.startswith("more than 100")


def test_every_size_that_hides_alike_has_a_row() -> None:
    curves = {
        "baseline": curve({20: 1.0, 100: 0.9, 400: 0.7}),
        "mcadams": curve({20: 1.0, 40: 0.95, 80: 0.8, 160: 0.6, 320: 0.4}),
    }
    rows = equivalent_crowds(curves)
    assert [size for _, size, _, _ in rows] == [40, 80, 160]
    assert float(rows[1][3]) == 200
    assert rows[2][3] == "more than 400 (0.700 there); also for n = 320"


SIZES = (20, 40, 740)
LINKED = {
    "on originals": (1.0, 0.99, 0.95),
    "ignorant": (1.0, 0.606, 0.05),
    "lazy-informed": (1.0, 0.65, 0.07),
    "semi-informed": (1.0, 0.573, 0.06),
}
"""Top-20 by attacker; the one that trains on anonymised speech links less."""
RATES = {"on originals": 0.06, "ignorant": 0.56, "lazy-informed": 0.427, "semi-informed": 0.455}
RANKS = {"on originals": 5, "ignorant": 500, "lazy-informed": 300, "semi-informed": 310}


def attacked(
    study: SpeechStudy, spec: AnonymiserSpec | None, attacker: Attacker
) -> Reidentification:
    def points(*values: float, k: int | None = None) -> tuple[CurvePoint, ...]:
        return tuple(
            CurvePoint(1, size, value, 0.5, low=value, high=value, k=k)
            for size, value in zip(SIZES, values, strict=True)
        )

    rate, rank = RATES[attacker.name], RANKS[attacker.name]
    return Reidentification(
        740,
        "cosine",
        top_k=points(*LINKED[attacker.name], k=20),
        linkability=points(0.5, 0.4, 0.3),
        rank=points(*(rank * size / 740 for size in SIZES)),
        normalised_rank=points(*(rank / 740 for _ in SIZES)),
        open_set=tuple(OpenSetPoint(1, size, rate, rate, 1.0, 0.5) for size in SIZES),
        notes=("a note of the study",),
        warnings=("few speakers",),
    )


Run = Callable[..., ItemOutput]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr(crowd_attacks, "_attack", attacked)

    def figure(number: int, name: str = "small", skip: tuple[str, ...] = ()) -> ItemOutput:
        corpus = builtin_corpus(tmp_path / "cache", speakers=4, utterances=4)
        folder = corpus if name == "small" else corpus.rename(tmp_path / name)
        data = PaperData(tmp_path / "out", corpus=str(folder), skip=skip)
        return ITEMS[f"004-figure-{number}"].run(data)

    return figure


def test_a_rank_worse_than_chance_is_drawn_above_chance(run: Run) -> None:
    root = ElementTree.fromstring(run(13).drawings["figure-13"].svg)
    lines = [
        [float(point.split(",")[1]) for point in str(line.get("points")).split()]
        for line in root.iter("{http://www.w3.org/2000/svg}polyline")
        if line.get("points") and len(str(line.get("points")).split()) == len(SIZES)
    ]
    ranks, normalised = lines[: len(lines) // 2], lines[len(lines) // 2 :]
    highest = 48.0  # the upper end of a panel in pixels, which count downwards
    for panel in (ranks, normalised):
        assert all(highest < y for line in panel for y in line)


@pytest.mark.parametrize(
    ("number", "better", "lesser"),
    [(12, "0.455", "0.427"), (13, "0.419", "0.405"), (14, "0.573", "0.650")],
)
def test_better_informed_attackers_that_link_less_are_no_bound(
    run: Run, number: int, better: str, lesser: str
) -> None:
    remarks = [remark for remark in run(number).remarks if "no bound" in remark]
    assert [remark.count("semi-informed") for remark in remarks] == [1, 1]  # of two anonymisers
    assert all(better in remark and lesser in remark for remark in remarks)


def test_attackers_that_link_more_need_no_remark() -> None:
    rising = {"ignorant": {"20 speakers": 0.4}, "informed": {"20 speakers": 0.5}}
    assert knowledge_remarks("top-20", rising) == []
    assert len(knowledge_remarks("EER", rising, lower_links_more=True)) == 1
    equal = {"ignorant": {"20 speakers": 0.4501}, "informed": {"20 speakers": 0.4499}}
    assert knowledge_remarks("top-20", equal) == []


def test_the_attacker_that_links_most_stands_beside_the_strongest(run: Run) -> None:
    rows = run(12).compared
    assert "lazy-informed" in rows[-1].quantity and rows[-1].ours == 0.427
    assert "semi-informed" in rows[-2].quantity and rows[-2].ours == 0.455


def test_too_few_trials_for_linkability_leave_the_error_rate(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def few(*inputs: Any) -> Reidentification:
        result = attacked(*inputs)
        points = tuple(replace(point, d_sys=None) for point in result.open_set)
        return replace(result, open_set=points)

    monkeypatch.setattr(crowd_attacks, "_attack", few)
    assert all(row[3] is None and row[2] is not None for row in run(12).tables[0].rows)


def test_cautions_of_studies_are_remarks_once(run: Run) -> None:
    for number in (12, 13, 14):
        remarks = run(number).remarks
        assert remarks.count("Careful: few speakers.") == 1
        assert remarks.count("a note of the study.") == 1


def test_the_caveat_of_speech_commands_is_theirs_alone(run: Run) -> None:
    assert not any("Speech Commands" in remark for remark in run(13).remarks)
    assert any("Speech Commands" in remark for remark in run(13, "speech_commands4").remarks)


def test_nothing_falls_faster_where_nothing_is_left(run: Run) -> None:
    xvector = tuple(name for name in ATTACKS if name.startswith("xvector"))
    output = run(14, skip=xvector)
    assert output.compared[0].ours is None and output.skipped == list(xvector)
    assert run(14).compared[0].ours == "yes" and not run(14).skipped
    assert all(row.ours is None for row in run(13, skip=xvector).compared)
    assert len(run(12, skip=xvector).compared) == 3
