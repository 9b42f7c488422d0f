"""Message validator: messages that come one at a time, with the verdict of an earlier one that they equal in kind.

Two messages with the same key and the same signs of their values get the same verdict, as rules read nothing else. So
the reference validator validates the first of them; of the rest only the values are read. Whatever the key cannot
tell, and every message that does not conform, is validated by the reference. This needs neither numpy nor pyarrow.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

from cdc_contracts.registry.core.common.json_messages import Unreadable
from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.engine.messages.message_keys import MessageKeys, Row, Unsure, freeze
from cdc_contracts.registry.core.engine.messages.value_readings import ColumnReading, use_form
from cdc_contracts.registry.core.engine.parse.layout_plans import make_plan
from cdc_contracts.registry.core.message.canonical_changes import Change
from cdc_contracts.registry.core.message.reading import Reading, non_column_members
from cdc_contracts.registry.core.validate.decoded_changes import ColumnKinds, control_of, decode_changes
from cdc_contracts.registry.core.validate.drift_rule import DriftRule, reads_of, rules_of
from cdc_contracts.registry.core.validate.form_selection import TypedColumns
from cdc_contracts.registry.core.validate.reference_validator import ReferenceValidator, table_of_column
from cdc_contracts.registry.core.validate.rule_inputs import Reads, join_reads
from cdc_contracts.registry.core.validate.rule_view import RuleView
from cdc_contracts.registry.core.validate.table_constraints import is_null
from cdc_contracts.registry.core.validate.validation_context import ValidatedMessage, ValidationContext
from cdc_contracts.registry.core.validate.verdicts import AMBIGUOUS, CONFORMING, CONTROL, Opinion, Verdict, decide

_MOST_KINDS: Final = 2_000
"""Kinds of messages that are remembered; beyond that, they are forgotten together."""
_MOST_VERDICTS: Final = 200
"""Verdicts that are remembered of one kind."""
_REPEATABLE: Final = (CONFORMING, CONTROL, AMBIGUOUS)
"""Outcomes whose findings show nothing of a value but what its signs tell."""

_RulesByVersion = tuple[tuple[DriftRule, ...], ...]
"""Rules of each version, by its place; none where no version has any."""


@dataclass(frozen=True, eq=False, slots=True)
class _KnownVerdict:
    """What the versions found in the first message of its kind with values of some signs."""

    opinions: tuple[Opinion, ...]
    fitting: tuple[int, ...]
    tables: tuple[str | None, ...]
    codes: tuple[str | None, ...]
    verdicts: dict[Hashable, Verdict] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, slots=True)
class _MessageKind:
    """Messages with one key: their columns by version, and the verdicts by the signs of their values."""

    columns: tuple[TypedColumns, ...]
    kinds: tuple[ColumnKinds | None, ...]
    untyped: set[str] = field(default_factory=set)
    """Columns without a type, as far as they were met."""
    readings: dict[Hashable, ColumnReading] = field(default_factory=dict)
    verdicts: dict[Hashable, _KnownVerdict | None] = field(default_factory=dict)


class MessageValidator:
    """Validates single messages within a validation context; several threads may share it."""

    def __init__(self, validation: ValidationContext) -> None:
        self._validation = validation
        self._validators = validation.validators
        self._kinds: dict[Hashable, _MessageKind] = {}
        self._columns: dict[Hashable, ColumnReading] = {}

    def validate(self, value: bytes | None, kafka_key: bytes | None = None, *, decodes: bool) -> ValidatedMessage:
        """Return the outcome of one message as `ValidationContext.validate` does, its changes if `decodes`.

        Where one version is declared, `differs` is not found out.
        """
        value = self._validation.message_of(value, kafka_key)
        if value is not None and self._keys is not None:
            try:
                message = self._validation.wire.open(value, kafka_key)
            except Unreadable:
                return self._validation.validate(value, kafka_key)
            validated = self._validate_known(message, kafka_key, decodes=decodes)
            if validated is not None:
                return validated
            if self._validation.control_subjects:
                return self._validation.validate(value, kafka_key)
            return self._validation.validate_message(message, value, kafka_key)
        return self._validation.validate(value, kafka_key)

    @cached_property
    def _keys(self) -> MessageKeys | None:
        """How keys are made; None where the reference validates everything."""
        validation = self._validation
        if validation.ranges is not None or validation.left_open or validation.beside:
            return None
        meanings = [validator.meaning for validator in self._validators]
        plan = make_plan(meanings, [validator.version.schema for validator in self._validators])
        if plan is None:
            return None
        hidden = {
            at: frozenset(name for meaning in meanings for name in non_column_members(meaning, at))
            for at in plan.images
        }  # fmt: skip
        return MessageKeys(plan, hidden, join_reads(map(reads_of, meanings)).relations)

    @cached_property
    def _rules(self) -> _RulesByVersion:
        """The rules of each version that are asked of every message: they compare more than a key holds."""
        return self._rules_that(lambda reads: bool(reads.joined or reads.blocks))

    @cached_property
    def _readers_of_keys(self) -> tuple[int, ...]:
        """The places of versions that read Kafka keys, of those that read them alike the last one alone."""
        facts = {_facts_of_keys(validator.meaning): place for place, validator in enumerate(self._validators)}
        return tuple(
            place for place in facts.values() if self._validators[place].meaning.envelope.key_place is not None
        )

    @cached_property
    def _rules_of_kafka_keys(self) -> _RulesByVersion:
        """The rules about Kafka keys, of the versions that are asked about them."""
        rules = self._rules_that(lambda reads: bool(reads.kafka_keys))
        return tuple(own if place in self._readers_of_keys else () for place, own in enumerate(rules))

    def _rules_that(self, wanted: Callable[[Reads], bool]) -> _RulesByVersion:
        found = tuple(
            tuple(rule for rule in rules_of(validator.meaning) if wanted(rule.reads(validator.meaning)))
            for validator in self._validators
        )
        return found if any(found) else ()

    def _validate_known(
        self, message: dict[str, Any], kafka_key: bytes | None, *, decodes: bool
    ) -> ValidatedMessage | None:
        """Return the outcome of a message by that of an earlier one; None if the reference has to validate it."""
        if self._keys is None:
            return None
        try:
            key, rows = self._keys.read(message)
            readings = _Readings(self._validators, message, kafka_key)
            if self._rules:
                key = (key, self._breaches(readings, self._rules))
            if kafka_key is not None and self._validation.reads_keys:
                named = [readings[place].primary_key for place in self._readers_of_keys]
                key = (key, freeze(named), self._breaches(readings, self._rules_of_kafka_keys))
            kind = self._kinds.get(key)
            if kind is None:
                kind = self._open_kind(key, readings)
            signs = self._signs(kind, rows)
        except Unsure:
            return None
        if signs not in kind.verdicts:
            if len(kind.verdicts) >= _MOST_VERDICTS:
                kind.verdicts.clear()
            known = kind.verdicts[signs] = self._examine(message, kafka_key)
        else:
            known = kind.verdicts.get(signs)
        return None if known is None else self._decide(known, kind, message, readings, decodes=decodes)

    def _breaches(self, readings: _Readings, rules_by_version: _RulesByVersion) -> Hashable:
        """Return what rules that compare say of a message."""
        found = []
        for place, rules in enumerate(rules_by_version):
            validator, reading = self._validators[place], readings[place]
            if rules and reading.op is not None:
                view = RuleView(reading, validator.forms.mapping_named(reading.mapping_name))
                found.append(tuple((rule.name, *rule.check(view)) for rule in rules))
        return tuple(found)

    def _open_kind(self, key: Hashable, readings: _Readings) -> _MessageKind:
        columns = tuple(validator.forms.columns_of(readings[place]) for place, validator in enumerate(self._validators))
        if len(self._kinds) >= _MOST_KINDS:
            self._kinds.clear()
            self._columns.clear()
        kinds = tuple(_kinds_of(validator, typed) for validator, typed in zip(self._validators, columns, strict=True))
        kind = self._kinds[key] = _MessageKind(columns, kinds)
        return kind

    def _signs(self, kind: _MessageKind, rows: Sequence[Row]) -> Hashable:
        """Return the versions that find some value broken, and the signs of all other unusual values."""
        signs: list[tuple[int, str, tuple[Hashable, ...]]] = []
        readings, broken = kind.readings, 0
        for place, row in enumerate(rows):
            for name, value in row.items():
                column = readings.get(name) or self._reading_of(kind, name, value)
                _, wrong, unusual = column.read(value)
                broken |= wrong
                if unusual is not None:
                    signs.append((place, name, unusual))
        return (broken, *signs)

    def _reading_of(self, kind: _MessageKind, name: str, value: Any) -> ColumnReading:
        found = kind.readings.get(name)
        if found is None:
            found = kind.readings.get((name, type(value)))
        return self._open_column(kind, name, value) if found is None else found

    def _open_column(self, kind: _MessageKind, name: str, value: Any) -> ColumnReading:
        uses = tuple(
            use_form(validator, columns, name, value)
            for validator, columns in zip(self._validators, kind.columns, strict=True)
        )
        typed = all(name in (columns.types or {}) for columns in kind.columns)
        never_null = any(is_null(table_of_column(columns, name), name, None) for columns in kind.columns)
        tells_kind = not typed and any(columns.types for columns in kind.columns)
        key = (uses, never_null, tells_kind)
        found = self._columns.setdefault(key, ColumnReading(uses, never_null=never_null, tells_kind=tells_kind))
        if not typed:
            kind.untyped.add(name)
        kind.readings[name if typed else (name, type(value))] = found
        return found

    def _examine(self, message: dict[str, Any], kafka_key: bytes | None) -> _KnownVerdict | None:
        """Have the reference validate the first message with its key and signs; None where its verdict is its own."""
        version_verdicts = self._validation.version_verdicts(message, kafka_key)
        if not any(validator.claims(message) for validator in self._validators) or all(
            not one.fits for one in version_verdicts
        ):
            return None
        return _KnownVerdict(
            opinions=tuple(one.opinion for one in version_verdicts),
            fitting=tuple(place for place, one in enumerate(version_verdicts) if one.fits),
            tables=tuple(one.reading.names.text for one in version_verdicts),
            codes=tuple(one.reading.code for one in version_verdicts),
        )

    def _decide(
        self, known: _KnownVerdict, kind: _MessageKind, message: dict[str, Any], readings: _Readings, *,
        decodes: bool,
    ) -> ValidatedMessage | None:  # fmt: skip
        changes: dict[int, tuple[Change, ...]] = {}
        alike: Hashable = None
        if (
            len(known.fitting) > 1
            and len(self._validation.validated) > 1
            and known.opinions[known.fitting[0]].holds_rows
        ):
            changes = {place: self._decode(kind, readings[place], place) for place in known.fitting}
            listed = list(changes.values())
            alike = tuple(map(listed.index, listed))
        verdict = known.verdicts.get(alike)
        if verdict is None:
            versions = {known.opinions[place].version: found for place, found in changes.items()}
            verdict = known.verdicts[alike] = decide(self._validation.case(
                message, known.opinions, same=lambda asked: _same(versions, asked), claimed_by=None
            ))  # fmt: skip
        if verdict.outcome not in _REPEATABLE:
            return None
        place = next(at for at, opinion in enumerate(known.opinions) if opinion.version is verdict.version)
        control = None
        found: tuple[Change, ...] = ()
        alternatives: tuple[ValidatedMessage, ...] = ()
        if decodes and verdict.outcome == CONTROL:
            control = control_of(readings[place])
        elif decodes and verdict.outcome == CONFORMING:
            found = changes[place] if place in changes else self._decode(kind, readings[place], place)
        elif decodes:
            alternatives = tuple(
                self._result(
                    replace(verdict, version=known.opinions[at].version), known, kind, readings[at], at, read
                )
                for at, read in changes.items()
                if known.opinions[at].version in self._validation.validated
            )  # fmt: skip
        validated = self._result(verdict, known, kind, readings[place], place, found)
        return replace(validated, control=control, alternatives=alternatives) if control or alternatives else validated

    def _result(
        self, verdict: Verdict, known: _KnownVerdict, kind: _MessageKind, reading: Reading, place: int,
        changes: tuple[Change, ...],
    ) -> ValidatedMessage:  # fmt: skip
        kinds = None if kind.untyped else kind.kinds[place]
        return ValidatedMessage(
            verdict, changes, None, known.tables[place], known.codes[place], reading, kind.columns[place], kinds
        )

    def _decode(self, kind: _MessageKind, reading: Reading, place: int) -> tuple[Change, ...]:
        readings = kind.readings

        def read_value(name: str, value: Any) -> tuple[str | None, int]:
            column = readings.get(name) or self._reading_of(kind, name, value)
            return column.read(value).texts[place]

        return tuple(decode_changes(reading, kind.columns[place], read_value))


class _Readings:
    """A message as each version reads it, by the place of the version; made when first asked for."""

    def __init__(
        self, validators: Sequence[ReferenceValidator], message: dict[str, Any], kafka_key: bytes | None
    ) -> None:
        self._validators, self._message, self._kafka_key = validators, message, kafka_key
        self._made: dict[int, Reading] = {}

    def __getitem__(self, place: int) -> Reading:
        found = self._made.get(place)
        if found is None:
            validator = self._validators[place]
            found = self._made[place] = Reading(
                validator.meaning, self._message, validator.reading_options, self._kafka_key
            )
        return found


def _kinds_of(validator: ReferenceValidator, columns: TypedColumns) -> ColumnKinds | None:
    """Return the canonical kinds of columns by their types; None if messages have none."""
    if not columns.types:
        return None
    forms = {name: validator.forms.form_of(columns, name, None) for name in columns.types}
    return ColumnKinds({name: form.kind for name, form in forms.items() if form is not None}, columns.types)


def _facts_of_keys(meaning: Meaning) -> str:
    """Return all that names and rules of Kafka keys depend on besides the message, as text."""
    envelope = meaning.envelope.model_dump(include={"op", "primary_key"})
    rest = meaning.model_dump(include={"ops", "images", "columns", "rules"})
    return f"{envelope} {rest} {meaning.values.kind_at}"


def _same(changes: dict[Version, tuple[Change, ...]], versions: Sequence[Version]) -> bool:
    return all(changes.get(version) == changes.get(versions[0]) for version in versions)
