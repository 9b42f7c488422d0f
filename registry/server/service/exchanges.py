"""Exchanges: what is recorded of each request when it is answered."""

from __future__ import annotations

import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Exchanges:
    """Passes requests on, and notes each with the status of its answer and how long it took; 500 where none came."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, begun = 500, time.perf_counter()

        async def note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, note)
        finally:
            self.note(scope, status, time.perf_counter() - begun)

    def note(self, scope: Scope, status: int, spent: float) -> None:
        """Note a request that was answered with a status after so many seconds."""
        raise NotImplementedError
