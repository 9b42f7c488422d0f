"""Schema digests: SHA-256 of the canonical form of a schema, without layout and prose."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from cdc_contracts.registry.core.schema.avro_types.parsing_form import as_java_writes, avro_form
from cdc_contracts.registry.core.schema.schema_documents import AVRO, JSON

_PROSE: Final = frozenset({"title", "description", "$comment"})
_BY_NAME: Final = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_BELOW: Final = frozenset({
    "items", "prefixItems", "additionalItems", "additionalProperties", "propertyNames", "contains", "not", "if", "then",
    "else", "allOf", "anyOf", "oneOf", "unevaluatedItems", "unevaluatedProperties",
})  # fmt: skip
"""The keywords whose value is a schema or a list of schemas. Digests in `ids.lock` depend on both lists: they stay."""


def schema_digest(kind: str, text: str, references: Sequence[Any] = ()) -> str:
    """Return the digest of a schema and its references; text that is not JSON is hashed as it is."""
    try:
        parsed = _parse(text)
    except (ValueError, RecursionError):
        return _sha256(text if not references else text + "\n" + _canonical(list(references)))
    try:
        plain = _PLAIN.get(kind, lambda as_it_is: as_it_is)(parsed)
        return _sha256(_canonical([plain, list(references)] if references else plain))
    except RecursionError:
        return _sha256(text)


def is_json(text: str) -> bool:
    """Return whether a text is JSON."""
    try:
        _parse(text)
    except (ValueError, RecursionError):
        return False
    return True


def same_text(kind: str, one: str, other: str) -> bool:
    """Return whether two texts differ only in layout or in Avro spelling; texts that are not JSON must be identical."""
    if one == other or kind not in (JSON, AVRO):
        return one == other
    try:
        both = (_parse(one), _parse(other))
        return both[0] == both[1] or (kind == AVRO and avro_form(both[0]) == avro_form(both[1]))
    except (ValueError, RecursionError):
        return False


def _parse(text: str) -> Any:
    return json.loads(text, parse_float=_token, parse_int=_token, parse_constant=_token)


def _token(number: str) -> dict[str, str]:
    """Keep a number as written: a float would lose digits."""
    return {"\0number": number}


def _without_prose(schema: Any) -> Any:
    """Return a JSON Schema without titles, descriptions and comments."""
    if isinstance(schema, list):
        return [_without_prose(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {}
    for keyword, value in schema.items():
        if keyword in _BY_NAME and isinstance(value, dict):
            plain[keyword] = {name: _without_prose(below) for name, below in value.items()}
        elif keyword not in _PROSE:
            plain[keyword] = _without_prose(value) if keyword in _BELOW else value
    return plain


def _without_docs(schema: Any) -> Any:
    """Return an Avro schema without the documentation of its types and fields."""
    if isinstance(schema, list):
        return [_without_docs(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: value if key == "default" else _without_docs(value) for key, value in schema.items() if key != "doc"}


_PLAIN: Final[Mapping[str, Callable[[Any], Any]]] = {
    JSON: _without_prose,
    AVRO: lambda schema: _without_docs(as_java_writes(avro_form(schema))),
}


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
