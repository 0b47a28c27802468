"""The door: sizes, crowds, time, tokens, origins, headers, and what is written down."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from live_service import Service, clip, running

from sottovoce.serve.messages import WarmUp
from sottovoce.serve.workers import Worker, WorkerLostError

LONG = clip(seconds=60)
"""Some seconds of work for the slowest method."""
SLOW = "/v1/anonymise/voice?method=voicemask"


@pytest.fixture(scope="module")
def narrow() -> Iterator[Service]:
    """One worker, a queue of one, low limits of size and time, and a token."""
    settings = {"workers": 1, "queue": 1, "max_bytes": 2_500_000, "seconds": 1.0, "token": "abc"}
    with running(**settings) as service:
        service.session.headers["Authorization"] = "Bearer abc"
        yield service


def quietly(service: Service, data: bytes) -> int:
    status: int = service.post(SLOW, data=data).status_code
    return status


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def chunks(size: int) -> Iterator[bytes]:
    yield b"PK\x03\x04"
    for _ in range(size // 1000):
        yield bytes(1000)


def test_too_much_is_refused_whether_announced_or_not(narrow: Service) -> None:
    head = "POST /v1/measure HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer abc\r\n"
    port = int(narrow.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), 10) as wire:
        wire.sendall(f"{head}Content-Length: 2500001\r\n\r\n".encode())
        assert wire.recv(100).startswith(b"HTTP/1.1 413")
    with socket.create_connection(("127.0.0.1", port), 10) as wire:
        wire.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
        piece = b"%x\r\n%s\r\n" % (100_000, bytes(100_000))
        for _ in range(25):
            wire.sendall(piece)
        time.sleep(0.1)
        wire.sendall(b"1\r\n0\r\n")
        assert wire.recv(100).startswith(b"HTTP/1.1 413")
    answer = narrow.post("/v1/measure", data=chunks(2_400_000))
    assert answer.status_code == 400 and answer.json()["error"].startswith("the scores")


def test_a_slow_upload_is_ended(narrow: Service) -> None:
    port = int(narrow.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), 10) as wire:
        wire.sendall(
            b"POST /v1/measure HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer abc\r\n"
            b"Content-Length: 100\r\n\r\nsome"
        )
        assert wire.recv(100).startswith(b"HTTP/1.1 408")


def test_slow_work_is_ended_and_the_next_is_done(narrow: Service) -> None:
    before = narrow.app.state.workers.pids
    answer = narrow.post(SLOW, data=LONG)
    assert answer.status_code == 408
    assert answer.json()["code"] == "timeout"
    short = clip(seconds=0.2)
    statuses = [408]  # on a busy machine the new worker may need longer than a second to start
    while statuses[-1] == 408 and len(statuses) < 20:
        statuses.append(narrow.post("/v1/anonymise/voice", data=short).status_code)
    assert statuses[-1] == 200
    assert narrow.app.state.workers.pids != before


def test_a_crowd_is_turned_away(narrow: Service) -> None:
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: narrow.post(SLOW, data=LONG), range(6)))
    turned = [answer for answer in answers if answer.status_code == 429]
    assert len(turned) >= 4
    assert {answer.headers["retry-after"] for answer in turned} == {"2"}
    assert {answer.status_code for answer in answers} <= {408, 429}
    assert narrow.get("/healthz").status_code == 200


def test_an_error_quotes_little(service: Service) -> None:
    answer = service.post("/v1/measure", data=bytes(100_000) + b"\n1\n")
    assert answer.status_code == 400
    line = answer.json()["error"]
    assert line.startswith("the scores: no column 'score'") and len(line) < 500
    assert line.isprintable()


@pytest.mark.parametrize(
    "authorization", [None, "Bearer", "Bearer abd", "Basic abc", "Bearer äbc", "abc"]
)
def test_a_wrong_token_is_refused(narrow: Service, authorization: str | None) -> None:
    headers = {"Authorization": None if authorization is None else authorization.encode("latin-1")}
    answer = narrow.get("/v1/methods", headers=headers)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert narrow.get("/healthz", headers=headers).status_code == 200


def test_a_killed_worker_costs_one_request(service: Service) -> None:
    status: list[int] = []
    request = threading.Thread(target=lambda: status.append(quietly(service, LONG)))
    request.start()
    time.sleep(0.4)
    for pid in service.app.state.workers.pids:  # the busy worker and an idle one
        os.kill(pid, signal.SIGKILL)
    request.join(30)
    assert status == [503]
    for seed in range(4):
        answer = service.post("/v1/anonymise/voice", data=clip(seed))
        assert answer.status_code == 200, answer.text


def test_a_worker_that_cannot_be_started_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = Worker(1 << 30)

    def full(process: object) -> None:
        raise BlockingIOError("no more processes")

    monkeypatch.setattr(worker._context.Process, "start", full)
    with pytest.raises(WorkerLostError):
        worker.run(WarmUp(), ())
    monkeypatch.undo()
    assert worker.run(WarmUp(), ()).body == b""
    worker.end()


def test_a_worker_that_dies_idle_costs_nothing() -> None:
    worker = Worker(1 << 30)
    for _ in range(5):  # run again at once, before its death is noticed
        worker.run(WarmUp(), ())
        assert worker.pid is not None
        os.kill(worker.pid, signal.SIGKILL)
        assert worker.run(WarmUp(), ()).body == b""
    worker.end()


def test_a_worker_that_is_ended_before_it_is_there_does_nothing(service: Service) -> None:
    worker = Worker(1 << 30)
    worker.end()
    with pytest.raises(WorkerLostError):
        worker.run(WarmUp(), ())
    assert worker.pid is None


def test_work_ends_when_the_client_leaves(service: Service) -> None:
    service.post("/v1/anonymise/voice", data=clip())
    port = int(service.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), 10) as wire:
        head = f"POST {SLOW} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(LONG)}\r\n\r\n"
        wire.sendall(head.encode() + LONG)
        time.sleep(0.4)
        during = set(service.app.state.workers.pids)
    end = time.monotonic() + 2  # the work itself takes longer
    while all(map(alive, during)) and time.monotonic() < end:
        time.sleep(0.02)
    assert not all(map(alive, during))
    assert service.post("/v1/anonymise/voice", data=clip()).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://elsewhere.example"},
        {"Origin": "null"},
        {"Host": "elsewhere.example"},
        {"Host": "[::1"},
    ],
)
def test_pages_of_others_are_refused(service: Service, headers: dict[str, str]) -> None:
    answer = service.get("/v1/methods", headers=headers)
    assert answer.status_code == 403
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("path", ["/", "/healthz", "/nowhere", "/openapi.json"])
def test_every_answer_is_guarded(service: Service, path: str) -> None:
    headers = service.get(path, headers={"Origin": service.url}).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy
    assert "frame-src" not in policy and "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in headers
    assert "server" not in headers


def test_the_reader_of_forms_writes_nothing_down(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    form = {"Content-Type": "multipart/form-data; boundary=Ann"}
    with caplog.at_level(logging.DEBUG):
        assert service.post("/v1/similarity", data="--Lee\r\nsaid", headers=form).status_code == 400
    assert not [record for record in caplog.records if record.name.startswith("python_multipart")]


def test_the_log_holds_no_data(service: Service, caplog: pytest.LogCaptureFixture) -> None:
    time.sleep(0.2)  # a line is written after its answer: none of an earlier test may follow
    with caplog.at_level(logging.DEBUG):
        service.post("/v1/anonymise/text?lang=xx", data="Ann Lee of Berlin")
        service.post("/v1/anonymise/text?speaker=Ann", data="Ann Lee of Berlin")
        service.get("/Ann/Lee")
        service.session.close()  # what was answered has been written down
        time.sleep(0.1)
    lines = [record.getMessage() for record in caplog.records if record.name == "sottovoce.serve"]
    assert len(lines) == 3
    for line in lines:
        assert [part.partition("=")[0] for part in line.split()] == [
            "id",
            "received",
            "sent",
            "ms",
            "status",
        ]
    logged = " ".join(
        record.getMessage() for record in caplog.records if "urllib3" not in record.name
    )
    assert not any(word in logged for word in ("Ann", "Lee", "Berlin"))


def test_metrics_count(service: Service) -> None:
    def counted() -> dict[str, float]:
        lines = [x for x in service.get("/metrics").text.splitlines() if not x.startswith("#")]
        return {name: float(value) for name, _, value in (x.rpartition(" ") for x in lines)}

    service.post("/transform", data="hello")
    name = 'sottovoce_requests_total{service="/transform",status="200"}'
    before = counted()
    service.post("/transform", data="hello")
    after = counted()
    assert after[name] == before[name] + 1
    assert after["sottovoce_received_bytes_total"] == before["sottovoce_received_bytes_total"] + 5
    assert after["sottovoce_request_seconds_count"] == before["sottovoce_request_seconds_count"] + 2


def test_32_at_once_get_their_own_answers_and_nothing_is_kept(service: Service) -> None:
    requests: list[tuple[str, Any]] = []
    for i in range(16):
        requests += [
            (f"/v1/anonymise/voice?seed={i}", clip(i, seconds=0.5 + i / 40)),
            (f"/v1/anonymise/text?seed={i}", f"call Ann number {i} in Berlin at nine"),
        ]
    places = [Path(name) for name in ("/tmp", "/dev/shm", "/var/tmp") if Path(name).is_dir()]
    before = {place: set(os.listdir(place)) for place in places}

    def send(request: tuple[str, Any]) -> bytes:
        answer = service.session.post(service.url + request[0], data=request[1], timeout=60)
        assert answer.status_code == 200, answer.text
        content: bytes = answer.content
        return content

    alone = [send(request) for request in requests]
    with ThreadPoolExecutor(32) as pool:
        together = list(pool.map(send, requests))
    assert together == alone
    assert len(set(alone)) == 32
    for place in places:
        new = set(os.listdir(place)) - before[place]
        assert not [name for name in new if "upload" in name or "sottovoce" in name], place
