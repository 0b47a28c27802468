"""Each service against a direct call of the library."""

from __future__ import annotations

import io
import json
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from live_service import Service, clip, samples

from sottovoce.anonymise import Secret
from sottovoce.anonymise.text import TextAnonymiser
from sottovoce.anonymise.text.language_check import check_languages
from sottovoce.anonymise.voice import METHODS, make_method
from sottovoce.asr.recogniser import RECOGNISERS
from sottovoce.corpus.audio import load_native
from sottovoce.measure import Scores, measure_scores
from sottovoce.measure.reidentification import reidentify as study
from sottovoce.measure.reidentification_settings import ReidentificationSettings
from sottovoce.speaker import Embeddings
from sottovoce.speaker.linkage import LINKAGES, make_linkage


def npz(**arrays: Any) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


@pytest.fixture(scope="module")
def vectors() -> list[bytes]:
    rng = np.random.default_rng(5)
    speakers = np.repeat([f"s{i}" for i in range(12)], 6)
    voices = np.repeat(rng.normal(size=(12, 8)), 6, axis=0)
    return [
        npz(vectors=(voices + 0.5 * rng.normal(size=voices.shape)).astype("f4"), speakers=speakers)
        for _ in range(2)
    ]


@pytest.mark.parametrize("kind", ["WAV", "FLAC", "OGG"])
def test_a_voice_is_changed_as_the_library_does(
    service: Service, tmp_path: Path, kind: str
) -> None:
    buffer = io.BytesIO()
    soundfile.write(buffer, *samples(clip(1, rate=22050)), format=kind)
    sound = buffer.getvalue()
    answer = service.post("/v1/anonymise/voice?coefficient=0.8&format=flac&seed=3", data=sound)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "audio/flac"
    got, rate = samples(answer.content)
    path = tmp_path / "clip"
    path.write_bytes(sound)
    audio, original_rate = load_native(path)
    method = make_method("mcadams", Secret.reproducible(3), coefficient=0.8)
    expected = method.transform(audio, original_rate, speaker="speaker", utterance="utterance")
    assert rate == original_rate == 22050
    np.testing.assert_allclose(got, expected, atol=1.01 / 32768)
    assert np.abs(got - audio).max() > 0.01


def test_draws_are_secret_unless_a_seed_is_given(service: Service) -> None:
    def drawn(query: str) -> bytes:
        content: bytes = service.post(f"/v1/anonymise/voice{query}", data=clip()).content
        return content

    assert drawn("") != drawn("")
    assert drawn("?seed=1") == drawn("?seed=1") != drawn("?seed=2")
    assert drawn("?seed=1&utterance=a") != drawn("?seed=1")


def test_a_text_is_changed_as_the_library_does(service: Service) -> None:
    text = "call Ann Lee in Berlin at nine pm"
    answer = service.post("/v1/anonymise/text?lang=en&strategy=full&seed=4", data=text)
    assert answer.status_code == 200, answer.text
    anonymiser = TextAnonymiser("en", strategy="full", secret=Secret.reproducible(4))
    worst = anonymiser.worst_leak(written=True)
    assert worst is not None
    leak = {"guarantee": None, "worst_known": worst.to_dict()}
    languages = check_languages(text, "en").to_dict()
    expected = {**anonymiser.transform(text).to_dict(), **leak, **languages}
    del expected["decisions"]  # the answer has them as a file, with who decided
    assert expected.items() <= answer.json().items()
    assert answer.json().keys() - expected.keys() == {"decisions", "decided"}
    assert "Ann" not in answer.text


def test_the_part_of_a_text_in_another_language_is_named(service: Service) -> None:
    english = "please call my sister tomorrow and tell her that I will be late for dinner again\n"
    german = "bitte ruf morgen meine schwester an und sag ihr dass ich wieder zu spät komme\n"
    body = (english * 40 + german * 6).encode()
    answer = service.post("/v1/anonymise/text?lang=en&strategy=typed", data=body).json()
    assert answer["looks_like_language"] is None
    (part,) = answer["language_parts"]
    assert part["language"] == "de" and part["last"] in ("45", "46")
    assert 39 <= int(part["first"]) <= 43


MIXED = (
    "please call ann lee tomorrow about the train\nbitte ruf morgen hans müller wegen des zuges an"
)


@pytest.mark.parametrize("lang", ["auto", "multi"])
def test_a_text_of_several_languages(service: Service, lang: str) -> None:
    answer = service.post(f"/v1/anonymise/text?lang={lang}&strategy=typed", data=MIXED.encode())
    reply = answer.json()
    assert "ann" not in reply["text"] and "müller" not in reply["text"]
    assert [part["language"] for part in reply["languages"]] == ["en", "de"]
    assert reply["languages"][-1]["end"] == len(MIXED)
    assert reply["guarantee"] is None
    refused = service.post(f"/v1/anonymise/text?lang={lang}&kind=commands", data=MIXED.encode())
    assert refused.status_code == 400 and refused.json()["code"] == "unknown-name"


def test_special_categories_are_private_if_they_are_chosen(service: Service) -> None:
    url, text = "/v1/anonymise/text?strategy=typed", "Ann Lee is a Muslim."
    assert service.post(url, data=text).json()["text"] == "[PER] is a Muslim."
    chosen = service.post(f"{url}&types=per,sensitive", data=text).json()
    assert chosen["text"] == "[PER] is a [SENSITIVE]."
    refused = service.post(f"{url}&types=PER,HEALTH", data=text)
    assert refused.status_code == 400 and refused.json()["code"] == "unknown-name"


def test_a_text_has_a_leak_bound_only_if_its_kind_is_named_and_was_measured(
    service: Service,
) -> None:
    kinds = service.get("/v1/strategies").json()["kinds"]["en"]
    assert "commands" in kinds and "tweets" in kinds
    url, text = "/v1/anonymise/text?lang=en", "call ann lee in berlin"
    assert service.post(url, data=text).json()["guarantee"] is None
    answer = service.post(f"{url}&kind=commands", data=text).json()
    assert answer["guarantee"]["kind"] == "commands" and answer["worst_known"] is None
    refused = service.post(f"{url}&kind=love+letters", data=text)
    assert refused.status_code == 400, refused.text


@pytest.mark.parametrize("form", ["npz", "csv", "tsv", "parquet"])
def test_measures_are_those_of_the_library(service: Service, form: str) -> None:
    rng = np.random.default_rng(0)
    mated, nonmated = rng.normal(1, 1, 80), rng.normal(0, 1, 200)
    rows = [(float(s), 1) for s in mated] + [(float(s), 0) for s in nonmated]
    mark = {"csv": ",", "tsv": "\t"}.get(form, "")
    if form == "npz":
        data = npz(mated=mated, nonmated=nonmated)
    elif form == "parquet":
        import polars as pl

        buffer = io.BytesIO()
        columns = {"score": [s for s, _ in rows], "label": [k for _, k in rows]}
        pl.DataFrame(columns).write_parquet(buffer)
        data = buffer.getvalue()
    else:
        lines = [f"score{mark}label", *(f"{s!r}{mark}{label}" for s, label in rows)]
        data = "\n".join(lines).encode()
    answer = service.post("/v1/measure?resamples=200&seed=7", data=data)
    assert answer.status_code == 200, answer.text
    expected = measure_scores(Scores(mated, nonmated), replicates=200, seed=7)
    got = answer.json()
    assert got["n_mated"] == 80
    assert got["measures"]["eer"]["value"] == expected.measures["eer"].value
    if form == "npz":
        assert got == json.loads(json.dumps(expected.to_dict()))


def test_embeddings_are_compared(service: Service, vectors: list[bytes]) -> None:
    files = dict(zip(("original", "anonymised"), vectors, strict=True))
    answer = service.post("/v1/similarity?interval=0", files=files)
    assert answer.status_code == 200, answer.text
    assert "/proc" not in answer.text
    assert "deid" in answer.text.lower()


def test_speakers_are_found_again(service: Service, vectors: list[bytes]) -> None:
    files = dict(zip(("enrol", "trial"), vectors, strict=True))
    answer = service.post("/v1/reidentify?lengths=1,3&interval=0", files=files)
    assert answer.status_code == 200, answer.text
    assert "/proc" not in answer.text


def test_a_linkage_function_learns_from_the_speakers_sent_with_it(service: Service) -> None:
    rng = np.random.default_rng(8)
    sets = []
    for prefix, spread in (("a", 0.5), ("a", 0.6), ("t", 0.5)):
        speakers = np.repeat([f"{prefix}{i}" for i in range(12)], 6)
        voices = np.repeat(np.random.default_rng(ord(prefix)).normal(size=(12, 8)), 6, axis=0)
        noise = spread * rng.normal(size=voices.shape)
        sets.append((voices + noise).astype("f4"))
        sets.append(speakers)
    enrol, trial, train = (npz(vectors=sets[i], speakers=sets[i + 1]) for i in (0, 2, 4))
    files = {"enrol": enrol, "trial": trial, "train": train}
    path = "/v1/reidentify?lengths=1&interval=0&populations=12"
    answer = service.post(f"{path}&linkage=plda&lda=6", files=files)
    assert answer.status_code == 200, answer.text
    known, unknown, others = (Embeddings.of(sets[i], sets[i + 1].tolist()) for i in (0, 2, 4))
    expected = study(
        known,
        unknown,
        make_linkage("plda", others, like=known, lda=6),
        settings=ReidentificationSettings(lengths=(1,), populations=(12,), confidence=None),
    )
    assert answer.json() == json.loads(json.dumps(expected.to_dict()))
    without = {name: files[name] for name in ("enrol", "trial")}
    refused = service.post(f"{path}&linkage=plda", files=without)
    assert (refused.status_code, refused.json()["code"]) == (400, "missing-part")
    assert service.post(f"{path}&lda=3", files=files).status_code == 400
    assert service.post(f"{path}&linkage=pldaa", files=files).status_code == 400


def test_methods_and_strategies_are_listed(service: Service) -> None:
    cards = {card["name"]: card for card in service.get("/v1/methods").json()["methods"]}
    assert {"mcadams", "voicemask", "vtln", "xvector", "dar"} <= set(cards)
    assert "pool" not in {setting["name"] for setting in cards["xvector"]["settings"]}
    listed = service.get("/v1/strategies").json()
    assert len(listed["languages"]) == 10 and "redact" in listed["strategies"]


def test_methods_are_listed_with_what_was_measured(service: Service) -> None:
    listed = service.get("/v1/methods").json()
    cards = {card["name"]: card for card in listed["methods"]}
    measured = cards["mcadams"]["measured"]
    assert 0 < measured["found"] <= measured["found_high"] <= 1
    assert listed["measured_on"] and listed["measured_people"] > 1
    assert {advice["method"] for advice in listed["recommendations"]} <= set(cards)


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("/v1/measure", {"scores": "scores.csv"}),
        ("/v1/similarity", {"original": "original.npz", "anonymised": "anonymised.npz"}),
        ("/v1/reidentify?lengths=1", {"enrol": "enrol.npz", "trial": "anonymised.npz"}),
    ],
)
def test_the_examples_of_the_page_are_answered(
    service: Service, path: str, names: dict[str, str]
) -> None:
    files = {
        part: (name, service.get(f"/static/example/{name}").content) for part, name in names.items()
    }
    assert service.post(path, files=files).status_code == 200


def test_there_is_an_example_of_a_report(service: Service) -> None:
    page = service.get("/static/example_report.html").text
    assert "What to do" in page and "Synthetic speech" in page


def test_every_registered_name_is_listed(service: Service) -> None:
    choices = service.get("/v1/choices").json()
    assert choices["methods"] == list(METHODS)
    assert choices["recognisers"] == list(RECOGNISERS)
    assert [linkage["name"] for linkage in choices["linkages"]] == list(LINKAGES)
    assert choices["measures"] == list(service.get("/v1/measures").json())
    assert choices["strategies"] == list(service.get("/v1/strategies").json()["strategies"])
    needs_training = {row["name"] for row in choices["linkages"] if row["needs_training"]}
    assert "plda" in needs_training and "cosine" not in needs_training


BAD: list[tuple[str, bytes, int, str, str]] = [
    ("/v1/anonymise/voice", b"", 400, "empty", "the audio"),
    ("/v1/anonymise/voice", b"no sound at all", 400, "damaged", "the audio"),
    ("/v1/anonymise/voice?method=macadams", clip(), 400, "unknown-name", "'mcadams'"),
    ("/v1/anonymise/voice?coefficient=9", clip(), 400, "out-of-range", "0.3 to 1.5"),
    ("/v1/anonymise/voice?colour=red", clip(), 400, "unknown-name", "'colour'"),
    ("/v1/anonymise/voice?secret=abc", clip(), 400, "unknown-name", "'secret'"),
    ("/v1/anonymise/voice?self=abc", clip(), 400, "unknown-name", "'self'"),
    ("/v1/anonymise/voice?method=vtln&targets=/etc", clip(), 400, "not-allowed", "targets"),
    ("/v1/anonymise/voice?format=mp3", clip(), 422, "bad-parameter", "format"),
    ("/v1/anonymise/voice?seed=-1", clip(), 422, "bad-parameter", "seed"),
    ("/v1/anonymise/text?lang=xx", b"hello", 400, "unknown-name", "xx"),
    ("/v1/anonymise/text", b"\xff\xfe", 400, "not-utf8", "the text"),
    ("/v1/anonymise/text", b"a" * (1 << 20) + b"a", 400, "too-large", "the text"),
    ("/v1/anonymise/text?stratgy=redact", b"hello", 400, "unknown-name", "'strategy'"),
    ("/v1/anonymise/text?strategy=redact&strategy=full", b"hello", 400, "repeated", "twice"),
    ("/v1/anonymise/voice?sead=7", clip(), 400, "unknown-name", "'seed'"),
    ("/v1/anonymise/voice?seed=7&seed=8", clip(), 400, "repeated", "'seed'"),
    ("/v1/measure?onyl=eer", b"score,label\n1,1\n0,0\n", 400, "unknown-name", "'only'"),
    ("/v1/recognise?recogniser=nobody", clip(), 400, "unknown-name", "'nobody'"),
    ("/v1/measure", b"hello", 400, "missing-column", "the scores"),
    ("/v1/measure", b"PK\x03\x04nonsense", 400, "damaged", "the scores"),
    ("/v1/measure?only=eerr", b"score,label\n1,1\n0,0\n", 400, "unknown-name", "'eer'"),
    ("/v1/reidentify", b"", 400, "missing-part", "'enrol'"),
    ("/v1/reidentify?lengths=a,b", b"", 400, "wrong-type", "lengths"),
    ("/v1/align", b"", 400, "missing-part", "'audio'"),
    ("/nowhere", b"", 404, "not-found", "/openapi.json"),
]


@pytest.mark.parametrize(("path", "body", "status", "code", "mentioned"), BAD)
def test_bad_input_is_one_line_with_a_code(
    service: Service, path: str, body: bytes, status: int, code: str, mentioned: str
) -> None:
    answer = service.post(path, data=body)
    assert answer.status_code == status, answer.text
    error = answer.json()
    assert set(error) == {"error", "code"}
    line = error["error"]
    assert mentioned in line and "\n" not in line
    assert "Traceback" not in line and "/proc" not in line
    assert error["code"] == code


@pytest.mark.parametrize("path", ["/v1/anonymise/text", "/v1/anonymise/voice", "/transform"])
def test_a_form_in_place_of_the_content_is_refused(service: Service, path: str) -> None:
    """Its boundaries would be taken for words of the text."""
    answer = service.post(path, files={"text": b"call Ann", "audio": clip()})
    assert (answer.status_code, answer.json()["code"]) == (400, "unexpected-form")


@pytest.mark.parametrize(
    ("parts", "code"),
    [
        (["enrol", "trial", "trian"], "unknown-name"),
        (["enrol", "trial", "trial"], "repeated"),
        (["enrol"], "missing-part"),
    ],
)
def test_every_part_of_a_form_is_used(service: Service, parts: list[str], code: str) -> None:
    answer = service.post("/v1/reidentify", files=[(name, b"x") for name in parts])
    assert (answer.status_code, answer.json()["code"]) == (400, code)


def test_a_catalogue_has_no_parameters(service: Service) -> None:
    answer = service.get("/v1/methods?name=mcadams")
    assert (answer.status_code, answer.json()["code"]) == (400, "unknown-name")


def test_what_was_found_is_shown_as_a_page(service: Service, vectors: list[bytes]) -> None:
    rng = np.random.default_rng(0)
    scores = npz(mated=rng.normal(1, 1, 80), nonmated=rng.normal(0, 1, 200))
    requests: list[tuple[str, dict[str, Any], int]] = [
        ("/v1/measure?resamples=20&only=eer,d_ece", {"data": scores}, 4),
        (
            "/v1/similarity?interval=0",
            {"files": dict(zip(("original", "anonymised"), vectors, strict=True))},
            1,
        ),
        (
            "/v1/reidentify?interval=0&lengths=1,3&populations=5,12",
            {"files": dict(zip(("enrol", "trial"), vectors, strict=True))},
            4,
        ),
    ]
    for path, body, drawings in requests:
        answer = service.post(f"{path}&format=html", **body)
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        assert "sandbox" in answer.headers["content-security-policy"]
        assert answer.text.count("<svg") == drawings
        assert "<script" not in answer.text and "/proc" not in answer.text


def test_the_page_may_show_a_report(service: Service) -> None:
    """A report in a frame of the page is under the page's policy: it must name its style."""
    from sottovoce.report.html import document

    style = unescape(document("")).partition("style-src ")[2].partition(";")[0]
    policy = service.get("/").headers["content-security-policy"]
    assert style.startswith("'sha256-") and style in policy


def test_decisions_on_a_text_are_replayed(service: Service) -> None:
    text = "My name is Ann Lee, I live in Berlin. Zed knows."
    query = "?strategy=typed&seed=1"
    first = service.post(f"/v1/anonymise/text{query}", data=text.encode()).json()
    review = first["decisions"]
    files = {"text": text.encode(), "decisions": json.dumps(review).encode()}
    assert service.post(f"/v1/anonymise/text/reviewed{query}", files=files).json() == first
    (document,) = review["documents"]
    document["decisions"][0].update(mask=False, by="person")
    start = text.index("Zed")
    mark = {"start": start, "end": start + 3, "kind": "PER", "mask": True, "by": "person"}
    document["decisions"].append(mark)
    files["decisions"] = json.dumps(review).encode()
    second = service.post(f"/v1/anonymise/text/reviewed{query}", files=files).json()
    assert second["text"] == "My name is Ann Lee, I live in [LOC]. [PER] knows."
    assert second["decided"] == {"rule": 0, "model": 1, "person": 1, "kept_by_person": 1}
    assert [span["by"] for span in second["spans"]] == ["model", "person"]
    files["text"] += b" More."
    refused = service.post(f"/v1/anonymise/text/reviewed{query}", files=files)
    assert refused.json()["code"] == "mismatch"
