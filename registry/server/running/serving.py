"""Serving: the application with its middleware, and its store; cross-origin requests are refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, Final
from urllib.parse import urlsplit

from fastapi import FastAPI, Request
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from cdc_contracts.registry.core.common.errors import CdcContractsError
from cdc_contracts.registry.core.contract.catalogue import Catalogue
from cdc_contracts.registry.server.access.authentication import Authentication
from cdc_contracts.registry.server.access.users import Users
from cdc_contracts.registry.server.protocol.endpoints import contract_endpoints, operation_endpoints
from cdc_contracts.registry.server.protocol.openapi import describe
from cdc_contracts.registry.server.running.request_log import RequestLog
from cdc_contracts.registry.server.running.server_app import make_app
from cdc_contracts.registry.server.service.builtin_subjects import EXTENDED, BuiltinSubjects
from cdc_contracts.registry.server.service.request_service import Options
from cdc_contracts.registry.server.service.served_store import ServedStore
from cdc_contracts.registry.server.service.server_metrics import Monitoring, ServerMetrics
from cdc_contracts.registry.server.store.error_answers import error_body, send_error
from cdc_contracts.registry.server.ui import page_routes

_READS: Final = ("GET", "HEAD", "OPTIONS")
_SAME_SITE: Final = frozenset({"same-origin", "none"})
"""What a browser says of requests of this server's own pages, and of those that a user makes without a page."""
_OWN: Final = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True)
class Site:
    """What a server serves, and to whom."""

    store: str
    catalogue: Catalogue
    builtin: BuiltinSubjects
    users: Users = field(default_factory=lambda: Users(None))
    options: Options = field(default_factory=Options)
    open_metrics: bool = False
    local_only: bool = False
    """Whether the server is reachable from this machine only, without users."""

    def open(self) -> tuple[ASGIApp, ServedStore]:
        """Return the application with its middleware, and its store. Raises UsageError and UnavailableError."""
        metrics = ServerMetrics()
        store = ServedStore(self.store, self.builtin, metrics)
        metrics.count_contents(store.counts)
        app = _extended_app(self, store, metrics)
        open_paths = frozenset(
            {operation_endpoints.HEALTH, *([operation_endpoints.METRICS] if self.open_metrics else [])}
        )
        guarded = Origins(Authentication(app, self.users, open_paths), local_only=self.local_only)
        return RequestLog(Monitoring(guarded, metrics)), store


def _extended_app(site: Site, store: ServedStore, metrics: ServerMetrics) -> FastAPI:
    app = make_app(store, site.options)
    app.state.metrics = metrics
    app.state.catalogue, app.state.builtin = site.catalogue, site.builtin
    for router in (operation_endpoints.ROUTER, contract_endpoints.ROUTER, page_routes.ROUTER):
        app.include_router(router)
    app.add_exception_handler(CdcContractsError, _answer_error)
    app.user_middleware.append(Middleware(_Innermost))
    app.openapi = cache(partial(describe, app))  # type: ignore[method-assign]
    return app


async def _answer_error(request: Request, error: Any) -> Response:
    """A contract that is invalid or cannot be compared is its owner's to fix, not the server's."""
    return Response(error_body(422, getattr(error, "what", "cannot be compared")), 422, media_type="application/json")


class _Innermost:
    """Passes to the store which keys the client accepts, and to the metrics which route has answered."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        asked = Headers(scope=scope).get("confluent-accept-unknown-properties", "")
        token = EXTENDED.set(asked.strip().lower() == "true")
        try:
            await self._app(scope, receive, send)
        finally:
            EXTENDED.reset(token)
            scope.setdefault("state", {})["route"] = getattr(scope.get("route"), "path", None)


class Origins:
    """Refuses requests from pages of other sites; `local_only` if only this machine reaches a server without users.

    With each request that may change something a browser sends the origin, or says in Sec-Fetch-Site that it comes
    from another site; no other client does. A server open to everybody on a machine also accepts only that machine's
    own host names: otherwise a site whose name is made to resolve to it (DNS rebinding) would count as the same origin.
    """

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
            is_foreign = origin is not None and _host_of(origin) != host
            site = headers.get("sec-fetch-site", "none").strip().lower()
            if scope["method"] not in _READS and (is_foreign or site not in _SAME_SITE):
                await send_error(send, 403, "Cross-origin requests must not change anything")
                return
        await self._app(scope, receive, send)


def _host_of(address: str) -> str | None:
    try:
        return urlsplit(address).netloc
    except ValueError:
        return None


def _name_of(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None
