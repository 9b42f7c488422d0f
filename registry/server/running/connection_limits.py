"""Connection limits: how long a client may take, and how many may be connected at once.

A connection waits for its client while a TLS handshake, a header, a body or the next request is missing, and while an
answer is not read. Each of these has a limit. Where there are too many connections, the one that has waited longest
ends: whoever sends what was begun is answered, however many others do not.
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
"""How many connections the system keeps until they are accepted, and how many are accepted in one go."""
_OTHER_DESCRIPTORS: Final = 5 * BACKLOG
"""What is open beside counted connections: the store, files, and connections accepted but not yet counted."""
_FEWEST: Final = 16


@dataclass(frozen=True)
class Limits:
    """How many connections there may be, and for how many seconds each may wait for its client."""

    connections: int = 1_000
    header_seconds: float = 10
    """From the connection, or the first byte of a further request, to the end of its header; TLS included."""
    body_seconds: float = 60
    answer_seconds: float = 60
    """For how long a client may read nothing of an answer that is too long to be sent at once."""
    idle_seconds: float = 60

    def within_descriptors(self) -> Limits:
        """Return limits that this process can keep, after asking the system for as many descriptors as they need."""
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
    """All connections of a server, those that wait for their client in the order in which they began to."""

    def __init__(self, limits: Limits, tls: ssl.SSLContext | None) -> None:
        self.limits = limits
        self.tls = tls
        self._open: set[Connection] = set()
        self._waiting: dict[Connection, None] = {}

    def __call__(self, **given: Any) -> Connection:
        """Return the protocol of a connection that was accepted."""
        return Connection(self, **given)

    def admit(self, connection: Connection) -> bool:
        """Count a connection in, in place of the one that waits longest if there are too many; say whether it may."""
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
        """End the connections whose clients have something to do."""
        for connection in list(self._waiting):
            connection.end()

    def end_handshakes(self) -> None:
        """End the connections that have not come as far as a request."""
        for connection in list(self._open):
            if not connection.is_secured:
                connection.end()


class Connection(H11Protocol):
    """One connection: HTTP as uvicorn speaks it, with TLS below and limits around."""

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
        if not self.is_secured:  # what comes right after the handshake comes before we know of its end
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
        """End the connection at once, whatever was not sent yet."""
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
        except (OSError, asyncio.CancelledError):  # no handshake, or no more of it: the client knows why
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
        """Wait for what the client has to do next, if anything: read what is sent, or ask for more."""
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
    """Receives the body of a request, for so many seconds in all; after it, as long as the answer takes."""

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
