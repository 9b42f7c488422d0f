"""Error responses from outside of endpoints, in the common form."""

from __future__ import annotations

import json
from collections.abc import Iterable
from http import HTTPStatus
from typing import Final

from starlette.types import Send

V1: Final = "application/vnd.schemaregistry.v1+json"
MEDIA_TYPES: Final = (V1, "application/vnd.schemaregistry+json", "application/json")


def error_body(code: int, message: str) -> bytes:
    """Return the body of an error response."""
    said = {"error_code": code, "message": message}
    return json.dumps(said, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def http_message(status: int) -> str:
    """Return the message of an error without a code of its own in the protocol."""
    return f"HTTP {status} {HTTPStatus(status).phrase}"


async def send_error(
    send: Send, status: int, message: str | None = None, headers: Iterable[tuple[bytes, bytes]] = ()
) -> None:
    """Send an error response from outside of the application."""
    body = error_body(status, message or http_message(status))
    length = str(len(body)).encode()
    result = [(b"content-type", V1.encode()), (b"content-length", length), *headers]
    await send({"type": "http.response.start", "status": status, "headers": result})
    await send({"type": "http.response.body", "body": body})
