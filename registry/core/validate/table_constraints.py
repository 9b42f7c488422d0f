"""Table promises: constraints of a table contract besides types, checked on one message.

A row that breaks one can still be read, so these are warnings: the table is not as described.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from cdc_contracts.registry.core.contract.image_model import Side
from cdc_contracts.registry.core.contract.table_contracts import TableContract
from cdc_contracts.registry.core.message.reading import Reading, Row, column_path
from cdc_contracts.registry.core.validate.rule_view import complete_rows
from cdc_contracts.registry.core.validate.verdicts import show_members
from cdc_contracts.registry.core.values import ValueForm

NOT_NULL: Final = "not-null"
PRIMARY_KEY: Final = "primary-key"
NO_SUCH_TIME: Final = "no-such-time"
NO_INSTANT: Final = "no-single-instant"
NO_SCALE: Final = "no-scale"
NOT_WHOLE: Final = "not-whole"
ZERO_DATE: Final = "0000-00-00"
"""What MySQL keeps in a date on purpose; other dates that no calendar has are a fault of somebody."""
_IN_MESSAGE: Final = "primary-key-in-image"


class BrokenConstraint(NamedTuple):
    """A promise that a row breaks: the rule, the path, and the observed value."""

    rule: str
    path: str
    expected: str
    observed: str


def broken_constraints(reading: Reading, table: TableContract) -> Iterator[BrokenConstraint]:
    """Yield the promises of a table contract that the rows of a message break, except those on single values."""
    result = reading.primary_key
    if not table.primary_key:
        return
    if result is not None and set(result) != set(table.primary_key):
        observed = show_members(result) if result else "no key"
        yield BrokenConstraint(PRIMARY_KEY, reading.key_path, show_members(table.primary_key), observed)
    tells = set(result or ()) if _IN_MESSAGE in reading.meaning.rules else set()
    for side in reading.sides:
        yield from _lacking(reading, side, set(table.primary_key) - tells)


def is_null(table: TableContract | None, name: str, value: Any) -> bool:
    """Return whether a value is a NULL that the table contract forbids."""
    return value is None and table is not None and name in table.columns and not table.may_be_null(name)


def expects_time(form: ValueForm) -> str | None:
    """Return the expectation of a table contract for forms of dates or times; None for other forms."""
    return "a time that exists" if form.kind == "time" else "a date that exists" if form.kind in _DATED else None


def _lacking(reading: Reading, side: Side, key: set[str]) -> Iterator[BrokenConstraint]:
    source = reading.source(side)
    rows: list[Row] = complete_rows(reading, side) or []
    for name in sorted(key):
        if any(name not in row for row in rows):
            yield BrokenConstraint(
                PRIMARY_KEY, column_path(reading, source, name), "a column of the key", "no such column"
            )


_DATED: Final = ("date", "datetime", "timestamp")
