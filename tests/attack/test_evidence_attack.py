"""Attacks with more than the voice, and attacks that undo, through the whole way of the data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from error_codes import raises_code
from small_speech import Bands, small_corpus

from sottovoce.attack.artifacts import read_attack
from sottovoce.attack.evidence import AvailableEvidence
from sottovoce.attack.evidence.block import EvidenceEncoder
from sottovoce.attack.evidence.energy import Energy
from sottovoce.attack.evidence.rhythm import Rhythm
from sottovoce.attack.evidence_links import top_1
from sottovoce.attack.inputs import AttackInputs, divide_speech
from sottovoce.attack.knowledge import ATTACKERS
from sottovoce.attack.representation import REPRESENTATIONS
from sottovoce.attack.run import run_attacks
from sottovoce.attack.score import ScoreTable
from sottovoce.attack.speech import AnonymiserSpec, SpeechCache, SpeechSet, operators_secret
from sottovoce.findings import AttackSettings

SPEC = AnonymiserSpec("mcadams", {"coefficient": "speaker"})


@pytest.fixture
def cheap_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    encoders = (EvidenceEncoder(Rhythm()), EvidenceEncoder(Energy()))
    evidence = AvailableEvidence(encoders, {"words": "no recogniser"})
    monkeypatch.setattr(
        "sottovoce.attack.representation.available_evidence", lambda languages: evidence
    )
    monkeypatch.setattr("sottovoce.attack.evidence.ENCODERS", {})


def prepared(folder: Path, train_speakers: int = 12) -> tuple[AttackInputs, SpeechCache]:
    attacked = SpeechSet.of(small_corpus(folder / "attacked", 5, each=4))
    train = SpeechSet.of(small_corpus(folder / "train", train_speakers, each=4, prefix="t"))
    division = divide_speech(attacked, train)
    cache = SpeechCache(folder / "out", Bands(), jobs=1)
    released = cache.anonymise(attacked, SPEC, operators_secret(0), "released")
    inputs = AttackInputs(division.enrol, division.trial, division.train, released, anonymiser=SPEC)
    return inputs, cache


@pytest.mark.usefixtures("cheap_evidence")
def test_fusion_reports_what_each_part_links_and_can_be_read_back(tmp_path: Path) -> None:
    inputs, cache = prepared(tmp_path)
    settings = AttackSettings(linkage="fused", draws=2)
    (report,) = run_attacks(inputs, [ATTACKERS["semi-informed"]], settings, cache)
    assert report.trained.name == "fused"
    assert report.representation == "frozen+evidence"
    assert [link.name for link in report.evidence] == ["bands", "rhythm", "energy"]
    assert sum(link.share for link in report.evidence) == pytest.approx(1)
    assert all(0 <= link.top_1 <= 1 and link.chance == 1 / 5 for link in report.evidence)
    assert [entry.name for entry in report.unavailable] == ["words"]
    stored = read_attack(tmp_path / "out" / "semi-informed")
    assert [part.name for part in stored.enrol.blocks] == ["bands", "rhythm", "energy"]
    scores = stored.linkage.enrol(stored.enrol.vectors[:1], 1) @ (
        stored.linkage.trial(stored.trial.vectors, 1).T
    )
    assert np.isfinite(scores).all()


@pytest.mark.usefixtures("cheap_evidence")
def test_each_part_is_embedded_once_for_all_attacks(tmp_path: Path) -> None:
    inputs, cache = prepared(tmp_path)
    encoder = cache.encoder
    assert isinstance(encoder, Bands)
    run_attacks(inputs, [ATTACKERS["semi-informed"]], AttackSettings(draws=2), cache)
    embedded = encoder.embedded
    fused = AttackSettings(linkage="fused", draws=2)
    run_attacks(inputs, [ATTACKERS["semi-informed"]], fused, cache)
    assert encoder.embedded == embedded


@pytest.mark.usefixtures("cheap_evidence")
def test_strongest_tries_undoing_and_fusion_too(tmp_path: Path) -> None:
    inputs, cache = prepared(tmp_path, train_speakers=16)
    settings = AttackSettings(linkage="strongest", draws=2)
    (report,) = run_attacks(inputs, [ATTACKERS["semi-informed"]], settings, cache)
    tried = {(entry.representation, entry.linkage) for entry in report.techniques}
    assert {("frozen", "whitening"), ("frozen+evidence", "fused")} <= tried
    assert {("undone", "whitening"), ("undone+evidence", "fused")} <= tried
    assert ("frozen", "fused") not in tried
    assert ("frozen+evidence", "whitening") not in tried
    assert ("frozen+undone", "fused") in tried
    assert sum(entry.chosen for entry in report.techniques) == 1
    assert {link.name for link in report.evidence} >= {"rhythm", "energy"}  # whatever was chosen


def test_undoing_needs_an_inverse_and_the_anonymiser(tmp_path: Path) -> None:
    inputs, cache = prepared(tmp_path, train_speakers=6)
    settings = AttackSettings(encoder="undone", draws=1)
    with raises_code("unavailable") as caught:
        run_attacks(inputs, [ATTACKERS["ignorant"]], settings, cache)
    assert "anonymiser" in str(caught.value)
    with raises_code("unavailable") as caught:  # 4 speakers that do not judge are too few
        run_attacks(inputs, [ATTACKERS["semi-informed"]], settings, cache)
    assert "speakers" in str(caught.value)
    assert "undone" in REPRESENTATIONS


def test_speech_that_was_anonymised_elsewhere_has_unknown_draws(tmp_path: Path) -> None:
    inputs, cache = prepared(tmp_path)
    elsewhere = cache.anonymise(inputs.train, SPEC, operators_secret(5), "elsewhere")
    given = replace(inputs, prepared={("train", "attacker"): elsewhere})
    with raises_code("unavailable"):
        settings = AttackSettings(encoder="undone", draws=1)
        run_attacks(given, [ATTACKERS["semi-informed"]], settings, cache)


def test_ties_for_the_first_place_count_in_part() -> None:
    table = ScoreTable(
        np.array([[3.0, 1.0, 2.0], [3.0, 2.0, 1.0]]),
        np.array(["a", "b"]),
        np.array(["1", "2", "3"]),
        np.array(["a", "b", "b"]),
    )
    assert top_1(table) == pytest.approx((0.5 + 1 + 0) / 3)
    listed = np.array([[True, True, False], [False, True, True]])
    assert top_1(replace(table, listed=listed)) == pytest.approx(1)
