"""Clients written for COMPRISE's services: their calls, letter by letter."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from error_codes import raises_code
from live_service import Service, clip, running, samples

from sottovoce.anonymise import Secret
from sottovoce.anonymise.voice import make_method
from sottovoce.anonymise.voice.method import fit_recording
from sottovoce.anonymise.voice.pool import Pool
from sottovoce.core.records import JsonObject
from sottovoce.corpus.utterance import Utterance
from sottovoce.serve.comprise import text_job, voice_job
from sottovoce.serve.settings import Settings
from sottovoce.serve.sound import raw_as_wav

requests = pytest.importorskip("requests")


def test_the_voice_client_of_the_deliverable(service: Service, tmp_path: Path) -> None:
    """COMPRISE deliverable D2.3 (2021), section 3.1."""
    API_URL = service.url  # noqa: N806
    input_file = tmp_path / "vctk_p225_003.wav"
    input_file.write_bytes(clip(2, rate=48000))
    with open(input_file, mode="rb") as fp:
        content = fp.read()
    params = {
        "wgender": "f",
        "cross_gender": "same",
        "distance": "plda",
        "proximity": "random",
        "sample-frequency": 48000,
    }
    response = requests.post("{}/vpc".format(API_URL), data=content, params=json.dumps(params))  # noqa: UP032
    result_file = tmp_path / "transformed.wav"
    with open(result_file, mode="wb") as fp:
        fp.write(response.content)

    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "audio/wav"
    before, after = samples(content), samples(result_file.read_bytes())
    assert before[1] == after[1] == 48000
    assert len(before[0]) == len(after[0])


@pytest.mark.parametrize("path", ["/transform", "/vpc"])
def test_the_text_client_of_the_deliverable(service: Service, path: str) -> None:
    """COMPRISE deliverable D2.3 (2021), section 3.2; its service had the first path."""
    response = requests.post(
        service.url + path, data="I live in Germany", params=json.dumps({"r": "FULL"})
    )
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].startswith("text/plain")
    assert response.text.startswith("I live in ")


def test_redacting_and_languages(service: Service) -> None:
    def sent(text: str, **params: str) -> str:
        answer = service.post("/transform", data=text.encode(), params=json.dumps(params))
        content: str = answer.text
        return content

    assert sent("I live in Germany", r="REDACT") == "I live in █████"
    assert "München" not in sent("ich wohne in München", r="WORD", m="de-ner")
    assert "München" not in sent("ich wohne in München", r="REDACT", m="ner-multi")


def test_a_text_without_parameters_is_a_text(service: Service) -> None:
    """Both services had the path /vpc, and r and m have defaults."""
    for params in ("", "{}"):
        answer = service.post("/vpc", data="I live in Germany", params=params)
        assert answer.status_code == 200 and answer.text.startswith("I live in ")


# ------------------------------------------------------- docs/service.md, Clients of COMPRISE


@pytest.fixture(scope="module")
def with_pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, Path]]:
    """A service with a pool of half of the voices, under a name that looks like a path."""
    pool = Pool.load()
    women, men = (np.flatnonzero(pool.gender == gender)[:30] for gender in "fm")
    rows = np.sort(np.concatenate([women, men]))
    smaller = replace(
        pool,
        speakers=pool.speakers[rows],
        gender=pool.gender[rows],
        vectors=pool.vectors[rows],
        pitch=pool.pitch[rows],
        exemplars=np.arange(len(rows)) // 6 * 6,
    )
    path = tmp_path_factory.mktemp("pool") / "half.npz"
    smaller.save(path)
    with running(workers=1, pools={"data/anon_pool": path}) as service:
        yield service, path


VOICE = {"wgender": "f", "proximity": "random"}


def test_anon_pool_is_a_pool_of_the_service(with_pool: tuple[Service, Path]) -> None:
    service, path = with_pool
    params = {**VOICE, "anon-pool": "data/anon_pool"}
    answer = service.post("/vpc", data=clip(), params=json.dumps(params))
    assert answer.status_code == 200, answer.text
    query = "method=xvector&seed=3&proximity=random&source_gender=f&pool=data/anon_pool"
    answer = service.post(f"/v1/anonymise/voice?{query}", data=clip())
    method = make_method(
        "xvector", Secret.reproducible(3), proximity="random", source_gender="f", pool=path
    )
    audio, rate = samples(clip())
    utterance = Utterance("utterance", path.with_name("clip.wav"), "speaker")
    utterance.path.write_bytes(clip())
    fit_recording(method, utterance)
    expected = method.transform(
        audio.astype(np.float32), rate, speaker="speaker", utterance="utterance"
    )
    np.testing.assert_allclose(samples(answer.content)[0], expected, atol=1.01 / 32768)
    assert service.get("/v1/choices").json()["pools"] == ["data/anon_pool"]


def test_other_pools_are_refused(service: Service, with_pool: tuple[Service, Path]) -> None:
    params = json.dumps({**VOICE, "anon-pool": "/etc/passwd"})
    assert service.post("/vpc", data=clip(), params=params).json()["code"] == "not-allowed"
    answer = with_pool[0].post("/vpc", data=clip(), params=params)
    assert answer.json()["code"] == "unknown-name"
    query = "method=mcadams&pool=data/anon_pool"
    answer = with_pool[0].post(f"/v1/anonymise/voice?{query}", data=clip())
    assert answer.json()["code"] == "unknown-name"


@pytest.mark.parametrize("name", ["cross_gender", "cross-gender"])
@pytest.mark.parametrize("value", ["same", "other", "random"])
def test_cross_gender(name: str, value: str) -> None:
    job = voice_job({"wgender": "m", name: value}, Settings())
    expected = {"same": "same", "other": "opposite", "random": "random"}[value]
    assert job.settings == {"source_gender": "m", "gender": expected}


@pytest.mark.parametrize("value", ["plda", "cosine"])
def test_distance(value: str) -> None:
    assert voice_job({"wgender": "f", "distance": value}, Settings()).settings["distance"] == value


@pytest.mark.parametrize(("value", "expected"), [("dense", "dense"), ("farthest", "far")])
def test_proximity(service: Service, value: str, expected: str) -> None:
    parameters: JsonObject = {"wgender": "f", "proximity": value}
    assert voice_job(parameters, Settings()).settings["proximity"] == expected
    assert service.post("/vpc", data=clip(), params=json.dumps(parameters)).status_code == 200


@pytest.mark.parametrize("rate", [16000, 48000])
def test_raw_samples_need_a_rate(service: Service, rate: int) -> None:
    sound = clip(2, rate=rate)
    raw = sound[44:]
    params = {**VOICE, "sample-frequency": rate}
    answer = service.post("/vpc", data=raw, params=json.dumps(params))
    assert answer.status_code == 200, answer.text
    changed, got_rate = samples(answer.content)
    assert (got_rate, len(changed)) == (rate, len(raw) // 2)
    assert service.post("/vpc", data=raw, params=json.dumps(VOICE)).json()["code"] == "damaged"


def test_raw_samples_get_the_header_of_their_rate() -> None:
    raw = np.arange(-300, 300, dtype="<i2").tobytes()
    audio, rate = samples(raw_as_wav(raw, 22050))
    assert rate == 22050 and (audio * 32768 == np.arange(-300, 300)).all()
    assert raw_as_wav(clip(), 16000) == clip()
    quiet = np.resize(np.array([-1, -5, -1, 0], "<i2"), 8000).tobytes()  # begins like MPEG
    assert len(samples(raw_as_wav(quiet, 8000))[0]) == 8000


@pytest.mark.parametrize("data", [b"text\n" * 4, clip()[:30], bytes(3), b"\x1aE\xdf\xa3" * 4])
def test_other_files_are_no_raw_samples(data: bytes) -> None:
    with raises_code("damaged"):
        raw_as_wav(data, 16000)


@pytest.mark.parametrize(
    ("model", "lang"),
    [
        ("ner", "en"),
        ("ner-fast", "en"),
        ("ner-ontonotes-large", "en"),
        ("de-ner", "de"),
        ("fr-ner", "fr"),
        ("nl-ner-large", "nl"),
        ("es", "es"),
        ("flair/ner-german-large", "de"),
        ("ner-multi", "multi"),
        ("ner-multi-fast", "multi"),
        ("flair/ner-multi", "multi"),
    ],
)
def test_models_of_flair_are_languages(model: str, lang: str) -> None:
    assert text_job({"m": model}).lang == lang


@pytest.mark.parametrize(
    ("model", "code"),
    [
        ("models/mine.pt", "not-allowed"),
        ("mine.pt", "not-allowed"),
        ("da-ner", "unknown-name"),
    ],
)
def test_other_models_are_refused(model: str, code: str) -> None:
    with raises_code(code):
        text_job({"m": model})


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ("{}", "missing-part"),
        ('{"distance": "plda"}', "missing-part"),
        ('{"wgender": "x"}', "out-of-range"),
        ('{"wgender": "f", "anon-pool": "/etc/passwd"}', "not-allowed"),
        ('{"wgender": "f", "sample-frequency": 8000}', "mismatch"),
        ('{"wgender": "f", "sample-frequency": "fast"}', "wrong-type"),
        ('{"wgender": "f", "speed": 2}', "unknown-name"),
        ('{"wgender"', "not-json"),
        ('{"r": "ROT13"}', "out-of-range"),
        ('{"r": "FULL", "m": "klingon"}', "unknown-name"),
        ("{" * 20_000, "not-json"),
    ],
)
def test_wrong_parameters_are_one_line(service: Service, params: str, code: str) -> None:
    answer = service.post("/vpc", data=clip(), params=params)
    assert answer.status_code == 400
    assert answer.json()["code"] == code
