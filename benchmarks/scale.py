"""The same bytes on any engine, what a cluster costs, and what happens when it is killed.

    uv run python benchmarks/scale.py WORK measure 64            # 2·10⁸ scores
    uv run python benchmarks/scale.py WORK shards 80 160 320     # up to 10⁹, memory of workers
    uv run python benchmarks/scale.py WORK reidentify 22024 4949
    uv run python benchmarks/scale.py WORK mapped 1000000 10000
    uv run python benchmarks/scale.py WORK audit [STUDY.yaml]
    uv run python benchmarks/scale.py WORK five CORPUS 8         # five anonymisers; 8 recordings
    uv run python benchmarks/scale.py WORK embed CORPUS          #   a speaker, 4 of each split
    uv run python benchmarks/scale.py WORK kill CORPUS 20        # 20 workers and a scheduler
    uv run python benchmarks/scale.py WORK cost CORPUS 2 4 12    # fitted on all sizes but the last

WORK is a folder for inputs and results. ``ENGINES=dask-1,dask-2`` in the environment chooses
engines. Each line has the engine, wall and CPU seconds of all processes, the peak memory of the
largest worker as the engine tells it, and the beginning of the SHA-256 of what was made. Wall time
means something on a machine without other work only.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import random
import re
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import polars as pl

from sottovoce.audit.study import Study

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

ENGINES = os.environ.get("ENGINES", "local-1,dask-1,dask-2").split(",")
SHARD = 3_125_000
STARTED = 3.5
"""CPU seconds after which a worker has started and works."""
METHODS = ("mcadams", "voicemask", "vtln", "xvector", "dar")
SINGLE = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS"), "1"
)


def run(arguments: Sequence[object]) -> tuple[float, float, str]:
    """Run a command; wall and CPU seconds, and what the engine says of its largest worker.

    The process that workers are forked from ends a moment after the command that started it; this
    process waits for it, so that its time and that of the workers are counted.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    command = [sys.executable, "-m", "sottovoce", *map(str, arguments)]
    done = subprocess.run(
        command, env=os.environ | SINGLE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    wall = time.perf_counter() - begin
    wait_for_orphans()
    errors = done.stderr.decode()
    if done.returncode not in (0, 1):  # 1: a limit of a study is exceeded
        sys.exit(errors)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    held = re.search(r"the largest held ([0-9.]+ GB)", errors)
    return wall, cpu, held[1] if held else ""


def adopt_orphans() -> None:
    """Become the parent of processes whose parent ends, as far as they descend from this one."""
    set_child_subreaper = 36
    if ctypes.CDLL(None).prctl(set_child_subreaper, 1, 0, 0, 0):
        sys.exit("this system cannot count the time of processes that outlive their parent")


def wait_for_orphans() -> None:
    with suppress(ChildProcessError):  # there are none
        while True:
            os.wait()


def compare(
    name: str,
    made: Callable[[str], Path],
    command: Callable[[Path], Sequence[object]],
    options: Sequence[object] = (),
) -> None:
    """Run a command on each engine and print what it took and made."""
    for chosen in ENGINES:
        engine, _, jobs = chosen.partition("-")
        target = made(chosen)
        chosen_engine = ["--engine", engine, "--jobs", jobs]
        wall, cpu, memory = run([*command(target), *chosen_engine, *options])
        print(
            f"{name:24} {chosen:8} {wall:7.1f} s  {cpu:7.1f} CPU s  {memory:8}  "
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


def measure(work: Path, shards: str, options: Sequence[object] = ()) -> None:
    """Measure the first shards of the largest set that there is."""
    made = work / "shards"
    make_shards(made, int(shards))
    folder = work / f"shards-{shards}"
    folder.mkdir(exist_ok=True)
    for file in sorted(made.iterdir())[: int(shards)]:
        if not (folder / file.name).exists():
            os.link(file, folder / file.name)
    compare(
        f"measure {int(shards) * SHARD:.0e}",
        lambda engine: work / f"measure-{shards}-{engine}.json",
        lambda target: ["measure", folder, "--json", target],
        options,
    )


def shards(work: Path, *counts: str) -> None:
    """Scores of several sizes on workers of 0.6 GB."""
    for count in counts:
        measure(work, count, ["--worker-memory", "0.6GB"])


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


def embed(work: Path, corpus: str) -> None:
    compare(
        "embed",
        lambda engine: work / f"embed-{engine}.npz",
        lambda target: ["embed", corpus, target],
    )


def audit(work: Path, *studies: str, name: str = "audit") -> None:
    """A whole audit; the digest is that of measures.json, and all files are compared at the end."""
    compare(
        name,
        lambda engine: work / f"{name}-{engine}",
        lambda target: ["audit", *studies, "--out", target, "--no-audio"],
    )
    done = [work / f"{name}-{engine}" for engine in ENGINES]
    for folder in done:
        print(f"{folder.name}: measures.json {digest(folder / 'measures.json')[:16]}")


def part_of(corpus: str, count: int, folder: Path) -> Path:
    """List the first recordings of each speaker, half of them of each split."""
    from sottovoce.corpus import open_corpus
    from sottovoce.corpus.manifest import write_manifest

    chosen: list[str] = []
    whole = open_corpus(corpus)
    for utterances in whole.by_speaker().values():
        for split in ("enrol", "trial"):
            chosen += [u.id for u in utterances if u.split == split][: count // 2]
    ids = set(chosen)
    folder.mkdir(parents=True, exist_ok=True)
    write_manifest(whole.select(lambda utterance: utterance.id in ids), folder)
    return folder


def write_study(path: Path, corpus: Path, methods: Sequence[str], **more: object) -> Path:
    """Ignorant attackers with cosine distance, and no utility: speech is most of the work."""
    content = {
        "corpus": str(corpus),
        "anonymisers": list(methods),
        "attackers": ["ignorant"],
        "linkage": ["cosine"],
        "utility": {"wer": False, "f0": False, "quality": False},
        **more,
    }
    path.write_text(json.dumps(content))
    return path


def five(work: Path, corpus: str, count: str) -> None:
    part = part_of(corpus, int(count), work / f"part-{count}")
    audit(work, str(write_study(work / f"five-{count}.yaml", part, METHODS)), name=f"five-{count}")


def kill(work: Path, corpus: str, kills: str) -> None:
    """Kill worker processes at random, and the scheduler once, while an audit runs."""
    from dask_processes import dask_processes

    part = part_of(corpus, 4, work / "part-4")
    study = write_study(work / "kill.yaml", part, ["mcadams", "vtln", "voicemask"])
    local, killed, logs = work / "unharmed", work / "killed", work / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    run(["audit", study, "--out", local, "--no-audio", "--jobs", 1])
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
        scheduler_killed = False
        while audit.poll() is None and count < int(kills):
            time.sleep(rng.uniform(0.5, 3.0))
            processes.restart_dead_workers()
            rng.shuffle(processes.workers)
            if audit.poll() is None and processes.kill_worker_process(after=STARTED):
                count += 1
            if count == int(kills) // 2 and not scheduler_killed:
                processes.restart_scheduler()
                scheduler_killed = True
                print(f"the scheduler was killed after {count} workers", flush=True)
        while audit.poll() is None:
            time.sleep(1)
            processes.restart_dead_workers()
    code = audit.wait()
    same = digest(local / "measures.json") == digest(killed / "measures.json")
    everything = digest(local) == digest(killed)
    seconds = time.perf_counter() - begin
    print(
        f"{count} workers killed, exit code {code}, {seconds:.0f} s, same measures.json: {same}, "
        f"all files the same: {everything}"
    )


def cost(work: Path, corpus: str, *counts: str) -> None:
    """Fit the rates of the model on all sizes but the last, and predict that."""
    from sottovoce.audit.cost import Rates, amounts_of, estimate
    from sottovoce.audit.study_file import read_study

    kinds: dict[str, float] = {}
    amounts: dict[str, float] = {}
    for number, count in enumerate(counts):
        part = part_of(corpus, int(count), work / f"part-{count}")
        path = write_study(
            work / f"cost-{count}.yaml",
            part,
            ["mcadams", "voicemask"],
            attackers=["ignorant", "lazy-informed"],
            draws=1,
            utility={"wer": False, "f0": True, "quality": False},
        )
        study, folder = read_study(path), work / f"cost-{count}"
        speech = amounts_of(study, folder)
        if number == len(counts) - 1:
            rates = Rates(
                anonymising={m: amounts[m] / kinds[m] for m in ("mcadams", "voicemask")},
                reading=amounts["reading"] / kinds["reading"],
                embedding=amounts["embedding"] / kinds["embedding"],
                comparing=amounts["comparing"] / kinds["comparing"],
                attacking=kinds["attacking"] / amounts["attacking"],
                starting=0.0,
            )
            print(rates)
            for name, chosen in (("fitted", rates), ("of the package", None)):
                predicted = estimate(study, speech, workers=1, rates=chosen).cpu_seconds
                print(f"{count} recordings a speaker, rates {name}: {predicted:.0f} CPU s")
        spent = stage_times(study, folder)
        total = sum(spent.values())
        print(f"{count} recordings a speaker: {total:.1f} CPU s", spent, flush=True)
        for kind, seconds in spent.items():
            kinds[kind] = kinds.get(kind, 0.0) + seconds
        enrol, trial, train = speech.enrol.seconds, speech.trial.seconds, speech.train.seconds
        changed = 2 * enrol + trial + train
        for kind, amount in {
            "reading": enrol + trial + train,
            "embedding": enrol + trial + train + 2 * (changed - enrol),
            "mcadams": changed,
            "voicemask": changed,
            "comparing": 2 * trial * min(1.0, 120 / speech.trial.utterances),
            "attacking": len(study.attacks) + len(study.linkages),
        }.items():
            amounts[kind] = amounts.get(kind, 0.0) + amount


def stage_times(study: Study, folder: Path) -> dict[str, float]:
    """Run an audit in this thread; CPU seconds by kind of work."""
    from sottovoce.audit.run import run_audit

    spent: dict[str, float] = {}
    method, last = "", time.process_time()

    def show(stage: str, done: int, total: int) -> None:
        nonlocal method, last
        word, _, rest = stage.partition(" ")
        if word == "anonymising" and rest in METHODS:
            method = rest
        kind = method if word == "anonymising" else word
        now = time.process_time()
        spent[kind] = spent.get(kind, 0.0) + now - last
        last = now

    run_audit(study, folder, jobs=1, audio=False, progress=show)
    spent["attacking"] = spent.get("attacking", 0.0) + time.process_time() - last
    return spent


def mapped(work: Path, models: str, trials: str) -> None:
    reidentify(work, models, trials, mapped=True)


PARTS: dict[str, Callable[..., None]] = {
    function.__name__: function
    for function in (measure, shards, reidentify, mapped, embed, audit, five, kill, cost)
}

if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[2] not in PARTS:
        sys.exit(__doc__)
    adopt_orphans()
    Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
    PARTS[sys.argv[2]](Path(sys.argv[1]).absolute(), *sys.argv[3:])
