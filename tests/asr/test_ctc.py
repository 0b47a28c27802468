"""Decoding of CTC: against its definition, the sum over all sequences of outputs."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.asr.ctc import BeamDecoder, DecodingSettings, alphabet_of, best_path, spell
from sottovoce.core.types import Features, IntArray, RealArray

ALPHABET = " ab"


class TwoWords:
    """Knows the words a and ab; each is the likelier the less the word before was the same."""

    def numbers(self, words: Sequence[str]) -> IntArray:
        return np.array([{"a": 1, "ab": 2}.get(word, 0) for word in words])

    def log_probability(self, *words: IntArray) -> RealArray:
        last = words[-1].astype(float)
        before = words[-2].astype(float) if len(words) > 1 else np.zeros(1)
        return np.asarray(-0.5 - 0.7 * last - 0.9 * (before == last), np.float64)


def texts_by_definition(log_probabilities: Features) -> dict[str, float]:
    """Probability of each text: of all sequences that become it, once merged and without blanks."""
    texts: dict[str, float] = defaultdict(float)
    frames, columns = log_probabilities.shape
    for path in itertools.product(range(columns), repeat=frames):
        merged = [column for column, _ in itertools.groupby(path)]
        text = "".join(ALPHABET[column - 1] for column in merged if column)
        values = [log_probabilities[frame, column] for frame, column in enumerate(path)]
        texts[" ".join(text.split())] += math.exp(math.fsum(values))
    return texts


def score_of(text: str, probability: float, model: TwoWords, chosen: DecodingSettings) -> float:
    total, words = math.log(probability), text.split()
    for place, word in enumerate(words):
        numbers = model.numbers(words[max(0, place - 2) : place + 1])
        known = float(model.log_probability(*(np.array([number]) for number in numbers))[0])
        unknown = chosen.unknown * len(word) if numbers[-1] == 0 else 0.0
        total += chosen.weight * (known + unknown + chosen.word_bonus)
    return total


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 5), st.sampled_from([0.0, 0.5, 1.3]))
def test_beam_search_by_definition(seed: int, frames: int, weight: float) -> None:
    rng = np.random.default_rng(seed)
    probabilities = rng.dirichlet(np.full(4, 3.0), frames)
    logs = np.log(0.9 * probabilities + 0.025).astype(np.float32)  # no frame is taken as sure
    chosen = DecodingSettings(weight=weight, word_bonus=0.3, unknown=-0.8, beam=10_000)
    model = TwoWords()
    scores = {
        text: score_of(text, probability, model, chosen)
        for text, probability in texts_by_definition(logs).items()
    }
    heard = BeamDecoder(ALPHABET, model, chosen).decode(logs)
    assert scores[heard] == pytest.approx(max(scores.values()), abs=1e-4)


def test_best_path_merges_repetitions_and_drops_blanks() -> None:
    columns = [0, 2, 2, 0, 2, 1, 1, 3, 0, 3]
    logs = np.log(np.eye(4)[columns] * 0.9 + 0.025).astype(np.float32)
    assert best_path(logs, ALPHABET) == "aa bb"
    assert best_path(logs[:0], ALPHABET) == ""


def test_language_model_changes_the_text() -> None:
    logs = np.log(np.array([[0.1, 0.02, 0.86, 0.02], [0.45, 0.01, 0.02, 0.52]], np.float32))
    plain = BeamDecoder(ALPHABET, TwoWords(), DecodingSettings(weight=1e-9))
    guided = BeamDecoder(ALPHABET, TwoWords(), DecodingSettings(weight=2.0, word_bonus=2.0))
    assert plain.decode(logs) == "ab"
    assert guided.decode(logs) == "a"


def test_spelling() -> None:
    assert spell("  'Tis “Mr. O’Neil”, ÉTÉ-3! ") == "tis mr o'neil été 3"
    assert alphabet_of(["b a", "it's"]) == " 'abist"
