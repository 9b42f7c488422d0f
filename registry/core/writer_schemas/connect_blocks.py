"""Connect blocks: an Avro schema as the schema block of Kafka Connect that describes the same records.

A converter of Kafka Connect turns one into the other and back (`io.confluent.connect.avro.AvroData`, which Apicurio's
converter has as well): what Avro has no word for stands in `connect.*` attributes. So the types of a record that was
written with a registry are those of the same record with a schema block beside it.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

MOST_FIELDS: Final = 20_000
"""Fields of a schema with all that it names written out."""
MOST_DEPTH: Final = 64
_NAMES: Final = "org.apache.kafka.connect.data."
_PRIMITIVES: Final[Mapping[str, str]] = MappingProxyType({
    "boolean": "boolean", "int": "int32", "long": "int64", "float": "float", "double": "double", "string": "string",
    "bytes": "bytes", "fixed": "bytes", "enum": "string",
})  # fmt: skip
_LOGICAL: Final[Mapping[str, str]] = MappingProxyType({
    "decimal": "Decimal", "date": "Date", "time-millis": "Time", "timestamp-millis": "Timestamp",
})  # fmt: skip
_NO_PRECISION: Final = 64
"""The precision of decimals for which Kafka Connect states none."""
_SMALL: Final = ("int8", "int16")


class NoBlock(Exception):
    """An Avro schema has no counterpart in Kafka Connect, or is too large; the text says why."""


def write_block(schema: Any) -> dict[str, Any]:
    """Return the block of an Avro schema as `fastavro.parse_schema` returns it. Raises NoBlock."""
    return _Blocks().of(schema, optional=False, depth=0)


class _Blocks:
    """Blocks of the schemas of one document."""

    def __init__(self) -> None:
        self._named: dict[str, Any] = {}
        self._within: set[str] = set()
        self._fields = 0

    def of(self, schema: Any, *, optional: bool, depth: int) -> dict[str, Any]:
        if depth > MOST_DEPTH:
            raise NoBlock(f"types nested deeper than {MOST_DEPTH}")
        if isinstance(schema, list):
            branches = [branch for branch in schema if branch != "null"]
            if len(branches) != 1:
                raise NoBlock("a union of several types")
            return self.of(branches[0], optional=len(branches) < len(schema), depth=depth)
        schema = schema if isinstance(schema, dict) else self._named.get(schema, {"type": schema})
        if isinstance(schema["type"], dict | list):
            return self.of(schema["type"], optional=optional, depth=depth + 1)
        block = {**self._type(schema, depth), "optional": optional, **_name(schema)}
        if isinstance(schema.get("connect.version"), int):
            block["version"] = schema["connect.version"]
        if isinstance(schema.get("connect.doc"), str):
            block["doc"] = schema["connect.doc"]
        parameters = _parameters(schema)
        if parameters:
            block["parameters"] = parameters
        return block

    def _type(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        kind = schema["type"]
        if kind in ("enum", "fixed"):
            self._named[schema["name"]] = schema
        match kind:
            case "record":
                return {"type": "struct", "fields": self._fields_of(schema, depth)}
            case "array":
                return {"type": "array", "items": self.of(schema["items"], optional=False, depth=depth + 1)}
            case "map":
                values = self.of(schema["values"], optional=False, depth=depth + 1)
                return {"type": "map", "keys": {"type": "string", "optional": False}, "values": values}
        small = schema.get("connect.type")
        if kind == "int" and small in _SMALL:
            return {"type": small}
        if kind not in _PRIMITIVES:
            raise NoBlock(f"a type `{kind}`")
        return {"type": _PRIMITIVES[kind]}

    def _fields_of(self, schema: Mapping[str, Any], depth: int) -> list[dict[str, Any]]:
        name = schema["name"]
        if name in self._within:
            raise NoBlock(f"the record {name} within itself")
        self._named[name] = schema
        self._within.add(name)
        found = []
        for field in schema["fields"]:
            self._fields += 1
            if self._fields > MOST_FIELDS:
                raise NoBlock(f"more than {MOST_FIELDS:,} fields")
            block = self.of(field["type"], optional=False, depth=depth + 1)
            default = _default(field, block)
            found.append({**block, **({} if default is None else {"default": default}), "field": field["name"]})
        self._within.discard(name)
        return found


def _name(schema: Mapping[str, Any]) -> dict[str, str]:
    """Return the semantic name of a schema: its own, that of its logical type, or that of its record."""
    stated = schema.get("connect.name")
    if isinstance(stated, str):
        return {"name": stated}
    logical = _LOGICAL.get(str(schema.get("logicalType")))
    if logical is not None:
        return {"name": _NAMES + logical}
    return {"name": schema["name"]} if schema["type"] == "record" else {}


def _parameters(schema: Mapping[str, Any]) -> dict[str, str]:
    stated = schema.get("connect.parameters")
    found = {name: str(value) for name, value in stated.items()} if isinstance(stated, dict) else {}
    if schema.get("logicalType") == "decimal":
        found.setdefault("scale", str(schema.get("scale", 0)))
        if schema.get("precision") not in (None, _NO_PRECISION):
            found.setdefault("connect.decimal.precision", str(schema["precision"]))
    return found


def _default(field: Mapping[str, Any], block: Mapping[str, Any]) -> Any:
    """Return the default of a column as a converter writes it: bytes in Base64; None if there is none, or no scalar."""
    type_ = field["type"]
    branches = type_ if isinstance(type_, list) else [type_]
    stated = [one["connect.default"] for one in branches if isinstance(one, dict) and "connect.default" in one]
    default = stated[0] if stated else field.get("default")
    if isinstance(default, str) and block["type"] == "bytes":
        try:
            return b64encode(default.encode("latin-1")).decode()
        except UnicodeEncodeError:
            return None
    return default if isinstance(default, str | int | float | bool) else None
