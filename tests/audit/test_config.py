"""Studies: lists multiply, wrong keys and values are told with their place, limits are read."""

from __future__ import annotations

from pathlib import Path

import pytest

from sottovoce.audit.config import Study, parse_change, read_study
from sottovoce.audit.limits import Limit
from sottovoce.errors import InputError, UsageError

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
    "measures": {"eer": {"value": 0.2}, "linkability": {"value": 0.7}},
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
        ("linkability", "< 0.5", [0.7], [True]),
        ("linkability@population=20", "< 0.5", [0.3, 0.6], [False, True]),
        ("linkability@population=20,length=1", "<= 0.3", [0.3], [False]),
        ("linkability@population=1000", "< 0.5", [None], [True]),
        ("eer@attacker=ignorant", "> 0.25", [], []),
        ("d_ece", "< 1", [None], [True]),
    ],
)
def test_limits(name: str, condition: str, values: list[float], exceeded: list[bool]) -> None:
    found = list(Limit.of(name, condition).check([ROW]))
    assert [one["value"] for one in found] == values
    assert [one["exceeded"] for one in found] == exceeded
