"""The fast judge of a subject: a batch of values in, groups of records with one verdict out.

It finds which records are alike in everything a verdict may depend on, has the reference judge the first of each
kind, and gives the rest the same verdict. It settles nothing that it did not read: what the layouts refuse and what
holds arrays or objects for values is judged by the reference, one by one.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Any, Final

import numpy as np
import pyarrow as pa
from msgspec import UNSET
from numpy.typing import NDArray

from cdc_contracts.registry.common.json_messages import Unreadable, kind_of
from cdc_contracts.registry.common.pointers import split_pointer
from cdc_contracts.registry.contract.catalogue import Version
from cdc_contracts.registry.contract.model import Meaning
from cdc_contracts.registry.contract.table_contracts import TableContract
from cdc_contracts.registry.contract.value_mappings import ValueMapping
from cdc_contracts.registry.engine import decoder_kinds
from cdc_contracts.registry.engine.batch_parser import Parser
from cdc_contracts.registry.engine.decoded_batches import DecodedBatch, column_of, lay_out
from cdc_contracts.registry.engine.envelope_flags import member_flags, relation_flags
from cdc_contracts.registry.engine.flag_readers import FlagReaders as Readers
from cdc_contracts.registry.engine.flag_readers import fold_flags, readers_of_flags
from cdc_contracts.registry.engine.frozen_copies import copy_with
from cdc_contracts.registry.engine.grouping_keys import nameless
from cdc_contracts.registry.engine.image_flags import completion_flags, hint_flags, key_flags, whole_records
from cdc_contracts.registry.engine.layout_parts import FormUse, LayoutColumn, RowShape
from cdc_contracts.registry.engine.layout_plans import make_plan
from cdc_contracts.registry.engine.record_grouping import VerdictGroup, group_records, plain_names
from cdc_contracts.registry.engine.row_images import ColumnTable, ImageTexts, differing
from cdc_contracts.registry.engine.struct_layouts import LayoutPlan
from cdc_contracts.registry.engine.subject_claims import Claims, may_be_of
from cdc_contracts.registry.engine.time_units import unit_flags
from cdc_contracts.registry.engine.value_columns import ValueColumns
from cdc_contracts.registry.engine.value_flags import Mask, ValueFlag, column_flags
from cdc_contracts.registry.message.reading import Reading
from cdc_contracts.registry.message.transport import Wire
from cdc_contracts.registry.records.message_values import MessageValues
from cdc_contracts.registry.stats.column_writing import WrittenTable
from cdc_contracts.registry.stats.observed_columns import ObservedRow
from cdc_contracts.registry.validate.cross_field_checks import reads_of
from cdc_contracts.registry.validate.reference_validator import Judgement, ReferenceValidator, TypedColumns
from cdc_contracts.registry.validate.validation_context import JudgedMessage, ValidationContext
from cdc_contracts.registry.validate.verdicts import Case, Opinion, Verdict, decide, foreign
from cdc_contracts.registry.values import FORMS
from cdc_contracts.registry.values.type_bounds import bound_of

Differences = frozenset[tuple[Version, Version]]

_MOST_CACHED_VERDICTS: Final = 20_000
_NOT_OF_FRAMES: Final = ("contract", "applies", "status", "provenance", "values", "version_evidence")
_KIND_DECODERS: Final = {"text": decoder_kinds.TEXT, "number": decoder_kinds.RAW, "boolean": decoder_kinds.BOOL}


@dataclass(frozen=True)
class CachedVerdict:
    """What the reference said of the first record of its kind: enough to decide every other one.

    `claims` tells per version whether its discriminators hold, `facts` what it reads besides the images.
    """

    opinions: tuple[Opinion, ...]
    claims: tuple[bool, ...]
    readings: tuple[Reading, ...]
    columns: tuple[TypedColumns, ...]
    facts: tuple[Any, ...]
    facts_by_verdict: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)
    """What its records add to the course of a stream, by verdict: found when first asked for."""
    shapes: dict[int, ObservedRow] = field(default_factory=dict, compare=False, repr=False)
    """The columns that the types of its records name, by the place of the version: found when first asked for."""
    like: CachedVerdict | None = field(default=None, compare=False, repr=False)
    """What was judged, where this one differs from it in the names of the table alone."""
    strangers: dict[str, Reading | None] = field(default_factory=dict, compare=False, repr=False)
    """How another subject would read its records, by their own: found when first asked for."""
    plain: dict[WrittenTable, set[tuple[str, int, str]]] = field(default_factory=dict, compare=False, repr=False)
    """The columns, by image and place, with a value of a kind that has no layout: their layouts tell nothing there."""

    @property
    def ours(self) -> bool:
        return any(self.claims)

    @property
    def welcome(self) -> bool:
        """Whether some version whose marks are there finds no error, so that the subject may claim the message."""
        return any(
            claims and not opinion.errors and reading.meaning.claim is None
            for claims, opinion, reading in zip(self.claims, self.opinions, self.readings, strict=True)
        )

    def of_table(self, names: Mapping[str, Any]) -> CachedVerdict:
        """Return the same of messages that differ in the names of their table, which no rule looks at."""
        message = self.readings[0].message
        for pointer, name in names.items():
            message = _with_member(message, split_pointer(pointer), name)
        readings = tuple([_with_names(reading, message) for reading in self.readings])
        return copy_with(
            self, readings=readings, facts_by_verdict={}, like=self.like or self, strangers={}, plain={}
        )  # fmt: skip

    def fitting(self) -> tuple[Version, ...]:
        return tuple(opinion.version for opinion in self.opinions if not opinion.errors)


@dataclass(eq=False)
class RecordGroup:
    """Records of a sheet that share a precedent; `positions` are in the sheet, rising."""

    decoded_batch: DecodedBatch
    columns: ColumnTable
    positions: NDArray[np.int64]
    cached_verdict: CachedVerdict
    _texts: dict[int, ImageTexts]
    _wire: Wire

    def texts(self, version: int) -> ImageTexts:
        """The images of the sheet as the version of that place reads them."""
        if version not in self._texts:
            self._texts[version] = ImageTexts(self.decoded_batch, self.columns, version)
        return self._texts[version]

    def member(self, pointer: str | None) -> list[Any] | None:
        """Return a member of the envelope per record as the parser made it, None for absent; None where unknown."""
        values = self.decoded_batch.members.get(pointer or "")
        if values is None:
            return None
        return [None if values[position] is UNSET else values[position] for position in self.positions.tolist()]

    def types(self, version: int) -> tuple[str, dict[str, str] | None]:
        """Return where the source types of the columns come from, and the types by column."""
        columns = self.cached_verdict.columns[version]
        return columns.origin, columns.types

    def reread(self, version: int, values: Sequence[bytes | None]) -> Iterator[tuple[int, Reading]]:
        """Yield each record's number with its message read by the version of that place."""
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
        """The place of the verdict's version among those that the precedent has opinions of."""
        opinions = self.record_group.cached_verdict.opinions
        return next(place for place, opinion in enumerate(opinions) if opinion.version is self.verdict.version)


@dataclass
class BatchResult:
    """Everything a batch came to: rulings over many records, records judged one by one, and tombstones."""

    texts: pa.Array
    group_results: list[GroupResult] = field(default_factory=list)
    alone: list[tuple[int, JudgedMessage]] = field(default_factory=list)
    tombstones: list[int] = field(default_factory=list)

    def having(self, outcomes: Collection[str]) -> set[int]:
        """Return the numbers of the records that came to one of these outcomes."""
        numbers = {number for number, judged in self.alone if judged.verdict.outcome in outcomes}
        for group_result in self.group_results:
            if group_result.verdict.outcome in outcomes:
                numbers.update(group_result.record_group.numbers.tolist())
        return numbers

    def leave_out(self, numbers: Collection[int]) -> None:
        """Forget what some records came to: they are judged elsewhere."""
        left_out = set(numbers)
        self.alone = [(number, judged) for number, judged in self.alone if number not in left_out]
        group_results = []
        for group_result in self.group_results:
            record_group = group_result.record_group
            kept = record_group.positions[~np.isin(record_group.numbers, list(left_out))]
            if len(kept):
                group_results.append(GroupResult(group_result.verdict, replace(record_group, positions=kept)))
        self.group_results = group_results


class FastValidator:
    """Judges batches within a scope. Holds what it has learnt; one per task, not shared between threads."""

    def __init__(self, validation: ValidationContext) -> None:
        self.validation = validation
        self._judges = validation.judges
        self._claims = Claims(validation, FastValidator)
        meanings = [judge.meaning for judge in self._judges]
        self._plan: LayoutPlan | None = make_plan(meanings, [judge.version.schema for judge in self._judges])
        self._cached_verdicts: OrderedDict[Any, CachedVerdict] = OrderedDict()
        self._by_form: OrderedDict[Any, CachedVerdict] = OrderedDict()
        self._kind_uses: dict[ValueMapping, tuple[FormUse, ...]] = {}
        self._parser = (
            Parser(self._plan, validation.reading_options, self._make_columns, self._make_column)
            if self._plan is not None
            else None
        )

    def judge(self, given: Sequence[bytes | None], *, texts: bool) -> BatchResult:
        """Return what each value of a batch comes to. With `texts`, canonical texts are ready to be taken.

        Without, it is not looked into whether versions that fit a record would read it differently.
        """
        values = given if isinstance(given, MessageValues) else MessageValues(given)
        record_group, alone, tombstones, found = self._examine(self._as_json(values), texts=texts)
        batch_result = BatchResult(found, tombstones=tombstones)
        strangers = [one.numbers for one in record_group if not one.cached_verdict.ours]
        claimants = self._claims.claimants(np.concatenate(strangers), values) if strangers else {}
        verdicts: dict[Any, Verdict] = {}
        for one in record_group:
            for part, differs in self._split_by_reading(one, found) if texts else [(one, frozenset())]:
                for claimed, claimed_by in _split_by_claim(part, claimants):
                    key = (id(claimed.cached_verdict.like or claimed.cached_verdict), differs, claimed_by)
                    if key not in verdicts:
                        verdicts[key] = decide(self._case(claimed, differs, claimed_by))
                    batch_result.group_results.append(GroupResult(verdicts[key], claimed))
        batch_result.alone = list(self._judge_alone(sorted(alone), values))
        if not texts:
            batch_result.alone = [(number, _without_differences(judged)) for number, judged in batch_result.alone]
        return batch_result

    def _judge_alone(self, numbers: Sequence[int], values: MessageValues) -> Iterator[tuple[int, JudgedMessage]]:
        """Judge records without a precedent by the reference; those of another transport are known by their claims."""
        validation, strange = self.validation, self._claims.foreign(numbers, values)
        for number in numbers:
            if number in strange:
                yield number, JudgedMessage(foreign(validation.subject, validation.judged[-1], strange[number]))
            else:
                yield number, validation.judge_by_subject(values[number])

    def welcomes(self, values: MessageValues) -> NDArray[np.bool_]:
        """Say for each value whether the subject's discriminators hold and one of its versions finds no error."""
        fits = np.zeros(len(values), np.bool_)
        numbers = np.flatnonzero(may_be_of(self.validation, values))
        if not len(numbers):
            return fits
        chosen = values if len(numbers) == len(values) else values.take(numbers)
        record_group, alone, _, _ = self._examine(self._as_json(chosen), texts=False)
        for one in record_group:
            if one.cached_verdict.welcome:
                fits[numbers[one.numbers]] = True
        for number in alone:
            fits[numbers[number]] = self.validation.welcomes(chosen[number])
        return fits

    def _as_json(self, values: MessageValues) -> MessageValues:
        """Return the JSON text of each value; an empty one, which is left to the reference, where there is none."""
        wire = self.validation.wire
        if wire.transport == "json":
            return values

        def text_of(value: bytes | None) -> bytes | None:
            try:
                return None if value is None else wire.text_of(value)
            except Unreadable:
                return b""

        return MessageValues([text_of(value) for value in values])

    def _examine(
        self, values: MessageValues, *, texts: bool
    ) -> tuple[list[RecordGroup], list[int], list[int], pa.Array]:
        """Sort the values into records that share a precedent, records to be judged alone, and tombstones."""
        value_columns = ValueColumns()
        if self._parser is None or self._plan is None:
            nulls = [number for number, value in enumerate(values) if value is None]
            return [], [number for number, value in enumerate(values) if value is not None], nulls, value_columns.texts
        parsed = self._parser.sort(values)
        decoded_batches = [lay_out(shape, layout, *found) for layout, (shape, *found) in parsed.groups.items()]
        tables = [self._pool_columns(decoded_batch, value_columns) for decoded_batch in decoded_batches]
        value_columns.validate(texts=texts)
        found: list[RecordGroup] = []
        alone = list(parsed.solo)
        for decoded_batch, columns in zip(decoded_batches, tables, strict=True):
            value_flags = self._marks(decoded_batch, columns, self._plan)
            texts_of: dict[int, ImageTexts] = {}
            groups = group_records(decoded_batch, self._plan, value_flags)
            alone += decoded_batch.numbers[sorted(decoded_batch.unfit)].tolist()
            for group in groups:
                cached_verdict = self._cached_verdict(decoded_batch, group, values, self._plan)
                if cached_verdict is None:
                    alone += decoded_batch.numbers[group.positions].tolist()
                else:
                    found.append(
                        RecordGroup(
                            decoded_batch, columns, group.positions, cached_verdict, texts_of, self.validation.wire
                        )
                    )
        return found, alone, parsed.tombstones, value_columns.texts

    # --- columns

    def _make_columns(self, types: dict[str, str] | None, names: tuple[Any, ...]) -> list[LayoutColumn]:
        if types is None:
            table = self._table_of(names)
            types = table.types if table is not None and self._untyped else {}
        return [self._typed_column(name, source_type, names) for name, source_type in types.items()]

    def _typed_column(self, name: str, source_type: str, names: tuple[Any, ...]) -> LayoutColumn:
        table = self._table_of(names)
        declared = table.types.get(name) if table is not None else None
        uses = tuple(self._use(judge, source_type, names, declared) for judge in self._judges)
        wanted = [decoder_kinds.decoder_of_form(use.form) for use in uses if use is not None]
        decoder = decoder_kinds.join_decoders(wanted) if len(wanted) == len(uses) else decoder_kinds.WIDE
        if decoder == decoder_kinds.FLOAT and self._compares_wire_text:
            decoder = decoder_kinds.RAW
        return LayoutColumn(name, decoder, uses, never_null=declared is not None and not table.may_be_null(name))  # type: ignore[union-attr]

    def _make_column(self, shape: RowShape, name: str, value: Any) -> LayoutColumn:
        """Return a column that the shape's types do not name, as its first value shows it."""
        if not self._untyped:
            return LayoutColumn(name, decoder_kinds.WIDE, (), typed=False)
        kind = {"number": "number", "boolean": "boolean"}.get(kind_of(value), "text")
        names = shape.key[-len(self._plan.names_at) :] if self._plan and self._plan.names_at else ()
        source = names[-1] if self._plan and self._plan.by_kind else None
        mapping = self._judges[-1].mapping_for(source if isinstance(source, str) else None)
        if mapping not in self._kind_uses:
            self._kind_uses[mapping] = tuple(self._kind_use(kind, mapping) for kind in _KIND_DECODERS)
        uses = self._kind_uses[mapping]
        decoder = _KIND_DECODERS[kind] if kind_of(value) not in ("array", "object") else decoder_kinds.WIDE
        return LayoutColumn(name, decoder, uses, typed=False, by_kind=True, sure=value is not None)

    def _use(
        self, judge: ReferenceValidator, source_type: str, names: tuple[Any, ...], declared: str | None
    ) -> FormUse | None:
        mapping = judge.version.catalogue.mapping(self._read_names(names, judge.meaning).mapping_name)
        name = mapping.form_of(source_type)
        if name is None:
            return None
        form = FORMS[name]
        bound = None if declared is None else bound_of(declared, form.kind)
        context = judge.context_of(form, self._table_of(names), mapping)
        return FormUse(form, context, judge.lenient(form), bound, declared=declared is not None)

    def _kind_use(self, kind: str, mapping: ValueMapping) -> FormUse:
        judge = self._judges[-1]
        form = FORMS[mapping.form_of_kind(kind)]
        return FormUse(form, judge.context_of(form, None, mapping), lenient=False)

    def _table_of(self, names: tuple[Any, ...]) -> TableContract | None:
        if not self.validation.reading_options.tables:
            return None
        result = self._read_names(names).names
        return self.validation.reading_options.tables.of(result.database, result.schema, result.table)

    def _read_names(self, names: tuple[Any, ...], meaning: Meaning | None = None) -> Reading:
        """Return a reading that knows no more of a message than what its shape hangs on."""
        message: dict[str, Any] = {}
        for pointer, name in zip(self._plan.names_at if self._plan else (), names, strict=True):
            if name is None or isinstance(name, str):
                place = message
                *above, last = split_pointer(pointer)
                for part in above:
                    place = place.setdefault(part, {})
                place[last] = name
        return Reading(meaning or self._judges[-1].meaning, message, self.validation.reading_options)

    @cached_property
    def _untyped(self) -> bool:
        return self._judges[-1].meaning.columns.types == "none"

    @cached_property
    def _compares_wire_text(self) -> bool:
        return any(reads_of(judge.meaning).joined for judge in self._judges)

    @cached_property
    def _compares_blocks(self) -> bool:
        return any(reads_of(judge.meaning).blocks for judge in self._judges)

    def _pool_columns(self, decoded_batch: DecodedBatch, value_columns: ValueColumns) -> ColumnTable:
        columns: ColumnTable = {}
        for pointer, rows in decoded_batch.rows.items():
            for index, column, values in column_of(rows):
                uses = tuple(dict.fromkeys(use for use in column.uses if use is not None))
                columns[pointer, index] = value_columns.add(values, column.decoder, uses, full=rows.image.full)
        return columns

    # --- marks

    @cached_property
    def _judged(self) -> frozenset[int] | None:
        """The places of the judged versions, where all versions differ in value forms only; None where in more."""
        result = [
            {key: value for key, value in judge.version.resolved.items() if key not in _NOT_OF_FRAMES}
            for judge in self._judges
        ]
        schemas = [judge.version.schema for judge in self._judges]
        record_group = all(one == result[0] for one in result) and all(schema == schemas[0] for schema in schemas)
        if not record_group or self._untyped or self.validation.reading_options.severities.raised:
            return None
        return frozenset(index for index, judge in enumerate(self._judges) if judge.version in self.validation.judged)

    def _marks(
        self, decoded_batch: DecodedBatch, columns: ColumnTable, plan: LayoutPlan
    ) -> list[tuple[ValueFlag, Mask]]:
        value_flags = [
            *member_flags(decoded_batch, plan),
            *relation_flags(decoded_batch, plan),
            *unit_flags(decoded_batch, plan.times),
        ]
        readers: dict[ValueFlag, Readers] = {}
        whole = {pointer: whole_records(decoded_batch, rows) for pointer, rows in decoded_batch.rows.items()}
        for (pointer, index), values in columns.items():
            rows = decoded_batch.rows[pointer]
            uses = tuple(dict.fromkeys(use for use in rows.image.columns[index].uses if use is not None))
            own = column_flags(decoded_batch, rows, index, values, uses, whole[pointer])
            if self._judged is not None and own:
                readers |= readers_of_flags(rows, index, own)
            value_flags += own
        value_flags += completion_flags(decoded_batch, columns, plan, value_flags)
        if self._compares_blocks:
            value_flags += hint_flags(decoded_batch, columns, self._judges[-1].meaning)
        if self._compares_wire_text:
            value_flags += key_flags(decoded_batch, columns, self._judges[-1].meaning)
        return (
            value_flags if self._judged is None or not value_flags else fold_flags(value_flags, readers, self._judged)
        )

    # --- verdicts

    def _cached_verdict(
        self, decoded_batch: DecodedBatch, group: VerdictGroup, values: MessageValues, plan: LayoutPlan
    ) -> CachedVerdict | None:
        family = decoded_batch.layout.family
        key = (family, group.grouping_key, group.value_flags)
        if key in self._cached_verdicts:
            return self._cached_verdicts[key]
        plain = {} if self.validation.reading_options.tables else plain_names(decoded_batch, plan, group)
        form = (family, nameless(group.grouping_key, plain), group.value_flags)
        if plain and form in self._by_form:
            found = self._by_form[form].of_table(plain)
        else:
            judged = self._judge_first(values[decoded_batch.numbers[group.positions[0]]] or b"")
            if judged is None:
                return None
            found = judged
        for memory, name in ((self._cached_verdicts, key), (self._by_form, form)):
            memory[name] = found
            if len(memory) > _MOST_CACHED_VERDICTS:
                memory.popitem(last=False)
        return found

    def _judge_first(self, value: bytes) -> CachedVerdict | None:
        """Have the reference judge the first message of its kind; None where it is for the reference alone."""
        try:
            message = self.validation.wire.parse(value)
        except Unreadable:
            return None
        judgements = self.validation.judgements(message)
        readings = tuple(Reading(judge.meaning, message, self.validation.reading_options) for judge in self._judges)
        return CachedVerdict(
            opinions=tuple(judgement.opinion for judgement in judgements),
            claims=tuple(judge.claims(message) for judge in self._judges),
            readings=readings,
            columns=tuple(judge.columns_of(reading) for judge, reading in zip(self._judges, readings, strict=True)),
            facts=tuple(_facts(judgement) for judgement in judgements),
        )

    def _case(self, record_group: RecordGroup, differs: Differences, claimed_by: str | None) -> Case:
        message = record_group.cached_verdict.readings[0].message
        return self.validation.case(
            message,
            record_group.cached_verdict.opinions,
            same=lambda versions: not any({left, right} <= set(versions) for left, right in differs),
            claimed_by=claimed_by,
        )

    def _split_by_reading(self, record_group: RecordGroup, texts: pa.Array) -> list[tuple[RecordGroup, Differences]]:
        """Part the records by which of the versions that fit read them differently."""
        cached_verdict, positions = record_group.cached_verdict, record_group.positions
        fitting = [index for index, opinion in enumerate(cached_verdict.opinions) if not opinion.errors]
        if len(fitting) < 2 or not cached_verdict.opinions[-1].holds_rows:  # noqa: PLR2004
            return [(record_group, frozenset())]
        sides = {index: record_group.texts(index).sides(cached_verdict.readings[index], positions) for index in fitting}
        pairs: list[tuple[tuple[Version, Version], Mask]] = []
        for left, right in combinations(fitting, 2):
            mask = np.ones(len(positions), np.bool_)
            if cached_verdict.facts[left] == cached_verdict.facts[right]:
                mask = differing(sides[left], sides[right], texts, len(positions))
            pairs.append(((cached_verdict.opinions[left].version, cached_verdict.opinions[right].version), mask))
        bits = np.packbits(np.stack([mask for _, mask in pairs]), axis=0).T
        _, parts = np.unique(bits, axis=0, return_inverse=True)
        parts = parts.reshape(-1)
        split = []
        for part in range(int(parts.max()) + 1):
            chosen = np.flatnonzero(parts == part)
            differs = frozenset(pair for pair, mask in pairs if mask[chosen[0]])
            split.append((replace(record_group, positions=positions[chosen]), differs))
        return split


def _without_differences(judged: JudgedMessage) -> JudgedMessage:
    """Return what is known of a record where nobody looked into what versions read differently."""
    return replace(judged, verdict=replace(judged.verdict, differs=False)) if judged.verdict.differs else judged


def _split_by_claim(record_group: RecordGroup, claimants: Mapping[int, str]) -> list[tuple[RecordGroup, str | None]]:
    """Part the records by the other subjects that claim them; none can where our own marks are there."""
    if record_group.cached_verdict.ours or not claimants:
        return [(record_group, None)]
    names = [claimants.get(number) for number in record_group.numbers.tolist()]
    return [
        (replace(record_group, positions=record_group.positions[[one == name for one in names]]), name)
        for name in dict.fromkeys(names)
    ]


def _with_names(reading: Reading, message: dict[str, Any]) -> Reading:
    """Return how a message is read that differs from another in the names of its table."""
    other = copy_with(reading, message=message)
    vars(other).pop("names", None)
    return other


def _with_member(message: dict[str, Any], path: Sequence[str], value: Any) -> dict[str, Any]:
    """Return a message with another value in one place, sharing the rest."""
    name, *below = path
    return {**message, name: _with_member(message[name], below, value) if below else value}


def _facts(judgement: Judgement) -> Any:
    """What a version reads from a message besides the images of its rows."""
    if not judgement.changes:
        return (len(judgement.changes), judgement.control)
    images: dict[str, Any] = {
        "before": None,
        "after": None,
        "changed": None,
        "invalid": [],
        "invalid_values": [],
        "before_complete": None,
        "after_complete": None,
    }
    return len(judgement.changes), replace(judgement.changes[0], **images)
