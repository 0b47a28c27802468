"""The choice of a back-end on the command line."""

from __future__ import annotations

import numpy as np
import pytest

from sottovoce.cli.backend import make_backend
from sottovoce.core.errors import InputError, UsageError
from sottovoce.speaker.embeddings import Embeddings
from sottovoce.speaker.linkage import LINKAGES


def voices(size: int = 4) -> Embeddings:
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(8), 4)
    return Embeddings.of(rng.normal(size=(8, size))[who] + rng.normal(size=(32, size)), who)


@pytest.mark.parametrize("name", list(LINKAGES))
def test_every_linkage_function_learns(name: str) -> None:
    backend = make_backend(name, voices(), lda=None, like=voices())
    assert backend.name == name
    assert np.isfinite(backend.enrol(voices().vectors, 1)).all()


def test_dimensions_of_plda() -> None:
    backend = make_backend("plda", voices(), lda=2, like=voices())
    assert backend.enrol(voices().vectors, 1).shape == (32, 4)  # 2 + 2
    with pytest.raises(UsageError, match="--lda goes with --backend plda"):
        make_backend("cosine", voices(), lda=2, like=voices())
    with pytest.raises(InputError, match="vectors of 4 numbers, those to be compared have 5"):
        make_backend("plda", voices(), lda=None, like=voices(5))


def test_names_that_are_not_there() -> None:
    with pytest.raises(UsageError, match="did you mean 'projection'"):
        make_backend("projections", lda=None, like=voices())
    with pytest.raises(UsageError, match="plda learns from other speakers"):
        make_backend("plda", lda=None, like=voices())
