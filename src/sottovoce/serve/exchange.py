"""From an HTTP request to a job and back: OpenAPI descriptions, request bodies, waiting."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from urllib.parse import unquote

from fastapi import Request
from pydantic import BaseModel
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from sottovoce.core.errors import UsageError
from sottovoce.core.records import Json, JsonObject
from sottovoce.report.pages import MEDIA_TYPE as HTML
from sottovoce.report.pages import RESPONSE_HEADERS as REPORT_HEADERS
from sottovoce.serve.errors import ErrorBody
from sottovoce.serve.messages import Job
from sottovoce.serve.settings import Settings

Responses = dict[int | str, dict[str, Json | type[BaseModel]]]
"""The argument ``responses`` of a route."""

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


async def read_body(request: Request) -> bytes:
    """Body of a request, if it arrives within the time limit.

    Parameters
    ----------
    request : Request
        The request.
    """
    settings: Settings = request.app.state.settings
    async with asyncio.timeout(settings.seconds):
        return await request.body()


async def read_form(request: Request, *names: str, optional: Sequence[str] = ()) -> list[bytes]:
    """Files of a form, if they arrive within the time limit.

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
        If a file is missing (``missing-part``).
    """
    settings: Settings = request.app.state.settings
    async with asyncio.timeout(settings.seconds), request.form(max_files=8, max_fields=8) as form:
        files = []
        for name in (*names, *optional):
            part = form.get(name)
            if part is None and name in optional:
                continue
            if part is None:
                raise UsageError(
                    f"no part {name!r} in the form; send {', '.join(names)}", code="missing-part"
                )
            files.append(part.encode() if isinstance(part, str) else await part.read())
        return files


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
    """
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
