"""Transactions: attempts at runs, whose rows count once their record is written; failed attempts leave nothing."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from msgspec.structs import replace

from cdc_contracts.registry.common.errors import UnavailableError
from cdc_contracts.registry.contract.table_contracts import TableContracts
from cdc_contracts.registry.report.audit_report import Spans
from cdc_contracts.registry.report.report_model import Report
from cdc_contracts.registry.stats.positions import write_positions
from cdc_contracts.registry.stats.tally import Tally
from cdc_contracts.registry.tables.canonical.added_columns import added_columns
from cdc_contracts.registry.tables.canonical.layout_resolution import MESSAGES, resolve_layouts
from cdc_contracts.registry.tables.canonical.table_layouts import Layouts, TableLayout, TableName
from cdc_contracts.registry.tables.canonical.table_resets import TableReset
from cdc_contracts.registry.validate.validation_context import ValidationContext
from cdc_contracts.spark_checks.engines import Engine, Input
from cdc_contracts.spark_checks.file_sinks import SinkPlace, table_folder, write_table
from cdc_contracts.spark_checks.runs.deduplicated_changes import drop_repeats
from cdc_contracts.spark_checks.runs.emptied_tables import finalize_resets, find_emptied
from cdc_contracts.spark_checks.runs.finished_runs import PastRun, PastRuns
from cdc_contracts.spark_checks.runs.intent_log import Intent
from cdc_contracts.spark_checks.runs.repeated_positions import look_for_repeats
from cdc_contracts.spark_checks.runs.repeats import Repeats
from cdc_contracts.spark_checks.runs.run_directory import RunDirectory
from cdc_contracts.spark_checks.runs.run_ledgers import check_rows, check_typed, ledger_rows, moved_rows, sum_rows
from cdc_contracts.spark_checks.runs.run_records import (
    RecordedReplay,
    RecordedTable,
    RunRecord,
    write_files,
    write_ranges,
    write_stream,
    write_tables,
)
from cdc_contracts.spark_checks.spark_tasks import (
    Quarantine,
    TaskResult,
    Watch,
    decode_work,
    describe_validation,
    merge_results,
    read_results,
)
from cdc_contracts.spark_checks.tables.parquet_tables import ParquetTables
from cdc_contracts.spark_checks.tables.table_formats import WriteMode
from cdc_contracts.spark_checks.tables.typed_tables import Emptyings, TypedTables, WriteKey, WriteOrder


@dataclass(frozen=True)
class Output:
    """Where runs write, in which table format, and under what conditions.

    With `replace` a run replaces others that read the same records, and itself. With `trust_contract`
    it is published although a record proves another version. With `drop_duplicates` repeated rows are left out of the
    typed tables, with `redact` the quarantine stores shapes only.
    """

    directory: str
    tables: TypedTables = field(default_factory=ParquetTables)
    replace: bool = False
    trust_contract: bool = False
    redact: bool = False
    drop_duplicates: bool = False

    @property
    def write_mode(self) -> WriteMode:
        """How the typed tables are written."""
        return WriteMode(self.tables.name, self.tables.schema, self.tables.keeps_current)

    @cached_property
    def runs(self) -> RunDirectory:
        return RunDirectory(self.directory)


def fix_layouts(known: Layouts, contracts: TableContracts, judged: TaskResult) -> Layouts:
    """Return the layouts of the tables that a run has rows of, or whose layout it changes.

    A table beyond the limit of observed columns has no columns: all values of its rows are text in `_raw`.
    """
    columns = {name: [column.name for column in layout.columns] for name, layout in known.items()}
    for name in judged.sightings.tables():
        columns[name] = [*columns.get(name, ()), *judged.sightings.columns(name)]
    settled = resolve_layouts(known, contracts, judged.sightings, added_columns(judged.statements, columns))
    changed = {name: layout for name, layout in settled.items() if layout != known.get(name)}
    bare = {name: TableLayout(name, (), (), MESSAGES) for name in judged.rows if name not in settled}
    return {name: settled[name] for name in judged.rows if name in settled} | changed | bare


def check_settled(known: Layouts, settled: Layouts) -> None:
    """Make sure, before a run is published, that no other has resolved a type differently since this one began.

    Raises UnavailableError if one has.
    """
    for name, layout in settled.items():
        types = {column.name.casefold(): column.type for column in known[name].columns} if name in known else {}
        for column in layout.columns:
            settled_type = types.get(column.name.casefold(), column.type)
            if settled_type != column.type:
                raise UnavailableError(
                    f"another run has settled column {column.name} as {settled_type}, not {column.type}",
                    where=f"table {name.text}",
                    hint="run the command again: it then uses the settled type",
                )


class Replay(Protocol):
    """A run that reads the quarantine of other runs instead of the source of its records."""

    def begin(self, validation: ValidationContext) -> str:
        """Return the name of the run, the same for the same quarantined runs validated against the same contract.

        Raises UnavailableError if another replay of the directory is unfinished.
        """
        ...

    def record(self, tally: Tally) -> RecordedReplay:
        """Return the part of the run record about the replay."""
        ...

    def check(self) -> None:
        """Raise UnavailableError if the quarantine has changed since this replay began."""
        ...


@dataclass
class Attempt:
    """One attempt at a run: what it reads, what it validates against, and which runs it replaces.

    `topics` are the broker's ids of the topics of the source. `key` is given for a batch of a stream, `replay` if the
    source is the quarantine of the output itself.
    """

    engine: Engine
    source: Input
    validation: ValidationContext
    output: Output
    run: str
    topics: Mapping[str, str]
    replaces: Sequence[PastRun] = ()
    key: WriteKey | None = None
    replay: Replay | None = None
    _layouts: Layouts = field(default_factory=dict, init=False)

    @cached_property
    def place(self) -> SinkPlace:
        """Where it writes, under names unique to this attempt."""
        return SinkPlace(self.output.runs.root, self.run, secrets.token_hex(8))

    @cached_property
    def gone(self) -> frozenset[str]:
        """The runs that no longer count once this one is published, including an earlier run of the same name."""
        return frozenset({self.run, *(past.run for past in self.replaces)})

    def judge(self, watch: Watch | None = None) -> TaskResult:
        """Validate every record and write the results, in tasks that read each record once.

        Raises LedgerError if the counts do not add up.
        """
        work = decode_work(describe_validation(self.validation), self.place, watch, self._quarantine)
        judged = merge_results(read_results(self.engine.run_in_order(self.source, work)))
        check_rows(judged.tally, judged.parts, replay=self.replay is not None)
        return judged

    def publish(self, judged: TaskResult, report: Report) -> tuple[RunRecord, Report]:
        """Type the rows, write the ledger, and publish the run by writing its record last.

        Return the record, and the report with the repeated rows.
        Raises UnavailableError if another run has published the same meanwhile; LedgerError if rows are lost.
        """
        output, runs, spans, validation = self.output, self.output.runs, self.source.spans, self.validation
        past = runs.past()  # others may have finished while this one validated
        query = None if self.key is None else self.key.writer
        comparable = runs.begun.comparable(self.run, past)
        repeats = look_for_repeats(self.engine, runs, comparable, self.place, judged, validation.catalogue, query=query)
        found = repeats.report(dropped=output.drop_duplicates)
        report = replace(report, repeats=found)
        resets, emptied = self._finalize(judged, past)
        if self.replay is None and not output.tables.replaceable:
            runs.begun.add(self._begun(comparable))
        tables = self._type(judged, repeats, emptied)
        ledger = ledger_rows(judged.tally, spans, repeats.by_source(), dropped=output.drop_duplicates)
        if self.replay is not None:
            ledger = moved_rows(ledger)
        record = RunRecord(
            run=self.run,
            attempt=self.place.token,
            replaces=tuple(past.attempt for past in self.replaces),
            contract=validation.declared,
            contract_fingerprint=validation.fingerprint,
            table_contracts_fingerprint=validation.reading_options.tables.fingerprint,
            ranges=write_ranges(self._reach if resets else spans),  # needed to rebuild current rows
            counts=sum_rows(ledger),
            files=write_files([*judged.parts, *repeats.parts, *write_table(self.place, "ledger", ledger)]),
            table_format=output.tables.name,
            table_schema=output.tables.schema,
            tables=tables,
            repeats=found,
            positions=write_positions(judged.positions.whole()),
            topics=dict(sorted(self.topics.items())),
            upheavals=tuple(resets),
            stream=write_stream(self.key),
            current=output.tables.keeps_current,
            drops_repeats=output.drop_duplicates,
            redacted=output.redact and self.replay is None,
            replay=self.replay.record(judged.tally) if self.replay is not None else None,
        )
        runs.commit(record, report, replaced=self.gone - {self.run}, check=self._check)
        return record, report

    def discard(self) -> None:
        """Remove all files it has written."""
        self.output.runs.discard(self.place, map(table_folder, self._layouts))

    def _begun(self, compared: PastRuns) -> Intent:
        output = self.output
        return Intent(
            self.run, self.validation.declared, self.key, self.source.spans, self.topics, output.write_mode,
            output.drop_duplicates, compared.names,
        )  # fmt: skip

    @property
    def _reach(self) -> Spans:
        """The ranges read, and the ends of partitions without new records: a statement empties what is before."""
        return {**self.source.idle, **self.source.spans}

    @property
    def _quarantine(self) -> Quarantine:
        if self.replay is not None:
            return Quarantine.LEFT
        return Quarantine.REDACTED if self.output.redact else Quarantine.WHOLE

    def _finalize(
        self, judged: TaskResult, past: PastRuns
    ) -> tuple[tuple[TableReset, ...], dict[TableName, Emptyings]]:
        """Finalize the layouts of tables; return the statements that empty tables, by table."""
        known = past.layouts(without=self.gone)
        layouts = fix_layouts(known, self.validation.reading_options.tables, judged)
        resets = finalize_resets(judged.resets.all(), {**known, **layouts})
        others = [one for one in past if one.run not in self.gone]
        emptied = find_emptied(resets, self._reach, others, {**known, **layouts})
        self._layouts = {**{name: known[name] for name, one in emptied.items() if one.new and name in known}, **layouts}
        return resets, emptied

    def _type(
        self, judged: TaskResult, repeats: Repeats, emptied: Mapping[TableName, Emptyings]
    ) -> tuple[RecordedTable, ...]:
        """Write the rows of `changes/` to the typed tables; a layout without rows is only recorded."""
        changes = [part for part in judged.parts if part.table == "changes"]
        dropped: Counter[TableName] = Counter()
        if self.output.drop_duplicates and repeats.parts:
            changes = drop_repeats(self.engine, self.place, changes, repeats.parts)
            dropped = repeats.by_table()
        concerned = judged.rows.keys() | {name for name, one in emptied.items() if one.new}
        layouts = {name: layout for name, layout in self._layouts.items() if name in concerned}
        key = self.key or WriteKey(self.run, 0)
        written = self.output.tables.write(self.engine, WriteOrder(self.place, key, changes, layouts, emptied))
        check_typed(judged.rows, dropped, written.rows)
        return write_tables(self._layouts, written)

    def _check(self, finished: PastRuns) -> None:
        """Raise UnavailableError if runs that have finished meanwhile conflict with this one."""
        check_settled(finished.layouts(without=self.gone), self._layouts)
        self.output.runs.begun.check_topics(self.topics, finished, without=self.gone)
        self.output.runs.begun.check_write_mode(self.output.write_mode, finished)
        if self.replay is not None:
            self.replay.check()
