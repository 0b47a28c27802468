"""Speed of the linkage functions as ratios of CPU time, each to its peer in the same run.

    uv run python benchmarks/linkage.py             # everything, under a minute
    uv run python benchmarks/linkage.py all-pairs   # one part

CPU seconds of one process, the least of a few repetitions. Linear algebra uses one thread. Scores
are computed block by block in one buffer and never held in memory together.
"""

from __future__ import annotations

import os

for _pool in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_pool, "1")

import sys

import numpy as np
from timing import HEAD, cpu, row

from sottovoce.core.types import Vectors
from sottovoce.speaker import Cosine, Embeddings, LinkageFunction, Plda, speaker_means
from sottovoce.speaker.linkage_functions import Counts

MODELS, TRIALS, DIMENSION = 22_024, 4_949, 192
ROWS = 256
"""Models per block."""


def draw(count: int, dimension: int = DIMENSION, seed: int = 0) -> Vectors:
    return np.random.default_rng(seed).standard_normal((count, dimension), dtype=np.float32)


def all_scores(
    linkage: LinkageFunction, models: Vectors, trials: Vectors, counts: Counts, buffer: Vectors
) -> None:
    """Prepare both sides and multiply block by block; the scores are discarded."""
    left, right = linkage.enrol(models, counts), linkage.trial(trials, counts).T
    for start in range(0, len(left), ROWS):
        block = left[start : start + ROWS]
        np.matmul(block, right, out=buffer[: len(block)])


def trained_plda(dimension: int = DIMENSION) -> Plda:
    speakers = np.repeat(np.arange(500), 10)
    positions = draw(500, dimension, seed=1)[speakers]
    return Plda.fit(Embeddings.of(positions + draw(5000, dimension, seed=2), speakers))


def all_pairs() -> None:
    models, trials, plda = draw(MODELS), draw(TRIALS, seed=3), trained_plda()
    counts = np.random.default_rng(4).integers(1, 30, MODELS)
    buffer = np.empty((ROWS, TRIALS), np.float32)
    all_scores(Cosine(), models, trials, 1, buffer)
    peer = cpu(lambda: all_scores(Cosine(), models, trials, 1, buffer), 5)
    equal = cpu(lambda: all_scores(plda, models, trials, 10, buffer), 5)
    mixed = cpu(lambda: all_scores(plda, models, trials, counts, buffer), 5)
    size = f"{MODELS:,} × {TRIALS:,}, D = {DIMENSION}"
    for case, ours, limit in (
        ("equal numbers of enrolment utterances", equal, "≤ 1.3×"),
        ("mixed numbers", mixed, "≤ 2.5×"),
    ):
        row(f"PLDA, {size}, {case}", ours, "cosine", peer, f"{ours / peer:.2f}×", limit)


def training() -> None:
    speakers = np.random.default_rng(5).integers(0, 921, 104_014)
    embeddings = Embeddings.of(draw(921, seed=6)[speakers] + draw(104_014, seed=7), speakers)
    peer = cpu(lambda: embeddings.vectors.T @ embeddings.vectors)
    ours = cpu(lambda: Plda.fit(embeddings), 2)
    means = cpu(lambda: speaker_means(embeddings))
    for task, seconds in (("PLDA training, 10 iterations", ours), ("means of speakers", means)):
        row(
            f"{task}, 104,014 vectors of 921 speakers, D = {DIMENSION}",
            seconds,
            "the product XᵀX in float32",
            peer,
            f"{seconds / peer:.1f}×",
            "–",
        )


PARTS = {"all-pairs": all_pairs, "training": training}


def main() -> None:
    print(HEAD)
    for name in sys.argv[1:] or PARTS:
        PARTS[name]()


if __name__ == "__main__":
    main()
