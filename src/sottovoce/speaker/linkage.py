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
from functools import partial

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import InputError, UsageError
from sottovoce.core.registry import Registry
from sottovoce.speaker.embeddings import Embeddings
from sottovoce.speaker.fused import Fused, fit_fused
from sottovoce.speaker.linkage_functions import (
    Cosine,
    Euclidean,
    LinkageFunction,
    fit_projection,
    fit_whitening,
)
from sottovoce.speaker.plda import Plda

Settings = Mapping[str, float]
"""Keyword arguments of the ``fit`` of a :class:`LinkageKind`."""


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
    for_blocks: bool = False
    """Whether it is for vectors that are made of several kinds of evidence, and not for others."""
    fusion_settings: tuple[Settings, ...] | None = None
    """Settings that ``fused`` tries for each block; None for ``candidate_settings``. Fusion trains
    for every block and fold, so a kind that is slow to train gives few or none."""


def given_settings(name: str, **settings: float | None) -> Settings:
    """Return the settings that a user has given; refuse those that the linkage function lacks.

    Parameters
    ----------
    name : str
        A name in ``LINKAGES``.
    **settings : float or None
        Values by name; None where the user gave none.

    Raises
    ------
    UsageError
        If the linkage function has no such setting (``unsupported``).
    """
    given = {setting: value for setting, value in settings.items() if value is not None}
    for setting in given:
        if setting not in LINKAGES[name].options:
            raise UsageError(
                f"{setting}: the linkage function {name} has no such setting; leave it out",
                code="unsupported",
            )
    return given


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


def _fit_projection(train: Embeddings, **settings: float) -> LinkageFunction:
    fit: FitFunction = fit_projection
    return fit(train, **settings)


def _fit_plda(train: Embeddings, **settings: float) -> LinkageFunction:
    fit: FitFunction = Plda.fit
    return fit(train, **settings)


def _fit_fused(train: Embeddings, within_draws: float = 0) -> Fused:
    """Try for each block the linkage functions that an attacker tries for one kind of vector."""
    trainers = [
        partial(kind.fit, **settings)
        for kind in (LINKAGES[name] for name in LINKAGES)
        if kind.tried_by_best and not kind.for_blocks
        for settings in _fusion_settings(kind)
    ]
    return fit_fused(train, trainers, across_draws=not within_draws)


def _fusion_settings(kind: LinkageKind) -> tuple[Settings, ...]:
    return kind.candidate_settings if kind.fusion_settings is None else kind.fusion_settings


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
        fit_whitening,
        needs_training=True,
        candidate_settings=tuple({"shrinkage": shrinkage} for shrinkage in _SHRINKAGES),
        options=("shrinkage",),
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
        fusion_settings=(),
        options=("shrinkage",),
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
        fusion_settings=({"shrinkage": 0.8, "iterations": 3},),
        options=("lda", "shrinkage"),
    ),
)
LINKAGES.add(
    "fused",
    LinkageKind(
        "weighted sum over the kinds of evidence in a vector, each linked by the function that "
        "suits it",
        _fit_fused,
        needs_training=True,
        candidate_settings=({"within_draws": 0}, {"within_draws": 1}),
        for_blocks=True,
    ),
)
