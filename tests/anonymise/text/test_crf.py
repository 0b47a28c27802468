from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
from error_codes import raises_code

from sottovoce.anonymise.text.conll import Sentence
from sottovoce.anonymise.text.crf import Crf, TaggerCard, Weights, mean_weights
from sottovoce.anonymise.text.features import sentence_attributes
from sottovoce.anonymise.text.lexicon import LANGUAGES, lexicon
from sottovoce.anonymise.text.taggers import CrfTagger, shipped_tagger, shipped_weights
from sottovoce.core.errors import InputError, TooFewError, UsageError
from sottovoce.training.taggers import train_tagger

LABELS = ("B-PER", "I-PER", "O")
NAMES = ["anna", "bert", "carla", "dirk", "emma", "fred", "gina", "hans", "ines", "jan"]


def small_set() -> list[Sentence]:
    rng = np.random.default_rng(0)
    sentences = []
    for name in NAMES * 8:
        before = [["call"], ["please", "call"], ["write", "to"]][int(rng.integers(3))]
        tags = ["O"] * len(before) + ["B-PER", "O"]
        sentences.append(Sentence((*before, name, "now"), tuple(tags)))
    quiet = Sentence(("please", "come", "now"), ("O", "O", "O"))
    return sentences + [quiet, Sentence(("call", "now"), ("O", "O"))] * 10


@pytest.fixture(scope="module")
def weights() -> Weights:
    return train_tagger(small_set(), "en", "spoken", iterations=30)


@pytest.fixture(scope="module")
def tagger(weights: Weights) -> CrfTagger:
    return CrfTagger(weights, "en")


@pytest.mark.parametrize("length", [1, 2, 4])
def test_recursions_equal_the_sum_over_all_paths(length: int) -> None:
    moves = np.random.default_rng(length).normal(size=(3, 3)).astype(np.float32)
    crf = Crf(Weights(LABELS, {}, np.zeros((0, 3), np.float32), moves), lexicon("en"))
    scores = np.random.default_rng(9).normal(size=(length, 3)).astype(np.float32)
    weight = {
        path: sum(scores[t, i] for t, i in enumerate(path))
        + sum(moves[a, b] for a, b in pairwise(path))
        for path in product(range(3), repeat=length)
    }
    total = sum(np.exp(w) for w in weight.values())
    expected = np.zeros((length, 3))
    for path, w in weight.items():
        for t, i in enumerate(path):
            expected[t, i] += np.exp(w) / total
    assert crf.marginals([scores])[0] == pytest.approx(expected, abs=1e-5)
    best = max(weight, key=lambda p: weight[p])
    assert crf.best_paths([scores]) == [[LABELS[i] for i in best]]


def test_emissions_are_the_weights_of_all_attributes(tagger: CrfTagger, weights: Weights) -> None:
    crf, words = tagger.crf, ["please", "call", "o'zorba", "in", "new", "york"]
    state, rows = weights.state, weights.rows
    expected = [
        sum((state[rows[name]] for name in names if name in rows), np.zeros(state.shape[1]))
        for names in sentence_attributes(words, crf.lexicon)
    ]
    batch = crf.emissions([["call"], words, []])
    assert batch[1] == pytest.approx(np.array(expected), abs=1e-4)
    assert [len(emissions) for emissions in batch] == [1, 6, 0]


def test_pairs_with_bars_and_boundaries_are_found_by_the_words_of_the_pair() -> None:
    names = ["b=call|ann", "a=ann|||", "t=|||", "b=||call", "t=x|y", "+1g=B", "g=I"]
    state = 2.0 ** np.arange(len(names) * 3).reshape(len(names), 3).astype(np.float32)
    weights = Weights(
        LABELS, {n: i for i, n in enumerate(names)}, state, np.zeros((3, 3), np.float32)
    )
    crf = Crf(weights, lexicon("en"))
    for words in (["|", "call", "ann", "|", "|"], ["x", "Call", "y"], ["in", "new", "york"]):
        expected = [
            sum((state[weights.rows[n]] for n in attributes if n in weights.rows), np.zeros(3))
            for attributes in sentence_attributes(words, crf.lexicon)
        ]
        assert crf.emissions([["ann"], words])[1].tolist() == [list(row) for row in expected]


def test_a_trained_tagger_finds_names_it_never_saw(tagger: CrfTagger) -> None:
    tagged = tagger.tag([["write", "to", "zorbalda", "now"], ["call", "now"]], None)
    assert [[(e.start, e.end, e.kind) for e in entities] for entities in tagged] == [
        [(2, 3, "PER")],
        [],
    ]


def test_more_words_are_private_as_tau_grows(tagger: CrfTagger) -> None:
    texts = [["call", "zorbalda", "later"], ["please", "come", "now"]]
    counts = [
        sum(e.length for entities in tagger.tag(texts, tau) for e in entities)
        for tau in (0.01, 0.5, 0.9, 0.9999)
    ]
    assert counts == sorted(counts)


def test_odds_count_more_in_sentences_without_capitals(weights: Weights) -> None:
    plain = CrfTagger(replace(weights, card=TaggerCard(register="written")), "en")
    card = TaggerCard(register="written", lower_case_odds=4.0)
    strict = CrfTagger(replace(weights, card=card), "en")
    lower = [["tell", "zorba", "soon"], ["call", "zorbalda", "and", "gina", "now"]]
    cased = [["Tell", "zorba", "soon"], ["call", "Zorbalda", "and", "gina", "now"]]
    # odds of 1 and 4: τ = 0.5 and τ = 0.8
    assert strict.tag(lower, 0.5) == plain.tag(lower, 0.8)
    assert strict.tag(cased, 0.5) == plain.tag(cased, 0.5)
    assert strict.tag(lower, None) == plain.tag(lower, None)
    words = [
        sum(e.length for entities in plain.tag(lower, t) for e in entities) for t in (0.5, 0.8)
    ]
    assert words[0] < words[1]


def test_a_file_of_weights(weights: Weights, tmp_path: Path) -> None:
    path = tmp_path / "en.npz"
    weights.save(path)
    again = Weights.load(path)
    assert again.rows == weights.rows
    assert again.card["register"] == "spoken"
    assert again.state == pytest.approx(weights.state, abs=2e-3)
    path.write_bytes(b"PK\x03\x04 no weights")
    with raises_code("not-a-tagger", InputError):
        Weights.load(path)
    with raises_code("unreadable", InputError):
        Weights.load(tmp_path / "none.npz")


def test_too_little_to_learn_from() -> None:
    with raises_code("too-few", TooFewError):
        train_tagger(small_set()[:10], "en", "spoken")
    with raises_code("unknown-name", UsageError):
        train_tagger(small_set(), "en", "sung")


def test_every_language_has_a_tagger_whose_data_are_named() -> None:
    for lang in LANGUAGES:
        assert "spoken" in shipped_weights(lang)
        for register in shipped_weights(lang):
            card = shipped_tagger(lang, register).info.card
            assert card["data"] and card["licence"].startswith("CC")


def test_the_mean_takes_the_labels_of_both() -> None:
    def weights(labels: tuple[str, ...], value: float) -> Weights:
        wide = len(labels)
        state = np.full((1, wide), value, np.float32)
        return Weights(labels, {"a": 0}, state, np.full((wide, wide), value, np.float32))

    both = mean_weights(weights(LABELS, 2), weights(("B-PER", "O"), 4))
    assert both.labels == LABELS
    np.testing.assert_array_equal(both.state, [[3, 1, 3]])
    np.testing.assert_array_equal(both.transition, [[3, 1, 3], [1, 1, 1], [3, 1, 3]])


def test_towns_of_one_word_are_enough_to_train_on() -> None:
    towns = [Sentence(("go", "to", name), ("O", "O", "B-LOC")) for name in ("rome", "bonn") * 30]
    weights = train_tagger(towns, "lv", "spoken", iterations=10)  # copies have towns of two words
    assert {"B-LOC", "I-LOC", "O"} == set(weights.labels)
