"""The voices from which pseudo-speakers are made: vectors, gender, pitch, and how near they are.

A pool holds no audio. It is stored as a ``.npz`` file of plain arrays; one of 223 readers of
LibriSpeech ships with the package.
"""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.anonymise.voice.clusters import affinity_propagation
from sottovoce.core.arrays import Arrays, load_arrays
from sottovoce.core.errors import InputError, TooFewError
from sottovoce.core.files import check_there, write_bytes
from sottovoce.core.types import FloatArray, Progress, Vectors
from sottovoce.corpus.audio import load_audio
from sottovoce.corpus.utterance import Corpus
from sottovoce.signal.world import RATE, find_f0
from sottovoce.speaker.embeddings import Embeddings
from sottovoce.speaker.encoders import Encoder
from sottovoce.speaker.plda import Frontend, Plda

PERCENTILES = 101
"""Of the voiced F0 of a speaker, from the lowest to the highest."""
SMALLEST = 4
"""Speakers of each gender below which nobody can hide among them."""
SAVE = "sottovoce train synthesiser"
_ARRAYS = ("speakers", "gender", "vectors", "pitch", "exemplars", "card")
_PLDA = ("centre", "length_norm", "mean", "transform", "psi", "share")


@dataclass(frozen=True, slots=True, eq=False)
class Heard:
    """What a pool takes from one recording."""

    speaker: str
    gender: str
    vector: Vectors
    f0: FloatArray
    """Hertz, 0 where unvoiced."""


@dataclass(frozen=True, eq=False)
class Pool:
    """Voices of an anonymisation pool, one row a speaker."""

    speakers: NDArray[np.str_]
    gender: NDArray[np.str_]
    """``f`` or ``m``."""
    vectors: Vectors
    """Mean speaker vectors."""
    pitch: FloatArray
    """Evenly spaced percentiles of voiced F0 in hertz."""
    exemplars: NDArray[np.int64]
    """For each speaker the one that stands for its cluster."""
    plda: Plda
    card: dict[str, Any]
    """Encoder, origin and licence."""

    def __len__(self) -> int:
        return len(self.speakers)

    @classmethod
    def build(
        cls,
        corpus: Corpus,
        encoder: Encoder,
        *,
        background: Corpus | None = None,
        licence: str = "not stated",
        progress: Progress | None = None,
    ) -> Pool:
        """Take vectors and pitch from ``corpus``; learn PLDA from it and the ``background``.

        PLDA learns from several recordings of a speaker, so one of the two must have them.
        """
        others = () if background is None else background.utterances
        heard = []
        for one in (*corpus, *others):
            audio = load_audio(one, RATE)
            f0, _ = find_f0(audio.astype(np.float64))
            heard.append(Heard(one.speaker, one.gender, encoder.embed(audio, RATE), f0))
            if progress:
                progress(len(heard), len(corpus) + len(others))
        origin = {"encoder": encoder.card.to_dict(), "origin": corpus.name, "licence": licence}
        return cls.of(heard[: len(corpus)], heard[len(corpus) :], origin)

    @classmethod
    def of(cls, heard: list[Heard], background: list[Heard], card: dict[str, Any]) -> Pool:
        """Put the voices heard together; speakers of whom nothing is voiced are left out."""
        rows = [row for row in (_speaker(own) for own in _by_speaker(heard)) if row[3].any()]
        names, genders, means, pitches = zip(*rows, strict=True) if rows else ((),) * 4
        _check_genders(names, genders)
        vectors = np.stack(means).astype(np.float32)
        plda = _fit_plda([*heard, *background])
        clusters = affinity_propagation(plda_affinity(plda, vectors, vectors))
        return cls(
            np.array(names), np.array(genders), vectors, np.stack(pitches), clusters, plda, card
        )

    @cached_property
    def centre(self) -> FloatArray:
        """The mean of all vectors."""
        return np.asarray(self.vectors.mean(0, dtype=np.float64))

    @cached_property
    def norm(self) -> float:
        """The typical distance of a voice from the centre: the median."""
        return float(np.median(np.linalg.norm(self.vectors - self.centre, axis=1)))

    def affinity(self, vector: Vectors, distance: str) -> FloatArray:
        """How near each voice is to ``vector``: a cosine, or the log-likelihood ratio of PLDA."""
        if distance == "plda":
            return np.asarray(plda_affinity(self.plda, vector[None], self.vectors)[0])
        lengths = np.linalg.norm(self.vectors, axis=1) * np.linalg.norm(vector)
        return np.asarray(self.vectors @ vector / lengths, np.float64)

    def guess_gender(self, vector: Vectors, f0: FloatArray) -> str:
        """The gender a voice sounds like, by Fisher's direction between those of the pool."""
        direction, middle = self._gender_axis
        return (
            "f" if _gender_features(vector[None], f0_median(f0)[None]) @ direction > middle else "m"
        )

    @cached_property
    def _gender_axis(self) -> tuple[FloatArray, float]:
        features = _gender_features(self.vectors, np.median(self.pitch, axis=1))
        women, men = (features[self.gender == one] for one in "fm")
        within = np.cov(women.T) * len(women) + np.cov(men.T) * len(men)
        within = within / len(self) + 0.1 * np.trace(within / len(self)) / len(within) * np.eye(
            len(within)
        )
        direction = np.linalg.solve(within, women.mean(0) - men.mean(0))
        return direction, float((women.mean(0) + men.mean(0)) @ direction / 2)

    def save(self, path: Path) -> None:
        """Write it whole or not at all."""
        front = self.plda.frontend
        arrays: Arrays = {
            "speakers": self.speakers,
            "gender": self.gender,
            "vectors": self.vectors,
            "pitch": self.pitch.astype(np.float32),
            "exemplars": self.exemplars,
            "card": np.array(json.dumps(self.card)),
            "centre": front.centre,
            "length_norm": np.array(front.length_norm),
            "mean": self.plda.mean,
            "transform": self.plda.transform,
            "psi": self.plda.psi,
            "share": np.array(self.plda.share),
        }
        if front.projection is not None:
            arrays["projection"] = front.projection
        buffer = io.BytesIO()
        np.savez_compressed(buffer, allow_pickle=False, **arrays)
        write_bytes(path, buffer.getvalue())

    @classmethod
    def load(cls, path: Path | None = None) -> Pool:
        """Read a pool; the one that ships with the package unless a file is named."""
        if path is None:
            path = Path(str(files("sottovoce.anonymise.voice") / "models" / "pool.npz"))
        check_there(path)
        arrays = load_arrays(path, (*_ARRAYS, *_PLDA), ("projection",), save=SAVE)
        _check_arrays(arrays, path)
        plda = Plda(
            Frontend(arrays["centre"], arrays.get("projection"), bool(arrays["length_norm"])),
            arrays["mean"],
            arrays["transform"],
            arrays["psi"],
            float(arrays["share"]),
            (),
        )
        return cls(
            arrays["speakers"],
            arrays["gender"],
            arrays["vectors"],
            arrays["pitch"].astype(np.float64),
            arrays["exemplars"],
            plda,
            json.loads(str(arrays["card"])),
        )


def plda_affinity(plda: Plda, one: Vectors, other: Vectors) -> FloatArray:
    """Log-likelihood ratios that pairs of vectors are of one speaker (one × other)."""
    scores = plda.enrol(one, 1) @ plda.trial(other, 1).T
    return np.asarray(scores, np.float64)


def f0_median(f0: FloatArray) -> FloatArray:
    """The median of voiced F0, as an array without dimensions; 150 Hz where nothing is voiced."""
    voiced = f0[f0 > 0]
    return np.asarray(np.median(voiced) if len(voiced) else 150.0)


def percentiles(f0: FloatArray) -> FloatArray:
    """Evenly spaced percentiles of voiced F0."""
    voiced = f0[f0 > 0]
    if not len(voiced):
        return np.zeros(PERCENTILES)
    return np.asarray(np.quantile(voiced, np.linspace(0, 1, PERCENTILES)))


def _gender_features(vectors: Vectors, medians: FloatArray) -> FloatArray:
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.column_stack((unit * np.sqrt(unit.shape[1]), 4 * np.log(medians / 150.0)))


def _by_speaker(heard: list[Heard]) -> list[list[Heard]]:
    own: dict[str, list[Heard]] = {}
    for one in heard:
        own.setdefault(one.speaker, []).append(one)
    return [own[name] for name in sorted(own)]


def _speaker(own: list[Heard]) -> tuple[str, str, Vectors, FloatArray]:
    vector = np.mean([one.vector for one in own], axis=0)
    return own[0].speaker, own[0].gender, vector, percentiles(np.concatenate([x.f0 for x in own]))


def _fit_plda(heard: list[Heard]) -> Plda:
    vectors = Embeddings.of(
        np.stack([one.vector for one in heard]), [one.speaker for one in heard], name="pool"
    )
    beyond = len(vectors) - len(vectors.names)
    enough = beyond >= vectors.dimension
    return Plda.fit(vectors, lda=None if enough else max(1, min(beyond, len(vectors.names) - 1)))


def _check_genders(names: tuple[str, ...], genders: tuple[str, ...]) -> None:
    for name, gender in zip(names, genders, strict=True):
        if gender not in ("f", "m"):
            raise InputError(f"pool: speaker {name!r} has no gender f or m; add it to the corpus")
    for gender, word in (("f", "women"), ("m", "men")):
        if genders.count(gender) < SMALLEST:
            raise TooFewError(
                f"pool: {genders.count(gender)} {word}; at least {SMALLEST} of each gender are "
                "needed to hide among"
            )


def _check_arrays(arrays: Arrays, path: Path) -> None:
    count = len(arrays["speakers"])
    size = arrays["centre"].size
    shapes = {
        "gender": (count,),
        "vectors": (count, size),
        "pitch": (count, PERCENTILES),
        "exemplars": (count,),
    }
    for name, shape in shapes.items():
        if arrays[name].shape != shape:
            raise InputError(
                f"{path}: {name!r} has shape {arrays[name].shape} instead of {shape}; write the "
                f"pool again with {SAVE}"
            )
