"""Middleware that every request passes: access control, limits, headers and the log.

The log has a random id, sizes, duration and status of each request; no address, path, name or
content.
"""

from __future__ import annotations

import hmac
import logging
import secrets
import time
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sottovoce.report.html import style_source
from sottovoce.serve.admission import Admission, BusyError
from sottovoce.serve.errors import (
    TooLargeError,
    busy_response,
    error_response,
    fault_response,
    too_large_response,
)
from sottovoce.serve.metrics import Metrics
from sottovoce.serve.settings import Settings, is_loopback

LOG = logging.getLogger("sottovoce.serve")

POLICY = (
    "default-src 'none'; script-src 'self'; connect-src 'self'; img-src 'self'; "
    f"style-src 'self' {style_source()}; "
    "media-src 'self' blob: data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Content security policy of the page. Where a token is needed the page opens reports as blobs,
which inherit this policy, so it also allows the style of reports."""
HEADERS = {
    "content-security-policy": POLICY,
    "permissions-policy": "microphone=(self), camera=(), geolocation=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
PIECE = 1 << 16
"""Bytes of an answer that are written at once; the rest waits until the client has read them."""
PUBLIC_PATHS = ("/", "/healthz", "/openapi.json")
"""Paths that need no token; the static files of the page need none either."""


class Guard:
    """ASGI middleware; see the module.

    Parameters
    ----------
    app : ASGIApp
        The application behind it.
    settings : Settings
        Token and limits.
    metrics : Metrics
        Counters to fill.
    admission : Admission
        Places for requests and memory for uploads.
    """

    def __init__(
        self, app: ASGIApp, settings: Settings, metrics: Metrics, admission: Admission
    ) -> None:
        self.app = app
        self.settings = settings
        self.metrics = metrics
        self.admission = admission

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on to the application, or answer it with a refusal."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = _TrackedRequest(self.settings.max_bytes, self.admission, receive, send)
        refusal = self._refusal(scope)
        try:
            await (refusal or self.app)(scope, request.receive, request.send)
        except Exception as error:  # its message may hold the client's data
            kind = type(error).__name__
            LOG.error("id=%s fault=%s", request.id, kind)
            if not request.answered:
                await fault_response(kind)(scope, request.receive, request.send)
        finally:
            request.release()
            self._log(scope, request)

    def _refusal(self, scope: Scope) -> JSONResponse | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if self.settings.loopback and not is_loopback(_host_name(f"//{host}")):
            line = "this service answers to localhost only; call it by that name"
            return error_response(403, "wrong-host", line)
        origin = headers.get("origin")
        if origin is not None and origin.partition("//")[2] != host:
            line = "a page of another origin may not use this service"
            return error_response(403, "wrong-origin", line)
        if not self._has_access(scope["path"], headers):
            line = "a token is needed: Authorization: Bearer …"
            return error_response(401, "wrong-token", line, {"WWW-Authenticate": "Bearer"})
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length) > self.settings.max_bytes:
            return too_large_response(self.settings.max_bytes)
        # checked again when the request has arrived, which is when it takes a place
        if scope["method"] == "POST" and self.admission.full:
            return busy_response()
        return None

    def _has_access(self, path: str, headers: Headers) -> bool:
        token = self.settings.token
        if token is None or path in PUBLIC_PATHS or path.startswith("/static/"):
            return True
        scheme, _, client_token = headers.get("authorization", "").partition(" ")
        equal = hmac.compare_digest(client_token.strip().encode(), token.encode())
        return equal and scheme.lower() == "bearer"

    def _log(self, scope: Scope, request: _TrackedRequest) -> None:
        seconds = time.perf_counter() - request.start
        # the declared route, because the path that a client sent may hold anything
        route = getattr(scope.get("route"), "path", "other")
        self.metrics.add(
            route, request.status, seconds, received=request.received, sent=request.sent
        )
        LOG.info(
            "id=%s received=%d sent=%d ms=%.0f status=%d",
            request.id,
            request.received,
            request.sent,
            seconds * 1000,
            request.status,
        )


class _TrackedRequest:
    """Counts the bytes of one request and its answer, and adds the headers to the answer."""

    def __init__(self, max_bytes: int, admission: Admission, receive: Receive, send: Send) -> None:
        self.id = secrets.token_hex(6)
        self.start = time.perf_counter()
        self.received = self.sent = self._held = 0
        self.answered = False
        self.status = 499
        """Keeps this value if the client leaves before it gets an answer."""
        self._max_bytes = max_bytes
        self._admission = admission
        self._receive = receive
        self._send = send

    async def receive(self) -> Message:
        message = await self._receive()
        count = len(message.get("body", b""))
        self.received += count
        self._hold(count)
        if self.received > self._max_bytes:
            raise TooLargeError
        return message

    def _hold(self, count: int) -> None:
        try:
            self._admission.hold(count)
        except BusyError:
            self.release()  # at once, so that other requests are not turned away as well
            raise
        self._held += count

    def release(self) -> None:
        """Give back the memory of the request."""
        self._admission.release(self._held)
        self._held = 0

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.answered, self.status = True, message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in {**HEADERS, "x-request-id": self.id}.items():
                headers.setdefault(name, value)
        body = message.get("body", b"")
        self.sent += len(body)
        for start in range(0, len(body) - PIECE, PIECE):
            piece = body[start : start + PIECE]
            await self._send({"type": message["type"], "body": piece, "more_body": True})
        if len(body) > PIECE:
            message = {**message, "body": body[-(len(body) % PIECE or PIECE) :]}
        await self._send(message)


def _host_name(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""
