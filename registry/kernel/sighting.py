"""Sighting: which columns the decoded rows of a judged batch had, with their source types and canonical kinds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import numpy as np

from cdc_contracts.registry.canonical.sightings import SightedRow, Sighting, Sightings, TableName
from cdc_contracts.registry.changes import Change
from cdc_contracts.registry.forms import FORMS
from cdc_contracts.registry.kernel.judging import Bench, Ruling
from cdc_contracts.registry.reading import Reading
from cdc_contracts.registry.reference import TypedColumns
from cdc_contracts.registry.verdicts import CONFORMING

_ZONED_BY_TERMS: Final = "sql-datetime-instant"
"""The form that is an instant only where its zone is known: without, its text is a wall-clock time."""


def sight(bench: Bench) -> Sightings:
    """Return the columns of all rows that a judged batch gives, by table.

    Every column of a type map counts, also where an image does not hold it. What has no type is text.
    """
    seen = Sightings()
    for ruling in bench.rulings:
        if ruling.verdict.outcome == CONFORMING and ruling.verdict.version is not None:
            place = ruling.place
            precedent = ruling.alike.precedent
            reading, columns = precedent.readings[place], precedent.columns[place]
            if place not in precedent.shapes:
                precedent.shapes[place] = _typed_shape(columns, reading)
            typed = precedent.shapes[place]
            all_typed = columns.origin == "message" and columns.types is not None
            untyped = () if all_typed else tuple(_untyped_names(ruling, reading, columns))
            seen.add(_name_of(reading), _with_untyped(typed, untyped))
    for _, judged in bench.alone:
        if judged.changes and judged.reading is not None and judged.columns is not None:
            typed = _typed_shape(judged.columns, judged.reading)
            seen.add(_name_of(judged.reading), _with_untyped(typed, tuple(_names_in(judged.changes))))
    return seen


def _name_of(reading: Reading) -> TableName:
    names = reading.names
    return TableName.of(names.database, names.schema, names.table)


def _typed_shape(columns: TypedColumns, reading: Reading) -> SightedRow:
    own_zone = columns.table.source_time_zone if columns.table is not None else None
    zoned = own_zone is not None or reading.terms.zone("timestamp_zone") is not None
    return tuple(
        Sighting(name, source_type, _kind(columns, source_type, zoned=zoned))
        for name, source_type in (columns.types or {}).items()
    )


def _kind(columns: TypedColumns, source_type: str, *, zoned: bool) -> str | None:
    form = columns.mapping.form_of(source_type)
    if form is None:
        return None
    return "datetime" if form == _ZONED_BY_TERMS and not zoned else FORMS[form].kind


def _with_untyped(typed: SightedRow, names: Sequence[str]) -> SightedRow:
    if not names:
        return typed
    known = {one.name for one in typed}
    return typed + tuple(Sighting(name, None, None) for name in dict.fromkeys(names) if name not in known)


def _untyped_names(ruling: Ruling, reading: Reading, columns: TypedColumns) -> Iterator[str]:
    """Yield the columns that no type is told of and that rows of the records have."""
    alike, images = ruling.alike, reading.meaning.images.of(reading.op or "")
    sides = [side for side in (images.before, images.after) if side] if images else []
    for pointer in dict.fromkeys(
        place for side in sides for place in (reading.source(side), side.over) if place is not None
    ):
        rows = alike.sheet.rows.get(pointer)
        if rows is None:
            continue
        mine = np.isin(rows.record_of_row, alike.positions)
        for index, column in enumerate(rows.image.columns):
            if column.name in (columns.types or ()) or (pointer, index) not in alike.columns:
                continue
            present = alike.columns[pointer, index].present
            if (mine if present is None else mine & present).any():
                yield column.name


def _names_in(changes: Iterable[Change]) -> Iterator[str]:
    for change in changes:
        yield from change.before or ()
        yield from change.after or ()
