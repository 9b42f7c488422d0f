"""Grouping keys: everything discrete in a record that a verdict may depend on, as one hashable value."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cdc_contracts.registry.core.engine import decoder_kinds
from cdc_contracts.registry.core.engine.batch_tables import distinct_values
from cdc_contracts.registry.core.engine.decoded_batches import DecodedBatch
from cdc_contracts.registry.core.engine.decoder_kinds import Odd, Unfit, outline_of
from cdc_contracts.registry.core.engine.native.scanned_columns import NUMBER, ScannedColumn
from cdc_contracts.registry.core.engine.struct_layouts import LayoutPlan
from cdc_contracts.registry.core.values import Number

_NUMBERS: Final = frozenset({int, float, Number})
_LARGE: Final = 2**40


def find_grouping_keys(
    decoded_batch: DecodedBatch, plan: LayoutPlan, plain_names: Collection[str]
) -> tuple[NDArray[np.int64], list[tuple[Any, ...]]]:
    """Return the grouping key of each record as its place among the distinct keys, and those.

    Of plain names it has only how they are built.
    """
    parts = [
        _part_of_names(values) if pointer in plain_names else _discrete(decoded_batch, pointer, values, plan)
        for pointer, values in decoded_batch.members.items()
    ]
    parts += [_part_of_states(states) for states in decoded_batch.states.values()]
    parts += [_part_of_numbers(rows.state) for rows in decoded_batch.rows.values()]
    constant = [part.same for part in parts]
    varying = [(place, part.each) for place, part in enumerate(parts) if part.each is not None]
    coded = [(place, part.coded) for place, part in enumerate(parts) if part.coded is not None]
    if varying:
        keys = list(zip(*(each for _, each in varying), strict=True))
        distinct_keys = {key: code for code, key in enumerate(dict.fromkeys(keys))}
        codes = np.fromiter(map(distinct_keys.__getitem__, keys), np.int64, len(keys))
        found: list[tuple[Any, ...]] = list(distinct_keys)
    else:
        codes, found = np.zeros(len(decoded_batch), np.int64), [()]
    firsts, codes = _combine([codes, *(own for _, (own, _) in coded)])
    grouping_keys = []
    for first, code in firsts:
        whole = list(constant)
        for (place, _), value in zip(varying, found[code], strict=True):
            whole[place] = value
        for place, (own, values) in coded:
            whole[place] = values[own[first]]
        grouping_keys.append((*decoded_batch.members, decoded_batch.columns, tuple(whole)))
    return codes, grouping_keys


def _combine(parts: Sequence[NDArray[Any]]) -> tuple[list[tuple[int, int]], NDArray[np.int64]]:
    """Number the distinct combinations of some codes.

    Returns for each combination the index of its first record and that record's code of the first kind, and for each
    record the number of its combination.
    """
    combined = parts[0]
    for codes in parts[1:]:
        combined = combined * (int(codes.max()) + 1) + codes
        if combined.max() > _LARGE:
            _, combined = np.unique(combined, return_inverse=True)
    if (combined == combined[0]).all():
        return [(0, int(parts[0][0]))], np.zeros(len(combined), np.int64)
    _, firsts, codes = np.unique(combined, return_index=True, return_inverse=True)
    return [(first, int(parts[0][first])) for first in firsts.tolist()], codes


@dataclass(frozen=True, eq=False, slots=True)
class _KeyPart:
    """The contribution of a member to the grouping keys: the same for all records, or a code per record."""

    same: Any
    each: Sequence[Any] | None = None
    coded: tuple[NDArray[Any], Sequence[Any]] | None = None
    """The same as the place of each record's value among the distinct ones."""


def _part_of_names(values: Sequence[Any]) -> _KeyPart:
    """What belongs to the key of a name: the parts between its dots that are empty, and whatever is not a text."""
    codes, names = distinct_values(values)
    if set(map(type, names)) == {str} and all(names) and "." not in "".join(names):
        return _KeyPart(_build_of(names[0]))
    return _coded(codes, [_build_of(name) for name in names])


def _build_of(name: Any) -> Any:
    if type(name) is str:
        return ("name", *map(bool, name.split("."))) if "." in name else ("name", bool(name))
    return (type(name), str(name)) if type(name) in _NUMBERS else name


def _discrete(decoded_batch: DecodedBatch, pointer: str, values: Sequence[Any], plan: LayoutPlan) -> _KeyPart:
    """Return the part of a member in the key: its value, or only its kind; of lists and objects the kinds inside."""
    if isinstance(values, ScannedColumn):
        return _scanned(decoded_batch, pointer, values, plan)
    return _parsed(decoded_batch, pointer, values, plan)


def _scanned(decoded_batch: DecodedBatch, pointer: str, column: ScannedColumn, plan: LayoutPlan) -> _KeyPart:
    """Return the part of a scanned member in the key: as of a parsed one, computed from its distinct values."""
    discrete = pointer in plan.discrete
    if not discrete and pointer in plan.filled and column.by_filling is not None:
        return _coded(*column.by_filling)
    if discrete or column.decoder == decoder_kinds.RAW:
        found = column.distinct
    elif pointer in plan.filled or (column.decoder == decoder_kinds.WIDE and column.holds(1 << NUMBER)):
        found = None
    else:
        found = column.by_kind
    if found is None and column.decoder == decoder_kinds.RAW and not discrete and pointer not in plan.filled:
        return _part_of(_outlines(decoded_batch.unfit, column))
    if found is None:
        return _parsed(decoded_batch, pointer, column.objects, plan)
    codes, values = found
    unfit = set[int]()
    if discrete:
        values = [(type(value), str(value)) if type(value) in _NUMBERS else value for value in values]
    else:
        values = [_outline(unfit, code, value) for code, value in enumerate(values)]
    for code in unfit:
        decoded_batch.unfit.update(np.flatnonzero(codes == code).tolist())
    return _coded(codes, values)


def _coded(codes: NDArray[Any], values: Sequence[Any]) -> _KeyPart:
    """Return a part in which several codes may have equal values."""
    places = {value: place for place, value in enumerate(dict.fromkeys(values))}
    if len(places) == 1:
        return _KeyPart(values[0])
    if len(places) < len(values):
        codes = np.array([places[value] for value in values])[codes]
    return _KeyPart(None, coded=(codes, list(places)))


def _parsed(decoded_batch: DecodedBatch, pointer: str, values: Sequence[Any], plan: LayoutPlan) -> _KeyPart:
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
        return _part_of([_outline(decoded_batch.unfit, place, value) for place, value in enumerate(values)])
    if len(kinds) == 1 and Odd not in kinds:
        return _KeyPart(kinds.pop())
    return _part_of([value if type(value) is Odd else type(value) for value in values])


def _outlines(unfit: set[int], column: ScannedColumn) -> Sequence[Any]:
    """Return the outline of each value; lists of unsigned integers are alike, so one of them is parsed."""
    counted = column.last_counts >= 0
    if not counted.any():
        return [_outline(unfit, place, value) for place, value in enumerate(column.objects)]
    outlines = [outline_of(column.token(int(column.cells[int(np.argmax(counted))])))] * len(column)
    for place in np.flatnonzero(~counted).tolist():
        outlines[place] = _outline(unfit, place, column[place])
    return outlines


def _outline(unfit: set[int], position: int, value: Any) -> Any:
    if type(value) is not bytes:
        return value if type(value) is Odd else type(value)
    try:
        return outline_of(value)
    except Unfit:
        unfit.add(position)
        return None


def _part_of_states(states: Sequence[Any]) -> _KeyPart:
    return _coded(*states.by_kind) if isinstance(states, ScannedColumn) else _part_of(states)


def _part_of_numbers(numbers: NDArray[np.int32]) -> _KeyPart:
    if (numbers == numbers[0]).all():
        return _KeyPart(int(numbers[0]))
    values, codes = np.unique(numbers, return_inverse=True)
    return _KeyPart(None, coded=(codes, values.tolist()))


def _part_of(values: Sequence[Any]) -> _KeyPart:
    distinct = set(values)
    return _KeyPart(distinct.pop()) if len(distinct) == 1 else _KeyPart(None, values)
