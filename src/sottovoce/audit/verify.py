"""Whether the figures of an audit follow from the scores and embeddings it stored."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from sottovoce.audit.config import Study
from sottovoce.audit.evidence import measured
from sottovoce.audit.workshop import Progress
from sottovoce.errors import InputError

CLOSE = 1e-9
"""Largest relative difference that rounding on another machine may make."""


def verify(folder: Path, *, progress: Progress | None = None) -> list[str]:
    """Compute all measures again; what differs, by its place in ``measures.json``."""
    findings = load(folder)
    study = Study.model_validate(findings["study"])
    differences: list[str] = []
    for number, row in enumerate(findings["rows"]):
        if progress:
            progress("verifying", number, len(findings["rows"]))
        found = measured(folder / row["folder"], study, originals=False)
        stored = {name: row[name] for name in found}
        differences += compare(stored, found, f"rows.{number}")
    first = folder / findings["rows"][0]["folder"]
    found = measured(first, study, originals=True)
    stored = {name: findings["originals"][name] for name in found}
    return differences + compare(stored, found, "originals")


def load(folder: Path) -> dict[str, Any]:
    """What ``measures.json`` of an audit says."""
    path = folder / "measures.json"
    try:
        findings = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(findings, dict) or not findings.get("rows"):
            raise ValueError
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); name an audit") from None
    except ValueError:
        raise InputError(f"{path}: not the measures of an audit; run the audit again") from None
    return findings


def compare(stored: Any, found: Any, place: str) -> list[str]:
    """Differences between two results, each named by its place."""
    found = json.loads(json.dumps(found))
    return list(_compare(stored, found, place))


def _compare(stored: Any, found: Any, place: str) -> list[str]:
    if isinstance(stored, dict) and isinstance(found, dict):
        names = sorted(set(stored) | set(found))
        missing = [name for name in names if name not in stored or name not in found]
        lines = [f"{place}.{name}: only on one side" for name in missing]
        for name in names:
            if name not in missing:
                lines += _compare(stored[name], found[name], f"{place}.{name}")
        return lines
    if isinstance(stored, list) and isinstance(found, list):
        if len(stored) != len(found):
            return [f"{place}: {len(stored)} stored, {len(found)} found"]
        pairs = zip(stored, found, strict=True)
        return [line for i, pair in enumerate(pairs) for line in _compare(*pair, f"{place}.{i}")]
    if isinstance(stored, float | int) and isinstance(found, float | int):
        same = math.isclose(stored, found, rel_tol=CLOSE, abs_tol=CLOSE)
    else:
        same = stored == found
    return [] if same else [f"{place}: stored {stored!r}, found {found!r}"]
