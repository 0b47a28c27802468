"""Errors as the service answers them: an HTTP status and JSON with one line and a code.

    {"error": "the audio: empty (0 bytes); send its content as the body", "code": "empty"}

The line is for a person and may change; the code is for programs and stays. Errors of the library
keep their own code (:mod:`sottovoce.core.errors`); the others are listed in ``docs/service.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse

from sottovoce.core.errors import SottovoceError
from sottovoce.serve.admission import BusyError
from sottovoce.serve.settings import Settings
from sottovoce.serve.workers import FaultError, JobTimeoutError, RefusedError, WorkerLostError

RETRY_SECONDS = 2
"""Value of ``Retry-After``: when a client that was turned away may try again."""
MAX_LINE = 400
"""Longest error line in characters; of a longer one, only the beginning and the end are sent."""

_HTTP_ERRORS = {
    (404, "Not Found"): "no such address; /openapi.json lists them",
    (405, "Method Not Allowed"): "this address needs another method; see /openapi.json",
}
"""Lines that replace the wording of the framework."""
_HTTP_CODES = {404: "not-found", 405: "method-not-allowed"}


class ErrorBody(BaseModel):
    """Body of every answer that is an error."""

    error: str
    """One line: the input, the limit, what to do."""
    code: str
    """Short name of the kind of error, such as ``not-found``, for programs."""


class TooLargeError(Exception):
    """The request has more bytes than allowed."""


def error_response(
    status: int, code: str, line: str, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """Answer with an error.

    Parameters
    ----------
    status : int
        HTTP status.
    code : str
        Short name of the kind of error.
    line : str
        Message; line breaks and unprintable characters are replaced, and a very long one is cut.
    headers : mapping of str to str, optional
        Further headers of the answer.
    """
    line = "".join(sign if sign.isprintable() else "?" for sign in " ".join(line.split()))
    if len(line) > MAX_LINE:
        line = f"{line[: MAX_LINE // 2]} … {line[-MAX_LINE // 2 :]}"
    body = ErrorBody(error=line, code=code).model_dump()
    return JSONResponse(body, status, dict(headers or {}))


def fault_response(kind: str) -> JSONResponse:
    """Answer to a failure of the program.

    Parameters
    ----------
    kind : str
        Name of the exception's class; its message may hold data of the client.
    """
    return error_response(500, "fault", f"a fault in sottovoce itself ({kind}); please report it")


def too_large_response(max_bytes: int) -> JSONResponse:
    """Answer to a request that is too large.

    Parameters
    ----------
    max_bytes : int
        The limit.
    """
    return error_response(413, "too-large", f"more than {max_bytes:,} bytes; send less at a time")


def busy_response() -> JSONResponse:
    """Answer to a request for which there is no place or no memory."""
    line = "all workers are busy; try again"
    return error_response(429, "busy", line, {"Retry-After": str(RETRY_SECONDS)})


def add_error_handlers(app: FastAPI, settings: Settings) -> None:
    """Make an application answer every error as :func:`error_response` does.

    Parameters
    ----------
    app : FastAPI
        The application.
    settings : Settings
        Limits that the messages name.
    """
    limit = f"longer than {settings.seconds:g} s; send less at a time"
    constant: dict[type[Exception], Callable[[], JSONResponse]] = {
        TooLargeError: lambda: too_large_response(settings.max_bytes),
        BusyError: busy_response,
        TimeoutError: lambda: error_response(
            408, "slow-upload", "the request arrived too slowly; send less, or over a faster line"
        ),
        JobTimeoutError: lambda: error_response(408, "timeout", f"the work took {limit}"),
        ClientDisconnect: lambda: error_response(400, "disconnected", "the client left"),
        MultiPartException: lambda: error_response(
            400, "not-a-form", "not a form with files; send multipart/form-data"
        ),
        WorkerLostError: lambda: error_response(
            503,
            "worker-lost",
            "the worker was lost; send less, or send it again",
            {"Retry-After": str(RETRY_SECONDS)},
        ),
    }
    for kind, respond in constant.items():
        app.add_exception_handler(kind, _constant_handler(respond))
    for kind in (SottovoceError, RefusedError):
        app.add_exception_handler(kind, _refused)
    app.add_exception_handler(FaultError, lambda _, error: fault_response(str(error)))
    app.add_exception_handler(RequestValidationError, _invalid_parameter)
    app.add_exception_handler(HTTPException, _http_error)


def _constant_handler(
    respond: Callable[[], JSONResponse],
) -> Callable[[Request, Exception], JSONResponse]:
    return lambda _, error: respond()


def _refused(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, SottovoceError | RefusedError)  # noqa: S101  # for the type checker
    return error_response(400, error.code, str(error))


def _invalid_parameter(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)  # noqa: S101  # for the type checker
    first = error.errors()[0]
    name = ".".join(str(part) for part in first["loc"][1:])
    return error_response(422, "bad-parameter", f"{name}: {first['msg']}")


def _http_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)  # noqa: S101  # for the type checker
    line = _HTTP_ERRORS.get((error.status_code, error.detail), error.detail)
    code = _HTTP_CODES.get(error.status_code, "http-error")
    return error_response(error.status_code, code, line, error.headers)
