"""Any input to any service gets a status that the schema declares, never a fault."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from live_service import Service, clip

PATHS = (
    "/v1/anonymise/voice",
    "/v1/anonymise/batch",
    "/v1/anonymise/text",
    "/v1/anonymise/text/reviewed",
    "/v1/anonymise/recording",
    "/v1/align",
    "/v1/recognise",
    "/v1/measure",
    "/v1/similarity",
    "/v1/reidentify",
    "/vpc",
    "/transform",
)
BODIES = st.one_of(
    st.binary(max_size=300),
    st.text(max_size=300).map(str.encode),
    st.sampled_from(
        [
            clip(seconds=0.1),
            clip(seconds=0.1)[:1000],
            b"PK\x03\x04" + bytes(40),
            b"PAR1" + bytes(40),
            b"score,label\n1,1\n2,0\n",
            b"score\tlabel\nnan\t1\n",
            b"fLaC" + bytes(60),
        ]
    ),
)
VALUES = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        ["", "0", "-1", "1e999", "nan", "mcadams", "vtln", "none", "en", "typed", "1,3"]
    ),
    st.integers().map(str),
)


@pytest.fixture(scope="module")
def schema(service: Service) -> dict[str, Any]:
    document: dict[str, Any] = service.get("/openapi.json").json()
    return document


def test_every_service_is_in_the_schema(schema: dict[str, Any]) -> None:
    posts = {path for path, item in schema["paths"].items() if "post" in item}
    assert posts == set(PATHS)


def test_a_client_names_no_model_of_the_server(service: Service, schema: dict[str, Any]) -> None:
    posts = [item["post"] for item in schema["paths"].values() if "post" in item]
    names = {parameter["name"] for post in posts for parameter in post.get("parameters", [])}
    assert "lang" in names and not names & {"deny", "allow", "encoder", "vocoder"}
    models = {"crf": "not-allowed", "spacy": "not-allowed", "gliner": "not-allowed"}
    paths = dict.fromkeys(("gliner:/srv", "crf:own.npz", "own.npz", "/srv/own.npz"), "unknown-name")
    for tagger, code in {**models, **paths}.items():
        answer = service.post("/v1/anonymise/text", params={"tagger": tagger}, data=b"call ann")
        assert (answer.status_code, answer.json()["code"]) == (400, code), tagger


@given(data=st.data(), path=st.sampled_from(PATHS), body=BODIES)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_input_is_a_fault(
    service: Service, schema: dict[str, Any], data: Any, path: str, body: bytes
) -> None:
    item = schema["paths"][path]["post"]
    names = [parameter["name"] for parameter in item.get("parameters", [])] + [
        "coefficient",
        "{",
        "r",
        "m",
    ]
    query = data.draw(st.dictionaries(st.sampled_from(names), VALUES, max_size=3))
    sent: dict[str, Any] = {"data": body}
    content = item["requestBody"]["content"]
    if "multipart/form-data" in content and data.draw(st.booleans()):
        parts = content["multipart/form-data"]["schema"]["required"]
        sent = {"files": {name: data.draw(BODIES) for name in parts}}
    answer = service.post(path, params=query, **sent)
    assert str(answer.status_code) in item["responses"], answer.text
    assert answer.status_code < 500, answer.text
    kind = answer.headers["content-type"].partition(";")[0]
    assert kind in item["responses"][str(answer.status_code)]["content"]
