"""Cross-origin requests are refused: pages of other sites must not use the server through somebody's browser.

A browser says with each request that may change something from which site it comes, and no other client does. A server
that everybody on a machine may use is also asked for by that machine's own names only: else a site whose name is made
to lead here (DNS rebinding) would be a site of its own.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from cdc_contracts.registry.server.store.error_answers import send_error

_READS: Final = ("GET", "HEAD", "OPTIONS")
_OWN: Final = frozenset({"localhost", "127.0.0.1", "::1"})


class Origins:
    """Refuses what pages of other sites ask; `alone` where only this machine reaches the server, and all of it."""

    def __init__(self, app: ASGIApp, *, alone: bool) -> None:
        self._app = app
        self._alone = alone

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            origin, host = headers.get("origin"), headers.get("host", "")
            if self._alone and _name_of(f"//{host}") not in _OWN:
                await send_error(
                    send, 403, f"This server is not called {host}: --users or --insecure lets it have other names"
                )
                return
            if origin is not None and scope["method"] not in _READS and urlsplit(origin).netloc != host:
                await send_error(send, 403, "Pages of other sites may not change anything here")
                return
        await self._app(scope, receive, send)


def _name_of(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None
