"""Op branches: the JSON Schemas of two contracts compared op by op.

A contract's schema says in branches what holds for which op. Compared unchanged, branches of two schemas can hardly be
matched; narrowed to one op, each schema is a plain one, and a difference has a member and a line.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice, pairwise, product
from typing import TYPE_CHECKING, Any, Final

from cdc_contracts.registry.authoring.compat.compatibility_rule import NOTE, UNDECIDED
from cdc_contracts.registry.authoring.compat.compatibility_verdict import (
    REFUSED_BY_NEW,
    REFUSED_BY_OLD,
    CompatibilityFinding,
    CompatibilityProof,
    TextPlace,
)
from cdc_contracts.registry.authoring.compat.levels import Level, Policy
from cdc_contracts.registry.authoring.compat.text_places import find_positions
from cdc_contracts.registry.authoring.compat.version_comparison import compare_schemas
from cdc_contracts.registry.core.common.json_messages import parse_message
from cdc_contracts.registry.core.common.pointers import ABSENT, find_in_document, join_pointer, split_pointer
from cdc_contracts.registry.core.contract.catalogue import ENVELOPE
from cdc_contracts.registry.core.generate.message_outlines import narrow_to
from cdc_contracts.registry.core.message.schema_violations import SchemaCheck
from cdc_contracts.registry.core.schema.schema_documents import JSON, SchemaDocument

if TYPE_CHECKING:
    from cdc_contracts.registry.core.contract.catalogue import Version

_OTHER: Final = "any other"
_MOST_CASES: Final = 40
"""Schemas with more cases are of different dialects, and are compared unchanged."""
Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Side:
    """One schema, and the file it stands in."""

    name: str
    document: Mapping[str, Any]
    text: str
    file: str | None

    def narrowed(self, message: Message | None) -> SchemaDocument:
        """Return the schema as it applies to messages such as this; without one, what applies to all."""
        schema = self.document if message is None else _pinned(narrow_to(self.document, message), message)
        plain = {key: value for key, value in schema.items() if key != "allOf"}
        return SchemaDocument(JSON, self.name, plain, "", self.file)

    def accepts(self, message: Any) -> bool:
        """Return whether the whole schema takes a message."""
        return SchemaCheck(self.document).fits(message)

    def takes(self, message: Message) -> bool:
        """Return whether a message may be of this kind: its codes are among those of the schema."""
        shapes = {key: self.document[key] for key in ("properties", "$defs") if key in self.document}
        return SchemaCheck(_only(shapes, message)).fits(message)

    def place(self, place: TextPlace | None, message: Message | None) -> TextPlace | None:
        """Return where a part of the narrowed schema is in the file: in a branch that applies, else outside."""
        if place is None:
            return None
        heads = [f"/allOf/{number}/then" for number in self._holding(message)] if message is not None else []
        for pointer in (*(head + place.pointer for head in reversed(heads)), place.pointer):
            if find_in_document(self.document, split_pointer(pointer)) is not ABSENT:
                return TextPlace(pointer, self.file, *find_positions(self.text, {pointer}).get(pointer, (None, None)))
        return TextPlace(place.pointer, self.file)

    def _holding(self, message: Message) -> Iterator[int]:
        for number, branch in enumerate(self.document.get("allOf", ())):
            if not SchemaCheck(branch["if"]).violations(message):
                yield number


def compare_branches(old: Version, new: Version) -> tuple[CompatibilityFinding, ...]:
    """Return what differs between the JSON Schemas of two contracts: for messages of one op, then for all.

    Every message belongs to some op, so what is seen only without regard to ops has to be shown by one.
    """
    sides = (_side_of(old), _side_of(new))
    cases = list(islice(_cases(old, new), _MOST_CASES + 1))
    if len(cases) > _MOST_CASES:
        whole = [SchemaDocument(JSON, side.name, side.document, side.text, side.file) for side in sides]
        return compare_schemas(whole[:1], whole[1], level=Level.FULL, policy=Policy.CDC).findings
    found: dict[Any, CompatibilityFinding] = {}
    seen: list[tuple[Any, Any]] = []
    for message in (*(one for one in cases if all(side.takes(one) for side in sides)), None):
        narrowed = [side.narrowed(message) for side in sides]
        pair = (narrowed[0].document, narrowed[1].document)
        if pair[0] == pair[1] or pair in seen:
            continue
        seen.append(pair)
        for finding in compare_schemas(narrowed[:1], narrowed[1], level=Level.FULL, policy=Policy.CDC).findings:
            places = [side.place(place, message) for side, place in
                      zip(sides, (finding.old_place, finding.new_place), strict=True)]  # fmt: skip
            key = (finding.rule, finding.direction, *(place and place.pointer for place in places))
            is_shown = finding.proof is not None and _holds(finding.proof, sides)
            if is_shown or (message is not None and finding.severity == NOTE):
                found.setdefault(key, replace(finding, old_place=places[0], new_place=places[1]))
            elif message is not None:
                result = replace(finding, old_place=places[0], new_place=places[1], severity=UNDECIDED, proof=None)
                found.setdefault(key, result)
    return tuple(found.values())


def _holds(proof: CompatibilityProof, sides: tuple[_Side, _Side]) -> bool:
    """Return whether a message that was found for the narrowed schemas shows the same of the whole ones."""
    message = parse_message(json.dumps(proof.message).encode()) if isinstance(proof.message, dict) else proof.message
    accepted = [side.accepts(message) for side in sides]
    return accepted == {REFUSED_BY_NEW: [True, False], REFUSED_BY_OLD: [False, True]}.get(proof.kind, [True, True])


def _pinned(schema: Mapping[str, Any], message: Message) -> dict[str, Any]:
    """Return a schema that takes only messages with the codes and flags of one."""
    properties = dict(schema.get("properties", {}))
    for name, value in message.items():
        below = properties.get(name, {})
        if isinstance(value, dict):
            properties[name] = _pinned(below, value)
        elif value != _OTHER:
            properties[name] = {**below, "const": value}
    return {**schema, "properties": properties}


def _side_of(version: Version) -> _Side:
    file = version.file(ENVELOPE)
    text = file.read_text(encoding="utf-8") if file is not None else ""
    return _Side(version.reference, version.schema, text, None if file is None else str(file))


def _cases(old: Version, new: Version) -> Iterator[Message]:
    """Yield a message for each case that a branch of one of the schemas distinguishes: an op, a flag."""
    result: dict[tuple[str, ...], list[Any]] = {}
    for version in (old, new):
        for branch in version.schema.get("allOf", ()):
            for path, values in _conditions(branch.get("if", {}), ()):
                result.setdefault(path, []).extend(value for value in values if value not in result.get(path, []))
    for values in result.values():
        if not all(isinstance(value, bool) for value in values):
            values.append(_OTHER)
    for chosen in product(*result.values()):
        message: Message = {}
        for path, value in zip(result, chosen, strict=True):
            below = message
            for part in path[:-1]:
                below = below.setdefault(part, {})
            below[path[-1]] = value
        yield message


def _conditions(condition: Mapping[str, Any], above: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], list[Any]]]:
    """Yield the members that a condition is about, each with the values that it names."""
    for name, shape in condition.get("properties", {}).items():
        if "properties" in shape:
            yield from _conditions(shape, (*above, name))
        else:
            yield (*above, name), list(shape.get("enum", [shape["const"]] if "const" in shape else []))


def _only(schema: Mapping[str, Any], message: Message) -> dict[str, Any]:
    """Return what a schema says of the members of a message, and not of those that it has not."""
    properties = schema.get("properties", {})
    kept = {
        name: _only(properties[name], value) if isinstance(value, dict) else properties[name]
        for name, value in message.items()
        if name in properties
    }
    return {"properties": kept, **({"$defs": schema["$defs"]} if "$defs" in schema else {})}


def member_of(pointer: str) -> str | None:
    """Return the member of messages that a place in a schema is about; None if it is about the whole."""
    parts = split_pointer(pointer)
    named = [name for keyword, name in pairwise(parts) if keyword == "properties"]
    return join_pointer(*named) if named else None
