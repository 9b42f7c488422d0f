"""Reference validator: validates one parsed message under one version, slowly and with every finding.

The version's schema validates the shape of the message, the schemas of the value forms the values of its columns; the
rules and the value forms validate the rest. The fast validator has to agree with it on every record.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Final

from cdc_contracts.registry.core.common.findings import ERROR, INFO, WARNING, Finding, most_severe, rule_id
from cdc_contracts.registry.core.common.json_messages import kind_of
from cdc_contracts.registry.core.common.pointers import ABSENT, join_pointer, split_pointer
from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.contract.discriminators import all_hold
from cdc_contracts.registry.core.contract.envelope_schemas import show_code
from cdc_contracts.registry.core.contract.known_codes import show_known
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContract
from cdc_contracts.registry.core.message.canonical_changes import Change, Control
from cdc_contracts.registry.core.message.envelope_times import TIME_UNIT, unit_observed, unit_of_form
from cdc_contracts.registry.core.message.reading import Reading, Row, column_path
from cdc_contracts.registry.core.message.schema_violations import SchemaCheck, Violation
from cdc_contracts.registry.core.message.transport import Transport, open_transport
from cdc_contracts.registry.core.validate.decoded_changes import (
    control_of,
    decode_changes,
    forms_of_values,
    placed_at,
    value_reader,
)
from cdc_contracts.registry.core.validate.drift_rule import DriftRule, drift_rules
from cdc_contracts.registry.core.validate.form_selection import FormSelection, TypedColumns
from cdc_contracts.registry.core.validate.rule_view import IMAGE_PRESENT, Breach, RuleView, unpaired_rows
from cdc_contracts.registry.core.validate.table_constraints import (
    NO_INSTANT,
    NO_SCALE,
    NO_SUCH_TIME,
    NOT_NULL,
    NOT_WHOLE,
    ZERO_DATE,
    broken_constraints,
    expects_time,
    is_null,
)
from cdc_contracts.registry.core.validate.verdicts import Opinion
from cdc_contracts.registry.core.values import (
    FIRST_RECORD,
    JSON_KINDS,
    KEPT_AS_SENT,
    RECORDS,
    WIRES,
    BrokenValue,
    Context,
    Flag,
    ValueForm,
    describe_shape,
)
from cdc_contracts.registry.core.values.fractions import TRAILING_ZEROS
from cdc_contracts.registry.core.values.type_bounds import CAUSES

_SCALARS: Final = frozenset({"text", "number", "boolean"})
_NO_TEXTS: Final = frozenset({"true", "false", "None"})
_CAUSES = {"unknown": "unknown-field", "missing": "missing-field", "kind": "type-change", "enum": "unknown-enum"}


@dataclass(frozen=True)
class VersionVerdict:
    """The result of one version for one message; `reading` and `columns` are the message as the version reads it."""

    version: Version
    opinion: Opinion
    changes: tuple[Change, ...]
    control: Control | None
    reading: Reading = field(compare=False, repr=False)
    columns: TypedColumns = field(compare=False, repr=False)

    @property
    def findings(self) -> tuple[Finding, ...]:
        return self.opinion.findings

    @property
    def fits(self) -> bool:
        return not self.opinion.errors


class ReferenceValidator:
    """Validates messages under one version and the reading options of a run."""

    def __init__(self, version: Version, reading_options: ReadingOptions) -> None:
        self.version = version
        self.meaning = version.meaning
        self.reading_options = reading_options
        self.forms = FormSelection(version, reading_options)
        self._schema = _validator_of(version)
        rules = tuple(drift_rules()[name] for name in self.meaning.rules)
        notes = tuple(drift_rules()[name] for name in self.meaning.notes)
        self._rules, self._pairing = (*rules, *notes), drift_rules()[IMAGE_PRESENT]
        self._rules_without_rows = (*(rule for rule in rules if rule.without_rows), *notes)

    @cached_property
    def wire(self) -> Transport:
        """How messages of the version are read from values."""
        return open_transport(self.version, self.reading_options)

    def claims(self, message: dict[str, Any]) -> bool:
        """Return whether the subject's discriminators all hold."""
        return all_hold(self.meaning.discriminators, message)

    def validate(self, message: dict[str, Any], key: bytes | None = None) -> VersionVerdict:
        """Return the findings of a message under this version, and its content if none is an error.

        `key` is that of its Kafka record.
        """
        return self._conclude(*self._begin(message, key))

    def validate_unless_refused(self, message: dict[str, Any]) -> VersionVerdict | None:
        """Return the same without a key; None if codes, times or rules refuse the message: no value is read then."""
        reading, columns, breaches = self._begin(message, None)
        return None if _has_error(breaches) else self._conclude(reading, columns, breaches)

    def fits(self, message: dict[str, Any]) -> bool:
        """Return whether no finding of a message without a key is an error; its content is not decoded."""
        reading, columns, breaches = self._begin(message, None)
        if _has_error(breaches):
            return False
        breaches += self._look_at_rows(reading, columns)
        return not _has_error(breaches) and not _has_error(self._validate_shape(message, breaches))

    def _begin(self, message: dict[str, Any], key: bytes | None) -> tuple[Reading, TypedColumns, list[Finding]]:
        """Return a message as the version reads it, and what is found without a look at the values of its columns."""
        reading = Reading(self.meaning, message, self.reading_options, key)
        columns = self.forms.columns_of(reading)
        breaches = [*self._unknown_codes(reading), *self._validate_times(reading)]
        if reading.op is None:
            breaches += self._unknown_op(reading)
        else:
            view = RuleView(reading, columns.mapping)
            rules = self._rules if reading.holds_rows else self._rules_without_rows
            breaches += [self._cross_field(rule, breach) for rule in rules for breach in rule.check(view)]
            if reading.holds_rows:
                breaches += [self._cross_field(self._pairing, breach) for breach in unpaired_rows(reading)]
        return reading, columns, breaches

    def _conclude(self, reading: Reading, columns: TypedColumns, breaches: list[Finding]) -> VersionVerdict:
        """Return the verdict of a message, given what `_begin` returns of it."""
        breaches += self._look_at_rows(reading, columns)
        findings = _one_each([*breaches[::-1], *self._validate_shape(reading.message, breaches)])
        opinion = Opinion(
            version=self.version,
            findings=tuple(sorted(findings, key=lambda finding: finding.order)),
            holds_rows=reading.holds_rows,
            placed_at=placed_at(reading),
            forms=forms_of_values(reading, columns, self.forms),
        )
        changes: tuple[Change, ...] = ()
        control = None
        if not opinion.errors and reading.holds_rows:
            changes = tuple(decode_changes(reading, columns, value_reader(columns, self.forms)))
        elif not opinion.errors:
            control = control_of(reading)
        return VersionVerdict(self.version, opinion, changes, control, reading, columns)

    # --- findings

    def _validate_shape(self, message: dict[str, Any], breaches: Iterable[Finding]) -> Iterator[Finding]:
        """Yield where a message breaks the schema, except for what a breach already says of the same member."""
        violations = self._schema.violations(message)
        if not violations:
            return
        misplaced = {finding.path for finding in breaches if finding.rule == self._pairing.id}
        recounted = {finding.path for finding in breaches if finding.rule == rule_id("value-form", TIME_UNIT)}
        for violation in violations:
            found = self._shape_finding(violation)
            if found.path not in misplaced and not (found.name == "value-form" and found.path in recounted):
                yield found

    def _look_at_rows(self, reading: Reading, columns: TypedColumns) -> Iterator[Finding]:
        if reading.holds_rows:
            yield from self._validate_values(reading, columns)
            yield from self._validate_constraints(reading, columns)

    def _validate_values(self, reading: Reading, columns: TypedColumns) -> Iterator[Finding]:
        yield from _one_each(
            finding
            for pointer in reading.row_places
            for row in reading.rows(pointer) or ()
            for finding in self._validate_row(reading, pointer, row, columns)
        )
        yield from self._unknown_types(reading, columns)

    def _validate_row(self, reading: Reading, pointer: str, row: Row, columns: TypedColumns) -> Iterator[Finding]:
        for name, value in row.items():
            table = table_of_column(columns, name)
            if is_null(table, name, value):
                path = column_path(reading, pointer, name)
                yield self._finding("table-schema", NOT_NULL, path, "a value", "NULL")
            form = self.forms.form_of(columns, name, value)
            path, kind = column_path(reading, pointer, name), kind_of(value)
            if value is None or (form is None and name in (columns.types or {})):
                continue  # a type without a form is a finding of its own
            wires = _SCALARS if form is None else form.wire
            if form is None or WIRES.get(kind) not in wires:
                expected = " or ".join(sorted(JSON_KINDS[wire] for wire in wires))
                yield self._finding("type-change", None, path, expected, kind)
            else:
                yield from self._validate_value(form, name, value, path, columns)

    def _validate_value(
        self, form: ValueForm, name: str, value: Any, path: str, columns: TypedColumns
    ) -> Iterator[Finding]:
        table, sent = table_of_column(columns, name), columns.sent_type(name)
        declared = table.types.get(name) if table is not None else None
        context = self.forms.context_of_column(form, columns, name)
        refused = not self.forms.schema_of(form, columns.table, columns.mapping).fits(value)
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
        elif flag == Flag.BROKEN or (refused and flag not in (*KEPT_AS_SENT, Flag.NOTED, Flag.NOT_WHOLE)):
            own = WARNING if self.forms.lenient(form) else None
            yield self._finding("value-form", form.name, path, form.name, describe_shape(value), own)
        elif flag == Flag.INVALID and declared is not None and (expected_time := expects_time(form)) is not None:
            own = INFO if text is not None and text.startswith(ZERO_DATE) else WARNING
            yield self._finding("value-form", NO_SUCH_TIME, path, expected_time, describe_shape(value), own)
        else:
            yield from self._note_value(flag, form, value, path, context)
        if text is not None and (flag == Flag.NOTED or (flag in (Flag.OK, Flag.SUBSTITUTE) and not refused)):
            yield from self._validate_fit(form, text, path, declared, sent)

    def _note_value(self, flag: int, form: ValueForm, value: Any, path: str, context: Context) -> Iterator[Finding]:
        """Yield what is said of a value that its form takes."""
        if flag == Flag.NOT_WHOLE:
            yield self._finding("precision", NOT_WHOLE, path, f"a {form.kind} alone", "more than that", INFO)
        elif flag == Flag.NO_INSTANT:
            yield self._finding("value-form", NO_INSTANT, path, "a single instant", describe_shape(value), INFO)
        elif flag == Flag.NO_SCALE:
            yield self._finding("value-form", NO_SCALE, path, "a type with its scale", describe_shape(value), WARNING)
        elif flag == Flag.NOTED and context.zeros_left_out:
            expected = "no zero at the end of a fraction"
            yield self._finding("value-form", TRAILING_ZEROS, path, expected, describe_shape(value), WARNING)
        elif flag == Flag.NOTED:
            yield self._finding("value-form", form.name, path, form.name, describe_shape(value), INFO)

    def _validate_fit(
        self, form: ValueForm, text: str, path: str, declared: str | None, sent: str | None
    ) -> Iterator[Finding]:
        """Yield a finding if the declared type of a column cannot hold a value: tables would have to round it."""
        bound = self.forms.bound_of(form, declared, sent)
        for misfit in bound.misfit_of(text) if bound is not None else ():
            rule, observed = CAUSES[misfit]
            yield self._finding("precision", rule, path, show_code(declared or sent or ""), observed)

    def _validate_constraints(self, reading: Reading, columns: TypedColumns) -> Iterator[Finding]:
        if columns.table is not None:
            for one in broken_constraints(reading, columns.table):
                yield self._finding("table-schema", one.rule, one.path, one.expected, one.observed)

    def _validate_times(self, reading: Reading) -> Iterator[Finding]:
        """Yield times in another unit than documented: read as documented they would be in another century."""
        for place in self.meaning.envelope.times:
            observed = unit_observed(reading.place(place), place)
            if observed is not None and place.at is not None:
                own = WARNING if place == self.meaning.envelope.checkpoint else None  # no row is read by it
                expected = f"{unit_of_form(place)} since 1970"
                yield self._finding("value-form", TIME_UNIT, place.at, expected, observed, own)

    def _unknown_types(self, reading: Reading, columns: TypedColumns) -> Iterator[Finding]:
        parts = split_pointer(reading.types_at[0]) if reading.types_at else ()
        for name, source_type in (columns.types or {}).items():
            if self.forms.form_of_type(columns.mapping, source_type) is None:
                expected = f"a type of {columns.mapping.name}"
                path = join_pointer(*parts, name)
                yield self._finding("unknown-enum", "source-type", path, expected, self._show(source_type))

    def _unknown_op(self, reading: Reading) -> Iterator[Finding]:
        at = self.meaning.envelope.op.at
        if reading.code is not None:
            yield self._finding("unknown-enum", "op", at, self._ops(), self._show(reading.code))
        elif reading.at(at) is ABSENT:  # no schema requires the code where tests of other members may decide
            yield self._finding("missing-field", None, at, "present", "absent")

    def _unknown_codes(self, reading: Reading) -> Iterator[Finding]:
        """Yield unknown codes: tolerated ops (E73), members with a list of codes, and kinds of sources."""
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
        """Yield a kind of source database that the document does not list, or excludes."""
        place = self.meaning.envelope.source_kind
        kind = reading.at(place.at) if place is not None and place.at is not None else None
        if place is None or place.at is None or not isinstance(kind, str) or place.is_of_source(kind):
            return
        listed = place.kinds is not None and not place.excluded_kinds
        expected = "one of " + ", ".join(place.kinds or ()) if listed else "none of " + ", ".join(place.excluded_kinds)
        yield self._finding("unknown-enum", "source-kind", place.at, expected, self._show(kind), WARNING)

    def _shape_finding(self, violation: Violation) -> Finding:
        name = _CAUSES.get(violation.cause, "value-form")
        observed = self._show(violation.observed) if name == "unknown-enum" else violation.observed
        if name == "unknown-enum" and violation.path == self.meaning.envelope.op.at:
            return self._finding(name, "op", violation.path, self._ops(), observed)
        cause = {"unknown-enum": "enum", "value-form": violation.cause}.get(name)
        return self._finding(name, cause, violation.path, violation.expected, observed)

    def _cross_field(self, rule: DriftRule, breach: Breach) -> Finding:
        texts = (breach.path, breach.expected, breach.observed)
        return self._finding(rule.drift_class, rule.name, *texts, breach.severity)

    def _finding(
        self, name: str, cause: str | None, path: str, expected: str, observed: str, own: str | None = None
    ) -> Finding:
        severity = self.reading_options.severities.of(name, own)
        return Finding(rule_id(name, cause), name, severity, path, expected, observed)

    def _show(self, code: str) -> str:
        """Return an unknown code, as far as it may be shown; JSON kinds other than text are shown by name."""
        return code if code in _NO_TEXTS else show_known(code, self.version)

    def _ops(self) -> str:
        return "one of " + ", ".join(self.meaning.ops)


def table_of_column(columns: TypedColumns, name: str) -> TableContract | None:
    """Return the table contract that holds for a column, None if there is none.

    A column that its message has no type for is read by its JSON kind, whatever a table contract says.
    """
    return columns.table if columns.origin != "message" or name in (columns.types or {}) else None


def _has_error(findings: Iterable[Finding]) -> bool:
    return any(finding.severity == ERROR for finding in findings)


def _one_each(findings: Iterable[Finding]) -> list[Finding]:
    """Return one finding for each rule and path: the most severe, of equal ones the first."""
    found: dict[tuple[str, str], Finding] = {}
    for finding in findings:
        known = found.setdefault((finding.rule, finding.path), finding)
        if known.severity != most_severe(known.severity, finding.severity):
            found[finding.rule, finding.path] = finding
    return list(found.values())


@lru_cache(256)
def _validator_of(version: Version) -> SchemaCheck:
    """Return the validator of the shape of a version's messages, the same under any reading options."""
    return SchemaCheck(version.schema)
