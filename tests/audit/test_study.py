"""Studies: lists multiply, defects are reported with their place, limits are parsed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from audit_case import findings_in
from error_codes import raises_code
from small_corpus import make_corpus

from sottovoce.audit.limits import Limit
from sottovoce.audit.study import Study
from sottovoce.audit.study_file import parse_change, read_study
from sottovoce.audit.study_parts import StudyAttacker
from sottovoce.cli import run
from sottovoce.core.errors import InputError
from sottovoce.core.records import Json
from sottovoce.findings import AttackRow, CurvePoint, Estimate, Reidentification
from sottovoce.report.attacks import limit_remark
from sottovoce.report.audit_tables import limits_table

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.yaml"))

IGNORANT = StudyAttacker(name="ignorant")


def study(tmp_path: Path, text: str, **changes: Json) -> Study:
    path = tmp_path / "study.yaml"
    path.write_text(text, encoding="utf-8")
    return read_study(path, changes)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_is_a_study(path: Path) -> None:
    assert read_study(path).anonymiser_specs


def test_the_72_combinations() -> None:
    combined = read_study(next(path for path in EXAMPLES if path.stem == "linkage_functions"))
    assert len(combined.attacks) == 72


def test_lists_multiply(tmp_path: Path) -> None:
    parsed = study(
        tmp_path,
        "anonymisers: [{method: mcadams, settings: {coefficient: [0.8, speaker], low: [0.5, 1]}}]",
    )
    labels = [spec.label for spec in parsed.anonymiser_specs]
    assert len(labels) == 4 and labels[0] == "mcadams(coefficient=0.8, low=0.5)"


def test_one_word_stands_for_a_list(tmp_path: Path) -> None:
    assert study(tmp_path, "attackers: ignorant").attackers == [IGNORANT]


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    assert study(tmp_path, "corpus: speech").corpus == str(tmp_path / "speech")
    assert study(tmp_path, "corpus: builtin").corpus == "builtin"
    assert study(tmp_path, "trials: list.txt").trials == str(tmp_path / "list.txt")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("atackers: [ignorant]", "atackers: no key is called 'atackers'; did you mean 'attackers'"),
        ("attackers: [ignorent]", "did you mean 'ignorant'"),
        ("anonymisers: [mcadam]", "did you mean 'mcadams'"),
        ("anonymisers: [{method: mcadams, setings: {}}]", "anonymisers.0.setings: no key"),
        ("anonymisers: [{method: mcadams, settings: {coeficient: 1}}]", "did you mean"),
        ("anonymisers: [{method: mcadams, settings: {coefficient: 9}}]", "use 0.3 to 1.5"),
        ("linkage: [cosin]", "did you mean 'cosine'"),
        ("interval: 2", "interval: "),
        ("over: recording", "over: "),
        ("{over: utterance, trials: list.txt}", "leave one of them out"),
        ("seed: -1", "seed: "),
        ("limits: {eerr: '> 0.3'}", "did you mean 'eer'"),
        ("utility: {wers: true}", "did you mean 'wer'"),
        ("utility: {recogniser: moonshine-tinny}", "did you mean 'moonshine-tiny'"),
        ("attackers: [near-informed]", "needs similar"),
        (
            "{anonymisers: [mcadams, dar], attackers: [{name: semi-informed, encoder: undone}]}",
            "encoder undone: not available to the semi-informed attacker: dar declares no inverse",
        ),
        ("attackers: [{name: ignorant, encoder: undone}]", "not available to the ignorant"),
        ("limits: {linkability@population=40: 0.5}", "limits.linkability@population=40: "),
        ("limits: {linkability@population=40: below 1}", "is no limit"),
        ("limits: {eer@people=40: '< 1'}", "no condition is called 'people'"),
        (
            "limits: {eer@attacker=semi-informd: '> 0.3'}",
            "limits: eer@attacker=semi-informd > 0.3: no attacker of this study is called "
            "'semi-informd'; did you mean 'semi-informed'?",
        ),
        ("limits: {eer@attacker=informed: '> 0.3'}", "no attacker of this study is called"),
        ("limits: {eer@attacker=: '> 0.3'}", "no attacker of this study is called ''"),
        ("limits: {eer@method=xvector: '> 0.3'}", "no method of this study is called 'xvector'"),
        ("limits: {eer@linkage=cosine: '> 0.3'}", "no linkage of this study is called 'cosine'"),
        ("limits: {'rank@population=20,length=30': '> 3'}", "no length of this study is called"),
        ("limits: {eer@length=3: '> 0.3'}", "length= is for figures over populations"),
        ("limits: {linkability@population=1: '< 1'}", "must be a whole number from 2"),
        ("limits: {linkability@population=many: '< 1'}", "must be a whole number from 2"),
        ("limits: {'eer@method=mcadams,method=dar': '< 1'}", "method= is given twice"),
        ("limits: {cllr: '< 1e999'}", "is no limit"),
        (
            "{populations: [20], limits: {linkability@population=40: '< 1'}}",
            "no population of 40 is measured; the largest in populations is 20",
        ),
        ("populations: [1]", "populations.0: input should be greater than or equal to 2"),
        ("populations: [20, 0]", "populations.1: "),
        ("populations: []", "populations: "),
        ("- a list", "not a study"),
        ("a: [", "line 1"),
    ],
)
def test_a_defect_is_reported_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        study(tmp_path, text)
    line = str(caught.value)
    assert message in line
    assert line.startswith(str(tmp_path)) and "\n" not in line


def test_undoing_is_for_those_who_train_on_an_anonymiser_with_an_inverse(tmp_path: Path) -> None:
    study(tmp_path, "attackers: [{name: semi-informed, encoder: undone}]")
    chooses = "attackers: [{name: ignorant, encoder: undone, linkage: strongest}]"
    study(tmp_path, chooses)  # tries what there is
    similar = "attackers: [{name: near-informed, encoder: undone}]"
    study(tmp_path, f"{{{similar}, similar: vtln, anonymisers: [dar]}}")
    with raises_code("unavailable"):
        study(tmp_path, f"{{{similar}, similar: dar, anonymisers: [vtln]}}")


def test_values_can_be_set_from_outside(tmp_path: Path) -> None:
    changes = dict(map(parse_change, ["seed=3", "utility.wer=false", "attackers=[ignorant]"]))
    parsed = study(tmp_path, "anonymisers: [mcadams]", **changes)
    assert (parsed.seed, parsed.utility.wer, parsed.attackers) == (3, False, [IGNORANT])
    changes = dict([parse_change("anonymisers.0.settings.low=0.6")])
    parsed = study(tmp_path, "anonymisers: [{method: mcadams, settings: {low: 0.5}}]", **changes)
    assert parsed.anonymiser_specs[0].settings == {"low": 0.6}
    for text in ("seed", "=3", "seed=["):
        with raises_code("malformed"):
            parse_change(text)


def point(length: int, population: int, value: float) -> CurvePoint:
    return CurvePoint(length, population, value, chance=0.1)


@pytest.fixture(scope="module")
def row(tmp_path_factory: pytest.TempPathFactory) -> AttackRow:
    """A row with few figures."""
    complete = findings_in(tmp_path_factory.mktemp("case")).rows[1]
    measures = {
        name: Estimate(value, 0.5, "lower = more disclosed", 10, 10)
        for name, value in (("eer", 0.2), ("d_sys", 0.7))
    }
    curve = (point(1, 20, 0.3), point(3, 20, 0.6), point(1, 40, 0.2))
    return replace(
        complete,
        method="mcadams",
        scores=replace(complete.scores, measures=measures),
        reidentification=Reidentification(20, "cosine", linkability=curve),
    )


@pytest.mark.parametrize(
    ("name", "condition", "values", "exceeded"),
    [
        ("eer", "> 0.25", [0.2], [True]),
        ("eer", ">= 0.2", [0.2], [False]),
        ("d_sys", "< 0.5", [0.7], [True]),
        ("linkability@population=20", "< 0.5", [0.3, 0.6], [False, True]),
        ("linkability@population=20,length=1", "<= 0.3", [0.3], [False]),
        ("linkability@population=1000", "< 0.5", [None], [True]),
        ("linkability@ population = 020 , length = 1", "<= 0.3", [0.3], [False]),
        ("eer@attacker=semi-informd", "> 0.3", [None], [True]),
        ("eer@method=none", "> 0.3", [None], [True]),
        ("linkability@population=20,linkage=plda", "< 0.5", [None], [True]),
        ("d_ece", "< 1", [None], [True]),
    ],
)
def test_limits(
    row: AttackRow,
    name: str,
    condition: str,
    values: list[float | None],
    exceeded: list[bool],
) -> None:
    results = list(Limit.parse(name, condition).check([row]))
    assert [result.value for result in results] == values
    assert [result.exceeded for result in results] == exceeded


def test_every_curve_over_populations_can_be_limited(row: AttackRow) -> None:
    for curve in Reidentification.CURVES:
        points: Any = {curve: (point(1, 20, 2.0),)}
        curves = Reidentification(20, "cosine", **points)
        limited = replace(row, reidentification=curves)
        results = list(Limit.parse(f"{curve}@population=20", "< 3").check([limited]))
        assert [result.value for result in results] == [2.0]


def test_a_limit_that_applies_to_nothing_is_reported(row: AttackRow) -> None:
    results = tuple(Limit.parse("eer@attacker=semi-informd", "> 0.3").check([row]))
    assert [limit_remark(limit) for limit in results] == [
        "not measured: eer@attacker=semi-informd > 0.3 for any anonymiser against semi-informd"
    ]
    page = limits_table(results).to_html()
    assert "any anonymiser" in page and "exceeded" in page


def test_a_dry_run_tells_of_limits_that_cannot_be_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = make_corpus(tmp_path / "voices")
    limits = "limits={linkability@population=4: '< 1', linkability@population=40: '< 1'}"
    arguments = ["audit", "--corpus", str(corpus), "--dry-run", "--set"]
    assert run([*arguments, limits]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if "limit" in line]
    assert len(lines) == 1 and "linkability@population=40 < 1" in lines[0]
    assert run([*arguments, "limits={eer@attacker=informed: '> 0.3'}"]) == 2
    assert run([*arguments, "populations=[1]"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 2
