"""What the synthesisers learn from: utterances, each in several voices that say the same in time.

WORLD can change a voice without touching its timing: another vocal tract (a warped frequency axis),
another pitch, another colour. Each utterance is kept as it is and in such versions. Content taken
from one version and the envelope of another make a pair from which a network can only learn to
take the voice from the speaker vector, for the voice in the content is the wrong one.
"""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyworld
from numpy.typing import NDArray

from sottovoce.anonymise.voice.frames import (
    PERIOD,
    POWER_FLOOR,
    RATE,
    Prosody,
    coded_frames,
    content_of,
    energy_of,
    frame_counts,
    prosody_table,
    stacked,
)
from sottovoce.asr.content import ContentEncoder
from sottovoce.core.arrays import load_arrays
from sottovoce.core.errors import SottovoceError
from sottovoce.core.files import write_bytes
from sottovoce.core.types import Audio, Features, FloatArray, Progress
from sottovoce.corpus.audio import load_audio
from sottovoce.corpus.utterance import Utterance
from sottovoce.speaker.encoders import Encoder

WARP = 0.12
"""Most a version's frequency axis is warped (bilinear α)."""
PITCH = 0.35
"""Most by which its log F0 is shifted."""
COLOUR = 1.0
"""Standard deviation of a version's random colour at its nodes (natural log of power)."""
NODES = 6
"""Nodes of the colour between 0 Hz and half the rate."""
HEARD = 6.0
"""Seconds from which a version's speaker vector is taken."""


@dataclass(frozen=True, slots=True, eq=False)
class Version:
    """One utterance in one voice; rows are content frames."""

    content: Features
    prosody: Features
    target: Features
    """Coded envelope and aperiodicity of three WORLD frames."""
    speaker: NDArray[np.float32]


def prepare(
    utterances: list[Utterance],
    folder: Path,
    content: ContentEncoder,
    encoder: Encoder,
    *,
    versions: int,
    progress: Progress | None = None,
) -> list[Path | None]:
    """Take all utterances apart, one file each; what an earlier run did is kept.

    Where a recording cannot be used there is None in place of its file.
    """
    paths: list[Path | None] = []
    for number, one in enumerate(utterances):
        path = folder / f"{_key(one, versions)}.npz"
        if not path.exists():
            try:
                audio = load_audio(one, RATE)
                made = make_versions(audio, _generator(one), content, encoder, versions)
            except SottovoceError:
                paths.append(None)
                continue
            write_bytes(path, _archive(made))
        paths.append(path)
        if progress:
            progress(number + 1, len(utterances))
    return paths


def make_versions(
    audio: Audio, rng: np.random.Generator, content: ContentEncoder, encoder: Encoder, count: int
) -> list[Version]:
    """The utterance itself and ``count`` versions of it in other voices."""
    wave = audio.astype(np.float64)
    f0, times = pyworld.dio(wave, RATE, frame_period=PERIOD)
    f0 = pyworld.stonemask(wave, f0, times, RATE)
    envelope = np.maximum(pyworld.cheaptrick(wave, f0, times, RATE), POWER_FLOOR)
    aperiodicity = pyworld.d4c(wave, f0, times, RATE)
    made = [_version(audio, f0, envelope, aperiodicity, content, encoder)]
    for _ in range(count):
        log_envelope = np.log(envelope) + _colour(rng, envelope.shape[1])
        other = np.exp(_warped(log_envelope, rng.uniform(-WARP, WARP)))
        pitch = f0 * np.exp(rng.uniform(-PITCH, PITCH))
        voiced = pyworld.synthesize(pitch, other, aperiodicity, RATE, PERIOD)
        voice = _as_loud(voiced[: len(audio)], audio)
        made.append(_version(voice, pitch, other, aperiodicity, content, encoder))
    return made


def _version(
    audio: Audio,
    f0: FloatArray,
    envelope: FloatArray,
    aperiodicity: FloatArray,
    content: ContentEncoder,
    encoder: Encoder,
) -> Version:
    fine, _ = frame_counts(len(audio))
    target = coded_frames(envelope, aperiodicity)[:fine]
    prosody = prosody_table(Prosody(f0[:fine], energy_of(audio)))
    speaker = encoder.embed(audio[: int(HEARD * RATE)], RATE)
    return Version(content_of(audio, content), prosody, stacked(target), speaker)


def _colour(rng: np.random.Generator, bins: int) -> FloatArray:
    nodes = rng.normal(0, COLOUR, NODES)
    return np.interp(np.linspace(0, 1, bins), np.linspace(0, 1, NODES), nodes)


def _warped(log_envelope: FloatArray, alpha: float) -> FloatArray:
    bins = log_envelope.shape[1]
    w = np.linspace(0, np.pi, bins)
    at = (w + 2 * np.arctan(alpha * np.sin(w) / (1 - alpha * np.cos(w)))) / np.pi * (bins - 1)
    low = np.minimum(at.astype(int), bins - 2)
    share = at - low
    between = log_envelope[:, low] * (1 - share) + log_envelope[:, low + 1] * share
    return np.ascontiguousarray(between)


def _as_loud(voice: FloatArray, audio: Audio) -> Audio:
    voice = np.pad(voice, (0, len(audio) - len(voice)))
    level = np.sqrt(np.mean(np.square(audio, dtype=np.float64)) / (np.mean(voice**2) + 1e-20))
    return np.asarray(voice * level, np.float32)


def load_versions(path: Path) -> list[Version]:
    """The versions of one utterance; what is the same in all is stored once."""
    names = ("content", "prosody", "target", "speaker")
    arrays = load_arrays(path, names, save="sottovoce train synthesiser")
    rows = zip(*(arrays[name] for name in names), strict=True)
    return [Version(*(part.astype(np.float32) for part in row)) for row in rows]


def _archive(made: list[Version]) -> bytes:
    buffer = io.BytesIO()
    arrays = {
        "content": np.stack([one.content for one in made]).astype(np.float16),
        "prosody": np.stack([one.prosody for one in made]).astype(np.float16),
        "target": np.stack([one.target for one in made]).astype(np.float16),
        "speaker": np.stack([one.speaker for one in made]),
    }
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def _key(one: Utterance, versions: int) -> str:
    status = one.path.stat()
    what = (str(one.path), status.st_size, status.st_mtime_ns, one.start, one.end, versions)
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()[:24]


def _generator(one: Utterance) -> np.random.Generator:
    """Draws that depend on the utterance alone, so that a run that goes on draws the same."""
    return np.random.default_rng(list(hashlib.sha256(one.id.encode()).digest()))
