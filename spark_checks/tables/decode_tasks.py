"""Decode tasks: records in; files of their rows, typed rows among them, and what the driver has to know of them out."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

import pyarrow as pa

from cdc_contracts.registry.core.contract.table_families import TableFamilies
from cdc_contracts.registry.core.engine.kernel import Kernel, Written
from cdc_contracts.registry.core.records.output_schemas import (
    CHANGES_SCHEMA,
    CONTROL_SCHEMA,
    QUARANTINE_SCHEMA,
    REPLAYED_SCHEMA,
)
from cdc_contracts.registry.core.records.redacted_quarantine import redact_quarantine
from cdc_contracts.registry.core.stats.observed_columns import ObservedColumns, TableName
from cdc_contracts.registry.core.stats.positions import Positions
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.tables.canonical.added_columns import MOST_STATEMENTS, DdlStatement, ddl_statements
from cdc_contracts.registry.core.tables.canonical.canonical_names import observed_canonical
from cdc_contracts.registry.core.tables.canonical.layout_resolution import LayoutGuess
from cdc_contracts.registry.core.tables.canonical.table_layouts import NESTED, Layouts
from cdc_contracts.registry.core.tables.canonical.table_resets import Resets, read_control
from cdc_contracts.registry.core.tables.canonical.typed_rows import count_by_table
from cdc_contracts.spark_checks.files.file_sinks import TABLES, FilePart, SinkPlace, TableWriter
from cdc_contracts.spark_checks.tables.provisional_tables import ProvisionalTables
from cdc_contracts.spark_checks.tables.typed_files import TypedFiles
from cdc_contracts.spark_checks.tables.typed_tables import ProvisionalWrite
from cdc_contracts.spark_checks.tasks.record_coordinates import COORDINATES, gather_coordinates, leave_out
from cdc_contracts.spark_checks.tasks.spark_tasks import ScopeSpec, Watch, Work, as_result, attempt_name, open_kernel

_SCHEMAS: Final[Mapping[str, pa.Schema]] = {
    "changes": CHANGES_SCHEMA,
    "control": CONTROL_SCHEMA,
    "quarantine": QUARANTINE_SCHEMA,
    "replayed": REPLAYED_SCHEMA,
}


class Quarantine(Enum):
    """How a decode treats records that do not conform."""

    WHOLE = "whole"
    REDACTED = "redacted"
    LEFT = "left"
    """They are in quarantine already: the coordinates of the others are written instead, to `replayed/`."""


@dataclass
class DecodeResult:
    """The result of a task: its tally and files; of its row changes the tables, and what determines their layouts.

    `rows` are counted by source table, `observed` has columns by typed table, which may be that of many shards.
    `typed` are the typed rows that it has written as well, by the layouts that it could know.
    """

    tally: Tally
    parts: tuple[FilePart, ...] = ()
    rows: Counter[TableName] = field(default_factory=Counter)
    observed: ObservedColumns = field(default_factory=ObservedColumns)
    statements: set[DdlStatement] = field(default_factory=set)
    resets: Resets = field(default_factory=Resets)
    positions: Positions = field(default_factory=Positions)
    typed: tuple[ProvisionalWrite, ...] = ()

    def merge(self, other: DecodeResult) -> None:
        """Merge the result of another task; only the order of the files depends on the order of merging."""
        self.tally.merge(other.tally)
        self.parts += other.parts
        self.rows.update(other.rows)
        self.observed.merge(other.observed)
        self.statements |= other.statements
        self.resets.merge(other.resets)
        self.positions.merge(other.positions)
        self.typed += other.typed


@dataclass(frozen=True)
class DecodePlan:
    """What the tasks of a decode write, and where.

    `known` are the layouts of tables when the run begins. Typed rows go to folders in `typed_above` while records are
    validated; where that is None none do. Without `keeps_changes` they are the only rows of changes that are written.
    New tables have rows of `shape`.
    """

    place: SinkPlace
    quarantine: Quarantine = Quarantine.WHOLE
    known: Layouts = field(default_factory=dict)
    typed_above: str | None = None
    keeps_changes: bool = True
    shape: str = NESTED


def decode_work(spec: ScopeSpec, plan: DecodePlan, watch: Watch | None = None) -> Work:
    """Return the work of a decode: each task writes its files under unique names, and returns them."""
    opened, planned = pickle.dumps(spec), pickle.dumps(plan)

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield as_result(_decode(batches, open_kernel(opened), pickle.loads(planned), watch))  # noqa: S301  our own bytes

    return work


def _decode(batches: Iterable[pa.RecordBatch], kernel: Kernel, plan: DecodePlan, watch: Watch | None) -> DecodeResult:
    result, attempt = DecodeResult(Tally()), attempt_name()
    writers = {name: TableWriter(plan.place, name, schema, attempt) for name, schema in _SCHEMAS.items()}
    tables = _provisional_tables(result, kernel, plan, attempt)
    try:
        for records in kernel.gather(batches):
            for written in kernel.decode(records, ceiling=result.tally.chains.ceiling):
                _note(result, written, kernel.validation.reading_options.families)
                if watch is not None:
                    watch.add(written.tally)
                for name, rows in _outputs(written, plan, kernel).items():
                    writers[name].write(rows)
                if tables is not None:
                    tables.add(written.rows.source)
        parts = {name: tuple(writer.close()) for name, writer in writers.items()}
        result.parts = tuple(part for some in parts.values() for part in some)
        if tables is not None:
            result.typed = (tables.close(parts["changes"]),)
    except BaseException:
        for writer in writers.values():
            writer.discard()
        if tables is not None:
            tables.discard()
        raise
    return result


def _provisional_tables(
    result: DecodeResult, kernel: Kernel, plan: DecodePlan, attempt: str
) -> ProvisionalTables | None:
    if plan.typed_above is None:
        return None
    contracts = kernel.validation.reading_options.tables
    guess = LayoutGuess(plan.known, contracts, result.observed, result.statements, plan.shape)
    return ProvisionalTables(plan.place, guess.of, plan.typed_above, attempt, contracts.families)


def retype_work(spec: ScopeSpec, place: SinkPlace, layouts: Layouts, above: str | None) -> Work:
    """Return the work that decodes records once more, and writes the rows of some tables by these layouts.

    Its results are the `TypedWrite` of each task.
    """
    opened, settled = pickle.dumps(spec), pickle.dumps(dict(layouts))

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        kernel, known = open_kernel(opened), pickle.loads(settled)  # noqa: S301  our own bytes
        families = kernel.validation.reading_options.families
        files = TypedFiles(place, known.__getitem__, above or TABLES, f"{attempt_name()}-1", families=families)
        try:
            for records in kernel.gather(batches):
                for written in kernel.decode(records):
                    files.add(written.rows.source, known.keys())
            write = files.close()
        except BaseException:
            files.discard()
            raise
        yield as_result(write)

    return work


def rows_work(spec: ScopeSpec, table: str) -> Work:
    """Return work that yields the rows of one output table, without counting."""
    opened = pickle.dumps(spec)

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        kernel = open_kernel(opened)
        for records in kernel.gather(batches):
            for written in kernel.decode(records):
                yield getattr(written, table)

    return work


def _outputs(written: Written, plan: DecodePlan, kernel: Kernel) -> dict[str, pa.RecordBatch]:
    """Return the rows to be written, by output."""
    rows = {"control": written.control, **({"changes": written.changes} if plan.keeps_changes else {})}
    if plan.quarantine is Quarantine.LEFT:
        coordinates = written.records.select(list(COORDINATES)).cast(REPLAYED_SCHEMA)
        return {**rows, "replayed": leave_out(coordinates, gather_coordinates([written.quarantine]))}
    if plan.quarantine is Quarantine.REDACTED:
        return {**rows, "quarantine": redact_quarantine(written.quarantine, kernel.validation.catalogue)}
    return {**rows, "quarantine": written.quarantine}


def _note(result: DecodeResult, written: Written, families: TableFamilies) -> None:
    result.tally.merge(written.tally)
    result.rows.update(count_by_table(written.rows.source))
    result.observed.merge(observed_canonical(written.observed, families))
    result.positions.note(written.rows.columns)
    result.resets.note(read_control(written.control))
    if len(result.statements) < MOST_STATEMENTS:
        result.statements.update(ddl_statements(written.control))


def merge_results(results: Iterable[DecodeResult]) -> DecodeResult:
    """Return the merged result of all tasks."""
    total = DecodeResult(Tally())
    for result in results:
        total.merge(result)
    return total
