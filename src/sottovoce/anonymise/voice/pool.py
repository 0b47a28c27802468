"""The pool of voices from which pseudo-speakers are made: speaker vectors, gender and pitch.

A pool contains no audio. It is stored as a ``.npz`` file of plain arrays. A pool of 222 readers of
LibriSpeech comes with the package.
"""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path

import numpy as np

from sottovoce.core.arrays import Arrays, load_arrays
from sottovoce.core.clustering import affinity_propagation
from sottovoce.core.errors import InputError
from sottovoce.core.files import check_exists, write_bytes
from sottovoce.core.records import Record, dump_json, from_json
from sottovoce.core.types import FloatArray, IntArray, Names, Vector, Vectors
from sottovoce.speaker.encoders import EncoderCard
from sottovoce.speaker.plda import Frontend, Plda

PERCENTILES = 101
"""Percentiles of the voiced F0 of a speaker, from the minimum to the maximum."""
UNVOICED_F0 = 150.0
"""Median F0 in Hz of a voice without voiced frames."""
SAVE = "sottovoce anonymise pool"
_ARRAYS = ("speakers", "gender", "vectors", "pitch", "exemplars", "card")
_PLDA = ("centre", "length_norm", "mean", "transform", "psi", "share")


@dataclass(frozen=True, slots=True)
class PoolCard(Record):
    """Origin of a pool."""

    encoder: EncoderCard
    """The encoder of the speaker vectors."""
    origin: str
    """Name of the corpus."""
    licence: str


@dataclass(frozen=True, eq=False)
class Pool:
    """Voices of an anonymisation pool, one row per speaker."""

    speakers: Names
    gender: Names
    """``f`` or ``m``."""
    vectors: Vectors
    """Mean speaker vectors."""
    pitch: FloatArray
    """Evenly spaced percentiles of voiced F0 in Hz, speakers × 101."""
    exemplars: IntArray
    """For each speaker the row of the exemplar of its cluster, clustered by PLDA."""
    plda: Plda
    card: PoolCard

    def __len__(self) -> int:
        return len(self.speakers)

    @cached_property
    def centre(self) -> FloatArray:
        """Mean of all vectors."""
        return np.asarray(self.vectors.mean(0, dtype=np.float64))

    @cached_property
    def norm(self) -> float:
        """Median distance of a voice from the centre."""
        return float(np.median(np.linalg.norm(self.vectors - self.centre, axis=1)))

    def exemplars_by(self, distance: str) -> IntArray:
        """Return the clusters of the pool by one of the distances.

        Parameters
        ----------
        distance : {"plda", "cosine"}
            The similarity by which voices are clustered.

        Returns
        -------
        ndarray of int64, shape (speakers,)
            For each speaker the row of the exemplar of its cluster.
        """
        return self.exemplars if distance == "plda" else self._cosine_exemplars

    @cached_property
    def _cosine_exemplars(self) -> IntArray:
        unit = self.vectors / np.linalg.norm(self.vectors, axis=1, keepdims=True)
        return affinity_propagation(np.asarray(unit @ unit.T, np.float64))

    def affinity(self, vector: Vector, distance: str) -> FloatArray:
        """Compare a voice with all voices of the pool.

        Parameters
        ----------
        vector : ndarray of float32, shape (d,)
            A speaker vector.
        distance : {"plda", "cosine"}
            Log-likelihood ratio of PLDA, or cosine.

        Returns
        -------
        ndarray of float64, shape (speakers,)
            Higher is nearer.
        """
        if distance == "plda":
            return np.asarray(plda_affinity(self.plda, vector[None], self.vectors)[0])
        lengths = np.linalg.norm(self.vectors, axis=1) * np.linalg.norm(vector)
        return np.asarray(self.vectors @ vector / lengths, np.float64)

    def guess_gender(self, vector: Vector, f0: FloatArray) -> str:
        """Classify the gender of a voice with Fisher's linear discriminant of the pool.

        Parameters
        ----------
        vector : ndarray of float32, shape (d,)
            A speaker vector.
        f0 : ndarray of float64, shape (frames,)
            F0 in Hz, 0 where unvoiced.

        Returns
        -------
        {"f", "m"}
            The more likely gender.
        """
        direction, middle = self._gender_axis
        features = _gender_features(vector[None], np.asarray(_median_f0(f0))[None])
        return "f" if features @ direction > middle else "m"

    @cached_property
    def _gender_axis(self) -> tuple[FloatArray, float]:
        features = _gender_features(self.vectors, np.median(self.pitch, axis=1))
        women, men = (features[self.gender == gender] for gender in "fm")
        within = np.cov(women.T) * len(women) + np.cov(men.T) * len(men)
        within = within / len(self) + 0.1 * np.trace(within / len(self)) / len(within) * np.eye(
            len(within)
        )
        direction = np.linalg.solve(within, women.mean(0) - men.mean(0))
        return direction, float((women.mean(0) + men.mean(0)) @ direction / 2)

    def save(self, path: Path) -> None:
        """Write the pool to a ``.npz`` file atomically.

        Parameters
        ----------
        path : Path
            The file; an existing one is replaced.
        """
        frontend = self.plda.frontend
        arrays: Arrays = {
            "speakers": self.speakers,
            "gender": self.gender,
            "vectors": self.vectors,
            "pitch": self.pitch.astype(np.float32),
            "exemplars": self.exemplars,
            "card": np.array(dump_json(self.card, indent=None).strip()),
            "centre": frontend.centre,
            "length_norm": np.array(frontend.length_norm),
            "mean": self.plda.mean,
            "transform": self.plda.transform,
            "psi": self.plda.psi,
            "share": np.array(self.plda.share),
        }
        if frontend.projection is not None:
            arrays["projection"] = frontend.projection
        buffer = io.BytesIO()
        np.savez_compressed(buffer, allow_pickle=False, **arrays)
        write_bytes(path, buffer.getvalue())

    @classmethod
    def load(cls, path: Path | None = None) -> Pool:
        """Read a pool.

        Parameters
        ----------
        path : Path, optional
            A file that :meth:`save` wrote; by default the pool that comes with the package.

        Raises
        ------
        InputError
            If the file is missing, damaged or not a pool.
        """
        if path is None:
            path = Path(str(files("sottovoce.anonymise.voice") / "models" / "pool.npz"))
        check_exists(path)
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
            _read_card(arrays, path),
        )


def plda_affinity(plda: Plda, left: Vectors, right: Vectors) -> FloatArray:
    """Compute log-likelihood ratios that pairs of vectors belong to the same speaker.

    Parameters
    ----------
    plda : Plda
        The trained model.
    left : ndarray of float32, shape (n, d)
        Vectors of the rows.
    right : ndarray of float32, shape (m, d)
        Vectors of the columns.

    Returns
    -------
    ndarray of float64, shape (n, m)
        Log-likelihood ratios.
    """
    scores = plda.enrol(left, 1) @ plda.trial(right, 1).T
    return np.asarray(scores, np.float64)


def f0_percentiles(f0: FloatArray) -> FloatArray:
    """Compute evenly spaced percentiles of voiced F0.

    Parameters
    ----------
    f0 : ndarray of float64, shape (frames,)
        F0 in Hz, 0 where unvoiced.

    Returns
    -------
    ndarray of float64, shape (101,)
        From minimum to maximum; zeros if no frame is voiced.
    """
    voiced = f0[f0 > 0]
    if not len(voiced):
        return np.zeros(PERCENTILES)
    return np.asarray(np.quantile(voiced, np.linspace(0, 1, PERCENTILES)))


def _median_f0(f0: FloatArray) -> float:
    voiced = f0[f0 > 0]
    return float(np.median(voiced)) if len(voiced) else UNVOICED_F0


def _gender_features(vectors: Vectors, medians: FloatArray) -> FloatArray:
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.column_stack((unit * np.sqrt(unit.shape[1]), 4 * np.log(medians / UNVOICED_F0)))


def _check_arrays(arrays: Arrays, path: Path) -> None:
    count = len(arrays["speakers"])
    dimension = arrays["centre"].size
    shapes = {
        "gender": (count,),
        "vectors": (count, dimension),
        "pitch": (count, PERCENTILES),
        "exemplars": (count,),
    }
    for name, shape in shapes.items():
        if arrays[name].shape != shape:
            raise InputError(
                f"{path}: {name!r} has shape {arrays[name].shape} instead of {shape}; write the "
                f"pool again with {SAVE}",
                code="wrong-shape",
            )


def _read_card(arrays: Arrays, path: Path) -> PoolCard:
    try:
        content = json.loads(str(arrays["card"]))
    except ValueError:
        raise InputError(
            f"{path}: the card is not JSON; write the pool again with {SAVE}", code="not-json"
        ) from None
    return from_json(PoolCard, content, source=str(path))
