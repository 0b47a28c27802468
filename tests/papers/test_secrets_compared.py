"""Document 004, Figures 18 and 19, Table 9: made-up exposures beside the published ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sottovoce.findings import LanguageModelFinding, ModelCheck
from sottovoce.findings.exposure import Exposure
from sottovoce.findings.memorisation import CanaryExposure, CanaryGroup, PrivacyFinding
from sottovoce.papers.catalogue import ITEMS
from sottovoce.papers.comprise_2021 import memorised_secrets, secret_models
from sottovoce.papers.data import PaperData
from sottovoce.papers.results import Compared, ItemOutput

Bits = dict[int, float]
"""Exposure by epoch."""
SINGLE: Bits = {10: 4.97, 20: 8.31}
MULTIPLE: Bits = {10: 5.5, 20: 8.2}
FILE = "glove.txt"


def model(bits: Bits, *, private: bool, embedding: str) -> LanguageModelFinding:
    label = "private, ε = 10" if private else "without privacy"
    checks = tuple(check(epoch, value) for epoch, value in bits.items())
    spent = PrivacyFinding(10, 9, 1e-5, 1.0, "nominal", (), "sentence") if private else None
    name = label if embedding == "random" else f"{label}, {embedding}"
    return LanguageModelFinding(name, embedding, 10, checks, (), (), spent)


def check(epoch: int, bits: float) -> ModelCheck:
    exposure = Exposure(bits, 12.0, 1, "exact", 0.5, 4096, 4096)
    groups = tuple(
        CanaryGroup(spec, 1, None, (CanaryExposure("c", 1, exposure),))
        for spec in secret_models.TEMPLATES
    )
    return ModelCheck(epoch, 10.0, 10.0, groups)


def exposed(
    insertion: str, seeds: Sequence[Bits], *, private: bool = False, embedding: str = "random"
) -> Any:
    models = tuple(model(bits, private=private, embedding=embedding) for bits in seeds)
    return secret_models.ExposedModels(insertion, models[0].label, models)


def everything(
    single: Sequence[Bits], multiple: Sequence[Bits], embedding: str = "random"
) -> list[Any]:
    seeds = len(single)
    return [
        exposed("single", single, embedding=embedding),
        exposed("single", [{10: 1.05}] * seeds, private=True, embedding=embedding),
        exposed("multiple", multiple, embedding=embedding),
        exposed("multiple", [{10: 2.14}] * seeds, private=True, embedding=embedding),
    ]


Run = Callable[..., ItemOutput]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    def run_item(name: str, models: list[Any], *vectors: str) -> ItemOutput:
        findings = [SimpleNamespace(text=None)]
        monkeypatch.setattr(memorised_secrets, "secret_studies", lambda data: (models, findings))
        return ITEMS[name].run(PaperData(tmp_path, vectors=tuple(map(Path, vectors))))

    return run_item


def with_vectors() -> list[Any]:
    """Random vectors, which reach less, and those of a file."""
    full = {10: 12.0, 20: 12.0}
    return everything([SINGLE], [MULTIPLE]) + everything([full], [full], embedding=FILE)


def test_models_are_compared_after_equal_epochs(run: Run) -> None:
    output = run("004-table-9", everything([SINGLE], [MULTIPLE]))
    rows = [row for row in output.tables[0].rows if row[1] == "random (here)"]
    assert [row for row in rows if row[0] == "illness"] == [
        ("illness", "random (here)", 20, 8.31, None, 8.2, None),
        ("illness", "random (here)", 10, 4.97, 1.05, 5.5, 2.14),
    ]
    assert {row[2] for row in output.tables[0].rows if "published" in str(row[1])} == {40}
    ours = [(entry.ours, entry.quantity) for entry in output.compared]
    assert [value for value, _ in ours] == [8.31, 4.97, 1.05, 8.2, 5.5, 2.14]
    assert "after 20 epochs" in ours[0][1] and "after 10 epochs" in ours[1][1]
    assert "private, after 10 epochs" in ours[2][1]
    assert all("40 epochs published" in entry.why for entry in output.compared)


def test_the_epoch_that_discloses_more_stands_first(run: Run) -> None:
    output = run("004-table-9", everything([{10: 9.0, 20: 8.0}], [MULTIPLE]))
    assert [entry.ours for entry in output.compared[:2]] == [9.0, 8.0]


def test_several_insertions_are_measured_after_the_private_epochs(tmp_path: Path) -> None:
    study = secret_models._study(PaperData(tmp_path), "multiple", "builtin", None, 0)
    assert study.language_model is not None and study.language_model.check == [10, 20]


@pytest.mark.parametrize("name", ["004-figure-18", "004-figure-19", "004-table-9"])
def test_every_row_names_its_vectors(run: Run, name: str) -> None:
    output = run(name, with_vectors(), FILE)
    named = [[kind for kind in ("random", FILE) if kind in e.quantity] for e in output.compared]
    assert named.count(["random"]) == named.count([FILE]) == len(named) / 2
    published = [row for row in output.tables[0].rows if "published" not in str(row)]
    assert all("random" in str(row) or FILE in str(row) for row in published)


def test_each_kind_of_vectors_has_its_epoch(run: Run) -> None:
    random, given = (
        entry
        for entry in run("004-figure-19", with_vectors(), FILE).compared
        if "illness" in entry.quantity
    )
    assert str(random.ours).startswith("not within 20") and given.ours == "10"
    assert "random" in random.why and "random" not in given.why


@pytest.mark.parametrize("name", ["004-figure-18", "004-figure-19", "004-table-9"])
def test_absent_vectors_are_mentioned_where_there_are_none(run: Run, name: str) -> None:
    assert any("--vectors" in remark for remark in run(name, with_vectors()).remarks)
    assert not any("--vectors" in remark for remark in run(name, with_vectors(), FILE).remarks)


def lowered(run: Run, single: Sequence[float], multiple: Sequence[float]) -> Compared:
    one, several = ([{10: 1.0, 20: bits} for bits in values] for values in (single, multiple))
    return run("004-figure-18", everything(one, several)).compared[-1]


def test_three_seeds_that_agree_answer_the_claim(run: Run) -> None:
    assert lowered(run, (8.3, 8.4, 8.5), (8.2, 8.3, 8.4)).ours == "yes"


def test_one_seed_answers_nothing(run: Run) -> None:
    compared = lowered(run, (8.31,), (8.2,))
    assert compared.ours == "single 8.31, multiple 8.20 bits"
    assert "1 of 1 seeds" in compared.why


def test_seeds_that_disagree_answer_nothing(run: Run) -> None:
    compared = lowered(run, (9.0, 9.0, 8.0), (8.0, 8.0, 8.5))
    assert compared.ours == "single 9.00, 9.00, 8.00, multiple 8.00, 8.00, 8.50 bits"
    assert "2 of 3 seeds" in compared.why
