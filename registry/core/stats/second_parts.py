"""Parts of seconds: how large they are in each column of Avro records, which do not say what they count.

Over many values the greatest part tells nanoseconds from microseconds that were read as nanoseconds.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Final, NamedTuple

from cdc_contracts.registry.core.message.reading import Reading
from cdc_contracts.registry.core.stats.message_profiles import profiled_image
from cdc_contracts.registry.core.stats.topic_profiles import column_name
from cdc_contracts.registry.core.validate.form_selection import TypedColumns
from cdc_contracts.registry.core.values import FORMS

MOST_COLUMNS: Final = 1_000
"""If there are more columns, the first by topic, table and name are kept."""
NANO_DIGITS: Final = 9
_TIMED: Final = ("timestamp", "datetime", "time")
_PART: Final = re.compile(r"[^.]*\.([0-9]{1,9})")


class TimedColumns(NamedTuple):
    """The columns of a row whose values are points in time, or times of day; `source` is the pointer to the rows."""

    source: str
    names: frozenset[str]


class PartsColumn(NamedTuple):
    """A column of a table in a topic."""

    topic: str
    table: str | None
    name: str

    @property
    def order(self) -> tuple[str, bool, str, str]:
        return self.topic, self.table is not None, self.table or "", self.name


class PartsOfColumn(NamedTuple):
    """How many values have a part of a second, and the greatest part in nanoseconds."""

    values: int
    most: int


@dataclass
class SecondParts:
    """The parts of seconds by column, of columns that have any; mergeable in any order."""

    columns: dict[PartsColumn, PartsOfColumn] = field(default_factory=dict)

    def add(self, column: PartsColumn, found: PartsOfColumn) -> None:
        """Count values of a column, at least one, that have a part of a second."""
        known = self.columns.get(column)
        if known is not None:
            self.columns[column] = PartsOfColumn(known.values + found.values, max(known.most, found.most))
            return
        self.columns[column] = found
        if len(self.columns) > 2 * MOST_COLUMNS:
            self.columns = dict(self.kept())

    def merge(self, other: SecondParts) -> None:
        """Add the columns of another part of the run; the order of merging does not matter."""
        for column, found in other.columns.items():
            self.add(column, found)

    def kept(self) -> Iterator[tuple[PartsColumn, PartsOfColumn]]:
        """Yield the columns in order of topic, table and name."""
        for column in heapq.nsmallest(MOST_COLUMNS, self.columns, key=attrgetter("order")):
            yield column, self.columns[column]


def timed_columns(reading: Reading, columns: TypedColumns) -> TimedColumns | None:
    """Return the timed columns of a row after the change, and of a DELETE before it; None if nothing is open.

    It is open what parts of a second count in Avro that is documented to count nanoseconds, unless a parameter says it.
    """
    wire, image = reading.meaning.avro, profiled_image(reading)
    if wire is None or wire.fraction != "nanos" or reading.reading_options.says_fraction or image is None:
        return None
    forms = {name: columns.mapping.form_of(source_type) for name, source_type in (columns.types or {}).items()}
    timed = frozenset(name for name, form in forms.items() if form is not None and FORMS[form].kind in _TIMED)
    return TimedColumns(image.source, timed) if timed else None


def nanos_of(value: Any) -> int:
    """Return the part of a second of a timed value in nanoseconds, without zeros at its end; 0 if it has none."""
    found = _PART.match(value) if isinstance(value, str) else None
    return int(found[1].ljust(NANO_DIGITS, "0")) if found else 0


def count_parts(seen: SecondParts, timed: TimedColumns, reading: Reading, topic: str, table: str | None) -> None:
    """Count the parts of seconds in the rows of a message."""
    for row in reading.rows(timed.source) or ():
        for name in timed.names & row.keys():
            if nanos := nanos_of(row[name]):
                seen.add(PartsColumn(topic, table, column_name(name)), PartsOfColumn(1, nanos))
