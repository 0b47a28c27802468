"""Speed of the re-identification measures as ratios of CPU time, each against its peer in one run.

    uv run --extra fast python benchmarks/reidentification.py              # about two minutes
    uv run --extra fast python benchmarks/reidentification.py linkability  # one part
    uv run python benchmarks/reidentification.py crowd      # a million voices, 10 min

CPU seconds of one process, the least of a few repeats. Linear algebra is held to one thread.
"""

from __future__ import annotations

import os

for _pool in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_pool, "1")

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from timing import HEAD, cpu, row

from sottovoce.measure import acceleration
from sottovoce.measure.conversations import Trials
from sottovoce.measure.identification import (
    Counter,
    expected_rank,
    mean_by_speaker,
    open_set,
    top_k,
)
from sottovoce.measure.isolation import Draws, TestVectors, included, isolations
from sottovoce.measure.population import TRIALS, Scoring, stand
from sottovoce.measure.population_sizes import default_populations
from sottovoce.speaker import Cosine, Embeddings

MODELS, SPEAKERS, DIMENSION = 22_024, 4_949, 192


def draw(count: int, dimension: int = DIMENSION, seed: int = 0) -> NDArray[np.float32]:
    return np.random.default_rng(seed).standard_normal((count, dimension), dtype=np.float32)


def product(trials: NDArray[np.float32], models: NDArray[np.float32]) -> None:
    """All scores as bare products, block by block into one buffer."""
    buffer = np.empty((TRIALS, len(models)), np.float32)
    for start in range(0, len(trials), TRIALS):
        part = trials[start : start + TRIALS]
        np.matmul(part, models.T, out=buffer[: len(part)])


def enrolled(count: int, dimension: int = DIMENSION) -> Embeddings:
    return Embeddings.of(draw(count, dimension), np.char.zfill(np.arange(count).astype(str), 7))


def trials_of(speakers: NDArray[np.int64], models: Embeddings, level: float = 1.5) -> Trials:
    noise = level * draw(len(speakers), models.dimension, seed=1)
    return Trials(models.vectors[speakers] + noise, speakers, 1, 0, 0)


def linkability() -> None:
    models = enrolled(MODELS)
    trials = trials_of(np.arange(SPEAKERS), models)
    sizes = default_populations(MODELS)

    def curve() -> None:
        standing = stand(Scoring(models, trials, Cosine()))
        mean_by_speaker(top_k(standing, sizes), standing.speakers).mean(axis=0)

    peer = cpu(lambda: product(trials.vectors, models.vectors), 3)
    ours = cpu(curve, 3)
    row(
        f"Linkability for {len(sizes)} population sizes, {MODELS:,} × {SPEAKERS:,} × {DIMENSION}",
        ours,
        "the bare matrix product",
        peer,
        f"{ours / peer:.2f} × its time",
        "≤ 1.6×",
    )


def population() -> None:
    """The study of COMPRISE: 20 speakers, 4,696 trials, 24,610 enrolled speakers."""
    way = "numba" if acceleration.loops_for(acceleration.ALWAYS) else "numpy"
    models = enrolled(24_610, 200)
    core, sizes = np.arange(20), default_populations(24_610)

    def everything(trials: Trials) -> None:
        scoring = Scoring(models, trials, Cosine())
        counter = Counter(scoring.true_scores(), core)
        standing = stand(scoring, core=core, visit=counter)
        top_k(standing, sizes, 20)
        expected_rank(standing, sizes)
        open_set(counter, None, sizes, len(models.names), 1)

    for level, word in ((1.5, "well apart"), (8.0, "overlapping")):
        trials = trials_of(np.arange(4_696) % 20, models, level)
        peer = cpu(partial(product, trials.vectors, models.vectors), 3)
        ours = cpu(partial(everything, trials), 3)
        row(
            f"ranks, top-20, EER and Cllr_min for {len(sizes)} population sizes, "
            f"24,610 × 4,696 × 200, {word} ({way})",
            ours,
            "the bare matrix product",
            peer,
            f"{ours / peer:.2f} × its time",
            "≤ 2.5×",
        )


def literal(
    scores: NDArray[np.float32], true: int, enrolled: int, draws: Draws, sizes: list[int]
) -> NDArray[np.float64]:
    """The published protocol in plain numpy, ten vectors a speaker."""
    table = scores.reshape(-1, 10)
    found = np.zeros((draws.shifts.shape[1], len(sizes)))
    for i in range(len(found)):
        places = draws.places(enrolled, i)
        for column, size in enumerate(sizes):
            part = table[included(places, true, size)]
            for fold in range(10):
                calibration = np.delete(part, fold, axis=1).ravel()
                ninth, tenth = np.partition(calibration, [-10, -9])[[-9, -10]].astype(np.float64)
                found[i, column] += np.sum(part[:, fold] > (ninth + tenth) / 2) == 1
    return found / 10


def singling_out() -> None:
    speakers, predicates = MODELS, 495
    vectors = TestVectors.of(np.repeat(np.arange(speakers), 10))
    voices = draw(speakers)
    tests = np.repeat(voices, 10, axis=0) + 3 * draw(10 * speakers, seed=1)
    tests /= np.linalg.norm(tests, axis=1, keepdims=True)
    rng = np.random.default_rng(2)
    true = rng.choice(speakers, predicates, replace=False)
    sizes = default_populations(speakers)
    draws = Draws.make(speakers, predicates, 100, rng)

    def shares() -> list[NDArray[np.float64]]:
        found = []
        for start in range(0, predicates, 128):
            scores = voices[true[start : start + 128]] @ tests.T
            for i, line in enumerate(scores, start=start):
                found.append(isolations(line, vectors, int(true[i]), i, draws, sizes))
        return found

    few = Draws(draws.orders, draws.speakers_at, draws.shifts[:, :1])
    begin, some = time.process_time(), range(0, predicates, 60)
    plain = [literal(tests @ voices[true[i]], int(true[i]), i, few, sizes)[0] for i in some]
    peer = (time.process_time() - begin) / len(some) * predicates * 5
    for way in ("numba", "numpy"):
        with ways_to_compute(way) as there:
            if not there:
                continue
            isolations(tests @ voices[true[0]], vectors, int(true[0]), 0, draws, sizes)
            begin = time.process_time()
            found = shares()
            ours = time.process_time() - begin
        np.testing.assert_array_equal(plain, [found[i][0] for i in some])
        row(
            f"Singling Out, {predicates} predicates × 10 folds × {len(sizes)} sizes, "
            f"100 draws ({way})",
            ours,
            "the published protocol with 5 draws, same outcomes (time scaled from a part)",
            peer,
            f"{peer / ours:.0f} × faster",
            "≥ 40×" if way == "numba" else "–",
        )


@contextmanager
def ways_to_compute(way: str) -> Iterator[bool]:
    """With numba, or as if it were not installed; tells whether there is such a way."""
    loops_for = acceleration.loops_for
    if way == "numpy":
        acceleration.loops_for = lambda work: None
    try:
        yield way == "numpy" or loops_for(acceleration.ALWAYS) is not None
    finally:
        acceleration.loops_for = loops_for


def memory() -> None:
    """Peak memory of the whole study of 22,024 × 4,949 in a process of its own."""
    command = [sys.executable, __file__, "memory-child"]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    seconds, peak = map(float, out.split())
    print(f"\nreidentify, {MODELS:,} × {SPEAKERS:,}: {seconds:.1f} CPU s, peak RSS {peak:.0f} MiB")


def memory_child() -> None:
    import resource

    from sottovoce.measure.reidentification import reidentify
    from sottovoce.measure.reidentification_settings import ReidentificationSettings

    models = enrolled(MODELS)
    who = np.repeat(models.names[:SPEAKERS], 2)
    trial = Embeddings.of(
        np.repeat(models.vectors[:SPEAKERS], 2, axis=0) + draw(2 * SPEAKERS, seed=1), who
    )
    begin = time.process_time()
    reidentify(models, trial, settings=ReidentificationSettings(lengths=(1,), conversations=1))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(time.process_time() - begin, peak)


def crowd() -> None:
    """1,000,000 × 192 memory-mapped enrolment vectors against 10,000 trials."""
    import resource

    from sottovoce.speaker.readers import read_embeddings

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shape = (1_000_000, DIMENSION)
        table: Any = np.lib.format.open_memmap(folder / "vectors.npy", "w+", np.float32, shape)
        for start in range(0, len(table), 50_000):
            table[start : start + 50_000] = draw(50_000, seed=start)
        speakers = np.sort(np.random.default_rng(0).choice(len(table), 10_000, replace=False))
        trials = table[speakers] + draw(len(speakers), seed=1)
        del table
        names = "\n".join(f"{i:07}" for i in range(shape[0]))
        (folder / "speakers.txt").write_text(names + "\n")
        begin = time.process_time()
        models = read_embeddings(folder)
        standing = stand(
            Scoring(models, Trials(trials, speakers, 1, 0, 0), Cosine()), progress=show
        )
        linked = top_k(standing, [1000, 1_000_000]).mean(axis=0)
        seconds = time.process_time() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\n10¹⁰ pairs: {seconds:.0f} CPU s, peak RSS {peak:.0f} MiB, linkability {linked}")


def show(done: int, total: int) -> None:
    if done % 100 == 0:
        print(f"\r{100 * done / total:.0f} %", end="", file=sys.stderr)


def main() -> None:
    parts = {
        "linkability": linkability,
        "population": population,
        "singling-out": singling_out,
        "memory": memory,
    }
    more = {"memory-child": memory_child, "crowd": crowd}
    if sys.argv[1:2] != ["memory-child"]:
        print(HEAD)
    for name in sys.argv[1:] or parts:
        ({**parts, **more})[name]()


if __name__ == "__main__":
    main()
