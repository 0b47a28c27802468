"""The files of an audit's findings: the only place that writes and reads them."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from sottovoce.core.errors import InputError
from sottovoce.core.files import read_json, write_bytes
from sottovoce.core.locks import NAME as LOCK_FILE
from sottovoce.core.records import (
    JsonObject,
    from_json,
    json_schema,
    read_json_record,
    write_json,
)
from sottovoce.findings.attack import FROZEN
from sottovoce.findings.audit import (
    FORMAT,
    AttackRow,
    AuditFindings,
    OriginalsFinding,
    Provenance,
)
from sottovoce.findings.reidentification import CurvePoint, Reidentification
from sottovoce.findings.scores import ScoreSummary

if TYPE_CHECKING:
    import polars as pl

MEASURES = "measures.json"
TABLE = "measures.parquet"
PROVENANCE = "provenance.json"
REPORT = "report.html"

Columns = dict[str, str | bool | int | float | None]
"""A row of the table by the names of its columns."""

_ADVICE = "name the folder of an audit, or run the audit again"


def write_findings(folder: Path, findings: AuditFindings, provenance: Provenance) -> None:
    """Write ``measures.json``, ``measures.parquet`` and ``provenance.json``.

    Parameters
    ----------
    folder : Path
        The audit's folder.
    findings : AuditFindings
        Everything that was found.
    provenance : Provenance
        What it was made from.
    """
    write_json(folder / MEASURES, findings)
    buffer = io.BytesIO()
    findings_table(findings).write_parquet(buffer)
    write_bytes(folder / TABLE, buffer.getvalue())
    write_json(folder / PROVENANCE, provenance)


def read_findings(folder: Path) -> AuditFindings:
    """Read ``measures.json`` of an audit.

    Parameters
    ----------
    folder : Path
        The audit's folder.

    Raises
    ------
    InputError
        With the code ``old-format`` for an audit that another version of the package made, and
        those of :func:`~sottovoce.core.records.read_json_record`.
    """
    path = folder / MEASURES
    content = read_json(path, _ADVICE)
    _refuse_other_format(content, path)
    return from_json(AuditFindings, content, source=str(path))


def check_format(folder: Path) -> None:
    """Refuse the folder of an audit that another version of the package made.

    Parameters
    ----------
    folder : Path
        The audit's folder, with ``measures.json``; a file that is no JSON is no such audit.

    Raises
    ------
    InputError
        With the code ``old-format``.
    """
    path = folder / MEASURES
    try:
        content = read_json(path, _ADVICE)
    except InputError:
        return
    _refuse_other_format(content, path)


def check_audit_folder(folder: Path) -> None:
    """Refuse a folder with other content, or with an audit of another version.

    Parameters
    ----------
    folder : Path
        Where an audit is to be written; it need not exist.
    """
    if not folder.exists():
        return
    if not folder.is_dir():
        raise InputError(f"{folder}: a file; name a folder for the audit", code="exists")
    present = {path.name for path in folder.iterdir()} - {LOCK_FILE}
    if MEASURES in present:
        check_format(folder)
    elif present and "work" not in present:
        raise InputError(
            f"{folder}: it has other content; name a new folder for the audit", code="exists"
        )


def _refuse_other_format(content: Mapping[str, object], path: Path) -> None:
    version = content.get("format")
    if version != FORMAT:
        raise InputError(
            f"{path}: format {version or 1} of another version of sottovoce; this one reads "
            f"format {FORMAT}: run the audit again into another folder, or use the version named "
            f"in {PROVENANCE}",
            code="old-format",
        )


def read_provenance(folder: Path) -> Provenance:
    """Read ``provenance.json`` of an audit.

    Parameters
    ----------
    folder : Path
        The audit's folder.
    """
    return read_json_record(Provenance, folder / PROVENANCE, advice=_ADVICE)


def findings_schema() -> JsonObject:
    """Return the JSON Schema of ``measures.json``."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "sottovoce measures.json",
        **json_schema(AuditFindings),
    }


def findings_table(findings: AuditFindings) -> pl.DataFrame:
    """Arrange the figures of an audit as a table, one row per figure.

    Parameters
    ----------
    findings : AuditFindings
        Everything that was found.

    Returns
    -------
    polars.DataFrame
        Columns anonymiser, attacker, encoder, representation, draws, linkage, linked_with,
        trustworthy, measure, length, population, value, low, high and chance. Original speech has
        the anonymiser ``none``.
    """
    import polars as pl

    rows: list[Columns] = []
    for row in findings.rows:
        rows += [{**_attack_columns(row), **figure} for figure in _figures(row)]
    for originals in findings.originals:
        names: Columns = {
            "anonymiser": "none",
            "attacker": "on originals",
            "encoder": FROZEN,
            "representation": FROZEN,
            "draws": 1,
            "linkage": originals.linkage,
            "linked_with": originals.linked_with,
            "trustworthy": True,
        }
        rows += [{**names, **figure} for figure in _figures(originals)]
    return pl.DataFrame(rows, infer_schema_length=None)


def _attack_columns(row: AttackRow) -> Columns:
    return {
        "anonymiser": row.anonymiser,
        "attacker": row.attacker,
        "encoder": row.encoder,
        "representation": row.representation,
        "draws": row.draws,
        "linkage": row.linkage,
        "linked_with": row.linked_with,
        "trustworthy": row.trust.trustworthy,
    }


def _figures(row: AttackRow | OriginalsFinding) -> Iterator[Columns]:
    yield from _score_figures(row.scores)
    yield from _population_figures(row.reidentification)


def _score_figures(summary: ScoreSummary) -> Iterator[Columns]:
    for name, estimate in summary.measures.items():
        yield {
            "measure": name,
            "length": None,
            "population": None,
            "value": estimate.value,
            "low": estimate.low,
            "high": estimate.high,
            "chance": estimate.chance,
        }


def _population_figures(reidentification: Reidentification) -> Iterator[Columns]:
    for name in Reidentification.CURVES:
        points: tuple[CurvePoint, ...] = reidentification.curve(name)
        for point in points:
            yield {
                "measure": name,
                "length": point.length,
                "population": point.population,
                "value": point.value,
                "low": point.low,
                "high": point.high,
                "chance": point.chance,
            }
