"""Training data of the synthesisers: utterances in several voices with the same timing.

WORLD can change a voice without its timing: another vocal tract (a warped frequency axis), another
pitch, another spectral tilt. Each utterance is stored unchanged and in such versions. A training
pair takes the content from one version and the envelope from another. So a network has to take the
voice from the speaker vector, because the voice that is left in the content is the wrong one.
"""

from __future__ import annotations

import hashlib
import io
import warnings
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyworld
from numpy.typing import NDArray
from scipy.cluster.vq import kmeans2
from scipy.linalg import eigh

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
from sottovoce.core.errors import InputError, SottovoceError
from sottovoce.core.step_cache import Codec, Step, StepCache
from sottovoce.core.types import Audio, Features, FloatArray, Progress, Vector
from sottovoce.corpus.audio import load_audio
from sottovoce.corpus.utterance import Utterance
from sottovoce.signal.spectrum import axis, bilinear, read_at
from sottovoce.speaker.encoders import Encoder

WARP = 0.12
"""Largest |α| of the bilinear warp of a version."""
PITCH = 0.35
"""Largest shift of log F0 of a version."""
TILT = 1.0
"""Standard deviation of the random spectral shape of a version (natural logarithm of power)."""
TILT_NODES = 6
"""Nodes of the random spectral shape between 0 Hz and half the sample rate."""
SPEAKER_SECONDS = 6.0
"""Seconds from which the speaker vector of a version is computed."""
CONTENT_SIZE = 192
"""Dimensions of the reduced content."""
CODES = 512
"""Entries of the codebook of content."""
CODEBOOK_FRAMES = 100_000
"""Most frames from which the codebook is learnt."""
_ARRAYS = ("content", "prosody", "target", "speaker")


@dataclass(frozen=True, slots=True, eq=False)
class Version:
    """Features of an utterance in one voice; rows are content frames."""

    content: Features
    prosody: Features
    target: Features
    """Coded envelope and aperiodicity of three WORLD frames per row."""
    speaker: Vector


def analyse_utterances(
    utterances: Sequence[Utterance],
    cache: StepCache,
    content: ContentEncoder,
    encoder: Encoder,
    *,
    versions: int,
    progress: Progress | None = None,
) -> list[list[Version] | None]:
    """Analyse utterances in several voices; results of an earlier run are read from the cache.

    Parameters
    ----------
    utterances : sequence of Utterance
        The recordings.
    cache : StepCache
        Where the results are stored.
    content : ContentEncoder
        Gives the content features.
    encoder : Encoder
        Gives the speaker vectors.
    versions : int
        Number of other voices per utterance.
    progress : callable, optional
        Called with the number of finished utterances and their total.

    Returns
    -------
    list of list of Version or None
        The original voice first; None for a recording that cannot be used.
    """
    results = []
    for utterance in utterances:
        results.append(_analyse(utterance, cache, content, encoder, versions))
        if progress:
            progress(len(results), len(utterances))
    return results


def _analyse(
    utterance: Utterance,
    cache: StepCache,
    content: ContentEncoder,
    encoder: Encoder,
    versions: int,
) -> list[Version] | None:
    def compute() -> list[Version]:
        audio = load_audio(utterance, RATE)
        return make_versions(audio, _generator(utterance), content, encoder, versions)

    try:
        return cache.get(VERSIONS_STEP, _cache_inputs(utterance, versions), compute)
    except SottovoceError:
        return None


def _cache_inputs(utterance: Utterance, versions: int) -> list[str | int | float | None]:
    """Return everything the versions of an utterance depend on."""
    try:
        status = utterance.path.stat()
    except OSError as error:
        raise InputError(f"{utterance.path}: cannot be read ({error.strerror})") from None
    section = (utterance.start, utterance.end, utterance.channel)
    stamp = (status.st_size, status.st_mtime_ns)
    return [utterance.id, str(utterance.path), *stamp, *section, versions]


def _generator(utterance: Utterance) -> np.random.Generator:
    """Make a generator that depends on the utterance alone, so that a continued run is the same."""
    return np.random.default_rng(list(hashlib.sha256(utterance.id.encode()).digest()))


def _encode(versions: list[Version]) -> bytes:
    buffer = io.BytesIO()
    np.savez(
        buffer,
        allow_pickle=False,
        content=np.stack([version.content for version in versions]).astype(np.float16),
        prosody=np.stack([version.prosody for version in versions]).astype(np.float16),
        target=np.stack([version.target for version in versions]).astype(np.float16),
        speaker=np.stack([version.speaker for version in versions]),
    )
    return buffer.getvalue()


def _decode(content: bytes) -> list[Version]:
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            arrays = [archive[name].astype(np.float32) for name in _ARRAYS]
    except (zipfile.BadZipFile, EOFError):
        raise InputError("a stored analysis is damaged", code="damaged") from None
    return [Version(*rows) for rows in zip(*arrays, strict=True)]


VERSIONS_STEP: Step[list[Version]] = Step("versions", Codec(".npz", _encode, _decode))
"""Versions of an utterance, in half precision."""


def make_versions(
    audio: Audio, rng: np.random.Generator, content: ContentEncoder, encoder: Encoder, count: int
) -> list[Version]:
    """Analyse an utterance in its own voice and in other voices.

    Parameters
    ----------
    audio : ndarray of float32, shape (n,)
        Recording at 16 kHz.
    rng : numpy.random.Generator
        Source of the draws of the other voices.
    content : ContentEncoder
        Gives the content features.
    encoder : Encoder
        Gives the speaker vectors.
    count : int
        Number of other voices.

    Returns
    -------
    list of Version
        ``count`` + 1 versions, the original voice first.
    """
    samples = audio.astype(np.float64)
    f0, times = pyworld.dio(samples, RATE, frame_period=PERIOD)
    f0 = pyworld.stonemask(samples, f0, times, RATE)
    envelope = np.maximum(pyworld.cheaptrick(samples, f0, times, RATE), POWER_FLOOR)
    aperiodicity = pyworld.d4c(samples, f0, times, RATE)
    versions = [_version(audio, f0, envelope, aperiodicity, content, encoder)]
    for _ in range(count):
        tilted = np.log(envelope) + _random_tilt(rng, envelope.shape[1])
        changed = np.exp(_warped(tilted, rng.uniform(-WARP, WARP)))
        shifted = f0 * np.exp(rng.uniform(-PITCH, PITCH))
        synthesised = pyworld.synthesize(shifted, changed, aperiodicity, RATE, PERIOD)
        voice = _match_level(synthesised[: len(audio)], audio)
        versions.append(_version(voice, shifted, changed, aperiodicity, content, encoder))
    return versions


def _version(
    audio: Audio,
    f0: FloatArray,
    envelope: FloatArray,
    aperiodicity: FloatArray,
    content: ContentEncoder,
    encoder: Encoder,
) -> Version:
    count, _ = frame_counts(len(audio))
    target = coded_frames(envelope, aperiodicity)[:count]
    prosody = prosody_table(Prosody(f0[:count], energy_of(audio)))
    speaker = encoder.embed(audio[: int(SPEAKER_SECONDS * RATE)], RATE)
    return Version(content_of(audio, content), prosody, stacked(target), speaker)


def _random_tilt(rng: np.random.Generator, bins: int) -> FloatArray:
    nodes = rng.normal(0, TILT, TILT_NODES)
    return np.interp(np.linspace(0, 1, bins), np.linspace(0, 1, TILT_NODES), nodes)


def _warped(log_envelope: FloatArray, alpha: float) -> FloatArray:
    return read_at(log_envelope, bilinear(axis(log_envelope.shape[1]), alpha))


def _match_level(voice: FloatArray, audio: Audio) -> Audio:
    voice = np.pad(voice, (0, len(audio) - len(voice)))
    gain = np.sqrt(np.mean(np.square(audio, dtype=np.float64)) / (np.mean(voice**2) + 1e-20))
    return np.asarray(voice * gain, np.float32)


def data_statistics(
    data: list[list[Version]], *, codes: int = CODES, seed: int = 0
) -> dict[str, Features]:
    """Compute the constants of the networks: content directions, codebook, means and scales.

    Parameters
    ----------
    data : list of list of Version
        Training utterances.
    codes : int, default 512
        Entries of the codebook; fewer if there are fewer frames.
    seed : int, default 0
        Seed of the codebook.

    Returns
    -------
    dict of str to ndarray of float32
        Constants by the name of their buffer in the network.
    """
    reduction = content_reduction(data)
    versions = [version for utterance in data for version in utterance]
    reduced = np.concatenate([version.content @ reduction for version in versions])
    target = np.concatenate([version.target for version in versions])
    prosody = np.concatenate([version.prosody for version in versions])
    spread = target.std(0)
    statistics = {
        "reduction": reduction,
        "codebook": _codebook(reduced, codes, seed),
        "content_scale": reduced.std(0),
        "prosody_mean": prosody.mean(0),
        "prosody_scale": prosody.std(0) + 1e-3,
        "speaker_mean": np.mean([version.speaker for version in versions], axis=0),
        "target_mean": target.mean(0),
        "target_scale": spread,
        "loss_scale": np.sqrt(spread * spread.mean()),
    }
    return {name: np.asarray(value, np.float32) for name, value in statistics.items()}


def _codebook(reduced: Features, codes: int, seed: int) -> NDArray[np.floating]:
    rng = np.random.default_rng(seed)
    count = min(CODEBOOK_FRAMES, len(reduced))
    sample = reduced[rng.choice(len(reduced), count, replace=False)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a code without frames keeps its value
        codebook, _ = kmeans2(sample, min(codes, len(sample)), iter=15, minit="points", rng=rng)
    return np.asarray(codebook)


def content_reduction(data: list[list[Version]], size: int = CONTENT_SIZE) -> Features:
    """Find the directions of content that vary most between frames and least between voices.

    Versions of a frame differ in voice only: the covariance N of their differences is what the
    speaker adds. The directions solve T v = λ N v, where T is the covariance of all frames.

    Parameters
    ----------
    data : list of list of Version
        Training utterances, each in at least two voices.
    size : int, default 192
        Number of directions.

    Returns
    -------
    ndarray of float32, shape (288, size)
        The directions as columns, scaled so that the voice has variance 1 in each.
    """
    width = data[0][0].content.shape[1]
    total, nuisance = np.zeros((width, width)), np.zeros((width, width))
    count, degrees_of_freedom = 0, 0
    for versions in data:
        stack = np.stack([version.content for version in versions]).astype(np.float64)
        frames = stack.reshape(-1, width)
        differences = (stack - stack.mean(0)).reshape(-1, width)
        total += frames.T @ frames
        nuisance += differences.T @ differences
        count += len(frames)
        degrees_of_freedom += stack.shape[1] * (len(versions) - 1)
    noise = nuisance / max(degrees_of_freedom, 1)
    noise += 1e-3 * np.trace(total / count) / width * np.eye(width)
    _, directions = eigh(total / count, noise)
    return np.ascontiguousarray(directions[:, ::-1][:, :size], np.float32)
