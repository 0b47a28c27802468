"""Recognisers trained on original and anonymised speech: cases, pairing, cache and refusals."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from error_codes import raises_code

pytest.importorskip("torch")
pytest.importorskip("onnx")

from sottovoce.attack.slicing import cut_speech
from sottovoce.attack.speech import (
    AnonymiserSpec,
    SpeechCache,
    SpeechSet,
    attackers_secret,
    operators_secret,
)
from sottovoce.audit.retrained import ComparisonSettings, RecogniserComparison
from sottovoce.audit.run import run_audit
from sottovoce.audit.speech_forms import SpeechForms
from sottovoce.audit.study import Study
from sottovoce.cli import run
from sottovoce.corpus import open_corpus
from sottovoce.corpus.manifest import write_manifest
from sottovoce.corpus.utterance import Corpus
from sottovoce.findings import RetrainedUtility
from sottovoce.report.retrained import retrained_page, retrained_readings
from sottovoce.speaker.encoders import make_encoder
from sottovoce.training.recogniser import RecogniserSettings

TINY = RecogniserSettings(epochs=1, seconds=60, width=8, blocks=1)
METHOD = AnonymiserSpec("mcadams")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> SpeechCache:
    return SpeechCache(tmp_path_factory.mktemp("store"), make_encoder(), 1)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return open_corpus("builtin")


@pytest.fixture(scope="module")
def train(store: SpeechCache, corpus: Corpus) -> SpeechForms:
    speech = SpeechSet.of(corpus.select(speakers=list(corpus.speakers[:6])))
    return SpeechForms(speech, store.anonymise(speech, METHOD, attackers_secret(0), "train"))


@pytest.fixture(scope="module")
def test(store: SpeechCache, corpus: Corpus) -> SpeechForms:
    chosen = corpus.select(speakers=list(corpus.speakers[-6:]), split="trial").select(
        lambda u: int(u.id.rpartition("-")[2]) % 3 == 0
    )
    speech = SpeechSet.of(chosen)
    return SpeechForms(speech, store.anonymise(speech, METHOD, operators_secret(0), "test"))


@pytest.fixture(scope="module")
def result(train: SpeechForms, test: SpeechForms, store: SpeechCache) -> RetrainedUtility:
    return RecogniserComparison(train, test, store, ComparisonSettings(TINY)).result()


def test_four_cases_with_intervals_and_differences(
    result: RetrainedUtility, test: SpeechForms
) -> None:
    assert [rate.case for rate in result.rates] == ["O-O", "A-O", "O-A", "A-A"]
    assert all(rate.low <= rate.value <= rate.high for rate in result.rates)  # type: ignore[operator]
    assert result.resampled == "speaker"
    assert result.utterances == len(test.original.corpus) and result.speakers == 6
    pairs = [(difference.first, difference.second) for difference in result.differences]
    assert pairs == [("A-O", "O-O"), ("O-A", "O-O"), ("A-A", "O-O"), ("A-A", "A-O")]
    rates = {rate.case: rate.value for rate in result.rates}
    for difference in result.differences:
        expected = rates[difference.first] - rates[difference.second]
        assert difference.value == pytest.approx(expected, abs=1e-12)


def test_nothing_is_made_twice(
    result: RetrainedUtility, train: SpeechForms, test: SpeechForms, store: SpeechCache
) -> None:
    store.steps.computed.clear()
    again = RecogniserComparison(train, test, store, ComparisonSettings(TINY)).result()
    assert again == result
    assert not store.steps.computed


def test_page_names_every_case(result: RetrainedUtility) -> None:
    page = retrained_page(result)
    assert all(case in page for case in ("O-O", "A-O", "O-A", "A-A"))
    assert any("stay as they are" in line for line in retrained_readings(result))


def test_slices_keep_the_words(train: SpeechForms, store: SpeechCache, corpus: Corpus) -> None:
    pytest.importorskip("pocketsphinx")
    few = train.original.with_ids({u.id for u in train.original.corpus.utterances[:3]})
    anonymised = train.form("anonymised").with_ids(few.ids)
    slices = cut_speech(few, 1.0, "words", store).speech.corpus
    changed = cut_speech(anonymised, 1.0, "words", store, timed_by=few).speech.corpus
    said = {u.id: u.transcript for u in few.corpus}
    pieces: dict[str, list[str]] = {}
    for piece in slices:
        pieces.setdefault(piece.id.rpartition("/")[0], []).append(piece.transcript)
    assert pieces
    for name, texts in pieces.items():
        joined = "".join(char for char in " ".join(texts).lower() if char.isalnum())
        assert joined == "".join(char for char in said[name].lower() if char.isalnum())
    stretches = [(u.id, u.start, u.end, u.transcript) for u in slices]
    assert stretches == [(u.id, u.start, u.end, u.transcript) for u in changed]


def test_refuses_what_cannot_be_compared(
    train: SpeechForms, test: SpeechForms, store: SpeechCache
) -> None:
    settings = ComparisonSettings(TINY)
    with raises_code("not-disjoint"):
        RecogniserComparison(train, train, store, settings)
    with raises_code("not-found"):
        SpeechForms(train.original, test.anonymised)
    silent = [replace(u, transcript="") for u in train.original.corpus]
    mute = SpeechSet.of(replace(train.original.corpus, utterances=tuple(silent)))
    with raises_code("missing-transcript"):
        RecogniserComparison(SpeechForms(mute), None, store, settings)


def test_command_writes_results_and_refuses_bad_input(
    tmp_path: Path, train: SpeechForms, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "corpus"
    folder.mkdir()
    write_manifest(train.original.corpus, folder)
    out = tmp_path / "out"
    words = ["--quiet", "train", "recogniser", str(folder), "--out", str(out)]
    assert run([*words, "--epochs", "1", "--width", "8", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["recognisers"][0]["trained_on"] == "original" and not printed["rates"]
    assert (out / "result.json").is_file() and (out / "report.html").is_file()
    assert list((out / "recognisers").glob("original-*.onnx"))
    for bad in (["--epochs", "0"], ["--test", str(tmp_path / "nowhere")], ["--slice", "0"]):
        assert run([*words[:-1], str(tmp_path / "none"), *bad]) == 2
        assert len(capsys.readouterr().err.strip().splitlines()) == 1
    assert run([*words, "--test-anonymised", str(folder)]) == 2


def test_audit_holds_the_comparison(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sottovoce.audit import run as audit_run

    monkeypatch.setattr(audit_run, "RecogniserSettings", lambda seed: replace(TINY, seed=seed))
    corpus = open_corpus("builtin")
    few = corpus.select(speakers=list(corpus.speakers[:10]))
    chosen = few.select(lambda u: int(u.id.rpartition("-")[2]) <= 5)
    folder = tmp_path / "corpus"
    folder.mkdir()
    write_manifest(chosen, folder)
    study = Study.model_validate(
        {
            "corpus": str(folder),
            "anonymisers": ["mcadams"],
            "attackers": ["semi-informed"],
            "linkage": "cosine",
            "draws": 1,
            "utility": {"retrained": True, "quality": False, "f0": False, "wer": False},
        }
    )
    findings = run_audit(study, tmp_path / "audit", jobs=1, audio=False)
    retrained = findings.anonymisers[0].retrained
    assert isinstance(retrained, RetrainedUtility), retrained
    assert len(retrained.rates) == 4
    assert np.isfinite([rate.value for rate in retrained.rates]).all()
    assert (
        "Recognisers trained on speech of mcadams"
        in (tmp_path / "audit" / "report.html").read_text()
    )
