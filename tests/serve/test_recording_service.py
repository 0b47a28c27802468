"""Recordings with their text: the same words and sound as from the library."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from live_service import Service, samples

from sottovoce.anonymise.recording.align import align
from sottovoce.corpus.audio import load_native
from sottovoce.corpus.demo import builtin_corpus
from sottovoce.corpus.manifest import read_manifest
from sottovoce.corpus.utterance import Utterance

pytest.importorskip("pocketsphinx")


@pytest.fixture(scope="module")
def spoken(tmp_path_factory: pytest.TempPathFactory) -> Utterance:
    corpus = builtin_corpus(tmp_path_factory.mktemp("cache"), speakers=2, utterances=2)
    return read_manifest(corpus).utterances[0]


def parts(utterance: Utterance) -> dict[str, bytes]:
    return {"audio": Path(utterance.path).read_bytes(), "text": utterance.transcript.encode()}


def test_words_are_found_when_they_were_said(service: Service, spoken: Utterance) -> None:
    answer = service.post("/v1/align", files=parts(spoken))
    assert answer.status_code == 200, answer.text
    audio, rate = load_native(spoken)
    expected = align(audio, rate, spoken.transcript).to_dict()
    assert answer.json() == expected


def test_listed_words_are_masked_in_sound_and_text(service: Service, spoken: Utterance) -> None:
    words = spoken.transcript.split()
    hidden = max(words, key=len).strip(".,")
    query = f"?method=none&words={hidden}&typed=true&mask=cut"
    answer = service.post(f"/v1/anonymise/recording{query}", files=parts(spoken))
    assert answer.status_code == 200, answer.text
    result = answer.json()
    assert hidden.lower() not in result["text"].lower()
    assert result["masked_words"] >= 1
    [start, end], [at, gone] = result["spans"][0]["before"], result["spans"][0]["after"]
    assert 0 <= start < end and at == gone
    head, _, data = result["audio"].partition(",")
    assert head == "data:audio/wav;base64"
    sound, rate = samples(base64.b64decode(data))
    audio, original_rate = load_native(spoken)
    assert rate == original_rate and len(sound) != len(audio)


def test_another_text_is_refused(service: Service, spoken: Utterance) -> None:
    wrong = {**parts(spoken), "text": b"quite other words were never said in this place at all"}
    answer = service.post("/v1/anonymise/recording?method=none", files=wrong)
    assert (answer.status_code, answer.json()["code"]) == (400, "withheld")
    assert "never" not in answer.json()["error"]


def test_decisions_of_a_review_are_replayed(service: Service, spoken: Utterance) -> None:
    query = "/v1/anonymise/recording?method=none&typed=true&seed=4"
    first = service.post(query, files=parts(spoken)).json()
    review = first["decisions"]
    (document,) = review["documents"]
    assert first["decided"]["person"] == 0 and document["decisions"]
    again = {**parts(spoken), "decisions": json.dumps(review).encode()}
    assert service.post(query, files=again).json() == first
    off = document["decisions"][0]
    off.update(mask=False, by="person")
    document["stretches"] = [{"start": 0.0, "end": 0.2, "kind": "PER"}]
    again["decisions"] = json.dumps(review).encode()
    second = service.post(query, files=again).json()
    assert second["decided"]["person"] == second["decided"]["kept_by_person"] == 1
    kept = first["transcript"][off["start"] : off["end"]]
    assert kept not in first["text"] and kept in second["text"]
    assert second["spans"][0]["before"] == [0.0, 0.2]
    wrong = {**parts(spoken), "text": b"other words", "decisions": again["decisions"]}
    refused = service.post(query, files=wrong)
    assert (refused.status_code, refused.json()["code"]) == (400, "changed-text")
    broken = service.post(query, files={**parts(spoken), "decisions": b"{}"})
    assert (broken.status_code, broken.json()["code"]) == (400, "wrong-shape")
