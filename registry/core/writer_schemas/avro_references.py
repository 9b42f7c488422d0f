"""Avro references: the schemas that a schema names and does not hold, put in their place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from cdc_contracts.registry.core.writer_schemas.connect_blocks import MOST_FIELDS

_MOST_SYMBOLS: Final = 10_000
_MOST_BRANCHES: Final = 1_000
_CHOICES: Final = ("type", "items", "values", "oneOf", "anyOf")


class NotAvro(Exception):
    """A schema is none of Avro."""


class TooLarge(Exception):
    """A schema is none of a table, or larger than any; the text says in what."""


def check_size(schemas: Iterable[Any]) -> None:
    """Raise TooLarge for schemas that take long to read, before they are."""
    parts, fields = list(schemas), 0
    _check_choice(parts[0])
    while parts:
        part = parts.pop()
        if isinstance(part, Mapping):
            held = part.get("fields")
            fields += len(held) if isinstance(held, list) else 0
            if isinstance(part.get("symbols"), list) and len(part["symbols"]) > _MOST_SYMBOLS:
                raise TooLarge(f"an enumeration of more than {_MOST_SYMBOLS:,} symbols")
            if part.get("type") == "fixed" and (type(part.get("size")) is not int or part["size"] < 0):
                raise TooLarge("a fixed type without a size")
            for name in _CHOICES:
                _check_choice(part.get(name))
            parts += part.values()
        elif isinstance(part, list):
            parts += part
        if fields > MOST_FIELDS:
            raise TooLarge(f"more than {MOST_FIELDS:,} fields")


def _check_choice(held: Any) -> None:
    if not isinstance(held, list):
        return
    if len(held) > _MOST_BRANCHES:
        raise TooLarge(f"a choice of more than {_MOST_BRANCHES:,} types")
    if any(isinstance(one, list) for one in held):
        raise TooLarge("a union within a union")


def inline_references(schema: Any, referred: Iterable[Any]) -> Any:
    """Return a schema parsed, with each type that stands in another where it is named first. Raises NotAvro."""
    import fastavro

    known: dict[str, Any] = {}
    try:
        for one in referred:
            fastavro.parse_schema(one, named_schemas=known)
        outer = dict(known)
        parsed = fastavro.parse_schema(schema, named_schemas=known)
    except fastavro.schema.SchemaParseException as error:
        raise NotAvro from error
    return _inline(parsed, outer) if outer else parsed


def _inline(part: Any, outer: dict[str, Any]) -> Any:
    """Return a part of a schema; what is put in its place is taken out of `outer`."""
    if isinstance(part, list):
        return [_inline(one, outer) for one in part]
    if isinstance(part, str):
        return _inline(outer.pop(part), outer) if part in outer else part
    found = dict(part)
    for name in ("type", "items", "values"):
        if isinstance(found.get(name), list | dict | str):
            found[name] = _inline(found[name], outer)
    if isinstance(found.get("fields"), list):
        found["fields"] = [_inline(one, outer) for one in found["fields"]]
    return found
