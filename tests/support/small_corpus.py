"""A small corpus of voices for the tests: harmonics through formants of a speaker's own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import soundfile

from sottovoce.audit.config import Study

RATE = 16_000
ATTACKERS = ["ignorant", "semi-informed", "informed"]


def study(corpus: Path, **changes: object) -> Study:
    """A study of a small corpus that takes seconds."""
    small = {"attackers": ATTACKERS, "linkage": ["cosine"], "lengths": [1], "seed": 1}
    return Study.model_validate({"corpus": str(corpus), **small, **changes})


def voice(speaker: int, take: int, seconds: float = 0.7) -> np.ndarray:
    """One recording: pitch and formants of the speaker, a little different in each take."""
    who = np.random.default_rng(speaker)
    now = np.random.default_rng([speaker, take])
    times = np.arange(int(seconds * RATE)) / RATE
    pitch = (90 + 14 * speaker) * (1 + 0.02 * now.normal())
    bend = 1 + 0.05 * np.sin(2 * np.pi * (2 + now.random()) * times)
    phase = 2 * np.pi * np.cumsum(pitch * bend) / RATE
    formants = np.array([500, 1500, 2500]) * who.uniform(0.8, 1.25, 3)
    sound = np.zeros_like(times)
    for harmonic in range(1, 30):
        frequency = harmonic * pitch
        if frequency < RATE / 2:
            gain = sum(1 / (1 + ((frequency - f) / 120) ** 2) for f in formants)
            sound += gain * np.sin(harmonic * phase)
    sound += 0.05 * now.normal(size=len(times))
    return np.asarray(0.2 * sound / np.abs(sound).max(), np.float32)


def make_corpus(folder: Path, speakers: int = 8, takes: int = 6) -> Path:
    """A manifest and its recordings."""
    (folder / "audio").mkdir(parents=True)
    lines = ["utterance,path,speaker,gender,transcript"]
    for speaker in range(speakers):
        for take in range(takes):
            name = f"s{speaker:02}-{take}"
            soundfile.write(folder / "audio" / f"{name}.wav", voice(speaker, take), RATE)
            lines.append(f"{name},audio/{name}.wav,s{speaker:02},{'fm'[speaker % 2]},")
    (folder / "manifest.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder
