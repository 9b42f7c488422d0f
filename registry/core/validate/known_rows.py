"""Known rows: the rows of an image that a message tells, with what is certain of those that it does not tell whole."""

from __future__ import annotations

from collections.abc import Collection

from cdc_contracts.registry.core.contract.image_model import Side
from cdc_contracts.registry.core.message.reading import Reading, Row
from cdc_contracts.registry.core.validate.rule_view import complete_rows


def completing_columns(reading: Reading) -> Collection[str] | None:
    """Return the columns that an image of changed columns takes from the one that completes it; None if all.

    Where rows may lack columns, it may lack one that changed, as from NULL: it takes the columns of the key alone.
    """
    if not reading.reading_options.may_lack_columns(reading.meaning.columns):
        return None
    names = reading.names
    table = reading.reading_options.tables.of(names.database, names.schema, names.table)
    return frozenset((*(reading.primary_key or ()), *(table.primary_key if table is not None else ())))


def known_rows(reading: Reading, side: Side) -> list[Row] | None:
    """Return the rows of a side, each completed as far as that is certain; None if there are none."""
    rows = complete_rows(reading, side)
    taken = completing_columns(reading) if rows and is_completed(reading, side) else None
    if rows is None or taken is None:
        return rows
    own = reading.rows(side.at) or []
    return [
        {name: value for name, value in row.items() if name in taken or name in own[index]}
        for index, row in enumerate(rows)
    ]


def is_completed(reading: Reading, side: Side) -> bool:
    """Return whether the rows of a side are those of its own image, which another one completes."""
    return side.completed_from is not None and reading.source(side) == side.at
