"""How often the 95 % intervals hold the true value, on simulated scores whose truth is known.

    uv run python benchmarks/interval_coverage.py [sets]    # default 200 a row, ten minutes

The true value is that of a set so large that its own error is negligible. Linkability is compared
with the mean of its own histogram estimate on sets of the same size, since its bias is reported
apart (as its chance level).
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np

from sottovoce.measure import Scores, Speakers, measure_scores

MEASURES = ("eer", "rocch_eer", "cllr", "min_cllr", "d_ece", "d_sys", "tpr_at_fpr_0.01")
Draw = Callable[[np.random.Generator], Scores]


def by_trial(mated: int, nonmated: int, distance: float) -> Draw:
    """Independent Gaussian scores."""
    return lambda rng: Scores(rng.normal(distance, 1, mated), rng.normal(0, 1, nonmated))


def by_speaker(speakers: int, utterances: int, distance: float) -> Draw:
    """Scores with an effect of each speaker and of each pair of speakers."""

    def draw(rng: np.random.Generator) -> Scores:
        ease = rng.normal(0, 0.5, speakers)
        who = np.repeat(np.arange(speakers), utterances)
        mated = 0.87 * rng.normal(distance, 1, len(who)) + ease[who]
        a, b = np.where(~np.eye(speakers, dtype=bool))
        pair = rng.normal(0, 0.3, (speakers, speakers))
        nonmated = 0.8 * rng.normal(0, 1, len(a)) + 0.35 * (ease[a] + ease[b]) + pair[a, b]
        return Scores(mated, nonmated, speakers=Speakers(who, a, b, speakers))

    return draw


def values(scores: Scores) -> dict[str, float]:
    found = measure_scores(scores, interval=None, only=MEASURES).measures
    return {name: one.value or 0.0 for name, one in found.items()}


def coverage(draw: Draw, truth: dict[str, float], sets: int) -> dict[str, float]:
    rng = np.random.default_rng(1)
    mean = np.mean([values(draw(rng))["d_sys"] for _ in range(100)])
    truth = {**truth, "d_sys": float(mean)}
    held = dict.fromkeys(MEASURES, 0)
    for _ in range(sets):
        found = measure_scores(draw(rng), only=MEASURES, replicates=400).measures
        for name, one in found.items():
            if one.low is not None and one.high is not None:
                held[name] += one.low <= truth[name] <= one.high
    return {name: count / sets for name, count in held.items()}


def main() -> None:
    sets = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    print("| scores | " + " | ".join(MEASURES) + " |\n|---|" + "---|" * len(MEASURES))
    large = np.random.default_rng(0)
    for distance in (0.0, 1.0, 2.0):
        truth = values(by_trial(2_000_000, 2_000_000, distance)(large))
        for mated, nonmated in ((100, 2000), (500, 5000)):
            held = coverage(by_trial(mated, nonmated, distance), truth, sets)
            row(f"{mated} + {nonmated} independent trials, d′ = {distance:g}", held)
    for distance in (0.0, 1.0, 2.0):
        truth = values(by_speaker(1500, 300, distance)(large))
        for speakers in (20, 60):
            held = coverage(by_speaker(speakers, 10, distance), truth, sets)
            row(f"{speakers} speakers × 10 utterances, d′ ≈ {distance:g}", held)


def row(name: str, held: dict[str, float]) -> None:
    print(f"| {name} | " + " | ".join(f"{100 * v:.0f} %" for v in held.values()) + " |", flush=True)


if __name__ == "__main__":
    main()
