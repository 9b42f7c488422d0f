"""Sent types: the source types of columns as a message says them, in each way of writing that contracts know."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, assert_never

from cdc_contracts.registry.core.contract.column_model import ColumnTypes
from cdc_contracts.registry.core.message.schema_block_types import read_block_defaults, read_block_types
from cdc_contracts.registry.core.values import Number


def read_sent_types(types: ColumnTypes, value: Any, others: Collection[str] = ()) -> dict[str, str] | None:
    """Return types by column from the member of a message that holds them; None if it is written in another way.

    Of `others`, which stand beside the columns, it may say types too.
    """
    found = _read_types(types, value)
    if found is None or not others:
        return found
    return {name: type_ for name, type_ in found.items() if name not in others}


def _read_types(types: ColumnTypes, value: Any) -> dict[str, str] | None:
    match types.reading:
        case "name-to-type" | "list-of-objects":
            return read_types(value, types.name, types.type)
        case "name-to-object":
            return read_types_within(value, types.type)
        case "connect-schema":
            return read_block_types(value, types.field, types.parameter)
        case other:
            assert_never(other)


def read_sent_defaults(types: ColumnTypes, value: Any) -> dict[str, str]:
    """Return the values that columns have in place of NULL, as they are sent; none where messages do not say them."""
    return read_block_defaults(value, types.field) if types.reading == "connect-schema" else {}


def read_types(value: Any, name: str | None, type_: str | None) -> dict[str, str] | None:
    """Return types by column from an object of texts, or from a list of objects with `name` and `type_` members."""
    if isinstance(value, dict):
        return value if set(map(type, value.values())) <= {str} else None
    if isinstance(value, list) and name and type_:
        pairs = [(item.get(name), _code(item.get(type_))) for item in value if isinstance(item, dict)]
        if len(pairs) == len(value) and all(isinstance(part, str) for pair in pairs for part in pair):
            return dict(pairs)  # type: ignore[arg-type]
    return None


def read_types_within(value: Any, type_: str | None) -> dict[str, str] | None:
    """Return types by column from an object of objects that each have a member `type_`."""
    if not isinstance(value, dict) or type_ is None:
        return None
    result = {name: one.get(type_) if isinstance(one, dict) else None for name, one in value.items()}
    return result if all(isinstance(one, str) for one in result.values()) else None  # type: ignore[return-value]


def _code(value: Any) -> Any:
    """Return a type that is given by number as text."""
    return value.token if isinstance(value, Number) else value
