"""The kernel: record batches of the Kafka source in, tallies and rows of the outputs out. One pass, no Spark."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Final

import numpy as np
import pyarrow as pa

from cdc_contracts.registry.core.common.garbage_collection import put_off_collection
from cdc_contracts.registry.core.common.json_messages import EXPECTED
from cdc_contracts.registry.core.engine.count.range_counts import count_range_evidence
from cdc_contracts.registry.core.engine.count.range_lookup import RangeFinder
from cdc_contracts.registry.core.engine.count.table_exclusion import exclude
from cdc_contracts.registry.core.engine.count.tallying import count, count_parts
from cdc_contracts.registry.core.engine.count.two_image_orders import orders_by_subject_of
from cdc_contracts.registry.core.engine.fast_validator import FastValidator
from cdc_contracts.registry.core.engine.group.batch_results import BatchResult
from cdc_contracts.registry.core.engine.group.dialect_runs import runs_of
from cdc_contracts.registry.core.engine.group.framed_batches import FramedBatches
from cdc_contracts.registry.core.engine.group.null_batches import open_null_values
from cdc_contracts.registry.core.engine.group.opened_batches import open_images, open_wrapped
from cdc_contracts.registry.core.engine.write.decoded_rows import DecodedRows
from cdc_contracts.registry.core.engine.write.output_writers import decode_rows, write_control, write_quarantine
from cdc_contracts.registry.core.engine.write.row_columns import observe_columns
from cdc_contracts.registry.core.records.batch_sizes import NOT_JOINED, SIZE_OF_FEW, BatchSize, gather
from cdc_contracts.registry.core.records.record_batches import Batch, cut
from cdc_contracts.registry.core.stats.observed_columns import ObservedColumns
from cdc_contracts.registry.core.stats.row_changes import HIGHEST
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.validate.validation_context import NOT_OF_SUBJECT, ValidatedMessage, ValidationContext
from cdc_contracts.registry.core.validate.verdicts import CONTROL, unreadable

_COLLECT_EVERY: Final = 64


@dataclass(frozen=True)
class Written:
    """The result of one part of a batch: its tally, the rows of the outputs, and the columns of the rows.

    What not every caller asks for is made when it is asked for.
    """

    records: pa.RecordBatch
    rows: DecodedRows
    control: pa.RecordBatch
    quarantine: pa.RecordBatch
    _parts: Sequence[tuple[Batch, BatchResult]]
    _count: Callable[[], Tally]

    @cached_property
    def tally(self) -> Tally:
        """The tally of the records."""
        with put_off_collection():
            return self._count()

    @cached_property
    def observed(self) -> ObservedColumns:
        """The columns of the rows, by table."""
        observed = ObservedColumns()
        for _, batch_result in self._parts:
            observed.merge(observe_columns(batch_result))
        return observed

    @property
    def changes(self) -> pa.RecordBatch:
        """The row changes as `changes/` has them (`CHANGES_SCHEMA`)."""
        return self.rows.changes


class Kernel:
    """Validates record batches within a validation context; keeps layouts and verdicts from batch to batch.

    A batch has the columns of the Kafka source: `value` (binary), `topic`, `partition`, `offset`, and optionally
    `key`, `timestamp`, `timestampType`, `headers`.
    """

    def __init__(self, validation: ValidationContext) -> None:
        self.validation = validation
        self._validator = FastValidator(validation)
        self._other_subjects = [Kernel(other_subject) for other_subject in validation.other_subjects]
        self._control_subjects = [Kernel(other_subject) for other_subject in validation.control_subjects]
        self._finder = RangeFinder(validation.ranges) if validation.ranges is not None else None
        schemas = validation.reading_options.schemas
        self._framed = None if schemas is None else FramedBatches(schemas, validation)
        transports = {validator.meaning.transport for validator in validation.validators}
        self._takes_texts = schemas is None and validation.reading_options.wrapping is None and transports == {"json"}
        self._declared = {one: Kernel(declared) for one, declared in validation.declared_scopes.items()}
        self._several = len(validation.validated) > 1 and not validation.left_open
        self.orders_by_subject = orders_by_subject_of(validation)

    def gather(self, batches: Iterable[pa.RecordBatch], *, joined: bool = True) -> Iterator[pa.RecordBatch]:
        """Yield batches as they are best given to this kernel, with the garbage collector on only between some.

        Without `joined` each stays by itself, as where every slice of a sample is counted.
        """
        with put_off_collection():
            for number, records in enumerate(gather(batches, lambda: self.batch_size if joined else NOT_JOINED), 1):
                yield records
                if number % _COLLECT_EVERY == 0:
                    gc.collect()

    @property
    def known_shapes(self) -> int:
        """How many shapes of messages the last batch shared with batches before it."""
        kernels = [*self._declared.values(), *self._other_subjects, *self._control_subjects]
        return max([self._validator.known_shapes, *(kernel.known_shapes for kernel in kernels)])

    @property
    def batch_size(self) -> BatchSize:
        """How many messages are best validated at once, after those of the last batch.

        Values that are opened first may become many times as long, so that their size says less.
        """
        return BatchSize.of_shapes(self.known_shapes) if self._takes_texts else SIZE_OF_FEW

    def audit(self, records: pa.RecordBatch, *, ceiling: int = HIGHEST) -> Tally:
        """Return the tally of the records.

        `ceiling` is that of the row changes of the tally that it will be merged into: rows above it are only counted.
        """
        with put_off_collection():
            tallies = self._tallies(records, ceiling)
            total = next(tallies, Tally())
            for tally in tallies:
                total.merge(tally)
        return total

    def _tallies(self, records: pa.RecordBatch, ceiling: int) -> Iterator[Tally]:
        """Yield the tallies of parts of the records."""
        selection, wrapping = self.validation.reading_options.selection, self.validation.reading_options.wrapping
        for batch in cut(records, self.batch_size):
            if wrapping is not None:
                batch, *closed = open_wrapped(batch, wrapping)  # noqa: PLW2901  what it holds
                for part, batch_result in closed:
                    yield count(batch_result, part)
            parts = []
            for part, batch_result in self._parts(batch, texts=self._several):
                if selection:
                    batch_result, excluded = exclude(batch_result, part, selection)  # noqa: PLW2901  the rest of it
                    yield excluded
                parts.append((part, batch_result))
            yield self._count(parts, ceiling)

    def decode(self, records: pa.RecordBatch, *, ceiling: int = HIGHEST) -> Iterator[Written]:
        """Yield the tally and the rows of the records, in parts of bounded size; `ceiling` is that of `audit`."""
        for batch in cut(records, self.batch_size):
            with put_off_collection():
                parts = list(self._parts(batch, texts=True))
                rows = _join_rows([decode_rows(batch_result, part) for part, batch_result in parts])
                control, quarantine = (
                    _in_order([write(batch_result, part) for part, batch_result in parts])
                    for write in (write_control, write_quarantine)
                )
            yield Written(batch.records, rows, control, quarantine, parts, partial(self._count, parts, ceiling))

    def batch_results(self, records: pa.RecordBatch) -> Iterator[tuple[Batch, BatchResult]]:
        """Yield the parts of a record batch with all their verdicts."""
        for batch in cut(records, self.batch_size):
            yield from self._parts(batch, texts=True)

    def check(self, records: pa.RecordBatch) -> Iterator[tuple[Sequence[tuple[Batch, BatchResult]], Tally]]:
        """Yield the parts of a record batch with all their verdicts, and their tally as an audit has it."""
        for batch in cut(records, self.batch_size):
            with put_off_collection():
                parts = list(self._parts(batch, texts=True))
                tally = self._count(parts)
            yield parts, tally

    def _count(self, parts: Sequence[tuple[Batch, BatchResult]], ceiling: int = HIGHEST) -> Tally:
        """Return the tally of the parts of a batch; runs extend over all of them, however the subjects alternate."""
        options = self.validation.reading_options
        total = count_parts(
            parts, show_values=options.show_values, orders_by_subject=self.orders_by_subject,
            profiled=options.profiled, ceiling=ceiling,
        )  # fmt: skip
        if self._other_subjects:
            total.runs = runs_of(parts, self.validation)
        if self._finder is not None:
            total.evidence_by_message = count_range_evidence(parts, self._finder)
        return total

    def _parts(self, batch: Batch, *, texts: bool) -> Iterator[tuple[Batch, BatchResult]]:
        """Validate a batch, the records of each range of a versions file as it declares."""
        if self._framed is not None:
            batch, *closed = self._framed.open(batch)
            yield from closed
        for declaration, part in ((None, batch),) if self._finder is None else self._finder.split(batch):
            kernel = self if declaration is None else self._declared[declaration]
            null_values = kernel.validation.null_values
            opened = part if null_values is None else open_null_values(part, null_values)
            yield from kernel._batch_results(opened, texts=texts)  # noqa: SLF001

    def _batch_results(self, batch: Batch, *, texts: bool) -> Iterator[tuple[Batch, BatchResult]]:
        """Validate a batch; if that fails, each half of it, down to the one record that cannot be validated.

        No message may stop a run: the record is quarantined whole, and the finding names what failed.
        """
        try:
            keys = batch.keys if self.validation.reads_keys else None
            values = open_images(batch.values, keys, self.validation.wire.text_images)
            batch_result = self._validator.validate(values, keys, texts=texts)
            foreign_records = self._foreign_records(batch_result, batch)
        except Exception as error:  # noqa: BLE001  whatever a message does, the rest has to be validated
            if len(batch) > 1:
                middle = len(batch) // 2
                yield from self._batch_results(Batch(batch.records.slice(0, middle)), texts=texts)
                yield from self._batch_results(Batch(batch.records.slice(middle)), texts=texts)
                return
            verdict = unreadable(
                "not-validated", EXPECTED, f"a message that cannot be validated: {type(error).__name__}"
            )
            batch_result, foreign_records = (
                BatchResult(pa.array([None], pa.string()), alone=[(0, ValidatedMessage(verdict))]),
                {},
            )
        for other, numbers in foreign_records.items():
            batch_result.leave_out(numbers)
            yield from other._batch_results(Batch(batch.records.take(pa.array(numbers))), texts=texts or other._several)  # noqa: SLF001
        yield batch, batch_result

    def _foreign_records(self, batch_result: BatchResult, batch: Batch) -> dict[Kernel, list[int]]:
        """Return the records that are not of the subject, by the kernel of the other subject that accepts them."""
        found: dict[Kernel, list[int]] = {}
        others = [*self._other_subjects, *self._control_subjects]
        numbers = sorted(batch_result.having(NOT_OF_SUBJECT)) if others else []
        for other in others if numbers else ():
            claimed = other._validator.claimed_values(batch.values.take(np.array(numbers)))  # noqa: SLF001
            taken = [number for number, fits in zip(numbers, claimed, strict=True) if fits]
            numbers = [number for number in numbers if number not in set(taken)]
            if other in self._control_subjects:
                taken = other._control_among(taken, batch)  # noqa: SLF001  rows of that subject stay what they are
            if taken:
                found[other] = taken
            if not numbers:
                break
        return found

    def _control_among(self, numbers: list[int], batch: Batch) -> list[int]:
        """Return those of some records that are control messages of the subject."""
        if not numbers:
            return []
        held = self._validator.validate(batch.values.take(np.array(numbers)), texts=False).having(frozenset({CONTROL}))
        return [number for place, number in enumerate(numbers) if place in held]


def _join_rows(parts: Sequence[DecodedRows]) -> DecodedRows:
    """Return the row changes of the parts of a batch as those of one."""
    if len(parts) == 1:
        return parts[0]
    return DecodedRows(None, lambda: _in_order([part.changes for part in parts]))


def _in_order(parts: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Return rows of the parts of a batch as those of one: in the order of their records."""
    if len(parts) == 1:
        return parts[0]
    order = [name for name in ("topic", "partition", "offset", "row_index") if name in parts[0].schema.names]
    table = pa.Table.from_batches(parts).sort_by([(name, "ascending") for name in order]).combine_chunks()
    return table.to_batches()[0] if table.num_rows else parts[0]
