"""A linkage function: the cosine of vectors whose dimensions are scaled to equal spread."""

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.types import Vectors
from sottovoce.speaker import Embeddings
from sottovoce.speaker.linkage import LinkageKind
from sottovoce.speaker.linkage_functions import Counts


class StandardisedCosine:
    """Centres and scales every dimension as in the training vectors, then takes the cosine."""

    name = "standardised-cosine"

    def __init__(self, centre: NDArray[np.float64], spread: NDArray[np.float64]) -> None:
        self.centre = centre
        self.spread = spread

    def enrol(self, vectors: Vectors, counts: Counts = 1) -> Vectors:
        """Scale models or trials to unit length; the product of two rows is their cosine."""
        scaled = (vectors - self.centre) / self.spread
        lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
        return np.asarray(scaled / np.maximum(lengths, 1e-12), np.float32)

    trial = enrol


def fit(train: Embeddings, floor: float = 0.1) -> StandardisedCosine:
    """Take centre and spread from training vectors; small spreads are raised to a floor."""
    vectors = train.vectors.astype(np.float64)
    spread = vectors.std(axis=0)
    return StandardisedCosine(vectors.mean(axis=0), np.maximum(spread, floor * spread.max()))


STANDARDISED_COSINE = LinkageKind(
    summary="cosine of dimensions scaled to equal spread",
    fit=fit,
    needs_training=True,
    candidate_settings=({"floor": 0.01}, {"floor": 0.1}),
    tried_by_best=True,
)
