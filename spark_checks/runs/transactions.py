"""Transactions: attempts at runs, whose rows count once their record is written; failed attempts leave nothing."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from cdc_contracts.registry.core.common.errors import UnavailableError, UsageError
from cdc_contracts.registry.core.report.audit_report import Spans
from cdc_contracts.registry.core.report.report_model import Report
from cdc_contracts.registry.core.stats.positions import write_positions
from cdc_contracts.registry.core.stats.row_changes import RowChanges
from cdc_contracts.registry.core.tables.canonical.canonical_names import count_canonical
from cdc_contracts.registry.core.tables.canonical.layout_resolution import resolve_run_layouts
from cdc_contracts.registry.core.tables.canonical.table_layouts import NESTED, Layouts, TableName
from cdc_contracts.registry.core.tables.canonical.table_resets import TableReset
from cdc_contracts.registry.core.validate.validation_context import ValidationContext
from cdc_contracts.spark_checks.engines.engines import Engine, Input
from cdc_contracts.spark_checks.files.file_sinks import TABLES, SinkPlace, write_table
from cdc_contracts.spark_checks.inputs.option_samples import check_as_sent
from cdc_contracts.spark_checks.runs.deduplicated_changes import drop_repeats
from cdc_contracts.spark_checks.runs.emptied_tables import finalize_resets, find_emptied
from cdc_contracts.spark_checks.runs.finished_runs import PastRun, PastRuns
from cdc_contracts.spark_checks.runs.intent_log import LoggedIntent
from cdc_contracts.spark_checks.runs.quarantine_files import QuarantineInput, check_quarantine, record_replay
from cdc_contracts.spark_checks.runs.repeated_positions import look_for_repeats
from cdc_contracts.spark_checks.runs.repeats import Repeats
from cdc_contracts.spark_checks.runs.run_directory import RunDirectory
from cdc_contracts.spark_checks.runs.run_ledgers import check_rows, check_typed, ledger_rows, moved_rows, sum_rows
from cdc_contracts.spark_checks.runs.run_records import (
    RecordedTable,
    RunRecord,
    write_files,
    write_ranges,
    write_stream,
    write_tables,
)
from cdc_contracts.spark_checks.tables.decode_tasks import (
    DecodePlan,
    DecodeResult,
    Quarantine,
    decode_work,
    merge_results,
    retype_work,
)
from cdc_contracts.spark_checks.tables.parquet_tables import ParquetTables
from cdc_contracts.spark_checks.tables.table_formats import WriteMode
from cdc_contracts.spark_checks.tables.typed_files import remove_parts
from cdc_contracts.spark_checks.tables.typed_tables import (
    Emptyings,
    ProvisionalWrite,
    TypedTables,
    WriteKey,
    WriteOrder,
)
from cdc_contracts.spark_checks.tasks.spark_tasks import Watch, describe_validation, read_results


@dataclass(frozen=True)
class Output:
    """Where runs write, in which table format, and under what conditions.

    With `replace` a run replaces others that read the same records, and itself. With `trust_contract`
    it is published although a record proves another version. With `drop_duplicates` repeated rows are left out of the
    typed tables, with `redact` the quarantine stores shapes only. Without `keeps_changes` row changes are written
    to typed tables alone, and repeated rows are not looked for. `shape` is that of the rows of typed tables.
    """

    directory: str
    tables: TypedTables = field(default_factory=ParquetTables)
    replace: bool = False
    trust_contract: bool = False
    redact: bool = False
    drop_duplicates: bool = False
    keeps_changes: bool = True
    shape: str = NESTED

    def __post_init__(self) -> None:
        if self.tables.keeps_current and self.shape != NESTED:
            raise UsageError(
                "current rows are made of both images of a change, and flat rows have one",
                hint="Keep current rows, or write flat rows.",
            )
        if not self.keeps_changes and (self.drop_duplicates or self.tables.typed_above is None):
            needs = "dropping duplicates" if self.drop_duplicates else f"the format {self.tables.name}"
            raise UsageError(f"{needs} needs changes/", hint="Keep changes/, or write typed tables as Parquet files.")

    @property
    def write_mode(self) -> WriteMode:
        """How the typed tables are written."""
        return WriteMode(
            self.tables.name, self.tables.schema, self.tables.keeps_current, self.keeps_changes, self.shape
        )

    @cached_property
    def runs(self) -> RunDirectory:
        return RunDirectory(self.directory)


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
                    f"another run has fixed the type of column {column.name} as {settled_type}, not {column.type}",
                    where=f"table {name.text}",
                    hint="Run the command again: it then uses that type.",
                )


@dataclass(frozen=True)
class Origin:
    """What a run is for, if it is not a range that somebody asked for: a batch of a stream, or a replay.

    `key` names the batch, and `earlier` are the key chains of the batches before it. A `replay` reads the quarantine of
    the output itself.
    """

    key: WriteKey | None = None
    earlier: RowChanges | None = None
    replay: QuarantineInput | None = None


REQUESTED: Final = Origin()
"""A run of a range that somebody asked for."""


@dataclass
class Attempt:
    """One attempt at a run: what it reads, what it validates against, and which runs it replaces.

    `topics` are the broker's ids of the topics of the source.
    """

    engine: Engine
    source: Input
    validation: ValidationContext
    output: Output
    run: str
    topics: Mapping[str, str]
    replaces: Sequence[PastRun] = ()
    origin: Origin = REQUESTED
    _layouts: Layouts = field(default_factory=dict, init=False)

    @cached_property
    def place(self) -> SinkPlace:
        """Where it writes, under names unique to this attempt."""
        return SinkPlace(self.output.runs.root, self.run, secrets.token_hex(8))

    @cached_property
    def gone(self) -> frozenset[str]:
        """The runs that no longer count once this one is published, including an earlier run of the same name."""
        return frozenset({self.run, *(past.run for past in self.replaces)})

    def validate(self, watch: Watch | None = None) -> DecodeResult:
        """Validate every record and write the results, in tasks that read each record once.

        Raises LedgerError if the counts do not add up.
        """
        known = self.output.runs.past().layouts(without=self.gone)
        output = self.output
        plan = DecodePlan(
            self.place, self._quarantine, known, output.tables.typed_above,
            keeps_changes=output.keeps_changes, shape=output.shape,
        )  # fmt: skip
        work = decode_work(describe_validation(self.validation), plan, watch)
        validated = merge_results(read_results(self.engine.run_in_order(self.source, work, mergeable=True)))
        noted = 0 if output.keeps_changes else validated.rows.total()
        check_rows(validated.tally, validated.parts, noted, replay=self.origin.replay is not None)
        return validated

    def publish(self, validated: DecodeResult, report: Report) -> tuple[RunRecord, Report]:
        """Type the rows, write the ledger, and publish the run by writing its record last.

        Return the record, and the report with the repeated rows.
        Raises UnavailableError if another run has published the same meanwhile; LedgerError if rows are lost.
        """
        output, runs, spans, validation = self.output, self.output.runs, self.source.spans, self.validation
        past = runs.past()  # others may have finished while this one validated
        query = None if self.origin.key is None else self.origin.key.writer
        comparable = runs.begun.comparable(self.run, past)
        repeats = Repeats()
        if output.keeps_changes:
            repeats = look_for_repeats(
                self.engine, runs, comparable, self.place, validated, validation.catalogue, query=query
            )
            report = replace(report, repeats=repeats.report(dropped=output.drop_duplicates))
        resets, emptied = self._finalize(validated, past)
        if self.origin.replay is None and not output.tables.replaceable:
            runs.begun.add(self._begun(comparable))
        tables = self._type(validated, repeats, emptied)
        ledger = ledger_rows(validated.tally, spans, repeats.by_source(), dropped=output.drop_duplicates)
        if self.origin.replay is not None:
            ledger = moved_rows(ledger)
        record = RunRecord(
            run=self.run,
            attempt=self.place.token,
            replaces=tuple(past.attempt for past in self.replaces),
            contract=validation.declared,
            contract_fingerprint=validation.fingerprint,
            options=dict(sorted(validation.reading_options.options.items())) or UNSET,
            table_contracts_fingerprint=validation.reading_options.tables.fingerprint,
            ranges=write_ranges(self._reach if resets else spans),  # needed to rebuild current rows
            counts=sum_rows(ledger),
            files=write_files([*validated.parts, *repeats.parts, *write_table(self.place, "ledger", ledger)]),
            table_format=output.tables.name,
            table_schema=output.tables.schema,
            table_layout=UNSET if output.shape == NESTED else output.shape,
            tables=tables,
            repeats=repeats.report(dropped=output.drop_duplicates),
            positions=write_positions(validated.positions.whole()),
            topics=dict(sorted(self.topics.items())),
            upheavals=tuple(resets),
            stream=write_stream(self.origin.key),
            current=output.tables.keeps_current,
            drops_repeats=output.drop_duplicates,
            redacted=output.redact and self.origin.replay is None,
            outputs=UNSET if output.keeps_changes else (TABLES,),
            replay=None if self.origin.replay is None else record_replay(self.origin.replay, validated.tally),
        )
        runs.commit(record, report, replaced=self.gone - {self.run}, check=self._check)
        return record, report

    def discard(self) -> None:
        """Remove all files it has written."""
        self.output.runs.discard(self.place)

    def _begun(self, compared: PastRuns) -> LoggedIntent:
        output, options = self.output, self.validation.reading_options
        return LoggedIntent(
            run=self.run,
            contract=self.validation.declared,
            stream=write_stream(self.origin.key),
            topics=dict(self.topics),
            ranges=write_ranges(self.source.spans),
            drops_repeats=output.drop_duplicates,
            compared=tuple(sorted(compared.names)),
            table_format=output.tables.name,
            table_schema=output.tables.schema,
            table_layout=UNSET if output.shape == NESTED else output.shape,
            current=output.tables.keeps_current,
            families=dict(options.families.patterns) or UNSET,
        )

    @property
    def _reach(self) -> Spans:
        """The ranges read, and the ends of partitions without new records: a statement empties what is before."""
        return {**self.source.idle, **self.source.spans}

    @property
    def _quarantine(self) -> Quarantine:
        if self.origin.replay is not None:
            return Quarantine.LEFT
        return Quarantine.REDACTED if self.output.redact else Quarantine.WHOLE

    def _finalize(
        self, validated: DecodeResult, past: PastRuns
    ) -> tuple[tuple[TableReset, ...], dict[TableName, Emptyings]]:
        """Finalize the layouts of tables; return the statements that empty tables, by table."""
        known = past.layouts(without=self.gone)
        check_as_sent(self.validation, validated.observed, known)
        contracts, families = self.validation.reading_options.tables, self.validation.reading_options.families
        rows = count_canonical(validated.rows, families)
        layouts = resolve_run_layouts(
            known, contracts, validated.observed, validated.statements, rows.keys(), self.output.shape
        )
        resets = finalize_resets(validated.resets.all(), {**known, **layouts}, families)
        others = [one for one in past if one.run not in self.gone]
        emptied = find_emptied(resets, self._reach, others, {**known, **layouts}, families)
        self._layouts = {**{name: known[name] for name, one in emptied.items() if one.new and name in known}, **layouts}
        return resets, emptied

    def _type(
        self, validated: DecodeResult, repeats: Repeats, emptied: Mapping[TableName, Emptyings]
    ) -> tuple[RecordedTable, ...]:
        """Write the rows of `changes/` to the typed tables; a layout without rows is only recorded."""
        changes = [part for part in validated.parts if part.table == "changes"]
        provisional: Sequence[ProvisionalWrite] = validated.typed
        families = self.validation.reading_options.families
        rows, dropped = count_canonical(validated.rows, families), Counter[TableName]()
        if self.output.drop_duplicates and repeats.parts:
            changes = drop_repeats(self.engine, self.place, changes, repeats.parts)
            dropped = count_canonical(repeats.by_table(), families)
            remove_parts(self.place, [part for one in provisional for part in one.write.parts])
            provisional = ()
        concerned = rows.keys() | {name for name, one in emptied.items() if one.new}
        layouts = {name: layout for name, layout in self._layouts.items() if name in concerned}
        if not self.output.keeps_changes:
            provisional = self._read_again(provisional, layouts)
        key = self.origin.key or WriteKey(self.run, 0)
        order = WriteOrder(self.place, key, changes, layouts, emptied, provisional, families)
        written = self.output.tables.write(self.engine, order)
        check_typed(rows, dropped, written.rows)
        return write_tables(self._layouts, written, validated.observed)

    def _read_again(self, typed: Sequence[ProvisionalWrite], layouts: Layouts) -> list[ProvisionalWrite]:
        """Return the typed rows; if the layout of a table has changed since, its rows are read and typed again."""
        names = frozenset[TableName]().union(*(one.outdated(layouts) for one in typed))
        if not names:
            return list(typed)
        gone = {name.text for name in names}
        remove_parts(self.place, [part for one in typed for part in one.write.parts if part.table in gone])
        settled = {name: layouts[name] for name in names}
        work = retype_work(describe_validation(self.validation), self.place, settled, self.output.tables.typed_above)
        again = read_results(self.engine.run_in_order(self.source, work))
        return [ProvisionalWrite((), write, {}) for write in (*(one.write.without(gone) for one in typed), *again)]

    def _check(self, finished: PastRuns) -> None:
        """Raise UnavailableError if runs that have finished meanwhile conflict with this one, or are this one."""
        if not self.output.replace and self.output.runs.finished(self.run, finished) is not None:
            raise UnavailableError(
                f"another process has published run {self.run} in the meantime",
                where=self.output.directory,
                hint="Run the command again: it reports what was published.",
            )
        check_settled(finished.layouts(without=self.gone), self._layouts)
        finished.check_families(self.validation.reading_options.families, self.output.directory)
        self.output.runs.begun.check_topics(self.topics, finished, without=self.gone)
        self.output.runs.begun.check_write_mode(self.output.write_mode, finished)
        if self.origin.replay is not None:
            check_quarantine(self.output.runs, self.origin.replay)
