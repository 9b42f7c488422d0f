"""Validation without Arrow: records one by one by the reference validator, with the tally that the kernel gives them.

It needs neither numpy nor pyarrow; a command that has both validators batches by the kernel instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from cdc_contracts.registry.core.common.findings import Finding
from cdc_contracts.registry.core.common.json_messages import EXPECTED
from cdc_contracts.registry.core.engine.count.two_image_orders import is_followed, orders_by_subject_of
from cdc_contracts.registry.core.engine.group.dialect_runs import name_run
from cdc_contracts.registry.core.message.envelope_times import read_time
from cdc_contracts.registry.core.message.reading import Reading
from cdc_contracts.registry.core.records.input_files import RecordsWithoutArrow
from cdc_contracts.registry.core.stats.chain_evidence import ChainLine
from cdc_contracts.registry.core.stats.change_links import NO_TIME
from cdc_contracts.registry.core.stats.digests_without_arrow import RowDigests, digest_name, digest_row, mix
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.stats.position_sequences import Point
from cdc_contracts.registry.core.stats.range_evidence import RangeEvidence, VersionProof
from cdc_contracts.registry.core.stats.record_facts import Track, whole_number
from cdc_contracts.registry.core.stats.reference_tally import account_of
from cdc_contracts.registry.core.stats.row_changes import RowChange, RowChanges
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.stats.version_runs import Run
from cdc_contracts.registry.core.validate.rule_view import complete_rows
from cdc_contracts.registry.core.validate.validation_context import ValidatedMessage, ValidationContext
from cdc_contracts.registry.core.validate.verdicts import CONFORMING, CONTROL, OTHER_VERSION, Verdict, unreadable

_LARGEST: Final = 2**63 - 1

_ImagePair = tuple[list[RowDigests] | None, list[RowDigests] | None]
"""The rows of the before and the after image of one message."""


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
        for offset, value in zip(records.offsets, records.values, strict=True):
            findings = self.add(source, offset, value).verdict.findings
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
        readings = orders.readings_of(validated)
        if not readings:
            return
        changes = _row_changes([_images(reading) for reading in readings], orders.kind_of(readings[0].op))
        if changes is None:
            return
        names, line = readings[0].names, ChainLine(*source, subject)
        table = digest_name(source.topic, names.tenant, names.database, names.schema, names.table)
        event, position = _event_time(readings[0]), _position(readings[0])
        self._changes.tables[table] = names.text
        self._changes.open_line(line, orders.readings)
        self._changes.add(line, [
            one._replace(key=mix(one.key ^ table), table=table, offset=point.offset, event=event, position=position)
            for one in changes
        ])  # fmt: skip


def _evidence(verdict: Verdict, offset: int) -> RangeEvidence:
    """Return the evidence of one record about the range it lies in."""
    if verdict.outcome == OTHER_VERSION:
        first = verdict.findings[0]
        return RangeEvidence(proof=VersionProof(offset, first.path, first.expected, first.observed))
    differing = verdict.outcome in (CONFORMING, CONTROL) and verdict.differs
    return RangeEvidence(differing=int(differing), undecided=int(verdict.undecided), proven=int(not verdict.undecided))


def _images(reading: Reading) -> _ImagePair:
    found: list[list[RowDigests] | None] = []
    for side in reading.images.completed:
        rows = complete_rows(reading, side) if side is not None else None
        key = reading.primary_key or ()
        found.append(None if rows is None else [digest_row(row, key) for row in rows])
    return found[0], found[1]


def _row_changes(images: Sequence[_ImagePair], kind: int) -> list[RowChange] | None:
    """Return the row changes of a record that two readings agree on; None if their rows do not correspond.

    The rules are those of `chain_links`, which finds them for whole batches.
    """
    shown = [side for sides in images for side in sides if side is not None]
    if not shown or any(len(side) != len(shown[0]) for side in shown):
        return None
    changes: list[RowChange] = []
    moved: tuple[list[RowChange], list[RowChange]] = [], []
    for within in range(len(shown[0])):
        rows = [side[within] for side in shown]
        keys = list(dict.fromkeys(row.key or row.image for row in rows))
        alike = all(row.shape == rows[0].shape for row in rows)
        shape = rows[0].shape if alike and rows[0].key else 0
        if len(keys) == 1:
            changes.append(RowChange(keys[0], 0, 0, within, kind, NO_TIME, 0, 0, shape, *_digests(images, within)))
        elif alike:
            for number, key in enumerate(keys[:2]):
                own = _digests(images, within, key)
                moved[number].append(RowChange(key, 0, 0, within, kind, NO_TIME, 0, 0, shape, *own))
    return [*changes, *moved[0], *moved[1]]


def _digests(images: Sequence[_ImagePair], within: int, key: int | None = None) -> Iterator[int]:
    """Yield the images of a row by each reading, before and after; 0 where there is none, or it has another key."""
    for sides in images:
        for side in sides:
            row = None if side is None else side[within]
            yield row.image if row is not None and key in (None, row.key or row.image) else 0


def _event_time(reading: Reading) -> int:
    """Return the event time of a message in microseconds; 0 if it has none."""
    place = reading.meaning.envelope.event_time
    if place is None:
        return 0
    return read_time(reading.place(place), place, reading.reading_options.zone("time_zone")).micros or 0


def _position(reading: Reading) -> int:
    """Return the position of a message; 0 if it has none that can be compared."""
    place = reading.meaning.envelope.position
    if place is None or place.order != "integer":
        return 0
    track = Track("", place.at or "", "", place.null_text, place.absent_value)
    number = whole_number(reading.place(place), track)
    return number if number is not None and abs(number) <= _LARGEST else 0
