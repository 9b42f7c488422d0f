"""Grouping keys: of each record everything discrete that a verdict may depend on, in one hashable value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cdc_contracts.registry.engine.decoded_batches import DecodedBatch
from cdc_contracts.registry.engine.decoder_kinds import Odd, Unfit, outline_of
from cdc_contracts.registry.engine.struct_layouts import LayoutPlan
from cdc_contracts.registry.values import Number

_NUMBERS: Final = frozenset({int, float, Number})


def nameless(grouping_key: tuple[Any, ...], plain: Mapping[str, str]) -> tuple[Any, ...]:
    """Return a grouping key with how its plain names are built, the parts between dots, in the place of the names."""
    *pointers, columns, result = grouping_key
    parts = list(result)
    for pointer, name in plain.items():
        parts[pointers.index(pointer)] = ("name", *map(bool, name.split(".")))
    return (*pointers, columns, *parts)


def find_grouping_keys(
    decoded_batch: DecodedBatch, plan: LayoutPlan
) -> tuple[NDArray[np.int64], list[tuple[Any, ...]]]:
    """Return the grouping key of each record as its place among the distinct keys, and those."""
    parts = [_discrete(decoded_batch, pointer, values, plan) for pointer, values in decoded_batch.members.items()]
    parts += [_part_of(states) for states in decoded_batch.states.values()]
    parts += [_part_of(rows.state.tolist()) for rows in decoded_batch.rows.values()]
    constant = [part.same for part in parts]
    varying = [(place, part.each) for place, part in enumerate(parts) if part.each is not None]
    if not varying:
        return np.zeros(len(decoded_batch), np.int64), [
            (*decoded_batch.members, decoded_batch.columns, tuple(constant))
        ]
    keys = list(zip(*(each for _, each in varying), strict=True))
    distinct_keys = {key: code for code, key in enumerate(dict.fromkeys(keys))}
    codes = np.fromiter(map(distinct_keys.__getitem__, keys), np.int64, len(keys))
    grouping_keys = []
    for key in distinct_keys:
        whole = list(constant)
        for (place, _), value in zip(varying, key, strict=True):
            whole[place] = value
        grouping_keys.append((*decoded_batch.members, decoded_batch.columns, tuple(whole)))
    return codes, grouping_keys


@dataclass(frozen=True, eq=False, slots=True)
class _KeyPart:
    """What a member adds to the grouping keys: the same for all records, or something of each."""

    same: Any
    each: Sequence[Any] | None = None


def _discrete(decoded_batch: DecodedBatch, pointer: str, values: Sequence[Any], plan: LayoutPlan) -> _KeyPart:
    """What of a member belongs to the key: its value, or only of which kind it is, lists and objects all through."""
    if pointer in plan.discrete:
        if set(map(type, values)) & _NUMBERS:  # 1 is True to a dictionary, but not to a contract
            values = [(type(value), str(value)) if type(value) in _NUMBERS else value for value in values]
        return _part_of(values)
    if pointer in plan.filled:
        return _part_of([
            bool(value) if type(value) is str else value if type(value) is Odd else type(value) for value in values
        ])  # fmt: skip
    kinds = set(map(type, values))
    if bytes in kinds:
        return _part_of([_outline(decoded_batch, place, value) for place, value in enumerate(values)])
    if len(kinds) == 1 and Odd not in kinds:
        return _KeyPart(kinds.pop())
    return _part_of([value if type(value) is Odd else type(value) for value in values])


def _outline(decoded_batch: DecodedBatch, position: int, value: Any) -> Any:
    if type(value) is not bytes:
        return value if type(value) is Odd else type(value)
    try:
        return outline_of(value)
    except Unfit:
        decoded_batch.unfit.add(position)
        return None


def _part_of(values: Sequence[Any]) -> _KeyPart:
    distinct = set(values)
    return _KeyPart(distinct.pop()) if len(distinct) == 1 else _KeyPart(None, values)
