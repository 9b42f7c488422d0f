"""Frames: everything discrete that a verdict may depend on, and the marks of what is unusual in the values.

Two records of one shape with the same frame and the same marks get the same verdict: the rules look at nothing else.
So the reference judges the first of them, and its verdict is the precedent for the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import repeat
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cdc_contracts.registry.common.json_messages import Unreadable, parse_message
from cdc_contracts.registry.common.linear_patterns import compile_pattern
from cdc_contracts.registry.common.pointers import split_pointer
from cdc_contracts.registry.contract.connect_schemas import Described, described_columns, differs_from_block
from cdc_contracts.registry.contract.model import Meaning
from cdc_contracts.registry.engine.decoded_batches import DecodedBatch, Rows
from cdc_contracts.registry.engine.decoder_kinds import Odd, Unfit, outline_of
from cdc_contracts.registry.engine.struct_layouts import FormUse, LayoutPlan
from cdc_contracts.registry.engine.value_columns import KIND_NAMES, ColumnValues
from cdc_contracts.registry.message.reading import read_names
from cdc_contracts.registry.validate.table_promises import ZERO_DATE
from cdc_contracts.registry.values import FIRST_RECORD, Flag, Number

ValueFlag = tuple[Any, ...]
Mask = NDArray[np.bool_]

_JSON_KINDS: Final = {type(None): "null", str: "string", bool: "boolean"}
_SMALL: Final = 2**14 - 1
_UNUSUAL: Final = (Flag.BROKEN, Flag.NOTED, Flag.TOO_LONG)
_NUMBERS: Final = frozenset({int, float, Number})
_MARKED: Final = (*_UNUSUAL, *KIND_NAMES)


@dataclass(eq=False, slots=True)
class VerdictGroup:
    """Records of a sheet with one frame and the same marks; `positions` are in the sheet, rising."""

    grouping_key: tuple[Any, ...]
    value_flags: tuple[ValueFlag, ...]
    positions: NDArray[np.int64]


def group_records(
    decoded_batch: DecodedBatch, plan: LayoutPlan, value_flags: Sequence[tuple[ValueFlag, Mask]]
) -> list[VerdictGroup]:
    """Return the records of a sheet by frame and marks, leaving out those only the reference may judge."""
    codes, grouping_keys = _frames(decoded_batch, plan)
    used = [(value_flag, mask) for value_flag, mask in value_flags if mask.any()]
    groups = []
    for positions in _alike(codes, [mask for _, mask in used]):
        first = int(positions[0])
        held = tuple(value_flag for value_flag, mask in used if mask[first])
        chosen = positions
        if decoded_batch.unfit:
            chosen = positions[~np.isin(positions, list(decoded_batch.unfit))]
        if len(chosen):
            groups.append(VerdictGroup(grouping_keys[codes[first]], held, chosen))
    return groups


def _alike(codes: NDArray[np.int64], masks: Sequence[Mask]) -> list[NDArray[np.int64]]:
    """Return the positions that have one code and the same masks, each group rising."""
    keys = codes
    for mask in masks:
        keys = keys * 2 + mask
        if keys.max() > _SMALL:
            _, keys = np.unique(keys, return_inverse=True)
    if not len(keys) or (keys == keys[0]).all():
        return [np.arange(len(keys))] if len(keys) else []
    if keys.max() <= _SMALL:
        keys = keys.astype(np.int16)  # sorted by radix
    order = np.argsort(keys, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(keys[order])) + 1)


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

    Whether they can be compared at all is a matter of their kinds, which belong to the frame.
    """
    value_flags: list[tuple[ValueFlag, Mask]] = []
    for relation in plan.relations:
        values = [decoded_batch.members.get(pointer, repeat(None, len(decoded_batch))) for pointer in relation.places]
        broken = [held is False for held in map(relation.holds, *values)]
        if any(broken):
            value_flags.append((("related", relation.name, relation.places), np.asarray(broken, np.bool_)))
    return value_flags


def column_flags(
    decoded_batch: DecodedBatch,
    rows: Rows,
    index: int,
    values: ColumnValues,
    uses: Sequence[FormUse],
    whole: Mask | None,
) -> list[tuple[ValueFlag, Mask]]:
    """Mark the records in which a column is absent, or its value does not have one of the forms it may have.

    `whole` are the records whose image holds every column (`whole_records`).
    """
    column, pointer = rows.image.columns[index], rows.image.pointer
    value_flags: list[tuple[ValueFlag, Mask]] = []
    decoded_batch.unfit.update(rows.record_of_row[values.unfit_rows].tolist())
    if values.present is not None and whole is not None:
        absent = _records(decoded_batch, rows, ~values.present) & whole
        if absent.any():
            value_flags.append((("absent", pointer, column.name), absent))
    if column.name in rows.image.told:
        kinds = [type(value) for value in values.tokens]
        for kind in set(kinds):
            of_kind = np.fromiter((one is kind for one in kinds), np.bool_, len(kinds))
            value_flags.append((("kind", pointer, column.name, kind), _records(decoded_batch, rows, of_kind)))
    if not (column.typed or column.by_kind):
        there = np.ones(rows.total, np.bool_) if values.present is None else values.present
        value_flags.append((("untyped", pointer, column.name), _records(decoded_batch, rows, there)))
    value_flags += _promise_marks(decoded_batch, rows, index, values, uses)
    for use in uses:
        flags = values.chunks[use].flags
        if flags is None:
            continue
        result = [flag for flag in np.unique(flags).tolist() if flag >= FIRST_RECORD] if _tells_more(use) else []
        for flag in (*(_UNUSUAL if column.by_kind else _MARKED), *result):
            flagged = flags == flag
            if flagged.any():
                value_flag = ("value", pointer, column.name, use.form.name, int(flag))
                value_flags.append((value_flag, _records(decoded_batch, rows, flagged)))
    return value_flags


def _promise_marks(
    decoded_batch: DecodedBatch, rows: Rows, index: int, values: ColumnValues, uses: Sequence[FormUse]
) -> list[tuple[ValueFlag, Mask]]:
    """Mark the records in which a column is not what its table contract says of it besides its type."""
    column, pointer = rows.image.columns[index], rows.image.pointer
    value_flags: list[tuple[ValueFlag, Mask]] = []
    if column.never_null and values.valued is not None:
        nulls = np.zeros(rows.total, np.bool_)
        nulls[np.arange(rows.total) if values.held is None else values.held] = ~values.valued
        value_flags.append((("null", pointer, column.name), _records(decoded_batch, rows, nulls)))
    for use in uses:
        flags = values.chunks[use].flags if use.declared else None
        if flags is None or not (invalid := flags == Flag.INVALID).any():
            continue
        zero = np.zeros(rows.total, np.bool_)
        for row in np.flatnonzero(invalid).tolist():
            zero[row] = str(values.tokens[row]).startswith(ZERO_DATE)
        for says, mask in (("zero", invalid & zero), ("no-such-time", invalid & ~zero)):
            value_flags.append(((says, pointer, column.name, use.form.name), _records(decoded_batch, rows, mask)))
    return value_flags


def _tells_more(use: FormUse) -> bool:
    """Say whether flags may tell the record that holds a value, or what keeps it out of its declared type."""
    return bool(use.form.records) or use.bound is not None


@dataclass(frozen=True)
class Readers:
    """The versions that read a value by the form of a mark, and those of them for which the mark is an error."""

    all: frozenset[int]
    refusing: frozenset[int]


def fold_flags(
    value_flags: Sequence[tuple[ValueFlag, Mask]], readers: Mapping[ValueFlag, Readers], judged: frozenset[int]
) -> list[tuple[ValueFlag, Mask]]:
    """Fold what only other versions would find unusual, where the judged ones find nothing.

    `readers` has the marks on values; a mark that is not in it concerns all versions. A record that no judged version
    has a mark on fits or not by its frame alone: of the other versions it then matters only whether they accept it
    too. Holds among versions that differ in value forms and in nothing else, with severities as they are by default.
    """
    others = {version for found in readers.values() for version in found.all} - judged
    if not others:
        return list(value_flags)
    touched = np.zeros(len(value_flags[0][1]), np.bool_)
    for value_flag, mask in value_flags:
        if value_flag not in readers or readers[value_flag].all & judged:
            touched |= mask
    folded = [(value_flag, mask & touched) for value_flag, mask in value_flags]
    for version in sorted(others):
        refused = np.zeros(len(touched), np.bool_)
        for value_flag, mask in value_flags:
            if value_flag in readers and version in readers[value_flag].refusing:
                refused |= mask
        folded.append((("refused", version), refused & ~touched))
    return folded


def readers_of_flags(rows: Rows, index: int, value_flags: Sequence[tuple[ValueFlag, Mask]]) -> dict[ValueFlag, Readers]:
    """Return for the marks on the values of a column which versions read it so."""
    readers: dict[ValueFlag, Readers] = {}
    for value_flag, _ in value_flags:
        if value_flag[0] == "value":
            uses = enumerate(rows.image.columns[index].uses)
            users = {version: use for version, use in uses if use is not None and use.form.name == value_flag[3]}
            accepting = {version for version, use in users.items() if _accepts(use, value_flag[-1])}
            readers[value_flag] = Readers(frozenset(users), frozenset(users.keys() - accepting))
    return readers


def _accepts(use: FormUse, flag: int) -> bool:
    return flag == Flag.NOTED or (flag == Flag.BROKEN and use.lenient)


def whole_records(decoded_batch: DecodedBatch, rows: Rows) -> Mask | None:
    """Return the records whose image holds every column, None where there are none.

    An image may be partial for one op and whole for another.
    """
    if not rows.image.partial:
        return np.ones(len(decoded_batch), np.bool_)
    codes, whole_for = decoded_batch.members.get(rows.image.op_at, ()), rows.image.whole_for
    if whole_for.isdisjoint(set(codes)):
        return None
    return np.fromiter((code in whole_for for code in codes), np.bool_, len(decoded_batch))


def completion_flags(
    decoded_batch: DecodedBatch,
    columns: Mapping[tuple[str, int], ColumnValues],
    plan: LayoutPlan,
    value_flags: Sequence[tuple[ValueFlag, Mask]],
) -> list[tuple[ValueFlag, Mask]]:
    """Mark what partial images hold in the records where the image below does not complete them.

    Where the rows of such a record differ in their columns, no mark tells which row completes which: it is left to
    the reference.
    """
    partial = [rows for rows in decoded_batch.rows.values() if rows.image.partial and rows.total]
    incomplete, held_partly = np.zeros(len(decoded_batch), np.bool_), np.zeros(len(decoded_batch), np.bool_)
    for value_flag, mask in value_flags:
        if value_flag[0] == "absent":
            incomplete |= mask
    for rows in partial:
        for pointer in plan.over[rows.image.pointer]:
            incomplete |= rows.count > decoded_batch.rows[pointer].count
    if not partial or not incomplete.any():
        return []
    found: list[tuple[ValueFlag, Mask]] = []
    for (pointer, index), values in columns.items():
        rows = decoded_batch.rows[pointer]
        there = np.ones(rows.total, np.bool_) if values.present is None else values.present
        held = _records(decoded_batch, rows, there)
        held_partly |= held & _records(decoded_batch, rows, ~there)
        if rows.image.partial:
            found.append((("present", pointer, rows.image.columns[index].name), held & incomplete))
    counts = np.stack([rows.count for rows in partial]).max(axis=0)
    decoded_batch.unfit.update(np.flatnonzero(held_partly & incomplete & (counts > 0)).tolist())
    return found


def key_flags(
    decoded_batch: DecodedBatch, columns: Mapping[tuple[str, int], ColumnValues], meaning: Meaning
) -> list[tuple[ValueFlag, Mask]]:
    """Mark per image the records whose key columns have, or have not, the values that the message joins for them."""
    key_place, value_place = meaning.envelope.primary_key, meaning.envelope.primary_key_values
    if key_place is None or value_place is None or key_place.at is None or value_place.at is None:
        return []
    keys = decoded_batch.members.get(key_place.at, ())
    joined = decoded_batch.members.get(value_place.at, ())
    names = {key: read_names(key, key_place) for key in set(keys) if isinstance(key, str)}
    value_flags: list[tuple[ValueFlag, Mask]] = []
    for pointer, rows in decoded_batch.rows.items():
        if not rows.total:
            continue
        places = {column.name: index for index, column in enumerate(rows.image.columns)}
        found = np.zeros((2, len(decoded_batch)), np.bool_)
        for row, record in enumerate(rows.record_of_row.tolist()):
            wanted = names.get(keys[record]) if isinstance(keys[record], str) else None
            if not wanted or not isinstance(joined[record], str):
                continue
            texts = [_wire_text(columns, pointer, places.get(name), row) for name in wanted]
            if None not in texts:
                found[int("\u0001".join(texts) == joined[record]), record] = True  # type: ignore[arg-type]
        value_flags += [(("key-differs", pointer), found[0]), (("key-agrees", pointer), found[1])]
    return value_flags


def hint_flags(
    decoded_batch: DecodedBatch, columns: Mapping[tuple[str, int], ColumnValues], meaning: Meaning
) -> list[tuple[ValueFlag, Mask]]:
    """Mark the records whose schema block does not describe the columns of their images."""
    hints = meaning.columns.hints
    blocks = decoded_batch.members.get(f"{hints.at}/fields") if hints else None
    if hints is None or blocks is None:
        return []
    differs = np.zeros(len(decoded_batch), np.bool_)
    for block in {block for block in blocks if isinstance(block, bytes)}:
        described = _described_in(block)
        of_block = np.fromiter((one == block for one in blocks), np.bool_, len(decoded_batch))
        for (pointer, index), values in columns.items():
            rows = decoded_batch.rows[pointer]
            known = described.get(split_pointer(pointer)[-1], {})
            name = rows.image.columns[index].name
            wrong = {
                kind
                for kind in set(map(type, values.tokens))
                if differs_from_block(known, name, _JSON_KINDS.get(kind, "number"))
            }
            if wrong:
                unlike = np.fromiter((type(value) in wrong for value in values.tokens), np.bool_, rows.total)
                there = unlike if values.present is None else unlike & values.present
                differs |= _records(decoded_batch, rows, there) & of_block
    return [(("hint", hints.at), differs)] if differs.any() else []


@lru_cache(maxsize=256)
def _described_in(fields: bytes) -> Described:
    try:
        return described_columns(parse_message(b'{"fields":' + fields + b"}"))
    except Unreadable:
        return {}


def _wire_text(
    columns: Mapping[tuple[str, int], ColumnValues], pointer: str, index: int | None, row: int
) -> str | None:
    """Return the wire text of a value, or None where the row lacks the column."""
    values = columns.get((pointer, index)) if index is not None else None
    if values is None or (values.present is not None and not values.present[row]):
        return None
    value = values.tokens[row]
    if isinstance(value, Number):
        return "0" if value.token == "-0" else value.token  # noqa: S105  a JSON token
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, bool):
        return str(value).lower()
    return "null" if value is None else str(value)


def _records(decoded_batch: DecodedBatch, rows: Rows, flagged: Mask) -> Mask:
    """From rows to the records that hold them."""
    if rows.total == len(decoded_batch) and (rows.count == 1).all():
        return flagged
    marked = np.zeros(len(decoded_batch), np.bool_)
    marked[rows.record_of_row[flagged]] = True
    return marked


def plain_names(decoded_batch: DecodedBatch, plan: LayoutPlan, group: VerdictGroup) -> dict[str, str]:
    """Return the names of a group's table by pointer, as far as no rule can ask for more than how they are built."""
    first = group.positions[0]
    result = {
        pointer: decoded_batch.members[pointer][first]
        for pointer in plan.plain_names
        if pointer in decoded_batch.members
    }
    return {pointer: name for pointer, name in result.items() if type(name) is str}


def nameless(grouping_key: tuple[Any, ...], plain: Mapping[str, str]) -> tuple[Any, ...]:
    """Return a frame with how its plain names are built in the place of the names: the parts between their dots."""
    *pointers, columns, result = grouping_key
    parts = list(result)
    for pointer, name in plain.items():
        parts[pointers.index(pointer)] = ("name", *map(bool, name.split(".")))
    return (*pointers, columns, *parts)


def _frames(decoded_batch: DecodedBatch, plan: LayoutPlan) -> tuple[NDArray[np.int64], list[tuple[Any, ...]]]:
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
    """What a member adds to the frames: the same for all records, or something of each."""

    same: Any
    each: Sequence[Any] | None = None


def _discrete(decoded_batch: DecodedBatch, pointer: str, values: Sequence[Any], plan: LayoutPlan) -> _KeyPart:
    """What of a member belongs to the frame: its value, or only of which kind it is, lists and objects all through."""
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
