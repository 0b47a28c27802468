"""A small pool of invented voices."""

from __future__ import annotations

import numpy as np

from sottovoce.anonymise.voice.pool import Heard, Pool

SIZE = 8


def invented_pool(seed: int = 0, speakers: int = 60) -> Pool:
    """Voices in clumps of different sizes, two recordings each, women higher than men."""
    rng = np.random.default_rng(seed)
    clumps = rng.normal(size=(9, SIZE)) * 3
    weight = np.array([12, 9, 7, 5, 4, 3, 2, 1, 1]) / 44
    heard = []
    for number in range(speakers):
        gender = "fm"[number % 2]
        home = clumps[rng.choice(9, p=weight)] + rng.normal(size=SIZE) * 0.6
        home[0] += 2.0 if gender == "f" else -2.0
        f0 = np.abs(rng.normal(210 if gender == "f" else 120, 20, 200))
        f0[::3] = 0
        for _ in range(2):
            vector = (home + rng.normal(size=SIZE) * 0.3).astype(np.float32)
            heard.append(Heard(f"s{number:03}", gender, vector, f0))
    card = {"encoder": {"name": "invented", "sha256": "0" * 64}, "origin": "x", "licence": "none"}
    return Pool.of(heard, [], card)
