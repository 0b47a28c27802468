"""Studies: lists multiply, wrong keys and values are told with their place, limits are read."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_corpus import make_corpus

from sottovoce.audit.config import Study, parse_change, read_study
from sottovoce.audit.limits import Limit
from sottovoce.cli import run
from sottovoce.core.errors import InputError, UsageError
from sottovoce.core.records import from_json, to_json
from sottovoce.findings import LimitResult, Reidentification
from sottovoce.report.attacks import limit_remark
from sottovoce.report.audit_tables import limits_table

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.yaml"))


def study(tmp_path: Path, text: str, **changes: object) -> Study:
    path = tmp_path / "study.yaml"
    path.write_text(text, encoding="utf-8")
    return read_study(path, changes)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_is_a_study(path: Path) -> None:
    assert read_study(path).recipes


def test_the_72_combinations() -> None:
    found = read_study(next(one for one in EXAMPLES if one.stem == "linkage_functions"))
    assert len(found.recipes) * len(found.attackers) * len(found.linkage) == 72


def test_lists_multiply(tmp_path: Path) -> None:
    found = study(
        tmp_path,
        "anonymisers: [{method: mcadams, settings: {coefficient: [0.8, speaker], low: [0.5, 1]}}]",
    )
    labels = [recipe.label for recipe in found.recipes]
    assert len(labels) == 4 and labels[0] == "mcadams(coefficient=0.8, low=0.5)"


def test_one_word_stands_for_a_list(tmp_path: Path) -> None:
    assert study(tmp_path, "attackers: ignorant").attackers == ["ignorant"]


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    assert study(tmp_path, "corpus: speech").corpus == str(tmp_path / "speech")
    assert study(tmp_path, "corpus: builtin").corpus == "builtin"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("atackers: [ignorant]", "atackers: no key is called 'atackers'; did you mean 'attackers'"),
        ("attackers: [ignorent]", "did you mean 'ignorant'"),
        ("anonymisers: [mcadam]", "did you mean 'mcadams'"),
        ("anonymisers: [{method: mcadams, setings: {}}]", "anonymisers.0.setings: no key"),
        ("anonymisers: [{method: mcadams, settings: {coeficient: 1}}]", "did you mean"),
        ("anonymisers: [{method: mcadams, settings: {coefficient: 9}}]", "use 0.3 to 1.5"),
        ("linkage: [cosin]", "did you mean 'cosine'"),
        ("interval: 2", "interval: "),
        ("seed: -1", "seed: "),
        ("limits: {eerr: '> 0.3'}", "did you mean 'eer'"),
        ("utility: {wers: true}", "did you mean 'wer'"),
        ("attackers: [near-informed]", "needs similar"),
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
        ("limits: {eer@length=3: '> 0.3'}", "length= is for figures over crowds"),
        ("limits: {linkability@population=1: '< 1'}", "must be a whole number from 2"),
        ("limits: {linkability@population=many: '< 1'}", "must be a whole number from 2"),
        ("limits: {'eer@method=mcadams,method=dar': '< 1'}", "method= stands twice"),
        ("limits: {cllr: '< 1e999'}", "is no limit"),
        (
            "{populations: [20], limits: {linkability@population=40: '< 1'}}",
            "no crowd of 40 is measured; the largest in populations is 20",
        ),
        ("populations: [1]", "populations.0: input should be greater than or equal to 2"),
        ("populations: [20, 0]", "populations.1: "),
        ("populations: []", "populations: "),
        ("- a list", "not a study"),
        ("a: [", "line 1"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        study(tmp_path, text)
    message = str(caught.value)
    assert said in message
    assert message.startswith(str(tmp_path)) and "\n" not in message


def test_values_can_be_set_from_outside(tmp_path: Path) -> None:
    changes = dict(map(parse_change, ["seed=3", "utility.wer=false", "attackers=[ignorant]"]))
    found = study(tmp_path, "anonymisers: [mcadams]", **changes)
    assert (found.seed, found.utility.wer, found.attackers) == (3, False, ["ignorant"])
    changes = dict([parse_change("anonymisers.0.settings.low=0.6")])
    found = study(tmp_path, "anonymisers: [{method: mcadams, settings: {low: 0.5}}]", **changes)
    assert found.recipes[0].settings == {"low": 0.6}
    with pytest.raises(UsageError, match="NAME=VALUE"):
        parse_change("seed")


ROW = {
    "anonymiser": "mcadams",
    "method": "mcadams",
    "attacker": "semi-informed",
    "linkage": "best",
    "measures": {"eer": {"value": 0.2}, "d_sys": {"value": 0.7}},
    "reidentification": {
        "linkability": [
            {"length": 1, "population": 20, "value": 0.3},
            {"length": 3, "population": 20, "value": 0.6},
            {"length": 1, "population": 40, "value": 0.2},
        ]
    },
}


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
def test_limits(name: str, condition: str, values: list[float], exceeded: list[bool]) -> None:
    found = list(Limit.of(name, condition).check([ROW]))
    assert [one["value"] for one in found] == values
    assert [one["exceeded"] for one in found] == exceeded


def test_every_curve_over_crowds_can_be_limited() -> None:
    point = {"length": 1, "population": 20, "value": 2.0}
    for curve in Reidentification(20, "cosine").to_dict():
        if curve in Reidentification.CURVES:
            row = {**ROW, "reidentification": {curve: [point]}}
            found = list(Limit.of(f"{curve}@population=20", "< 3").check([row]))
            assert [one["value"] for one in found] == [2.0]


def test_a_limit_on_nothing_is_told() -> None:
    limits = list(Limit.of("eer@attacker=semi-informd", "> 0.3").check([ROW]))
    results = from_json(tuple[LimitResult, ...], to_json(limits))
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
    shown = [line for line in capsys.readouterr().out.splitlines() if "limit" in line]
    assert len(shown) == 1 and "linkability@population=40 < 1" in shown[0]
    assert run([*arguments, "limits={eer@attacker=informed: '> 0.3'}"]) == 2
    assert run([*arguments, "populations=[1]"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 2
