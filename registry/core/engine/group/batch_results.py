"""The results of a batch: verdicts of the reference validator, each with the group of records that it applies to."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
from msgspec import UNSET
from numpy.typing import NDArray

from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.engine.columns.row_images import ColumnTable, ImageTexts
from cdc_contracts.registry.core.engine.layouts.batch_tables import BatchTables, Tables, table_of_all
from cdc_contracts.registry.core.engine.layouts.decoded_batches import DecodedBatch
from cdc_contracts.registry.core.message.reading import Reading
from cdc_contracts.registry.core.message.transport import Transport
from cdc_contracts.registry.core.stats.column_ways import WrittenTable
from cdc_contracts.registry.core.stats.observed_columns import ObservedRow
from cdc_contracts.registry.core.stats.record_facts import Facts, facts_of
from cdc_contracts.registry.core.validate.form_selection import TypedColumns
from cdc_contracts.registry.core.validate.validation_context import ValidatedMessage
from cdc_contracts.registry.core.validate.verdicts import Opinion, Verdict


class RecordKind:
    """Records that are equal in all that is discrete in them: only the values of their columns have other flags."""


@dataclass(frozen=True, eq=False)
class CachedVerdict:
    """The reference validator's verdict on the first record of a group: enough to decide every other one.

    `claims` says per version whether its discriminators hold, `facts` what the version reads besides the images.
    `candidates` are the other subjects whose discriminators may hold, in catalogue order: none where ours do.
    """

    opinions: tuple[Opinion, ...]
    claims: tuple[bool, ...]
    readings: tuple[Reading, ...]
    columns: tuple[TypedColumns, ...]
    facts: tuple[Any, ...]
    kind: RecordKind
    candidates: tuple[str, ...] = ()
    _facts_by_verdict: dict[Any, Facts | None] = field(default_factory=dict, repr=False)
    shapes: dict[int, ObservedRow] = field(default_factory=dict, repr=False)
    """The columns that the types of its records name, by the place of the version: found when first asked for."""
    foreign_readings: dict[str, Reading | None] = field(default_factory=dict, repr=False)
    """How another subject would read its records, by their own: found when first asked for."""
    plain: dict[WrittenTable, set[tuple[str, str]]] = field(default_factory=dict, repr=False)
    """The columns with a value of a kind that has no layout: the layouts of its other values mean nothing there."""

    @property
    def ours(self) -> bool:
        return any(self.claims)

    def is_claimable(self, may_claim: Callable[[Meaning], bool]) -> bool:
        """Return whether some version that may claim by its discriminators, and whose hold, finds no error."""
        return any(
            claims and not opinion.errors and may_claim(reading.meaning)
            for claims, opinion, reading in zip(self.claims, self.opinions, self.readings, strict=True)
        )

    def fitting(self) -> tuple[Version, ...]:
        return tuple(opinion.version for opinion in self.opinions if not opinion.errors)

    def facts_by(self, verdict: Verdict) -> Facts | None:
        """Return what its records add to the statistics of a stream under a verdict, whatever their table is called."""
        key = (verdict.version, verdict.outcome, bool(verdict.fits))
        if key not in self._facts_by_verdict:
            place = place_of(self, verdict)
            self._facts_by_verdict[key] = facts_of(verdict, self.readings[place], self.columns[place])
        return self._facts_by_verdict[key]

    def sources_by(self, verdict: Verdict) -> tuple[str | None, ...]:
        """Return from where the images of its records are read under a verdict, None for one that holds no row."""
        reading = self.readings[place_of(self, verdict)]
        return tuple(reading.source(side) for side in reading.sides)


def place_of(cached_verdict: CachedVerdict, verdict: Verdict) -> int:
    """Return the place of a verdict's version among those of which there are opinions; the last where it has none."""
    opinions = cached_verdict.opinions
    return next((place for place, opinion in enumerate(opinions) if opinion.version is verdict.version), -1)


@dataclass(eq=False)
class RecordGroup:
    """Records of a decoded batch that share a verdict; `positions` are in the batch, rising.

    `batch_tables` is None where the cached verdict is that of one table.
    """

    decoded_batch: DecodedBatch
    columns: ColumnTable
    positions: NDArray[np.int64]
    cached_verdict: CachedVerdict
    _texts: dict[int, ImageTexts]
    _wire: Transport
    batch_tables: BatchTables | None = None

    def tables(self, version: int) -> Tables:
        """Return the table of each record as the version of that place reads it."""
        if self.batch_tables is None:
            return table_of_all(self.cached_verdict.readings[version].names, len(self.positions))
        return self.batch_tables.tables.select(self.positions)

    def by_table(self) -> list[RecordGroup]:
        """Return the records of each table by themselves."""
        if self.batch_tables is None:
            return [self]
        codes = self.batch_tables.tables.codes[self.positions]
        if (codes == codes[0]).all():
            return [self]
        order = np.argsort(codes, kind="stable")
        parts = np.split(self.positions[order], np.flatnonzero(np.diff(codes[order])) + 1)
        return [replace(self, positions=part) for part in parts]

    def texts(self, version: int) -> ImageTexts:
        """The images of the batch as the version with that index reads them."""
        if version not in self._texts:
            self._texts[version] = ImageTexts(self.decoded_batch, self.columns, version)
        return self._texts[version]

    def member(self, pointer: str | None) -> list[Any] | None:
        """Return a member of the envelope per record as parsed, None where absent; None if no record has it."""
        values = self.decoded_batch.members.get(pointer or "")
        if values is None:
            return None
        listed = values.objects
        return [None if listed[position] is UNSET else listed[position] for position in self.positions.tolist()]

    def last_counts(self, pointer: str | None) -> list[int] | None:
        """Return the last number of a member that is a list of unsigned integers in every record, None if it is not."""
        values = self.decoded_batch.members.get(pointer or "")
        counts = None if values is None else values.all_last_counts
        return None if counts is None else counts[self.positions].tolist()

    def integers(self, pointer: str | None) -> NDArray[np.int64] | None:
        """Return a member of the envelope per record; None unless the parser makes an integer of each."""
        values = self.decoded_batch.members.get(pointer or "")
        found = None if values is None else values.all_integers
        return None if found is None else found[self.positions]

    def types(self, version: int) -> tuple[str, dict[str, str] | None]:
        """Return the origin of the source types of the columns, and the types by column."""
        columns = self.cached_verdict.columns[version]
        return columns.origin, columns.types

    def reread(self, version: int, values: Sequence[bytes | None]) -> Iterator[tuple[int, Reading]]:
        """Yield each record's number with its message read by the version with that index."""
        cached_verdict = self.cached_verdict.readings[version]
        for number in self.numbers.tolist():
            yield (
                number,
                Reading(cached_verdict.meaning, self._wire.open(values[number] or b""), cached_verdict.reading_options),
            )

    @property
    def numbers(self) -> NDArray[np.int64]:
        """Their numbers in the batch."""
        return self.decoded_batch.numbers[self.positions]


@dataclass(eq=False)
class GroupResult:
    """Records with one verdict."""

    verdict: Verdict
    record_group: RecordGroup

    @property
    def place(self) -> int:
        """The place of the verdict's version among those of which there are opinions, as `place_of` returns it."""
        return place_of(self.record_group.cached_verdict, self.verdict)


@dataclass
class BatchResult:
    """All results of a batch: groups of records, records validated one by one, and tombstones."""

    texts: pa.Array
    group_results: list[GroupResult] = field(default_factory=list)
    alone: list[tuple[int, ValidatedMessage]] = field(default_factory=list)
    tombstones: list[int] = field(default_factory=list)

    def having(self, outcomes: Collection[str]) -> set[int]:
        """Return the numbers of the records with one of these outcomes."""
        numbers = {number for number, validated in self.alone if validated.verdict.outcome in outcomes}
        for group_result in self.group_results:
            if group_result.verdict.outcome in outcomes:
                numbers.update(group_result.record_group.numbers.tolist())
        return numbers

    def leave_out(self, numbers: Collection[int]) -> None:
        """Drop the results of some records: they are validated elsewhere."""
        left_out = set(numbers)
        self.alone = [(number, validated) for number, validated in self.alone if number not in left_out]
        group_results = []
        for group_result in self.group_results:
            record_group = group_result.record_group
            kept = record_group.positions[~np.isin(record_group.numbers, list(left_out))]
            if len(kept):
                group_results.append(GroupResult(group_result.verdict, replace(record_group, positions=kept)))
        self.group_results = group_results
