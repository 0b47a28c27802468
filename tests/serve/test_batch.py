"""Several recordings in one request, and one archive back."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from error_codes import raises_code
from live_service import Service, clip, samples

from sottovoce.anonymise import Secret
from sottovoce.anonymise.voice import make_method
from sottovoce.corpus.audio import load_native
from sottovoce.corpus.utterance import Corpus, Utterance
from sottovoce.serve.batch_names import check_names

PATH = "/v1/anonymise/batch?seed=3"
CLIPS = {"a.wav": clip(1), "monday/b.flac": clip(2, kind="FLAC"), "c.ogg": clip(3)}


def send(service: Service, path: str, files: dict[str, bytes]) -> tuple[Any, zipfile.ZipFile]:
    answer = service.post(path, files=[("audio", pair) for pair in files.items()])
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/zip"
    archive = zipfile.ZipFile(io.BytesIO(answer.content))
    return json.loads(archive.read("manifest.json")), archive


@pytest.mark.parametrize("same_speaker", [False, True])
def test_recordings_are_changed_as_the_library_does(
    service: Service, tmp_path: Path, same_speaker: bool
) -> None:
    manifest, archive = send(
        service, f"{PATH}&same_speaker={same_speaker}&coefficient=speaker", CLIPS
    )
    assert archive.namelist() == ["a.wav", "monday/b.flac", "c.ogg.wav", "manifest.json"]
    assert (manifest["method"], manifest["done"], manifest["refused"]) == ("mcadams", 3, 0)
    utterances = []
    for number, (name, data) in enumerate(CLIPS.items()):
        path = tmp_path / str(number)
        path.write_bytes(data)
        utterances.append(Utterance(name, path, "speaker" if same_speaker else name))
    method = make_method("mcadams", Secret.reproducible(3), coefficient="speaker")
    method.fit(Corpus("batch", tmp_path, tuple(utterances)))
    for utterance, entry in zip(utterances, manifest["files"], strict=True):
        audio, rate = load_native(utterance)
        expected = method.transform(audio, rate, speaker=utterance.speaker, utterance=utterance.id)
        got, got_rate = samples(archive.read(entry["file"]))
        assert (entry["name"], got_rate) == (utterance.id, rate)
        np.testing.assert_allclose(got, expected, atol=1.01 / 32768)


def test_what_cannot_be_changed_is_named_with_its_reason(service: Service) -> None:
    files = {"a.wav": clip(1), "b.wav": b"no sound", "empty.wav": b"", "zeros.wav": silence()}
    manifest, archive = send(service, PATH, files)
    assert archive.namelist() == ["a.wav", "manifest.json"]
    assert (manifest["done"], manifest["refused"]) == (1, 3)
    codes = {entry["name"]: entry["code"] for entry in manifest["files"]}
    assert codes == {
        "a.wav": None,
        "b.wav": "damaged",
        "empty.wav": "empty",
        "zeros.wav": "silent",
    }
    assert "/proc" not in json.dumps(manifest)


def silence() -> bytes:
    sound = bytearray(clip(1))
    sound[44:] = bytes(len(sound) - 44)
    return bytes(sound)


@pytest.mark.parametrize(
    ("parts", "query", "code"),
    [
        ([("audio", ("../a.wav", clip()))], "", "bad-name"),
        ([("audio", ("manifest.json", clip()))], "", "bad-name"),
        ([("audio", ("a.wav", clip())), ("audio", ("A.wav", clip()))], "", "repeated"),
        ([("sound", ("a.wav", clip()))], "", "unknown-name"),
        ([("audio", ("a.wav", clip()))], "&coeficient=1", "unknown-name"),
        ([("audio", ("a.wav", clip()))], "&method=vtln&targets=/etc", "not-allowed"),
        ([("audio", ("a.wav", clip()))], "&method=xvector&pool=mine", "not-allowed"),
    ],
)
def test_wrong_batches_are_refused(service: Service, parts: Any, query: str, code: str) -> None:
    answer = service.post(PATH + query, files=parts)
    assert (answer.status_code, answer.json()["code"]) == (400, code)


def test_an_empty_batch_is_refused(service: Service) -> None:
    assert service.post(PATH, data=b"").json()["code"] == "missing-part"


@pytest.mark.parametrize(
    "name",
    ["", ".", "/a.wav", "a/../b.wav", "a\\b.wav", "c:a.wav", "a\n.wav", "a//b.wav", "x" * 201],
)
def test_names_that_lead_elsewhere_are_refused(name: str) -> None:
    with raises_code("bad-name"):
        check_names(["fine.wav", name])
