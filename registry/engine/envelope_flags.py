"""Flags of the envelope: the records whose members break a bound, or are not related as they should be."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from typing import Any

import numpy as np

from cdc_contracts.registry.common.linear_patterns import compile_pattern
from cdc_contracts.registry.engine.decoded_batches import DecodedBatch
from cdc_contracts.registry.engine.decoder_kinds import Odd
from cdc_contracts.registry.engine.struct_layouts import LayoutPlan
from cdc_contracts.registry.engine.value_flags import Mask, ValueFlag


def member_flags(decoded_batch: DecodedBatch, plan: LayoutPlan) -> list[tuple[ValueFlag, Mask]]:
    """Mark the records whose envelope members break a constraint on their value, or that hold unknown members."""
    value_flags: list[tuple[ValueFlag, Mask]] = []
    for pointer, constraints in plan.constraints.items():
        values = decoded_batch.members.get(pointer)
        if values is None:
            continue
        for keyword, wanted in constraints:
            broken = [_breaks(keyword, wanted, value) for value in values] if _suspect(keyword, wanted, values) else []
            if any(broken):
                value_flags.append((("member", pointer, keyword, wanted), np.asarray(broken, np.bool_)))
    for pointer in plan.whole_seconds_at:
        values = decoded_batch.members.get(pointer, ())
        uneven = [type(value) is int and value % 1000 != 0 for value in values]
        if any(uneven):
            value_flags.append((("uneven", pointer), np.asarray(uneven, np.bool_)))
    return value_flags


def relation_flags(decoded_batch: DecodedBatch, plan: LayoutPlan) -> list[tuple[ValueFlag, Mask]]:
    """Mark the records in which members are not related as a rule or a discriminator asks.

    Whether they can be compared at all is a matter of their kinds, which belong to the grouping key.
    """
    value_flags: list[tuple[ValueFlag, Mask]] = []
    for relation in plan.relations:
        values = [decoded_batch.members.get(pointer, repeat(None, len(decoded_batch))) for pointer in relation.places]
        broken = [held is False for held in map(relation.holds, *values)]
        if any(broken):
            value_flags.append((("related", relation.name, relation.places), np.asarray(broken, np.bool_)))
    return value_flags


def _suspect(keyword: str, wanted: Any, values: Sequence[Any]) -> bool:
    """Say quickly whether some value of a member may break a constraint."""
    if keyword == "minimum":
        return set(map(type, values)) != {int} or min(values) < wanted
    return True


def _breaks(keyword: str, wanted: Any, value: Any) -> bool:
    if keyword == "pattern":
        return type(value) is str and not compile_pattern(wanted)(value)
    return not isinstance(value, str | bool | bytes | Odd | type(None)) and value is not ... and _below(value, wanted)


def _below(value: Any, wanted: Any) -> bool:
    try:
        return bool(value < wanted)
    except TypeError:
        return False
