"""Envelope section: where a message has its op, its names, its times, its position and its key."""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from cdc_contracts.registry.authoring.compat.compatibility_rule import BREAKING, NOTE, UNDECIDED, CompatibilityRule
from cdc_contracts.registry.authoring.compat.meaning.contract_section import (
    ANY,
    NEW_VERSION,
    ROWS,
    ContractFact,
    ContractSection,
    FactDifference,
    Key,
    Question,
    Versions,
    describe_place_words,
    parts_of,
    values_of,
)
from cdc_contracts.registry.core.contract.discriminator_model import Test
from cdc_contracts.registry.core.contract.discriminators import pointers_of
from cdc_contracts.registry.core.contract.phrases import describe_flag

OP_PLACE: Final = CompatibilityRule(
    id="C313", name="op-place", severity=BREAKING,
    says="The op code is in another member: no message can be read without it.",
    action=NEW_VERSION,
    good="op: {at: /type} in both", bad="op: {at: /type}, then {at: /opType}",
)  # fmt: skip

OP_FLAG: Final = CompatibilityRule(
    id="C314", name="op-flag", severity=BREAKING,
    says="A member that overrides the op code is read differently: the same message yields another op.",
    action=NEW_VERSION,
    good="flags: [{at: /isDdl, is: true, means: ddl}] in both", bad="the flag, then none",
)  # fmt: skip

FACT_PLACE: Final = CompatibilityRule(
    id="C330", name="fact-place", severity=BREAKING,
    says="An envelope field is in another member, or exists in one version only.",
    action=NEW_VERSION,
    good="event_time: {at: /es} in both", bad="event_time: {at: /es}, then {at: /ts}",
)  # fmt: skip

FACT_READING: Final = CompatibilityRule(
    id="C331", name="fact-reading", severity=BREAKING,
    says="The same member is read differently: another unit, another way of splitting names, or another value that "
    "means none.",
    action=NEW_VERSION,
    good="form: epoch-millis in both", bad="form: epoch-millis, then epoch-seconds",
)  # fmt: skip

POSITION_ORDER: Final = CompatibilityRule(
    id="C332", name="position-order", severity=UNDECIDED,
    says="Positions can be compared in one version only. No message shows this: readers that order by position are "
    "affected.",
    action="Check whether a reader orders or deduplicates by position.",
    good="order: integer in both", bad="order: integer, then opaque",
)  # fmt: skip

POSITION_RISE: Final = CompatibilityRule(
    id="C333", name="position-monotonic", severity=NOTE,
    says="Positions increase differently within a partition. This is checked over a stream and never rejects a "
    "message.",
    action="Look at the `order` findings of the next audit.",
    good="monotonic: strict in both", bad="monotonic: strict, then non-strict",
)  # fmt: skip


_NAMES: Final = frozenset({"tenant", "database", "schema", "table"})
_FIELDS: Final[Mapping[str, frozenset[str]]] = MappingProxyType({
    "database": _NAMES, "schema": _NAMES, "table": _NAMES, "database_table": _NAMES,
    "event_time": frozenset({"event_time", "event_time_text"}),
    "position": frozenset({"position", "pair_id"}), "transaction": frozenset({"transaction", "pair_id"}),
})  # fmt: skip
_STREAM_READINGS: Final = ("order", "monotonic")


def list_facts(section: Mapping[str, Any]) -> Iterator[tuple[Key, ContractFact]]:
    """Yield each place of the envelope, that of the op apart from its flags."""
    for name, place in section.items():
        if name == "op":
            yield (name, "at"), ContractFact(place["at"], place["at"])
            if "flags" in place:
                yield (name, "flags"), ContractFact(place["flags"], _describe_flags(place["flags"]))
        else:
            yield (name,), ContractFact(place, describe_place_words(place))


def _describe_flags(flags: Iterable[Mapping[str, Any]]) -> str:
    return "; ".join(f"{describe_flag(flag)}: {flag['means']}" for flag in flags)


def rule_of(key: Key, old: ContractFact | None, new: ContractFact | None) -> CompatibilityRule:
    """Return whether the op is concerned, or how a place of the envelope differs."""
    if key[1] == "op":
        return OP_FLAG if key[2] == "flags" else OP_PLACE
    return _rule_of_place(old.value if old else {}, new.value if new else {})


def _rule_of_place(old: Mapping[str, Any], new: Mapping[str, Any]) -> CompatibilityRule:
    """Return whether a fact of the envelope moved, is read differently, or is only ordered differently."""
    differs = {name for name in (*old, *new) if old.get(name) != new.get(name)}
    if not differs - {"monotonic"}:
        return POSITION_RISE
    if not differs - set(_STREAM_READINGS):
        return POSITION_ORDER
    return FACT_PLACE if not old or not new or differs & {"at", "from"} else FACT_READING


def ask(difference: FactDifference, versions: Versions) -> Question:
    """Ask for messages with rows, and what is decoded from the place."""
    name, values = difference.key[1], values_of(difference)
    if name == "op":
        flags = [flag for value in values if difference.key[2] == "flags" for flag in value]
        places = tuple(dict.fromkeys([at for flag in flags for at in _places_of(flag)] or values))
        ops = tuple(dict.fromkeys(op for flag in flags for op in (flag["means"], *flag.get("of", ()))))
        codes = tuple((flag["at"], flag["is"]) for flag in flags if "at" in flag)
        return Question((*ops, *ROWS), places, codes, frozenset({"D08.op"}), places, ANY)
    places = parts_of(values)
    return Question(ROWS, places, members=places, fields=_FIELDS.get(name, frozenset({name})))


def _places_of(flag: Mapping[str, Any]) -> tuple[str, ...]:
    return (flag["at"],) if "at" in flag else pointers_of(map(Test.model_validate, flag["when"]))


SECTION = ContractSection(name="envelope", listed_at=7, list_facts=list_facts, rule_of=rule_of, ask=ask)
