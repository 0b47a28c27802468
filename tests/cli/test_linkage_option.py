"""The choice of a linkage function on the command line."""

from __future__ import annotations

import numpy as np
import pytest
from error_codes import raises_code

from sottovoce.cli.linkage import linkage_from_options
from sottovoce.core.errors import InputError, TooFewError, UsageError
from sottovoce.speaker.embeddings import Embeddings
from sottovoce.speaker.linkage import LINKAGES


def embeddings_of_8_speakers(dimension: int = 4, *, seed: int = 0) -> Embeddings:
    rng = np.random.default_rng(seed)
    speakers = np.repeat(np.arange(8), 4)
    centres = rng.normal(size=(8, dimension))
    names = [f"{seed}-{speaker}" for speaker in speakers]
    return Embeddings.of(centres[speakers] + rng.normal(size=(32, dimension)), names)


@pytest.mark.parametrize("name", list(LINKAGES))
def test_every_linkage_function_can_be_trained(name: str) -> None:
    embeddings = embeddings_of_8_speakers()
    evaluated = embeddings_of_8_speakers(seed=1)
    linkage = linkage_from_options(name, embeddings, evaluated=(evaluated,))
    assert linkage.name == name
    assert np.isfinite(linkage.enrol(embeddings.vectors, 1)).all()


def test_lda_of_plda() -> None:
    embeddings = embeddings_of_8_speakers()
    evaluated = embeddings_of_8_speakers(seed=1)
    linkage = linkage_from_options("plda", embeddings, lda=2, evaluated=(evaluated,))
    assert linkage.enrol(embeddings.vectors, 1).shape == (32, 4)  # 2 + 2


@pytest.mark.parametrize("name", [name for name in LINKAGES if name != "plda"])
def test_lda_is_refused_where_it_is_no_setting(name: str) -> None:
    embeddings = embeddings_of_8_speakers()
    with raises_code("unsupported", UsageError) as caught:
        linkage_from_options(name, embeddings, lda=2, evaluated=(embeddings,))
    assert name in str(caught.value)


def test_training_embeddings_of_another_dimension_are_refused() -> None:
    with raises_code("mismatch", InputError) as caught:
        evaluated = (embeddings_of_8_speakers(5, seed=1),)
        linkage_from_options("plda", embeddings_of_8_speakers(4), evaluated=evaluated)
    assert "dimension 4" in str(caught.value) and "have 5" in str(caught.value)


def test_unknown_name_and_missing_training() -> None:
    embeddings = embeddings_of_8_speakers()
    with raises_code("unknown-name", UsageError) as caught:
        linkage_from_options("projections", evaluated=(embeddings,))
    assert "did you mean 'projection'" in str(caught.value)
    with raises_code("needs-training", UsageError):
        linkage_from_options("plda", evaluated=(embeddings,))


def test_shrinkage_lets_plda_be_trained_on_few_vectors() -> None:
    rng = np.random.default_rng(2)
    train = Embeddings.of(rng.normal(size=(16, 20)), np.arange(16) // 2)
    evaluated = (Embeddings.of(rng.normal(size=(4, 20)), np.arange(4) + 90),)
    with raises_code("too-few-vectors", TooFewError):
        linkage_from_options("plda", train, evaluated=evaluated)
    plda = linkage_from_options("plda", train, shrinkage=0.5, evaluated=evaluated)
    assert plda.name == "plda"
    with raises_code("unsupported", UsageError):
        linkage_from_options("cosine", train, shrinkage=0.5, evaluated=evaluated)
