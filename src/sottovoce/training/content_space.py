"""What is learnt of the data before a network: directions of content, its codebook, scales."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.cluster.vq import kmeans2
from scipy.linalg import eigh

from sottovoce.core.types import Features
from sottovoce.training.synthesiser_data import Version

REDUCED = 96
"""Dimensions of content that are kept."""
CODES = 512
"""Entries of the codebook of content."""
MOST = 100_000
"""Frames from which the codebook is learnt."""


def constants(
    data: list[list[Version]], *, codes: int = CODES, seed: int = 0
) -> dict[str, Features]:
    """All constants of the networks, by the name of their buffer."""
    reduction = content_reduction(data)
    everything = [one for versions in data for one in versions]
    reduced = np.concatenate([one.content @ reduction for one in everything])
    rng = np.random.default_rng(seed)
    sample = reduced[rng.choice(len(reduced), min(MOST, len(reduced)), replace=False)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a code that no frame is near stays as it was
        fewest = min(codes, len(sample))
        codebook, _ = kmeans2(sample, fewest, iter=15, minit="points", rng=rng)
    target = np.concatenate([one.target for one in everything])
    prosody = np.concatenate([one.prosody for one in everything])
    spread = target.std(0)
    found = {
        "reduction": reduction,
        "codebook": codebook,
        "content_scale": reduced.std(0),
        "prosody_mean": prosody.mean(0),
        "prosody_scale": prosody.std(0) + 1e-3,
        "speaker_mean": np.mean([one.speaker for one in everything], axis=0),
        "target_mean": target.mean(0),
        "target_scale": spread,
        "loss_scale": np.sqrt(spread * spread.mean()),
    }
    return {name: np.asarray(value, np.float32) for name, value in found.items()}


def content_reduction(data: list[list[Version]], size: int = REDUCED) -> Features:
    """Directions of content that change most between frames and least between voices.

    Versions of one frame differ in voice only: the covariance of their differences, N, is what the
    speaker adds. The directions solve T v = λ N v, with T the covariance of all; columns are
    scaled so that the voice has variance 1 in each.
    """
    width = data[0][0].content.shape[1]
    total, nuisance = np.zeros((width, width)), np.zeros((width, width))
    count, free = 0, 0
    for versions in data:
        stack = np.stack([one.content for one in versions]).astype(np.float64)
        flat = stack.reshape(-1, width)
        apart = (stack - stack.mean(0)).reshape(-1, width)
        total += flat.T @ flat
        nuisance += apart.T @ apart
        count += len(flat)
        free += stack.shape[1] * (len(versions) - 1)
    noise = nuisance / max(free, 1)
    noise += 1e-3 * np.trace(total / count) / width * np.eye(width)
    _, directions = eigh(total / count, noise)
    return np.ascontiguousarray(directions[:, ::-1][:, :size], np.float32)
