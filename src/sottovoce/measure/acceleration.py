"""The compiled loops of the ``fast`` extra, where they are installed and worth loading.

Loading them takes about a second, so they are used only for enough work; without them, and without
the extra, everything runs on numpy and scipy with the same results. The decision depends on the
work alone, never on what was computed earlier in the process.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

WORTH_COMPILING = 10**8
"""Elementary steps above which loading the compiled loops pays."""
ALWAYS = float("inf")
"""Work of a task that is worth it whatever its size."""


def loops_for(work: float) -> ModuleType | None:
    """Return the compiled loops if numba is installed and there is enough work for them.

    Parameters
    ----------
    work : float
        How many elementary steps there are to do, such as trials times resamples.

    Returns
    -------
    module or None
        :mod:`sottovoce.measure.compiled`, or None.
    """
    if work <= WORTH_COMPILING:
        return None
    try:
        return import_module("sottovoce.measure.compiled")
    except ImportError:
        return None
