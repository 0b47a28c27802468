"""Scores in NumPy files: ``.npz`` with arrays ``mated`` and ``nonmated``.

Who speaks in each trial may be told by three further arrays of names or numbers:
``mated_speaker``, ``nonmated_enrol_speaker`` and ``nonmated_trial_speaker``.
"""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path

import numpy as np

from sottovoce.errors import InputError
from sottovoce.measure.scores import Scores, Speakers

SIDES = ("mated", "nonmated")
SPEAKERS = ("mated_speaker", "nonmated_enrol_speaker", "nonmated_trial_speaker")


def read_npz(path: Path) -> Scores:
    """Read scores from a ``.npz`` file; never unpickles anything."""
    try:
        with path.open("rb") as file:
            if file.read(2) != b"PK":
                raise InputError(f"{path}: not a .npz archive; write it with np.savez({_SAVE})")
            file.seek(0)
            with np.load(file, allow_pickle=False) as archive:
                found = list(archive.files)
                wanted = [name for name in (*SIDES, *SPEAKERS) if name in found]
                arrays = {name: archive[name] for name in wanted}
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError) as error:
        raise InputError(f"{path}: damaged or cut off ({_short(error)}); write it again") from None
    except ValueError as error:
        raise InputError(f"{path}: {_reason(error)}") from None
    missing = [side for side in SIDES if side not in arrays]
    if missing:
        have = ", ".join(found) or "nothing"
        raise InputError(f"{path}: no array {missing[0]!r} (has {have}); use np.savez({_SAVE})")
    return Scores(
        arrays["mated"],
        arrays["nonmated"],
        speakers=_speakers(path, arrays),
        name=path.stem,
        origin=str(path),
    )


_SAVE = "file, mated=…, nonmated=…"


def _reason(error: ValueError) -> str:
    if "pickle" in str(error).lower():
        return (
            f"holds Python objects, which are never loaded; save plain numbers: np.savez({_SAVE})"
        )
    return f"damaged or cut off ({_short(error)}); write it again"


def _short(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:80]


def _speakers(path: Path, arrays: dict[str, np.ndarray]) -> Speakers | None:
    given = [name for name in SPEAKERS if name in arrays]
    if not given:
        return None
    if len(given) < len(SPEAKERS):
        lacking = next(name for name in SPEAKERS if name not in arrays)
        raise InputError(f"{path}: has {given[0]!r} but no {lacking!r}; give all three or none")
    return Speakers.from_names(*(arrays[name] for name in SPEAKERS))
