"""Whether the compiled loops of the ``fast`` extra are at hand.

They are loaded only when there is enough work to repay loading them; until then, and without the
extra, everything runs on numpy and scipy with the same results.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from types import ModuleType

_NAME = "sottovoce.measure.compiled"


def load() -> ModuleType | None:
    """Load the compiled loops if numba is installed and of use here."""
    return import_module(_NAME) if _available() else None


@cache
def _available() -> bool:
    try:
        import_module(_NAME)
    except ImportError:
        return False
    return True


def loaded() -> ModuleType | None:
    """The compiled loops, if they were loaded before."""
    return sys.modules.get(_NAME)
