"""Avro writing: types as a schema that fastavro accepts, and values of them as Avro's JSON."""

from __future__ import annotations

from typing import Any, Final

from cdc_contracts.registry.core.schema.avro_types.type_graph import AvroField, AvroType

NO_NAMESPACE: Final = "_."
"""Put before names that have no namespace, which would else take on that of the type they are written in."""


MAX_DEPTH: Final = 200
"""Types inside one another that are written out: readers of schemas and messages go deeper with every one."""


class TooDeep(Exception):
    """A schema or message would be deeper than anyone reads."""


def to_schema(root: AvroType, *, logical: bool) -> Any:
    """Return the schema of a type with all names in full, and without logical types unless they are asked for.

    Raises TooDeep if types that are defined side by side would end up nested in one another.
    """
    return _Writing(logical=logical).schema(root)


class _Writing:
    def __init__(self, *, logical: bool) -> None:
        self._logical = logical
        self._written: set[str] = set()
        self._depth = 0

    def schema(self, type_: AvroType) -> Any:
        if type_.name in self._written:
            return _qualified(type_.name)
        if self._depth > MAX_DEPTH:
            raise TooDeep
        self._depth += 1
        written = self._type(type_)
        self._depth -= 1
        return written

    def _type(self, type_: AvroType) -> Any:
        if type_.kind == "union":
            return [self.schema(branch) for branch in type_.branches]
        if type_.kind == "array":
            return {"type": "array", "items": self.schema(type_.items) if type_.items else None}
        if type_.kind == "map":
            return {"type": "map", "values": self.schema(type_.items) if type_.items else None}
        meaning = self._meaning(type_)
        if not type_.name:
            return {"type": type_.kind, **meaning} if meaning else type_.kind
        self._written.add(type_.name)
        named = {
            "type": type_.kind,
            "name": _qualified(type_.name),
            "aliases": [_qualified(alias) for alias in type_.aliases],
        }
        if type_.kind == "fixed":
            return named | {"size": type_.size} | meaning
        if type_.kind == "enum":
            default = {} if type_.default is None else {"default": type_.default}
            return named | {"symbols": list(type_.symbols)} | default
        return named | {"fields": [self._field(field) for field in type_.fields]}

    def _field(self, field: AvroField) -> dict[str, Any]:
        result = {"name": field.name, "type": self.schema(field.type), "aliases": list(field.aliases)}
        return result | {"default": field.default} if field.has_default else result

    def _meaning(self, type_: AvroType) -> dict[str, Any]:
        if type_.logical is None or not self._logical:
            return {}
        result: dict[str, Any] = {"logicalType": type_.logical.name}
        if type_.logical.precision is not None:
            result |= {"precision": type_.logical.precision, "scale": type_.logical.scale}
        return result


def to_json(type_: AvroType, datum: Any) -> Any:
    """Return a datum as Avro's JSON encoding has it; in unions a datum is a pair of the branch's label and itself."""
    match type_.kind:
        case "union":
            label, inside = datum
            branch = next(one for one in type_.branches if one.label == label)
            return None if branch.kind == "null" else {label: to_json(branch, inside)}
        case "record":
            return {field.name: to_json(field.type, datum[field.name]) for field in type_.fields}
        case "array" if type_.items:
            return [to_json(type_.items, one) for one in datum]
        case "map" if type_.items:
            return {name: to_json(type_.items, one) for name, one in datum.items()}
        case "bytes" | "fixed":
            return datum.decode("latin-1")
    return datum


def to_fastavro(type_: AvroType, datum: Any) -> Any:
    """Return a datum as fastavro's writer takes it: branches by their names in full, null as None."""
    match type_.kind:
        case "union":
            label, inside = datum
            branch = next(one for one in type_.branches if one.label == label)
            result = to_fastavro(branch, inside)
            return None if branch.kind == "null" else (_qualified(label) if branch.name else label, result)
        case "record":
            return {field.name: to_fastavro(field.type, datum[field.name]) for field in type_.fields}
        case "array" if type_.items:
            return [to_fastavro(type_.items, one) for one in datum]
        case "map" if type_.items:
            return {name: to_fastavro(type_.items, one) for name, one in datum.items()}
    return datum


def _qualified(name: str) -> str:
    return name if "." in name else NO_NAMESPACE + name
