"""A reader of score files: lines ``target SCORE`` and ``impostor SCORE``."""

from pathlib import Path

from sottovoce.core.errors import InputError
from sottovoce.measure import Scores


def read_scr(path: Path) -> Scores:
    """Read a ``.scr`` file."""
    scores: dict[str, list[float]] = {"target": [], "impostor": []}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            label, value = line.split()
            scores[label].append(float(value))
        except (KeyError, ValueError):
            raise InputError(
                f"{path}:{number}: not 'target SCORE' or 'impostor SCORE'", code="malformed-line"
            ) from None
    return Scores(scores["target"], scores["impostor"], name=path.stem)
