"""Flags of whole images: partial images that nothing completes, disagreeing keys, schema blocks of other columns."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cdc_contracts.registry.core.common.json_messages import Unreadable, parse_message
from cdc_contracts.registry.core.common.pointers import split_pointer
from cdc_contracts.registry.core.contract.connect_schemas import Described, described_columns, differs_from_block
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.engine.columns.value_columns import ColumnValues
from cdc_contracts.registry.core.engine.columns.value_flags import Mask, ValueFlag, records_of_rows
from cdc_contracts.registry.core.engine.layouts.decoded_batches import DecodedBatch, Rows
from cdc_contracts.registry.core.engine.layouts.parsed_columns import ParsedColumn
from cdc_contracts.registry.core.engine.layouts.struct_layouts import LayoutPlan
from cdc_contracts.registry.core.message.primary_keys import read_names

_KEY_FLAGS: Final = ("key-differs", "key-agrees")
_JSON_KINDS: Final = {type(None): "null", str: "string", bool: "boolean"}


def whole_records(decoded_batch: DecodedBatch, rows: Rows) -> Mask | None:
    """Return the records whose image holds every column, None if there are none.

    An image may be partial for one op and whole for another.
    """
    if not rows.image.partial:
        return np.ones(len(decoded_batch), np.bool_)
    ops = decoded_batch.members.get(rows.image.op_at)
    if ops is None:
        return None
    places, distinct = ops.distinct
    whole = np.array([code in rows.image.whole_for for code in distinct], np.bool_)
    return whole[places] if whole.any() else None


def completion_flags(
    decoded_batch: DecodedBatch,
    columns: Mapping[tuple[str, int], ColumnValues],
    plan: LayoutPlan,
    value_flags: Sequence[tuple[ValueFlag, Mask]],
) -> list[tuple[ValueFlag, Mask]]:
    """Mark the columns of partial images in the records in which the image below does not complete them.

    If the rows of such a record differ in their columns, no flag can say which row completes which: the reference
    validates it.
    """
    partial = [rows for rows in decoded_batch.rows.values() if rows.image.partial and rows.total]
    incomplete, held_partly = np.zeros(len(decoded_batch), np.bool_), np.zeros(len(decoded_batch), np.bool_)
    for value_flag, mask in value_flags:
        if value_flag[0] == "absent":
            incomplete |= mask
    for rows in partial:
        for pointer in plan.images[rows.image.pointer].completed_from:
            incomplete |= rows.count > decoded_batch.rows[pointer].count
    if not partial or not incomplete.any():
        return []
    found: list[tuple[ValueFlag, Mask]] = []
    for (pointer, index), values in columns.items():
        rows = decoded_batch.rows[pointer]
        there = np.ones(rows.total, np.bool_) if values.present is None else values.present
        held = records_of_rows(decoded_batch, rows, there)
        held_partly |= held & records_of_rows(decoded_batch, rows, ~there)
        if rows.image.partial:
            found.append((("present", pointer, rows.image.columns[index].name), held & incomplete))
    counts = np.stack([rows.count for rows in partial]).max(axis=0)
    decoded_batch.unfit.update(np.flatnonzero(held_partly & incomplete & (counts > 0)).tolist())
    return found


def empty_row_flags(
    decoded_batch: DecodedBatch, columns: Mapping[tuple[str, int], ColumnValues], images: Collection[str]
) -> list[tuple[ValueFlag, Mask]]:
    """Mark per image the records that have a row without any column."""
    value_flags: list[tuple[ValueFlag, Mask]] = []
    for pointer in images:
        rows = decoded_batch.rows.get(pointer)
        if rows is None or not rows.total:
            continue
        held = [values.present for (at, _), values in columns.items() if at == pointer]
        partly = [present for present in held if present is not None]
        if len(partly) < len(held):
            continue  # every row has some column
        empty = ~np.logical_or.reduce(partly) if partly else np.ones(rows.total, np.bool_)
        if empty.any():
            value_flags.append((("empty-row", pointer), records_of_rows(decoded_batch, rows, empty)))
    return value_flags


def key_flags(
    decoded_batch: DecodedBatch, columns: Mapping[tuple[str, int], ColumnValues], meaning: Meaning
) -> list[tuple[ValueFlag, Mask]]:
    """Mark per image the records whose key columns agree, or disagree, with the joined key values of the message."""
    key_place, value_place = meaning.envelope.primary_key, meaning.envelope.primary_key_values
    if key_place is None or value_place is None or key_place.in_value is None or value_place.at is None:
        return []
    keys, joined = decoded_batch.members.get(key_place.in_value), decoded_batch.members.get(value_place.at)
    if keys is None or joined is None:
        return []
    names = {key: read_names(key, key_place) for key in keys.distinct[1] if isinstance(key, str)}
    value_flags: list[tuple[ValueFlag, Mask]] = []
    _leave_odd(decoded_batch, columns, {name for key in names.values() for name in key or ()})
    for pointer, rows in decoded_batch.rows.items():
        if not rows.total:
            continue
        by_name = {column.name: columns.get((pointer, at)) for at, column in enumerate(rows.image.columns)}
        for says, of_rows in zip(_KEY_FLAGS, _compare_keys(rows, by_name, names, keys, joined), strict=True):
            found = np.zeros(len(decoded_batch), np.bool_)
            found[rows.record_of_row[of_rows]] = True
            value_flags.append(((says, pointer), found))
    return value_flags


def _leave_odd(
    decoded_batch: DecodedBatch, columns: Mapping[tuple[str, int], ColumnValues], names: Collection[str] | None
) -> None:
    """Leave records that have arrays or objects in some columns, or in any, to the reference: these are compared."""
    for (pointer, index), values in columns.items():
        rows = decoded_batch.rows[pointer]
        if values.odd_rows and (names is None or rows.image.columns[index].name in names):
            for places in values.odd_rows.values():
                decoded_batch.unfit.update(rows.record_of_row[places].tolist())


def _compare_keys(
    rows: Rows,
    columns: Mapping[str, ColumnValues | None],
    names: Mapping[str, Sequence[str] | None],
    keys: ParsedColumn,
    joined: ParsedColumn,
) -> tuple[Mask, Mask]:
    """Return the rows whose key columns disagree with the joined key values of the message, and those that agree."""
    codes, distinct = keys.distinct
    differs, agrees = np.zeros(rows.total, np.bool_), np.zeros(rows.total, np.bool_)
    wanted_texts = joined.as_texts.take(pa.array(rows.record_of_row))
    is_text = wanted_texts.is_valid().to_numpy(zero_copy_only=False)
    for code, key in enumerate(distinct):
        wanted = names.get(key) if isinstance(key, str) else None
        found = [column for column in map(columns.get, wanted or ()) if column is not None]
        if not wanted or len(found) < len(wanted):
            continue
        mine = is_text & (codes[rows.record_of_row] == code)
        texts = []
        for values in found:
            text = values.values.wire_texts()
            if values.present is not None:
                mine &= values.present
                text = text.take(pa.array(np.maximum(np.cumsum(values.present) - 1, 0))) if len(text) else wanted_texts
            texts.append(text)
        same = pc.equal(pc.binary_join_element_wise(*texts, "\u0001"), wanted_texts)
        equal = same.fill_null(fill_value=False).to_numpy(zero_copy_only=False)
        agrees |= mine & equal
        differs |= mine & ~equal
    return differs, agrees


def hint_flags(
    decoded_batch: DecodedBatch, columns: Mapping[tuple[str, int], ColumnValues], meaning: Meaning
) -> list[tuple[ValueFlag, Mask]]:
    """Mark the records whose schema block does not describe the columns of their images."""
    schema_block = meaning.columns.schema_block
    _leave_odd(decoded_batch, columns, None)
    blocks = decoded_batch.members.get(f"{schema_block.at}/fields") if schema_block else None
    if schema_block is None or blocks is None:
        return []
    differs = np.zeros(len(decoded_batch), np.bool_)
    codes, found = blocks.distinct
    for block in {block for block in found if isinstance(block, bytes)}:
        described = _described_in(block)
        of_block = np.array([one == block for one in found], np.bool_)[codes]
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
                differs |= records_of_rows(decoded_batch, rows, there) & of_block
    return [(("hint", schema_block.at), differs)] if differs.any() else []


@lru_cache(maxsize=256)
def _described_in(fields: bytes) -> Described:
    try:
        return described_columns(parse_message(b'{"fields":' + fields + b"}"))
    except Unreadable:
        return {}
