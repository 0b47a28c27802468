"""From a request to a job and back: reading bodies and parameters, waiting, errors as one line."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response

from sottovoce.core.errors import SottovoceError, UsageError
from sottovoce.report.measure_pages import HEADERS as REPORT
from sottovoce.report.measure_pages import HTML
from sottovoce.serve.guard import RETRY, TooLargeError, fault, refused, too_large
from sottovoce.serve.settings import Settings
from sottovoce.serve.workers import FaultError, LostError, RefusedError, SlowError


class Problem(BaseModel):
    """What went wrong."""

    error: str
    """One line: the input, the limit, what to do."""


_WHEN = {
    400: "The input or a parameter is not what it should be.",
    401: "The token is missing or wrong.",
    403: "Asked by a page of another origin, or by another name than localhost.",
    404: "There is no such thing.",
    408: "It took too long to arrive or to be computed.",
    413: "It is too large.",
    422: "A parameter has the wrong type or range.",
    429: "All workers are busy; Retry-After says when to come again.",
    503: "The worker was lost; send less, or send it again.",
}


_UNKNOWN = {
    (404, "Not Found"): "no such address; /openapi.json lists them",
    (405, "Method Not Allowed"): "another method is needed; see /openapi.json",
}
"""What is said in place of the framework's own words."""


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """OpenAPI's description of refusals."""
    return {one: {"model": Problem, "description": _WHEN[one]} for one in statuses}


def binary(kind: str, words: str) -> dict[str, Any]:
    """OpenAPI's description of a body that is a file or text; a text may be empty."""
    text = kind.startswith("text/")
    schema = {"type": "string"} | ({} if text else {"format": "binary"})
    return {
        "requestBody": {
            "required": not text,
            "description": words,
            "content": {kind: {"schema": schema}},
        }
    }


def parts(*, optional: Sequence[str] = (), **words: str) -> dict[str, Any]:
    """OpenAPI's description of a form with the named files."""
    files = {
        name: {"type": "string", "format": "binary", "description": one}
        for name, one in words.items()
    }
    required = [name for name in words if name not in optional]
    schema = {"type": "object", "properties": files, "required": required}
    return {
        "requestBody": {"required": True, "content": {"multipart/form-data": {"schema": schema}}}
    }


def answers(kind: str, words: str) -> dict[int | str, dict[str, Any]]:
    """OpenAPI's description of all answers of a service."""
    kinds = {
        one: {"schema": {"type": "object" if one.endswith("json") else "string"}}
        for one in kind.split()
    }
    refusals = problems(*(one for one in _WHEN if one != 404))
    return {**refusals, 200: {"description": words, "content": kinds}}


async def body_of(request: Request) -> bytes:
    """The whole body, if it comes in time."""
    settings: Settings = request.app.state.settings
    async with asyncio.timeout(settings.seconds):
        return await request.body()


async def form_of(request: Request, *names: str, optional: Sequence[str] = ()) -> list[bytes]:
    """The named parts of a form, each a file or a text; then the optional ones that came."""
    settings: Settings = request.app.state.settings
    async with asyncio.timeout(settings.seconds), request.form(max_files=8, max_fields=8) as form:
        found = []
        for name in (*names, *optional):
            part = form.get(name)
            if part is None and name in optional:
                continue
            if part is None:
                raise UsageError(f"no part {name!r} in the form; send {', '.join(names)}")
            found.append(part.encode() if isinstance(part, str) else await part.read())
        return found


def parameters_of(request: Request) -> dict[str, Any]:
    """Parameters as a JSON object for the whole query string, or as usual.

    The first is what a client of COMPRISE's services sends:
    ``requests.post(url, data=…, params=json.dumps(…))``.
    """
    query = unquote(request.url.query)
    if not query.startswith("{"):
        return dict(request.query_params)
    try:
        found = json.loads(query)
    except (ValueError, RecursionError):
        raise UsageError("the parameters begin like JSON and are not; use json.dumps") from None
    if not isinstance(found, dict):
        raise UsageError("the parameters are JSON, but no object; use json.dumps of a dict")
    return found


async def answered(
    request: Request, job: str, files: Sequence[bytes], parameters: dict[str, Any]
) -> Response:
    """Have a job done while the client waits; if it leaves, the work ends."""
    work = asyncio.create_task(request.app.state.workers.run(job, files, parameters))
    gone = asyncio.create_task(_gone(request))
    try:
        await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            raise ClientDisconnect
        kind, body = work.result()
        return Response(body, media_type=kind, headers=REPORT if kind == HTML else None)
    finally:
        for task in (work, gone):
            task.cancel()
        await asyncio.gather(work, gone, return_exceptions=True)


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def add_handlers(app: FastAPI) -> None:
    """Every error as one line of JSON."""
    most = app.state.settings.max_bytes
    slow = f"longer than {app.state.settings.seconds:g} s; send less at a time"
    plain: dict[type[Exception], tuple[int, str]] = {
        TooLargeError: (413, too_large(most)),
        TimeoutError: (408, f"the request took {slow}"),
        SlowError: (408, f"the work took {slow}"),
        ClientDisconnect: (400, "the client left"),
        MultiPartException: (400, "not a form with files; send multipart/form-data"),
    }
    for kind, (status, line) in plain.items():
        app.add_exception_handler(kind, _always(status, line))
    for kind in (SottovoceError, RefusedError):
        app.add_exception_handler(kind, lambda _, error: refused(400, str(error)))
    again = {"Retry-After": str(RETRY)}
    app.add_exception_handler(
        LostError,
        lambda _, error: refused(503, "the worker was lost; send less, or send it again", again),
    )
    app.add_exception_handler(FaultError, lambda _, error: fault(str(error)))
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)


def _always(status: int, line: str) -> Any:
    return lambda _, error: refused(status, line)


def _invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)  # noqa: S101  # for the type checker
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"][1:])
    return refused(422, f"{where}: {first['msg']}")


def _http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)  # noqa: S101  # for the type checker
    line = _UNKNOWN.get((error.status_code, error.detail), error.detail)
    return refused(error.status_code, line, dict(error.headers or {}))
