"""Linkage functions by name: what turns two embeddings into a score, and how it is learnt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sottovoce.core.errors import InputError, UsageError
from sottovoce.core.registry import Registry
from sottovoce.speaker.backends import Backend, Cosine, Euclidean
from sottovoce.speaker.embeddings import Embeddings
from sottovoce.speaker.plda import Plda
from sottovoce.speaker.projection import fit_projection, fit_whitening

Settings = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Linkage:
    """One kind of linkage function."""

    summary: str
    fit: Callable[..., Backend]
    """Called with training embeddings, or None, and the settings."""
    needs_training: bool
    choices: tuple[Settings, ...] = ({},)
    """Settings worth trying where nobody says which to use."""


def _centre(train: Embeddings | None) -> Any:
    return None if train is None else train.vectors.mean(axis=0, dtype="float64")


SHRINKAGES: tuple[Settings, ...] = tuple({"shrinkage": one} for one in (0.2, 0.5, 0.8, 0.95))

LINKAGES: Registry[Linkage] = Registry("linkage function", group="sottovoce.linkages")
LINKAGES.add(
    "cosine",
    Linkage("angle, from the centre of the training voices", lambda t: Cosine(_centre(t)), False),
)
LINKAGES.add(
    "euclidean",
    Linkage("distance", lambda t: Euclidean(_centre(t)), False),
)
LINKAGES.add(
    "whitening",
    Linkage(
        "angle after evening out what varies within a speaker", fit_whitening, True, SHRINKAGES
    ),
)
LINKAGES.add(
    "projection",
    Linkage(
        "angle after a trained linear map",
        fit_projection,
        True,
        tuple({"shrinkage": s, "penalty": p} for s in (0.5, 0.9) for p in (0.1, 1.0)),
    ),
)
LINKAGES.add(
    "plda",
    Linkage(
        "likelihood ratio of a Gaussian model",
        Plda.fit,
        True,
        tuple({**one, "iterations": 3} for one in SHRINKAGES),
    ),
)


def make_linkage(
    name: str, train: Embeddings | None, *, like: Embeddings, **settings: Any
) -> Backend:
    """A back-end by name for vectors ``like`` those it will be given."""
    kind = LINKAGES[name]
    if kind.needs_training and train is None:
        raise UsageError(f"{name} learns from other speakers; name them with --train")
    if train is not None and train.dimension != like.dimension:
        raise InputError(
            f"{train.origin}: vectors of {train.dimension} numbers, those to be compared have "
            f"{like.dimension}; embed both with the same encoder"
        )
    return kind.fit(train, **settings)
