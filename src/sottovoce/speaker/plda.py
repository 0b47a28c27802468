"""Probabilistic linear discriminant analysis (PLDA): the two-covariance model.

A vector is x = m + y + ε: the position y ~ N(0, B) of its speaker, and what differs between
recordings of one speaker, ε ~ N(0, W). Ioffe, "Probabilistic linear discriminant analysis", ECCV
2006; Brümmer & de Villiers, "The speaker partitioning problem", Odyssey 2010.

Everything is computed in the basis V with VᵀWV = I and VᵀBV = diag(ψ), where coordinates are
independent: a score is a sum over coordinates, and all scores are one matrix product.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from sottovoce.core.arrays import Arrays, load_arrays
from sottovoce.core.errors import InputError, TooFewError
from sottovoce.core.files import check_exists, write_bytes
from sottovoce.core.types import FloatArray, IntArray, RealArray, Vectors
from sottovoce.speaker.embeddings import Embeddings, blocks
from sottovoce.speaker.linkage_functions import Counts
from sottovoce.speaker.plda_training import Statistics, discriminants, shrunk, train

SCORING_BLOCK = 1 << 11
"""Vectors prepared for scoring together: few enough to stay in the processor's cache."""

_SAVE = "Plda.save"
_ARRAYS = ("centre", "length_norm", "mean", "transform", "psi", "share", "log_likelihoods")


@dataclass(frozen=True, slots=True, eq=False)
class Frontend:
    """Processing of a vector before the model: centring, projection, length normalisation."""

    centre: FloatArray
    """The mean of the training vectors, d."""
    projection: FloatArray | None
    """LDA, d × D; None where there is none and D = d."""
    length_norm: bool
    """Whether vectors are scaled to the length √D."""

    def __call__(self, vectors: RealArray) -> FloatArray:
        """Process the rows of a table, n × d, into n × D."""
        processed = vectors - self.centre
        if self.projection is not None:
            processed = processed @ self.projection
        if self.length_norm:
            lengths = np.sqrt(np.einsum("ij,ij->i", processed, processed) / processed.shape[1])
            processed /= np.maximum(lengths, np.finfo(np.float64).tiny)[:, None]
        return processed


@dataclass(frozen=True, slots=True, eq=False)
class Plda:
    """Linkage function: log likelihood ratios of "same speaker", natural logarithm.

    >>> rng = np.random.default_rng(0)
    >>> speakers = np.repeat(np.arange(50), 8)
    >>> vectors = rng.normal(size=(50, 4))[speakers] + 0.5 * rng.normal(size=(400, 4))
    >>> plda = Plda.fit(Embeddings.of(vectors, speakers), length_norm=False)
    >>> model, same, other = vectors[:1], vectors[1:2], vectors[8:9]
    >>> [(plda.enrol(model, 1) @ plda.trial(trial, 1).T).item() > 0 for trial in (same, other)]
    [True, False]
    """

    name: ClassVar[str] = "plda"

    frontend: Frontend
    """Processing of vectors before the model."""
    mean: FloatArray
    """m, the mean of the processed training vectors."""
    transform: FloatArray
    """V, one direction per column: VᵀWV = I, VᵀBV = diag(ψ)."""
    psi: FloatArray
    """ψ, the variance between speakers where the variance within is 1, in descending order."""
    share: float
    """Part of the variance of a processed vector that lies between speakers: tr B / tr (B + W)."""
    log_likelihoods: tuple[float, ...]
    """Log likelihood of the training data before the first and after each iteration."""

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

        The variance within speakers is increased by a millionth of its mean over dimensions
        (``RIDGE``), and the likelihoods include that. Vectors are read block by block, so a
        memory-mapped set may be larger than memory.

        Parameters
        ----------
        embeddings : Embeddings
            Training vectors of at least 2 speakers. Without ``lda`` and ``shrinkage`` there must be
            at least d vectors beyond the first of each speaker.
        lda : int, optional
            Dimensions to keep by linear discriminant analysis; by default all.
        length_norm : bool, default True
            Whether vectors are scaled to one length.
        iterations : int, default 10
            Iterations of EM.
        shrinkage : float, default 0.0
            Share, from 0 to below 1, by which both covariances are mixed with multiples of the
            identity; for training sets of few speakers.

        Raises
        ------
        TooFewError
            Where there are too few speakers or vectors.
        InputError
            ``out-of-range`` for a setting, ``constant`` where all vectors of a speaker are equal.
        """
        _check_fit(embeddings, lda, iterations, shrinkage)
        frontend = _frontend(embeddings, lda, length_norm)
        data = Statistics.of(embeddings, frontend)
        model, likelihoods = train(data, iterations)
        if shrinkage:
            model = shrunk(model, shrinkage)
        return cls(frontend, data.mean, model.transform, model.psi, model.share, likelihoods)

    def enrol(self, vectors: Vectors, counts: Counts) -> Vectors:
        """Prepare enrolment models.

        A mean of raw vectors is centred and projected like any vector. With length normalisation
        it is scaled to the length that the mean of n normalised vectors has on average,
        √(D (tr B + tr W / n) / tr (B + W)), which for n = 1 is √D: at full length it would count as
        far more certain than it is.

        Parameters
        ----------
        vectors : array of float32, models × d
            Each row is the mean of the vectors of a speaker.
        counts : int or array of int, models
            Number n of vectors behind each mean, at least 1.

        Returns
        -------
        array of float32
            Rows of width D + 2 for a single number in ``counts``, otherwise of width 2D + 1.
        """
        numbers = _checked_counts(counts, len(vectors))
        table = np.empty((len(vectors), self._width(numbers)), np.float32)
        for rows in blocks(len(vectors), SCORING_BLOCK):
            part = numbers if numbers.ndim == 0 else numbers[rows]
            table[rows] = enrol_rows(self._coordinates(vectors[rows], part), part, self.psi)
        return table

    def trial(self, vectors: Vectors, counts: Counts) -> Vectors:
        """Prepare trials.

        Parameters
        ----------
        vectors : array of float32, trials × d
            Each row is the vector of one utterance.
        counts : int or array of int
            What :meth:`enrol` is given for the models to compare with.

        Returns
        -------
        array of float32
            Rows of the same width as those of the models.
        """
        numbers = _checked_counts(counts)
        table = np.empty((len(vectors), self._width(numbers)), np.float32)
        for rows in blocks(len(vectors), SCORING_BLOCK):
            table[rows] = trial_rows(self._coordinates(vectors[rows]), numbers, self.psi)
        return table

    def _width(self, counts: IntArray) -> int:
        return len(self.psi) + 2 if counts.ndim == 0 else 2 * len(self.psi) + 1

    def _coordinates(self, vectors: Vectors, counts: IntArray | None = None) -> FloatArray:
        dimension = len(self.frontend.centre)
        if vectors.ndim != 2 or vectors.shape[1] != dimension:
            raise InputError(
                f"plda: vectors of shape {vectors.shape}, but it was trained on dimension "
                f"{dimension}; use the same encoder",
                code="mismatch",
            )
        processed = self.frontend(vectors)
        if self.frontend.length_norm and counts is not None:
            processed *= np.sqrt(self.share + (1 - self.share) / counts)[..., None]
        coordinates: FloatArray = (processed - self.mean) @ self.transform
        return coordinates

    def save(self, path: Path) -> None:
        """Write the model to a ``.npz`` file.

        Parameters
        ----------
        path : Path
            The file, which is written completely or not at all.
        """
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
        """Read a model that :meth:`save` wrote.

        Parameters
        ----------
        path : Path
            The file.

        Raises
        ------
        InputError
            ``damaged`` where the arrays are not those of a model.
        """
        check_exists(path)
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
    r"""Rows of models, whose product with those of :func:`trial_rows` holds the scores.

    Given the mean e of n utterances, a further one t of the same speaker has the mean
    μ = nψ/(1 + nψ) e and the variance v = 1 + ψ/(1 + nψ); one of another speaker has the mean 0 and
    the variance v₀ = 1 + ψ:

    .. math:: \log LR = \sum_d \frac{t\mu}{v} - \frac{\mu^2}{2v}
              - \frac{t^2}{2}\Bigl(\frac1v - \frac1{v_0}\Bigr) - \frac12 \log\frac{v}{v_0}

    Parameters
    ----------
    means : array of float64, models × D
        e, in coordinates where VᵀWV = I.
    counts : array of int, models, or a single number
        n.
    psi : array of float64, D
        ψ.
    """
    distinct, which = np.unique(counts, return_inverse=True)  # few numbers, many models
    n, variance = distinct[:, None], _variance(distinct, psi)
    weight = n * psi / (1 + n * psi) / variance
    offset = np.log((1 + psi) / variance).sum(1) / 2
    weighted = means * weight[which]
    constant = offset[which] - np.einsum("ij,ij->i", weighted, weighted * variance[which]) / 2
    if counts.ndim == 0:
        return np.column_stack((weighted, np.ones(len(means)), constant))
    return np.column_stack((weighted, _curvature(distinct, psi)[which], constant))


def trial_rows(trials: FloatArray, counts: IntArray, psi: FloatArray) -> FloatArray:
    """Rows of trials: (t, weighted sum of t², 1) for a single count, otherwise (t, t², 1).

    Parameters
    ----------
    trials : array of float64, trials × D
        t, in coordinates where VᵀWV = I.
    counts : array of int, models, or a single number
        What :func:`enrol_rows` is given.
    psi : array of float64, D
        ψ.
    """
    squares, ones = np.square(trials), np.ones(len(trials))
    if counts.ndim == 0:
        return np.column_stack((trials, squares @ _curvature(counts, psi), ones))
    return np.column_stack((trials, squares, ones))


def _variance(counts: IntArray, psi: FloatArray) -> FloatArray:
    """v = 1 + ψ/(1 + nψ)."""
    variance: FloatArray = 1 + psi / (1 + counts[..., None] * psi)
    return variance


def _curvature(counts: IntArray, psi: FloatArray) -> FloatArray:
    """−(1/v − 1/v₀)/2, the coefficient of t²."""
    curvature: FloatArray = 0.5 / (1 + psi) - 0.5 / _variance(counts, psi)
    return curvature


def _checked_counts(counts: Counts, models: int | None = None) -> IntArray:
    numbers = np.asarray(counts)
    if numbers.dtype.kind not in "iu" or numbers.ndim > 1 or numbers.size == 0 or numbers.min() < 1:
        raise InputError(
            "plda: the numbers of utterances of a model must be whole numbers of at least 1",
            code="out-of-range",
        )
    if models is not None and numbers.ndim == 1 and len(numbers) != models:
        raise InputError(
            f"plda: {len(numbers):,} counts for {models:,} models; give one per model",
            code="wrong-shape",
        )
    return numbers.astype(np.int64)


def _frontend(embeddings: Embeddings, lda: int | None, length_norm: bool) -> Frontend:
    total = np.zeros(embeddings.dimension)
    for rows in blocks(len(embeddings)):
        total += embeddings.vectors[rows].sum(0, dtype=np.float64)
    centred = Frontend(total / len(embeddings), None, length_norm=False)
    projection = None if lda is None else discriminants(Statistics.of(embeddings, centred), lda)
    return Frontend(centred.centre, projection, length_norm)


# ======================================================================================== checks


def _check_fit(embeddings: Embeddings, lda: int | None, iterations: int, shrinkage: float) -> None:
    source, size = embeddings.origin, embeddings.dimension
    speakers, beyond = len(embeddings.names), len(embeddings) - len(embeddings.names)
    if speakers < 2:
        raise TooFewError(
            f"{source}: one speaker; PLDA needs at least 2: add speakers", code="too-few-speakers"
        )
    if beyond == 0:
        raise TooFewError(
            f"{source}: no speaker has 2 vectors; PLDA needs several recordings per speaker",
            code="too-few-vectors",
        )
    if iterations < 0:
        raise InputError(f"{iterations} iterations; give 0 or more", code="out-of-range")
    if not 0 <= shrinkage < 1:
        raise InputError(
            f"shrinkage {shrinkage}; must be at least 0 and below 1", code="out-of-range"
        )
    most = min(size, speakers - 1, beyond)
    if lda is not None and not 1 <= lda <= most:
        raise InputError(
            f"{source}: lda {lda}; must be 1 to {most}, which {size} dimensions, {speakers:,} "
            f"speakers and {len(embeddings):,} vectors allow",
            code="out-of-range",
        )
    if lda is None and beyond < size and not shrinkage:
        raise TooFewError(
            f"{source}: {len(embeddings):,} vectors of {speakers:,} speakers; {size} dimensions "
            f"need {size + speakers:,}: add recordings, reduce to at most {most} with lda, or use "
            "shrinkage",
            code="too-few-vectors",
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
                f"{path}: {name!r} is not an array of a PLDA model ({array.dtype} of shape "
                f"{array.shape}); write the file again with {_SAVE}",
                code="damaged",
            )
