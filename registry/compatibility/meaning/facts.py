"""What a contract says, fact by fact: each a key of the contract, its value, and the value in words.

Every section of a contract is either compared here (or in `values`), or named as prose. A test holds that against the
model, so that a section that is added cannot be forgotten.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from cdc_contracts.registry.catalogue import AVRO_ENVELOPE
from cdc_contracts.registry.phrases import tell_evidence, tell_place, tell_side, tell_test, tell_types

if TYPE_CHECKING:
    from cdc_contracts.registry.catalogue import Version

Key = tuple[str, ...]
_STREAM_READINGS: Final = ("order", "rises")


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that a contract says: its value as plain data, and in words."""

    value: Any
    words: str


@dataclass(frozen=True, slots=True)
class Difference:
    """One fact that two contracts say differently: the rule that is concerned, and both sides; None where absent."""

    rule: str
    key: Key
    old: Fact | None
    new: Fact | None

    @property
    def path(self) -> str:
        """The keys of the contract that lead there, as a JSON Pointer."""
        from cdc_contracts.registry.pointers import join_pointer

        return join_pointer(*self.key)


Facts = dict[Key, Fact]


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


def differences_of(old: Facts, new: Facts) -> Iterator[Difference]:
    """Yield every fact that differs, in the order of the sections, with the rule that is concerned."""
    for section in SECTIONS:
        for key in dict.fromkeys([*old, *new]):
            here, there = old.get(key), new.get(key)
            if key[0] == section and (here is None or there is None or here.value != there.value):
                yield Difference(_rule_of(key, here, there), key, here, there)


def _with_schemas(version: Version, fact: Fact) -> Fact:
    """Return the fact of the Avro wire with the reader schemas that are files beside `envelope.avsc`."""
    schemas = {}
    for name in fact.value["schemas"]:
        file = version.file(name)
        if name != AVRO_ENVELOPE and file is not None:
            schemas[name] = json.loads(file.read_text(encoding="utf-8"))
    return Fact({**fact.value, "documents": schemas}, fact.words)


# --- sections


def _tell_whole(value: Any) -> Iterator[tuple[Key, Fact]]:
    yield (), Fact(value, _text(value))


def _tell_members(section: Mapping[str, Any]) -> Iterator[tuple[Key, Fact]]:
    for name, value in section.items():
        yield (name,), Fact(value, _text(value))


def _tell_names(section: list[str]) -> Iterator[tuple[Key, Fact]]:
    for name in section:
        yield (name,), Fact(name, name)


def _tell_envelope(section: Mapping[str, Any]) -> Iterator[tuple[Key, Fact]]:
    for name, place in section.items():
        if name == "op":
            yield (name, "at"), Fact(place["at"], place["at"])
            if "flags" in place:
                yield (name, "flags"), Fact(place["flags"], "; ".join(map(_tell_flag, place["flags"])))
        else:
            yield (name,), Fact(place, _tell_place(place))


def _tell_flag(flag: Mapping[str, Any]) -> str:
    of = f" of {', '.join(flag['of'])}" if "of" in flag else ""
    return f"{flag['at']} is {_text(flag['is'])}{of}: {flag['means']}"


def _tell_place(place: Mapping[str, Any]) -> str:
    said = [place.get("at", ""), tell_place(place)]
    said += [f"{name} {place[name]}" for name in ("member", "index", "size") if name in place]
    return ", ".join(part for part in said if part)


def _tell_images(section: Mapping[str, Any]) -> Iterator[tuple[Key, Fact]]:
    for name, value in section.items():
        if name == "container":
            yield (name,), Fact(value, value)
        else:
            yield (name,), Fact(value, "; ".join(f"{side}: {tell_side(at)}" for side, at in value.items()))


def _tell_halves(section: Mapping[str, Any]) -> Iterator[tuple[Key, Fact]]:
    yield (), Fact(section, f"joined by {', '.join(section['pair_by'])}")


def _tell_ddl(section: Mapping[str, Any]) -> Iterator[tuple[Key, Fact]]:
    for name, place in section.items():
        yield (name,), Fact(place, _tell_place(place))


def _tell_columns(section: Mapping[str, Any]) -> Iterator[tuple[Key, Fact]]:
    for name, value in section.items():
        if name == "types" and value != "none":
            more = [f"{part}: {_text(value[part])}" for part in ("as", "name", "type", "table") if part in value]
            yield (name,), Fact(value, ", ".join([tell_types(section), *more]))
        else:
            yield (name,), Fact(value, tell_types(section) if name == "types" else _text(value))


def _tell_codes(section: Mapping[str, Any]) -> Iterator[tuple[Key, Fact]]:
    for pointer, codes in section.items():
        yield (pointer,), Fact(sorted(codes), "one of " + ", ".join(codes))


def _tell_tests(section: list[Mapping[str, Any]]) -> Iterator[tuple[Key, Fact]]:
    for test in section:
        yield (tell_test(test),), Fact(test, tell_test(test))


def _tell_evidence(section: list[Mapping[str, Any]]) -> Iterator[tuple[Key, Fact]]:
    for entry in section:
        yield (tell_evidence(entry),), Fact(entry, tell_evidence(entry))


PROSE: Final = frozenset({"contract", "title", "applies", "status", "provenance"})
"""Sections that no reader reads a message by."""
VALUES: Final = "values"
"""The section that `values` compares."""
SECTIONS: Final[Mapping[str, Callable[[Any], Iterator[tuple[Key, Fact]]]]] = MappingProxyType(
    {
        "transport": _tell_whole,
        "avro": _tell_whole,
        "ops": _tell_members,
        "tolerated_ops": _tell_names,
        "images": _tell_images,
        "halves": _tell_halves,
        "envelope": _tell_envelope,
        "ddl": _tell_ddl,
        "columns": _tell_columns,
        "rules": _tell_names,
        "notes": _tell_names,
        "enums": _tell_codes,
        "patterns": _tell_members,
        "parameters": _tell_names,
        "undocumented": _tell_names,
        "discriminators": _tell_tests,
        "claim": _tell_whole,
        "not_separable_from": _tell_names,
        "version_evidence": _tell_evidence,
        "full_load": _tell_whole,
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


def _rule_of(key: Key, old: Fact | None, new: Fact | None) -> str:
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
    """Return whether a fact of the envelope moved, is read otherwise, or is only ordered otherwise."""
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
