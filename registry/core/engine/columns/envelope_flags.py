"""Flags of the envelope: the records whose members break a constraint, or a relation between them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache, partial
from operator import eq
from typing import Any

import numpy as np
import pyarrow.compute as pc

from cdc_contracts.registry.core.common.linear_patterns import compile_pattern, is_portable
from cdc_contracts.registry.core.common.pointers import ABSENT, follow, split_pointer
from cdc_contracts.registry.core.contract.relations import Relation
from cdc_contracts.registry.core.engine.columns.value_flags import Mask, ValueFlag
from cdc_contracts.registry.core.engine.layouts.decoded_batches import DecodedBatch
from cdc_contracts.registry.core.engine.layouts.decoder_kinds import BOOL, Odd, open_odd
from cdc_contracts.registry.core.engine.layouts.parsed_columns import ParsedColumn
from cdc_contracts.registry.core.engine.layouts.struct_layouts import LayoutPlan
from cdc_contracts.registry.core.records.code_orders import number_codes


def member_flags(decoded_batch: DecodedBatch, plan: LayoutPlan) -> list[tuple[ValueFlag, Mask]]:
    """Mark the records whose envelope members break a constraint on their value, or that hold unknown members."""
    value_flags: list[tuple[ValueFlag, Mask]] = []
    for pointer, constraints in plan.constraints.items():
        values = decoded_batch.members.get(pointer)
        if values is None:
            continue
        for keyword, wanted in constraints:
            if _suspect(keyword, wanted, values):
                many = keyword == "pattern" and values.few_distinct is None and is_portable(wanted)
                broken = _mark_unlike(values, wanted) if many else _mark(values, partial(_breaks, keyword, wanted))
                if broken.any():
                    value_flags.append((("member", pointer, keyword, wanted), broken))
    for pointer in plan.whole_seconds_at:
        values = decoded_batch.members.get(pointer)
        if values is not None and (uneven := _are_uneven(values)).any():
            value_flags.append((("uneven", pointer), uneven))
    return value_flags


def text_flags(
    decoded_batch: DecodedBatch, grouped: Collection[str], asked: Mapping[str, Collection[str]]
) -> list[tuple[ValueFlag, Mask]]:
    """Mark the records in which a member has one of the texts that other subjects ask for there.

    The values of members that are `grouped` by are in the key.
    """
    return [
        (("text", pointer, text), _mark(values, partial(eq, text)))
        for pointer, values in decoded_batch.members.items()
        if pointer in asked and pointer not in grouped
        for text in sorted(asked[pointer])
    ]


def object_flags(decoded_batch: DecodedBatch, asked: frozenset[str]) -> list[tuple[ValueFlag, Mask]]:
    """Mark the records in which a member that may be of any kind is an object with a member where subjects look."""
    value_flags: list[tuple[ValueFlag, Mask]] = []
    for pointer, values in decoded_batch.members.items():
        below = _places_below(asked, pointer)
        objects = [open_odd(value) for value in values] if below else []
        for at in below if any(objects) else ():
            parts = split_pointer(at)[len(split_pointer(pointer)) :]
            held = (follow(one, parts) is not ABSENT for one in objects)
            value_flags.append((("below", at), np.fromiter(held, np.bool_, len(objects))))
    return value_flags


@lru_cache(maxsize=1_024)
def _places_below(places: frozenset[str], pointer: str) -> tuple[str, ...]:
    return tuple(at for at in sorted(places) if at.startswith(f"{pointer}/"))


def relation_flags(decoded_batch: DecodedBatch, plan: LayoutPlan) -> list[tuple[ValueFlag, Mask]]:
    """Mark the records in which members do not have the relation that a rule or a discriminator requires.

    Whether they can be compared at all depends on their kinds, which belong to the grouping key.
    """
    value_flags: list[tuple[ValueFlag, Mask]] = []
    for relation in plan.relations:
        values = [decoded_batch.members.get(pointer) for pointer in relation.places]
        broken = _mark_other_starts(relation, values)
        if broken is None:
            broken = _mark_broken(relation.holds, values, len(decoded_batch))
        if broken.any():
            value_flags.append((("related", relation.name, relation.places), broken))
    return value_flags


def _mark_other_starts(relation: Relation, values: Sequence[ParsedColumn | None]) -> Mask | None:
    """Mark the records whose text does not start as another member says; None if they have to be compared singly."""
    whole, head = values if relation.then is not None else (None, None)
    if relation.then is None or whole is None or head is None or head.few_distinct is None:
        return None
    codes, heads = head.few_distinct
    broken = np.zeros(len(codes), np.bool_)
    for code, start in enumerate(heads):
        if isinstance(start, str):
            starts = pc.starts_with(whole.as_texts, start + relation.then).fill_null(fill_value=True)
            broken |= ~starts.to_numpy(zero_copy_only=False) & (codes == code)
    return broken


def _mark_unlike(values: ParsedColumn, pattern: str) -> Mask:
    """Mark the records whose text does not match a pattern, which Arrow reads as it is meant."""
    fits = pc.match_substring_regex(values.as_texts, pattern).fill_null(fill_value=True)
    return ~fits.to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]


def _mark(values: ParsedColumn, holds: Callable[[Any], bool]) -> Mask:
    """Mark the records whose value satisfies a predicate; if few values are distinct, each is tested once."""
    if values.few_distinct is None:
        return np.fromiter(map(holds, values), np.bool_, len(values))
    codes, found = values.few_distinct
    return np.array([holds(value) for value in found], np.bool_)[codes]


def _mark_broken(holds: Callable[..., bool | None], values: Sequence[ParsedColumn | None], total: int) -> Mask:
    """Mark the records whose values do not have a required relation; None is a member that no record has."""
    nothing = ParsedColumn((None,) * total, BOOL)
    columns = [nothing if column is None else column for column in values]
    known = [column.few_distinct for column in columns if column.few_distinct is not None]
    if len(known) < len(columns):
        return np.fromiter((held is False for held in map(holds, *columns)), np.bool_, total)
    combined = np.zeros(total, np.int64)
    for codes, found in known:
        combined = combined * len(found) + codes
    firsts, codes = number_codes(combined)
    broken = [holds(*(found[places[first]] for places, found in known)) is False for first in firsts.tolist()]
    return np.array(broken, np.bool_)[codes]


def _are_uneven(values: ParsedColumn) -> Mask:
    if values.all_integers is not None:
        return values.all_integers % 1000 != 0  # type: ignore[no-any-return]
    return _mark(values, lambda value: type(value) is int and value % 1000 != 0)


def _suspect(keyword: str, wanted: Any, values: ParsedColumn) -> bool:
    """Say quickly whether some value of a member may break a constraint."""
    return keyword != "minimum" or values.all_integers is None or bool(values.all_integers.min() < wanted)


def _breaks(keyword: str, wanted: Any, value: Any) -> bool:
    if keyword == "pattern":
        return type(value) is str and not compile_pattern(wanted)(value)
    return not isinstance(value, str | bool | bytes | Odd | type(None)) and value is not ... and _below(value, wanted)


def _below(value: Any, wanted: Any) -> bool:
    try:
        return bool(value < wanted)
    except TypeError:
        return False
