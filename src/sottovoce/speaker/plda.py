"""Probabilistic linear discriminant analysis: the two-covariance model.

A vector is x = m + y + ε: a speaker's own place y ~ N(0, B) and what differs between recordings
of one speaker, ε ~ N(0, W). Ioffe, "Probabilistic linear discriminant analysis", ECCV 2006; Brümmer
& de Villiers, "The speaker partitioning problem", Odyssey 2010.

All work is done in the basis V with VᵀWV = I and VᵀBV = diag(ψ), where coordinates are
independent: a score is a sum over coordinates, and all scores are one matrix product.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.arrays import Arrays, load_arrays
from sottovoce.core.errors import InputError, TooFewError
from sottovoce.core.files import check_there, write_bytes
from sottovoce.core.types import FloatArray, IntArray, Vectors
from sottovoce.speaker.embeddings import Embeddings, blocks
from sottovoce.speaker.linkage import Counts
from sottovoce.speaker.plda_training import Statistics, discriminants, shrunk, train

AT_A_TIME = 1 << 11
"""Vectors prepared for scoring together: few enough to stay in the processor's cache."""

_SAVE = "Plda.save"
_ARRAYS = ("centre", "length_norm", "mean", "transform", "psi", "share", "log_likelihoods")


@dataclass(frozen=True, slots=True, eq=False)
class Frontend:
    """What is done to a vector before the model: centring, projection, length normalisation."""

    centre: FloatArray
    """The mean of the training vectors, d."""
    projection: FloatArray | None
    """LDA, d × D; without it D = d."""
    length_norm: bool
    """Whether vectors are brought to the length √D."""

    def __call__(self, vectors: NDArray[np.floating]) -> FloatArray:
        """Process rows."""
        moved = vectors - self.centre
        if self.projection is not None:
            moved = moved @ self.projection
        if self.length_norm:
            lengths = np.sqrt(np.einsum("ij,ij->i", moved, moved) / moved.shape[1])
            moved /= np.maximum(lengths, np.finfo(np.float64).tiny)[:, None]
        return moved


@dataclass(frozen=True, slots=True, eq=False)
class Plda:
    """Log likelihood ratios of "one speaker" against "two speakers", natural logarithm.

    >>> rng = np.random.default_rng(0)
    >>> speakers = np.repeat(np.arange(50), 8)
    >>> voices = rng.normal(size=(50, 4))[speakers] + 0.5 * rng.normal(size=(400, 4))
    >>> plda = Plda.fit(Embeddings.of(voices, speakers), length_norm=False)
    >>> one, again, other = voices[:1], voices[1:2], voices[8:9]
    >>> [(plda.enrol(one, 1) @ plda.trial(two, 1).T).item() > 0 for two in (again, other)]
    [True, False]
    """

    name: ClassVar[str] = "plda"

    frontend: Frontend
    mean: FloatArray
    """m, the mean of the processed training vectors."""
    transform: FloatArray
    """V, one direction a column: VᵀWV = I, VᵀBV = diag(ψ)."""
    psi: FloatArray
    """ψ, the variance between speakers where the variance within is 1, falling."""
    share: float
    """Of the variance of a processed vector, what lies between speakers: tr B / tr (B + W)."""
    log_likelihoods: tuple[float, ...]
    """Of the training data: at the start, then after each iteration."""

    @classmethod
    def fit(
        cls,
        embeddings: Embeddings,
        *,
        lda: int | None = None,
        length_norm: bool = True,
        iterations: int = 10,
        shrinkage: float = 0.0,
    ) -> Plda:
        """Train on vectors of known speakers by EM, from the closed-form moment estimate.

        Vectors are centred, reduced to ``lda`` dimensions by linear discriminant analysis if asked
        for, and brought to one length. There must be at least as many vectors beyond the first of
        each speaker as dimensions are left, unless there is ``shrinkage``: the share by which both
        covariances are drawn towards spheres, for training sets of few speakers. The variance
        within speakers is increased by a millionth of its mean over dimensions (``RIDGE``), and
        the likelihoods count that in. The vectors are read block by block, so a memory-mapped set
        may be larger than memory.
        """
        _check_fit(embeddings, lda, iterations, shrinkage)
        frontend = _frontend(embeddings, lda, length_norm)
        data = Statistics.of(embeddings, frontend)
        model, likelihoods = train(data, iterations)
        if shrinkage:
            model = shrunk(model, shrinkage)
        return cls(frontend, data.mean, model.transform, model.psi, model.share, likelihoods)

    def enrol(self, vectors: Vectors, counts: Counts) -> Vectors:
        """Rows of enrolment models, each the mean of ``counts`` raw vectors.

        Such a mean is centred and projected like any vector. With length normalisation it is
        brought to the length that the mean of n normalised vectors has on average,
        √(D (tr B + tr W / n) / tr (B + W)), which for n = 1 is √D: at full length it would pass for
        far more certain than it is. One number for ``counts`` gives rows of width D + 2, one for
        each model rows of width 2D + 1.
        """
        numbers = _checked_counts(counts, len(vectors))
        table = np.empty((len(vectors), self._width(numbers)), np.float32)
        for rows in blocks(len(vectors), AT_A_TIME):
            part = numbers if numbers.ndim == 0 else numbers[rows]
            table[rows] = enrol_rows(self._coordinates(vectors[rows], part), part, self.psi)
        return table

    def trial(self, vectors: Vectors, counts: Counts) -> Vectors:
        """Rows of trials, each one utterance, for models of ``counts`` as in :meth:`enrol`."""
        numbers = _checked_counts(counts)
        table = np.empty((len(vectors), self._width(numbers)), np.float32)
        for rows in blocks(len(vectors), AT_A_TIME):
            table[rows] = trial_rows(self._coordinates(vectors[rows]), numbers, self.psi)
        return table

    def _width(self, counts: IntArray) -> int:
        return len(self.psi) + 2 if counts.ndim == 0 else 2 * len(self.psi) + 1

    def _coordinates(self, vectors: Vectors, counts: IntArray | None = None) -> FloatArray:
        wanted = len(self.frontend.centre)
        if vectors.ndim != 2 or vectors.shape[1] != wanted:
            raise InputError(
                f"plda: vectors of shape {vectors.shape}, but it was trained on dimension {wanted};"
                " use the same encoder"
            )
        processed = self.frontend(vectors)
        if self.frontend.length_norm and counts is not None:
            processed *= np.sqrt(self.share + (1 - self.share) / counts)[..., None]
        coordinates: FloatArray = (processed - self.mean) @ self.transform
        return coordinates

    def save(self, path: Path) -> None:
        """Write everything to a ``.npz`` file, whole or not at all."""
        arrays: Arrays = {
            "centre": self.frontend.centre,
            "length_norm": np.array(self.frontend.length_norm),
            "mean": self.mean,
            "transform": self.transform,
            "psi": self.psi,
            "share": np.array(self.share),
            "log_likelihoods": np.array(self.log_likelihoods),
        }
        if self.frontend.projection is not None:
            arrays["projection"] = self.frontend.projection
        data = io.BytesIO()
        np.savez(data, allow_pickle=False, **arrays)
        write_bytes(path, data.getvalue())

    @classmethod
    def load(cls, path: Path) -> Plda:
        """Read what :meth:`save` wrote."""
        check_there(path)
        arrays = load_arrays(path, _ARRAYS, ("projection",), save=_SAVE)
        _check_arrays(arrays, path)
        frontend = Frontend(arrays["centre"], arrays.get("projection"), bool(arrays["length_norm"]))
        return cls(
            frontend,
            arrays["mean"],
            arrays["transform"],
            arrays["psi"],
            float(arrays["share"]),
            tuple(arrays["log_likelihoods"].tolist()),
        )


# ======================================================================================= scoring


def enrol_rows(means: FloatArray, counts: IntArray, psi: FloatArray) -> FloatArray:
    r"""Rows of models for :func:`trial_rows`, in coordinates where VᵀWV = I.

    Knowing the mean e of n utterances, a new one t of the same speaker has mean
    μ = nψ/(1 + nψ) e and variance v = 1 + ψ/(1 + nψ); of another, mean 0 and variance v₀ = 1 + ψ:

    .. math:: \log LR = \sum_d \frac{t\mu}{v} - \frac{\mu^2}{2v}
              - \frac{t^2}{2}\Bigl(\frac1v - \frac1{v_0}\Bigr) - \frac12 \log\frac{v}{v_0}
    """
    kinds, which = np.unique(counts, return_inverse=True)  # few numbers, many models
    n, spread = kinds[:, None], _spread(kinds, psi)
    weight = n * psi / (1 + n * psi) / spread
    offset = np.log((1 + psi) / spread).sum(1) / 2
    weighted = means * weight[which]
    constant = offset[which] - np.einsum("ij,ij->i", weighted, weighted * spread[which]) / 2
    if counts.ndim == 0:
        return np.column_stack((weighted, np.ones(len(means)), constant))
    return np.column_stack((weighted, _curvature(kinds, psi)[which], constant))


def trial_rows(trials: FloatArray, counts: IntArray, psi: FloatArray) -> FloatArray:
    """Rows (t, t² in one number, 1) for one ``counts``, (t, t², 1) for different ones."""
    squares, ones = np.square(trials), np.ones(len(trials))
    if counts.ndim == 0:
        return np.column_stack((trials, squares @ _curvature(counts, psi), ones))
    return np.column_stack((trials, squares, ones))


def _spread(counts: IntArray, psi: FloatArray) -> FloatArray:
    """v = 1 + ψ/(1 + nψ)."""
    spread: FloatArray = 1 + psi / (1 + counts[..., None] * psi)
    return spread


def _curvature(counts: IntArray, psi: FloatArray) -> FloatArray:
    """−(1/v − 1/v₀)/2, by which t² enters."""
    curvature: FloatArray = 0.5 / (1 + psi) - 0.5 / _spread(counts, psi)
    return curvature


def _checked_counts(counts: Counts, models: int | None = None) -> IntArray:
    numbers = np.asarray(counts)
    if numbers.dtype.kind not in "iu" or numbers.ndim > 1 or numbers.size == 0 or numbers.min() < 1:
        raise InputError("plda: utterances of a model must be whole numbers of at least 1")
    if models is not None and numbers.ndim == 1 and len(numbers) != models:
        raise InputError(f"plda: {len(numbers):,} counts for {models:,} models; give one a model")
    return numbers.astype(np.int64)


def _frontend(embeddings: Embeddings, lda: int | None, length_norm: bool) -> Frontend:
    total = np.zeros(embeddings.dimension)
    for rows in blocks(len(embeddings)):
        total += embeddings.vectors[rows].sum(0, dtype=np.float64)
    centred = Frontend(total / len(embeddings), None, length_norm=False)
    projection = None if lda is None else discriminants(Statistics.of(embeddings, centred), lda)
    return Frontend(centred.centre, projection, length_norm)


# ======================================================================================== guards


def _check_fit(embeddings: Embeddings, lda: int | None, iterations: int, shrinkage: float) -> None:
    where, size = embeddings.origin, embeddings.dimension
    speakers, beyond = len(embeddings.names), len(embeddings) - len(embeddings.names)
    if speakers < 2:
        raise TooFewError(f"{where}: one speaker; PLDA needs at least 2: add speakers")
    if beyond == 0:
        raise TooFewError(
            f"{where}: no speaker has 2 vectors; PLDA learns from several recordings of a speaker"
        )
    if iterations < 0:
        raise InputError(f"{iterations} iterations; give 0 or more")
    if not 0 <= shrinkage < 1:
        raise InputError(f"shrinkage {shrinkage}; must be at least 0 and below 1")
    most = min(size, speakers - 1, beyond)
    if lda is not None and not 1 <= lda <= most:
        raise InputError(
            f"{where}: lda {lda}; must be 1 to {most}, which {size} dimensions, {speakers:,} "
            f"speakers and {len(embeddings):,} vectors allow"
        )
    if lda is None and beyond < size and not shrinkage:
        raise TooFewError(
            f"{where}: {len(embeddings):,} vectors of {speakers:,} speakers; {size} dimensions "
            f"need {size + speakers:,}: add recordings, reduce to at most {most} with lda, or use "
            "shrinkage"
        )


def _check_arrays(arrays: Arrays, path: Path) -> None:
    size, inner = arrays["centre"].size, arrays["mean"].size
    shapes: dict[str, tuple[int, ...]] = {
        "centre": (size,),
        "projection": (size, inner),
        "length_norm": (),
        "mean": (inner if "projection" in arrays else size,),
        "transform": (inner, inner),
        "psi": (inner,),
        "share": (),
        "log_likelihoods": (arrays["log_likelihoods"].size,),
    }
    for name, array in arrays.items():
        kind = np.bool_ if name == "length_norm" else np.float64
        good = array.shape == shapes[name] and array.dtype == kind and np.isfinite(array).all()
        if not good or not inner or (name in ("psi", "share") and array.min() < 0):
            raise InputError(
                f"{path}: {name!r} is not as a PLDA model needs it ({array.dtype} of shape "
                f"{array.shape}); write the file again with {_SAVE}"
            )
