"""Attacks on speech for a paper: parts of corpora, and steps that are made once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sottovoce.attack import ATTACKERS
from sottovoce.attack.speech import AnonymiserSpec
from sottovoce.corpus.audio import load_length
from sottovoce.corpus.demo import builtin_corpus
from sottovoce.corpus.manifest import read_manifest
from sottovoce.corpus.utterance import Corpus
from sottovoce.measure import eer
from sottovoce.papers.data import PaperData, PartSize, part_of, spread, training_part
from sottovoce.papers.speech import INFORMED_AS_PUBLISHED, ORIGINALS, SpeechStudy, open_study

MCADAMS = AnonymiserSpec("mcadams")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return builtin_corpus(tmp_path_factory.mktemp("cache"), speakers=8, utterances=6)


@pytest.fixture(scope="module")
def corpus(folder: Path) -> Corpus:
    return read_manifest(folder)


def test_a_part_has_its_size_and_both_genders(corpus: Corpus) -> None:
    part = part_of(corpus, PartSize(speakers=4, enrol=1, trial=2))
    assert len(part.speakers) == 4
    genders = [utterances[0].gender for utterances in part.by_speaker().values()]
    assert sorted(genders) == ["f", "f", "m", "m"]
    splits = [utterance.split for utterance in part]
    assert splits.count("enrol") == 4 and splits.count("trial") == 8
    assert all(load_length(utterance).seconds <= 3.5 + 1e-6 for utterance in part)
    assert part_of(corpus, None) is corpus


def test_what_is_cut_has_no_transcript(corpus: Corpus) -> None:
    part = training_part(corpus, speakers=3, each=2, seconds=1.0)
    assert len(part) == 6
    for utterance in part:
        assert load_length(utterance).seconds <= 1.0 + 1e-6 and utterance.transcript == ""


def test_utterances_are_spread_over_a_list(corpus: Corpus) -> None:
    utterances = corpus.utterances[:6]
    assert spread(utterances, 3) == [utterances[0], utterances[2], utterances[4]]
    assert spread(utterances, 9) == list(utterances) and spread(utterances, 0) == []


def test_attacks_are_made_and_speech_is_kept(corpus: Corpus, tmp_path: Path) -> None:
    study = SpeechStudy(corpus, None, tmp_path)
    originals = study.table(None, ORIGINALS, linkage="cosine", over="utterance")
    division = study.division
    assert originals.values.shape == (len(division.enrol.corpus), len(division.trial.corpus))
    assert not set(division.train.corpus.speakers) & set(division.trial.corpus.speakers)
    lazy = study.table(MCADAMS, ATTACKERS["lazy-informed"], linkage="cosine")
    informed = study.table(MCADAMS, INFORMED_AS_PUBLISHED, linkage="cosine")
    assert eer(informed.scores()) <= eer(lazy.scores())
    written = {path: path.stat().st_mtime_ns for path in (tmp_path / "speech").rglob("*.wav")}
    assert written or list((tmp_path / "speech").rglob("*.flac"))
    again = SpeechStudy(corpus, None, tmp_path)
    repeated = again.table(MCADAMS, ATTACKERS["lazy-informed"], linkage="cosine")
    assert np.array_equal(repeated.values, lazy.values)
    assert {path: path.stat().st_mtime_ns for path in written} == written


def test_trials_alone_are_released_to_a_crowd(folder: Path, tmp_path: Path) -> None:
    data = PaperData(tmp_path, corpus=str(folder))
    study = open_study(data, crowd=True)
    assert study.released(MCADAMS).ids == study.division.trial.ids
    assert "training" not in study.described and "other speakers" in study.described


def test_a_quick_run_takes_a_part(folder: Path, tmp_path: Path) -> None:
    data = PaperData(tmp_path, quick=True, corpus=str(folder))
    study = open_study(data, PartSize(speakers=4, enrol=1, trial=1))
    assert len(study.division.trial.corpus) == 2  # the other half is trained on
