"""From an HTTP request to a job and back: OpenAPI descriptions, request bodies, waiting."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack
from typing import NamedTuple
from urllib.parse import unquote

from fastapi import Request
from fastapi.dependencies.models import Dependant
from pydantic import BaseModel
from starlette.formparsers import MultiPartParser
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from sottovoce.core.errors import UsageError
from sottovoce.core.records import Json, JsonObject
from sottovoce.core.registry import did_you_mean
from sottovoce.report.pages import MEDIA_TYPE as HTML
from sottovoce.report.pages import RESPONSE_HEADERS as REPORT_HEADERS
from sottovoce.serve.admission import Admission
from sottovoce.serve.errors import ErrorBody
from sottovoce.serve.messages import Job
from sottovoce.serve.settings import Settings

Responses = dict[int | str, dict[str, Json | type[BaseModel]]]
"""The argument ``responses`` of a route."""

PAUSE_SECONDS = 10.0
"""Longest pause of an upload."""
LEAST_RATE = 4096
"""Bytes per second that an upload must have on average, after a first such pause."""
MAX_PARTS = 8
"""Files and fields of a form."""

_ERRORS = {
    400: "The input or a parameter is wrong.",
    401: "The token is missing or wrong.",
    403: "The request came from a page of another origin, or used another name than localhost.",
    404: "The resource does not exist.",
    408: "The request took too long to arrive or to be computed.",
    413: "The request is too large.",
    422: "A parameter has the wrong type or range.",
    429: "All workers are busy; Retry-After says when to try again.",
    503: "The worker was lost; send less, or send it again.",
}


def describe_errors(*statuses: int) -> Responses:
    """OpenAPI description of error answers.

    Parameters
    ----------
    *statuses : int
        HTTP statuses that a route may answer with.
    """
    return {status: {"model": ErrorBody, "description": _ERRORS[status]} for status in statuses}


def describe_body(media_type: str, description: str) -> dict[str, Json]:
    """OpenAPI description of a request body that is a file or a text.

    Parameters
    ----------
    media_type : str
        Media type of the body; a ``text/…`` body may be empty.
    description : str
        What the body holds.
    """
    is_text = media_type.startswith("text/")
    schema: JsonObject = {"type": "string"}
    if not is_text:
        schema["format"] = "binary"
    return {
        "requestBody": {
            "required": not is_text,
            "description": description,
            "content": {media_type: {"schema": schema}},
        }
    }


def describe_form(*, optional: Sequence[str] = (), **files: str) -> dict[str, Json]:
    """OpenAPI description of a form with files.

    Parameters
    ----------
    optional : sequence of str
        Names of the files that may be left out.
    **files : str
        Description of each file by its name in the form.
    """
    properties: JsonObject = {
        name: {"type": "string", "format": "binary", "description": description}
        for name, description in files.items()
    }
    required: list[Json] = [name for name in files if name not in optional]
    schema: JsonObject = {"type": "object", "properties": properties, "required": required}
    return {
        "requestBody": {"required": True, "content": {"multipart/form-data": {"schema": schema}}}
    }


def describe_answers(media_types: str, description: str) -> Responses:
    """OpenAPI description of all answers of a route that runs a job.

    Parameters
    ----------
    media_types : str
        Media types of the answer, with blanks between.
    description : str
        What the answer holds.
    """
    content: JsonObject = {
        media_type: {"schema": {"type": "object" if media_type.endswith("json") else "string"}}
        for media_type in media_types.split()
    }
    errors = describe_errors(*(status for status in _ERRORS if status != 404))
    return {**errors, 200: {"description": description, "content": content}}


# ================================================================================== query


def refuse_unknown_parameters(request: Request) -> None:
    """Refuse query parameters that the route does not have; a dependency of routes.

    Parameters
    ----------
    request : Request
        The request.

    Raises
    ------
    UsageError
        If a parameter is unknown (``unknown-name``) or given twice (``repeated``).
    """
    refuse_repeated_parameters(request)
    known = _query_parameters(request.scope["route"].dependant)
    for name in request.query_params:
        if name not in known:
            line = did_you_mean("parameter", name, known) if known else "there are no parameters"
            raise UsageError(line, code="unknown-name")


def _query_parameters(dependant: Dependant) -> list[str]:
    """Names of the query parameters of a route and of what it depends on."""
    inherited = [name for part in dependant.dependencies for name in _query_parameters(part)]
    return [*(parameter.alias for parameter in dependant.query_params), *inherited]


def refuse_repeated_parameters(request: Request) -> None:
    """Refuse query parameters that are given more than once; a dependency of routes.

    Parameters
    ----------
    request : Request
        The request.

    Raises
    ------
    UsageError
        With the code ``repeated``.
    """
    names = [name for name, _ in request.query_params.multi_items()]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"the parameter {name!r} is given twice; once", code="repeated")


def query_parameters(request: Request) -> JsonObject:
    """Query parameters, which may also be one JSON object that is the whole query string.

    Clients of COMPRISE's services send the latter:
    ``requests.post(url, data=…, params=json.dumps(…))``.

    Parameters
    ----------
    request : Request
        The request.

    Raises
    ------
    UsageError
        If the query string begins like JSON and is not a JSON object (``not-json``).
    """
    query = unquote(request.url.query)
    if not query.startswith("{"):
        return dict(request.query_params)
    try:
        parameters = json.loads(query)
    except (ValueError, RecursionError):
        raise UsageError(
            "the parameters begin like JSON and are not; use json.dumps", code="not-json"
        ) from None
    if not isinstance(parameters, dict):
        raise UsageError(
            "the parameters are JSON, but no object; use json.dumps of a dict", code="not-json"
        )
    return parameters


# =================================================================================== body


class _MemoryForm(MultiPartParser):
    """Reads a form into memory; Starlette's own reader writes files above 1 MiB to the disk."""

    def __init__(self, request: Request, max_files: int, max_bytes: int) -> None:
        super().__init__(
            request.headers, _body_pieces(request), max_files=max_files, max_fields=max_files
        )
        self.spool_max_size = max_bytes + 1  # no file is larger than the request


async def read_body(request: Request) -> bytes:
    """Body of a request, if it arrives fast enough.

    Parameters
    ----------
    request : Request
        The request.

    Raises
    ------
    UsageError
        If a form was sent (``unexpected-form``).
    TimeoutError
        If the body arrives too slowly.
    """
    if is_form(request):
        raise UsageError(
            "a form was sent; send the content itself as the body, such as with curl --data-binary",
            code="unexpected-form",
        )
    return b"".join([piece async for piece in _body_pieces(request)])


def is_form(request: Request) -> bool:
    """Whether the body of a request is a form with files.

    Parameters
    ----------
    request : Request
        The request.
    """
    return request.headers.get("content-type", "").lower().startswith("multipart/")


async def read_form(request: Request, *names: str, optional: Sequence[str] = ()) -> list[bytes]:
    """Files of a form, if they arrive fast enough; they stay in memory.

    Parameters
    ----------
    request : Request
        The request.
    *names : str
        Files that must be there.
    optional : sequence of str
        Files that may be there.

    Returns
    -------
    list of bytes
        The named files, then those of the optional ones that were sent.

    Raises
    ------
    UsageError
        If a file is missing (``missing-part``), unknown (``unknown-name``) or sent twice
        (``repeated``).
    TimeoutError
        If the form arrives too slowly.
    """
    known = [*names, *optional]
    parts: dict[str, bytes] = {}
    for name, part in await read_parts(request, MAX_PARTS):
        if name not in known:
            raise UsageError(did_you_mean("part", name, known), code="unknown-name")
        if name in parts:
            raise UsageError(f"two parts are called {name!r}; send one", code="repeated")
        parts[name] = part.content
    for name in names:
        if name not in parts:
            raise UsageError(
                f"no part {name!r} in the form; send {', '.join(names)}", code="missing-part"
            )
    return [parts[name] for name in known if name in parts]


class Part(NamedTuple):
    """A file of a form."""

    content: bytes
    file_name: str
    """As the client wrote it; empty for a plain field."""


async def read_parts(request: Request, most: int) -> list[tuple[str, Part]]:
    """All parts of a form with their names, in the order in which they were sent.

    Parameters
    ----------
    request : Request
        The request; a body that is not a form has no parts.
    most : int
        Number of files that may be sent.
    """
    if not is_form(request):
        await read_body(request)
        return []
    settings: Settings = request.app.state.settings
    async with AsyncExitStack() as stack:
        form = await _MemoryForm(request, most, settings.max_bytes).parse()
        stack.push_async_callback(form.close)
        return [
            (name, Part(part.encode(), ""))
            if isinstance(part, str)
            else (name, Part(await part.read(), part.filename or ""))
            for name, part in form.multi_items()
        ]


async def _body_pieces(request: Request) -> AsyncGenerator[bytes, None]:
    """Yield the body as it arrives; TimeoutError if it comes too slowly, or stops."""
    settings: Settings = request.app.state.settings
    clock = asyncio.get_running_loop().time
    start = latest = clock()
    received = 0
    more = True
    while more:
        least_rate = start + PAUSE_SECONDS + received / LEAST_RATE
        limit = min(start + settings.seconds, latest + PAUSE_SECONDS, least_rate)
        async with asyncio.timeout_at(limit):
            message = await request.receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        more, latest = message.get("more_body", False), clock()
        body = message.get("body", b"")
        received += len(body)
        if body:
            yield body


# ================================================================================== answer


async def run_job(request: Request, job: Job, files: Sequence[bytes]) -> Response:
    """Have a worker do a job while the client waits; if the client leaves, the job is ended.

    Parameters
    ----------
    request : Request
        The request, which is watched for a disconnection.
    job : Job
        What to do.
    files : sequence of bytes
        The uploads that the job needs.

    Raises
    ------
    BusyError
        If too many requests are waiting.
    """
    admission: Admission = request.app.state.admission
    with admission.place():
        return await _answer(request, job, files)


async def _answer(request: Request, job: Job, files: Sequence[bytes]) -> Response:
    task = asyncio.create_task(request.app.state.workers.run(job, files))
    disconnected = asyncio.create_task(_wait_for_disconnect(request))
    try:
        await asyncio.wait({task, disconnected}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientDisconnect
        document = task.result()
        headers = REPORT_HEADERS if document.media_type == HTML else None
        return Response(document.body, media_type=document.media_type, headers=headers)
    finally:
        for pending in (task, disconnected):
            pending.cancel()
        await asyncio.gather(task, disconnected, return_exceptions=True)


async def _wait_for_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
