"""Fast validator of a subject: a batch of values in, groups of records with one verdict out.

It groups the records that are equal in everything a verdict may depend on, has the reference validator validate the
first of each group, and gives the rest the same verdict. It decides only what it has read: records that the layouts
reject, and records with arrays or objects as values that some version accepts, are validated by the reference
validator, one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cdc_contracts.registry.core.common.json_messages import Unreadable
from cdc_contracts.registry.core.engine.columns.flag_readers import FlagReaders, fold_flags, readers_of_flags
from cdc_contracts.registry.core.engine.columns.image_flags import (
    completion_flags,
    empty_row_flags,
    hint_flags,
    key_flags,
    whole_records,
)
from cdc_contracts.registry.core.engine.columns.key_columns import KeyColumns, KeysOfBatch
from cdc_contracts.registry.core.engine.columns.optional_columns import OptionalColumns
from cdc_contracts.registry.core.engine.columns.row_images import ColumnTable, ImageTexts
from cdc_contracts.registry.core.engine.columns.shape_columns import ShapeColumns, pool_columns
from cdc_contracts.registry.core.engine.columns.value_columns import ValueColumns
from cdc_contracts.registry.core.engine.columns.value_flags import (
    ODD,
    Mask,
    ValueFlag,
    asked_flags,
    column_flags,
    kind_flags,
)
from cdc_contracts.registry.core.engine.group.batch_results import (
    BatchResult,
    CachedVerdict,
    RecordGroup,
    RecordKind,
)
from cdc_contracts.registry.core.engine.group.common_members import CommonMembers
from cdc_contracts.registry.core.engine.group.envelope_parts import EnvelopePart, EnvelopeReader
from cdc_contracts.registry.core.engine.group.family_verdicts import VerdictsByFamily
from cdc_contracts.registry.core.engine.group.group_decisions import GroupDecisions
from cdc_contracts.registry.core.engine.group.group_splits import split_by_claim, split_by_reading
from cdc_contracts.registry.core.engine.group.opened_batches import open_images
from cdc_contracts.registry.core.engine.group.record_grouping import VerdictGroup, group_records
from cdc_contracts.registry.core.engine.group.subject_claims import Claims, may_be_of
from cdc_contracts.registry.core.engine.layouts.batch_tables import BatchTables
from cdc_contracts.registry.core.engine.layouts.decoded_batches import DecodedBatch
from cdc_contracts.registry.core.engine.layouts.struct_layouts import LayoutPlan
from cdc_contracts.registry.core.engine.native.avro_reading import AvroReader
from cdc_contracts.registry.core.engine.native.scanning import Scanner
from cdc_contracts.registry.core.engine.parse.batch_parser import Parser
from cdc_contracts.registry.core.engine.parse.batch_sorter import BatchSorter
from cdc_contracts.registry.core.engine.parse.layout_plans import make_plan
from cdc_contracts.registry.core.message.reading import Reading
from cdc_contracts.registry.core.message.transport import AvroTransport
from cdc_contracts.registry.core.records.message_values import MessageValues
from cdc_contracts.registry.core.validate.drift_rule import reads_of
from cdc_contracts.registry.core.validate.reference_validator import VersionVerdict
from cdc_contracts.registry.core.validate.validation_context import ValidatedMessage, ValidationContext
from cdc_contracts.registry.core.validate.verdicts import foreign

_NOT_OF_GROUPS: Final = ("contract", "applies", "status", "provenance", "values", "version_evidence")


class FastValidator:
    """Validates batches within a validation context. Keeps its layouts and verdicts; one per task, not thread-safe."""

    def __init__(self, validation: ValidationContext) -> None:
        self.validation = validation
        self._validators = validation.validators
        self._claims = Claims(validation, FastValidator)
        meanings = [validator.meaning for validator in self._validators]
        self._plan: LayoutPlan | None = make_plan(
            meanings, [validator.version.schema for validator in self._validators]
        )
        self._verdicts = VerdictsByFamily()
        self._decisions = GroupDecisions(validation)
        self._columns = ShapeColumns(validation, self._plan)
        self._optional = OptionalColumns(validation)
        self._sorter = None if self._plan is None else self._make_sorter(self._plan)
        self._envelopes = None if self._plan is None else EnvelopeReader(self._plan, self._claims, validation.catalogue)
        mapping = self._validators[-1].forms.mapping_for(None)
        keyed_plan = self._plan if validation.reads_keys else None
        self._keys = None if keyed_plan is None else KeyColumns(keyed_plan.op_at, meanings, mapping)
        wire = validation.wire
        self._avro = AvroReader(wire) if isinstance(wire, AvroTransport) else None

    def _make_sorter(self, plan: LayoutPlan) -> BatchSorter:
        options = self.validation.reading_options
        columns = self._columns
        parser = Parser(plan, options, columns.make_columns, columns.make_column, columns.is_listed)
        return BatchSorter(parser, Scanner(plan, parser.identified_by, options, self._tables_of))

    def _tables_of(self, decoded_batch: DecodedBatch) -> BatchTables:
        return BatchTables(decoded_batch, self._validators[-1].meaning, self.validation.reading_options)

    @property
    def known_shapes(self) -> int:
        """How many shapes of messages the last batch shared with batches before it."""
        return 0 if self._sorter is None else self._sorter.known_shapes

    def validate(
        self, given: Sequence[bytes | None], keys: pa.BinaryArray | None = None, *, texts: bool
    ) -> BatchResult:
        """Return the result of each value of a batch. With `texts`, canonical texts are written as well.

        Without, it is not checked whether versions that fit a record would read it differently. `keys` are those of the
        records, where the subject reads them.
        """
        values = given if isinstance(given, MessageValues) else MessageValues(given)
        stated = keys if keys is not None and keys.null_count < len(keys) else None
        record_group, alone, tombstones, found = self._examine(self._as_json(values), stated, texts=texts)
        batch_result = BatchResult(found, tombstones=tombstones)
        claimants = self._claims.claimants(record_group, values)
        batch_result.group_results = self._decisions.decide(
            (claimed, differs, claimed_by)
            for one in record_group
            for part, differs in (split_by_reading(one, found) if texts else [(one, frozenset())])
            for claimed, claimed_by in split_by_claim(part, claimants)
        )
        batch_result.alone = list(self._validate_alone(sorted(alone), values, stated))
        if not texts:
            batch_result.alone = [(number, _without_differences(validated)) for number, validated in batch_result.alone]
        return batch_result

    def _validate_alone(
        self, numbers: Sequence[int], values: MessageValues, keys: pa.BinaryArray | None
    ) -> Iterator[tuple[int, ValidatedMessage]]:
        """Validate ungrouped records by the reference; records of another transport are identified by their claims."""
        validation, strange = self.validation, self._claims.foreign(numbers, values)
        for number in numbers:
            if number in strange:
                yield number, ValidatedMessage(foreign(validation.subject, validation.validated[-1], strange[number]))
            else:
                yield number, validation.validator_by_subject(values[number], _key_of(keys, number))

    def claimed_values(self, values: MessageValues) -> NDArray[np.bool_]:
        """Say for each value whether the subject's discriminators hold and one of its versions finds no error."""
        fits = np.zeros(len(values), np.bool_)
        numbers = np.flatnonzero(may_be_of(self.validation, values))
        if not len(numbers):
            return fits
        chosen = values if len(numbers) == len(values) else values.take(numbers)
        opened = open_images(chosen, None, self.validation.wire.text_images)
        record_group, alone, _, _ = self._examine(self._as_json(opened), texts=False, claims=True)
        for one in record_group:
            if one.cached_verdict.is_claimable(self.validation.may_claim):
                fits[numbers[one.numbers]] = True
        for number in alone:
            fits[numbers[number]] = self.validation.claims_value(chosen[number])
        return fits

    def _as_json(self, values: MessageValues) -> MessageValues:
        """Return the JSON text of each value; if it has none, an empty one, which the reference validates."""
        return values if self._avro is None else self._avro.read(values.array)

    def _examine(
        self, values: MessageValues, keys: pa.BinaryArray | None = None, *, texts: bool, claims: bool = False
    ) -> tuple[list[RecordGroup], list[int], list[int], pa.Array]:
        """Sort the values into records that share a verdict, records to be validated one by one, and tombstones.

        With `claims`, records are left out that no version is going to accept.
        """
        value_columns = ValueColumns()
        if self._sorter is None or self._plan is None or self._envelopes is None:
            nulls = [number for number, value in enumerate(values) if value is None]
            return [], [number for number, value in enumerate(values) if value is not None], nulls, value_columns.texts
        in_order = self._sorter.sort(values)
        decoded_batches = in_order.decoded_batches
        tables = pool_columns(decoded_batches, value_columns, self._plan)
        value_columns.validate(texts=texts)
        found: list[RecordGroup] = []
        alone = list(in_order.ungrouped)
        envelopes = self._envelopes.read(decoded_batches)
        for decoded_batch, columns, envelope in zip(decoded_batches, tables, envelopes, strict=True):
            plain_names = self._plan.plain_names_of(decoded_batch.shape)
            texts_of: dict[int, ImageTexts] = {}
            stated = KeysOfBatch(np.zeros(len(decoded_batch), np.int64))
            if keys is not None and self._keys is not None:
                stated = self._keys.read(decoded_batch, columns, _keys_of(keys, decoded_batch))
            value_flags = self._flags(decoded_batch, columns, self._plan, envelope, stated.named) + stated.flags
            groups = group_records(decoded_batch, value_flags, envelope.keys, stated.coded)
            batch_tables = self._tables_of(decoded_batch) if plain_names else None
            alone += decoded_batch.numbers[sorted(decoded_batch.unfit)].tolist()
            for group in groups:
                of_family = self._verdicts.of(decoded_batch.layout.family)
                if claims and (of_family.refuses(group) or self._disclaims(decoded_batch, group, values)):
                    continue
                cached_verdict = self._cached_verdict(decoded_batch, group, values, keys)
                if claims and cached_verdict is not None:
                    of_family.remember_refusal(group, cached_verdict)
                if cached_verdict is None:
                    alone += decoded_batch.numbers[group.positions].tolist()
                else:
                    found.append(
                        RecordGroup(
                            decoded_batch,
                            columns,
                            group.positions,
                            cached_verdict,
                            texts_of,
                            self.validation.wire,
                            batch_tables,
                        )
                    )
        return found, alone, in_order.tombstones, value_columns.texts

    # --- flags

    @cached_property
    def _compares_blocks(self) -> bool:
        return any(reads_of(validator.meaning).blocks for validator in self._validators)

    @cached_property
    def _told_empty(self) -> frozenset[str]:
        """The images of which it counts whether a row has a column: those of changed columns, and those of one row.

        An empty object is no row in any op that does not complete it, whatever it is in another.
        """
        meanings = [validator.meaning for validator in self._validators]
        empty = (at for meaning in meanings for at in reads_of(meaning).empty_rows)
        return frozenset(empty).union(*(one.images.pointers() for one in meanings if one.images.hold_one_row))

    @cached_property
    def _validated_messages(self) -> frozenset[int] | None:
        """The indices of the validated versions if all versions differ in value forms only, otherwise None."""
        result = [
            {key: value for key, value in validator.version.resolved.items() if key not in _NOT_OF_GROUPS}
            for validator in self._validators
        ]
        schemas = [validator.version.schema for validator in self._validators]
        record_group = all(one == result[0] for one in result) and all(schema == schemas[0] for schema in schemas)
        if not record_group or self._columns.untyped or self.validation.reading_options.severities.raised:
            return None
        return frozenset(
            index for index, validator in enumerate(self._validators) if validator.version in self.validation.validated
        )

    def _flags(
        self, decoded_batch: DecodedBatch, columns: ColumnTable, plan: LayoutPlan, envelope: EnvelopePart,
        keys: Iterable[object],
    ) -> list[tuple[ValueFlag, Mask]]:  # fmt: skip
        """Return the flags of records; `keys` is what Kafka keys name."""
        value_flags = [*envelope.flags]
        readers: dict[ValueFlag, FlagReaders] = {}
        whole = {pointer: whole_records(decoded_batch, rows) for pointer, rows in decoded_batch.rows.items()}
        optional = self._optional.by_image(decoded_batch, keys)
        for (pointer, index), values in columns.items():
            rows = decoded_batch.rows[pointer]
            own = column_flags(decoded_batch, rows, index, values, whole[pointer], optional.get(pointer, ()))
            own += asked_flags(decoded_batch, rows, index, values, plan.asked_columns)
            if rows.image.places[index] in self._claims.asked:
                own += kind_flags(decoded_batch, rows, index, values)
            if self._validated_messages is not None and own:
                readers |= readers_of_flags(rows, index, own)
            value_flags += own
        value_flags += completion_flags(decoded_batch, columns, plan, value_flags)
        value_flags += empty_row_flags(decoded_batch, columns, self._told_empty)
        if self._compares_blocks:
            value_flags += hint_flags(decoded_batch, columns, self._validators[-1].meaning)
        if self._columns.compares_wire_text:
            value_flags += key_flags(decoded_batch, columns, self._validators[-1].meaning)
        if self._validated_messages is not None and value_flags:
            value_flags = fold_flags(value_flags, readers, self._validated_messages)
        return value_flags + envelope.asked_flags

    # --- verdicts

    def _cached_verdict(
        self, decoded_batch: DecodedBatch, group: VerdictGroup, values: MessageValues, keys: pa.BinaryArray | None
    ) -> CachedVerdict | None:
        family = decoded_batch.layout.family
        known = self._verdicts.of(family)
        found = known.verdicts.get((group.grouping_key, group.value_flags))
        if found is not None:
            return found
        first = int(decoded_batch.numbers[group.positions[0]])
        record = values[first] or b"", _key_of(keys, first)
        validated = self._validate_first(*record, decoded_batch, known.kind_of(group))
        if validated is not None and validated.fitting() and any(kind == ODD for kind, *_ in group.value_flags):
            return None  # what a version accepts is read, and only the reference reads arrays and objects
        if validated is not None:
            self._verdicts.add(family, group, validated)
        return validated

    def _disclaims(self, decoded_batch: DecodedBatch, group: VerdictGroup, values: MessageValues) -> bool:
        """Return whether the discriminators of no version hold for a group."""
        try:
            message = self.validation.wire.parse(values[decoded_batch.numbers[group.positions[0]]] or b"")
        except Unreadable:
            return False
        return not any(validator.claims(message) for validator in self._validators)

    def _validate_first(
        self, value: bytes, key: bytes | None, decoded_batch: DecodedBatch, kind: RecordKind
    ) -> CachedVerdict | None:
        """Have the reference validate the first message of a group; None if each has to be validated there."""
        try:
            message = self.validation.wire.parse(value)
        except Unreadable:
            return None
        version_verdicts = self.validation.version_verdicts(message, key)
        readings = tuple(
            Reading(validator.meaning, message, self.validation.reading_options, key) for validator in self._validators
        )
        claims = tuple(validator.claims(message) for validator in self._validators)
        return CachedVerdict(
            opinions=tuple(version_verdict.opinion for version_verdict in version_verdicts),
            claims=claims,
            readings=readings,
            columns=tuple(
                validator.forms.columns_of(reading)
                for validator, reading in zip(self._validators, readings, strict=True)
            ),
            facts=tuple(_facts(version_verdict) for version_verdict in version_verdicts),
            kind=kind,
            candidates=() if any(claims) else self._candidates(message, decoded_batch),
        )

    def _candidates(self, message: dict[str, Any], decoded_batch: DecodedBatch) -> tuple[str, ...]:
        """Return the other subjects whose discriminators may hold for a message of a batch and for those like it."""
        if self._plan is None:
            return ()
        plain_names = self._plan.plain_names_of(decoded_batch.shape)
        common = CommonMembers(decoded_batch.layout, self._plan, plain_names, message, self._claims.asked)
        return self._claims.candidates(message, common)


def _keys_of(keys: pa.BinaryArray, decoded_batch: DecodedBatch) -> pa.BinaryArray:
    numbers = decoded_batch.numbers
    all_in_order = len(numbers) == len(keys) and bool((np.diff(numbers) == 1).all())
    return keys if all_in_order else keys.take(pa.array(numbers))


def _key_of(keys: pa.BinaryArray | None, number: int) -> bytes | None:
    return None if keys is None else keys[number].as_py()


def _without_differences(validated: ValidatedMessage) -> ValidatedMessage:
    """Return the result for a record without the comparison of what versions read differently."""
    return (
        replace(validated, verdict=replace(validated.verdict, differs=False))
        if validated.verdict.differs
        else validated
    )


def _facts(version_verdict: VersionVerdict) -> Any:
    """Return what a version reads from a message besides the images of its rows."""
    if not version_verdict.changes:
        return (len(version_verdict.changes), version_verdict.control)
    images: dict[str, Any] = {
        "before": None,
        "after": None,
        "changed": None,
        "invalid": [],
        "invalid_values": [],
        "before_complete": None,
        "after_complete": None,
    }
    return len(version_verdict.changes), replace(version_verdict.changes[0], **images)
