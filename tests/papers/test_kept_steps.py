"""Steps of items are kept under all they depend on, also under what a list says of a recording."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sottovoce.audit.utility import UtilityMeter
from sottovoce.core.step_cache import Step, StepCache
from sottovoce.corpus.demo import builtin_corpus
from sottovoce.corpus.manifest import read_manifest, write_manifest
from sottovoce.corpus.utterance import Corpus, Utterance
from sottovoce.papers.comprise_2021.crowd_attacks import crowd_curves
from sottovoce.papers.comprise_2021.design_choices import Choice, DesignStudy
from sottovoce.papers.data import PaperData
from sottovoce.papers.maouche_2020 import combinations
from sottovoce.papers.speech import open_study
from sottovoce.papers.vauquier_2025 import reidentification_by_attacker

OTHER_SIDE = {"enrol": "trial", "trial": "enrol"}
Attacks = Callable[[PaperData], object]


def attack_choice(data: PaperData) -> object:
    return DesignStudy(data).result(Choice("plda", "dense", "random", "speaker"), "ignorant")


def recognise(data: PaperData) -> object:
    return open_study(data).word_errors(None, 10)


class AskedError(Exception):
    """Ends an item at its first step."""


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return builtin_corpus(tmp_path / "cache", speakers=8, utterances=4)


@pytest.fixture
def first_key(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Attacks], str]:
    """What the first step of an item is kept under."""
    keys = []

    def ask(steps: StepCache, step: Step[object], inputs: object, compute: object) -> None:
        keys.append(steps.key(inputs))
        raise AskedError

    monkeypatch.setattr(StepCache, "get", ask)

    def run(attacks: Attacks) -> str:
        with pytest.raises(AskedError):
            attacks(PaperData(tmp_path / "out", corpus=str(corpus)))
        return keys[-1]

    return run


def rewrite(corpus: Path, change: Callable[[Utterance], Utterance]) -> None:
    """Say something else of the same recordings."""
    utterances = tuple(change(utterance) for utterance in read_manifest(corpus))
    write_manifest(Corpus("changed", corpus, utterances), corpus)


@pytest.mark.parametrize(
    "attacks", [crowd_curves, reidentification_by_attacker, combinations, attack_choice]
)
def test_enrolment_and_trials_that_change_sides_are_attacked_anew(
    attacks: Attacks, corpus: Path, first_key: Callable[[Attacks], str]
) -> None:
    before = first_key(attacks)
    assert first_key(attacks) == before
    rewrite(corpus, lambda u: replace(u, split=OTHER_SIDE[u.split]))
    assert first_key(attacks) != before


@pytest.mark.parametrize("attacks", [attack_choice, recognise])
def test_words_are_counted_anew_with_other_transcripts(
    attacks: Attacks, corpus: Path, first_key: Callable[[Attacks], str]
) -> None:
    before = first_key(attacks)
    rewrite(corpus, lambda u: replace(u, transcript=f"{u.transcript} again"))
    assert first_key(attacks) != before


def test_words_of_a_choice_are_counted_once_the_recogniser_is_there(
    first_key: Callable[[Attacks], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(UtilityMeter, "availability", lambda meter: [False, False])
    before = first_key(attack_choice)
    monkeypatch.setattr(UtilityMeter, "availability", lambda meter: [True, False])
    assert first_key(attack_choice) != before
