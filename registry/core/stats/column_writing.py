"""Column writing: how the values of untyped columns are written, and where that changes mid-stream.

In a dialect without source types nothing shows that a column switches from numbers to texts, or from one text layout
to another, as times did in OMS 3.3.0. So for each partition, table and column the range of offsets in which values
were written in each way is kept. That is small and exact, and independent of batch limits and the order of merging.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from cdc_contracts.registry.core.common.json_messages import kind_of
from cdc_contracts.registry.core.stats.column_ways import ColumnWays, JoinedStretches, WrittenTable
from cdc_contracts.registry.core.stats.position_sequences import Stretch
from cdc_contracts.registry.core.values import Number

TEXT: Final = "text"
NUMBER: Final = "number"
BOOLEAN: Final = "boolean"

ISO: Final = "ISO date and time"
SQL: Final = "SQL date and time"
SECONDS: Final = "seconds since 1970"
DIGITS: Final = "digits"
PLAIN: Final = ""
"""The layout of values that have none of the others."""

_KINDS: Final = {"string": TEXT, "number": NUMBER, "boolean": BOOLEAN}
FIRST_SECOND: Final = "0946684800"
LAST_SECOND: Final = "4102444799"
SECOND_DIGITS: Final = 10
MOST_DIGITS: Final = 20
LEAST_DATE_TIME: Final = len("2020-01-02T03:04")
_DASH, _COLON, _POINT, _MOST = b"-:.4"


class Writing(NamedTuple):
    """A way of writing a value: its JSON kind, and the layout that distinguishes it from others of the kind."""

    kind: str
    layout: str = PLAIN

    def __str__(self) -> str:
        return f"{self.kind} ({self.layout})" if self.layout else self.kind


_SECONDS_TEXT: Final = Writing(TEXT, SECONDS)
_DIGITS_TEXT: Final = Writing(TEXT, DIGITS)


class Turn(NamedTuple):
    """A column of a partition whose values were written in one way, and then in another.

    `clean` is the last offset of a value in the first way; if the ways overlap, it is after the first value in another
    way.
    """

    rows: WrittenTable
    name: str
    before: Writing
    after: Writing
    was: Stretch
    stretch: Stretch

    @property
    def clean(self) -> int:
        return self.was.last.offset


Column = dict[Writing, Stretch]


class ColumnWriting(ColumnWays[Writing]):
    """The ways in which values of each column were written.

    If one value of a kind has no characteristic layout, the layouts of the others are not significant either, and only
    the kind is kept.
    """

    def add_row(self, rows: WrittenTable, row: Mapping[str, Any], stretch: Stretch) -> None:
        """Count the values of one row."""
        self.add_ways(rows, ((name, writing_of(value)) for name, value in row.items()), stretch)

    def turns(self) -> Iterator[Turn]:
        """Yield the columns written differently from their first value, by table, name and way."""
        fractions = self._with_fractions()
        for rows in self.tables():
            for name, held in sorted(self.seen[rows].items()):
                column = _join_seconds(held) if column_key(rows, name) in fractions else held
                if len(column) > 1:
                    first = min(column, key=lambda writing: (column[writing].first.offset, writing))
                    yield from (
                        Turn(rows, name, first, writing, column[first], column[writing])
                        for writing in sorted(column)
                        if writing != first
                    )

    def counts(self, keys: Collection[Hashable]) -> dict[Hashable, Counter[Writing]]:
        """Return how many values of some columns were written in each way, over all partitions."""
        result: dict[Hashable, Counter[Writing]] = {key: Counter() for key in keys}
        fractions = self._with_fractions() if result else set()
        for rows, columns in self.seen.items() if result else ():
            for name, held in columns.items():
                key = column_key(rows, name)
                if key in result:
                    column = _join_seconds(held) if key in fractions else held
                    result[key].update({writing: stretch.count for writing, stretch in column.items()})
        return result

    def _with_fractions(self) -> set[Hashable]:
        """Return the columns of which some values are seconds with a fraction: digits alone are seconds too there."""
        return {
            column_key(rows, name)
            for rows, columns in self.seen.items()
            for name, column in columns.items()
            if _SECONDS_TEXT in column
        }

    @staticmethod
    def count(column: Column, way: Writing, stretch: Stretch, joined: JoinedStretches) -> None:
        """Count values of a column; no stretch is changed, since the other columns of its rows share it."""
        known = column.get(way)
        if len(column) == 1 and known is not None:
            column[way] = joined.join(known, stretch)
            return
        if not column:
            column[way] = stretch
            return
        plain = Writing(way.kind)
        if way.layout and plain in column:
            way = plain
        column[way] = joined.join(column[way], stretch) if way in column else stretch
        if not way.layout:
            for other in [one for one in column if one.kind == way.kind and one.layout]:
                column[plain] = joined.join(column[plain], column.pop(other))


def column_key(rows: WrittenTable, name: str) -> Hashable:
    """Return the identity of a column across partitions."""
    return rows.topic, rows.table, rows.subject, rows.loaded, rows.at, name


def writing_of(value: Any) -> Writing | None:
    """Return how a value of a column is written, None for one that is null, an array or an object."""
    kind = _KINDS.get(kind_of(value))
    if kind is None:
        return None
    if kind == TEXT:
        return Writing(TEXT, layout_of(value))
    return Writing(NUMBER, layout_of_token(value.token)) if isinstance(value, Number) else Writing(kind)


def layout_of(text: str) -> str:
    """Return the layout of a text."""
    data = text.encode("utf-8", "surrogatepass")
    if len(data) >= LEAST_DATE_TIME and data[4] == data[7] == _DASH and data[13] == _COLON:
        return {"T": ISO, " ": SQL}.get(chr(data[10]), PLAIN)
    if len(data) > SECOND_DIGITS + 1 and data[SECOND_DIGITS] == _POINT and data[0] <= _MOST:
        return SECONDS if data[:SECOND_DIGITS].isdigit() else PLAIN
    return DIGITS if len(data) <= MOST_DIGITS and data.isdigit() else PLAIN


def layout_of_token(token: str) -> str:
    """Return the layout of the token of a number."""
    counts = len(token) == SECOND_DIGITS and token.isdigit() and FIRST_SECOND <= token <= LAST_SECOND
    return SECONDS if counts else PLAIN


def _join_seconds(column: Column) -> Column:
    """Return the values of a column of seconds, those without a fraction together with the others."""
    if _DIGITS_TEXT not in column:
        return column
    joined = {writing: stretch for writing, stretch in column.items() if writing != _DIGITS_TEXT}
    digits, others = column[_DIGITS_TEXT], joined.get(_SECONDS_TEXT)
    joined[_SECONDS_TEXT] = digits if others is None else others.joined(digits)
    return joined
