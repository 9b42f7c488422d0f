"""Validation without Arrow: records one by one by the reference validator, with the tally that the kernel gives them.

It needs neither numpy nor pyarrow; a command that has both validators batches by the kernel instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cdc_contracts.registry.core.common.findings import Finding
from cdc_contracts.registry.core.common.json_messages import EXPECTED
from cdc_contracts.registry.core.engine.count.single_changes import changes_of_message
from cdc_contracts.registry.core.engine.count.two_image_orders import is_followed, orders_by_subject_of
from cdc_contracts.registry.core.engine.group.dialect_runs import name_run
from cdc_contracts.registry.core.records.input_files import RecordsWithoutArrow
from cdc_contracts.registry.core.stats.chain_evidence import ChainLine
from cdc_contracts.registry.core.stats.change_links import NO_TIME
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.stats.position_sequences import Point
from cdc_contracts.registry.core.stats.range_evidence import RangeEvidence, VersionProof
from cdc_contracts.registry.core.stats.reference_tally import account_of, observed_of_one
from cdc_contracts.registry.core.stats.row_changes import RowChanges
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.stats.version_runs import Run
from cdc_contracts.registry.core.validate.validation_context import ValidatedMessage, ValidationContext
from cdc_contracts.registry.core.validate.verdicts import CONFORMING, CONTROL, OTHER_VERSION, Verdict, unreadable


class ValidationWithoutArrow:
    """Validates records of files in the order of their offsets, partition by partition, and tallies them."""

    def __init__(self, validation: ValidationContext) -> None:
        self.validation = validation
        self._tally = Tally()
        self._orders_by_subject = orders_by_subject_of(validation)
        self._changes = RowChanges()

    def check(self, records: RecordsWithoutArrow) -> Iterator[tuple[Source, int, Sequence[Finding]]]:
        """Yield the records that have findings, with partition and offset."""
        source = Source(records.topic, records.partition)
        values = self.validation.reading_options.show_values
        for offset, value in zip(records.offsets, records.values, strict=True):
            findings = observed_of_one(self.add(source, offset, value), values=values)
            if findings:
                yield source, offset, findings

    def add(self, source: Source, offset: int, value: bytes | None) -> ValidatedMessage:
        """Validate and count one record, and return its verdict."""
        point, scope = Point(offset, None), self.validation.at(*source, offset, None)
        try:
            validated = scope.validate(value)
        except Exception as error:  # noqa: BLE001  whatever a message does, the rest has to be validated
            validated = ValidatedMessage(
                unreadable("not-validated", EXPECTED, f"a message that cannot be validated: {type(error).__name__}")
            )
        tally = account_of(
            validated, source, point, value, show_values=self.validation.reading_options.show_values
        )  # fmt: skip
        if self.validation.other_subjects:
            name = name_run(validated.verdict, self.validation)
            tally.runs = {source: [Run(name, offset, offset, 1)]} if name else {}
        if self.validation.ranges is not None and validated.verdict.fits:
            ranges = self.validation.ranges.ranges_of(*source)
            number = next((place for place, one in enumerate(ranges) if one.holds(offset, None)), None)
            if number is not None:
                tally.evidence_by_message[*source, number] = _evidence(validated.verdict, offset)
        self._tally.merge(tally)
        self._follow(validated, source, point)
        return validated

    def finish(self) -> Tally:
        """Return the tally of all records; nothing is added afterwards."""
        self._tally.chains = self._changes
        return self._tally

    def _follow(self, validated: ValidatedMessage, source: Source, point: Point) -> None:
        """Add the row changes of a record."""
        self._changes.read(*source, [(point.offset, point.offset)])
        for subject, orders in self._orders_by_subject.items():
            if not orders.foreign_validators:
                self._changes.open_line(ChainLine(*source, subject), orders.readings)
        if not is_followed(validated.verdict, self._orders_by_subject):
            return
        subject = validated.verdict.fits[0].subject
        orders = self._orders_by_subject[subject]
        tables = self._changes.tables
        if changes := changes_of_message(validated, orders, source.topic, point.offset, NO_TIME, tables):
            line = ChainLine(*source, subject)
            self._changes.open_line(line, orders.readings)
            self._changes.add(line, changes)


def _evidence(verdict: Verdict, offset: int) -> RangeEvidence:
    """Return the evidence of one record about the range it lies in."""
    if verdict.outcome == OTHER_VERSION:
        first = verdict.findings[0]
        return RangeEvidence(proof=VersionProof(offset, first.path, first.expected, first.observed))
    differing = verdict.outcome in (CONFORMING, CONTROL) and verdict.differs
    return RangeEvidence(differing=int(differing), undecided=int(verdict.undecided), proven=int(not verdict.undecided))
