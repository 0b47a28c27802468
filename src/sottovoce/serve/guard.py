"""The door: who may come in, how many, how large; what is written down about it.

Written down are a number made up for the request, sizes, duration and status: no address, path,
name or content.
"""

from __future__ import annotations

import hmac
import logging
import secrets
import time
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sottovoce.report.measure_pages import style_source
from sottovoce.serve.metrics import Metrics
from sottovoce.serve.settings import Settings, is_loopback

LOG = logging.getLogger("sottovoce.serve")

POLICY = (
    "default-src 'none'; script-src 'self'; connect-src 'self'; img-src 'self'; "
    f"style-src 'self' {style_source()}; "
    "media-src 'self' blob: data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Of the page; a report that it opens as a blob, where a token is needed, is under it too."""
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
OPEN = ("/", "/healthz", "/openapi.json")
"""What needs no token, with the files of the page."""
RETRY = 2
"""Seconds after which a client that was turned away may come again."""


LONGEST = 400
"""Letters of an error; of a longer one, its beginning and its end are told."""


class TooLargeError(Exception):
    """More bytes came than are taken."""


class Guard:
    """Wraps the application; see the module."""

    def __init__(self, app: ASGIApp, settings: Settings, metrics: Metrics) -> None:
        self.app = app
        self.settings = settings
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let one request in, or answer it at the door."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        visit = Visit(self.settings.max_bytes, receive, send)
        refusal = self._refusal(scope)
        counted = scope["method"] == "POST" and refusal is None
        self.metrics.inside += counted
        try:
            await (refusal or self.app)(scope, visit.receive, visit.send)
        except Exception as error:  # whatever it says may hold the client's data
            LOG.error("id=%s fault=%s", visit.id, type(error).__name__)
            if not visit.answered:
                await fault(type(error).__name__)(scope, visit.receive, visit.send)
        finally:
            self.metrics.inside -= counted
            self._note(scope, visit)

    def _refusal(self, scope: Scope) -> JSONResponse | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if self.settings.loopback and not is_loopback(_name(f"//{host}")):
            return refused(403, "this service answers to localhost only; call it by that name")
        origin = headers.get("origin")
        if origin is not None and origin.partition("//")[2] != host:
            return refused(403, "a page of another origin may not use this service")
        if not self._known(scope["path"], headers):
            return refused(
                401, "a token is needed: Authorization: Bearer …", {"WWW-Authenticate": "Bearer"}
            )
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length) > self.settings.max_bytes:
            return refused(413, too_large(self.settings.max_bytes))
        room = self.settings.workers + self.settings.queue
        if scope["method"] == "POST" and self.metrics.inside >= room:
            return refused(429, "all workers are busy; try again", {"Retry-After": str(RETRY)})
        return None

    def _known(self, path: str, headers: Headers) -> bool:
        token = self.settings.token
        if token is None or path in OPEN or path.startswith("/static/"):
            return True
        kind, _, given = headers.get("authorization", "").partition(" ")
        same = hmac.compare_digest(given.strip().encode(), token.encode())
        return same and kind.lower() == "bearer"

    def _note(self, scope: Scope, visit: Visit) -> None:
        seconds = time.perf_counter() - visit.begun
        # the route as it was declared: what a client wrote may hold anything
        service = getattr(scope.get("route"), "path", "other")
        sizes = {"received": visit.received, "sent": visit.sent}
        self.metrics.add(service, visit.status, seconds, **sizes)
        LOG.info(
            "id=%s received=%d sent=%d ms=%.0f status=%d",
            visit.id,
            visit.received,
            visit.sent,
            seconds * 1000,
            visit.status,
        )


class Visit:
    """One request on its way through: counted, and its answer given its headers."""

    def __init__(self, most: int, receive: Receive, send: Send) -> None:
        self.id = secrets.token_hex(6)
        self.begun = time.perf_counter()
        self.received = self.sent = 0
        self.answered = False
        self.status = 499
        """Stays so if the client leaves before an answer."""
        self._most = most
        self._receive = receive
        self._send = send

    async def receive(self) -> Message:
        """The next piece, as long as there are not too many."""
        message = await self._receive()
        self.received += len(message.get("body", b""))
        if self.received > self._most:
            raise TooLargeError
        return message

    async def send(self, message: Message) -> None:
        """Pass an answer on."""
        if message["type"] == "http.response.start":
            self.answered, self.status = True, message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in {**HEADERS, "x-request-id": self.id}.items():
                headers.setdefault(name, value)
        self.sent += len(message.get("body", b""))
        await self._send(message)


def _name(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def too_large(most: int) -> str:
    """The line for a request of more than ``most`` bytes."""
    return f"more than {most:,} bytes; send less at a time"


def refused(status: int, line: str, headers: dict[str, Any] | None = None) -> JSONResponse:
    """An error as all of them look: one line, however much of the input it quotes."""
    line = "".join(one if one.isprintable() else "?" for one in " ".join(line.split()))
    if len(line) > LONGEST:
        line = f"{line[: LONGEST // 2]} … {line[-LONGEST // 2 :]}"
    return JSONResponse({"error": line}, status, headers)


def fault(kind: str) -> JSONResponse:
    """The answer to a fault of the program: its kind alone."""
    return refused(500, f"a fault in sottovoce itself ({kind}); please report it")
