"""The extensions of the example plug-in through the service."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from live_service import clip, samples

requests = pytest.importorskip("requests")


@pytest.fixture(scope="module")
def url(plugin_folder: Path) -> Iterator[str]:
    """Address of a service whose process has the plug-in installed."""
    process = subprocess.Popen(
        [sys.executable, "-m", "sottovoce", "serve", "--port", "0", "--workers", "1"],
        env={**os.environ, "PYTHONPATH": str(plugin_folder), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if match := re.search(r"http://127\.0\.0\.1:\d+", line):
                yield match[0]
                break
        else:
            pytest.fail("the service did not start")
    finally:
        process.terminate()
        process.communicate(timeout=20)


def post(url: str, path: str, **content: Any) -> Any:
    with requests.Session() as session:
        session.trust_env = False
        reply = session.post(url + path, timeout=60, **content)
    assert reply.status_code == 200, reply.text
    return reply


def test_all_names_can_be_chosen(url: str) -> None:
    with requests.Session() as session:
        session.trust_env = False
        choices = session.get(f"{url}/v1/choices", timeout=60).json()
    assert "spectrum-warp" in choices["methods"]
    assert "blanks" in choices["strategies"]
    assert "titles" in choices["taggers"]
    assert "syllable-counter" in choices["recognisers"]
    assert "roc_area" in choices["measures"]
    assert "standardised-cosine" in [linkage["name"] for linkage in choices["linkages"]]


def test_voice(url: str) -> None:
    sound = clip()
    reply = post(url, "/v1/anonymise/voice?method=spectrum-warp&strength=0.3&seed=1", data=sound)
    before, after = samples(sound)[0], samples(reply.content)[0]
    assert len(before) == len(after)
    assert np.corrcoef(before, after)[0, 1] < 0.95


def test_text(url: str) -> None:
    query = "/v1/anonymise/text?tagger=titles&strategy=blanks"
    reply = post(url, query, data=b"please open the nurse window")
    assert reply.json()["text"] == "please open the nurse ____"


def test_recogniser(url: str) -> None:
    reply = post(url, "/v1/recognise?recogniser=syllable-counter", data=clip())
    assert set(reply.json()["text"].split()) == {"la"}


def test_measure(url: str) -> None:
    scores = b"score,label\n3,mated\n5,mated\n1,nonmated\n4,nonmated\n"
    query = "/v1/measure?only=roc_area&interval=0"
    assert post(url, query, data=scores).json()["measures"]["roc_area"]["value"] == 0.75
    assert "ROC area" in post(url, f"{query}&format=html", data=scores).text
