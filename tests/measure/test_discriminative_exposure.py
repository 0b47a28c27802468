"""d-exposure against the definition, and what it refuses."""

from __future__ import annotations

import math

import pytest
from error_codes import raises_code
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.measure.discriminative_exposure import class_exposure, discriminative_exposure

CONFIDENCES = st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9, 1.0]), min_size=1, max_size=12)


@given(CONFIDENCES, st.sampled_from([0.0, 0.25, 0.3, 1.0]))
def test_the_definition(others: list[float], inserted: float) -> None:
    """Equation 8 of D2.3, one class, with the inserted word among the words."""
    everybody = [*others, inserted]
    share = sum(value >= inserted for value in everybody) / len(everybody)
    result = class_exposure("PER", "Jordan", inserted, others)
    assert result.exposure_bits == pytest.approx(-math.log2(share), abs=1e-12)
    assert 0 <= result.exposure_bits <= result.maximum_bits == math.log2(len(everybody))
    assert result.p_value == pytest.approx(share)


def test_a_memorised_word_has_the_cap_and_the_mean_is_over_classes() -> None:
    top = class_exposure("PER", "Jordan", 0.9, [0.1] * 7)
    low = class_exposure("LOC", "Chelsea", 0.1, [0.9] * 7)
    assert top.exposure_bits == top.maximum_bits == 3 and low.exposure_bits == 0
    assert discriminative_exposure([top, low]).value == 1.5


def test_refusals() -> None:
    with raises_code("too-few"):
        class_exposure("PER", "Jordan", 0.5, [])
    with raises_code("too-few"):
        discriminative_exposure([])
    with raises_code("not-finite"):
        class_exposure("PER", "Jordan", 0.5, [math.nan])
