"""Mixed load with faults on a service: does memory grow, does a client get another's answer?

    python benchmarks/service_load.py --minutes 30

Starts ``sottovoce serve`` in a process of its own. First each input is sent alone, and its answer
kept. Then clients send them at random, while others leave in the middle of an upload, send too
slowly, stay silent, send nonsense or more than is allowed, and workers are killed. Every answer
with status 200 must be the one of its own input, byte by byte. Resident memory is printed once a
minute.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import random
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import requests
import soundfile

MINUTE = 60.0
WARM_UP = 2.0
"""Minutes after which memory is first compared: all models are loaded then."""
REFUSALS = {"408", "429", "503"}
"""What a good input may be answered with while workers are killed and the queue is full."""


@dataclass(frozen=True)
class Input:
    """A request whose answer is always the same."""

    path: str
    data: bytes | None = None
    files: tuple[tuple[str, tuple[str, bytes]], ...] = ()

    def send(self, url: str) -> requests.Response:
        return requests.post(
            url + self.path, data=self.data, files=list(self.files) or None, timeout=120
        )


@dataclass
class Tally:
    """What was seen."""

    answers: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    crossed: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)


def clip(number: int) -> bytes:
    """Return a vowel of its own pitch and length."""
    seconds = 0.4 + 0.03 * number
    time_axis = np.arange(int(16000 * seconds)) / 16000
    pitch = 100 + 9 * number
    sound = sum(np.sin(2 * np.pi * pitch * k * time_axis) / k for k in range(1, 12))
    rng = np.random.default_rng(number)
    samples = 0.1 * np.asarray(sound) + 0.003 * rng.normal(size=len(time_axis))
    buffer = io.BytesIO()
    soundfile.write(buffer, samples, 16000, format="WAV", subtype="PCM_16")
    return buffer.getvalue()


def make_inputs() -> list[Input]:
    """Return requests of five kinds, no two alike."""
    names = ("Ann", "Ben", "Carla", "David", "Eva", "Frank", "Gina", "Hugo")
    inputs = [Input(f"/v1/anonymise/voice?seed={i}", clip(i)) for i in range(10)]
    for i, name in enumerate(names):
        text = f"call {name} Miller number {i} in Berlin at nine".encode()
        inputs.append(Input(f"/v1/anonymise/text?seed={i}", text))
    for i in range(3):
        files = tuple(("audio", (f"{k}.wav", clip(20 + 3 * i + k))) for k in range(3))
        inputs.append(Input(f"/v1/anonymise/batch?seed={i}", files=files))
    for i in range(4):
        rng = np.random.default_rng(i)
        buffer = io.BytesIO()
        np.savez(buffer, mated=rng.normal(1, 1, 60), nonmated=rng.normal(0, 1, 90))
        inputs.append(Input("/v1/measure?resamples=20", buffer.getvalue()))
    for i in range(2):  # forms of more than 1 MB
        rng = np.random.default_rng(i)
        rows = [
            f"{score:.9f},{label}" for label in (0, 1) for score in rng.normal(label, 1, 60_000)
        ]
        table = "\n".join(["score,label", *rows]).encode()
        form = (("scores", (f"{i}.csv", table)),)
        inputs.append(Input("/v1/measure?interval=0&only=eer,d_sys", files=form))
    return inputs


# ==================================================================================== faults


def leave_in_the_middle(address: tuple[str, int]) -> None:
    with socket.create_connection(address, 20) as wire:
        wire.sendall(_head(1_000_000) + bytes(300_000))


def send_slowly(address: tuple[str, int]) -> None:
    with socket.create_connection(address, 20) as wire:
        wire.sendall(_head(1_000_000))
        wire.settimeout(40)
        wire.recv(100)


def stay_silent(address: tuple[str, int]) -> None:
    wires = [socket.create_connection(address, 20) for _ in range(40)]
    time.sleep(12)
    for wire in wires:
        wire.close()


def send_nonsense(address: tuple[str, int]) -> None:
    with socket.create_connection(address, 20) as wire:
        wire.sendall(os.urandom(2000) + b"\r\n\r\n")


def send_too_much(address: tuple[str, int]) -> None:
    requests.post(f"http://{address[0]}:{address[1]}/v1/measure", data=bytes(9 << 20), timeout=60)


def send_damaged(address: tuple[str, int]) -> None:
    url = f"http://{address[0]}:{address[1]}"
    requests.post(f"{url}/v1/anonymise/voice", data=clip(0)[:900], timeout=60)
    requests.post(f"{url}/v1/anonymise/text?stratgy=full", data="Ann", timeout=60)


FAULTS: tuple[Callable[[tuple[str, int]], None], ...] = (
    leave_in_the_middle,
    send_slowly,
    stay_silent,
    send_nonsense,
    send_too_much,
    send_damaged,
)


def _head(length: int) -> bytes:
    head = "POST /v1/anonymise/voice HTTP/1.1\r\nHost: localhost\r\n"
    return f"{head}Content-Length: {length}\r\n\r\n".encode()


# =================================================================================== service


class Service:
    """The process under load."""

    def __init__(self) -> None:
        words = ["serve", "--port", "0", "--workers", "2", "--queue", "16", "--max-mb", "8"]
        program = "from sottovoce.cli import main; main()"
        self.process = subprocess.Popen(
            [sys.executable, "-c", program, *words],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        if self.process.stderr is None:
            raise SystemExit("no log")
        listening = re.search(r"127\.0\.0\.1:(\d+)", self.process.stderr.readline())
        if listening is None:
            raise SystemExit("the service did not start")
        self.address = ("127.0.0.1", int(listening[1]))
        self.url = f"http://127.0.0.1:{listening[1]}"
        self.log_bytes = 0
        self.other_lines: list[str] = []
        threading.Thread(target=self._read_log, daemon=True).start()

    def _read_log(self) -> None:
        for line in self.process.stderr or ():
            self.log_bytes += len(line)
            if " status=" not in line:
                self.other_lines.append(line)

    def pids(self) -> list[int]:
        """Return the ids of the web process, and of everything that it started."""
        found, unseen = [], [self.process.pid]
        while unseen:
            pid = unseen.pop()
            found.append(pid)
            for task in Path(f"/proc/{pid}/task").glob("*/children"):
                unseen += [int(child) for child in task.read_text().split()]
        return found

    def workers(self) -> list[int]:
        """Return the ids of the workers: processes that the process after the first has forked."""
        return [pid for pid in self.pids()[1:] if _parent(pid) != self.process.pid]

    def memory(self) -> dict[str, float]:
        """Return resident memory in MB, and the number of open files of the web process."""
        workers = self.workers()
        return {
            "web": _resident(self.process.pid),
            "largest worker": max(map(_resident, workers), default=0.0),
            "workers": float(len(workers)),
            "files": float(len(os.listdir(f"/proc/{self.process.pid}/fd"))),
        }


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def _resident(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


# ====================================================================================== load


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def client(
    service: Service, expected: dict[Input, str], tally: Tally, rate: float, end: float, seed: int
) -> None:
    """Send inputs at random until the time is over, and compare each answer."""
    rng = random.Random(seed)
    inputs = list(expected)
    known = set(expected.values())
    while time.monotonic() < end:
        time.sleep(rng.expovariate(rate))
        chosen = rng.choice(inputs)
        try:
            answer = chosen.send(service.url)
        except requests.RequestException as error:
            outcome = type(error).__name__
        else:
            outcome = str(answer.status_code)
            got = digest(answer.content)
            if answer.status_code == 200 and got != expected[chosen]:
                with tally.lock:
                    kind = "of another input" if got in known else "unknown"
                    tally.crossed.append(f"{chosen.path}: {kind}")
        with tally.lock:
            tally.answers[outcome] += 1


def trouble(service: Service, tally: Tally, pause: float, end: float) -> None:
    """Cause a fault now and then; every tenth kills a worker."""
    rng = random.Random(0)
    count = 0
    while time.monotonic() < end:
        time.sleep(pause)
        count += 1
        if count % 10 == 0:
            workers = service.workers()
            if workers:
                os.kill(rng.choice(workers), signal.SIGKILL)
            tally.faults["a worker killed"] += 1
            continue
        fault = rng.choice(FAULTS)
        tally.faults[fault.__name__.replace("_", " ")] += 1
        threading.Thread(target=_quietly, args=(fault, service.address), daemon=True).start()


def _quietly(fault: Callable[[tuple[str, int]], None], address: tuple[str, int]) -> None:
    with suppress(OSError, requests.RequestException):  # the service closes the connection
        fault(address)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--rate", type=float, default=0.5, help="requests a second of each client")
    parser.add_argument("--pause", type=float, default=6.0, help="seconds between faults")
    options = parser.parse_args()
    service, tally = Service(), Tally()
    try:
        run(service, tally, options)
    finally:
        service.process.terminate()
        service.process.wait(60)


def run(service: Service, tally: Tally, options: argparse.Namespace) -> None:
    """Send the load, print memory every minute and the outcome at the end."""
    expected = {}
    for chosen in make_inputs():
        answer = chosen.send(service.url)
        answer.raise_for_status()
        expected[chosen] = digest(answer.content)
    if len(set(expected.values())) != len(expected):
        raise SystemExit("two inputs have the same answer: nothing could be told apart")
    end = time.monotonic() + options.minutes * MINUTE
    arguments = [(service, expected, tally, options.rate, end, n) for n in range(options.clients)]
    threads = [threading.Thread(target=client, args=words) for words in arguments]
    threads.append(threading.Thread(target=trouble, args=(service, tally, options.pause, end)))
    for thread in threads:
        thread.start()
    history = []
    while time.monotonic() < end:
        time.sleep(min(MINUTE, max(0.1, end - time.monotonic())))
        history.append(service.memory())
        print(json.dumps({"minute": len(history), **history[-1]}), flush=True)
    for thread in threads:
        thread.join(180)
    first = history[min(int(WARM_UP), len(history) - 1)]
    outcome = {
        "answers": dict(tally.answers),
        "checked": tally.answers["200"],
        "wrong or crossed": tally.crossed,
        "faults": dict(tally.faults),
        "memory after warm-up, MB": first,
        "memory at the end, MB": history[-1],
        "log, bytes": service.log_bytes,
        "other lines of the log": service.other_lines[:5],
    }
    print(json.dumps(outcome, indent=1))
    unexpected = set(tally.answers) - {"200"} - REFUSALS
    if tally.crossed or unexpected:
        raise SystemExit(f"wrong answers: {tally.crossed[:3]} {sorted(unexpected)}")


if __name__ == "__main__":
    main()
