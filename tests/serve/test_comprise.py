"""Clients written for COMPRISE's services: their calls, letter by letter."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from live_service import Service, clip, samples

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


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ("{}", "missing-part"),
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
