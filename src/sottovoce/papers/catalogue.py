"""All items by id, their status, and the choice of items by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sottovoce.core.errors import UsageError
from sottovoce.core.records import Record
from sottovoce.core.registry import did_you_mean
from sottovoce.papers import maouche_2020, nautsch_2020, noe_2020, vauquier_2025
from sottovoce.papers.comprise_2021 import (
    crowd,
    design_figures,
    memorised_secrets,
    memorised_tags,
    private_learning,
    recognisers,
    slices,
    texts,
    traits,
)
from sottovoce.papers.data import PaperData
from sottovoce.papers.items import DOCUMENTS, PaperItem

MODULES = (
    nautsch_2020,
    maouche_2020,
    noe_2020,
    vauquier_2025,
    design_figures,
    crowd,
    recognisers,
    slices,
    texts,
    traits,
    memorised_tags,
    memorised_secrets,
    private_learning,
)
ALL = "all"
"""Stands for every item."""

ITEMS: dict[str, PaperItem] = {item.id: item for module in MODULES for item in module.ITEMS}
"""All items by id."""


@dataclass(frozen=True, slots=True)
class ItemStatus(Record):
    """Whether an item can run with the data at hand."""

    id: str
    document: str
    title: str
    status: str
    """``runs`` or ``needs``."""
    needs: str | None = None
    """What is missing; None if it runs."""


def list_items(data: PaperData) -> list[ItemStatus]:
    """Tell which items can run.

    Parameters
    ----------
    data : PaperData
        What the user named.
    """
    return [item_status(item, data) for item in sorted_items(ITEMS.values())]


def item_status(item: PaperItem, data: PaperData) -> ItemStatus:
    """Tell whether an item can run.

    Parameters
    ----------
    item : PaperItem
        The item.
    data : PaperData
        What the user named.
    """
    missing = data.missing(item.needs)
    status = "runs" if missing is None else "needs"
    return ItemStatus(item.id, item.document, item.title, status, missing)


def sorted_items(items: Iterable[PaperItem]) -> list[PaperItem]:
    """Return items in the order of the documents: figures, then tables, each by number.

    Parameters
    ----------
    items : iterable of PaperItem
        In any order.
    """
    return sorted(items, key=_order)


def _order(item: PaperItem) -> tuple[str, str, float]:
    document, kind, number = item.id.split("-", 2)
    return document, kind, float(number)


def choose_items(names: Sequence[str]) -> list[PaperItem]:
    """Find items by id, by document or all of them.

    Parameters
    ----------
    names : sequence of str
        Ids such as ``001-table-1``, numbers of documents such as ``001``, or ``all``.

    Raises
    ------
    UsageError
        ``unknown-name``.
    """
    chosen: dict[str, PaperItem] = {}
    for name in names:
        matching = [item for item in ITEMS.values() if name in (ALL, item.id, item.document)]
        if not matching:
            raise UsageError(
                did_you_mean("item", name, [ALL, *DOCUMENTS, *ITEMS]), code="unknown-name"
            )
        chosen |= {item.id: item for item in matching}
    return sorted_items(chosen.values())
