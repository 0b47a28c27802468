"""Document 004, Tables 10 to 12: which published accuracy stands beside which of ours."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from sottovoce.learn.study import PrivateStudy
from sottovoce.papers.catalogue import ITEMS
from sottovoce.papers.data import PaperData
from sottovoce.papers.results import ItemOutput

Run = Callable[[str, bool], ItemOutput]


def drawn_result(study: PrivateStudy, folder: Path, *, show: object) -> SimpleNamespace:
    """A cell for each model and budget, in another order than the study's; accuracy is ε / 100."""
    cells = [
        SimpleNamespace(
            model=model,
            epsilon=epsilon,
            mean=epsilon / 100,
            learning_rate=1.0,
            run=SimpleNamespace(spent=None),
        )
        for epsilon, model in product(reversed(study.epsilon), study.models)
    ]
    return SimpleNamespace(cells=cells, train_records=60_000, test_records=10_000)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    module = ModuleType("sottovoce.learn.study_run")
    module.run_study = drawn_result  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sottovoce.learn.study_run", module)

    def run_item(name: str, quick: bool) -> ItemOutput:
        folders = {"digits": tmp_path, "features": tmp_path, "news": tmp_path}
        return ITEMS[name].run(PaperData(tmp_path, quick=quick, **folders))  # type: ignore[arg-type]

    return run_item


@pytest.mark.parametrize(
    ("name", "quantity", "published", "ours"),
    [
        ("004-table-10", "plain, ε = 7", 97.01, 7.0),
        ("004-table-10", "layer norm, ε = 0.5", 94.81, 0.5),
        ("004-table-10", "batch norm, ε = 0.05", 88.15, 0.05),
        ("004-table-11", "plain, ε = 4", 70.0, 4.0),
        ("004-table-11", "batch norm, ε = 2", 69.8, 2.0),
        ("004-table-12", "plain, ε = 1", 81.14, 1.0),
        ("004-table-12", "layer norm, ε = 0.1", 50.09, 0.1),
    ],
)
def test_the_published_accuracy_is_of_model_and_budget(
    run: Run, name: str, quantity: str, published: float, ours: float
) -> None:
    entries = {entry.quantity: entry for entry in run(name, False).compared}
    entry = entries[f"accuracy in %, {quantity}"]
    assert entry.published == published and entry.ours == pytest.approx(ours)


@pytest.mark.parametrize(("number", "models"), [(10, 3), (11, 3), (12, 2)])
def test_a_quick_run_takes_the_largest_budgets(run: Run, number: int, models: int) -> None:
    whole = {e.quantity: e.published for e in run(f"004-table-{number}", False).compared}
    quick = {e.quantity: e.published for e in run(f"004-table-{number}", True).compared}
    assert len(quick) == 2 * models and quick.items() < whole.items()


def test_seeds_are_said(run: Run) -> None:
    assert run("004-table-12", False).made_from.endswith("3 seeds")
    assert run("004-table-12", True).made_from.endswith("1 seed")
