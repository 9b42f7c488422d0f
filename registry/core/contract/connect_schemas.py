"""Connect schemas: the fields of the schema block of Kafka Connect, and the primitive types of columns in them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

Described = Mapping[str, Mapping[str, str]]

_NUMBERS: Final = ("int8", "int16", "int32", "int64", "float32", "float64", "float", "double")
_KINDS: Final[Mapping[str, str]] = MappingProxyType({
    **dict.fromkeys(_NUMBERS, "number"), "boolean": "boolean", "string": "string", "bytes": "string",
})  # fmt: skip


def described_columns(block: Any) -> Described:
    """Return the types by column of each member that a schema block says is a struct; nothing if it is none."""
    return {
        member["field"]: {
            column["field"]: column["type"]
            for column in member["fields"]
            if isinstance(column, dict) and isinstance(column.get("field"), str) and isinstance(column.get("type"), str)
        }
        for member in list_fields(block)
        if isinstance(member, dict) and isinstance(member.get("field"), str) and isinstance(member.get("fields"), list)
    }


def differs_from_block(columns: Mapping[str, str], name: str, kind: str) -> bool:
    """Return whether a value of a JSON kind in a column is not as the block describes it; null is as any."""
    if name not in columns:
        return True
    return kind != "null" and _KINDS.get(columns[name], kind) != kind


def list_fields(block: Any) -> list[Any]:
    """Return the fields that a schema block lists; none if it is no struct."""
    fields = block.get("fields") if isinstance(block, dict) else None
    return fields if isinstance(fields, list) else []
