"""OpenAPI description of the server: FastAPI's description of the endpoints, plus errors and media types.

Errors have one form; which of them an operation can return follows from its parameters. The protocol's own operations
accept three media types.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI

from cdc_contracts import __version__
from cdc_contracts.registry.server.protocol.entities import ErrorMessage
from cdc_contracts.registry.server.protocol.negotiation import NEGOTIATED
from cdc_contracts.registry.server.store.error_answers import MEDIA_TYPES, V1

_EVERYWHERE: Final = (400, 401, 429, 500)
_WITH_BODY: Final = (413, 415, 422)
_JSON: Final = "application/json"
_BRINGS: Final = ("post", "put")
_ERROR: Final = "#/components/schemas/ErrorMessage"
_ABOUT: Final = (
    "Schemas and contracts over the protocol of schema registry clients. Subjects are percent-encoded in paths; "
    "Every path of the protocol may be prefixed with `/contexts/{context}`."
)


def describe(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document of an application, without the responses that FastAPI adds by default."""
    document: dict[str, Any] = json.loads(json.dumps(FastAPI.openapi(app)))
    document["info"] = {"title": "cdc-contracts registry", "version": __version__, "description": _ABOUT}
    schemas = document["components"]["schemas"]
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    schemas["ErrorMessage"] = ErrorMessage.model_json_schema()
    document["components"]["securitySchemes"] = {
        "basic": {"type": "http", "scheme": "basic"},
        "bearer": {"type": "http", "scheme": "bearer"},
    }
    for path, method, operation in _operations(document):
        operation["security"] = [{}, {"basic": []}, {"bearer": []}]
        negotiated = path.split("/")[1] in NEGOTIATED
        if negotiated:
            _spread_media_types(operation)
        answers = operation["responses"]
        if answers.get("422", {}).get("content", {}).get(_JSON, {}).get("schema", {}).get("$ref", "").endswith("Error"):
            del answers["422"]
        for status in _errors_of(path, method, operation, negotiated=negotiated):
            answers.setdefault(str(status), _error(status, negotiated=negotiated))
    return document


def _operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def _errors_of(path: str, method: str, operation: dict[str, Any], *, negotiated: bool) -> Iterator[int]:
    yield from _EVERYWHERE
    if negotiated:
        yield 406
    if "{" in path or "/cdc/" in path:
        yield 404
    if "{" in path or operation.get("parameters"):
        yield 422
    if method in _BRINGS:
        yield from _WITH_BODY
    if method in ("put", "delete") or path == "/subjects/{subject}/versions":
        yield from (403, 422)
    if method == "post" and path == "/subjects/{subject}/versions":
        yield 409


def _spread_media_types(operation: dict[str, Any]) -> None:
    for holder in (operation.get("requestBody"), *operation["responses"].values()):
        content = (holder or {}).get("content", {})
        if _JSON in content:
            holder["content"] = dict.fromkeys(MEDIA_TYPES, content[_JSON])


def _error(status: int, *, negotiated: bool) -> dict[str, Any]:
    types = MEDIA_TYPES if negotiated else (V1, _JSON)
    return {
        "description": HTTPStatus(status).phrase,
        "content": {media_type: {"schema": {"$ref": _ERROR}} for media_type in types},
    }
