"""Decisions of a review in requests and answers."""

from __future__ import annotations

from collections.abc import Sequence

from sottovoce.anonymise.decisions import (
    Decisions,
    DocumentDecisions,
    count_decisions,
    parse_decisions,
)
from sottovoce.core.records import JsonObject


def read_review(files: Sequence[bytes]) -> Decisions | None:
    """Read the decisions that a client sent, if there are any.

    Parameters
    ----------
    files : sequence of bytes
        At most one file of decisions.
    """
    return parse_decisions(files[0]) if files else None


def review_fields(document: DocumentDecisions) -> JsonObject:
    """Return what an answer says about decisions: all of them as a file, and who decided.

    Parameters
    ----------
    document : DocumentDecisions
        The decisions on a text or recording.
    """
    counts = count_decisions(document.decisions, document.stretches)
    return {"decisions": Decisions((document,)).to_dict(), "decided": counts.to_dict()}
