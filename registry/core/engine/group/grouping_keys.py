"""Grouping keys: everything discrete in a record that a verdict may depend on, as one hashable value."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cdc_contracts.registry.core.engine.group.unlisted_values import MemberKinds, key_of_value
from cdc_contracts.registry.core.engine.layouts import decoder_kinds
from cdc_contracts.registry.core.engine.layouts.decoded_batches import DecodedBatch
from cdc_contracts.registry.core.engine.layouts.decoder_kinds import Odd, Unfit, outline_of
from cdc_contracts.registry.core.engine.layouts.parsed_columns import Coded, ParsedColumn
from cdc_contracts.registry.core.engine.layouts.struct_layouts import LayoutPlan
from cdc_contracts.registry.core.records.code_orders import number_codes

_LARGE: Final = 2**40


def find_envelope_keys(
    decoded_batch: DecodedBatch, plan: LayoutPlan, plain_names: Collection[str], member_kinds: MemberKinds
) -> Coded:
    """Return the part of the members of each record in its grouping key: its place among distinct parts, and those.

    Of plain names it has only how they are built.
    """
    parts = [
        _part_of_names(values)
        if pointer in plain_names
        else _discrete(decoded_batch, pointer, values, plan, member_kinds)
        for pointer, values in decoded_batch.members.items()
    ]
    return _join_parts(parts, len(decoded_batch))


def find_grouping_keys(
    decoded_batch: DecodedBatch, envelope_keys: Coded, kafka_keys: Coded
) -> tuple[NDArray[np.int64], list[tuple[Any, ...]]]:
    """Return the grouping key of each record as its place among the distinct keys, and those.

    `envelope_keys` is what the members of the records are, `kafka_keys` what their keys state, as parts.
    """
    parts = [envelope_keys, *(_coded(*states.by_kind) for states in decoded_batch.states.values())]
    parts += [*(_part_of_numbers(rows.state) for rows in decoded_batch.rows.values()), kafka_keys]
    codes, keys = _join_parts(parts, len(decoded_batch))
    return codes, [(*decoded_batch.members, decoded_batch.columns, key) for key in keys]


def _join_parts(parts: Sequence[Coded], total: int) -> Coded:
    """Return parts of the keys of some records as one part."""
    combinations, codes = _combine([np.zeros(total, np.int64), *(own for own, values in parts if len(values) > 1)])
    return codes, [tuple([values[own[first]] for own, values in parts]) for first in combinations]


def _combine(parts: Sequence[NDArray[Any]]) -> tuple[list[int], NDArray[np.int64]]:
    """Number the distinct combinations of some codes.

    Returns the index of the first record of each combination, and for each record the number of its combination.
    """
    combined = parts[0]
    for codes in parts[1:]:
        most = int(codes.max())
        combined = combined * (most + 1) + codes if most else combined
        if combined.max() > _LARGE:
            _, combined = np.unique(combined, return_inverse=True)
    if (combined == combined[0]).all():
        return [0], np.zeros(len(combined), np.int64)
    firsts, codes = number_codes(combined)
    return firsts.tolist(), codes


def _part_of_names(values: ParsedColumn) -> Coded:
    """What belongs to the key of a name: the parts between its dots that are empty, and whatever is not a text."""
    codes, names = values.distinct
    if set(map(type, names)) == {str} and all(names) and "." not in "".join(names):
        return np.zeros(len(codes), np.uint8), [_build_of(names[0])]
    return _coded(codes, [_build_of(name) for name in names])


def _build_of(name: Any) -> Any:
    if type(name) is str:
        return ("name", *map(bool, name.split("."))) if "." in name else ("name", bool(name))
    return key_of_value(name)


def _discrete(
    decoded_batch: DecodedBatch, pointer: str, values: ParsedColumn, plan: LayoutPlan, member_kinds: MemberKinds
) -> Coded:
    """Return the part of a member in the key: its value as far as it matters, or only its kind, at every depth."""
    if pointer in plan.discrete:
        codes, found = values.distinct
        return _coded(codes, [member_kinds.key_of(pointer, value) for value in found])
    if values.decoder == decoder_kinds.RAW:
        return _outlines(decoded_batch, values)
    if pointer in plan.filled:
        return values.by_filling
    codes, found = values.by_kind
    return _coded(codes, [value if type(value) is Odd else type(value) for value in found])


def _outlines(decoded_batch: DecodedBatch, values: ParsedColumn) -> Coded:
    """Return the outline of each value; lists of unsigned integers are alike, so one of them is parsed."""
    if values.all_last_counts is not None:
        return np.zeros(len(values), np.uint8), [outline_of(values[0])]
    codes, found = values.distinct
    unfit = set[int]()
    outlines = [_outline(unfit, code, value) for code, value in enumerate(found)]
    for code in unfit:
        decoded_batch.unfit.update(np.flatnonzero(codes == code).tolist())
    return _coded(codes, outlines)


def _outline(unfit: set[int], code: int, value: Any) -> Any:
    if type(value) is not bytes:
        return value if type(value) is Odd else type(value)
    try:
        return outline_of(value)
    except Unfit:
        unfit.add(code)
        return None


def _coded(codes: NDArray[Any], values: Sequence[Any]) -> Coded:
    """Return a part in which several codes may have equal values."""
    if len(values) == 1:
        return codes, [*values]
    places = {value: place for place, value in enumerate(dict.fromkeys(values))}
    if len(places) < len(values):
        codes = np.array([places[value] for value in values])[codes]
    return codes, list(places)


def _part_of_numbers(numbers: NDArray[np.int32]) -> Coded:
    if (numbers == numbers[0]).all():
        return np.zeros(len(numbers), np.uint8), [int(numbers[0])]
    firsts, codes = number_codes(numbers)
    return codes, numbers[firsts].tolist()
