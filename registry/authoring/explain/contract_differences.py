"""Contract differences: the differences of two contracts in terms of contracts, not of files.

Both resolved contracts are flattened into named facts and compared by deepdiff. Prose (titles, descriptions, sources)
is separated from meaning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from cdc_contracts.registry.core.common.pointers import join_pointer
from cdc_contracts.registry.core.contract.catalogue import CANONICAL
from cdc_contracts.registry.core.contract.column_model import invalid_literals, keeps_invalid
from cdc_contracts.registry.core.contract.image_model import HOW_WRITTEN
from cdc_contracts.registry.core.contract.phrases import (
    describe_absent,
    describe_evidence,
    describe_flag,
    describe_mapping,
    describe_place,
    describe_side,
    describe_test,
    describe_types,
    split_condition,
    text_of,
)

if TYPE_CHECKING:
    from cdc_contracts.registry.core.contract.catalogue import Version

GROUPS: Final = (
    "applies", "envelope", "ops", "images", "columns", "value forms", "rules", "discriminators", "evidence",
    "undocumented", "other", "schema", "avro", "prose",
)  # fmt: skip
PROSE: Final = "prose"
PRESENT: Final = "yes"
"""The value of a fact that is only present or absent."""
_BOUNDS: Final = ("enum", "const", "pattern", "minimum", "minItems", "maxItems", "$ref")
_DESCRIBED_APART: Final = frozenset({
    "contract", "applies", "status", "transport", "provenance", "envelope", "ops", "tolerated_ops", "images", "ddl",
    "columns", "values", "rules", "notes", "discriminators", "version_evidence", "undocumented",
})  # fmt: skip
_APPLIES: Final = ("since", "until", "counted_from", "zone", "status", "transport")
_Facts = dict[str, dict[str, str]]


@dataclass(frozen=True, slots=True)
class ContractDifference:
    """One fact that differs; `left` or `right` is None if that contract does not have it."""

    group: str
    what: str
    left: str | None
    right: str | None


@dataclass(frozen=True, slots=True)
class ContractDifferences:
    """The differences between two contracts: in meaning, and in prose."""

    left: str
    right: str
    meaning: tuple[ContractDifference, ...]
    prose: tuple[ContractDifference, ...]


def compare(left: Version, right: Version) -> ContractDifferences:
    """Return all differences between two contracts, by group and name.

    Raises ContractError if one of them is inconsistent.
    """
    from deepdiff import DeepDiff

    facts = (_facts(left), _facts(right))
    # Without the threshold, a group of which most facts differ would be reported as one.
    changes = DeepDiff(*facts, view="tree", threshold_to_diff_deeper=0)
    found: dict[tuple[str, str], None] = {}
    for entries in changes.values():
        for entry in entries:
            path = entry.path(output_format="list")
            group = str(path[0])
            for what in path[1:2] or {**facts[0].get(group, {}), **facts[1].get(group, {})}:
                found[group, str(what)] = None
    result = []
    for group in GROUPS:
        here, there = facts[0].get(group, {}), facts[1].get(group, {})
        names = [name for name in dict.fromkeys([*here, *there]) if (group, name) in found]
        result += [ContractDifference(group, name, here.get(name), there.get(name)) for name in names]
    return ContractDifferences(
        left=left.reference,
        right=right.reference,
        meaning=tuple(one for one in result if one.group != PROSE),
        prose=tuple(one for one in result if one.group == PROSE),
    )


def _facts(version: Version) -> _Facts:
    """Return all facts of a contract as texts by group and name."""
    schema, meaning = version.written_schema, version.resolved
    result = {**meaning.get("applies", {}), **meaning}
    facts: _Facts = {
        "schema": dict(_schema_facts(schema)),
        "avro": dict(_avro_facts(version.avro_schema, ())),
        PROSE: {**dict(_prose(schema, ())), **_plain(meaning.get("provenance", {}), "source ")},
        "applies": _plain({name: result[name] for name in _APPLIES if name in result}),
    }
    if version.subject == CANONICAL:
        return facts
    _ = version.meaning  # a contract with unknown words cannot be described
    return facts | {
        "envelope": dict(_envelope_facts(meaning)),
        "ops": dict(_op_facts(meaning)),
        "images": dict(_image_facts(meaning)),
        "columns": {
            "types": describe_types(meaning["columns"]),
            **_plain(meaning["columns"].get("codes", {}), "codes "),
        },
        "value forms": dict(_form_facts(version)),
        "rules": dict.fromkeys(meaning["rules"], PRESENT) | dict.fromkeys(meaning.get("notes", ()), "as a note"),
        "discriminators": {describe_test(test): PRESENT for test in meaning["discriminators"]},
        "evidence": {describe_evidence(entry): PRESENT for entry in meaning.get("version_evidence", ())},
        "undocumented": dict.fromkeys(meaning.get("undocumented", ()), PRESENT),
        "other": {key: text_of(value) for key, value in meaning.items() if key not in _DESCRIBED_APART},
    }


def _envelope_facts(meaning: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for section, prefix in (("envelope", ""), ("ddl", "DDL ")):
        for name, place in meaning.get(section, {}).items():
            result = [place.get("at") or place.get("from", ""), describe_place(place)]
            yield prefix + name.replace("_", " "), ", ".join(part for part in result if part)


def _op_facts(meaning: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield from meaning["ops"].items()
    for code in meaning.get("tolerated_ops", ()):
        yield code, "accepted, with a note"
    for flag in meaning["envelope"]["op"].get("flags", []):
        yield describe_flag(flag), flag["means"]


def _image_facts(meaning: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for op, sides in meaning["images"].items():
        if op in HOW_WRITTEN:
            yield op, sides
            continue
        if op == "absent":
            yield from describe_absent(sides)
            continue
        for side, place in sides.items():
            yield f"{op}, {side}", describe_side(place)


def _form_facts(version: Version) -> Iterator[tuple[str, str]]:
    """Yield the value form of every source type, and how nonexistent times are handled."""
    choice = version.resolved["values"]["mapping"]
    names = version.mapping_names()
    if isinstance(choice, Mapping):
        yield "mapping", describe_mapping(version.resolved["values"])
    for index, name in enumerate(names):
        document = version.catalogue.mapping(name).document
        prefix = f"{name}: " if index else ""
        types = [(one, form) for form, listed in document.forms.items() for one in listed]
        types += [("any other type", document.default)] if document.default else []
        types += [(f"{kind} without a type", form) for kind, form in document.untyped.items()]
        types += [(f"Avro {kind}", form) for kind, form in document.images.items()]
        for one, form in types:
            invalid = document.invalid.get(form)
            yield f"{prefix}{one}", form
            if invalid is not None:
                kept = [f"written {' or '.join(literals)}"] if (literals := invalid_literals(invalid)) else []
                kept += ["as sent"] if keeps_invalid(invalid) else []
                yield f"{prefix}{one} that does not exist", ", ".join(kept)
            for value, meant in document.substitutes.get(form, {}).items():
                yield f"{prefix}{one}, {value}", f"sent for {meant} as well"
            if form in document.no_trailing_zeros:
                yield f"{prefix}{one}, trailing zeros", "left out"
        for alias, one in document.aliases.items():
            yield f"{prefix}{alias} (alias)", one
        yield f"{prefix}names", ", ".join(document.names)


def _schema_facts(schema: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield from _shape_facts(schema, ())
    for name, shape in schema.get("$defs", {}).items():
        yield from _shape_facts(shape, ("$defs", name))
    branches: dict[str, list[str]] = {}
    for branch in schema.get("allOf", []):
        then = branch.get("then", {})
        for condition in split_condition(branch.get("if", {})):
            for name, shape in then.get("properties", {}).items():
                branches.setdefault(f"{condition}: /{name}", []).append(_shape(shape))
            for name in then.get("required", []):
                branches.setdefault(f"{condition}: /{name}", []).append("required")
    for condition, result in branches.items():
        yield condition, ", ".join(result)


def _shape_facts(schema: Any, parts: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    if not isinstance(schema, Mapping):
        return
    required = schema.get("required", [])
    yield f"{join_pointer(*parts) or 'message'}", _shape(schema)
    for name, below in schema.get("properties", {}).items():
        here = (*parts, name)
        yield from _shape_facts(below, here)
        yield f"{join_pointer(*here)} required", "always" if name in required else "not always"
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), Mapping):
            yield from _shape_facts(schema[key], (*parts, "0" if key == "items" else "*"))


def _shape(schema: Mapping[str, Any]) -> str:
    """Return one schema in words, without its subschemas."""
    kinds = schema.get("type", [])
    result = [" or ".join([kinds] if isinstance(kinds, str) else kinds)]
    result += [f"{key} {text_of(schema[key])}" for key in _BOUNDS if key in schema]
    if schema.get("additionalProperties") is False:
        result.append("no other members")
    return ", ".join(part for part in result if part) or "anything"


def _avro_facts(schema: Any, parts: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield the type of every field; the name of the record comes from the subject and is not a fact."""
    if isinstance(schema, list):
        for branch in schema:
            yield from _avro_facts(branch, parts)
    elif isinstance(schema, Mapping):
        kind = schema.get("type")
        if kind == "record":
            for field in schema["fields"]:
                here = (*parts, field["name"])
                yield join_pointer(*here), _avro_type(field["type"])
                yield from _avro_facts(field["type"], here)
        elif kind == "array":
            yield from _avro_facts(schema["items"], (*parts, "0"))
        elif kind == "map":
            yield from _avro_facts(schema["values"], (*parts, "*"))


def _avro_type(schema: Any) -> str:
    if isinstance(schema, list):
        return " or ".join(_avro_type(branch) for branch in schema)
    if not isinstance(schema, Mapping):
        return str(schema)
    match schema["type"]:
        case "array":
            return f"array of ({_avro_type(schema['items'])})"
        case "map":
            return f"map of ({_avro_type(schema['values'])})"
        case "record" | "enum" | "fixed":
            return str(schema["name"])
        case kind:
            return str(schema.get("logicalType", kind))


def _prose(schema: Any, parts: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield titles and descriptions, and the id."""
    if not isinstance(schema, Mapping):
        return
    for key in ("$id", "title", "description"):
        if isinstance(schema.get(key), str):
            yield f"{join_pointer(*parts) or 'message'} {key.removeprefix('$')}", schema[key]
    for name, below in schema.get("properties", {}).items():
        yield from _prose(below, (*parts, name))
    for name, below in schema.get("$defs", {}).items():
        yield from _prose(below, ("$defs", name))


def _plain(section: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    return {prefix + key.replace("_", " "): text_of(value) for key, value in section.items()}
