"""The same bytes on any engine, what a cluster costs, and what happens when it is killed.

    uv run python benchmarks/scale.py WORK measure 64          # 2·10⁸ scores; 320 shards are 10⁹
    uv run python benchmarks/scale.py WORK reidentify 22024 4949
    uv run python benchmarks/scale.py WORK mapped 1000000 10000
    uv run python benchmarks/scale.py WORK voices CORPUS
    uv run python benchmarks/scale.py WORK embed CORPUS
    uv run python benchmarks/scale.py WORK audit [STUDY.yaml]
    uv run python benchmarks/scale.py WORK kill STUDY.yaml 20
    uv run python benchmarks/scale.py WORK cost STUDY.yaml CORPUS ...

WORK is a folder for results. Each line has the engine, wall and CPU seconds of all processes, the
peak memory of the largest, and the beginning of the SHA-256 of what was made. The corpora of
``cost`` are audited one after the other; compare CPU time with what ``--dry-run`` says.
"""

from __future__ import annotations

import hashlib
import os
import random
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

ENGINES = (("local", 1), ("dask", 1), ("dask", 2))
SHARD = 3_125_000
METHODS = ("mcadams", "voicemask", "vtln", "xvector", "dar")
SINGLE = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS"), "1"
)


def run(arguments: Sequence[object]) -> tuple[float, float, float]:
    """Run a command; wall and CPU seconds, and MB of its largest process so far."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    command = [sys.executable, "-m", "sottovoce", "--quiet", *map(str, arguments)]
    done = subprocess.run(
        command, env=os.environ | SINGLE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    if done.returncode not in (0, 1):  # 1: a limit of a study is exceeded
        sys.exit(done.stderr.decode())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - begin, cpu, after.ru_maxrss / 1024


def compare(
    name: str, made: Callable[[str], Path], command: Callable[[Path], Sequence[object]]
) -> None:
    """Run a command on each engine and print what it took and made."""
    for engine, jobs in ENGINES:
        target = made(f"{engine}-{jobs}")
        wall, cpu, memory = run([*command(target), "--engine", engine, "--jobs", jobs])
        print(
            f"{name:24} {engine:5} {jobs}  {wall:7.1f} s  {cpu:7.1f} CPU s  {memory:6.0f} MB  "
            f"{digest(target)[:16]}",
            flush=True,
        )


def digest(path: Path) -> str:
    """SHA-256 of a file, or of the names and contents of all files of a folder."""
    files = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
    total = hashlib.sha256()
    for file in files:
        total.update(file.relative_to(path.parent / path.name).as_posix().encode())
        total.update(file.read_bytes())
    return total.hexdigest()


def make_shards(folder: Path, count: int) -> None:
    """Write simulated scores, 1,500 mated and 3,125,000 non-mated a shard."""
    folder.mkdir(parents=True, exist_ok=True)
    for shard in range(count):
        file = folder / f"{shard:04}.parquet"
        if file.exists():
            continue
        rng = np.random.default_rng([7, shard])
        mated = rng.normal(2.0, 2.0, 1500).astype(np.float32)
        nonmated = rng.standard_normal(SHARD, np.float32) * 2 - 2
        label = pl.Series(np.repeat(["mated", "nonmated"], [1500, SHARD]))
        score = np.concatenate([mated, nonmated])
        pl.DataFrame({"score": score, "label": label}).write_parquet(file, row_group_size=1 << 18)


def measure(work: Path, shards: str) -> None:
    folder = work / f"shards-{shards}"
    make_shards(folder, int(shards))
    compare(
        f"measure {int(shards) * SHARD:.0e}",
        lambda engine: work / f"measure-{shards}-{engine}.json",
        lambda target: ["measure", folder, "--json", target],
    )


def make_voices(folder: Path, models: int, trials: int, mapped: bool) -> tuple[Path, Path]:
    """Write simulated embeddings of width 192: an enrolment, and two trials of some speakers."""
    folder.mkdir(parents=True, exist_ok=True)
    names = np.array([f"{number:07}" for number in range(models)])
    who = np.sort(np.random.default_rng(0).choice(models, trials, replace=False))
    enrol = folder / "enrol"
    enrol.mkdir(exist_ok=True)
    table = np.lib.format.open_memmap(enrol / "vectors.npy", "w+", np.float32, (models, 192))
    for start in range(0, models, 50_000):
        stop = min(start + 50_000, models)
        rng = np.random.default_rng([1, start])
        table[start:stop] = rng.standard_normal((stop - start, 192), np.float32)
    noise = np.random.default_rng(2).standard_normal((2, trials, 192), np.float32)
    spoken = (table[who] + 2.2 * noise).reshape(-1, 192)
    np.savez(folder / "trial.npz", vectors=spoken, speakers=np.tile(names[who], 2))
    (enrol / "speakers.txt").write_text("\n".join(names.tolist()) + "\n")
    if mapped:
        table.flush()
        return enrol, folder / "trial.npz"
    np.savez(folder / "enrol.npz", vectors=np.array(table), speakers=names)
    return folder / "enrol.npz", folder / "trial.npz"


def reidentify(work: Path, models: str, trials: str, *, mapped: bool = False) -> None:
    folder = work / f"voices-{models}-{trials}"
    enrol, trial = make_voices(folder, int(models), int(trials), mapped)
    options = ["--lengths", 1, "--conversations", 1]
    compare(
        f"reidentify {models} × {trials}",
        lambda engine: work / f"reidentify-{models}-{trials}-{engine}.json",
        lambda target: [
            *("reidentify", "--enrol", enrol, "--trial", trial),
            *(*options, "--json", target),
        ],
    )


def voices(work: Path, corpus: str) -> None:
    for method in METHODS:
        compare(
            f"anonymise {method}",
            lambda engine, method=method: work / f"voices-{method}-{engine}" / "speech",  # type: ignore[misc]
            lambda target, method=method: [  # type: ignore[misc]
                *("anonymise", "voice", corpus, target),
                *("--method", method, "--reproducible", 3),
            ],
        )


def embed(work: Path, corpus: str) -> None:
    compare(
        "embed",
        lambda engine: work / f"embed-{engine}.npz",
        lambda target: ["embed", corpus, target],
    )


def audit(work: Path, *studies: str) -> None:
    compare(
        "audit",
        lambda engine: work / f"audit-{engine}" / "audit",
        lambda target: ["audit", *studies, "--out", target, "--no-audio"],
    )


def kill(work: Path, study: str, kills: str) -> None:
    """Kill worker processes at random, and the scheduler once, while an audit runs."""
    from dask_processes import dask_processes

    local, killed, logs = work / "unharmed", work / "killed", work / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    run(["audit", study, "--out", local, "--no-audio"])
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    rng, count, begin = random.Random(5), 0, time.perf_counter()
    with dask_processes(logs, port, workers=2) as processes:
        command = ["audit", study, "--out", killed, "--no-audio", "--engine", processes.address]
        audit = subprocess.Popen(
            [sys.executable, "-m", "sottovoce", *map(str, command), "--scratch", str(work)],
            env=os.environ | SINGLE,
            stdout=subprocess.DEVNULL,
            stderr=(logs / "client.log").open("wb"),
        )
        while audit.poll() is None and count < int(kills):
            time.sleep(rng.uniform(1.5, 5.0))
            rng.shuffle(processes.workers)
            if processes.kill_worker_process():
                count += 1
            if count == int(kills) // 2 and len(processes.logs) == 3:
                processes.restart_scheduler()
                print(f"the scheduler was killed after {count} workers", flush=True)
        code = audit.wait()
    same = digest(local / "measures.json") == digest(killed / "measures.json")
    seconds = time.perf_counter() - begin
    print(f"{count} workers killed, exit code {code}, {seconds:.0f} s, same measures: {same}")


def cost(work: Path, study: str, *corpora: str) -> None:
    for corpus in corpora:
        plan = [sys.executable, "-m", "sottovoce", "audit", study, "--corpus", corpus, "--dry-run"]
        print(
            subprocess.run([*plan, "--jobs", "1"], check=True, capture_output=True).stdout.decode()
        )
        folder = work / f"cost-{Path(corpus).name}"
        wall, cpu, _ = run(
            ["audit", study, "--corpus", corpus, "--out", folder, "--jobs", 1, "--no-audio"]
        )
        print(f"{corpus}: {wall:.0f} s, {cpu:.1f} CPU s\n", flush=True)


def mapped(work: Path, models: str, trials: str) -> None:
    reidentify(work, models, trials, mapped=True)


PARTS: dict[str, Callable[..., None]] = {
    function.__name__: function
    for function in (measure, reidentify, mapped, voices, embed, audit, kill, cost)
}

if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[2] not in PARTS:
        sys.exit(__doc__)
    Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
    PARTS[sys.argv[2]](Path(sys.argv[1]).absolute(), *sys.argv[3:])
