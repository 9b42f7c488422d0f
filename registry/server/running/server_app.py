"""The ASGI application of the server."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import SQLAlchemyError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match, Route

from cdc_contracts.registry.server.protocol.endpoints import (
    association_endpoints,
    compatibility_endpoints,
    config_endpoints,
    context_endpoints,
    mode_endpoints,
    schema_endpoints,
    server_endpoints,
    subject_endpoints,
)
from cdc_contracts.registry.server.protocol.negotiation import Negotiation
from cdc_contracts.registry.server.protocol.request_paths import Paths
from cdc_contracts.registry.server.service.request_service import Options, Registry
from cdc_contracts.registry.server.store.error_answers import error_body, http_message
from cdc_contracts.registry.server.store.error_codes import ProtocolError
from cdc_contracts.registry.server.store.registry_store import Store

LOG = logging.getLogger("uvicorn.error")
ROUTERS = (
    server_endpoints.ROUTER,
    subject_endpoints.ROUTER,
    schema_endpoints.ROUTER,
    compatibility_endpoints.ROUTER,
    config_endpoints.ROUTER,
    mode_endpoints.ROUTER,
    context_endpoints.ROUTER,
    association_endpoints.ROUTER,
)


def make_app(store: Store, options: Options | None = None) -> FastAPI:
    """Return the application that serves a store."""
    options = options or Options()
    app = FastAPI(title="cdc-contracts registry", redirect_slashes=False, docs_url=None, redoc_url=None)
    app.state.registry = Registry(store, options)
    app.state.routers = ROUTERS
    for router in ROUTERS:
        app.include_router(router)
    for error, answer in (
        (ProtocolError, _answer_refusal),
        (RequestValidationError, _answer_bad_request),
        (HTTPException, _answer_http_error),
        (SQLAlchemyError, _answer_store_error),
        (Exception, _answer_bug),
    ):
        app.add_exception_handler(error, answer)
    app.add_middleware(Negotiation, max_bytes=options.max_body_bytes)
    app.add_middleware(Paths)
    return app


def _answer(status: int, code: int, message: str, headers: Any = None) -> Response:
    return Response(error_body(code, message), status_code=status, headers=headers, media_type="application/json")


async def _answer_refusal(request: Request, error: Any) -> Response:
    return _answer(error.status, error.code, error.message)


async def _answer_bad_request(request: Request, error: Any) -> Response:
    """Answer 404 for a path that names nothing, 400 for a body that is not JSON, 422 for one of the wrong form."""
    first = error.errors()[0]
    kind, *place = first["loc"]
    where = ".".join(str(part) for part in place)
    if kind == "path":
        return _answer(404, 404, http_message(404))
    if first["type"] == "json_invalid" or kind != "body":
        what = "the body is not JSON" if kind == "body" else f"{where}: {first['msg']}"
        return _answer(400, 400, f"{http_message(400)}: {what}")
    return _answer(422, 422, f"{http_message(422)}: {where or 'body'}: {first['msg']}")


async def _answer_http_error(request: Request, error: Any) -> Response:
    headers = error.headers
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        headers = {"Allow": ", ".join(_methods_of(request))}
        if request.method == "OPTIONS":
            return Response(status_code=204, headers=headers)
    return _answer(error.status_code, error.status_code, http_message(error.status_code), headers)


def _methods_of(request: Request) -> list[str]:
    """Return the methods allowed for the path of a request."""
    methods: set[str] = set()
    for router in request.app.state.routers:
        for route in router.routes:
            if isinstance(route, Route) and route.matches(request.scope)[0] is not Match.NONE:
                methods |= route.methods or set()
    return sorted(methods | {"HEAD", "OPTIONS"} if "GET" in methods else methods | {"OPTIONS"})


async def _answer_store_error(request: Request, error: Any) -> Response:
    LOG.error("the store failed: %s", error)
    return _answer(500, 50001, "Error in the backend data store")


async def _answer_bug(request: Request, error: Any) -> Response:
    return _answer(500, 500, http_message(500))
