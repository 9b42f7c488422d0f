"""The reference: judges one parsed message under one version, slowly and with every finding.

Its schema judges the shape of the message, the schemas of the value forms judge the values of its columns; the rules
and the value forms judge the rest. The fast path (`frames`, `columns`) has to agree with it on every record.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Final

from cdc_contracts.registry.common.findings import INFO, WARNING, Finding, heaviest, rule_id
from cdc_contracts.registry.common.json_messages import kind_of
from cdc_contracts.registry.common.pointers import join_pointer, split_pointer
from cdc_contracts.registry.common.time_zones import parse_zone
from cdc_contracts.registry.contract.catalogue import Version
from cdc_contracts.registry.contract.discriminators import all_hold
from cdc_contracts.registry.contract.envelope_schemas import show_code
from cdc_contracts.registry.contract.image_model import Side
from cdc_contracts.registry.contract.known_codes import show_known
from cdc_contracts.registry.contract.reading_options import ReadingOptions
from cdc_contracts.registry.contract.table_contracts import TableContract
from cdc_contracts.registry.contract.value_mappings import ValueMapping
from cdc_contracts.registry.message.canonical_changes import Change, Control, Image
from cdc_contracts.registry.message.envelope_times import TIME_UNIT, unit_observed, unit_of_form
from cdc_contracts.registry.message.reading import Reading, Row, column_path
from cdc_contracts.registry.message.schema_violations import SchemaJudge, Violation
from cdc_contracts.registry.message.transport import Wire, open_wire
from cdc_contracts.registry.validate.cross_field_checks import NOTES, RULES, Breach, RuleView, complete_rows
from cdc_contracts.registry.validate.table_promises import (
    NO_SUCH_TIME,
    NOT_NULL,
    ZERO_DATE,
    broken_promises,
    expects_time,
    is_null,
)
from cdc_contracts.registry.validate.verdicts import Opinion
from cdc_contracts.registry.values import (
    FIRST_RECORD,
    FORMS,
    RECORDS,
    BrokenValue,
    Context,
    Flag,
    Number,
    ValueForm,
    describe_shape,
)
from cdc_contracts.registry.values.fractions import TRAILING_ZEROS
from cdc_contracts.registry.values.type_bounds import CAUSES, bound_of

_JSON_KINDS = {"text": "string", "number": "number", "boolean": "boolean"}
_WIRE_KINDS = {"string": "text", "number": "number", "boolean": "boolean", "null": "text"}
_NO_TEXTS: Final = frozenset({"true", "false", "None"})
_CAUSES = {"unknown": "unknown-field", "missing": "missing-field", "kind": "type-change", "enum": "unknown-enum"}


@dataclass(frozen=True)
class Judgement:
    """What one version says of one message."""

    version: Version
    opinion: Opinion
    changes: tuple[Change, ...]
    control: Control | None

    @property
    def findings(self) -> tuple[Finding, ...]:
        return self.opinion.findings

    @property
    def fits(self) -> bool:
        return not self.opinion.errors


@dataclass(frozen=True)
class TypedColumns:
    """The columns of one message: their source types, where those come from, and how their values are read.

    `table` knows the zone of zone-less timestamps.
    """

    types: dict[str, str] | None
    origin: str
    table: TableContract | None
    mapping: ValueMapping


class ReferenceValidator:
    """Judges messages under one version and the terms of a run."""

    def __init__(self, version: Version, reading_options: ReadingOptions) -> None:
        self.version = version
        self.meaning = version.meaning
        self.reading_options = reading_options
        self._schema = _judge_of(version)
        self._form_of_type = lru_cache(4096)(ValueMapping.form_of)
        self._context = lru_cache(1024)(self._build_context)

    @cached_property
    def wire(self) -> Wire:
        """How messages of the version are read from values."""
        return open_wire(self.version, self.reading_options)

    @cached_property
    def mapping(self) -> ValueMapping:
        """The value mapping of messages that do not say the kind of their source."""
        return self.mapping_for(None)

    def mapping_for(self, kind: str | None) -> ValueMapping:
        """Return the value mapping of messages from a kind of source database."""
        name = self.meaning.values.mapping_for(kind, self.reading_options.parameters.get("source_mode"))
        return self.version.catalogue.mapping(name)

    def claims(self, message: dict[str, Any]) -> bool:
        """Say whether the subject's discriminators all hold."""
        return all_hold(self.meaning.discriminators, message)

    def judge(self, message: dict[str, Any]) -> Judgement:
        """Return the findings of a message under this version, and what it says where none is an error."""
        reading = Reading(self.meaning, message, self.reading_options)
        columns = self.columns_of(reading)
        view = RuleView(reading, columns.mapping)
        breaches: list[Finding] = []
        breaches += self._unknown_codes(reading)
        breaches += self._judge_times(reading)
        if reading.op is None:
            breaches += self._unknown_op(reading)
        else:
            rules = self.meaning.rules if reading.holds_rows else self._rules_without_rows()
            for name in rules:
                breaches += (self._cross_field(name, breach) for breach in RULES[name].check(view))
            for name in self.meaning.notes:
                breaches += (self._cross_field(name, breach) for breach in NOTES[name].check(view))
            if reading.holds_rows:
                breaches += self._judge_values(reading, columns)
                breaches += self._judge_promises(reading, columns)
        misplaced = {finding.path for finding in breaches if finding.rule == "D09.image-present-for-op"}
        recounted = {finding.path for finding in breaches if finding.rule == rule_id("value-form", TIME_UNIT)}
        shape = [
            found
            for violation in self._schema.violations(message)
            if violation.path not in misplaced
            and not ((found := self._shape_finding(violation)).name == "value-form" and found.path in recounted)
        ]
        findings = _one_each([*breaches[::-1], *shape])
        opinion = Opinion(
            version=self.version,
            findings=tuple(sorted(findings, key=lambda finding: finding.order)),
            holds_rows=reading.holds_rows,
            placed_at=self._placed_at(reading),
            forms=self._forms(reading, columns),
        )
        if opinion.errors:
            return Judgement(self.version, opinion, (), None)
        if reading.holds_rows:
            return Judgement(self.version, opinion, tuple(self._changes(reading, columns)), None)
        return Judgement(self.version, opinion, (), control_of(reading))

    def columns_of(self, reading: Reading) -> TypedColumns:
        """Return the source types of a message's columns: from the message, else from its table contract."""
        names = reading.names
        table = self.reading_options.tables.of(names.database, names.schema, names.table)
        mapping = self.version.catalogue.mapping(reading.mapping_name)
        if self.meaning.columns.types != "none":
            return TypedColumns(reading.types, "message", table, mapping)
        return (
            TypedColumns(table.types, "table", table, mapping) if table else TypedColumns(None, "none", None, mapping)
        )

    def form_of(self, columns: TypedColumns, name: str, value: Any) -> ValueForm | None:
        """Return the form that a column's value has to have; None where its source type is not in the mapping.

        A column without a type is read by the JSON kind of the value.
        """
        source_type = columns.types.get(name) if columns.types is not None else None
        if source_type is None:
            kind = _WIRE_KINDS.get(kind_of(value))
            return None if kind is None else FORMS[columns.mapping.form_of_kind(kind)]
        form = self._form_of_type(columns.mapping, source_type)
        return None if form is None else FORMS[form]

    def context_of(self, form: ValueForm, table: TableContract | None, mapping: ValueMapping | None = None) -> Context:
        """Return what a form has to know besides the value; a table's own zone wins over the parameter."""
        return self._context(form, table.source_time_zone if table else None, mapping or self.mapping)

    def _build_context(self, form: ValueForm, own_zone: str | None, mapping: ValueMapping) -> Context:
        zone = parse_zone(own_zone) if own_zone else self.reading_options.zone("timestamp_zone")
        keep, literal = mapping.keeps_invalid(form.name), mapping.invalid_literal(form.name)
        if not form.records or self.meaning.avro is None:
            return Context(zone, keep, literal, zeros_left_out=mapping.leaves_out_zeros(form.name))
        return Context(zone, keep, literal, self.reading_options.second_digits(self.meaning.avro.fraction))

    def lenient(self, form: ValueForm) -> bool:
        """Say whether the form is undocumented in this version, so that other text is kept and only warned of."""
        return self.meaning.leaves_open(form.kind)

    # --- findings

    def _judge_values(self, reading: Reading, columns: TypedColumns) -> Iterator[Finding]:
        if columns.origin == "message" and columns.types is None:
            return
        sources = {
            pointer: None
            for side in self._sides(reading)
            for pointer in (reading.source(side), side.over)
            if pointer is not None
        }
        yield from _one_each(
            finding
            for pointer in sources
            for row in reading.rows(pointer) or ()
            for finding in self._judge_row(reading, pointer, row, columns)
        )
        yield from self._unknown_types(reading, columns)

    def _judge_row(self, reading: Reading, pointer: str, row: Row, columns: TypedColumns) -> Iterator[Finding]:
        typed = {
            name: value for name, value in row.items() if columns.origin != "message" or name in (columns.types or {})
        }
        for name, value in typed.items():
            if is_null(columns.table, name, value):
                path = column_path(reading, pointer, name)
                yield self._finding("table-schema", NOT_NULL, path, "a value", "NULL")
            form = self.form_of(columns, name, value)
            if form is None or value is None:
                continue
            path, kind = column_path(reading, pointer, name), kind_of(value)
            if kind not in {_JSON_KINDS[wire] for wire in form.wire}:
                expected = " or ".join(sorted(_JSON_KINDS[wire] for wire in form.wire))
                yield self._finding("type-change", None, path, expected, kind)
            else:
                declared = columns.table.types.get(name) if columns.table is not None else None
                yield from self._judge_value(form, value, path, columns, declared)

    def _judge_value(
        self, form: ValueForm, value: Any, path: str, columns: TypedColumns, declared: str | None
    ) -> Iterator[Finding]:
        context = self.context_of(form, columns.table, columns.mapping)
        refused = not _schema_of(form, context).fits(value)
        flag: int
        text = None
        try:
            read = form.read(value, context)
            text, flag = read.text, read.flag
        except BrokenValue as error:
            flag = error.flag
        if flag >= FIRST_RECORD:
            expected = " or ".join(form.records)
            yield self._finding("type-change", None, path, expected, RECORDS[flag - FIRST_RECORD])
        elif flag == Flag.TOO_LONG:
            yield self._finding("precision", "digits", path, "at most 4096 characters", "more")
        elif flag == Flag.BROKEN or (refused and flag not in (Flag.INVALID, Flag.NOTED)):
            own = WARNING if self.lenient(form) else None
            yield self._finding("value-form", form.name, path, form.name, describe_shape(value), own)
        elif flag == Flag.INVALID and declared is not None and (expected_time := expects_time(form)) is not None:
            own = INFO if text is not None and text.startswith(ZERO_DATE) else WARNING
            yield self._finding("value-form", NO_SUCH_TIME, path, expected_time, describe_shape(value), own)
        elif flag == Flag.NOTED and context.zeros_left_out:
            expected = "no zero at the end of a fraction"
            yield self._finding("value-form", TRAILING_ZEROS, path, expected, describe_shape(value), WARNING)
        elif flag == Flag.NOTED:
            yield self._finding("value-form", form.name, path, form.name, describe_shape(value), INFO)
        if text is not None and declared is not None and (flag == Flag.NOTED or (flag == Flag.OK and not refused)):
            yield from self._judge_fit(form, text, path, declared)

    def _judge_fit(self, form: ValueForm, text: str, path: str, declared: str) -> Iterator[Finding]:
        """A value that the declared type of its column cannot hold: tables would have to round it."""
        bound = bound_of(declared, form.kind)
        for misfit in bound.judge(text) if bound is not None else ():
            rule, observed = CAUSES[misfit]
            yield self._finding("precision", rule, path, show_code(declared), observed)

    def _judge_promises(self, reading: Reading, columns: TypedColumns) -> Iterator[Finding]:
        if columns.table is not None:
            for one in broken_promises(reading, columns.table):
                yield self._finding("table-schema", one.rule, one.path, one.expected, one.observed)

    def _judge_times(self, reading: Reading) -> Iterator[Finding]:
        """Moments that are counted in another unit: read as documented they would lie in another age."""
        for place in self.meaning.envelope.times:
            observed = unit_observed(reading.place(place), place)
            if observed is not None and place.at is not None:
                own = WARNING if place == self.meaning.envelope.checkpoint else None  # no row is read by it
                expected = f"{unit_of_form(place)} since 1970"
                yield self._finding("value-form", TIME_UNIT, place.at, expected, observed, own)

    def _unknown_types(self, reading: Reading, columns: TypedColumns) -> Iterator[Finding]:
        parts = split_pointer(reading.types_at[0]) if reading.types_at else ()
        for name, source_type in (columns.types or {}).items():
            if self._form_of_type(columns.mapping, source_type) is None:
                expected = f"a type of {columns.mapping.name}"
                path = join_pointer(*parts, name)
                yield self._finding("unknown-enum", "source-type", path, expected, self._show(source_type))

    def _unknown_op(self, reading: Reading) -> Iterator[Finding]:
        if reading.code is not None:
            at = self.meaning.envelope.op.at
            yield self._finding("unknown-enum", "op", at, self._ops(), self._show(reading.code))

    def _unknown_codes(self, reading: Reading) -> Iterator[Finding]:
        """Codes that are read all the same (E73), members with a list of codes of their own, and kinds of sources."""
        if reading.code in self.meaning.tolerated_ops:
            documented = [code for code, op in self.meaning.ops.items() if op == self.meaning.ops[reading.code]]
            at = self.meaning.envelope.op.at
            yield self._finding("unknown-enum", "op", at, documented[0], show_code(reading.code), INFO)
        for pointer, codes in self.meaning.enums.items():
            value = reading.at(pointer)
            if isinstance(value, str) and value not in codes:
                name = split_pointer(pointer)[-1]
                yield self._finding("unknown-enum", name, pointer, "one of " + ", ".join(codes), self._show(value))
        yield from self._unknown_source(reading)

    def _unknown_source(self, reading: Reading) -> Iterator[Finding]:
        """A kind of source database that the document does not list, or says to have no such messages."""
        place = self.meaning.envelope.source_kind
        kind = reading.at(place.at) if place is not None and place.at is not None else None
        if place is None or place.at is None or not isinstance(kind, str) or place.is_of_source(kind):
            return
        listed = place.kinds is not None and not place.never
        expected = "one of " + ", ".join(place.kinds or ()) if listed else "none of " + ", ".join(place.never)
        yield self._finding("unknown-enum", "source-kind", place.at, expected, self._show(kind), WARNING)

    def _shape_finding(self, violation: Violation) -> Finding:
        name = _CAUSES.get(violation.cause, "value-form")
        observed = self._show(violation.observed) if name == "unknown-enum" else violation.observed
        if name == "unknown-enum" and violation.path == self.meaning.envelope.op.at:
            return self._finding(name, "op", violation.path, self._ops(), observed)
        cause = {"unknown-enum": "enum", "value-form": violation.cause}.get(name)
        return self._finding(name, cause, violation.path, violation.expected, observed)

    def _cross_field(self, rule: str, breach: Breach) -> Finding:
        return self._finding("cross-field", rule, breach.path, breach.expected, breach.observed, breach.severity)

    def _finding(
        self, name: str, cause: str | None, path: str, expected: str, observed: str, own: str | None = None
    ) -> Finding:
        severity = self.reading_options.severities.of(name, own)
        return Finding(rule_id(name, cause), name, severity, path, expected, observed)

    def _show(self, code: str) -> str:
        """Return a code that is refused as far as it may be shown; the names of what is no text are no secret."""
        return code if code in _NO_TEXTS else show_known(code, self.version)

    def _ops(self) -> str:
        return "one of " + ", ".join(self.meaning.ops)

    def _rules_without_rows(self) -> tuple[str, ...]:
        return tuple(name for name in self.meaning.rules if name.startswith("ddl-") or name == "image-present-for-op")

    def _placed_at(self, reading: Reading) -> str:
        images = self.meaning.images.of(reading.op or "")
        for side in (images.after, images.before) if images else ():
            source = reading.source(side) if side else None
            if source is not None:
                return source
        return ""

    def _forms(self, reading: Reading, columns: TypedColumns) -> dict[str, str]:
        forms = {}
        for side in self._sides(reading):
            for pointer in (reading.source(side), side.over):
                for row in (reading.rows(pointer) or ()) if pointer is not None else ():
                    for name, value in row.items():
                        form = self.form_of(columns, name, value)
                        if form is not None:
                            forms[column_path(reading, pointer, name)] = form.name
        return forms

    # --- changes

    def _sides(self, reading: Reading) -> list[Side]:
        images = self.meaning.images.of(reading.op or "")
        return [side for side in (images.before, images.after) if side] if images else []

    def _changes(self, reading: Reading, columns: TypedColumns) -> Iterator[Change]:
        images = self.meaning.images.of(reading.op or "")
        if images is None:
            return
        before = complete_rows(reading, images.before) if images.before else None
        after = complete_rows(reading, images.after) if images.after else None
        op, part = update_part(reading.op or "", before is not None, after is not None)
        names, event, process = reading.names, reading.event_time, reading.process_time
        for index in range(len(before or after or ())):
            images_of_row = [self._image(rows[index] if rows else None, columns) for rows in (before, after)]
            (old, old_invalid), (new, new_invalid) = images_of_row
            yield Change(
                op=op,
                tenant=names.tenant,
                database=names.database,
                schema=names.schema,
                table=names.table,
                primary_key=reading.primary_key,
                before=old,
                after=new,
                before_complete=_complete(old, columns.types),
                after_complete=_complete(new, columns.types),
                changed=self._changed(reading, index),
                column_types=columns.types,
                types_from=columns.origin,
                invalid=sorted(old_invalid | new_invalid),
                invalid_values=[
                    *(f"before.{name}" for name in sorted(old_invalid)),
                    *(f"after.{name}" for name in sorted(new_invalid)),
                ],
                event_time=event.micros,
                process_time=process.micros,
                event_time_text=event.text,
                position=reading.position,
                transaction=reading.transaction,
                update_part=part,
                pair_id=self._pair_id(reading) if part in HALVES else None,
            )

    def _image(self, row: Row | None, columns: TypedColumns) -> tuple[Image | None, set[str]]:
        if row is None:
            return None, set()
        image: Image = {}
        invalid: set[str] = set()
        for name, value in row.items():
            form = self.form_of(columns, name, value)
            if value is None or form is None:
                image[name] = None
                continue
            try:
                read = form.read(value, self.context_of(form, columns.table, columns.mapping))
                image[name], flag = read.text, read.flag
            except BrokenValue:
                image[name], flag = value.token if isinstance(value, Number) else str(value), Flag.INVALID
            if flag == Flag.INVALID:
                invalid.add(name)
        return image, invalid

    def _changed(self, reading: Reading, index: int) -> list[str] | None:
        for side in self._sides(reading):
            if side.over is None or reading.source(side) != side.at:
                continue
            own, below = (reading.rows(side.at) or []), (reading.rows(side.over) or [])
            if index < len(below) and not below[index].keys() <= own[index].keys():
                return sorted(own[index])
        return None

    def _pair_id(self, reading: Reading) -> str | None:
        halves = self.meaning.halves
        if halves is None:
            return None
        facts = {"position": reading.position, "transaction": reading.transaction, "table": reading.names.table}
        parts = [facts[key] if key in facts else reading.at(key) for key in halves.pair_by]
        return "\u0001".join(part for part in parts if isinstance(part, str)) or None


def control_of(reading: Reading) -> Control:
    """Return what a message says that holds no row."""
    names = reading.names
    return Control(
        kind=reading.op or "",
        tenant=names.tenant,
        database=names.database,
        schema=names.schema,
        table=names.table,
        ddl_text=reading.ddl_text,
        ddl_type=reading.ddl_type,
        event_time=reading.event_time.micros,
        process_time=reading.process_time.micros,
        position=reading.position,
        transaction=reading.transaction,
    )


def _one_each(findings: Iterable[Finding]) -> list[Finding]:
    """Return one finding for each rule and path: the heaviest, of equal ones the first."""
    found: dict[tuple[str, str], Finding] = {}
    for finding in findings:
        known = found.setdefault((finding.rule, finding.path), finding)
        if known.severity != heaviest(known.severity, finding.severity):
            found[finding.rule, finding.path] = finding
    return list(found.values())


@lru_cache(256)
def _judge_of(version: Version) -> SchemaJudge:
    """Return what judges the shape of a version's messages, the same on whatever terms they are judged."""
    return SchemaJudge(version.schema)


@lru_cache(1024)
def _schema_of(form: ValueForm, context: Context) -> SchemaJudge:
    return SchemaJudge(dict(form.schema_in(context)))


def _complete(image: Image | None, types: dict[str, str] | None) -> bool | None:
    if image is None:
        return None
    return types is None or types.keys() <= image.keys()


HALVES: Final = ("before", "after")


def update_part(op: str, before: bool, after: bool) -> tuple[str, str | None]:  # noqa: FBT001
    """Return the canonical op of a row and which part of an update its message holds."""
    match op:
        case "update":
            return "update", "joined"
        case "update-before":
            return "update", "before"
        case "update-after":
            return "update", "joined" if before and after else "after"
        case _:
            return op, None
