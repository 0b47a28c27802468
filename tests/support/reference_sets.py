"""The score sets of ``tests/golden/reference_scores.json``, for tests of further measures."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from sottovoce.measure import Scores

_GOLDEN = Path(__file__).parents[1] / "golden" / "reference_scores.json"
_WHOLE = Path(__file__).parents[3] / "shared" / "reference" / "scores"


def small_reference_sets() -> list[Scores]:
    """The sets that are copied into the project."""
    sets = json.loads(_GOLDEN.read_text("utf-8"))["sets"]
    return [Scores(entry["mated"], entry["nonmated"], name=name) for name, entry in sets.items()]


def large_reference_sets() -> list[Path]:
    """Files of all sets, where they are at hand."""
    return sorted(_WHOLE.glob("*.npz"))


def read_reference_set(path: Path) -> Scores:
    """Read one of the files."""
    with np.load(path, allow_pickle=False) as arrays:
        return Scores(arrays["mated"], arrays["nonmated"], name=path.stem)
