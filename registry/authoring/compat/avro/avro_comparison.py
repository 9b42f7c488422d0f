"""Avro comparison of two schemas: data of one that a reader of the other cannot read, or reads differently."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from types import MappingProxyType
from typing import Any, Final

from cdc_contracts.registry.authoring.compat.avro import schema_resolution as rules
from cdc_contracts.registry.authoring.compat.avro.avro_proofs import AvroProver, Shown
from cdc_contracts.registry.authoring.compat.avro.schema_mismatches import Mismatch, SchemaSide, message_pointer
from cdc_contracts.registry.authoring.compat.avro.schema_resolution import TooManyFields, resolve
from cdc_contracts.registry.authoring.compat.avro.stated_readings import compare_readings
from cdc_contracts.registry.authoring.compat.compatibility_rule import BREAKING, NOTE, UNDECIDED, CompatibilityRule
from cdc_contracts.registry.authoring.compat.compatibility_verdict import (
    READ_DIFFERENTLY,
    REFUSED_BY_NEW,
    REFUSED_BY_OLD,
    CompatibilityFinding,
    CompatibilityProof,
    TextPlace,
    report_whole,
)
from cdc_contracts.registry.authoring.compat.levels import BACKWARD, MEANING, Level, Policy
from cdc_contracts.registry.authoring.compat.text_places import find_lines
from cdc_contracts.registry.core.common.pointers import join_pointer
from cdc_contracts.registry.core.schema.avro_types.type_graph import AvroType
from cdc_contracts.registry.core.schema.schema_documents import SchemaDocument

NOT_ALL_COMPARED: Final = CompatibilityRule(
    id="C214", name="avro-not-all-compared", severity=UNDECIDED,
    says="The schemas have too many differences, or too many pairs of records to compare, to check them all.",
    action="Fix what is reported and compare again; schemas with fewer types of the same name have fewer pairs.",
    good="records of different names", bad="500 records `a1.Row`, `a2.Row`, … that all contain one another",
)  # fmt: skip


ACCEPTED: Final = "accepted"
MAX_FINDINGS: Final = 2_000
"""The most findings of one direction; if there are more, one undecided finding says so."""

_NOT_THERE: Final = "no such field"

_MEANINGS: Final = (rules.DECIMAL_CHANGED, rules.LOGICAL_CHANGED, rules.LOGICAL_GAINED_OR_LOST)
"""Rules under which both sides read the same bytes: reported once, whichever side writes."""
_SHOWN_BY_CONFLUENT: Final = MappingProxyType({
    rules.LOGICAL_CHANGED: NOTE,
    rules.LOGICAL_GAINED_OR_LOST: NOTE,
    rules.DIGITS_LOST: NOTE,
    rules.BYTES_AND_TEXT: NOTE,
    rules.FIELD_READ_AS_DEFAULT: None,
    rules.SYMBOL_READ_AS_DEFAULT: None,
})  # fmt: skip
"""What Confluent's registry accepts: reported as a note, or not at all where the schema intends it by a default."""


def compare_avro(
    old: SchemaDocument, new: SchemaDocument, *, level: Level, policy: Policy
) -> tuple[CompatibilityFinding, ...]:
    """Return what breaks between two versions, each with its proof.

    Raises InvalidSchema where one of them is no Avro schema.
    """
    directions = policy.directions(level)
    if not directions:
        return ()
    comparison = _Comparison(old, new, old.avro_types, new.avro_types, policy)
    findings: dict[Any, CompatibilityFinding] = {}
    for direction in directions:
        for finding in comparison.findings(direction):
            key = (finding.rule, finding.direction, finding.path, finding.old_place, finding.new_place)
            if key not in findings or findings[key].proof is None:
                findings[key] = finding
    stated = compare_readings(old, new) if policy is Policy.CDC else ()  # others compare shapes alone
    return (*_with_lines(list(findings.values()), old, new), *stated)


@dataclass(frozen=True, slots=True)
class _Comparison:
    old: SchemaDocument
    new: SchemaDocument
    old_type: AvroType
    new_type: AvroType
    policy: Policy

    def findings(self, direction: str) -> Iterator[CompatibilityFinding]:
        """Yield what breaks for the readers of one direction."""
        types = (self.new_type, self.old_type) if direction == BACKWARD else (self.old_type, self.new_type)
        prover = AvroProver(*types)
        found = resolve(*types)
        try:
            for mismatch in islice(found, MAX_FINDINGS):
                yield from self._validated_messages(mismatch, direction, prover)
            if next(found, None) is not None:
                yield self._undecided(direction, f"there are more than {MAX_FINDINGS:,} findings")
        except TooManyFields:
            yield self._undecided(direction, "there are too many pairs of records to look at")

    def _validated_messages(
        self, mismatch: Mismatch, direction: str, prover: AvroProver
    ) -> Iterator[CompatibilityFinding]:
        is_new = mismatch.rule == rules.FIELD_READ_AS_DEFAULT and direction == BACKWARD  # what its default is for
        severity = None if is_new else self._severity(mismatch.rule)
        if severity is not None:
            yield self._finding(mismatch, severity, direction, prover.prove(mismatch))

    def _severity(self, rule: CompatibilityRule) -> str | None:
        return BREAKING if self.policy is Policy.CDC else _SHOWN_BY_CONFLUENT.get(rule, BREAKING)

    def _finding(self, mismatch: Mismatch, severity: str, direction: str, shown: Shown | str) -> CompatibilityFinding:
        rule = mismatch.rule
        old, new = _by_age(mismatch.reader, mismatch.writer, direction)
        path = message_pointer(mismatch.trail) + ("" if mismatch.field is None else join_pointer(mismatch.field.name))
        fact = _in_words(mismatch.fact, direction)
        proven = not isinstance(shown, str)
        return CompatibilityFinding(
            rule=rule.id,
            name=rule.name,
            severity=severity,
            direction=MEANING if rule in _MEANINGS else direction,
            path=path,
            old=old.value,
            new=new.value,
            old_version=self.old.name,
            new_version=self.new.name,
            old_place=_place(old, self.old),
            new_place=_place(new, self.new),
            says=fact if proven else f"{fact} {shown}",
            action=rule.action,
            confluent_rule=_confluent_rule(mismatch, rule.confluent),
            proof=None if isinstance(shown, str) else _proof(shown, mismatch, direction),
        )

    def _undecided(self, direction: str, why: str) -> CompatibilityFinding:
        says = f"Not all of the two versions was compared: {why}."
        return report_whole(NOT_ALL_COMPARED, self.old, self.new, direction, says)


def _in_words(fact: str, direction: str) -> str:
    ages = {"{reader}": "the new", "{writer}": "the old"}
    if direction != BACKWARD:
        ages = {"{reader}": "the old", "{writer}": "the new"}
    first, second = sorted(ages, key=lambda side: (fact + side).index(side))
    result = fact.replace(first, f"{ages[first]} version").replace(second, f"{ages[second]} one")
    return result[0].upper() + result[1:] + "."


def _by_age(reader: SchemaSide, writer: SchemaSide, direction: str) -> tuple[SchemaSide, SchemaSide]:
    return (writer, reader) if direction == BACKWARD else (reader, writer)


def _confluent_rule(mismatch: Mismatch, name: str | None) -> str | None:
    """Return Confluent's name of a mismatch: below a union it only says that no branch takes what is written."""
    return rules.UNION_BRANCH.confluent if name and mismatch.under_union else name


def _place(side: SchemaSide, document: SchemaDocument) -> TextPlace | None:
    if side.at is None:
        return None
    referred = document.all_references.get(side.at.source)
    return TextPlace(side.at.pointer, document.file if referred is None else referred.file or referred.name)


def _with_lines(
    findings: Sequence[CompatibilityFinding], old: SchemaDocument, new: SchemaDocument
) -> Iterator[CompatibilityFinding]:
    """Yield findings with the lines and columns of their places; those in schemas that are referred to have none."""
    olds = find_lines(old.file, old.text, [one.old_place for one in findings])
    news = find_lines(new.file, new.text, [one.new_place for one in findings])
    for finding, here, there in zip(findings, olds, news, strict=True):
        yield replace(finding, old_place=here, new_place=there)


def _proof(shown: Shown, mismatch: Mismatch, direction: str) -> CompatibilityProof:
    if shown.refused is not None:
        kind = REFUSED_BY_NEW if direction == BACKWARD else REFUSED_BY_OLD
        reader, writer = shown.refused, ACCEPTED
    else:
        kind = READ_DIFFERENTLY
        reader, writer = shown.read, _NOT_THERE if mismatch.field is not None else shown.written
    old, new = (writer, reader) if direction == BACKWARD else (reader, writer)
    return CompatibilityProof(kind, shown.message, old, new, shown.checked_by)
