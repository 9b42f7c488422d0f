"""Mapping differences: how two contracts write values, by source type: the mappings, and the form of each type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from cdc_contracts.registry.authoring.compat.compatibility_rule import BREAKING, CompatibilityRule
from cdc_contracts.registry.authoring.compat.meaning.contract_section import (
    COLUMN_FIELDS,
    NEW_VERSION,
    ContractFact,
    FactDifference,
    Question,
    Versions,
)
from cdc_contracts.registry.core.contract.column_model import invalid_literals, keeps_invalid
from cdc_contracts.registry.core.contract.document_model import SOURCE_MODES
from cdc_contracts.registry.core.contract.phrases import describe_mapping

if TYPE_CHECKING:
    from cdc_contracts.registry.core.contract.catalogue import Version
    from cdc_contracts.registry.core.contract.column_model import Values
    from cdc_contracts.registry.core.contract.value_mappings import ValueMapping

ANY: Final = "any other type"
COMPARED: Final = frozenset(
    {"names", "aliases", "forms", "options", "scales", "arrays", "default", "untyped", "invalid"}
)
"""The keys of a mapping that are compared here."""
UNREAD: Final = frozenset({"mapping", "images", "substitutes", "null_sent_as", "no_trailing_zeros"})
"""The keys that do not affect how values are read."""
_KINDS: Final = ("number", "text", "boolean")


VALUE_FORM: Final = CompatibilityRule(
    id="C301", name="value-form", severity=BREAKING,
    says="A source type is written in another value form: what one version reads correctly, the other rejects or "
    "misreads.",
    action=NEW_VERSION + " Readers need the version that matches what the producer writes.",
    good="TIMESTAMP: epoch-seconds.fraction in both",
    bad="TIMESTAMP: epoch-seconds-integer, then epoch-seconds.fraction",
)  # fmt: skip

SOURCE_TYPE_REMOVED: Final = CompatibilityRule(
    id="C302", name="source-type-removed", severity=BREAKING,
    says="A source type no longer has a value form: columns of this type are rejected.",
    action="Keep the type in a value form as long as any source uses it.",
    good="integer-text: [INT, BIGINT] in both", bad="integer-text: [INT, BIGINT], then [INT]",
)  # fmt: skip

SOURCE_TYPE_ADDED: Final = CompatibilityRule(
    id="C303", name="source-type-added", severity=BREAKING,
    says="A source type gained a value form: readers of the old version reject columns of this type.",
    action="Upgrade readers to the new version before any table has such a column.",
    good="integer-text: [INT] in both", bad="integer-text: [INT], then [INT, BIGINT]",
)  # fmt: skip

TYPE_NAMES: Final = CompatibilityRule(
    id="C304", name="type-names", severity=BREAKING,
    says="Names of source types are normalized differently: only one version recognizes a type as messages write it.",
    action=NEW_VERSION,
    good="names: [upper, drop-parameters] in both", bad="names: [upper, drop-parameters], then [upper]",
)  # fmt: skip

INVALID_VALUE: Final = CompatibilityRule(
    id="C305", name="invalid-value", severity=BREAKING,
    says="An invalid date or time is kept as text in one version and rejected or read as a value in the other.",
    action=NEW_VERSION,
    good="sql-date: keep-text in both", bad="sql-date: keep-text, then nothing",
)  # fmt: skip

UNTYPED_FORM: Final = CompatibilityRule(
    id="C306", name="untyped-form", severity=BREAKING,
    says="A value of a column without a type is read in another form.",
    action=NEW_VERSION,
    good="untyped: {number: json-number} in both", bad="untyped: {text: text}, then {text: base64}",
)  # fmt: skip

MAPPING_CHOICE: Final = CompatibilityRule(
    id="C307", name="mapping-choice", severity=BREAKING,
    says="The value mapping is chosen differently: the same column is read in another form.",
    action=NEW_VERSION,
    good="mapping: oms-mysql in both", bad="mapping: oms-mysql, then one by the mode of the source",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class MappingPair:
    """Two mappings that read the same messages: those from a kind of source database, in a mode.

    `is_chosen_alike`: both contracts choose by that, so that a type written differently is a change of its form.
    """

    old: ValueMapping
    new: ValueMapping
    kind: str | None
    mode: str | None
    is_chosen_alike: bool


def value_differences(old: Version, new: Version) -> Iterator[tuple[FactDifference, MappingPair]]:
    """Yield what two contracts say differently of values, each with the mappings that it was seen in."""
    pairs = list(mapping_pairs(old, new))
    seen: list[FactDifference] = []
    for pair in pairs:
        for one in _compare(pair) if pair.is_chosen_alike else ():
            if one not in seen:
                seen.append(one)
                yield one, pair
    choices = [version.resolved["values"]["mapping"] for version in (old, new)]
    if any(isinstance(choice, Mapping) for choice in choices) and choices[0] != choices[1]:
        here, there = (ContractFact(choice, describe_mapping({"mapping": choice})) for choice in choices)
        apart = [pair for pair in pairs if not pair.is_chosen_alike and pair.old.name != pair.new.name]
        example = min(apart or pairs, key=lambda pair: pair.kind is None)
        yield FactDifference(MAPPING_CHOICE, ("values", "mapping"), here, there), example


def mapping_pairs(old: Version, new: Version) -> Iterator[MappingPair]:
    """Yield each pair of mappings that reads the same messages, the one of messages that do not say first."""
    values = (old.meaning.values, new.meaning.values)
    cases: dict[tuple[str | None, str | None], None] = {(None, None): None}
    cases |= dict.fromkeys((kind, None) for one in values for kind in _kinds_of(one))
    cases |= dict.fromkeys((None, mode) for mode in SOURCE_MODES if any(map(_asks_mode, values)))
    seen: set[tuple[str, str]] = set()
    for kind, mode in cases:
        here, there = (one.mapping_for(kind if one.kind_at is not None else None, mode) for one in values)
        if (here, there) not in seen:
            seen.add((here, there))
            alike = (kind is None and mode is None) or all(not isinstance(one.mapping, str) for one in values)
            yield MappingPair(old.catalogue.mapping(here), new.catalogue.mapping(there), kind, mode, alike)


def _kinds_of(values: Values) -> tuple[str, ...]:
    return () if isinstance(values.mapping, str) or values.kind_at is None else tuple(values.mapping.map)


def _asks_mode(values: Values) -> bool:
    return not isinstance(values.mapping, str) and values.mapping.otherwise == "parameter"


def _compare(pair: MappingPair) -> Iterator[FactDifference]:
    old, new = pair.old, pair.new
    changed: set[str] = set()
    for name in dict.fromkeys([*_types_of(old), *_types_of(new)]):
        here, there = old.form_of(name), new.form_of(name)
        alias = old.document.aliases.get(name)
        if here != there and (alias is None or alias != new.document.aliases.get(name)):  # the type itself says it
            changed.add(name)
            yield FactDifference(_rule_of(here, there), ("values", name), _form(here), _form(there))
    here, there = old.document.default, new.document.default
    if here != there:
        yield FactDifference(_rule_of(here, there), ("values", ANY), _form(here), _form(there))
    chosen = [
        ContractFact(
            [one.document.options, one.document.scales, one.document.arrays],
            ", ".join([*one.document.options, *one.document.scales.values()]) or "no option",
        )
        for one in (old, new)
    ]
    if chosen[0].value != chosen[1].value:
        yield FactDifference(VALUE_FORM, ("values", ANY), chosen[0], chosen[1])
    if old.document.names != new.document.names:
        names = [ContractFact(list(one.document.names), ", ".join(one.document.names)) for one in (old, new)]
        yield FactDifference(TYPE_NAMES, ("values", "names"), names[0], names[1])
    for kind in _KINDS:
        here, there = old.form_of_kind(kind), new.form_of_kind(kind)
        if here != there:
            yield FactDifference(UNTYPED_FORM, ("values", f"{kind} without a type"), _form(here), _form(there))
    for form in dict.fromkeys([*old.document.invalid, *new.document.invalid]):
        kept = [_kept(one.document.invalid.get(form)) for one in (old, new)]
        shared = [name for name in _types_of(old) if name not in changed and old.form_of(name) == form]
        if kept[0] != kept[1] and shared:
            yield FactDifference(INVALID_VALUE, ("values", f"{shared[0]} that does not exist"), kept[0], kept[1])


def _rule_of(old: str | None, new: str | None) -> CompatibilityRule:
    """Return whether a type has got a form, lost it, or has another."""
    return SOURCE_TYPE_ADDED if old is None else SOURCE_TYPE_REMOVED if new is None else VALUE_FORM


def _types_of(mapping: ValueMapping) -> list[str]:
    """Return the types that a mapping lists, and their aliases."""
    listed = [name for types in mapping.document.forms.values() for name in types]
    return list(dict.fromkeys([*listed, *mapping.document.aliases]))


def _form(name: str | None) -> ContractFact | None:
    return None if name is None else ContractFact(name, name)


def _kept(entry: Any) -> ContractFact | None:
    if entry is None:
        return None
    said = [f'written "{literal}"' for literal in invalid_literals(entry)]
    return ContractFact(entry, ", ".join([*said, *(["kept as sent"] if keeps_invalid(entry) else [])]))


def ask_value(difference: FactDifference, versions: Versions) -> Question:
    """Ask for messages with a value of the type, or with any value."""
    name = difference.key[1]
    column = "" if name in ("mapping", "names") else _type_of(name)
    return Question(("insert", "upsert", "snapshot", "update"), fields=COLUMN_FIELDS, column=column)


def _type_of(name: str) -> str:
    """Return the source type that a key of `values` is about; empty if it is about values without one."""
    if " without a type" in name:
        return ""
    return name.removesuffix(" that does not exist").replace("any other type", "")
