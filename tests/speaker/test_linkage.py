"""Linkage functions by name."""

from __future__ import annotations

import numpy as np
import pytest
from error_codes import raises_code

from sottovoce.core.errors import InputError, UsageError
from sottovoce.speaker import Cosine, Embeddings
from sottovoce.speaker.linkage import LINKAGES, LinkageKind, make_linkage


def embeddings_of_12_speakers(seed: int = 0, dimension: int = 5) -> Embeddings:
    rng = np.random.default_rng(seed)
    speakers = np.repeat(np.arange(12), 5)
    centres = 3 * rng.normal(size=(12, dimension))
    vectors = centres[speakers] + rng.normal(size=(60, dimension)) + 7
    return Embeddings.of(vectors, speakers, name="embeddings")


@pytest.mark.parametrize("name", list(LINKAGES))
def test_every_kind_links_with_all_its_candidate_settings(name: str) -> None:
    kind = LINKAGES[name]
    train, unseen = embeddings_of_12_speakers(0), embeddings_of_12_speakers(1)
    assert kind.summary and kind.candidate_settings
    mated = unseen.speakers[:, None] == unseen.speakers
    np.fill_diagonal(mated, val=False)
    nonmated = unseen.speakers[:, None] != unseen.speakers
    for settings in kind.candidate_settings:
        linkage = make_linkage(name, train, like=unseen, **settings)
        scores = linkage.enrol(unseen.vectors, 1) @ linkage.trial(unseen.vectors, 1).T
        assert linkage.name == name
        assert scores[mated].mean() > scores[nonmated].mean() + 0.5 * scores[nonmated].std()


def test_capabilities_of_the_built_in_kinds() -> None:
    kinds = {name: LINKAGES[name] for name in LINKAGES}
    assert [name for name, kind in kinds.items() if not kind.tried_by_best] == ["euclidean"]
    assert [name for name, kind in kinds.items() if "lda" in kind.options] == ["plda"]
    trained = [name for name, kind in kinds.items() if kind.needs_training]
    assert trained == ["whitening", "projection", "plda", "fused"]


@pytest.mark.parametrize("name", ["cosine", "euclidean"])
def test_untrained_kinds_only_take_the_centre_of_the_training_vectors(name: str) -> None:
    train, unseen = embeddings_of_12_speakers(0), embeddings_of_12_speakers(1)
    assert make_linkage(name, None, like=unseen).name == name
    plain, centred = (
        make_linkage(name, embeddings, like=unseen).enrol(unseen.vectors, 1)
        for embeddings in (None, train)
    )
    assert not np.allclose(plain, centred)
    rows = make_linkage("cosine", train, like=unseen).enrol(unseen.vectors, 1)
    expected = Cosine(train.vectors.mean(0)).enrol(unseen.vectors)
    np.testing.assert_allclose(rows, expected, atol=1e-6)


@pytest.mark.parametrize("name", ["whitening", "projection", "plda"])
def test_trained_kinds_need_training_embeddings(name: str) -> None:
    with raises_code("needs-training", UsageError) as caught:
        make_linkage(name, None, like=embeddings_of_12_speakers())
    assert name in str(caught.value) and "--train" in str(caught.value)


def test_other_dimensions_and_names_are_refused() -> None:
    embeddings = embeddings_of_12_speakers()
    with raises_code("mismatch", InputError) as caught:
        make_linkage("cosine", embeddings_of_12_speakers(dimension=4), like=embeddings)
    assert "dimension 4" in str(caught.value) and "have 5" in str(caught.value)
    with pytest.raises(UsageError) as unknown:
        make_linkage("whitenin", embeddings, like=embeddings)
    assert "did you mean 'whitening'" in str(unknown.value)


def test_a_kind_of_another_package_is_tried_by_best_unless_it_says_otherwise() -> None:
    kind = LinkageKind("my own", lambda train: Cosine(), needs_training=False)
    assert kind.tried_by_best and kind.options == () and kind.candidate_settings == ({},)
