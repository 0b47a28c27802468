"""Scores in NumPy files: ``.npz`` with arrays ``mated`` and ``nonmated``.

Who speaks in each trial may be told by three further arrays of names or numbers:
``mated_speaker``, ``nonmated_enrol_speaker`` and ``nonmated_trial_speaker``.
"""

from __future__ import annotations

from pathlib import Path

from sottovoce.core.arrays import Arrays, load_arrays
from sottovoce.core.errors import InputError
from sottovoce.measure.scores import Scores, Speakers

SIDES = ("mated", "nonmated")
SPEAKERS = ("mated_speaker", "nonmated_enrol_speaker", "nonmated_trial_speaker")


def read_npz(path: Path) -> Scores:
    """Read scores from a ``.npz`` file; never unpickles anything.

    Parameters
    ----------
    path : Path
        The file.
    """
    arrays = load_arrays(path, SIDES, SPEAKERS, save="np.savez(file, mated=…, nonmated=…)")
    return Scores(
        arrays["mated"],
        arrays["nonmated"],
        speakers=_speakers(path, arrays),
        name=path.stem,
        origin=str(path),
    )


def _speakers(path: Path, arrays: Arrays) -> Speakers | None:
    given = [name for name in SPEAKERS if name in arrays]
    if not given:
        return None
    if len(given) < len(SPEAKERS):
        lacking = next(name for name in SPEAKERS if name not in arrays)
        raise InputError(
            f"{path}: has {given[0]!r} but no {lacking!r}; give all three or none",
            code="missing-array",
        )
    return Speakers.from_names(*(arrays[name] for name in SPEAKERS), origin=str(path))
