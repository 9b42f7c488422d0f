"""Cross-origin requests are refused: pages of other sites must not use the server through a user's browser.

A browser sends the origin with each request that may change something, and no other client does. A server open to
everybody on a machine also accepts only that machine's own host names: otherwise a site whose name is made to resolve
to it (DNS rebinding) would count as the same origin.
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
    """Refuses requests from pages of other sites; `local_only` if only this machine reaches a server without users."""

    def __init__(self, app: ASGIApp, *, local_only: bool) -> None:
        self._app = app
        self._local_only = local_only

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            origin, host = headers.get("origin"), headers.get("host", "")
            if self._local_only and _name_of(f"//{host}") not in _OWN:
                await send_error(
                    send,
                    403,
                    f"This server does not answer to the name {host}: --users or --insecure allows other names",
                )
                return
            if origin is not None and scope["method"] not in _READS and urlsplit(origin).netloc != host:
                await send_error(send, 403, "Cross-origin requests must not change anything")
                return
        await self._app(scope, receive, send)


def _name_of(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None
