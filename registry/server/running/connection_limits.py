"""Connection limits: how long a client may take, and how many may be connected at once.

A connection waits for its client while a TLS handshake, a header, a body or the next request is incomplete, and while
an answer is not read. Each wait has a time limit. If there are too many connections, the one that has waited longest
is closed: clients that complete their requests are served, however many others do not.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol

BACKLOG: Final = 128
"""How many connections the system queues before they are accepted, and how many are accepted at a time."""
_OTHER_DESCRIPTORS: Final = 5 * BACKLOG
"""Descriptors besides counted connections: the store, files, and connections accepted but not yet counted."""
_FEWEST: Final = 16


@dataclass(frozen=True)
class Limits:
    """How many connections there may be, and for how many seconds each may wait for its client."""

    connections: int = 1_000
    header_seconds: float = 10
    """From the connection, or the first byte of a further request, to the end of its header, including TLS."""
    body_seconds: float = 60
    answer_seconds: float = 60
    """How long a client may stop reading an answer that is too long to be sent at once."""
    idle_seconds: float = 60

    def within_descriptors(self) -> Limits:
        """Return limits that this process can meet, after raising its descriptor limit as far as needed."""
        try:
            import resource
        except ImportError:  # not on every system
            return self
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = self.connections + _OTHER_DESCRIPTORS
        if soft == resource.RLIM_INFINITY or soft >= wanted:
            return self
        granted = wanted if hard == resource.RLIM_INFINITY else min(hard, wanted)
        resource.setrlimit(resource.RLIMIT_NOFILE, (granted, hard))
        return replace(self, connections=max(_FEWEST, min(self.connections, granted - _OTHER_DESCRIPTORS)))


USUAL: Final = Limits()


class Connections:
    """All connections of a server; those waiting for their client are ordered by when they began to wait."""

    def __init__(self, limits: Limits, tls: ssl.SSLContext | None) -> None:
        self.limits = limits
        self.tls = tls
        self._open: set[Connection] = set()
        self._waiting: dict[Connection, None] = {}

    def __call__(self, **given: Any) -> Connection:
        """Return the protocol object of an accepted connection."""
        return Connection(self, **given)

    def admit(self, connection: Connection) -> bool:
        """Admit a connection, closing the longest-waiting one if there are too many; return whether it was admitted."""
        if len(self._open) >= self.limits.connections:
            longest = next(iter(self._waiting), None)
            if longest is None:
                return False
            longest.end()
        self._open.add(connection)
        return True

    def wait(self, connection: Connection) -> None:
        self._waiting.pop(connection, None)
        self._waiting[connection] = None

    def go_on(self, connection: Connection) -> None:
        self._waiting.pop(connection, None)

    def leave(self, connection: Connection) -> None:
        self._open.discard(connection)
        self._waiting.pop(connection, None)

    def end_waiting(self) -> None:
        """Close the connections that wait for their clients."""
        for connection in list(self._waiting):
            connection.end()

    def end_handshakes(self) -> None:
        """Close the connections that have not sent a request yet."""
        for connection in list(self._open):
            if not connection.is_secured:
                connection.end()


class Connection(H11Protocol):
    """One connection: uvicorn's HTTP protocol over TLS, with limits."""

    def __init__(self, all_of_them: Connections, config: Config, **given: Any) -> None:
        super().__init__(config=config, **given)
        self._all, self._limits = all_of_them, all_of_them.limits
        self._inner_app: ASGIApp = self.app
        self.app = self._answer
        self._accepted: asyncio.Transport
        self._timer: asyncio.TimerHandle | None = None
        self._handshake: asyncio.Task[None] | None = None
        self._early = b""
        self._idle = self._ended = False
        self.is_secured = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._accepted = transport
        if not self._all.admit(self):
            self.end()
            return
        self._wait(self._limits.header_seconds)
        if self._all.tls is None:
            self._begin(transport)
        else:
            transport.pause_reading()  # until the handshake reads
            self._handshake = self.loop.create_task(self._secure(self._all.tls))

    def data_received(self, data: bytes) -> None:
        if not self.is_secured:  # data right after the handshake arrives before we learn that it ended
            self._early += data
            return
        if self._idle:
            self._idle = False
            self._wait(self._limits.header_seconds)
        super().data_received(data)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._go_on()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._go_on()

    def connection_lost(self, exc: Exception | None) -> None:
        self._leave()
        if self.is_secured:
            super().connection_lost(exc)

    def end(self) -> None:
        """Close the connection at once, dropping unsent data."""
        self._leave()
        self._accepted.abort()

    def _begin(self, transport: asyncio.Transport) -> None:
        self.is_secured = True
        super().connection_made(transport)
        if self._early:
            self.data_received(self._early)
            self._early = b""

    async def _secure(self, tls: ssl.SSLContext) -> None:
        seconds = self._limits.header_seconds
        try:
            secured = await self.loop.start_tls(
                self._accepted, self, tls, server_side=True, ssl_handshake_timeout=seconds
            )  # fmt: skip
        except (OSError, asyncio.CancelledError):  # the handshake failed or was aborted: the client knows why
            self.end()
            return
        if secured is None or self._ended:
            self.end()
            return
        self._begin(secured)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._idle = False
        self._go_on()
        try:
            await self._inner_app(scope, _Body(receive, self._limits.body_seconds, self._wait, self._go_on), send)
        finally:
            self._idle = True
            self._go_on()

    def _go_on(self) -> None:
        """Wait for the client's next step, if any: to read what is sent, or to send more."""
        if self.flow.write_paused:
            self._wait(self._limits.answer_seconds)
        elif self._idle:
            self._wait(self._limits.idle_seconds)
        else:
            self._stop_waiting()

    def _wait(self, seconds: float) -> None:
        self._stop_waiting()
        if not self._ended:
            self._all.wait(self)
            self._timer = self.loop.call_later(seconds, self.end)

    def _stop_waiting(self) -> None:
        self._all.go_on(self)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _leave(self) -> None:
        self._ended = True
        self._stop_waiting()
        self._all.leave(self)


class _Body:
    """Receives the body of a request within a total time limit; after it, there is no limit."""

    def __init__(
        self, receive: Receive, seconds: float, wait: Callable[[float], None], go_on: Callable[[], None]
    ) -> None:
        self._receive = receive
        self._until = asyncio.get_running_loop().time() + seconds
        self._wait, self._go_on = wait, go_on
        self._is_whole = False

    async def __call__(self) -> Message:
        if self._is_whole:
            return await self._receive()
        left = self._until - asyncio.get_running_loop().time()
        self._wait(left + 1)
        try:
            message = await asyncio.wait_for(self._receive(), left)
        except TimeoutError as error:
            raise HTTPException(408, headers={"Connection": "close"}) from error
        finally:
            self._go_on()
        self._is_whole = not message.get("more_body", False)
        return message
