"""Clauses of a message schema about a schema block: it describes the columns of a row, and the members beside it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from cdc_contracts.registry.core.common.pointers import join_pointer, split_pointer
from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.message.schema_block_types import block_of, holder_of, is_described
from cdc_contracts.registry.core.schema.message_schemas.clauses import when, within
from cdc_contracts.registry.core.schema.message_schemas.conditions import op_holds_rows
from cdc_contracts.registry.core.schema.message_schemas.form_definitions import listed_types, type_columns

MEMBERS_RULE: Final = "members-in-schema-block"


def described_rows(version: Version) -> Iterator[dict[str, Any]]:
    """Yield that the block of a message with a row has a name and a type for each column."""
    if block_of(version.meaning) is not None:
        types = type_columns(version.meaning)
        listed = listed_types(types, {"type": "array", "items": {"required": ["field", "type"]}})
        yield when(op_holds_rows(version.meaning), within(types.at or "", listed))


def described_members(version: Version) -> Iterator[dict[str, Any]]:
    """Yield that each member of the contract's that is beside a block is one of its fields, and the other way round."""
    types = block_of(version.meaning)
    if types is None or types.at is None:
        return
    holder, schema = holder_of(version.meaning), dict(version.schema)
    for part in split_pointer(holder):
        schema = schema["properties"][part]
    for name in schema.get("properties", {}):
        if not is_described(version.meaning, name):
            continue
        entry = {"type": "object", "properties": {"field": {"const": name}}, "required": ["field"]}
        described = within(f"{types.at}/fields", {"type": "array", "contains": entry})
        sent = within(holder + join_pointer(name), {})
        yield when(sent, described)
        yield when(described, sent)
