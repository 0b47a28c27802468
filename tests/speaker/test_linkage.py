"""Linkage functions by name."""

from __future__ import annotations

import numpy as np
import pytest

from sottovoce.core.errors import InputError, UsageError
from sottovoce.speaker import Cosine, Embeddings
from sottovoce.speaker.linkage import LINKAGES, make_linkage


def voices(seed: int = 0, size: int = 5) -> Embeddings:
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(12), 5)
    vectors = 3 * rng.normal(size=(12, size))[who] + rng.normal(size=(60, size)) + 7
    return Embeddings.of(vectors, who, name="voices")


@pytest.mark.parametrize("name", list(LINKAGES))
def test_each_takes_all_its_choices_and_links(name: str) -> None:
    kind, train, unseen = LINKAGES[name], voices(0), voices(1)
    assert kind.summary and kind.choices
    mated = unseen.speakers[:, None] == unseen.speakers
    np.fill_diagonal(mated, val=False)
    apart = unseen.speakers[:, None] != unseen.speakers
    for settings in kind.choices:
        backend = make_linkage(name, train, like=unseen, **settings)
        scores = backend.enrol(unseen.vectors, 1) @ backend.trial(unseen.vectors, 1).T
        assert backend.name == name
        assert scores[mated].mean() > scores[apart].mean() + 0.5 * scores[apart].std()


@pytest.mark.parametrize("name", ["cosine", "euclidean"])
def test_untrained_ones_need_no_training_but_take_its_centre(name: str) -> None:
    unseen = voices(1)
    assert make_linkage(name, None, like=unseen).name == name
    plain, centred = (make_linkage(name, t, like=unseen) for t in (None, voices(0)))
    same = np.allclose(plain.enrol(unseen.vectors, 1), centred.enrol(unseen.vectors, 1))
    assert not same
    found = make_linkage("cosine", voices(0), like=unseen).enrol(unseen.vectors, 1)
    expected = Cosine(voices(0).vectors.mean(0)).enrol(unseen.vectors)
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("name", ["whitening", "projection", "plda"])
def test_trained_ones_say_that_they_need_speakers(name: str) -> None:
    with pytest.raises(UsageError, match=f"{name} learns from other speakers; .*--train"):
        make_linkage(name, None, like=voices())


def test_other_dimensions_and_names_are_refused() -> None:
    with pytest.raises(InputError, match="vectors of 4 numbers, those to be compared have 5"):
        make_linkage("cosine", voices(size=4), like=voices())
    with pytest.raises(UsageError, match="did you mean 'whitening'"):
        make_linkage("whitenin", voices(), like=voices())
