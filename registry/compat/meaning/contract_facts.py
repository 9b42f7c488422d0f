"""Contract facts: what a contract says, fact by fact: each a key of the contract, its value, and the value in words.

Every section of a contract is either compared here (or in `values`), or named as prose. A test holds that against the
model, so that a section that is added cannot be forgotten.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from cdc_contracts.registry.contract.catalogue import AVRO_ENVELOPE
from cdc_contracts.registry.contract.phrases import (
    describe_evidence,
    describe_place,
    describe_side,
    describe_test,
    describe_types,
)

if TYPE_CHECKING:
    from cdc_contracts.registry.contract.catalogue import Version

Key = tuple[str, ...]
_STREAM_READINGS: Final = ("order", "rises")


@dataclass(frozen=True, slots=True)
class ContractFact:
    """One thing that a contract says: its value as plain data, and in words."""

    value: Any
    words: str


@dataclass(frozen=True, slots=True)
class FactDifference:
    """One fact that two contracts say differently: the rule that is concerned, and both sides; None where absent."""

    rule: str
    key: Key
    old: ContractFact | None
    new: ContractFact | None

    @property
    def path(self) -> str:
        """The keys of the contract that lead there, as a JSON Pointer."""
        from cdc_contracts.registry.common.pointers import join_pointer

        return join_pointer(*self.key)


Facts = dict[Key, ContractFact]


def facts_of(version: Version) -> Facts:
    """Return everything that a contract says but its prose and its value forms.

    Raises ContractError where it does not hold together.
    """
    document = version.meaning.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    facts: Facts = {}
    for section, tell in SECTIONS.items():
        if section in document:
            for key, fact in tell(document[section]):
                facts[section, *key] = fact
    if version.meaning.avro is not None:
        facts["avro",] = _with_schemas(version, facts["avro",])
    return facts


def differences_of(old: Facts, new: Facts) -> Iterator[FactDifference]:
    """Yield every fact that differs, in the order of the sections, with the rule that is concerned."""
    for section in SECTIONS:
        for key in dict.fromkeys([*old, *new]):
            here, there = old.get(key), new.get(key)
            if key[0] == section and (here is None or there is None or here.value != there.value):
                yield FactDifference(_rule_of(key, here, there), key, here, there)


def _with_schemas(version: Version, fact: ContractFact) -> ContractFact:
    """Return the fact of the Avro wire with the reader schemas that are files beside `envelope.avsc`."""
    schemas = {}
    for name in fact.value["schemas"]:
        file = version.file(name)
        if name != AVRO_ENVELOPE and file is not None:
            schemas[name] = json.loads(file.read_text(encoding="utf-8"))
    return ContractFact({**fact.value, "documents": schemas}, fact.words)


# --- sections


def _describe_whole(value: Any) -> Iterator[tuple[Key, ContractFact]]:
    yield (), ContractFact(value, _text(value))


def _describe_members(section: Mapping[str, Any]) -> Iterator[tuple[Key, ContractFact]]:
    for name, value in section.items():
        yield (name,), ContractFact(value, _text(value))


def _describe_names(section: list[str]) -> Iterator[tuple[Key, ContractFact]]:
    for name in section:
        yield (name,), ContractFact(name, name)


def _describe_envelope(section: Mapping[str, Any]) -> Iterator[tuple[Key, ContractFact]]:
    for name, place in section.items():
        if name == "op":
            yield (name, "at"), ContractFact(place["at"], place["at"])
            if "flags" in place:
                yield (name, "flags"), ContractFact(place["flags"], "; ".join(map(_describe_flag, place["flags"])))
        else:
            yield (name,), ContractFact(place, _describe_place(place))


def _describe_flag(flag: Mapping[str, Any]) -> str:
    of = f" of {', '.join(flag['of'])}" if "of" in flag else ""
    return f"{flag['at']} is {_text(flag['is'])}{of}: {flag['means']}"


def _describe_place(place: Mapping[str, Any]) -> str:
    said = [place.get("at", ""), describe_place(place)]
    said += [f"{name} {place[name]}" for name in ("member", "index", "size") if name in place]
    return ", ".join(part for part in said if part)


def _describe_images(section: Mapping[str, Any]) -> Iterator[tuple[Key, ContractFact]]:
    for name, value in section.items():
        if name == "container":
            yield (name,), ContractFact(value, value)
        else:
            yield (name,), ContractFact(value, "; ".join(f"{side}: {describe_side(at)}" for side, at in value.items()))


def _describe_halves(section: Mapping[str, Any]) -> Iterator[tuple[Key, ContractFact]]:
    yield (), ContractFact(section, f"joined by {', '.join(section['pair_by'])}")


def _describe_ddl(section: Mapping[str, Any]) -> Iterator[tuple[Key, ContractFact]]:
    for name, place in section.items():
        yield (name,), ContractFact(place, _describe_place(place))


def _describe_columns(section: Mapping[str, Any]) -> Iterator[tuple[Key, ContractFact]]:
    for name, value in section.items():
        if name == "types" and value != "none":
            more = [f"{part}: {_text(value[part])}" for part in ("as", "name", "type", "table") if part in value]
            yield (name,), ContractFact(value, ", ".join([describe_types(section), *more]))
        else:
            yield (name,), ContractFact(value, describe_types(section) if name == "types" else _text(value))


def _describe_codes(section: Mapping[str, Any]) -> Iterator[tuple[Key, ContractFact]]:
    for pointer, codes in section.items():
        yield (pointer,), ContractFact(sorted(codes), "one of " + ", ".join(codes))


def _describe_tests(section: list[Mapping[str, Any]]) -> Iterator[tuple[Key, ContractFact]]:
    for test in section:
        yield (describe_test(test),), ContractFact(test, describe_test(test))


def _describe_evidence(section: list[Mapping[str, Any]]) -> Iterator[tuple[Key, ContractFact]]:
    for entry in section:
        yield (describe_evidence(entry),), ContractFact(entry, describe_evidence(entry))


PROSE: Final = frozenset({"contract", "title", "applies", "status", "provenance"})
"""Sections that no reader reads a message by."""
VALUES: Final = "values"
"""The section that `values` compares."""
SECTIONS: Final[Mapping[str, Callable[[Any], Iterator[tuple[Key, ContractFact]]]]] = MappingProxyType(
    {
        "transport": _describe_whole,
        "avro": _describe_whole,
        "ops": _describe_members,
        "tolerated_ops": _describe_names,
        "images": _describe_images,
        "halves": _describe_halves,
        "envelope": _describe_envelope,
        "ddl": _describe_ddl,
        "columns": _describe_columns,
        "rules": _describe_names,
        "notes": _describe_names,
        "enums": _describe_codes,
        "patterns": _describe_members,
        "parameters": _describe_names,
        "undocumented": _describe_names,
        "discriminators": _describe_tests,
        "claim": _describe_whole,
        "not_separable_from": _describe_names,
        "version_evidence": _describe_evidence,
        "full_load": _describe_whole,
    }
)
"""What is compared, in the order in which it is told."""

_RULES: Final[Mapping[str, str]] = MappingProxyType({
    "transport": "transport", "avro": "avro-wire", "tolerated_ops": "op-tolerated", "halves": "halves",
    "ddl": "ddl-place", "notes": "note-changed", "enums": "member-codes", "patterns": "member-pattern",
    "parameters": "parameter", "discriminators": "recognition", "claim": "recognition",
    "not_separable_from": "recognition", "version_evidence": "recognition", "full_load": "full-load",
})  # fmt: skip
_COLUMNS: Final = MappingProxyType({"types": "column-types-place", "codes": "column-codes", "hints": "column-hints"})


def _rule_of(key: Key, old: ContractFact | None, new: ContractFact | None) -> str:
    """Return the name of the rule that a difference falls under."""
    section = key[0]
    if section in _RULES:
        return _RULES[section]
    change = "added" if old is None else "removed" if new is None else "changed"
    match section:
        case "ops":
            return "op-code-meaning" if change == "changed" else f"op-code-{change}"
        case "rules":
            return f"rule-{change}"
        case "images":
            return "image-container" if key[1] == "container" else "image-place"
        case "columns":
            return _COLUMNS[key[1]]
        case "undocumented":
            return "undocumented-form" if key[1].startswith("value-forms") else "undocumented"
    if key[1] == "op":
        return "op-flag" if key[2] == "flags" else "op-place"
    return _rule_of_place(old.value if old else {}, new.value if new else {})


def _rule_of_place(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """Return whether a fact of the envelope moved, is read differently, or is only ordered differently."""
    differs = {name for name in (*old, *new) if old.get(name) != new.get(name)}
    if not differs - {"rises"}:
        return "position-rise"
    if not differs - set(_STREAM_READINGS):
        return "position-order"
    return "fact-place" if not old or not new or differs & {"at", "from"} else "fact-reading"


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_text(below)}" for key, below in value.items())
    return str(value).lower() if isinstance(value, bool) else str(value)
