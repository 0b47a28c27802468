"""Connections: how many may be open, and how long each may keep the service waiting.

A connection that sends no request, sends one too slowly or does not read its answer is closed.
Where the limit of open connections is reached, the one that kept the service waiting for longest is
closed for each new one, so that a crowd of silent connections locks nobody out.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import weakref
from collections.abc import Collection, Iterable
from contextlib import suppress
from typing import Protocol

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from sottovoce.core.errors import UsageError
from sottovoce.serve.settings import Settings

LOG = logging.getLogger("sottovoce.serve")

HEAD_SECONDS = 10.0
"""Time for the head of a request, from its first byte or from the connection on."""
STALL_SECONDS = 20.0
"""Time in which a client must read about 50 kB of an answer that it was sent."""
CLOSE_SECONDS = 5.0
"""Time in which a closed connection must have read what was sent to it."""
BACKLOG = 128
"""Connections that the system completes before they are accepted."""
ROOM = 16
"""Connections that are closed together when there are too many."""
FILES_PER_WORKER = 6
OTHER_FILES = 64
"""Files that the process has open besides connections and pipes to workers."""
LONGEST_SILENCE = 1.0
"""Seconds between two lines of the log about faults of connections."""

_LATE_BODY = b'{"error":"the request took too long to arrive","code":"slow-upload"}'
_LATE = (
    b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-type: application/json\r\n"
    b"content-length: %d\r\n\r\n%s" % (len(_LATE_BODY), _LATE_BODY)
)


class LimitedConnection(H11Protocol):
    """One connection; see the module."""

    cycle: RequestResponseCycle | None  # type: ignore[assignment]  # None before a request
    _head_timer: asyncio.TimerHandle | None = None
    _stall_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start to wait for a request.

        Parameters
        ----------
        transport : asyncio.Transport
            The connection.
        """
        super().connection_made(transport)  # type: ignore[arg-type]
        self._watch_head()

    def data_received(self, data: bytes) -> None:
        """Take bytes of a request.

        Parameters
        ----------
        data : bytes
            What arrived.
        """
        super().data_received(data)
        self._watch_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop all timers.

        Parameters
        ----------
        exc : Exception or None
            Why the connection ended; None if it was closed.
        """
        super().connection_lost(exc)
        for timer in (self._head_timer, self._stall_timer):
            if timer is not None:
                timer.cancel()

    def pause_writing(self) -> None:
        """Start to wait for the client to read its answer."""
        super().pause_writing()
        self._stall_timer = self.loop.call_later(STALL_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop waiting: the client has read."""
        super().resume_writing()
        if self._stall_timer is not None:
            self._stall_timer.cancel()

    def timeout_keep_alive_handler(self) -> None:
        """Close a connection over which no further request came."""
        super().timeout_keep_alive_handler()
        self.loop.call_later(CLOSE_SECONDS, self.transport.abort)

    @property
    def patience(self) -> int | None:
        """Which connections are closed first if there are too many; None: not this one.

        0 for one that has not sent a request yet, 1 for one whose request is answered, 2 for one
        that is sending its request, 3 for one that does not read its answer.
        """
        if self.cycle is None:
            return 0
        if self.cycle.response_complete:
            return 1
        if self.cycle.more_body and not self.cycle.response_started:
            return 2
        return 3 if self.flow.write_paused else None

    def _watch_head(self) -> None:
        """Wait for a head while none is complete; what arrives meanwhile gives no more time."""
        if self.patience not in (0, 1):
            if self._head_timer is not None:
                self._head_timer.cancel()
            self._head_timer = None
        elif self._head_timer is None:
            self._head_timer = self.loop.call_later(HEAD_SECONDS, self._end_waiting)

    def _end_waiting(self) -> None:
        if self.conn.our_state is h11.IDLE and self.conn.trailing_data[0]:
            self.transport.write(_LATE)
        self.transport.close()
        self.loop.call_later(CLOSE_SECONDS, self.transport.abort)


class _Waiting(Protocol):
    """What a listener needs to know about a connection; see :class:`LimitedConnection`."""

    transport: asyncio.Transport

    @property
    def patience(self) -> int | None: ...


class Listener(socket.socket):
    """A listening socket with a limit of open connections.

    Parameters
    ----------
    most : int
        Number of connections from which on others are closed for new ones.
    listening : socket.socket
        The socket, which this object takes over.
    """

    def __init__(self, most: int, listening: socket.socket) -> None:
        super().__init__(listening.family, listening.type, fileno=listening.detach())
        self.most = most
        self.served: Collection[_Waiting] = ()
        """Connections over which requests can come; those in a TLS handshake are not among them."""
        self._open: dict[int, weakref.ref[socket.socket]] = {}

    def accept(self) -> tuple[socket.socket, object]:
        """Accept a connection, and close others if there are too many.

        Returns
        -------
        tuple
            The connection and the address of the client.
        """
        connection, address = super().accept()
        self._open[connection.fileno()] = weakref.ref(connection)
        if len(self._open) > self.most:
            self._forget_closed()
        if len(self._open) > self.most:
            for number in self._to_close(ROOM):
                _shut_down(self._open.pop(number)())
        return connection, address

    def _forget_closed(self) -> None:
        for number, reference in list(self._open.items()):
            connection = reference()
            if connection is None or connection.fileno() != number:
                del self._open[number]

    def _to_close(self, count: int) -> Iterable[int]:
        """File numbers of the connections to close: the least patience first, then the oldest."""
        patience = {
            connection.transport.get_extra_info("socket").fileno(): connection.patience
            for connection in self.served
        }
        candidates = [(patience.get(number, 0), number) for number in list(self._open)[:-1]]
        eligible = [(rank, number) for rank, number in candidates if rank is not None]
        return [number for _, number in sorted(eligible, key=lambda pair: pair[0])[:count]]


def _shut_down(connection: socket.socket | None) -> None:
    """End a connection in both directions; the event loop notices and closes it."""
    if connection is not None:
        with suppress(OSError):  # the client has left already
            connection.shutdown(socket.SHUT_RDWR)


class LimitedServer(uvicorn.Server):
    """A server whose listener knows its connections, with one line for a fault of the event loop.

    Parameters
    ----------
    config : uvicorn.Config
        Settings of the server.
    """

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to accept connections.

        Parameters
        ----------
        sockets : list of socket.socket, optional
            Where to listen.
        """
        for listener in sockets or ():
            if isinstance(listener, Listener):
                listener.served = self.server_state.connections  # type: ignore[assignment]
        asyncio.get_running_loop().set_exception_handler(_FaultLog())
        await super().startup(sockets)


class _FaultLog:
    """Logs the kind of a fault in the event loop, without its content, at most once a second."""

    def __init__(self) -> None:
        self._next = 0.0

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
        if loop.time() >= self._next:
            self._next = loop.time() + LONGEST_SILENCE
            LOG.error("fault=%s", type(context.get("exception")).__name__)


def reserve_files(settings: Settings) -> None:
    """Make sure that the system lets this process open all its connections.

    Parameters
    ----------
    settings : Settings
        Number of connections and of workers.

    Raises
    ------
    UsageError
        If the system allows fewer open files (``out-of-range``).
    """
    try:
        import resource
    except ModuleNotFoundError:
        return
    needed = settings.connections + BACKLOG + FILES_PER_WORKER * settings.workers + OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    if soft == unlimited or soft >= needed:
        return
    if hard not in (unlimited, -1) and hard < needed:
        raise UsageError(
            f"{settings.connections} connections need {needed} open files, and the system allows "
            f"{hard}; lower --connections, or raise the limit with ulimit -n",
            code="out-of-range",
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
