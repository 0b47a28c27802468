"""An item: one table or figure of a document, and the code that computes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sottovoce.papers.data import PaperData
from sottovoce.papers.results import ItemOutput

DOCUMENTS = {
    "000": "Nautsch et al. 2020, The Privacy ZEBRA",
    "001": "Maouche et al. 2020, A comparative study of speech anonymization metrics",
    "002": "Noé et al. 2020, Speech pseudonymisation assessment using voice similarity matrices",
    "003": "Vauquier et al. 2025, Legally validated evaluation framework for voice anonymization",
    "004": "COMPRISE deliverable D2.3, 2021, Final transformation library and privacy guarantees",
}
"""The documents by number."""


@dataclass(frozen=True, slots=True)
class PaperItem:
    """A table or figure of a document."""

    id: str
    """Such as ``001-table-1``; the first part is the document."""
    title: str
    run: Callable[[PaperData], ItemOutput]
    needs: tuple[str, ...] = ()
    """What it needs besides speech, or may use: names in :data:`~sottovoce.papers.data.NEEDS` and
    :data:`~sottovoce.papers.data.OPTIONAL`."""
    whole: bool = False
    """Whether a quick run leaves nothing out."""

    @property
    def document(self) -> str:
        """Number of the document."""
        return self.id.partition("-")[0]
