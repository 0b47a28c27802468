"""Findings of an audit as typed records, from the dictionaries that the audit works with."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sottovoce.attack.knowledge import ATTACKERS
from sottovoce.core.records import from_json, to_json
from sottovoce.findings import (
    AttackRecord,
    AttributeInference,
    AuditFindings,
    MethodDescription,
    NotMeasured,
    ScoreSummary,
)
from sottovoce.findings.audit import FORMAT
from sottovoce.measure import score_curves
from sottovoce.measure.readers import read_scores

_CARD = tuple(MethodDescription.__dataclass_fields__)
_SUMMARY = tuple(ScoreSummary.__dataclass_fields__)


def typed_findings(findings: Mapping[str, Any], folder: Path) -> AuditFindings:
    """Build the typed findings of an audit.

    Parameters
    ----------
    findings : mapping
        What ``measures.json`` holds.
    folder : Path
        The audit's folder, which holds the score files that curves are computed from.
    """
    originals = dict(findings["originals"])
    utility = originals.pop("utility")
    linkages = dict.fromkeys([originals["linkage"], *(row["linkage"] for row in findings["rows"])])
    typed = {
        **findings,
        "originals": [{**_measured(originals, folder), "linkage": name} for name in linkages],
        "original_utility": _utility(utility),
        "rows": [
            {**_measured(row, folder), "attacker_rank": _rank(row["attacker"])}
            for row in findings["rows"]
        ],
        "anonymisers": [
            {
                **anonymiser,
                "card": {name: anonymiser["card"][name] for name in _CARD},
                "utility": _utility(anonymiser["utility"]),
            }
            for anonymiser in findings["anonymisers"]
        ],
        "format": FORMAT,
    }
    return from_json(AuditFindings, to_json(typed), source=str(folder))


def typed_record(record: Mapping[str, Any]) -> AttackRecord:
    """Build the typed record of an attack.

    Parameters
    ----------
    record : mapping
        What the file of an attack's record holds.
    """
    attacker = record["attacker"]
    typed = {
        **{name: record[name] for name in AttackRecord.__dataclass_fields__ if name in record},
        "attacker": {**attacker, "rank": _rank(attacker["name"])},
        "settings": record["manner"],
        "embeddings": {},
    }
    return from_json(AttackRecord, to_json(typed))


def typed_attributes(
    attributes: Mapping[str, Any],
) -> dict[str, AttributeInference | NotMeasured]:
    """Build typed inferences of attributes.

    Parameters
    ----------
    attributes : mapping
        Inferences by the name of the attribute.
    """
    return from_json(dict[str, AttributeInference | NotMeasured], to_json(attributes))


def _measured(row: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Put the measures of the scores under one name, and add the curves."""
    summary = {"name": Path(row["scores"]).stem, **{k: row[k] for k in _SUMMARY if k in row}}
    return {
        **{name: value for name, value in row.items() if name not in _SUMMARY},
        "score_file": row["scores"],
        "scores": summary,
        "curves": score_curves(read_scores(folder / row["scores"])),
    }


def _utility(utility: Mapping[str, Any]) -> dict[str, Any]:
    return {name: {"value": None, **estimate} for name, estimate in utility.items()}


def _rank(attacker: str) -> int:
    return list(ATTACKERS).index(attacker)
