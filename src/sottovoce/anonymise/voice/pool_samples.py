"""A pool made of analysed recordings: one voice for each speaker, clusters, and PLDA."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sottovoce.anonymise.voice.pool import Pool, PoolCard, f0_percentiles, plda_affinity
from sottovoce.core.clustering import affinity_propagation
from sottovoce.core.errors import InputError, TooFewError
from sottovoce.core.types import FloatArray, Vector
from sottovoce.speaker.embeddings import Embeddings
from sottovoce.speaker.plda import Plda

MINIMUM = 4
"""Smallest number of speakers of each gender."""
OUTLIER = 3.0
"""Voices farther from the middle of the pool than this many times the median are left out."""


@dataclass(frozen=True, slots=True, eq=False)
class VoiceSample:
    """Speaker vector and F0 of a recording."""

    speaker: str
    gender: str
    vector: Vector
    f0: FloatArray
    """In Hz, 0 where unvoiced."""


def pool_of_samples(
    samples: list[VoiceSample], background: list[VoiceSample], card: PoolCard
) -> Pool:
    """Build a pool from analysed recordings.

    Parameters
    ----------
    samples : list of VoiceSample
        Recordings of the speakers of the pool.
    background : list of VoiceSample
        Further recordings to train PLDA on.
    card : PoolCard
        Origin of the pool.

    Returns
    -------
    Pool
        Speakers without voiced speech are left out, and those whose vector is far from all
        others: it would outweigh the other voices of an average.

    Raises
    ------
    InputError
        If a speaker has no gender (``missing-column``).
    TooFewError
        If there are fewer than four speakers of a gender.
    """
    speakers = [_mean_voice(group) for group in _by_speaker(samples)]
    voiced = _without_outliers([voice for voice in speakers if voice.f0.any()])
    _check_genders(voiced)
    vectors = np.stack([voice.vector for voice in voiced]).astype(np.float32)
    plda = _fit_plda([*samples, *background])
    return Pool(
        np.array([voice.speaker for voice in voiced]),
        np.array([voice.gender for voice in voiced]),
        vectors,
        np.stack([voice.f0 for voice in voiced]),
        affinity_propagation(plda_affinity(plda, vectors, vectors)),
        plda,
        card,
    )


def _by_speaker(samples: list[VoiceSample]) -> list[list[VoiceSample]]:
    groups: dict[str, list[VoiceSample]] = {}
    for sample in samples:
        groups.setdefault(sample.speaker, []).append(sample)
    return [groups[name] for name in sorted(groups)]


def _mean_voice(samples: list[VoiceSample]) -> VoiceSample:
    """Average the recordings of a speaker; F0 becomes its percentiles."""
    vector = np.mean([sample.vector for sample in samples], axis=0)
    f0 = f0_percentiles(np.concatenate([sample.f0 for sample in samples]))
    return VoiceSample(samples[0].speaker, samples[0].gender, vector, f0)


def _without_outliers(voices: list[VoiceSample]) -> list[VoiceSample]:
    """Leave out voices whose vector is far from the median of all vectors.

    Encoders give some recordings a vector twenty times as long as others.
    """
    if not voices:
        return voices
    vectors = np.stack([voice.vector for voice in voices])
    distances = np.linalg.norm(vectors - np.median(vectors, axis=0), axis=1)
    limit = OUTLIER * np.median(distances)
    return [voice for voice, distance in zip(voices, distances, strict=True) if distance <= limit]


def _fit_plda(samples: list[VoiceSample]) -> Plda:
    embeddings = Embeddings.of(
        np.stack([sample.vector for sample in samples]),
        [sample.speaker for sample in samples],
        name="pool",
    )
    speakers = len(embeddings.names)
    surplus = len(embeddings) - speakers
    if surplus >= embeddings.dimension:
        return Plda.fit(embeddings, lda=None)
    return Plda.fit(embeddings, lda=max(1, min(surplus, speakers - 1)))


def _check_genders(voices: list[VoiceSample]) -> None:
    for voice in voices:
        if voice.gender not in ("f", "m"):
            raise InputError(
                f"pool: speaker {voice.speaker!r} has no gender f or m; add it to the corpus",
                code="missing-column",
            )
    for gender, noun in (("f", "women"), ("m", "men")):
        count = sum(voice.gender == gender for voice in voices)
        if count < MINIMUM:
            raise TooFewError(
                f"pool: {count} {noun}; at least {MINIMUM} of each gender are needed to hide among"
            )
