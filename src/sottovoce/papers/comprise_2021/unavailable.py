"""Items whose computation is not in this version, each with what it needs."""

from __future__ import annotations

from collections.abc import Callable

from sottovoce.core.errors import InputError
from sottovoce.papers.data import NEEDS, PaperData
from sottovoce.papers.items import PaperItem
from sottovoce.papers.results import ItemOutput


def _refuse(need: str) -> Callable[[PaperData], ItemOutput]:
    def run(data: PaperData) -> ItemOutput:
        raise InputError(f"needs {NEEDS[need]}", code="missing-data")

    return run


_TITLES = {
    "004-table-1": ("Utility when training a recogniser on slices", "recogniser"),
    "004-figure-15": ("Linkability of slices over their length", "slices"),
    "004-table-5": ("Sentences by demographic attribute", "traits"),
    "004-table-6": ("Traits inferred from text", "traits"),
    "004-figure-16": ("d-exposure over repetitions", "memorisation"),
    "004-figure-17": ("d-exposure while overfitting", "memorisation"),
    "004-table-8": ("d-exposure by class, repetitions and epochs", "memorisation"),
    "004-figure-18": ("Exposure of secrets by insertions", "memorisation"),
    "004-figure-19": ("Exposure over epochs", "memorisation"),
    "004-table-9": ("Exposure with and without private training", "memorisation"),
}

ITEMS = tuple(
    PaperItem(name, title, _refuse(need), (need,)) for name, (title, need) in _TITLES.items()
)
