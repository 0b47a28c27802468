"""Kneser-Ney against a slow definition, and probabilities that sum to 1."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from error_codes import raises_code
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.attack.text.trigrams import _discounts, train_trigrams
from sottovoce.core.errors import TooFewError

sentences = st.lists(st.lists(st.sampled_from("abcde"), min_size=1, max_size=7), min_size=1)


def slow(text: list[list[str]], least: int) -> dict[tuple[str, ...], float]:
    """P(z | x, y) of every z after every context, from the definitions."""
    frequent = {w for w, c in Counter(w for s in text for w in s).items() if c >= least}
    text = [["<s>", *(w if w in frequent else "<unk>" for w in s), "</s>"] for s in text]
    words = ["<unk>", "</s>", *sorted(frequent)]
    three = Counter(tuple(s[i : i + 3]) for s in text for i in range(len(s) - 2))
    raw = Counter(tuple(s[i : i + 2]) for s in text for i in range(len(s) - 1))
    two = {
        pair: count if pair[0] == "<s>" else len({t[0] for t in three if t[1:] == pair})
        for pair, count in raw.items()
    }
    one = {word: len({pair[0] for pair in raw if pair[1] == word}) for word in words}

    def discounts(counts: dict[tuple[str, ...], int] | dict[str, int]) -> list[float]:
        return [float(d) for d in _discounts(np.array([c for c in counts.values() if c]))]

    def level(
        counts: dict[tuple[str, ...], int], context: tuple[str, ...], word: str, shorter: float
    ) -> float:
        after = {key: count for key, count in counts.items() if key[:-1] == context}
        if not after:
            return shorter
        d, total = discounts(counts), sum(after.values())
        taken = sum(d[min(count, 3) - 1] for count in after.values())
        count = after.get((*context, word), 0)
        kept = count - d[min(count, 3) - 1] if count else 0.0
        return kept / total + taken / total * shorter

    def unigram(word: str) -> float:
        d, total = discounts(one), sum(one.values())
        taken = sum(d[min(count, 3) - 1] for count in one.values() if count)
        kept = one[word] - d[min(one[word], 3) - 1] if one[word] else 0.0
        return kept / total + taken / total / len(words)

    contexts = [(x, y) for x in ["<s>", *words] for y in words]
    return {
        (x, y, z): level(dict(three), (x, y), z, level(two, (y,), z, unigram(z)))
        for x, y in contexts
        for z in words
    }


@settings(max_examples=40, deadline=None)
@given(sentences, st.sampled_from([1, 2]))
def test_equal_to_the_definition(text: list[list[str]], least: int) -> None:
    model = train_trigrams(text, least=least)
    for (x, y, z), expected in slow(text, least).items():
        numbers = [np.array([model.words.index(word)]) for word in (x, y, z)]
        assert model.log_probability(*numbers)[0] == pytest.approx(math.log(expected), abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(sentences)
def test_probabilities_sum_to_one(text: list[list[str]]) -> None:
    model = train_trigrams(text)
    possible = np.array([i for i, word in enumerate(model.words) if word != "<s>"])
    for x in range(len(model.words)):
        for y in possible.tolist():
            context = [np.full(len(possible), x), np.full(len(possible), y)]
            total = np.exp(model.log_probability(*context, possible)).sum()
            assert total == pytest.approx(1.0, abs=1e-9)


def test_what_was_seen_is_more_likely() -> None:
    model = train_trigrams(
        [["the", "cat", "sat"], ["the", "dog", "ran"], ["the", "cat", "ran"]] * 3
    )
    the, cat, sat = model.numbers(["the", "cat", "sat"])
    probability = model.log_probability(*(np.array([n, n]) for n in (the,)), np.array([cat, sat]))
    assert probability[0] > probability[1]
    assert model.numbers(["zebra"])[0] == 0
    rows = np.array([[the, cat, sat], [sat, cat, the]])
    values = model.sentence_log_probability(rows)
    assert values[0] > values[1]


def test_no_words() -> None:
    with raises_code("too-few", TooFewError):
        train_trigrams([[]])
