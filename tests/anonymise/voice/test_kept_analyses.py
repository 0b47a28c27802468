"""Analyses are kept inside of a block only, up to a limit, and change no result."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from signals import vowel

from sottovoce.anonymise import Secret
from sottovoce.anonymise.voice.kept_analyses import analysis, keep_analyses
from sottovoce.anonymise.voice.xvector import XVector

Floats = NDArray[np.float64]


class Doubling:
    """Counts how often it computes."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, samples: Floats, kind: str = "doubled") -> Floats:
        def compute() -> Floats:
            self.calls += 1
            return 2 * samples

        return analysis(kind, samples, compute)


def test_nothing_is_kept_outside_of_a_block() -> None:
    doubled, samples = Doubling(), np.arange(3.0)
    with keep_analyses():
        doubled(samples)
    doubled(samples)
    doubled(samples)
    assert doubled.calls == 3


def test_same_samples_are_analysed_once_for_each_kind() -> None:
    doubled, samples = Doubling(), np.arange(3.0)
    with keep_analyses():
        np.testing.assert_array_equal(doubled(samples), doubled(samples.copy()))
        assert doubled.calls == 1
        doubled(samples + 1)
        doubled(samples, "another kind")
        assert doubled.calls == 3


def test_a_result_that_the_caller_changes_stays_what_it_was() -> None:
    doubled, samples = Doubling(), np.arange(3.0)
    with keep_analyses():
        for _ in range(3):
            result = doubled(samples)
            np.testing.assert_array_equal(result, [0, 2, 4])
            result[:] = 7


def test_no_more_than_the_memory_is_kept() -> None:
    doubled = Doubling()
    with keep_analyses(memory=2 * 3 * 8):
        for _ in range(2):
            for start in range(4):
                doubled(np.arange(3.0) + start)
    assert doubled.calls == 4 + 2


def test_an_inner_block_shares_the_memory_of_the_outer_one() -> None:
    doubled, samples = Doubling(), np.arange(3.0)
    with keep_analyses():
        with keep_analyses():
            doubled(samples)
        doubled(samples)
    assert doubled.calls == 1


def test_blocks_that_overlap_share_analyses_until_the_last_one_ends() -> None:
    doubled, samples = Doubling(), np.arange(3.0)
    first, second = keep_analyses(), keep_analyses()
    first.__enter__()
    second.__enter__()
    doubled(samples)
    first.__exit__(None, None, None)
    doubled(samples)
    assert doubled.calls == 1
    second.__exit__(None, None, None)
    doubled(samples)
    assert doubled.calls == 2


def test_anonymised_speech_has_the_same_bytes() -> None:
    audio = (0.4 * vowel((700, 1200, 2600), 0.8, 125)).astype(np.float32)

    def anonymised(seed: int) -> bytes:
        method = XVector(Secret.reproducible(seed))
        return method.transform(audio, 16_000, speaker="ann", utterance="u").tobytes()

    expected = [anonymised(seed) for seed in (1, 2)]
    with keep_analyses():
        assert [anonymised(seed) for seed in (1, 2, 1)] == [*expected, expected[0]]
