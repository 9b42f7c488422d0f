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

from cdc_contracts.registry.canonical.bounds import bound_of
from cdc_contracts.registry.canonical.sightings import SightedRow
from cdc_contracts.registry.catalogue import Version
from cdc_contracts.registry.column_writing import WrittenTable
from cdc_contracts.registry.forms import FORMS
from cdc_contracts.registry.kernel import lanes
from cdc_contracts.registry.kernel.claims import Claims, may_be_of
from cdc_contracts.registry.kernel.copies import copy_with
from cdc_contracts.registry.kernel.frames import (
    Group,
    Mark,
    Mask,
    Readers,
    column_marks,
    completion_marks,
    fold_marks,
    group_records,
    hint_marks,
    key_marks,
    member_marks,
    nameless,
    plain_names,
    readers_of_marks,
    relation_marks,
    whole_records,
)
from cdc_contracts.registry.kernel.images import ColumnTable, ImageTexts, differing
from cdc_contracts.registry.kernel.layouts import Column, FormUse, Plan, Shape, make_plan
from cdc_contracts.registry.kernel.parsing import Parser
from cdc_contracts.registry.kernel.pools import Pools
from cdc_contracts.registry.kernel.sheets import Sheet, column_of, lay_out
from cdc_contracts.registry.kernel.time_units import unit_marks
from cdc_contracts.registry.kernel.values import Values
from cdc_contracts.registry.mappings import ValueMapping
from cdc_contracts.registry.messages import Unreadable, kind_of
from cdc_contracts.registry.model import Meaning
from cdc_contracts.registry.pointers import split_pointer
from cdc_contracts.registry.reading import Reading
from cdc_contracts.registry.reference import Judgement, ReferenceJudge, TypedColumns
from cdc_contracts.registry.rules import reads_of
from cdc_contracts.registry.scope import Judged, Scope
from cdc_contracts.registry.tables import TableContract
from cdc_contracts.registry.verdicts import Case, Opinion, Verdict, decide, foreign
from cdc_contracts.registry.wire.transport import Wire

Differences = frozenset[tuple[Version, Version]]

_MOST_PRECEDENTS: Final = 20_000
_NOT_OF_FRAMES: Final = ("contract", "applies", "status", "provenance", "values", "version_evidence")
_KIND_LANES: Final = {"text": lanes.TEXT, "number": lanes.RAW, "boolean": lanes.BOOL}


@dataclass(frozen=True)
class Precedent:
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
    shapes: dict[int, SightedRow] = field(default_factory=dict, compare=False, repr=False)
    """The columns that the types of its records name, by the place of the version: found when first asked for."""
    like: Precedent | None = field(default=None, compare=False, repr=False)
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

    def of_table(self, names: Mapping[str, Any]) -> Precedent:
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
class Alike:
    """Records of a sheet that share a precedent; `positions` are in the sheet, rising."""

    sheet: Sheet
    columns: ColumnTable
    positions: NDArray[np.int64]
    precedent: Precedent
    _texts: dict[int, ImageTexts]
    _wire: Wire

    def texts(self, version: int) -> ImageTexts:
        """The images of the sheet as the version of that place reads them."""
        if version not in self._texts:
            self._texts[version] = ImageTexts(self.sheet, self.columns, version)
        return self._texts[version]

    def member(self, pointer: str | None) -> list[Any] | None:
        """Return a member of the envelope per record as the parser made it, None for absent; None where unknown."""
        values = self.sheet.members.get(pointer or "")
        if values is None:
            return None
        return [None if values[position] is UNSET else values[position] for position in self.positions.tolist()]

    def types(self, version: int) -> tuple[str, dict[str, str] | None]:
        """Return where the source types of the columns come from, and the types by column."""
        columns = self.precedent.columns[version]
        return columns.origin, columns.types

    def reread(self, version: int, values: Sequence[bytes | None]) -> Iterator[tuple[int, Reading]]:
        """Yield each record's number with its message read by the version of that place."""
        precedent = self.precedent.readings[version]
        for number in self.numbers.tolist():
            yield number, Reading(precedent.meaning, self._wire.open(values[number] or b""), precedent.terms)

    @property
    def numbers(self) -> NDArray[np.int64]:
        """Their numbers in the batch."""
        return self.sheet.numbers[self.positions]


@dataclass(eq=False)
class Ruling:
    """Records with one verdict."""

    verdict: Verdict
    alike: Alike

    @property
    def place(self) -> int:
        """The place of the verdict's version among those that the precedent has opinions of."""
        opinions = self.alike.precedent.opinions
        return next(place for place, opinion in enumerate(opinions) if opinion.version is self.verdict.version)


@dataclass
class Bench:
    """Everything a batch came to: rulings over many records, records judged one by one, and tombstones."""

    texts: pa.Array
    rulings: list[Ruling] = field(default_factory=list)
    alone: list[tuple[int, Judged]] = field(default_factory=list)
    tombstones: list[int] = field(default_factory=list)

    def having(self, outcomes: Collection[str]) -> set[int]:
        """Return the numbers of the records that came to one of these outcomes."""
        numbers = {number for number, judged in self.alone if judged.verdict.outcome in outcomes}
        for ruling in self.rulings:
            if ruling.verdict.outcome in outcomes:
                numbers.update(ruling.alike.numbers.tolist())
        return numbers

    def leave_out(self, numbers: Collection[int]) -> None:
        """Forget what some records came to: they are judged elsewhere."""
        left_out = set(numbers)
        self.alone = [(number, judged) for number, judged in self.alone if number not in left_out]
        rulings = []
        for ruling in self.rulings:
            alike = ruling.alike
            kept = alike.positions[~np.isin(alike.numbers, list(left_out))]
            if len(kept):
                rulings.append(Ruling(ruling.verdict, replace(alike, positions=kept)))
        self.rulings = rulings


class FastJudge:
    """Judges batches within a scope. Holds what it has learnt; one per task, not shared between threads."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self._judges = scope.judges
        self._claims = Claims(scope, FastJudge)
        meanings = [judge.meaning for judge in self._judges]
        self._plan: Plan | None = make_plan(meanings, [judge.version.schema for judge in self._judges])
        self._precedents: OrderedDict[Any, Precedent] = OrderedDict()
        self._by_form: OrderedDict[Any, Precedent] = OrderedDict()
        self._kind_uses: dict[ValueMapping, tuple[FormUse, ...]] = {}
        self._parser = (
            Parser(self._plan, scope.terms, self._make_columns, self._make_column) if self._plan is not None else None
        )

    def judge(self, given: Sequence[bytes | None], *, texts: bool) -> Bench:
        """Return what each value of a batch comes to. With `texts`, canonical texts are ready to be taken.

        Without, it is not looked into whether versions that fit a record would read it differently.
        """
        values = given if isinstance(given, Values) else Values(given)
        alike, alone, tombstones, found = self._examine(self._as_json(values), texts=texts)
        bench = Bench(found, tombstones=tombstones)
        strangers = [one.numbers for one in alike if not one.precedent.ours]
        claimants = self._claims.claimants(np.concatenate(strangers), values) if strangers else {}
        verdicts: dict[Any, Verdict] = {}
        for one in alike:
            for part, differs in self._split_by_reading(one, found) if texts else [(one, frozenset())]:
                for claimed, claimed_by in _split_by_claim(part, claimants):
                    key = (id(claimed.precedent.like or claimed.precedent), differs, claimed_by)
                    if key not in verdicts:
                        verdicts[key] = decide(self._case(claimed, differs, claimed_by))
                    bench.rulings.append(Ruling(verdicts[key], claimed))
        bench.alone = list(self._judge_alone(sorted(alone), values))
        if not texts:
            bench.alone = [(number, _without_differences(judged)) for number, judged in bench.alone]
        return bench

    def _judge_alone(self, numbers: Sequence[int], values: Values) -> Iterator[tuple[int, Judged]]:
        """Judge records without a precedent by the reference; those of another transport are known by their claims."""
        scope, strange = self.scope, self._claims.foreign(numbers, values)
        for number in numbers:
            if number in strange:
                yield number, Judged(foreign(scope.subject, scope.judged[-1], strange[number]))
            else:
                yield number, scope.judge_by_subject(values[number])

    def welcomes(self, values: Values) -> NDArray[np.bool_]:
        """Say for each value whether the subject's discriminators hold and one of its versions finds no error."""
        fits = np.zeros(len(values), np.bool_)
        numbers = np.flatnonzero(may_be_of(self.scope, values))
        if not len(numbers):
            return fits
        chosen = values if len(numbers) == len(values) else values.take(numbers)
        alike, alone, _, _ = self._examine(self._as_json(chosen), texts=False)
        for one in alike:
            if one.precedent.welcome:
                fits[numbers[one.numbers]] = True
        for number in alone:
            fits[numbers[number]] = self.scope.welcomes(chosen[number])
        return fits

    def _as_json(self, values: Values) -> Values:
        """Return the JSON text of each value; an empty one, which is left to the reference, where there is none."""
        wire = self.scope.wire
        if wire.transport == "json":
            return values

        def text_of(value: bytes | None) -> bytes | None:
            try:
                return None if value is None else wire.text_of(value)
            except Unreadable:
                return b""

        return Values([text_of(value) for value in values])

    def _examine(self, values: Values, *, texts: bool) -> tuple[list[Alike], list[int], list[int], pa.Array]:
        """Sort the values into records that share a precedent, records to be judged alone, and tombstones."""
        pools = Pools()
        if self._parser is None or self._plan is None:
            nulls = [number for number, value in enumerate(values) if value is None]
            return [], [number for number, value in enumerate(values) if value is not None], nulls, pools.texts
        parsed = self._parser.sort(values)
        sheets = [lay_out(shape, layout, *found) for layout, (shape, *found) in parsed.groups.items()]
        tables = [self._pool_columns(sheet, pools) for sheet in sheets]
        pools.settle(texts=texts)
        found: list[Alike] = []
        alone = list(parsed.solo)
        for sheet, columns in zip(sheets, tables, strict=True):
            marks = self._marks(sheet, columns, self._plan)
            texts_of: dict[int, ImageTexts] = {}
            groups = group_records(sheet, self._plan, marks)
            alone += sheet.numbers[sorted(sheet.unfit)].tolist()
            for group in groups:
                precedent = self._precedent(sheet, group, values, self._plan)
                if precedent is None:
                    alone += sheet.numbers[group.positions].tolist()
                else:
                    found.append(Alike(sheet, columns, group.positions, precedent, texts_of, self.scope.wire))
        return found, alone, parsed.tombstones, pools.texts

    # --- columns

    def _make_columns(self, types: dict[str, str] | None, names: tuple[Any, ...]) -> list[Column]:
        if types is None:
            table = self._table_of(names)
            types = table.types if table is not None and self._untyped else {}
        return [self._typed_column(name, source_type, names) for name, source_type in types.items()]

    def _typed_column(self, name: str, source_type: str, names: tuple[Any, ...]) -> Column:
        table = self._table_of(names)
        declared = table.types.get(name) if table is not None else None
        uses = tuple(self._use(judge, source_type, names, declared) for judge in self._judges)
        wanted = [lanes.lane_of_form(use.form) for use in uses if use is not None]
        lane = lanes.join_lanes(wanted) if len(wanted) == len(uses) else lanes.WIDE
        if lane == lanes.FLOAT and self._compares_wire_text:
            lane = lanes.RAW
        return Column(name, lane, uses, never_null=declared is not None and not table.may_be_null(name))  # type: ignore[union-attr]

    def _make_column(self, shape: Shape, name: str, value: Any) -> Column:
        """Return a column that the shape's types do not name, as its first value shows it."""
        if not self._untyped:
            return Column(name, lanes.WIDE, (), typed=False)
        kind = {"number": "number", "boolean": "boolean"}.get(kind_of(value), "text")
        names = shape.key[-len(self._plan.names_at) :] if self._plan and self._plan.names_at else ()
        source = names[-1] if self._plan and self._plan.by_kind else None
        mapping = self._judges[-1].mapping_for(source if isinstance(source, str) else None)
        if mapping not in self._kind_uses:
            self._kind_uses[mapping] = tuple(self._kind_use(kind, mapping) for kind in _KIND_LANES)
        uses = self._kind_uses[mapping]
        lane = _KIND_LANES[kind] if kind_of(value) not in ("array", "object") else lanes.WIDE
        return Column(name, lane, uses, typed=False, by_kind=True, sure=value is not None)

    def _use(
        self, judge: ReferenceJudge, source_type: str, names: tuple[Any, ...], declared: str | None
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
        if not self.scope.terms.tables:
            return None
        told = self._read_names(names).names
        return self.scope.terms.tables.of(told.database, told.schema, told.table)

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
        return Reading(meaning or self._judges[-1].meaning, message, self.scope.terms)

    @cached_property
    def _untyped(self) -> bool:
        return self._judges[-1].meaning.columns.types == "none"

    @cached_property
    def _compares_wire_text(self) -> bool:
        return any(reads_of(judge.meaning).joined for judge in self._judges)

    @cached_property
    def _compares_blocks(self) -> bool:
        return any(reads_of(judge.meaning).blocks for judge in self._judges)

    def _pool_columns(self, sheet: Sheet, pools: Pools) -> ColumnTable:
        columns: ColumnTable = {}
        for pointer, rows in sheet.rows.items():
            for index, column, values in column_of(rows):
                uses = tuple(dict.fromkeys(use for use in column.uses if use is not None))
                columns[pointer, index] = pools.add(values, column.lane, uses, full=rows.image.full)
        return columns

    # --- marks

    @cached_property
    def _judged(self) -> frozenset[int] | None:
        """The places of the judged versions, where all versions differ in value forms only; None where in more."""
        told = [
            {key: value for key, value in judge.version.resolved.items() if key not in _NOT_OF_FRAMES}
            for judge in self._judges
        ]
        schemas = [judge.version.schema for judge in self._judges]
        alike = all(one == told[0] for one in told) and all(schema == schemas[0] for schema in schemas)
        if not alike or self._untyped or self.scope.terms.severities.raised:
            return None
        return frozenset(index for index, judge in enumerate(self._judges) if judge.version in self.scope.judged)

    def _marks(self, sheet: Sheet, columns: ColumnTable, plan: Plan) -> list[tuple[Mark, Mask]]:
        marks = [*member_marks(sheet, plan), *relation_marks(sheet, plan), *unit_marks(sheet, plan.times)]
        readers: dict[Mark, Readers] = {}
        whole = {pointer: whole_records(sheet, rows) for pointer, rows in sheet.rows.items()}
        for (pointer, index), values in columns.items():
            rows = sheet.rows[pointer]
            uses = tuple(dict.fromkeys(use for use in rows.image.columns[index].uses if use is not None))
            own = column_marks(sheet, rows, index, values, uses, whole[pointer])
            if self._judged is not None and own:
                readers |= readers_of_marks(rows, index, own)
            marks += own
        marks += completion_marks(sheet, columns, plan, marks)
        if self._compares_blocks:
            marks += hint_marks(sheet, columns, self._judges[-1].meaning)
        if self._compares_wire_text:
            marks += key_marks(sheet, columns, self._judges[-1].meaning)
        return marks if self._judged is None or not marks else fold_marks(marks, readers, self._judged)

    # --- verdicts

    def _precedent(self, sheet: Sheet, group: Group, values: Values, plan: Plan) -> Precedent | None:
        family = sheet.layout.family
        key = (family, group.frame, group.marks)
        if key in self._precedents:
            return self._precedents[key]
        plain = {} if self.scope.terms.tables else plain_names(sheet, plan, group)
        form = (family, nameless(group.frame, plain), group.marks)
        if plain and form in self._by_form:
            found = self._by_form[form].of_table(plain)
        else:
            judged = self._judge_first(values[sheet.numbers[group.positions[0]]] or b"")
            if judged is None:
                return None
            found = judged
        for memory, name in ((self._precedents, key), (self._by_form, form)):
            memory[name] = found
            if len(memory) > _MOST_PRECEDENTS:
                memory.popitem(last=False)
        return found

    def _judge_first(self, value: bytes) -> Precedent | None:
        """Have the reference judge the first message of its kind; None where it is for the reference alone."""
        try:
            message = self.scope.wire.parse(value)
        except Unreadable:
            return None
        judgements = self.scope.judgements(message)
        readings = tuple(Reading(judge.meaning, message, self.scope.terms) for judge in self._judges)
        return Precedent(
            opinions=tuple(judgement.opinion for judgement in judgements),
            claims=tuple(judge.claims(message) for judge in self._judges),
            readings=readings,
            columns=tuple(judge.columns_of(reading) for judge, reading in zip(self._judges, readings, strict=True)),
            facts=tuple(_facts(judgement) for judgement in judgements),
        )

    def _case(self, alike: Alike, differs: Differences, claimed_by: str | None) -> Case:
        message = alike.precedent.readings[0].message
        return self.scope.case(
            message,
            alike.precedent.opinions,
            same=lambda versions: not any({left, right} <= set(versions) for left, right in differs),
            claimed_by=claimed_by,
        )

    def _split_by_reading(self, alike: Alike, texts: pa.Array) -> list[tuple[Alike, Differences]]:
        """Part the records by which of the versions that fit read them differently."""
        precedent, positions = alike.precedent, alike.positions
        fitting = [index for index, opinion in enumerate(precedent.opinions) if not opinion.errors]
        if len(fitting) < 2 or not precedent.opinions[-1].holds_rows:  # noqa: PLR2004
            return [(alike, frozenset())]
        sides = {index: alike.texts(index).sides(precedent.readings[index], positions) for index in fitting}
        pairs: list[tuple[tuple[Version, Version], Mask]] = []
        for left, right in combinations(fitting, 2):
            mask = np.ones(len(positions), np.bool_)
            if precedent.facts[left] == precedent.facts[right]:
                mask = differing(sides[left], sides[right], texts, len(positions))
            pairs.append(((precedent.opinions[left].version, precedent.opinions[right].version), mask))
        bits = np.packbits(np.stack([mask for _, mask in pairs]), axis=0).T
        _, parts = np.unique(bits, axis=0, return_inverse=True)
        parts = parts.reshape(-1)
        split = []
        for part in range(int(parts.max()) + 1):
            chosen = np.flatnonzero(parts == part)
            differs = frozenset(pair for pair, mask in pairs if mask[chosen[0]])
            split.append((replace(alike, positions=positions[chosen]), differs))
        return split


def _without_differences(judged: Judged) -> Judged:
    """Return what is known of a record where nobody looked into what versions read differently."""
    return replace(judged, verdict=replace(judged.verdict, differs=False)) if judged.verdict.differs else judged


def _split_by_claim(alike: Alike, claimants: Mapping[int, str]) -> list[tuple[Alike, str | None]]:
    """Part the records by the other subjects that claim them; none can where our own marks are there."""
    if alike.precedent.ours or not claimants:
        return [(alike, None)]
    names = [claimants.get(number) for number in alike.numbers.tolist()]
    return [
        (replace(alike, positions=alike.positions[[one == name for one in names]]), name)
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
