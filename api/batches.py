"""Batches of messages, validated and decoded by the kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock

import pyarrow as pa

from cdc_contracts.api.audit_reports import read_report
from cdc_contracts.api.message_batches import Messages, read_batches
from cdc_contracts.api.results import AuditReport
from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.common.similar_names import similar_names
from cdc_contracts.registry.core.contract.table_contracts import TableContracts
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.records.output_schemas import CHANGES_SCHEMA, CONTROL_SCHEMA, QUARANTINE_SCHEMA
from cdc_contracts.registry.core.report.audit_report import AppliedContract, ReadRange, build_report
from cdc_contracts.registry.core.report.report_model import ReportSource
from cdc_contracts.registry.core.report.stored_reports import write_document
from cdc_contracts.registry.core.stats.observed_columns import ObservedColumns
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.tables.canonical.added_columns import MOST_STATEMENTS, DdlStatement, ddl_statements
from cdc_contracts.registry.core.tables.canonical.typed_batches import type_batches
from cdc_contracts.registry.core.validate.validation_context import ValidationContext


@dataclass(frozen=True, eq=False)
class DecodedBatch:
    """Decoded messages as Arrow tables: `changes`, `control` and `quarantine` have the columns that `decode` writes.

    `offset` is the number of the message, from 0, if the input has no column `offset`.
    """

    changes: pa.Table
    """A row for each row change, with both images as maps from column to canonical text."""
    control: pa.Table
    """A row for each message without a row: DDL, heartbeats, transaction marks."""
    quarantine: pa.Table
    """A row for each message that does not conform, whole, with its findings."""
    read: int
    """How many messages were read."""
    tombstones: int
    """How many of them have no value."""
    _observed: ObservedColumns = field(repr=False)
    _statements: frozenset[DdlStatement] = field(repr=False)
    _contracts: TableContracts = field(repr=False)

    @cached_property
    def tables(self) -> dict[str, pa.Table]:
        """The row changes of each source table with a typed column for each of its columns, in `before` and `after`.

        Types follow from these messages; table contracts fix them. What a column cannot hold is in `_raw`.
        """
        batches = self.changes.to_batches()
        found = type_batches(batches, self._observed, self._statements, self._contracts)
        return {name.text: table for name, table in found.items()}

    def table(self, name: str) -> pa.Table:
        """Return the typed rows of one table, such as `shop.orders`. Raises UsageError if there are none."""
        if name not in self.tables:
            known = similar_names(name, self.tables) or list(self.tables)[:5]
            raise UsageError(
                f"there are no rows of `{name}`", hint=f"There are rows of {', '.join(known) or 'no table'}."
            )
        return self.tables[name]


class BatchValidator:
    """Validates batches under one contract; layouts that the kernel has learnt are kept between calls."""

    def __init__(self, validation: ValidationContext) -> None:
        self._validation = validation
        self._kernel = Kernel(validation)
        self._lock = Lock()

    def _read(self, messages: Messages) -> Iterator[pa.RecordBatch]:
        return read_batches(messages, placed=self._validation.ranges is not None)

    def check(self, messages: Messages, fail_on: str) -> AuditReport:
        """Return the report of messages. Raises UsageError as `read_batches`."""
        tally = Tally()
        with self._lock:
            for records in self._kernel.gather(self._read(messages)):
                tally.merge(self._kernel.audit(records, ceiling=tally.chains.ceiling))
        report = build_report(
            tally,
            AppliedContract(self._validation.catalogue, self._validation.declared, validation=self._validation),
            ReadRange(ReportSource(kind="dataframe"), {}),
            fail_on=fail_on,
        )
        return read_report(write_document(report))

    def decode(self, messages: Messages) -> DecodedBatch:
        """Return the rows of messages. Raises UsageError as `read_batches`."""
        tally, observed, statements = Tally(), ObservedColumns(), set[DdlStatement]()
        outputs: list[tuple[pa.RecordBatch, ...]] = []
        with self._lock:
            for records in self._kernel.gather(self._read(messages)):
                for written in self._kernel.decode(records, ceiling=tally.chains.ceiling):
                    tally.merge(written.tally)
                    observed.merge(written.observed)
                    if len(statements) < MOST_STATEMENTS:
                        statements.update(ddl_statements(written.control))
                    outputs.append((written.changes, written.control, written.quarantine))
        schemas = (CHANGES_SCHEMA, CONTROL_SCHEMA, QUARANTINE_SCHEMA)
        changes, control, quarantine = (
            pa.Table.from_batches([parts[place] for parts in outputs], schema) for place, schema in enumerate(schemas)
        )
        return DecodedBatch(
            changes,
            control,
            quarantine,
            read=sum(one.read for one in tally.partitions.values()),
            tombstones=sum(one.tombstone for one in tally.partitions.values()),
            _observed=observed,
            _statements=frozenset(statements),
            _contracts=self._validation.reading_options.tables,
        )
