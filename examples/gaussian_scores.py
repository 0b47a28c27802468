"""Where Cllr_min and linkability part ways: Maouche et al. 2020, section 4.2 and Figure 2.

Three Gaussians with means 1, 2, 3 and every combination of four standard deviations give mated or
non-mated scores. When mated scores are the higher ones, Cllr_min and 1 − D_sys agree; in the other
three cases a threshold misses what the distributions still give away.

    uv run python examples/gaussian_scores.py [figure.svg]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np

from sottovoce.core.files import write_text
from sottovoce.measure import Scores, linkability, min_cllr
from sottovoce.report.svg import Axis, Figure, Line, line_chart

CASES = {
    "mated higher": ("NNH", "NHH"),
    "non-mated higher": ("HNN", "HHN"),
    "mated in between": ("NHN",),
    "non-mated in between": ("HNH",),
}
"""Which of the three Gaussians gives mated scores (H)."""

SPREADS = (0.1, 0.5, 1.0, 1.5)
EACH = 5000


def draw(key: str, spreads: tuple[float, ...], rng: np.random.Generator) -> Scores:
    """5,000 mated and 5,000 non-mated scores, shared among the Gaussians of each kind."""
    sides = {}
    for side in "HN":
        places = [i for i, label in enumerate(key) if label == side]
        shares = np.array_split(np.arange(EACH), len(places))
        parts = [
            rng.normal(i + 1, spreads[i], len(share))
            for i, share in zip(places, shares, strict=True)
        ]
        sides[side] = np.concatenate(parts)
    return Scores(sides["H"], sides["N"], name=key)


def experiment(seed: int = 0) -> Iterator[tuple[str, tuple[float, ...], float, float]]:
    """Case, standard deviations, Cllr_min and D_sys of every set."""
    rng = np.random.default_rng(seed)
    for case, keys in CASES.items():
        for key, spreads in product(keys, product(SPREADS, repeat=3)):
            scores = draw(key, spreads, rng)
            yield case, spreads, min_cllr(scores), linkability(scores, permutations=0).d_sys


def figure(results: list[tuple[str, tuple[float, ...], float, float]]) -> Figure:
    """Cllr_min over 1 − D_sys, one mark a set."""
    marks = []
    for style, case in enumerate(CASES, start=1):
        points = [(1 - d_sys, cost) for name, _, cost, d_sys in results if name == case]
        x, y = zip(*points, strict=True)
        marks.append(Line(case, x, y, style, points=True))
    return line_chart(
        "Cllr_min against 1 − D_sys on simulated scores",
        "Each mark is a simulated set of scores. On the diagonal the two measures agree, which "
        "they do only where mated scores are the higher ones.",
        Axis.nice("1 − D_sys", 0, 1),
        Axis.nice("Cllr_min", 0, 1.05),
        [Line("equal", [0, 1], [0, 1], 0), *marks],
    )


if __name__ == "__main__":
    results = list(experiment())
    for case in CASES:
        costs = [cost for name, _, cost, _ in results if name == case]
        links = [d_sys for name, _, _, d_sys in results if name == case]
        print(
            f"{case}: Cllr_min {min(costs):.2f} … {max(costs):.2f}, "
            f"D_sys {min(links):.2f} … {max(links):.2f}"
        )
    if len(sys.argv) > 1:
        write_text(Path(sys.argv[1]), figure(results).svg)
