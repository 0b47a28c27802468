"""Document 003, Figure 1: what has to be known beside the curves."""

from __future__ import annotations

from pathlib import Path

import pytest

from sottovoce.attack import Attacker
from sottovoce.attack.speech import AnonymiserSpec
from sottovoce.corpus.demo import builtin_corpus
from sottovoce.findings import CurvePoint, Reidentification
from sottovoce.papers import vauquier_2025
from sottovoce.papers.catalogue import ITEMS
from sottovoce.papers.data import PaperData
from sottovoce.papers.speech import SpeechStudy

SINGLED_OUT = {
    "on originals": 0.688,
    "lazy-informed": 0.365,
    "near-informed": 0.346,
    "semi-informed": 0.351,
}
NOTE = "Singling Out, length 3: 8 speakers left out"


def reidentified(
    study: SpeechStudy, spec: AnonymiserSpec | None, attacker: Attacker
) -> Reidentification:
    linked = (CurvePoint(1, 20, 0.5, 0.05), CurvePoint(1, 40, 0.4, 0.025))
    singled = (CurvePoint(1, 20, SINGLED_OUT[attacker.name], 0.368),)
    return Reidentification(40, "cosine", linkability=linked, singling_out=singled, notes=(NOTE,))


@pytest.fixture
def remarks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr(vauquier_2025, "_reidentify", reidentified)
    corpus = builtin_corpus(tmp_path / "cache", speakers=4, utterances=4)
    crowd = corpus.rename(tmp_path / "speech_commands4")
    output = ITEMS["003-figure-1"].run(PaperData(tmp_path / "out", corpus=str(crowd)))
    return list(output.remarks)


def test_better_informed_attackers_that_link_less_are_no_bound(remarks: list[str]) -> None:
    weaker = [remark for remark in remarks if "no bound" in remark]
    assert [remark.startswith("Singling Out") for remark in weaker] == [True, True]
    semi, informed = weaker
    assert "0.346 (Semi-Informed) against 0.365 (Ignorant)" in semi
    assert "0.351 (Informed) against 0.365 (Ignorant)" in informed


def test_notes_of_the_studies_are_remarks_once(remarks: list[str]) -> None:
    assert remarks.count(f"{NOTE}.") == 1


def test_the_caveat_of_speech_commands(remarks: list[str]) -> None:
    assert any(remark.startswith("In Speech Commands") for remark in remarks)


def test_the_roles_in_singling_out_are_said(remarks: list[str]) -> None:
    assert any("--swap-roles" in remark for remark in remarks)


def test_the_attackers_are_named_as_elsewhere_too(remarks: list[str]) -> None:
    named = "Ignorant is lazy-informed, Semi-Informed is near-informed, Informed is semi-informed"
    assert any(named in remark for remark in remarks)
