"""Linkage functions (back-ends): what turns a pair of embeddings into a score.

Every score is one matrix product: a linkage function turns enrolment models and trials into two
tables of the same width whose product holds all scores, so a caller can multiply block by block
and never has to hold all scores in memory.

``LINKAGES`` holds the registered kinds of linkage functions by name. A package adds its own with an
entry point in the group ``sottovoce.linkages`` that names a :class:`LinkageKind`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import InputError, UsageError
from sottovoce.core.registry import Registry
from sottovoce.core.types import IntArray, Vectors
from sottovoce.speaker.embeddings import Embeddings

Counts = IntArray | int
"""Number of utterances behind each enrolment model; one number if it is the same for all."""
Settings = Mapping[str, float]
"""Keyword arguments of the ``fit`` of a :class:`LinkageKind`."""


class LinkageFunction(Protocol):
    """Scores of enrolment models against trials; higher means more alike.

    The score of model i and trial j is row i of :meth:`enrol` times row j of :meth:`trial`.
    """

    @property
    def name(self) -> str:
        """Name of the kind of linkage function, for results."""

    def enrol(self, vectors: Vectors, counts: Counts) -> Vectors:
        """Prepare enrolment models.

        Parameters
        ----------
        vectors : array of float32, n × d
            One model per row: the mean of the embeddings of a speaker's utterances.
        counts : int or array of int, n
            Number of utterances each mean was taken over.

        Returns
        -------
        array of float32, n × w
        """

    def trial(self, vectors: Vectors, counts: Counts) -> Vectors:
        """Prepare trials.

        Parameters
        ----------
        vectors : array of float32, m × d
            One embedding per row.
        counts : int or array of int
            The ``counts`` that are given to :meth:`enrol` for the models to compare with.

        Returns
        -------
        array of float32, m × w
        """


FitFunction = Callable[..., LinkageFunction]


@dataclass(frozen=True, slots=True)
class LinkageKind:
    """A registered kind of linkage function: how to make one, and what it can do."""

    summary: str
    """One line for lists and help texts."""
    fit: FitFunction
    """Called with the training embeddings (or None where none are needed) and the settings."""
    needs_training: bool
    """Whether ``fit`` needs training embeddings; otherwise they only give the centre, if any."""
    candidate_settings: tuple[Settings, ...] = ({},)
    """Settings an attacker chooses from on held-out speakers; the last is used without any."""
    options: tuple[str, ...] = ()
    """Names of the settings that a user may give, such as ``lda``."""
    tried_by_best: bool = True
    """Whether the choice ``best`` of an attack tries this kind."""


class Cosine:
    """Cosine of the angle between two vectors.

    Parameters
    ----------
    centre : array of float, d, optional
        Subtracted from every vector first.
    """

    name = "cosine"

    def __init__(self, centre: NDArray[np.floating] | None = None) -> None:
        self.centre = centre

    def enrol(self, vectors: Vectors, counts: Counts = 1) -> Vectors:
        """Subtract the centre and scale to unit length.

        Parameters
        ----------
        vectors : array of float32, n × d
            Models or trials.
        counts : int or array of int, default 1
            Not used.
        """
        centred = vectors if self.centre is None else vectors - self.centre.astype(np.float32)
        lengths = np.linalg.norm(centred, axis=1, keepdims=True)
        return np.asarray(centred / np.maximum(lengths, np.finfo(np.float32).tiny), np.float32)

    trial = enrol


class Euclidean:
    """Minus the squared Euclidean distance, which ranks pairs as minus the distance does.

    Parameters
    ----------
    centre : array of float, d, optional
        Subtracted from every vector first. It does not change the distances, only their precision:
        squares cancel with less loss near the origin.
    """

    name = "euclidean"

    def __init__(self, centre: NDArray[np.floating] | None = None) -> None:
        self.centre = centre

    def enrol(self, vectors: Vectors, counts: Counts = 1) -> Vectors:
        """Rows (2a, −a², −1), which times (b, 1, b²) give −(a − b)².

        Parameters
        ----------
        vectors : array of float32, n × d
            Enrolment models.
        counts : int or array of int, default 1
            Not used.
        """
        centred, squares = self._centred(vectors)
        return np.hstack((2 * centred, -squares, -np.ones_like(squares)))

    def trial(self, vectors: Vectors, counts: Counts = 1) -> Vectors:
        """Rows (b, 1, b²).

        Parameters
        ----------
        vectors : array of float32, m × d
            Trials.
        counts : int or array of int, default 1
            Not used.
        """
        centred, squares = self._centred(vectors)
        return np.hstack((centred, np.ones_like(squares), squares))

    def _centred(self, vectors: Vectors) -> tuple[Vectors, Vectors]:
        centred = vectors if self.centre is None else vectors - self.centre.astype(np.float32)
        return centred, np.einsum("ij,ij->i", centred, centred)[:, None]


def recentred(linkage: LinkageFunction, vectors: Vectors) -> LinkageFunction:
    """Move the origin of a Euclidean distance for precision; its scores stay the same otherwise.

    Parameters
    ----------
    linkage : LinkageFunction
        Returned as it is unless it is :class:`Euclidean` without a centre.
    vectors : array of float32, n × d
        Embeddings that will be compared; the new origin is the mean of up to 10,000 of them.
    """
    if isinstance(linkage, Euclidean) and linkage.centre is None:
        return Euclidean(vectors[:: max(1, len(vectors) // 10_000)].mean(axis=0, dtype=np.float64))
    return linkage


def make_linkage(
    name: str, train: Embeddings | None, *, like: Embeddings, **settings: float
) -> LinkageFunction:
    """Make a linkage function by the name of its kind.

    Parameters
    ----------
    name : str
        A name in ``LINKAGES``.
    train : Embeddings or None
        Embeddings of other speakers to train on; without training they only give the centre.
    like : Embeddings
        Embeddings that will be compared; ``train`` must have the same dimension.
    **settings : float
        Passed to ``fit`` of the kind.

    Returns
    -------
    LinkageFunction

    Raises
    ------
    UsageError
        ``unknown-name`` where no kind has this name, ``needs-training`` where ``train`` is missing.
    InputError
        ``mismatch`` where the dimensions differ.
    """
    kind = LINKAGES[name]
    if kind.needs_training and train is None:
        raise UsageError(
            f"{name} is trained on other speakers; give their embeddings with --train",
            code="needs-training",
        )
    if train is not None and train.dimension != like.dimension:
        raise InputError(
            f"{train.origin}: vectors of dimension {train.dimension}, but those to be compared "
            f"have {like.dimension}; embed both with the same encoder",
            code="mismatch",
        )
    return kind.fit(train, **settings)


# ======================================================================================== registry


def _centre(train: Embeddings | None) -> NDArray[np.float64] | None:
    return None if train is None else train.vectors.mean(axis=0, dtype=np.float64)


# these modules use the classes above, hence the late imports


def _fit_whitening(train: Embeddings, **settings: float) -> LinkageFunction:
    from sottovoce.speaker.projection import fit_whitening

    return fit_whitening(train, **settings)


def _fit_projection(train: Embeddings, **settings: float) -> LinkageFunction:
    from sottovoce.speaker.projection import fit_projection

    fit: FitFunction = fit_projection
    return fit(train, **settings)


def _fit_plda(train: Embeddings, **settings: float) -> LinkageFunction:
    from sottovoce.speaker.plda import Plda

    fit: FitFunction = Plda.fit
    return fit(train, **settings)


_SHRINKAGES = (0.2, 0.5, 0.8, 0.95)

LINKAGES: Registry[LinkageKind] = Registry("linkage function", group="sottovoce.linkages")
"""Kinds of linkage functions by name."""
LINKAGES.add(
    "cosine",
    LinkageKind(
        "cosine of the angle, seen from the centre of the training vectors",
        lambda train: Cosine(_centre(train)),
        needs_training=False,
    ),
)
LINKAGES.add(
    "euclidean",
    LinkageKind(
        "Euclidean distance",
        lambda train: Euclidean(_centre(train)),
        needs_training=False,
        tried_by_best=False,
    ),
)
LINKAGES.add(
    "whitening",
    LinkageKind(
        "cosine after whitening the variation within speakers",
        _fit_whitening,
        needs_training=True,
        candidate_settings=tuple({"shrinkage": shrinkage} for shrinkage in _SHRINKAGES),
    ),
)
LINKAGES.add(
    "projection",
    LinkageKind(
        "cosine after a trained linear map",
        _fit_projection,
        needs_training=True,
        candidate_settings=tuple(
            {"shrinkage": shrinkage, "penalty": penalty}
            for shrinkage in (0.5, 0.9)
            for penalty in (0.1, 1.0)
        ),
    ),
)
LINKAGES.add(
    "plda",
    LinkageKind(
        "log likelihood ratio of a Gaussian model of speakers",
        _fit_plda,
        needs_training=True,
        candidate_settings=tuple(
            {"shrinkage": shrinkage, "iterations": 3} for shrinkage in _SHRINKAGES
        ),
        options=("lda",),
    ),
)
