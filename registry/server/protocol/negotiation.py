"""Negotiation: media types of requests and responses, size limits, and the methods HEAD and OPTIONS."""

from __future__ import annotations

from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cdc_contracts.registry.server.store.error_answers import MEDIA_TYPES, V1, http_message, send_error

NEGOTIATED: Final = frozenset({
    "associations", "compatibility", "config", "contexts", "mode", "schemas", "subjects", "v1"
})  # fmt: skip
"""The first path segments of the protocol; other paths negotiate their own media types."""
_TAKEN: Final = (*MEDIA_TYPES, "application/octet-stream")
_WRITES: Final = ("POST", "PUT", "PATCH")


class Negotiation:
    """Answers 406 and 415 for unsupported media types and encodings, and 413 for bodies that are too long."""

    def __init__(self, app: ASGIApp, *, max_bytes: int) -> None:
        self._app = app
        self._max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if scope["path"].split("/")[1] in NEGOTIATED:
            media_type = choose_media_type(headers.get("accept"))
            if media_type is None:
                await send_error(send, 406)
                return
            if scope["method"] in _WRITES and not _is_taken(headers.get("content-type")):
                await send_error(send, 415)
                return
            encoding = headers.get("content-encoding", "").strip().lower()
            if scope["method"] in _WRITES and encoding not in {"", "identity"}:
                said = f"{http_message(415)}: the body is encoded as {encoding[:40]}; send it without Content-Encoding"
                await send_error(send, 415, said, [(b"accept-encoding", b"identity")])
                return
            send = _with_media_type(send, media_type)
            scope = {**scope, "headers": _as_json(scope["headers"])}
        if int(headers.get("content-length") or 0) > self._max_bytes:
            await send_error(send, 413)
            return
        if scope["method"] == "HEAD":
            scope, send = {**scope, "method": "GET"}, _without_body(send)
        await _Limited(self._app, self._max_bytes)(scope, receive, send)


def choose_media_type(accept: str | None) -> str | None:
    """Return the preferred type of the answer, the protocol's own among equals; None if none is acceptable."""
    ranges = [_read_range(part) for part in (accept or "*/*").split(",")]
    ranked = [(_weigh(media_type, ranges), -index, media_type) for index, media_type in enumerate(MEDIA_TYPES)]
    weight, _, media_type = max(ranked)
    return media_type if weight > 0 else None


def _read_range(text: str) -> tuple[str, float]:
    name, *parameters = (part.strip().lower() for part in text.split(";"))
    weight = next((part[2:] for part in parameters if part.startswith("q=")), "1")
    try:
        return name, float(weight)
    except ValueError:
        return name, 0.0


def _weigh(media_type: str, ranges: list[tuple[str, float]]) -> float:
    """Return the weight of a media type: an exact range decides, else `application/*`, else `*/*`."""
    exact = [weight for name, weight in ranges if name == media_type]
    kind = [weight for name, weight in ranges if name == "application/*"]
    every = [weight for name, weight in ranges if name == "*" or name.startswith("*/")]
    return max(exact or kind or every or [0.0])


def _is_taken(content_type: str | None) -> bool:
    return not content_type or content_type.partition(";")[0].strip().lower() in _TAKEN


def _as_json(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Return the headers with the content type set to JSON, which all accepted types are."""
    return [
        *((name, value) for name, value in headers if name != b"content-type"),
        (b"content-type", b"application/json"),
    ]


def _with_media_type(send: Send, media_type: str) -> Send:
    async def send_as(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            if headers.get("content-type", "").startswith(("application/json", V1)):
                headers["content-type"] = media_type
        await send(message)

    return send_as


def _without_body(send: Send) -> Send:
    async def send_head(message: Message) -> None:
        await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

    return send_head


class _Limited:
    """Stops reading a body that is too long, even without a Content-Length."""

    def __init__(self, app: ASGIApp, max_bytes: int) -> None:
        self._app = app
        self._left = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def counted() -> Message:
            message = await receive()
            self._left -= len(message.get("body", b""))
            if self._left < 0:
                raise HTTPException(413)
            return message

        await self._app(scope, counted, send)
