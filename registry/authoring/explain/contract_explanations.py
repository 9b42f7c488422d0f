"""Contract explanations: everything that a reader without the vendor's documentation needs, as plain values."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cdc_contracts.registry.core.common.pointers import follow, join_pointer, split_pointer
from cdc_contracts.registry.core.contract.catalogue import CANONICAL, Version, span
from cdc_contracts.registry.core.contract.column_model import invalid_literals, keeps_invalid
from cdc_contracts.registry.core.contract.errata import Erratum, read_errata
from cdc_contracts.registry.core.contract.phrases import (
    COUNTED_FROM,
    FULL_LOAD,
    PARAMETERS,
    UNDOCUMENTED,
    describe_conditions,
    describe_evidence,
    describe_flag,
    describe_mapping,
    describe_name,
    describe_place,
    describe_side,
    describe_test,
    describe_types,
)
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.source_documents import describe_source
from cdc_contracts.registry.core.contract.type_families import protocol_names
from cdc_contracts.registry.core.message.reading import Reading
from cdc_contracts.registry.core.schema.message_schemas.message_examples import example_messages
from cdc_contracts.registry.core.schema.message_schemas.message_json_schema import title_of
from cdc_contracts.registry.core.validate.capabilities import capabilities_of, describe_lacks


@dataclass(frozen=True, slots=True)
class Member:
    """One member of a message: its pointer, its JSON types, when it is required, and its meaning."""

    at: str
    kinds: str
    required: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Operation:
    """One op code: its meaning, and where its images are."""

    code: str
    op: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class FormLine:
    """One value form: its source types, and its description."""

    mapping: str
    form: str
    types: tuple[str, ...]
    says: str
    invalid: str


@dataclass(frozen=True, slots=True)
class OpExample:
    """One whole message of a canonical op, as JSON."""

    op: str
    message: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """A contract in words. `facts` are pairs of title and text, `others` the other versions of the subject."""

    reference: str
    title: str
    description: str
    facts: tuple[tuple[str, str], ...]
    others: tuple[tuple[str, str], ...]
    members: tuple[Member, ...]
    operations: tuple[Operation, ...]
    places: tuple[tuple[str, str, str], ...]
    forms: tuple[FormLine, ...]
    rules: tuple[tuple[str, str], ...]
    parameters: tuple[tuple[str, str], ...]
    losses: tuple[tuple[str, str], ...]
    errata: tuple[Erratum, ...]
    examples: tuple[OpExample, ...]


def explain(version: Version) -> Explanation:
    """Return a contract in words. Raises ContractError if it is inconsistent."""
    canonical = version.subject == CANONICAL
    meaning, schema = version.resolved, version.written_schema
    if not canonical:
        _ = version.meaning  # an unknown key or reading is reported before anything is printed
    cited = meaning.get("provenance", {}).get("errata", [])
    known = read_errata(version.catalogue) if cited else {}
    return Explanation(
        reference=version.reference,
        title=title_of(version),
        description=schema.get("description", ""),
        facts=tuple(_facts(version)),
        others=tuple((other.reference, span(other)) for other in _others(version)) if not canonical else (),
        members=tuple(describe_members(schema)),
        operations=() if canonical else tuple(_operations(meaning)),
        places=() if canonical else tuple(_places(meaning)),
        forms=() if canonical else tuple(_forms(version)),
        rules=() if canonical else tuple(_rules(meaning)),
        parameters=(
            *((name, PARAMETERS[name]) for name in meaning.get("parameters", ())),
            *((name, describe_name(what)) for name, what in meaning.get("names", {}).items()),
        ),
        losses=tuple(meaning.get("losses", {}).items()),
        errata=tuple(known[one] for one in cited if one in known),
        examples=() if canonical else tuple(_examples(version)),
    )


def _examples(version: Version) -> Iterator[OpExample]:
    """Yield one whole message for each op that can be generated from the contract."""
    seen = set()
    for message in example_messages(version):
        reading = Reading(version.meaning, message, ReadingOptions())
        if reading.op is not None and (reading.code, reading.op) not in seen:
            seen.add((reading.code, reading.op))
            yield OpExample(reading.op, json.dumps(message, ensure_ascii=False))


def _others(version: Version) -> list[Version]:
    return [other for other in version.catalogue.versions(version.subject) if other.number != version.number]


def _facts(version: Version) -> Iterator[tuple[str, str]]:
    meaning = version.resolved
    yield "Status", meaning["status"]
    applies = meaning.get("applies")
    if applies:
        counted = COUNTED_FROM.get(applies["counted_from"], applies["counted_from"])
        zone = f", in zone {applies['zone']}" if "zone" in applies else ""
        yield "Applies", f"{span(version)}{zone}; what counts is {counted}"
    if "transport" in meaning:
        yield "Sent as", meaning["transport"]
    if version.base:
        yield "Based on", version.base.reference
    retrieved = meaning["provenance"].get("retrieved")
    yield "Source", f"{version.source}, retrieved {retrieved}" if retrieved else str(version.source)
    for kind in meaning["provenance"].get("by_kind", {}):
        documents = version.catalogue.source_documents
        yield f"Source for {kind}", str(describe_source(meaning["provenance"], documents, [kind]))
    document = version.catalogue.source_documents.get(meaning["provenance"]["document"])
    if document is not None:
        parts = [document.vendor, document.number and f"number {document.number}",
                 document.edition and f"edition {document.edition}", document.note]  # fmt: skip
        yield "Document", ", ".join(part for part in parts if part)
    if "columns" in meaning:
        yield "Column types", describe_types(meaning["columns"])
        yield "Value mapping", describe_mapping(meaning["values"])
        yield "Full load", FULL_LOAD.get(meaning["full_load"], meaning["full_load"])
        lacks = ", ".join(describe_lacks(capabilities_of(version)))
        yield "Cannot express", lacks or "nothing that other dialects can"
        yield "Recognised by", "; ".join(map(describe_test, meaning["discriminators"]))
    yield from _confusions(meaning)
    if meaning.get("undocumented"):
        yield "Undocumented", "; ".join(UNDOCUMENTED.get(one, one) for one in meaning["undocumented"])


def _confusions(meaning: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what tells messages of a version from others, and those that do not differ or stand among them."""
    if meaning.get("version_evidence"):
        yield "Version evidence", "; ".join(map(describe_evidence, meaning["version_evidence"]))
    if meaning.get("not_separable_from"):
        yield "Indistinguishable from", ", ".join(meaning["not_separable_from"])
    if meaning.get("control_of"):
        yield "Messages without rows", f"those of {', '.join(meaning['control_of'])} may stand among them"


def describe_members(schema: Mapping[str, Any]) -> Iterator[Member]:
    """Yield every member of a schema, in order."""
    branches: dict[tuple[str, ...], list[Any]] = {}
    for branch in schema.get("allOf", []):
        for path in _required_below(branch.get("then", {}), ()):
            branches.setdefault(path, []).append(branch.get("if", {}))
    yield from _members_below(schema, schema, (), {path: describe_conditions(ifs) for path, ifs in branches.items()})


def _required_below(schema: Mapping[str, Any], parts: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the paths of the members that a branch requires, including those inside its objects."""
    for name in schema.get("required", []):
        yield (*parts, name)
    for name, below in schema.get("properties", {}).items():
        yield from _required_below(below, (*parts, name))


def _members_below(
    whole: Mapping[str, Any],
    schema: Mapping[str, Any],
    parts: tuple[str, ...],
    conditions: Mapping[tuple[str, ...], str],
    above: tuple[Mapping[str, Any], ...] = (),
) -> Iterator[Member]:
    """Yield the members of an object and those inside them; a schema that holds itself is described once on a path."""
    for name, below in schema.get("properties", {}).items():
        shape = _follow(whole, below)
        here = (*parts, name)
        required = "always" if name in schema.get("required", []) else conditions.get(here, "no")
        yield Member(join_pointer(*here), _describe_kinds(whole, shape), required, shape.get("description", ""))
        if not any(one is shape for one in above):
            yield from _members_below(whole, shape, here, conditions, (*above, shape))


def _describe_kinds(whole: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    kinds = schema.get("type", [])
    result = [kinds] if isinstance(kinds, str) else list(kinds)
    words = {"array": "list", "string": "text"}
    if "array" in result and "items" in schema:
        items = _follow(whole, schema["items"])
        words["array"] = f"list of {_describe_kinds(whole, items)}"
    return " or ".join(words.get(kind, kind) for kind in result) or "any"


def _operations(meaning: Mapping[str, Any]) -> Iterator[Operation]:
    for code, op in meaning["ops"].items():
        yield _operation(meaning, code, op)
    for flag in meaning["envelope"]["op"].get("flags", []):
        yield _operation(meaning, f"any, if {describe_flag(flag)}", flag["means"])
    place = meaning["envelope"]["op"]
    if "null_value" in place:
        always = "null_means" in place
        yield _operation(meaning, "a null value" if always else "a null value, with null_values=deletion", "delete")
    for code in meaning.get("tolerated_ops", ()):
        yield Operation(code, "accepted, with a note", "", "")


def _operation(meaning: Mapping[str, Any], code: str, op: str) -> Operation:
    sides = meaning["images"].get(op, {})
    result = {side: describe_side(sides[side]) if side in sides else "" for side in ("before", "after")}
    return Operation(code, op, result["before"], result["after"])


def _places(meaning: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    for name, place in meaning["envelope"].items():
        yield name.replace("_", " "), place.get("at", ""), describe_place(place)
    for name, place in meaning.get("ddl", {}).items():
        yield f"DDL {name}", place.get("at", ""), describe_place(place)
    columns = meaning["columns"]
    if isinstance(columns["types"], Mapping):
        yield "column types", columns["types"].get("at", ""), ""
    if "codes" in columns:
        checked = "" if columns["codes"]["table"] == "any" else f" against {columns['codes']['table']}"
        yield "column type codes", columns["codes"]["at"], f"checked{checked}, never used to decode"


def _forms(version: Version) -> Iterator[FormLine]:
    from cdc_contracts.registry.core.values import FORMS

    names = version.mapping_names()
    for name in names:
        mapping = version.catalogue.mapping(name).document
        shown = name if len(names) > 1 else ""
        lines = [(form, types) for form, types in mapping.forms.items()]
        lines += [(form, (f"{kind} without a type",)) for kind, form in mapping.untyped.items()]
        lines += [(mapping.default, ("any other type",))] if mapping.default else []
        for form, types in lines:
            says = FORMS[form].says if form in FORMS else ""
            result = tuple(map(_describe_code, types)) if "code" in mapping.names else tuple(types)
            remarks = [_describe_invalid(mapping.invalid.get(form))]
            remarks += [f"{value} also for {meant}" for value, meant in mapping.substitutes.get(form, {}).items()]
            remarks += ["no trailing zeros in fractions"] if form in mapping.no_trailing_zeros else []
            yield FormLine(shown, form, result, says, "; ".join(filter(None, remarks)))


def _describe_code(code: str) -> str:
    """Return a type code with the types it stands for."""
    names = protocol_names(code)
    return f"{code} ({', '.join(names)})" if names else code


def _describe_invalid(entry: str | Mapping[Any, Any] | None) -> str:
    if entry is None:
        return ""
    literals = [f'"{literal}" stands for a nonexistent time' for literal in invalid_literals(entry)]
    return "; ".join([*literals, *(["nonexistent times are kept as sent"] if keeps_invalid(entry) else [])])


def _rules(meaning: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    from cdc_contracts.registry.authoring.explain.rulebook import cross_field_rules

    known = {rule.name: rule.says for rule in cross_field_rules()}
    for name in (*meaning["rules"], *meaning.get("notes", ())):
        yield name, known.get(name, "")


def _follow(whole: Mapping[str, Any], schema: Any) -> Mapping[str, Any]:
    """Return a schema with its reference within the file followed."""
    while isinstance(schema, Mapping) and "$ref" in schema:
        schema = follow(whole, split_pointer(schema["$ref"].removeprefix("#")))
    return schema if isinstance(schema, Mapping) else {}
