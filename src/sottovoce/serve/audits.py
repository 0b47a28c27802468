"""Reports of audits in a folder: listed and read, never written.

Only folders directly inside the configured folder are audits, and only files inside an audit are
read: symbolic links that lead elsewhere are ignored.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import Response

from sottovoce.core.errors import SottovoceError
from sottovoce.findings.files import MEASURES, REPORT, read_findings
from sottovoce.report.pages import MEDIA_TYPE, RESPONSE_HEADERS
from sottovoce.serve.exchange import describe_errors, refuse_unknown_parameters

router = APIRouter(tags=["audits"], dependencies=[Depends(refuse_unknown_parameters)])


class Audit(BaseModel):
    """One audit in the list."""

    name: str
    """Name of its folder."""
    title: str
    date: str
    """When its report was written, in UTC."""
    verdict: str
    synthetic: bool
    anonymisers: list[str]
    attackers: list[str]


class Audits(BaseModel):
    """All audits of the folder."""

    shown: bool
    """Whether the service was started with ``--audits``."""
    audits: list[Audit]


@router.get("/v1/audits", summary="Audits with a report", responses=describe_errors(400, 401, 403))
async def audits(request: Request) -> Audits:
    """Audits in the folder that ``sottovoce serve --audits`` names, the newest first."""
    folder: Path | None = request.app.state.settings.audits
    if folder is None:
        return Audits(shown=False, audits=[])
    return Audits(shown=True, audits=await asyncio.to_thread(list_audits, folder))


@router.get(
    "/v1/audits/{name}/report",
    summary="The report of an audit",
    response_class=Response,
    responses={
        **describe_errors(400, 401, 403, 404),
        200: {"description": "A page.", "content": {"text/html": {"schema": {"type": "string"}}}},
    },
)
async def report(request: Request, name: str) -> Response:
    """A page in one file without scripts, as the audit wrote it."""
    folder: Path | None = request.app.state.settings.audits
    page = None if folder is None else await asyncio.to_thread(_read, folder, name, REPORT)
    if page is None:
        raise HTTPException(404, "no audit has that name; see /v1/audits")
    return Response(page, media_type=MEDIA_TYPE, headers=RESPONSE_HEADERS)


def list_audits(folder: Path) -> list[Audit]:
    """All audits in a folder whose measures and report can be read, the newest first.

    Parameters
    ----------
    folder : Path
        The folder that holds the folders of audits.
    """
    candidates = (_describe(folder, name) for name in _folder_names(folder))
    audits = [audit for audit in candidates if audit is not None]
    return sorted(audits, key=lambda audit: (audit.date, audit.name), reverse=True)


def _read(folder: Path, name: str, file: str) -> bytes | None:
    """A file of an audit, or None if there is no such audit or the file is not inside it."""
    if name not in _folder_names(folder):
        return None
    path = _path_inside(folder, name, file)
    try:
        return None if path is None else path.read_bytes()
    except OSError:
        return None


def _path_inside(folder: Path, name: str, file: str) -> Path | None:
    """Path of a file of an audit, or None if a symbolic link leads out of the audit."""
    path = (folder / name / file).resolve()
    return path if path.is_relative_to(folder.resolve() / name) and path.is_file() else None


def _folder_names(folder: Path) -> list[str]:
    try:
        entries = list(folder.iterdir())
    except OSError:
        return []
    return [entry.name for entry in entries if entry.is_dir() and not entry.is_symlink()]


def _describe(folder: Path, name: str) -> Audit | None:
    """Return one audit for the list, or None if it cannot be read."""
    from sottovoce.report.audit_verdicts import audit_verdict, rows_by_anonymiser

    page = _path_inside(folder, name, REPORT)
    if page is None or _path_inside(folder, name, MEASURES) is None:
        return None
    try:
        findings = read_findings(folder / name)
        written = datetime.fromtimestamp(page.stat().st_mtime, UTC)
    except (SottovoceError, OSError):
        return None  # not an audit, or written by another version
    rows_of = rows_by_anonymiser(findings)
    return Audit(
        name=name,
        title=findings.name,
        date=written.isoformat(timespec="seconds"),
        verdict=audit_verdict(rows_of),
        synthetic=findings.synthetic,
        anonymisers=list(rows_of),
        attackers=list(dict.fromkeys(row.attacker for row in findings.rows)),
    )
