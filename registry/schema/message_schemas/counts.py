"""Counts: what has to be as many as something else, said of the first few counts: no keyword compares two."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from cdc_contracts.registry.common.pointers import join_pointer
from cdc_contracts.registry.contract.column_model import ColumnTypes
from cdc_contracts.registry.contract.document_model import ROW_OPS
from cdc_contracts.registry.contract.model import Meaning
from cdc_contracts.registry.message.reading import members_beside
from cdc_contracts.registry.schema.message_schemas.clauses import all_of, when, within
from cdc_contracts.registry.schema.message_schemas.conditions import op_holds_rows, op_is
from cdc_contracts.registry.schema.message_schemas.image_placement import no_row, reachable_ops

MOST_ROWS: Final = 8
MOST_COLUMNS: Final = 16


def equal_rows(meaning: Meaning) -> Iterator[dict[str, Any]]:
    """Yield that the images of an op have as many rows, up to MOST_ROWS."""
    if meaning.images.container != "list-of-rows":
        return
    for op in ROW_OPS:
        sides = meaning.images.of(op)
        if op in reachable_ops(meaning) and sides is not None and sides.before and sides.after:
            places = (sides.before.at, sides.after.at)
            result = [
                when(
                    within(one, {"type": "array", "maxItems": count}),
                    within(other, {"maxItems": count}, required=False),
                )
                for count in range(1, MOST_ROWS + 1)
                for one, other in (places, places[::-1])
            ]
            yield when(op_is(meaning, [op]), all_of(result))


def typed_columns(meaning: Meaning) -> Iterator[dict[str, Any]]:
    """Yield that a row has no more columns than there are types, up to MOST_COLUMNS.

    An image with types of its own holds a row only where the op says so: a DDL statement may stand in its place.
    """
    types = meaning.columns.types
    if types == "none" or meaning.images.container == "positional":
        return
    for count in range(1, MOST_COLUMNS + 1):
        if types.at is not None:
            is_list = types.reading == "list-of-objects"
            few = {"type": "array", "maxItems": count} if is_list else {"type": "object", "maxProperties": count}
            columns = all_of(_columns_up_to(meaning, pointer, count) for pointer in meaning.images.pointers())
            yield when(within(types.at, few), columns)
        else:
            for pointer in meaning.images.pointers():
                own = _own_types_up_to(meaning, types, pointer, count)
                yield when(all_of([op_holds_rows(meaning), own]), _columns_up_to(meaning, pointer, count))


def _own_types_up_to(meaning: Meaning, types: ColumnTypes, pointer: str, count: int) -> dict[str, Any]:
    """Return the condition of an image with few types of its own, and no other image whose types it would take."""
    others = [other for other in meaning.images.pointers() if other != pointer]
    own = within(pointer + join_pointer(types.in_image or ""), {"type": "object", "maxProperties": count})
    return all_of([own, *(within(other, no_row(meaning, other), required=False) for other in others)])


def _columns_up_to(meaning: Meaning, pointer: str, count: int) -> dict[str, Any]:
    row = {"maxProperties": count + len(members_beside(meaning, pointer))}
    return within(pointer, row if meaning.images.hold_one_row else {"items": row}, required=False)
