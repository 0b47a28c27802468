"""Attacks on ``sottovoce serve`` as a process of its own, on a port of its own."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from live_service import clip, requests
from service_process import ServiceProcess, service_process

pytestmark = pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="needs Linux")

WAIT = 1.0
LINE = {"data": "my name is Ann Lee", "timeout": 30}
TEXT = "/v1/anonymise/text?strategy=typed"
LONG = clip(seconds=60, rate=48000)
"""5.8 MB of sound."""


def padded(sound: bytes, size: int) -> bytes:
    """Add a chunk of zeros to a WAV file, which makes it large without being long."""
    chunks = sound[8:] + b"junk" + size.to_bytes(4, "little") + bytes(size)
    return b"RIFF" + len(chunks).to_bytes(4, "little") + chunks


BIG = padded(clip(seconds=0.5), 3 << 20)
"""3 MB, more than what Starlette keeps in memory."""


@pytest.fixture(scope="module")
def target() -> Iterator[ServiceProcess]:
    words = ["--workers", "1", "--queue", "2", "--seconds", "60", "--max-mb", "8"]
    with service_process([*words, "--uploads-mb", "24"], wait=WAIT) as service:
        assert requests.post(service.url + TEXT, **LINE).status_code == 200
        yield service


@contextmanager
def wires(service: ServiceProcess, count: int, sent: bytes) -> Iterator[list[socket.socket]]:
    """Open many connections, send the same bytes over each, and leave it at that."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 4096)), hard))
    with ExitStack() as stack:
        connected = []
        for _ in range(count):
            wire = stack.enter_context(socket.create_connection(("127.0.0.1", service.port), 20))
            with suppress(OSError):  # it was closed for another one
                wire.sendall(sent)
            connected.append(wire)
        yield connected
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def is_closed(wire: socket.socket, seconds: float) -> bool:
    wire.settimeout(seconds)
    try:
        while wire.recv(1 << 16):
            pass
    except TimeoutError:
        return False
    except OSError:
        pass
    return True


def log_size(service: ServiceProcess) -> int:
    return sum(map(len, service.log))


HEAD = b"POST /v1/anonymise/text HTTP/1.1\r\nHost: localhost\r\n"


@pytest.mark.parametrize(("count", "sent"), [(600, b""), (600, b"GET /healthz HT"), (1500, HEAD)])
def test_half_open_connections_lock_nobody_out(
    target: ServiceProcess, count: int, sent: bytes
) -> None:
    """1,500 of them had made the service unreachable, with 51 MB of tracebacks in two minutes."""
    before = log_size(target)
    with wires(target, count, sent) as attackers:
        start = time.monotonic()
        for _ in range(5):
            assert requests.post(target.url + TEXT, **LINE).status_code == 200
        assert time.monotonic() - start < 10
        end = time.monotonic() + 10 * WAIT
        assert all(is_closed(wire, max(0.1, end - time.monotonic())) for wire in attackers)
    assert requests.get(f"{target.url}/healthz", timeout=10).status_code == 200
    assert log_size(target) - before < 5000
    assert "Traceback" not in "".join(target.log)
    open_files = len(os.listdir(f"/proc/{target.process.pid}/fd"))
    assert open_files < 100


def test_a_head_that_comes_byte_by_byte_is_ended(target: ServiceProcess) -> None:
    with wires(target, 1, HEAD) as [wire]:
        start = time.monotonic()
        try:
            for _ in range(100):
                wire.sendall(b"x")
                time.sleep(0.1)
        except OSError:
            pass
        assert time.monotonic() - start < 5 * WAIT
    with wires(target, 1, HEAD) as [wire]:
        wire.settimeout(5)
        answer = wire.recv(1000)
    assert answer.startswith(b"HTTP/1.1 408") and json.loads(answer.partition(b"\r\n\r\n")[2])


def test_slow_uploads_take_no_place_of_a_worker(target: ServiceProcess) -> None:
    """One worker and two places: 60 uploads that stop half-way had filled them."""
    with wires(target, 60, HEAD + b"Content-Length: 100000\r\n\r\nsome") as attackers:
        for _ in range(3):
            assert requests.post(target.url + TEXT, **LINE).status_code == 200
        time.sleep(2 * WAIT)
        attackers[0].settimeout(5)
        assert attackers[0].recv(100).startswith(b"HTTP/1.1 408")


def test_an_upload_below_the_least_rate_is_ended(target: ServiceProcess) -> None:
    """Bytes keep coming, so that no pause is too long, but too few of them."""
    with wires(target, 1, HEAD + b"Content-Length: 100000\r\n\r\n") as [wire]:
        start = time.monotonic()
        wire.settimeout(0.2)
        answer = b""
        while not answer and time.monotonic() - start < 7:
            wire.sendall(b"x")
            try:
                answer = wire.recv(100)
            except TimeoutError:
                continue
    assert answer.startswith(b"HTTP/1.1 408") and time.monotonic() - start < 4 * WAIT


def test_bytes_after_a_refusal_are_not_read_for_ever(target: ServiceProcess) -> None:
    head = b"POST /nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n"
    with wires(target, 1, head) as [wire]:
        assert wire.recv(100).startswith(b"HTTP/1.1 404")
        start = time.monotonic()
        with suppress(OSError):
            while time.monotonic() - start < 10:
                wire.sendall(b"x")
                time.sleep(0.1)
        assert time.monotonic() - start < 6 * WAIT


def test_an_answer_that_nobody_reads_is_given_up(target: ServiceProcess) -> None:
    head = f"POST /v1/anonymise/voice HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(LONG)}"
    narrow = socket.socket()
    narrow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    narrow.connect(("127.0.0.1", target.port))
    with narrow as wire:
        wire.sendall(f"{head}\r\n\r\n".encode() + LONG)
        number = narrow.getsockname()[1]
        end = time.monotonic() + 20
        while time.monotonic() < end and _is_served(target, number):
            time.sleep(0.2)
        assert not _is_served(target, number)
    assert requests.post(target.url + TEXT, **LINE).status_code == 200


def _is_served(service: ServiceProcess, client_port: int) -> bool:
    """Whether the service still holds its end of a connection."""
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    ends = [line.split()[1:4] for line in lines]
    mine = (f":{service.port:04X}", f":{client_port:04X}")
    states = [state for here, there, state in ends if (here[8:], there[8:]) == mine]
    return "01" in states


def test_uploads_share_a_limit_of_memory(target: ServiceProcess) -> None:
    """Three of 8 MB fit into 24 MB; a fourth is turned away, and later let in."""
    held = HEAD + b"Content-Length: 8000000\r\n\r\n" + bytes(7_900_000)
    statuses: list[bytes] = []

    def upload() -> None:
        with wires(target, 1, held) as [wire]:
            wire.settimeout(10)
            statuses.append(wire.recv(12))

    threads = [threading.Thread(target=upload) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(set(statuses)) == [b"HTTP/1.1 408", b"HTTP/1.1 429"]
    assert requests.post(target.url + TEXT, **LINE).status_code == 200


def test_what_is_not_http_is_a_short_line(target: ServiceProcess) -> None:
    before = log_size(target)
    with wires(target, 100, b"\x16\x03\x01\x00\xa5\x01\x00\x00 EHLO you\r\n\r\n") as attackers:
        assert all(is_closed(wire, 5) for wire in attackers)
    upgrade = (
        b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n"
    )
    with wires(target, 100, upgrade):
        pass
    assert requests.get(f"{target.url}/healthz", timeout=10).status_code == 200
    assert log_size(target) - before < 200 * 80


@pytest.mark.parametrize(
    ("path", "options", "code"),
    [
        ("/v1/anonymise/text?stratgy=redact", {"data": "Ann"}, "unknown-name"),
        ("/v1/anonymise/text", {"files": {"text": b"Ann"}}, "unexpected-form"),
        ("/transform", {"files": {"text": b"Ann"}}, "unexpected-form"),
    ],
)
def test_slips_of_clients_are_told(
    target: ServiceProcess, path: str, options: dict[str, object], code: str
) -> None:
    answer = requests.post(target.url + path, timeout=30, **options)
    assert (answer.status_code, answer.json()["code"]) == (400, code)


# ============================================================================ nothing on a disk

MAY_BE_WRITTEN = re.compile(r"^/(dev|proc)/|/pymp-|/__pycache__(/|$)|/sv\w+/\w{8}$")
"""Devices, the socket of the process that workers come from, and two tries whether a folder is
writable: that of Python for temporary files, and that of numba for compiled functions."""


SCORES = b"score,label\n" + b"1,1\n0.5,0\n" * 200_000


def send_uploads(url: str) -> None:
    form = {"audio": BIG, "text": b"nobody said this in a vowel of a minute"}
    whole: list[tuple[str, dict[str, Any]]] = [
        ("/v1/anonymise/voice?coefficient=0.8", {"data": BIG}),
        ("/v1/anonymise/recording?method=none", {"files": form}),
        ("/v1/align", {"files": form}),
        ("/v1/anonymise/text", {"data": b"call Ann Lee in Berlin " * 500}),
        ("/v1/measure?only=eer&interval=0", {"files": {"scores": SCORES}}),
    ]
    for path, options in whole:
        answer = requests.post(url + path, timeout=120, **options)
        assert answer.status_code in (200, 400), answer.text[:200]  # 400: other words were said


def test_no_upload_is_written_to_a_disk(tmp_path: Path) -> None:
    audit = tmp_path / "audit"
    words = ["--workers", "1", "--seconds", "30"]
    with service_process(words, audit=audit, wait=10.0) as service:
        requests.post(service.url + TEXT, **LINE)
        deleted: list[str] = []
        sending = threading.Thread(target=send_uploads, args=(service.url,))
        before = service.written()
        sending.start()
        while sending.is_alive():
            deleted += service.deleted_files()
            sending.join(0.02)
        written = service.written() - before
        limits = [Path(f"/proc/{pid}/limits").read_text() for pid in service.pids()]
    opened = [line for line in audit.read_text().splitlines() if not MAY_BE_WRITTEN.search(line)]
    assert opened == []
    assert deleted == []
    assert written < 1 << 20
    core = [re.search(r"core file size +(\w+)", text) for text in (limits[0], limits[-1])]
    assert [match and match[1] for match in core] == ["0", "0"]  # web process and worker


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
def test_the_system_sees_no_file_written(tmp_path: Path) -> None:
    trace = tmp_path / "strace"
    with service_process(["--workers", "1", "--seconds", "60"], strace=trace, wait=10.0) as service:
        send_uploads(service.url)
    calls = trace.read_text().splitlines()
    writing = [
        call
        for call in calls
        if re.search(r"O_WRONLY|O_RDWR|O_CREAT|O_TMPFILE|creat\(", call) and "ENOENT" not in call
    ]
    names = [re.search(r'"([^"]*)"', call) for call in writing]
    assert calls and [m[1] for m in names if m and not MAY_BE_WRITTEN.search(m[1])] == []


# ========================================================================================== TLS


@pytest.fixture(scope="module")
def pem(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl")
    folder = tmp_path_factory.mktemp("tls")
    words = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    words += ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    subprocess.run(
        ["openssl", "req", "-x509", *words, "-keyout", folder / "key", "-out", folder / "chain"],
        check=True,
        capture_output=True,
    )
    return folder


def test_the_service_is_encrypted(pem: Path) -> None:
    words = [
        "--workers",
        "1",
        "--queue",
        "8",
        "--connections",
        "60",
        "--certificate",
        str(pem / "chain"),
        "--certificate-key",
        str(pem / "key"),
    ]
    with service_process(words, wait=WAIT) as service:
        assert "listening on https://127.0.0.1" in service.log[0]
        url = f"https://127.0.0.1:{service.port}"
        answer = requests.post(url + TEXT, verify=str(pem / "chain"), **LINE)
        assert answer.status_code == 200 and "Ann" not in answer.json()["text"]
        with wires(service, 300, b"\x16\x03\x01"):  # handshakes that never end
            answer = requests.post(url + TEXT, verify=str(pem / "chain"), **LINE)
            assert answer.status_code == 200
        old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
        with pytest.warns(DeprecationWarning, match="TLSv1_1"):
            old.maximum_version = ssl.TLSVersion.TLSv1_1
        with pytest.raises(OSError), socket.create_connection(("127.0.0.1", service.port)) as wire:
            old.wrap_socket(wire)
        assert requests.get(f"{url}/healthz", verify=str(pem / "chain"), timeout=10).ok
        assert "Traceback" not in "".join(service.log)


def test_certificates_that_cannot_be_used_are_one_line(pem: Path, tmp_path: Path) -> None:
    from error_codes import raises_code

    from sottovoce.serve.app import tls_context
    from sottovoce.serve.settings import Settings

    (tmp_path / "text").write_text("not a certificate")
    locked = tmp_path / "locked"
    subprocess.run(
        ["openssl", "ec", "-in", pem / "key", "-aes128", "-passout", "pass:x", "-out", locked],
        check=True,
        capture_output=True,
    )
    for chain, key in ((tmp_path / "text", None), (pem / "chain", locked), (pem / "chain", None)):
        with raises_code("unreadable"):
            tls_context(Settings(certificate=chain, key=key))
    assert tls_context(Settings(certificate=pem / "chain", key=pem / "key")) is not None
