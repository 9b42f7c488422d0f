"""Exchanges: records each request with its response."""

from __future__ import annotations

import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Exchanges:
    """Passes requests on, and records status and duration of each; 500 if there was no response."""

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
        """Record a request with its status and duration in seconds."""
        raise NotImplementedError
