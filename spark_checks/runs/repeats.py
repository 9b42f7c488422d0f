"""Repeats: rows of a run that were stored before, because a source sent some of its changes again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from msgspec.structs import replace

from cdc_contracts.registry.core.report.report_model import RepeatedRows, TableRepeats
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.tables.canonical.table_layouts import TableName
from cdc_contracts.spark_checks.engines.engines import Engine
from cdc_contracts.spark_checks.engines.repeat_search import Repeated, RepeatSearch, join_counts
from cdc_contracts.spark_checks.files.file_sinks import FilePart

NO_REPEATS: Final = RepeatedRows()


@dataclass(frozen=True)
class Repeats:
    """The rows of a run that repeat others: their files, and counts by partition and table.

    `earlier` are the runs whose rows they were compared with, in addition to each other.
    """

    parts: tuple[FilePart, ...] = ()
    found: Mapping[tuple[Source, TableName], Repeated] = field(default_factory=dict)
    earlier: tuple[str, ...] = ()

    def by_table(self) -> Counter[TableName]:
        counts: Counter[TableName] = Counter()
        for (_, table), result in self.found.items():
            counts[table] += result.rows
        return counts

    def by_source(self) -> Counter[Source]:
        counts: Counter[Source] = Counter()
        for (source, _), result in self.found.items():
            counts[source] += result.rows
        return counts

    def report(self, *, dropped: bool) -> RepeatedRows:
        """Return the summary for records and reports: how many, of which tables, and where the first is."""
        rows = sum(result.rows for result in self.found.values())
        return RepeatedRows(
            rows=rows,
            dropped=rows if dropped else 0,
            compared_with=self.earlier,
            tables=tuple(
                TableRepeats(table.text, *source, *result)
                for (source, table), result in sorted(self.found.items(), key=lambda one: (one[0][1].text, one[0][0]))
            ),
        )


def add_repeats(whole: RepeatedRows, more: RepeatedRows) -> RepeatedRows:
    """Return the joint summary of two parts of a run; `more` is the later one."""
    tables: dict[tuple[str, str, int], TableRepeats] = {}
    for one in (*whole.tables, *more.tables):
        place = (one.table, one.topic, one.partition)
        known = tables.get(place)
        tables[place] = one if known is None else replace(known, rows=known.rows + one.rows)
    return RepeatedRows(
        rows=whole.rows + more.rows,
        dropped=whole.dropped + more.dropped,
        compared_with=tuple(sorted({*whole.compared_with, *more.compared_with})),
        tables=tuple(tables[place] for place in sorted(tables)),
    )


def find_repeats(engine: Engine, search: RepeatSearch) -> Repeats:
    """Write the rows of changes files that repeat others in the same files or in those of earlier runs."""
    found = list(engine.find_repeats(search))
    return Repeats(tuple(part for one in found for part in one.parts), join_counts(found))
