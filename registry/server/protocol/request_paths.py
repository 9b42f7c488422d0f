"""Request paths for the router: each segment decoded once and normalised, contexts moved into subjects."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import parse_qsl, quote, unquote, urlencode

from starlette.types import ASGIApp, Receive, Scope, Send

from cdc_contracts.registry.server.protocol.negotiation import NEGOTIATED
from cdc_contracts.registry.server.store.error_answers import send_error
from cdc_contracts.registry.server.store.subjects import EVERY_CONTEXT, parse_context

_HOLD_SUBJECTS: Final = ("subjects", "config", "mode")
_TAKE_PREFIXES: Final = ("schemas", "subjects")


class Paths:
    """Rewrites the path of each request.

    A subject may contain a slash, sent as %2F; so segments are split before they are decoded. `/contexts/c/subjects/s`
    becomes `/subjects/:.c:s`. A trailing slash is ignored.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            raw = scope.get("raw_path") or quote(scope["path"]).encode()
            try:
                parts = [unquote(part, errors="strict") for part in raw.decode("ascii").split("/")[1:]]
                if parts[0] in NEGOTIATED and b"%00" in raw + scope["query_string"]:
                    raise ValueError("a name must not contain a NUL character")  # noqa: TRY301  one answer to all that is no path
                scope = {**scope, **_rewrite(parts, scope["query_string"])}
            except ValueError as error:
                message = f"HTTP 400 Bad Request: {error}"
                await send_error(send, 400, message)
                return
        await self._app(scope, receive, send)


def _rewrite(parts: list[str], query: bytes) -> dict[str, Any]:
    while len(parts) > 1 and not parts[-1]:
        parts = parts[:-1]
    if len(parts) > 2 and parts[0] == "contexts":  # noqa: PLR2004  /contexts/NAME/REST
        parts, query = _enter_context(parse_context(parts[1]), parts[2:], query)
    path = "/" + "/".join(quote(part, safe="") for part in parts)
    return {"path": path, "raw_path": path.encode(), "query_string": query}


def _enter_context(context: str, parts: list[str], query: bytes) -> tuple[list[str], bytes]:
    prefix = f":{context}:"
    if parts[0] in ("config", "mode") and len(parts) == 1:
        return [*parts, prefix], query
    named = next((index for index in (1, 2) if index < len(parts) and parts[index - 1] in _HOLD_SUBJECTS), None)
    if named is not None:
        return [*parts[:named], _enter(prefix, parts[named]), *parts[named + 1 :]], query
    if parts[:2] == ["schemas", "ids"]:
        return parts, _enter_parameter("subject", prefix, query)
    if len(parts) == 1 and parts[0] in _TAKE_PREFIXES:
        return parts, _enter_parameter("subjectPrefix", prefix, query)
    return parts, query


def _enter(prefix: str, subject: str) -> str:
    return subject if subject.startswith((":.", EVERY_CONTEXT)) else prefix + subject


def _enter_parameter(name: str, prefix: str, query: bytes) -> bytes:
    pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    given = next((value for key, value in pairs if key == name), "")
    kept = [(key, value) for key, value in pairs if key != name]
    return urlencode([*kept, (name, _enter(prefix, given))]).encode()
