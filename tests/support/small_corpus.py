"""A small corpus of voices for the tests: harmonics through formants of a speaker's own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import soundfile
from signals import RATE, harmonics, tone

from sottovoce.audit.study import Study
from sottovoce.core.types import Audio

ATTACKERS = ["ignorant", "semi-informed", "informed"]


def study(corpus: Path, **changes: object) -> Study:
    """A study of a small corpus that takes seconds."""
    small = {"attackers": ATTACKERS, "linkage": ["cosine"], "lengths": [1], "seed": 1}
    small["anonymisers"] = ["mcadams"]
    small["utility"] = {"utterances": 4}  # quality costs half a second a recording
    return Study.model_validate({"corpus": str(corpus), **small, **changes})


def voice(speaker: int, take: int, seconds: float = 0.7) -> Audio:
    """Make a recording: pitch and formants of the speaker, a little different in each take."""
    speaker_rng = np.random.default_rng(speaker)
    rng = np.random.default_rng([speaker, take])
    pitch = (90 + 14 * speaker) * (1 + 0.02 * rng.normal())
    contour = pitch * (1 + tone(2 + rng.random(), seconds, level=0.05))
    formants = np.array([500, 1500, 2500]) * speaker_rng.uniform(0.8, 1.25, 3)
    frequencies = pitch * np.arange(1, 30)
    weights = [np.sum(1 / (1 + ((hertz - formants) / 120) ** 2)) for hertz in frequencies]
    audible = [weight for weight, hertz in zip(weights, frequencies, strict=True) if hertz < 8000]
    sound = harmonics(contour, audible, seconds) + 0.05 * rng.normal(size=int(seconds * RATE))
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
