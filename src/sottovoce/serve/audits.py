"""Reports of audits that the service was told to show: listed and read, never written.

Only folders that lie in the one that was named, and files that lie in these: a link that leads out
is as if it were not there.
"""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import Response

from sottovoce.report.measure_pages import HEADERS
from sottovoce.serve.exchange import problems

router = APIRouter(tags=["audits"])
REPORT = "report.html"
MEASURES = "measures.json"


class Audit(BaseModel):
    """What a list says of an audit."""

    name: str
    """Of its folder."""
    title: str
    date: str
    """When its report was written, in UTC."""
    verdict: str
    synthetic: bool
    anonymisers: list[str]
    attackers: list[str]


class Audits(BaseModel):
    """All audits there are."""

    shown: bool
    """Whether the service was started with ``--audits``."""
    audits: list[Audit]


@router.get("/v1/audits", summary="Audits with a report", responses=problems(401, 403))
async def audits(request: Request) -> Audits:
    """Of the folder that ``sottovoce serve --audits`` names; the newest first."""
    folder: Path | None = request.app.state.settings.audits
    if folder is None:
        return Audits(shown=False, audits=[])
    return Audits(shown=True, audits=await asyncio.to_thread(listed, folder))


@router.get(
    "/v1/audits/{name}/report",
    summary="The report of an audit",
    response_class=Response,
    responses={
        **problems(401, 403, 404),
        200: {"description": "A page.", "content": {"text/html": {"schema": {"type": "string"}}}},
    },
)
async def report(request: Request, name: str) -> Response:
    """A page of one file without scripts, as the audit wrote it."""
    folder: Path | None = request.app.state.settings.audits
    found = None if folder is None else await asyncio.to_thread(read, folder, name, REPORT)
    if found is None:
        raise HTTPException(404, "no audit of that name; see /v1/audits")
    return Response(found, media_type="text/html", headers=HEADERS)


def listed(folder: Path) -> list[Audit]:
    """All audits in a folder whose measures and report can be read."""
    found = [one for name in _names(folder) if (one := _described(folder, name)) is not None]
    return sorted(found, key=lambda one: (one.date, one.name), reverse=True)


def read(folder: Path, name: str, file: str) -> bytes | None:
    """A file of an audit, if there is such an audit and the file lies within it."""
    if name not in _names(folder):
        return None
    path = _inside(folder, name, file)
    try:
        return None if path is None else path.read_bytes()
    except OSError:
        return None


def _inside(folder: Path, name: str, file: str) -> Path | None:
    """Where a file of an audit is, if within the audit and no link leads elsewhere."""
    path = (folder / name / file).resolve()
    return path if path.is_relative_to(folder.resolve() / name) and path.is_file() else None


def _names(folder: Path) -> list[str]:
    try:
        inside = list(folder.iterdir())
    except OSError:
        return []
    return [one.name for one in inside if one.is_dir() and not one.is_symlink()]


def _described(folder: Path, name: str) -> Audit | None:
    from sottovoce.report.audit_tables import by_anonymiser
    from sottovoce.report.readings import overall

    measures, page = read(folder, name, MEASURES), _inside(folder, name, REPORT)
    if measures is None or page is None:
        return None
    try:
        findings: dict[str, Any] = json.loads(measures)
        tried = by_anonymiser(findings)
        return Audit(
            name=name,
            title=str(findings["name"]),
            date=datetime.fromtimestamp(page.stat().st_mtime, UTC).isoformat(timespec="seconds"),
            verdict=overall(tried),
            synthetic=bool(findings.get("synthetic")),
            anonymisers=list(tried),
            attackers=list(dict.fromkeys(str(row["attacker"]) for row in findings["rows"])),
        )
    except (ValueError, KeyError, TypeError, AttributeError, OSError):
        return None  # not an audit, or of another version
