"""Schema reading: Avro schemas into types, as strictly as the specification; faults are refused with their place."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeGuard

from cdc_contracts.registry.core.common.pointers import ABSENT
from cdc_contracts.registry.core.schema.avro_types.default_values import refuse_wrong_default
from cdc_contracts.registry.core.schema.avro_types.logical_types import read_logical
from cdc_contracts.registry.core.schema.avro_types.smallest_messages import refuse_endless
from cdc_contracts.registry.core.schema.avro_types.type_graph import PRIMITIVES, AvroField, AvroType
from cdc_contracts.registry.core.schema.schema_texts import SchemaFault

MAX_FIXED: Final = 64 * 1024 * 1024
"""Bytes: more than a message may hold."""

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z", re.ASCII)
_LONGEST_SHOWN: Final = 60


def read_types(document: Any, references: Sequence[tuple[str, Any]] = ()) -> AvroType:
    """Return the type that a parsed schema describes; its names may be defined in `references`, read before it.

    Raises SchemaFault if it is no Avro schema, or no message of it could be of a size that anyone reads.
    """
    named: dict[str, AvroType] = {}
    for source, referred in references:
        _Reading(source, named).read(referred)
    reading = _Reading("", named)
    root = reading.read(document)
    refuse_endless(root)
    return root


class _Reading:
    """One document on its way to types; `named` are those known by name so far."""

    def __init__(self, source: str, named: dict[str, AvroType]) -> None:
        self._source = source
        self._named = named
        self._defaults: list[tuple[AvroType, Any, str]] = []

    def read(self, document: Any) -> AvroType:
        root = self._type(document, "", "")
        for type_, default, pointer in self._defaults:  # once all records have their fields
            refuse_wrong_default(type_, default, pointer)
        return root

    def _type(self, schema: Any, namespace: str, pointer: str) -> AvroType:
        if isinstance(schema, str):
            return self._by_name(schema, namespace, pointer)
        if isinstance(schema, list):
            return self._union(schema, namespace, pointer)
        if not isinstance(schema, dict):
            raise SchemaFault(f"a type is a name, an object or a list of types, not {_shown(schema)}", pointer)
        if "type" not in schema:
            raise SchemaFault("a type without `type`", pointer, hint="Add `type`.")
        return self._described(schema, namespace, pointer)

    def _described(self, schema: Mapping[str, Any], namespace: str, pointer: str) -> AvroType:
        kind = schema["type"]
        if isinstance(kind, dict | list):
            return self._type(kind, namespace, f"{pointer}/type")
        match kind:
            case "record" | "error":
                return self._record(schema, namespace, pointer)
            case "enum":
                return self._enum(schema, namespace, pointer)
            case "fixed":
                return self._fixed(schema, namespace, pointer)
            case "array" | "map":
                return self._collection(schema, namespace, pointer)
        if kind in PRIMITIVES:
            return AvroType(kind, pointer, self._source, logical=read_logical(schema, kind, 0))
        return self._by_name(kind, namespace, f"{pointer}/type")

    def _by_name(self, name: Any, namespace: str, pointer: str) -> AvroType:
        if isinstance(name, str):
            if name in PRIMITIVES:
                return AvroType(name, pointer, self._source)
            full = name if "." in name or not namespace else f"{namespace}.{name}"
            if full in self._named:
                return self._named[full]
        raise SchemaFault(
            f"{_shown(name)} is not defined before this place",
            pointer,
            hint="Define the type where it is first used, or add the schema that defines it as a reference.",
        )

    def _union(self, schema: list[Any], namespace: str, pointer: str) -> AvroType:
        branches = tuple(self._type(one, namespace, f"{pointer}/{at}") for at, one in enumerate(schema))
        seen: set[str] = set()
        for at, branch in enumerate(branches):
            if branch.kind == "union":
                raise SchemaFault("a union directly inside a union", f"{pointer}/{at}", hint="Write it as one union.")
            if branch.label in seen:
                raise SchemaFault(
                    f"`{branch.label}` occurs twice in a union",
                    f"{pointer}/{at}",
                    hint="Only records, enums and fixed types with different names may occur more than once.",
                )
            seen.add(branch.label)
        return AvroType("union", pointer, self._source, branches=branches)

    def _collection(self, schema: Mapping[str, Any], namespace: str, pointer: str) -> AvroType:
        kind = schema["type"]
        key = "items" if kind == "array" else "values"
        if key not in schema:
            raise SchemaFault(f"`{kind}` without `{key}`", pointer, hint=f"Say in `{key}` which type it holds.")
        items = self._type(schema[key], namespace, f"{pointer}/{key}")
        return AvroType(kind, pointer, self._source, items=items)

    def _record(self, schema: Mapping[str, Any], namespace: str, pointer: str) -> AvroType:
        record = self._define("record", schema, namespace, pointer)
        inside = record.name.rpartition(".")[0]
        fields = schema.get("fields", ABSENT)
        if not isinstance(fields, list):
            raise SchemaFault(f"record `{record.name}` has no list of `fields`", pointer)
        record.fields = tuple(self._field(one, inside, f"{pointer}/fields/{at}") for at, one in enumerate(fields))
        seen: set[str] = set()
        for field in record.fields:
            if field.name in seen:
                raise SchemaFault(f"field `{field.name}` occurs twice in record `{record.name}`", field.pointer)
            seen.add(field.name)
        return record

    def _field(self, schema: Any, namespace: str, pointer: str) -> AvroField:
        if not isinstance(schema, dict):
            raise SchemaFault(f"a field is an object, not {_shown(schema)}", pointer)
        name = _checked_name(schema.get("name", ABSENT), "field", f"{pointer}/name")
        if "type" not in schema:
            raise SchemaFault(f"field `{name}` without `type`", pointer)
        type_ = self._type(schema["type"], namespace, f"{pointer}/type")
        default = schema.get("default", ABSENT)
        if default is not ABSENT:
            self._defaults.append((type_, default, f"{pointer}/default"))
        aliases = tuple(_checked_name(one, "alias", f"{pointer}/aliases") for one in _aliases(schema, pointer))
        return AvroField(name, type_, pointer, aliases, default)

    def _enum(self, schema: Mapping[str, Any], namespace: str, pointer: str) -> AvroType:
        enum = self._define("enum", schema, namespace, pointer)
        symbols = schema.get("symbols", ABSENT)
        if not isinstance(symbols, list) or not symbols:
            raise SchemaFault(f"enum `{enum.name}` has no list of `symbols`", pointer)
        for at, symbol in enumerate(symbols):
            _checked_name(symbol, "symbol", f"{pointer}/symbols/{at}")
        if len(set(symbols)) != len(symbols):
            raise SchemaFault(f"a symbol occurs twice in enum `{enum.name}`", f"{pointer}/symbols")
        default = schema.get("default")
        if default is not None and default not in symbols:
            raise SchemaFault(
                f"the default of enum `{enum.name}` is not one of its symbols: {_shown(default)}", f"{pointer}/default"
            )
        enum.symbols, enum.default = tuple(symbols), default
        return enum

    def _fixed(self, schema: Mapping[str, Any], namespace: str, pointer: str) -> AvroType:
        fixed = self._define("fixed", schema, namespace, pointer)
        size = schema.get("size", ABSENT)
        if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size <= MAX_FIXED:
            raise SchemaFault(
                f"the size of fixed `{fixed.name}` is {_shown(size)}",
                f"{pointer}/size" if size is not ABSENT else pointer,
                hint=f"A size is a whole number of bytes from 0 to {MAX_FIXED:,}.",
            )
        fixed.size, fixed.logical = size, read_logical(schema, "fixed", size)
        return fixed

    def _define(self, kind: str, schema: Mapping[str, Any], namespace: str, pointer: str) -> AvroType:
        """Return a new type under its full name. Raises SchemaFault if the name is none, or taken."""
        name = schema.get("name", ABSENT)
        if not isinstance(name, str):
            raise SchemaFault(f"{kind} without `name`", pointer)
        if "." not in name:
            own = schema.get("namespace", namespace)
            if not isinstance(own, str):
                raise SchemaFault(f"a namespace is text, not {_shown(own)}", f"{pointer}/namespace")
            name = f"{own}.{name}" if own else name
        full = name.removeprefix(".")  # `.Name` is one way to write a name in no namespace
        for part in full.split("."):
            _checked_name(part, "name", f"{pointer}/name")
        if full in PRIMITIVES:
            raise SchemaFault(f"`{full}` is a built-in Avro type", f"{pointer}/name", hint="Choose another name.")
        if full in self._named:
            raise SchemaFault(
                f"`{full}` is defined twice",
                f"{pointer}/name",
                hint="Define it once and use its name afterwards, or put one of the two into another namespace.",
            )
        inside = full.rpartition(".")[0]
        aliases = tuple(
            one if "." in one or not inside else f"{inside}.{one}"
            for one in _aliases(schema, pointer)
            if all(_checked_name(part, "alias", f"{pointer}/aliases") for part in one.removeprefix(".").split("."))
        )
        self._named[full] = defined = AvroType(kind, pointer, self._source, full, aliases)
        return defined


def _aliases(schema: Mapping[str, Any], pointer: str) -> list[str]:
    aliases = schema.get("aliases", [])
    if not _is_texts(aliases):
        raise SchemaFault("aliases are a list of names", f"{pointer}/aliases")
    return aliases


def _is_texts(value: Any) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _checked_name(name: Any, what: str, pointer: str) -> str:
    if not isinstance(name, str) or not _NAME.match(name):
        raise SchemaFault(
            f"{_shown(name)} is no {what}",
            pointer if name is not ABSENT else pointer.rpartition("/")[0],
            hint="Names start with a letter or _ and contain letters, digits and _.",
        )
    return name


def _shown(value: Any) -> str:
    if value is ABSENT:
        return "missing"
    text = repr(value) if not isinstance(value, str) else f"`{value}`"
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"
