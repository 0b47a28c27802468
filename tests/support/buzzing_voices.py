"""Voices that encoders are trained on in tests."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from signals import harmonics, noise, write_audio


def write_voices(folder: Path) -> Path:
    """Write eight buzzing voices of different pitch and colour, four recordings each."""
    rng = np.random.default_rng(0)
    for speaker in range(8):
        weights = [1 / k ** (0.6 + speaker / 8) for k in range(1, 15)]
        for i in range(4):
            pitch = 90 * 1.15**speaker * rng.uniform(0.97, 1.03)
            buzz = 0.1 * harmonics(pitch, weights, 0.9)
            audio = buzz + noise(0.9, level=0.003, seed=(speaker, i))
            write_audio(folder / f"v{speaker}" / f"v{speaker}-{i}.wav", audio)
    return folder
