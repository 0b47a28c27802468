"""Speed of the linkage functions as ratios of CPU time, each against its peer in the same run.

    uv run python benchmarks/linkage.py             # everything, under a minute
    uv run python benchmarks/linkage.py all-pairs   # one part

CPU seconds of one process, the least of a few repeats. Linear algebra is held to one thread. Scores
are made block by block in one buffer and never held together.
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
from sottovoce.speaker.linkage import Counts

MODELS, TRIALS, DIMENSION = 22_024, 4_949, 192
ROWS = 256
"""Models multiplied at a time."""


def draw(count: int, dimension: int = DIMENSION, seed: int = 0) -> Vectors:
    return np.random.default_rng(seed).standard_normal((count, dimension), dtype=np.float32)


def all_scores(
    linkage: LinkageFunction, models: Vectors, trials: Vectors, counts: Counts, buffer: Vectors
) -> None:
    """Prepare both sides and multiply block by block; nothing is kept."""
    left, right = linkage.enrol(models, counts), linkage.trial(trials, counts).T
    for start in range(0, len(left), ROWS):
        part = left[start : start + ROWS]
        np.matmul(part, right, out=buffer[: len(part)])


def trained(dimension: int = DIMENSION) -> Plda:
    speakers = np.repeat(np.arange(500), 10)
    places = draw(500, dimension, seed=1)[speakers]
    return Plda.fit(Embeddings.of(places + draw(5000, dimension, seed=2), speakers))


def all_pairs() -> None:
    models, trials, plda = draw(MODELS), draw(TRIALS, seed=3), trained()
    counts = np.random.default_rng(4).integers(1, 30, MODELS)
    buffer = np.empty((ROWS, TRIALS), np.float32)
    all_scores(Cosine(), models, trials, 1, buffer)
    peer = cpu(lambda: all_scores(Cosine(), models, trials, 1, buffer), 5)
    equal = cpu(lambda: all_scores(plda, models, trials, 10, buffer), 5)
    mixed = cpu(lambda: all_scores(plda, models, trials, counts, buffer), 5)
    size = f"{MODELS:,} × {TRIALS:,}, D = {DIMENSION}"
    for what, ours, limit in (
        ("equal numbers of enrolment utterances", equal, "≤ 1.3×"),
        ("mixed numbers", mixed, "≤ 2.5×"),
    ):
        row(f"PLDA, {size}, {what}", ours, "cosine", peer, f"{ours / peer:.2f}×", limit)


def training() -> None:
    speakers = np.random.default_rng(5).integers(0, 921, 104_014)
    voices = Embeddings.of(draw(921, seed=6)[speakers] + draw(104_014, seed=7), speakers)
    peer = cpu(lambda: voices.vectors.T @ voices.vectors)
    ours = cpu(lambda: Plda.fit(voices), 2)
    means = cpu(lambda: speaker_means(voices))
    for what, seconds in (("PLDA training, 10 iterations", ours), ("means of speakers", means)):
        row(
            f"{what}, 104,014 vectors of 921 speakers, D = {DIMENSION}",
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
