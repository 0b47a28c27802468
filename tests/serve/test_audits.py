"""Reports of audits are shown on request; no other file of the machine is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from audit_case import findings_in
from live_service import Service, running

from sottovoce.core.records import write_json
from sottovoce.findings import AuditFindings
from sottovoce.serve.audits import list_audits

NAME = "made up <b>"


@cache
def findings() -> AuditFindings:
    with TemporaryDirectory() as folder:
        case = findings_in(Path(folder))
    row = replace(case.rows[1], anonymiser="mcadams", attacker="informed")
    return replace(
        case,
        name=NAME,
        synthetic=True,
        rows=(row, replace(row, attacker="ignorant")),
        anonymisers=(replace(case.anonymisers[0], anonymiser="mcadams", examples=()),),
    )


def write_audit(folder: Path) -> Path:
    folder.mkdir(parents=True)
    write_json(folder / "measures.json", findings())
    (folder / "report.html").write_text("<!doctype html><title>the report</title>")
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("audits")
    shown = root / "shown"
    write_audit(shown / "first audit")
    outside = write_audit(root / "secret")
    (shown / "linked").symlink_to(outside)
    half = write_audit(shown / "half-linked")
    (half / "report.html").unlink()
    (half / "report.html").symlink_to(outside / "report.html")
    broken = write_audit(shown / "broken")
    (broken / "measures.json").write_text('{"rows": [1]}')
    old = write_audit(shown / "of another version")
    write_json(old / "measures.json", {**findings().to_dict(), "format": 1})
    partial = write_audit(shown / "without rows")
    content = findings().to_dict()
    del content["rows"]
    write_json(partial / "measures.json", content)
    (shown / "empty").mkdir()
    (shown / "report.html").write_text("not an audit")
    return shown


@pytest.fixture(scope="module")
def showing(folder: Path) -> Iterator[Service]:
    with running(workers=1, audits=folder, token="abc") as service:
        service.session.headers["Authorization"] = "Bearer abc"
        yield service


def test_audits_are_listed(showing: Service) -> None:
    answer = showing.get("/v1/audits")
    assert answer.status_code == 200, answer.text
    answered = answer.json()
    assert answered["shown"] is True
    assert [audit["name"] for audit in answered["audits"]] == ["first audit"]
    (audit,) = answered["audits"]
    assert audit["title"] == NAME and audit["synthetic"] is True
    assert audit["verdict"] == "The anonymiser tried lets people be found again."
    assert (audit["anonymisers"], audit["attackers"]) == (["mcadams"], ["informed", "ignorant"])
    assert audit["date"].endswith("+00:00")


def test_the_newest_comes_first(tmp_path: Path) -> None:
    for day, name in enumerate(("b", "a", "c")):
        report = write_audit(tmp_path / name) / "report.html"
        os.utime(report, (86400 * day, 86400 * day))
    audits = list_audits(tmp_path)
    assert [audit.name for audit in audits] == ["c", "a", "b"]
    assert audits[0].date == "1970-01-03T00:00:00+00:00"


def test_a_report_is_shown_as_it_is_without_scripts(showing: Service) -> None:
    answer = showing.get("/v1/audits/first%20audit/report")
    assert answer.status_code == 200
    assert answer.text == "<!doctype html><title>the report</title>"
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("sandbox; default-src 'none'") and "script-src" not in policy
    assert "frame-ancestors 'none'" in policy
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "name",
    [
        "linked",
        "half-linked",
        "empty",
        "nobody",
        "..",
        ".",
        "%2e%2e",
        "..%2fsecret",
        "%2e%2e%2fsecret",
        "..%5csecret",
        "first%20audit%2f..%2f..%2fsecret",
        "first%20audit%00",
        "%00",
        "%ff",
        "a" * 5000,
    ],
)
def test_nothing_else_is_shown(showing: Service, name: str) -> None:
    import http.client

    wire = http.client.HTTPConnection(showing.url.removeprefix("http://"), timeout=20)
    wire.request("GET", f"/v1/audits/{name}/report", headers={"Authorization": "Bearer abc"})
    answer = wire.getresponse()
    body = answer.read()
    wire.close()
    assert answer.status == 404, body
    assert b"the report" not in body


def test_a_token_is_needed(showing: Service) -> None:
    for path in ("/v1/audits", "/v1/audits/first%20audit/report"):
        assert showing.get(path, headers={"Authorization": None}).status_code == 401


def test_by_default_there_are_none(service: Service) -> None:
    assert service.get("/v1/audits").json() == {"shown": False, "audits": []}
    assert service.get("/v1/audits/first%20audit/report").status_code == 404
