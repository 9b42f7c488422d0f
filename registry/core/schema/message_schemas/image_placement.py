"""Image placement: which images hold rows in a message of an op, and which hold none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from cdc_contracts.registry.core.contract.discriminators import pointers_of
from cdc_contracts.registry.core.contract.document_model import CONTROL_OPS, DDL_OPS, ROW_OPS
from cdc_contracts.registry.core.contract.image_model import Side, Sides
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.message.reading import non_column_members
from cdc_contracts.registry.core.schema.message_schemas.clauses import Clause, all_of, any_of, negate, when, within
from cdc_contracts.registry.core.schema.message_schemas.conditions import op_is

_DDL_FLAG: Final = "/isDdl"


def placements(meaning: Meaning) -> Iterator[dict[str, Any]]:
    """Yield, for each op, which images a message of it has; ops with the same images share one clause."""
    by_clause: list[tuple[list[str], dict[str, Any]]] = []
    for op in (*ROW_OPS, *CONTROL_OPS):
        if op not in reachable_ops(meaning):
            continue
        placed = _place(meaning, op)
        same = next((ops for ops, clause in by_clause if clause == placed), None)
        if same is not None:
            same.append(op)
        else:
            by_clause.append(([op], placed))
    yield from (when(op_is(meaning, ops), clause) for ops, clause in by_clause if clause)


def ddl_flag(meaning: Meaning) -> Iterator[dict[str, Any]]:
    """Yield what ties the DDL flag to the op code."""
    op = meaning.envelope.op
    by_flag = {code for flag in op.flags if _DDL_FLAG in pointers_of(flag.when) for code in flag.codes_at(op.at) or ()}
    codes = {
        is_ddl: [code for code, op in meaning.ops.items() if (op in DDL_OPS) == is_ddl and code not in by_flag]
        for is_ddl in (True, False)
    }
    for is_ddl, those in codes.items():
        if those:
            condition = within(meaning.envelope.op.at, {"enum": those})
            yield when(condition, within(_DDL_FLAG, {"const": is_ddl}, required=False))


def reachable_ops(meaning: Meaning) -> set[str]:
    """Return the canonical ops that a message can have."""
    return set(meaning.ops.values()) | {flag.means for flag in meaning.envelope.op.flags}


def image_of(meaning: Meaning, row: Clause) -> Clause:
    """Return what asks `row` of every row of an image; of one in a text only programs that read `contentSchema` can."""
    if meaning.images.are_texts:
        return {**row, "contentMediaType": "application/json", "contentSchema": row}
    return row if meaning.images.hold_one_row else {"items": row}


def no_row(meaning: Meaning, pointer: str) -> dict[str, Any]:
    """Return the schema of an image without a row."""
    if meaning.images.are_texts:
        return {"maxProperties": 0, "not": {"type": "string"}}
    if not meaning.images.hold_one_row:
        return {"maxItems": 0}
    excluded = non_column_members(meaning, pointer)
    return {"propertyNames": {"enum": sorted(excluded)}} if excluded else {"maxProperties": 0}


def _place(meaning: Meaning, op: str) -> dict[str, Any]:
    sides = meaning.images.of(op) or Sides()
    named = [side for side in (sides.before, sides.after) if side is not None]
    clauses = [_holds_row(meaning, side) for side in named if not (side.optional or side.or_key)]
    if "changed-columns-sent" in meaning.rules:
        clauses += [_some_column(meaning, side) for side in named if side.completed_from is not None]
    clauses += [_not_twice(meaning, side) for side in named if side.either is not None]
    result = {at for side in named for at in (side.at, side.completed_from, side.either)}
    ddl = meaning.ddl if op == "ddl" else None
    for pointer in meaning.images.pointers():
        if pointer not in result and not (ddl is not None and ddl.stands_at(pointer)):
            clauses.append(within(pointer, no_row(meaning, pointer), required=False))
    return all_of(clauses)


def _holds_row(meaning: Meaning, side: Side) -> dict[str, Any]:
    """Return what asks for a row: in the image, in the one it may stand in instead, or in the one it completes."""
    ways = [within(side.at, _row(meaning, side.at))]
    if side.either is not None:
        ways.append(within(side.either, _row(meaning, side.either)))
    if side.completed_from is not None and meaning.images.hold_one_row:  # nothing of the row changed
        ways.append(
            all_of(
                [within(side.at, {"type": "object"}), within(side.completed_from, _row(meaning, side.completed_from))]
            )
        )
    return any_of(ways)


def _some_column(meaning: Meaning, side: Side) -> dict[str, Any]:
    """Return what asks for a column in every row of changed columns, if there is one."""
    row = {"minProperties": 1}
    return within(side.at, image_of(meaning, row), required=False)


def _not_twice(meaning: Meaning, side: Side) -> dict[str, Any]:
    places = (side.at, side.either or "")
    return negate(all_of([within(pointer, _row(meaning, pointer)) for pointer in places]))


def _row(meaning: Meaning, pointer: str) -> dict[str, Any]:
    """Return what an image that holds a row looks like."""
    if meaning.images.are_texts:
        return {"type": ["string", "object"], "minProperties": 1}
    if not meaning.images.hold_one_row:
        return {"type": "array", "minItems": 1}
    excluded = non_column_members(meaning, pointer)
    if excluded:
        return {"type": "object", "not": {"propertyNames": {"enum": sorted(excluded)}}}
    return {"type": "object", "minProperties": 1}
