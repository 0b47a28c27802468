"""Document 001: a deviation is explained only where it is the known one."""

from __future__ import annotations

from pathlib import Path

import pytest

from sottovoce.measure import Scores
from sottovoce.papers import maouche_2020
from sottovoce.papers.catalogue import ITEMS
from sottovoce.papers.data import PaperData


def reasons(folder: Path) -> dict[str, str]:
    compared = ITEMS["001-table-1"].run(PaperData(folder)).compared
    return {entry.quantity: entry.why for entry in compared}


def test_only_the_misprint_has_a_reason(tmp_path: Path) -> None:
    given = {quantity: why for quantity, why in reasons(tmp_path).items() if why}
    assert list(given) == ["Cllr_min, case 3"] and "0.6556" in given["Cllr_min, case 3"]


def test_a_wrong_value_is_not_explained_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(scores: Scores) -> float:
        return 0.7

    monkeypatch.setattr(maouche_2020, "min_cllr", wrong)
    monkeypatch.setattr(maouche_2020, "eer", wrong)
    given = reasons(tmp_path)
    assert len(given) == 6
    assert all("unexpected" in why and "0.6556" not in why for why in given.values())


def test_a_chosen_number_is_called_so(tmp_path: Path) -> None:
    output = ITEMS["001-figure-3"].run(PaperData(tmp_path))
    assert "71 of B, a number that was chosen" in output.made_from
    assert any("confirms nothing" in remark for remark in output.remarks)
    chosen = output.compared[1]
    assert chosen.published == 0.81 and "chosen" in chosen.quantity
