"""A rule reads what it declares and nothing else, and what it declares makes records differ for the fast path."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from both_paths import CATALOGUE, VERSIONS, samples
from mutations import to_bytes
from rule_violations import breaker_of, good_records, neighbours, scope_of

from cdc_contracts.registry.core.common.json_messages import Unreadable
from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.contract.discriminators import pointers_of
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.engine.parse.layout_plans import make_plan
from cdc_contracts.registry.core.message.reading import Reading
from cdc_contracts.registry.core.validate.drift_rule import DriftRule, drift_rules
from cdc_contracts.registry.core.validate.rule_inputs import Reads, read_nothing
from cdc_contracts.registry.core.validate.rule_view import Breach, RuleView
from cdc_contracts.registry.core.validate.validation_context import ValidationContext

EVERY = 5
"""One of so many mutations is read by every rule of its contract."""
NOTHING_STATED = ReadingOptions()


class Undeclared(AssertionError):
    """A rule read what it does not declare."""


class WatchedRow(dict[str, Any]):
    """A row of which only the columns of the key may be asked for, and nothing that depends on which others it has."""

    def __init__(self, row: dict[str, Any], key: Collection[str]) -> None:
        super().__init__(row)
        self.key = key

    def __contains__(self, name: object) -> bool:
        return super().__contains__(self._allowed(name))

    def __getitem__(self, name: str) -> Any:
        return super().__getitem__(self._allowed(name))

    def get(self, name: str, default: Any = None) -> Any:
        return super().get(self._allowed(name), default)

    def __or__(self, other: Any) -> WatchedRow:
        return WatchedRow(dict(dict.items(self)) | dict(dict.items(other)), self.key)

    def __ror__(self, other: Any) -> WatchedRow:
        return WatchedRow(dict(dict.items(other)) | dict(dict.items(self)), self.key)

    def _allowed(self, name: Any) -> Any:
        if name not in self.key:
            raise Undeclared(f"column {name}")
        return name

    def _refuse(self, *_: Any) -> Any:
        raise Undeclared("the columns of a row")

    __iter__ = __len__ = __eq__ = __hash__ = keys = values = items = _refuse


@dataclass(frozen=True)
class Watched(Reading):
    """A message of which only some places, and what lies below them, may be read."""

    allowed: frozenset[str] = field(default_factory=frozenset)
    open_rows: frozenset[str] = field(default_factory=frozenset)
    """The images whose rows may be read by the columns that they have."""
    key_names: Collection[str] = ()

    def rows(self, pointer: str) -> list[Any] | None:
        rows = super().rows(pointer)
        if rows is None or pointer in self.open_rows:
            return rows
        return [WatchedRow(row, self.key_names) for row in rows]

    def at(self, pointer: str) -> Any:
        if not any(pointer == place or pointer.startswith(f"{place}/") for place in self.allowed):
            raise Undeclared(pointer)
        return super().at(pointer)


def always_read(meaning: Meaning) -> frozenset[str]:
    """Return the places that make records differ for every rule.

    These are op, flags, images, the types of columns, and the kind of the source that decides how values are read.
    """
    op, types, kind_at = meaning.envelope.op, meaning.columns.types, meaning.values.kind_at
    at_of_types = () if types == "none" or types.at is None else (types.at,)
    flags = [at for flag in op.flags for at in ((flag.at,) if flag.at is not None else pointers_of(flag.when))]
    at_of_kind = () if kind_at is None else (kind_at,)
    return frozenset((op.at, *flags, *meaning.images.pointers(), *at_of_types, *at_of_kind))


def check(
    rule: DriftRule, version: Version, message: dict[str, Any], options: ReadingOptions = NOTHING_STATED
) -> list[Breach]:
    """Return what a rule says of a message of which it may read what it declares."""
    reads = rule.reads(version.meaning)
    compared = () if options.may_lack_columns(version.meaning.columns) else reads.compared
    allowed = reads.places | always_read(version.meaning)
    images = version.meaning.images.pointers() if reads.blocks else (*reads.columns, *reads.empty_rows, *compared)
    whole = Reading(version.meaning, message, options)
    reading = Watched(
        version.meaning, message, options,
        allowed=allowed, open_rows=frozenset(images), key_names=whole.primary_key or (),
    )  # fmt: skip
    mapping = version.catalogue.mapping(whole.mapping_name)
    return list(rule.check(RuleView(reading, mapping)))


def messages_of(version: Version) -> Iterator[dict[str, Any]]:
    wire = scope_of(version.reference).wire
    for _, value in samples()[version.reference]:
        try:
            yield wire.open(value)
        except Unreadable:
            continue
    if version.meaning.transport != "json":
        return
    breakers = {breaker_of(name) for name in (*version.meaning.rules, *version.meaning.notes)}
    mutants = [one for reading in good_records(version) for each in (*breakers, neighbours) for one in each(reading)]
    for mutant in mutants[::EVERY]:
        try:
            yield wire.open(to_bytes(mutant))
        except Unreadable:
            continue


@pytest.mark.one_in(3)
@pytest.mark.parametrize("row_columns", ["all", "some"])
@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_no_rule_reads_what_it_does_not_declare(version, row_columns, part):
    options = ReadingOptions(parameters={"row_columns": row_columns})
    rules = {name: drift_rules()[name] for name in (*version.meaning.rules, *version.meaning.notes)}
    said = 0
    for message in part(messages_of(version), 3):
        for name, rule in rules.items():
            found = check(rule, version, message, options)
            reading = Reading(version.meaning, message, options)
            view = RuleView(reading, version.catalogue.mapping(reading.mapping_name))
            assert found == list(rule.check(view)), name
            said += len(found)
    assert said


@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_what_rules_read_is_what_distinguishes_records(version):
    validation: ValidationContext = scope_of(version.subject)
    plan = make_plan(
        [validator.meaning for validator in validation.validators],
        [validator.version.schema for validator in validation.validators],
    )
    assert plan is not None
    for name in (*version.meaning.rules, *version.meaning.notes):
        reads = drift_rules()[name].reads(version.meaning)
        assert set(reads.values) <= plan.discrete, name
        assert set(reads.filled) <= {*plan.filled, *plan.discrete}, name
        assert set(reads.seconds) <= set(plan.whole_seconds_at), name
        assert {(at, ("pattern", pattern)) for at, pattern in reads.patterns} <= {
            (at, one) for at, reported in plan.constraints.items() for one in reported
        }, name
        assert {(one.name, one.places) for one in reads.relations} <= {
            (one.name, one.places) for one in plan.relations
        }, name


def test_a_rule_that_reads_more_than_it_declares_is_caught():
    """The fault itself: the flag is read, and nothing tells records apart by it."""
    version = CATALOGUE.version("dts/canal@2")
    message = next(one for one in good_records(version) if one.op == "insert").message
    with pytest.raises(Undeclared, match="/isDdl"):
        check(replace(drift_rules()["ddl-flag-agrees"], reads=read_nothing), version, message)
    with pytest.raises(Undeclared, match="/pkNames"):
        check(
            replace(drift_rules()["primary-key-in-image"], reads=lambda meaning: Reads(values=("/ts",))),
            version,
            message,
        )


def test_a_rule_that_reads_columns_and_does_not_declare_it_is_caught():
    version = CATALOGUE.version("dts/canal@2")
    message = next(one for one in good_records(version) if one.op == "update").message
    for name in ("old-keys-in-data", "columns-typed"):
        with pytest.raises(Undeclared, match="column"):
            check(replace(drift_rules()[name], reads=read_nothing), version, message)
