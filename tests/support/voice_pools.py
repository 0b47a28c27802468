"""A small pool of simulated voices."""

from __future__ import annotations

import numpy as np

from sottovoce.anonymise.voice.pool import Pool, PoolCard
from sottovoce.anonymise.voice.pool_samples import VoiceSample, pool_of_samples
from sottovoce.speaker.encoders import EncoderCard

DIMENSION = 8
CARD = PoolCard(EncoderCard("simulated", DIMENSION, "none", "none", "0" * 64), "corpus", "none")


def simulated_pool(seed: int = 0, speakers: int = 60) -> Pool:
    """Make voices in clusters of different sizes; two recordings each, women higher than men."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(9, DIMENSION)) * 3
    weight = np.array([12, 9, 7, 5, 4, 3, 2, 1, 1]) / 44
    samples = []
    for number in range(speakers):
        gender = "fm"[number % 2]
        mean = centres[rng.choice(9, p=weight)] + rng.normal(size=DIMENSION) * 0.6
        mean[0] += 2.0 if gender == "f" else -2.0
        f0 = np.abs(rng.normal(210 if gender == "f" else 120, 20, 200))
        f0[::3] = 0
        for _ in range(2):
            vector = (mean + rng.normal(size=DIMENSION) * 0.3).astype(np.float32)
            samples.append(VoiceSample(f"s{number:03}", gender, vector, f0))
    return pool_of_samples(samples, [], CARD)
