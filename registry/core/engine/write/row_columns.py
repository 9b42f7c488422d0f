"""Row columns: the columns of the decoded rows of a validated batch, with their source types and canonical kinds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from cdc_contracts.registry.core.engine.group.batch_results import BatchResult, GroupResult
from cdc_contracts.registry.core.engine.layouts.batch_tables import Tables
from cdc_contracts.registry.core.message.canonical_changes import Change
from cdc_contracts.registry.core.message.reading import Reading
from cdc_contracts.registry.core.stats.observed_columns import ObservedColumn, ObservedColumns, ObservedRow, TableName
from cdc_contracts.registry.core.validate.form_selection import TypedColumns
from cdc_contracts.registry.core.validate.verdicts import CONFORMING
from cdc_contracts.registry.core.values import FORMS


def observe_columns(batch_result: BatchResult) -> ObservedColumns:
    """Return the columns of all rows of a validated batch, by table.

    Every column of a type map counts, even if an image does not hold it. A column without a type is text.
    """
    seen = ObservedColumns()
    for group_result in batch_result.group_results:
        if group_result.verdict.outcome == CONFORMING and group_result.verdict.version is not None:
            place = group_result.place
            cached_verdict = group_result.record_group.cached_verdict
            reading, columns = cached_verdict.readings[place], cached_verdict.columns[place]
            if place not in cached_verdict.shapes:
                cached_verdict.shapes[place] = _typed_shape(columns, reading)
            typed = cached_verdict.shapes[place]
            tables = group_result.record_group.tables(place)
            untyped = _untyped_names(group_result, reading, columns, tables)
            shapes: dict[tuple[str, ...], ObservedRow] = {(): typed}
            for code in tables.held():
                names = tables.names[code]
                found = tuple(untyped.get(code, ()))
                if found not in shapes:
                    shapes[found] = _with_untyped(typed, found)
                seen.add(TableName.of(names.database, names.schema, names.table), shapes[found])
    for _, validated in batch_result.alone:
        if validated.changes and validated.reading is not None and validated.columns is not None:
            typed = _typed_shape(validated.columns, validated.reading)
            seen.add(table_of(validated.reading), _with_untyped(typed, tuple(_names_in(validated.changes))))
    return seen


def table_of(reading: Reading) -> TableName:
    """Return the name of the table of a message."""
    names = reading.names
    return TableName.of(names.database, names.schema, names.table)


def _typed_shape(columns: TypedColumns, reading: Reading) -> ObservedRow:
    zone = reading.reading_options.timestamp_zone(columns.table)
    forms = (
        (name, source_type, columns.mapping.form_of(source_type)) for name, source_type in (columns.types or {}).items()
    )
    return tuple(
        ObservedColumn(name, source_type, None if form is None else FORMS[form].kind_in(zone))
        for name, source_type, form in forms
    )


def _with_untyped(typed: ObservedRow, names: Sequence[str]) -> ObservedRow:
    if not names:
        return typed
    known = {one.name for one in typed}
    return typed + tuple(ObservedColumn(name, None, None) for name in dict.fromkeys(names) if name not in known)


def _untyped_names(
    group_result: GroupResult, reading: Reading, columns: TypedColumns, tables: Tables
) -> dict[int, list[str]]:
    """Return the columns without a declared type that rows of the records have, by the place of their table."""
    found: dict[int, list[str]] = {}
    record_group = group_result.record_group
    for pointer in reading.row_places:
        rows = record_group.decoded_batch.rows.get(pointer)
        others = [
            (index, column.name)
            for index, column in enumerate(rows.image.columns if rows is not None else ())
            if column.name not in (columns.types or ()) and (pointer, index) in record_group.columns
        ]
        if rows is None or not others:
            continue
        mine = rows.of(record_group.positions)
        codes = np.repeat(tables.codes, rows.count[record_group.positions])
        all_held = np.unique(codes).tolist()
        for index, name in others:
            present = record_group.columns[pointer, index].present
            held = all_held if present is None else np.unique(codes[present[mine]]).tolist()
            for code in held:
                found.setdefault(code, []).append(name)
    return found


def _names_in(changes: Iterable[Change]) -> Iterator[str]:
    for change in changes:
        yield from change.before or ()
        yield from change.after or ()
