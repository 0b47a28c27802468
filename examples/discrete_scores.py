"""Why one error rate is not enough: Maouche et al. 2020, Table 1.

Eight trials with the scores 1 … 8; only the labels of the last three differ between the cases. The
EER cannot tell the cases apart, Cllr_min can.

    uv run python examples/discrete_scores.py
"""

from __future__ import annotations

from sottovoce.measure import Scores, eer, min_cllr

CASES = {
    "case 1": "NNHNHNHH",
    "case 2": "NNHNHHNH",
    "case 3": "NNHNHHHN",
}
"""H = mated, N = non-mated, in order of the scores 1 … 8."""


def table() -> dict[str, tuple[float, float]]:
    """Cllr_min and EER of each case."""
    rows = {}
    for name, labels in CASES.items():
        mated = [score for score, label in enumerate(labels, start=1) if label == "H"]
        nonmated = [score for score, label in enumerate(labels, start=1) if label == "N"]
        scores = Scores(mated, nonmated, name=name)
        rows[name] = (min_cllr(scores), eer(scores))
    return rows


if __name__ == "__main__":
    for case, (cost, error) in table().items():
        print(f"{case}: Cllr_min {cost:.3f}, EER {error:.2f}")
