"""Figures beside each voice method: of methods that exist, shares, and never the kinder number."""

from __future__ import annotations

from sottovoce.anonymise.voice import METHODS
from sottovoce.serve.method_results import (
    MethodResult,
    MethodResults,
    read_method_results,
    recommendations,
)


def test_the_shipped_figures_are_of_methods_that_exist() -> None:
    results = read_method_results()
    assert {result.method for result in results.methods} <= set(METHODS)
    assert results.origin and results.people > 1
    for result in results.methods:
        assert 0 <= result.found <= result.found_high <= 1
        assert result.words_wrong >= 0
    assert results.of("mcadams") is not None and results.of("nobody") is None


def test_each_purpose_has_its_method_and_what_speaks_against_it() -> None:
    results = MethodResults(
        "here",
        40,
        0.05,
        (
            MethodResult("hides", 0.2, 0.3, 0.4, 0.6),
            MethodResult("wavers", 0.1, 0.5, 0.3),  # the upper end counts
            MethodResult("speaks", 0.8, 0.9, 0.1),
        ),
    )
    hiding, keeping = recommendations(results)
    assert (hiding.method, keeping.method) == ("hides", "speaks")
    assert "up to 30\u00a0% of recordings" in hiding.reason
    assert "(60\u00a0% if the secret draws leak)" in hiding.reason
    assert "40\u00a0% of words" in hiding.reason
    assert "up to 90\u00a0% of recordings" in keeping.reason and "leak" not in keeping.reason
