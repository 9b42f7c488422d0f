"""HTTP authentication, basic or bearer, before a request reaches anything else."""

from __future__ import annotations

import base64
import binascii
import json
import logging
import time
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.server.access.passwords import Busy
from cdc_contracts.registry.server.access.rights import CALLER, Caller
from cdc_contracts.registry.server.access.users import Users

LOG: Final = logging.getLogger("cdc_contracts.server")
MEDIA_TYPE: Final = "application/vnd.schemaregistry.v1+json"
_LOOK_SECONDS: Final = 1.0


class Authentication:
    """Admits only users of the users file, and makes the caller known to the endpoints.

    The users file is reloaded when it changes. An invalid file is ignored.
    """

    def __init__(self, app: ASGIApp, users: Users, open_paths: frozenset[str]) -> None:
        self._app = app
        self._users = users
        self._open = open_paths
        self._next_look = 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not self._users.guard:
            await self._app(scope, receive, send)
            return
        self._reload_changed_file()
        given = Headers(scope=scope).get("authorization")
        try:
            caller = self._users.anonymous if given is None else await self._caller(given)
        except Busy:
            await _refuse(429, "Too many passwords are being checked, try again later", {"Retry-After": "1"})(
                scope, receive, send
            )
            return
        if caller is None and scope["path"] not in self._open:
            await _refuse_unknown()(scope, receive, send)
            return
        scope.setdefault("state", {})["user"] = caller.name if caller else None
        if caller is None:
            await self._app(scope, receive, send)
            return
        token = CALLER.set(caller)
        try:
            await self._app(scope, receive, send)
        finally:
            CALLER.reset(token)

    async def _caller(self, given: str) -> Caller | None:
        scheme, _, credentials = given.strip().partition(" ")
        credentials = credentials.strip()
        if scheme.lower() == "bearer":
            return self._users.caller_of_token(credentials)
        named = _name_and_password(credentials) if scheme.lower() == "basic" else None
        if named is None:
            return None
        name, password = named
        if self._users.recall_password(name, password) is not None:
            return self._users.caller_of_password(name, password)
        return await run_in_threadpool(self._users.caller_of_password, name, password)

    def _reload_changed_file(self) -> None:
        now = time.monotonic()
        if now < self._next_look:
            return
        self._next_look = now + _LOOK_SECONDS
        if not self._users.has_changed():
            return
        try:
            self._users.reload()
        except UsageError as error:
            self._users.skip_change()
            LOG.error("the users file has changed but is invalid, the old users stay: %s", error)  # noqa: TRY400  no traceback
        else:
            LOG.info("the users file has changed and was reloaded")


def _name_and_password(credentials: str) -> tuple[str, str] | None:
    try:
        name, colon, password = base64.b64decode(credentials, validate=True).decode().partition(":")
    except (binascii.Error, ValueError):
        return None
    return (name, password) if colon else None


def _refuse(status: int, message: str, headers: dict[str, str]) -> Response:
    body = json.dumps({"error_code": status, "message": message}, separators=(",", ":"))
    return Response(body, status, headers, MEDIA_TYPE)


def _refuse_unknown() -> Response:
    refusal = _refuse(401, "Unauthorized", {"WWW-Authenticate": 'Basic realm="cdc-contracts", charset="UTF-8"'})
    refusal.headers.append("WWW-Authenticate", 'Bearer realm="cdc-contracts"')
    return refusal
