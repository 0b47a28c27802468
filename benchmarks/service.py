"""The service under load: errors, memory, and what HTTP costs against calling the library.

    uv run python benchmarks/service.py [SECONDS [CLIENTS]]    # default 60 s, 64 clients

Three parts, one after the other on the same cores, against ``sottovoce serve`` as a user
starts it:

1. Throughput of ``/v1/measure`` and of McAdams in ``/v1/anonymise/voice``: turns of the service
   (CLIENTS connections) and of as many processes as it has workers that call the library directly
   with the same files; alternating, so that both see the same machine.
2. The same in CPU time for each answer, of the service with its workers against the direct calls.
   The clients share the cores; what they take is printed, and is in the first ratio and not here.
3. SECONDS of CLIENTS that ask for both in turn: statuses, and resident memory of the service with
   its workers, the last tenth against the first tenth after a warm-up of a fifth.
"""

from __future__ import annotations

import asyncio
import io
import json
import multiprocessing
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import soundfile

WORKERS = os.cpu_count() or 1
TURN = 6.0
"""Seconds of one turn."""
TURNS = 3
RESAMPLES = 200
"""Behind an interval: answers of a tenth of a second, so that many are waited for."""
TICK = os.sysconf("SC_CLK_TCK")
PATHS = {
    "/v1/measure": f"/v1/measure?seed=1&resamples={RESAMPLES}",
    "/v1/anonymise/voice, McAdams": "/v1/anonymise/voice?method=mcadams&seed=1",
}


def clip(seconds: float = 5.0, rate: int = 16000) -> bytes:
    """A synthetic vowel."""
    rng = np.random.default_rng(0)
    phase = 2 * np.pi * np.cumsum(120 + 5 * np.sin(np.arange(int(seconds * rate)) / 900)) / rate
    sound = sum(np.sin(k * phase) * np.exp(-((k * 120 - 700) ** 2) / 4e5) for k in range(1, 20))
    sound = 0.2 * sound / np.abs(sound).max() + 0.003 * rng.normal(size=len(phase))
    buffer = io.BytesIO()
    soundfile.write(buffer, sound, rate, format="WAV", subtype="PCM_16")
    return buffer.getvalue()


def scores() -> bytes:
    rng = np.random.default_rng(0)
    buffer = io.BytesIO()
    np.savez(buffer, mated=rng.normal(1, 1, 200), nonmated=rng.normal(0, 1, 2000))
    return buffer.getvalue()


FILES = {"/v1/measure": ("scores.npz", scores), "/v1/anonymise/voice, McAdams": ("a.wav", clip)}

# ==================================================================================== the library


def answer_directly(service: str, path: Path) -> None:
    """Do with the library what the service does: read a file, compute, encode the result."""
    if service == "/v1/measure":
        from sottovoce.measure import measure_scores
        from sottovoce.measure.readers import read_scores

        json.dumps(
            measure_scores(read_scores(path), seed=1, replicates=RESAMPLES).to_dict()
        ).encode()
    else:
        from sottovoce.anonymise.keys import Secret
        from sottovoce.anonymise.voice import make_method
        from sottovoce.corpus.audio import load_native, save_audio

        audio, rate = load_native(path)
        method = make_method("mcadams", Secret.reproducible(1))
        changed = method.transform(audio, rate, speaker="speaker", utterance="utterance")
        save_audio(path.with_name(f"out{os.getpid()}.wav"), changed, rate)


def run_directly(service: str, path: Path, seconds: float) -> tuple[int, float, float]:
    """Number of answers that begin within a time, and the seconds and CPU seconds they took."""
    answer_directly(service, path)  # loads what is loaded once
    begin, cpu, done = time.perf_counter(), time.process_time(), 0
    while time.perf_counter() - begin < seconds:
        answer_directly(service, path)
        done += 1
    return done, time.perf_counter() - begin, time.process_time() - cpu


# ==================================================================================== the service


@dataclass
class Load:
    """Statuses and costs that the clients observed."""

    statuses: Counter[str] = field(default_factory=Counter)
    client_cpu: float = 0.0
    seconds: float = 0.0


async def _client(port: int, requests: list[bytes], end: float, statuses: Counter[str]) -> None:
    """Send requests over one connection; cheap, so that the service has the cores."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 22)
    turn = 0
    while time.perf_counter() < end:
        writer.write(requests[turn % len(requests)])
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head)
        await reader.readexactly(int(length[1]) if length else 0)
        status = head[9:12].decode()
        statuses[status] += 1
        turn += 1
        if status == "429":
            await asyncio.sleep(0.5)
    writer.close()


async def _run_clients(port: int, requests: list[bytes], seconds: float, clients: int) -> Load:
    load = Load()
    begin, cpu = time.perf_counter(), time.process_time()
    end = begin + seconds
    rotated = [
        requests[i % len(requests) :] + requests[: i % len(requests)] for i in range(clients)
    ]
    await asyncio.gather(*(_client(port, order, end, load.statuses) for order in rotated))
    load.seconds = time.perf_counter() - begin
    load.client_cpu = time.process_time() - cpu
    return load


def run_clients(port: int, services: list[str], seconds: float, clients: int) -> Load:
    """Run clients that each send requests to the services in turn."""
    requests = []
    for service in services:
        body = FILES[service][1]()
        head = (
            f"POST {PATHS[service]} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
        )
        requests.append(head.encode() + b"\r\n" + body)
    return asyncio.run(_run_clients(port, requests, seconds, clients))


@contextmanager
def serving() -> Iterator[tuple[int, int]]:
    """Start a service; yields its process id and its port."""
    arguments = ["serve", "--port", "0", "--workers", str(WORKERS), "--seconds", "120"]
    start = "from sottovoce.cli import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", start, *arguments], stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    line = process.stderr.readline()
    port = re.search(r"http://[\d.]+:(\d+)", line)
    assert port, line
    threading.Thread(target=process.stderr.read, daemon=True).start()  # its log must not fill up
    try:
        yield process.pid, int(port[1])
    finally:
        process.terminate()
        process.wait(20)


def process_tree(pid: int) -> list[int]:
    """A process and all its descendants."""
    parents = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                stat = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(folder.name)] = int(stat[1])
    tree = [pid]
    for member in tree:
        tree += [child for child, parent in parents.items() if parent == member]
    return tree


def resident(pid: int) -> float:
    """Resident memory of a process tree in MB."""
    pages = 0
    for member in process_tree(pid):
        try:
            pages += int(Path(f"/proc/{member}/statm").read_text().split()[1])
        except OSError:
            continue
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def cpu_of(pid: int) -> float:
    """CPU seconds that a process tree has used."""
    ticks = 0
    for member in process_tree(pid):
        fields = Path(f"/proc/{member}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / TICK


# ====================================================================================== the parts


def compare(service: str, pid: int, port: int, folder: Path, turn: float, clients: int) -> bool:
    """Alternate between library and service; whether the ratio of throughputs reaches the aim."""
    path = folder / FILES[service][0]
    path.write_bytes(FILES[service][1]())
    rates: dict[str, list[float]] = {"library": [], "service": []}
    costs: dict[str, list[float]] = {"library": [], "service": [], "clients": []}
    run_clients(port, [service], 1.0, clients)
    with multiprocessing.get_context("spawn").Pool(WORKERS) as pool:
        for _ in range(TURNS):
            done = pool.starmap(run_directly, [(service, path, turn)] * WORKERS, chunksize=1)
            rates["library"].append(sum(count / took for count, took, _ in done))
            costs["library"].append(sum(cpu for *_, cpu in done) / sum(count for count, *_ in done))
            before = cpu_of(pid)
            load = run_clients(port, [service], turn, clients)
            answers = load.statuses["200"]
            assert set(load.statuses) <= {"200", "429"}, load.statuses
            rates["service"].append(answers / load.seconds)
            costs["service"].append((cpu_of(pid) - before) / answers)
            costs["clients"].append(load.client_cpu / answers)
    rate = {side: statistics.median(values) for side, values in rates.items()}
    cost = {side: 1000 * statistics.median(values) for side, values in costs.items()}
    ratio = rate["service"] / rate["library"]
    print(
        f"{service}: library {rate['library']:.1f}/s, service {rate['service']:.1f}/s, ratio "
        f"{ratio:.2f} (aim 0.80); CPU an answer: library "
        f"{cost['library']:.1f} ms, service {cost['service']:.1f} ms, ratio "
        f"{cost['library'] / cost['service']:.2f}; clients {cost['clients']:.1f} ms",
        flush=True,
    )
    return ratio >= 0.8


def watch(pid: int, port: int, seconds: float, clients: int) -> bool:
    """Measure memory under a mixed load; whether it stays within the aim."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        result = pool.apply_async(run_clients, (port, list(PATHS), seconds, clients))
        memory: list[float] = []
        while not result.ready():
            memory.append(resident(pid))
            result.wait(seconds / 120)
        load = result.get()
    tenth = len(memory) // 10
    first = statistics.median(memory[2 * tenth : 3 * tenth])
    last = statistics.median(memory[-tenth:])
    growth = last / first - 1
    total = sum(load.statuses.values())
    print(
        f"{clients} clients, {load.seconds:.0f} s: {total:,} answers, {dict(load.statuses)}; "
        f"resident {first:.0f} MB after warm-up, {last:.0f} MB at the end, peak {max(memory):.0f} "
        f"MB: {100 * growth:+.1f} % (aim below 5 %)",
        flush=True,
    )
    return set(load.statuses) <= {"200", "429"} and growth < 0.05


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    clients = int(sys.argv[2]) if len(sys.argv) > 2 else 64
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with tempfile.TemporaryDirectory() as folder, serving() as (pid, port):
        turn = min(TURN, seconds / 4)
        reached = [compare(name, pid, port, Path(folder), turn, clients) for name in PATHS]
        reached.append(watch(pid, port, seconds, clients))
    sys.exit(0 if all(reached) else 1)


if __name__ == "__main__":
    main()
