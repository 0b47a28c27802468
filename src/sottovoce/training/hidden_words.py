"""What a hidden word says of its neighbours: weights that a second look needs.

A text is looked at again with its private words hidden. To a tagger that never saw a hidden word it
is one more unknown word, which is much like a name, so that *at* in *meet █████ at █████* turns
private as well. Here a few weights are learnt from copies of the training text with its entities
hidden, one for each label and distance from the hidden word; all others stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sottovoce.anonymise.text.conll import Sentence
from sottovoce.anonymise.text.crf import Crf, Weights
from sottovoce.anonymise.text.features import DISTANCES, word_attributes
from sottovoce.anonymise.text.lexicon import lexicon
from sottovoce.anonymise.text.tokens import HIDDEN
from sottovoce.training.tagger_augmentation import hidden_view

MOST = 4000
"""Sentences to learn from."""
STEPS = 100
STEP = 0.1
"""Of a Newton step on the diagonal: whole ones overshoot, since neighbours pull together."""
L2 = 1.0


def with_hidden(
    weights: Weights, lang: str, sentences: Sequence[Sentence], rng: np.random.Generator
) -> Weights:
    """The same weights, and those of a hidden word in place of any it had."""
    names = [word_attributes(HIDDEN, distance, lexicon(lang))[0] for distance in DISTANCES]
    plain = _with_rows(weights, names, np.zeros((len(names), len(weights.labels)), np.float32))
    some = [one for one in sentences if one.spans]
    chosen = rng.permutation(len(some))[:MOST]
    copies = [hidden_view(some[int(i)], rng) for i in chosen]
    return _with_rows(weights, names, _learnt(Crf(plain, lexicon(lang)), copies))


def _learnt(crf: Crf, copies: Sequence[Sentence]) -> np.ndarray:
    """The most likely weights, distances × labels, of a Gaussian prior and the copies."""
    index = {label: i for i, label in enumerate(crf.labels)}
    known = [one for one in copies if index.keys() >= set(one.tags)]
    emissions = crf.emissions([one.words for one in known])
    sizes = np.cumsum([len(one.words) for one in known])[:-1]
    flat = np.concatenate(emissions)
    gold = np.eye(len(index))[[index[tag] for one in known for tag in one.tags]]
    beside = np.stack([_beside(known, distance) for distance in DISTANCES], axis=1)
    weights = np.zeros((len(DISTANCES), len(index)))
    for _ in range(STEPS):
        scores = (flat + beside @ weights).astype(np.float32)
        likely = np.concatenate(crf.marginals(np.split(scores, sizes)))
        slope = beside.T @ (gold - likely) - L2 * weights
        bend = beside.T @ (likely * (1 - likely)) + L2
        weights += STEP * slope / bend
    return weights.astype(np.float32)


def _beside(sentences: Sequence[Sentence], distance: int) -> np.ndarray:
    """1 for each word from which a hidden one stands at a distance."""
    marks = []
    for one in sentences:
        hidden = [word == HIDDEN for word in one.words]
        count = len(hidden)
        marks += [0 <= i + distance < count and hidden[i + distance] for i in range(count)]
    return np.array(marks, dtype=np.float64)


def _with_rows(weights: Weights, names: Sequence[str], rows: np.ndarray) -> Weights:
    kept = {name: i for name, i in weights.rows.items() if name not in names}
    state = np.concatenate([weights.state[list(kept.values())], rows])
    index = {name: i for i, name in enumerate([*kept, *names])}
    return Weights(weights.labels, index, state, weights.transition, weights.card)
