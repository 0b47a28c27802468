r"""d-exposure: how far a tagger has memorised which class an ambiguous word was given.

A word s that could be of several classes is inserted into the training data as class C, in a fixed
phrase. Against the words that the data have as C only,

.. math:: -\log_2 \Pr_{w \in C}[\mathrm{conf}(w) \geq \mathrm{conf}(s)]

bits (COMPRISE deliverable D2.3, equation 8), s counted among the words, and the mean over classes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.core.errors import InputError, TooFewError
from sottovoce.findings.exposure import ClassExposure, DiscriminativeExposure


def class_exposure(label: str, word: str, inserted: float, confidences: ArrayLike) -> ClassExposure:
    """Compute the exposure of one class.

    Parameters
    ----------
    label : str
        The class.
    word : str
        The word that was inserted.
    inserted : float
        Confidence in the inserted word being of the class.
    confidences : array_like of float, shape (words,)
        Confidences in the other words being of the class, each in the same phrase.

    Raises
    ------
    InputError
        ``not-finite`` for confidences that are no numbers.
    TooFewError
        If there is no other word.
    """
    others = np.asarray(confidences, np.float64).ravel()
    if not len(others):
        raise TooFewError(f"class {label}: no word is of this class only; use more data")
    if not (np.isfinite(others).all() and math.isfinite(inserted)):
        raise InputError(
            f"class {label}: confidences that are no numbers; check the tagger", code="not-finite"
        )
    rank = 1 + int(np.count_nonzero(others >= inserted))
    words = len(others) + 1
    return ClassExposure(
        label=label,
        word=word,
        exposure_bits=math.log2(words) - math.log2(rank),
        maximum_bits=math.log2(words),
        rank=rank,
        words=words,
        confidence=float(inserted),
        p_value=rank / words,
    )


def discriminative_exposure(classes: Sequence[ClassExposure]) -> DiscriminativeExposure:
    """Average the exposures of classes.

    Parameters
    ----------
    classes : sequence of ClassExposure
        At least one.

    Raises
    ------
    TooFewError
        If there is none.
    """
    if not classes:
        raise TooFewError("no class; d-exposure needs at least one")
    mean = float(np.mean([entry.exposure_bits for entry in classes]))
    return DiscriminativeExposure(mean, tuple(classes))
