"""Spark tasks: the work inside a task: batches of records in, a tally and the names of written files out."""

from __future__ import annotations

import pickle
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import Any, Final, Protocol

import pyarrow as pa

from cdc_contracts.registry.contract.bundle import Bundle, bundle
from cdc_contracts.registry.contract.catalogue import Catalogue
from cdc_contracts.registry.contract.version_ranges import VersionRanges
from cdc_contracts.registry.engine.kernel import Kernel, Written, paced
from cdc_contracts.registry.records.output_schemas import (
    CHANGES_SCHEMA,
    CONTROL_SCHEMA,
    QUARANTINE_SCHEMA,
    REPLAYED_SCHEMA,
)
from cdc_contracts.registry.records.redacted_quarantine import redact_quarantine
from cdc_contracts.registry.stats.observed_columns import ObservedColumns, TableName
from cdc_contracts.registry.stats.positions import Positions
from cdc_contracts.registry.stats.tally import Tally
from cdc_contracts.registry.tables.canonical.added_columns import MOST_STATEMENTS, DdlStatement, ddl_statements
from cdc_contracts.registry.tables.canonical.table_resets import Resets, read_control
from cdc_contracts.registry.validate.validation_context import DetectedSubjects, ValidationContext, open_again
from cdc_contracts.spark_checks.file_sinks import FilePart, SinkPlace, TableWriter
from cdc_contracts.spark_checks.record_coordinates import COORDINATES, gather_coordinates, leave_out

Work = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]

RESULT_SCHEMA: Final = "result binary"
_RESULT: Final = pa.schema([pa.field("result", pa.binary())])
_TABLES: Final[Mapping[str, pa.Schema]] = {
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


@dataclass(frozen=True)
class ScopeSpec:
    """A validation context as a value that can be pickled for the workers."""

    documents: bytes
    declared: str
    detected: DetectedSubjects
    reading_options: bytes
    ranges: VersionRanges | None = None

    def open(self) -> ValidationContext:
        """Return the validation context; a worker caches it, with the layouts its kernel has learnt."""
        reading_options = pickle.loads(self.reading_options)  # noqa: S301  our own bytes
        return open_again(open_bundle(self.documents), self.declared, self.detected, self.ranges, reading_options)


@dataclass
class TaskResult:
    """The result of one task: its tally and files, and the tables of its row changes with the evidence for layouts."""

    tally: Tally
    parts: tuple[FilePart, ...] = ()
    rows: Counter[TableName] = field(default_factory=Counter)
    sightings: ObservedColumns = field(default_factory=ObservedColumns)
    statements: set[DdlStatement] = field(default_factory=set)
    resets: Resets = field(default_factory=Resets)
    positions: Positions = field(default_factory=Positions)

    def merge(self, other: TaskResult) -> None:
        """Merge the result of another task; only the order of the files depends on the order of merging."""
        self.tally.merge(other.tally)
        self.parts += other.parts
        self.rows.update(other.rows)
        self.sightings.merge(other.sightings)
        self.statements |= other.statements
        self.resets.merge(other.resets)
        self.positions.merge(other.positions)


def describe_validation(validation: ValidationContext) -> ScopeSpec:
    """Return a validation context as a value that can be pickled."""
    documents, reading_options = pickle.dumps(bundle(validation.catalogue)), pickle.dumps(validation.reading_options)
    return ScopeSpec(documents, validation.declared, validation.detected, reading_options, validation.ranges)


class TaskCount(Protocol):
    """A counter: a Spark accumulator, or a number in this process."""

    @property
    def value(self) -> int: ...

    def add(self, number: int, /) -> None: ...


@dataclass(frozen=True)
class Watch:
    """Counters that are increased as tasks or batches end, to show the progress of a run."""

    read: TaskCount
    quarantined: TaskCount

    def add(self, tally: Tally) -> None:
        self.read.add(sum(counts.read for counts in tally.partitions.values()))
        self.quarantined.add(sum(counts.quarantined for counts in tally.partitions.values()))


def audit_work(spec: ScopeSpec, watch: Watch | None = None) -> Work:
    """Return the work of an audit: one tally per task."""
    opened = pickle.dumps(spec)

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        kernel = open_kernel(opened)
        tally = Tally()
        for records in paced(batches):
            tally.merge(kernel.audit(records))
        if watch is not None:
            watch.add(tally)
        yield as_result(TaskResult(tally))

    return work


def decode_work(
    spec: ScopeSpec, place: SinkPlace, watch: Watch | None = None, quarantine: Quarantine = Quarantine.WHOLE
) -> Work:
    """Return the work of a decode: each task writes its files under unique names, and returns them."""
    opened = pickle.dumps(spec)

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        kernel = open_kernel(opened)
        result = TaskResult(Tally())
        writers = {name: TableWriter(place, name, schema, attempt_name()) for name, schema in _TABLES.items()}
        try:
            for records in paced(batches):
                for written in kernel.decode(records):
                    _note(result, written)
                    if watch is not None:
                        watch.add(written.tally)
                    for name, rows in _outputs(written, quarantine, kernel).items():
                        writers[name].write(rows)
            result.parts = tuple(part for writer in writers.values() for part in writer.close())
        except BaseException:
            for writer in writers.values():
                writer.discard()
            raise
        yield as_result(result)

    return work


def rows_work(spec: ScopeSpec, table: str) -> Work:
    """Return work that yields the rows of one output table, without counting."""
    opened = pickle.dumps(spec)

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        kernel = open_kernel(opened)
        for records in paced(batches):
            for written in kernel.decode(records):
                yield getattr(written, table)

    return work


def _outputs(written: Written, quarantine: Quarantine, kernel: Kernel) -> dict[str, pa.RecordBatch]:
    """Return the rows to be written, by output."""
    rows = {"changes": written.changes, "control": written.control}
    if quarantine is Quarantine.LEFT:
        coordinates = written.records.select(list(COORDINATES)).cast(REPLAYED_SCHEMA)
        return {**rows, "replayed": leave_out(coordinates, gather_coordinates([written.quarantine]))}
    if quarantine is Quarantine.REDACTED:
        return {**rows, "quarantine": redact_quarantine(written.quarantine, kernel.validation.catalogue)}
    return {**rows, "quarantine": written.quarantine}


def _note(result: TaskResult, written: Written) -> None:
    result.tally.merge(written.tally)
    result.rows.update(_count_tables(written.changes))
    result.sightings.merge(written.sightings)
    result.positions.note(written.changes)
    result.resets.note(read_control(written.control))
    if len(result.statements) < MOST_STATEMENTS:
        result.statements.update(ddl_statements(written.control))


def _count_tables(changes: pa.RecordBatch) -> Counter[TableName]:
    """Return the number of rows of each table, by the table name of its layout."""
    grouped = pa.Table.from_batches([changes]).group_by(["database", "schema", "table"])
    counts = grouped.aggregate([([], "count_all")]).to_pylist()
    return Counter({TableName.of(one["database"], one["schema"], one["table"]): one["count_all"] for one in counts})


def read_results(rows: Iterable[Any]) -> list[Any]:
    """Return the results that tasks wrote with `as_result`, from the rows of a DataFrame with `RESULT_SCHEMA`."""
    return [pickle.loads(bytes(row[0])) for row in rows]  # noqa: S301  written by our own tasks


def merge_results(results: Iterable[TaskResult]) -> TaskResult:
    """Return the merged result of all tasks."""
    total = TaskResult(Tally())
    for result in results:
        total.merge(result)
    return total


def merge_tallies(results: Iterable[TaskResult]) -> Tally:
    """Return the tally of all tasks together."""
    return merge_results(results).tally


@lru_cache(maxsize=2)
def open_bundle(documents: bytes) -> Catalogue:
    """Return the catalogue of a pickled `Bundle`; a worker caches it."""
    found: Bundle = pickle.loads(documents)  # noqa: S301  our own bytes
    return found.open()


@lru_cache(maxsize=4)
def open_kernel(spec: bytes) -> Kernel:
    """Return the kernel of a pickled `ScopeSpec`; a worker caches it, with the layouts it has learnt."""
    found: ScopeSpec = pickle.loads(spec)  # noqa: S301  our own bytes
    return Kernel(found.open())


def as_result(result: object) -> pa.RecordBatch:
    """Return the result of a task as a row of `RESULT_SCHEMA`."""
    return pa.RecordBatch.from_arrays([pa.array([pickle.dumps(result)], pa.binary())], schema=_RESULT)


def attempt_name() -> str:
    """Return a name unique to this attempt at a task; work in this process is one task."""
    pyspark = sys.modules.get("pyspark")  # already imported inside Spark tasks; otherwise slow to import and not needed
    context = pyspark.TaskContext.get() if pyspark is not None else None
    if context is None:
        return "00000-0"
    return f"{context.partitionId():05d}-{context.taskAttemptId()}"
