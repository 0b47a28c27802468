"""Document 004, Figures 5 to 11: the grid of design choices."""

from __future__ import annotations

from collections import Counter

import pytest

from sottovoce.papers.comprise_2021.design_choices import (
    ASSIGNMENTS,
    DISTANCES,
    GENDERS,
    PROXIMITIES,
    ChoiceResult,
    all_choices,
    by_value,
    compared_choices,
    dense_choices,
)


def test_the_whole_grid() -> None:
    choices = all_choices(quick=False)
    assert len(choices) == len(set(choices)) == 2 * 5 * 3 * 2
    assert len(dense_choices("dense", quick=False)) == 6


def test_a_quick_grid_has_every_value_and_is_balanced() -> None:
    choices = all_choices(quick=True)
    assert len(choices) <= 20
    pairs = Counter((choice.distance, choice.proximity) for choice in choices)
    assert set(pairs) == {(d, p) for d in DISTANCES for p in PROXIMITIES}
    plda = [choice for choice in choices if choice.distance == "plda"]
    levels = {"proximity": PROXIMITIES, "gender": GENDERS, "assignment": ASSIGNMENTS}
    for field, values in levels.items():
        counts = Counter(getattr(choice, field) for choice in plda)
        assert set(counts) == set(values) and min(counts.values()) >= 2


@pytest.mark.parametrize("quick", [True, False])
def test_what_differs_between_values_is_the_choice_alone(quick: bool) -> None:
    """Each value occurs with the same combinations of the others."""
    for field in ("distance", "proximity", "gender"):
        choices = compared_choices(field, quick)
        ignored = {"assignment"} if quick and field != "distance" else set()
        others = {
            value: sorted(
                [
                    [
                        text
                        for name, text in choice.to_dict().items()
                        if name not in {field, *ignored}
                    ]
                    for choice in choices
                    if getattr(choice, field) == value
                ]
            )
            for value in {getattr(choice, field) for choice in choices}
        }
        first, *rest = others.values()
        assert rest and all(other == first for other in rest), field
    counts = Counter(choice.assignment for choice in compared_choices("assignment", quick))
    assert max(counts.values()) - min(counts.values()) <= 1


def test_results_are_grouped_by_any_choice() -> None:
    results = [ChoiceResult(choice, "ignorant", 0.1, 0.4, None) for choice in all_choices(False)]
    assert {name: len(group) for name, group in by_value(results, "gender").items()} == {
        "same": 20,
        "opposite": 20,
        "random": 20,
    }
    assert list(by_value(results, "attacker")) == ["ignorant"]
