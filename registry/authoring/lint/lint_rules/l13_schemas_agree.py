import json
from collections.abc import Mapping
from importlib.resources.abc import Traversable
from typing import Any, Final

from cdc_contracts.registry.authoring.lint.lint_links import resolve_reference
from cdc_contracts.registry.authoring.lint.lint_rule import Faults, LintFault, Parts, lint_rule
from cdc_contracts.registry.authoring.lint.lint_run import LintRun
from cdc_contracts.registry.core.common.avro_names import avro_name
from cdc_contracts.registry.core.common.findings import ERROR
from cdc_contracts.registry.core.common.pointers import join_pointer
from cdc_contracts.registry.core.contract.catalogue import AVRO_ENVELOPE, CANONICAL, ENVELOPE, Version
from cdc_contracts.registry.core.message.avro_records import (
    JSON_TEXT,
    NUMBER_TEXT,
    OTHER_MEMBERS,
    member_of,
    name_field,
)

_KINDS: Final[Mapping[str, frozenset[str]]] = {
    "null": frozenset({"null"}),
    "boolean": frozenset({"boolean"}),
    "string": frozenset({"string"}),
    "enum": frozenset({"string"}),
    "bytes": frozenset({"string"}),
    "int": frozenset({"integer"}),
    "long": frozenset({"integer"}),
    "float": frozenset({"number"}),
    "double": frozenset({"number"}),
    "array": frozenset({"array"}),
    "map": frozenset({"object"}),
    "record": frozenset({"object"}),
}
_ABSENT: Final = "Absent"
_TEXTS: Final = {NUMBER_TEXT: frozenset({"number"}), JSON_TEXT: frozenset({"array", "object"})}
"""The JSON kinds of the records that stand for a value which Avro does not keep as it is."""


@lint_rule(
    ERROR,
    says="Checks that the JSON Schema and the Avro schema have the same members, nesting, nulls and optional members.",
    why="The Avro schema must be able to represent exactly the messages that the JSON Schema accepts.",
    good='"type": ["string", "null"] and ["null", "string"]',
    bad='"type": ["string", "null"] and "string"',
)
def schemas_agree(run: LintRun) -> Faults:
    for version in run.versions:
        if version.reference not in run.valid_schemas or version.reference not in run.avro_schemas:
            continue
        if version.reference not in run.meanings and version.subject != CANONICAL:
            continue
        file = _own_file(version)
        meaning = run.meanings.get(version.reference)
        if file is not None and meaning is not None and meaning.transport == "avro":
            yield from _same_members(file, run.valid_schemas[version.reference], run.avro_schemas[version.reference])
        elif file is not None and version.reference not in run.avro_faults:
            schema = run.valid_schemas[version.reference]
            yield from _Comparison(file, schema).compare(schema, run.avro_schemas[version.reference], ())


def _same_members(file: Traversable, schema: dict[str, Any], record: Any) -> Faults:
    """Yield the members that only one of the two has: values change on their way from a record to a message."""
    members, fields = set(schema.get("properties", {})), {field["name"] for field in record.get("fields", ())}
    for name in sorted(members ^ fields):
        yield LintFault(file, f"{name} in both schemas", "in one of them")


class _Comparison:
    """One walk through both schemas at once."""

    def __init__(self, file: Traversable, schema: dict[str, Any]) -> None:
        self._file = file
        self._whole = schema
        self._named: dict[str, Any] = {}
        self._walked: set[tuple[str, str]] = set()

    def compare(self, schema: Any, avro: Any, parts: Parts) -> Faults:
        """Yield every place where the two differ on the same member."""
        while isinstance(schema, dict) and "$ref" in schema:
            pair = (schema["$ref"], repr(avro))  # recursive schemas are walked once
            if pair in self._walked:
                return
            self._walked.add(pair)
            schema = resolve_reference(self._whole, schema["$ref"])
        if not isinstance(schema, dict):
            return
        branches = [branch for branch in self._branches(avro) if _last(branch) != _ABSENT]
        expected = frozenset(_kinds_of(schema))
        found = frozenset().union(*(self._kinds(branch, expected) for branch in branches))
        if "number" in expected:
            expected, found = expected | {"number"}, _widen(found)
        if expected and expected != found:
            yield self._fault(parts, " or ".join(sorted(expected)), " or ".join(sorted(found)) or "nothing")
            return
        for branch in branches:
            if isinstance(branch, dict):
                yield from self._compare_inside(schema, branch, parts)

    def _compare_inside(self, schema: dict[str, Any], branch: dict[str, Any], parts: Parts) -> Faults:
        match branch["type"]:
            case "record" if _last(branch) not in _TEXTS:
                yield from self._compare_members(schema, branch, parts)
            case "array":
                yield from self.compare(schema.get("items", {}), branch["items"], (*parts, "0"))
            case "map":
                if schema.get("properties"):
                    yield self._fault(parts, "a record, for members with names", "a map")
                yield from self.compare(schema.get("additionalProperties", {}), branch["values"], (*parts, "*"))

    def _compare_members(self, schema: dict[str, Any], record: dict[str, Any], parts: Parts) -> Faults:
        properties, required = schema.get("properties", {}), schema.get("required", [])
        fields = {member_of(field): field["type"] for field in record["fields"] if OTHER_MEMBERS not in field}
        for field in record["fields"]:
            if OTHER_MEMBERS in field:
                yield from self.compare(schema.get("additionalProperties", {}), field["type"]["values"], (*parts, "*"))
        for name in properties:
            if name not in fields:
                named = " with " + json.dumps(name_field(name))[1:-1] if avro_name(name) != name else ""
                yield self._fault((*parts, name), f"a field in the Avro schema{named}", "none")
        for name, avro in fields.items():
            here = (*parts, name)
            if name not in properties:
                yield self._fault(here, "no field in the Avro schema", "a field")
                continue
            yield from self.compare(properties[name], avro, here)
            may_be_absent = any(_last(branch) == _ABSENT for branch in self._branches(avro))
            if may_be_absent == (name in required):
                result = ("required", "optional") if may_be_absent else ("optional", "required")
                yield self._fault(here, f"{result[0]} in the Avro schema too", result[1])

    def _branches(self, avro: Any) -> list[Any]:
        found = []
        for branch in avro if isinstance(avro, list) else [avro]:
            known = self._named.get(branch, branch) if isinstance(branch, str) else branch
            if isinstance(known, dict) and isinstance(known.get("type"), (dict, list)):
                found += self._branches(known["type"])
                continue
            if isinstance(known, dict) and "name" in known:
                self._named[str(known["name"]).rpartition(".")[2]] = known
            found.append(known)
        return found

    def _kinds(self, branch: Any, expected: frozenset[str]) -> frozenset[str]:
        """Return the kinds of a branch; of those that a stand-in may hold the expected ones, if there are any."""
        if _last(branch) in _TEXTS:
            return _TEXTS[_last(branch)] & expected or _TEXTS[_last(branch)]
        kind = branch["type"] if isinstance(branch, dict) else branch
        if isinstance(branch, dict) and str(branch.get("logicalType", "")).startswith("timestamp"):
            return frozenset({"string"})
        return _KINDS.get(kind, frozenset({str(kind)}))

    def _fault(self, parts: Parts, expected: str, observed: str) -> LintFault:
        at = join_pointer(*parts) or "the message"
        lines = tuple(step for part in parts for step in (("items",) if part == "0" else ("properties", part)))
        lines = lines if self._file.name.endswith(".json") else ()
        return LintFault(self._file, f"{at}: {expected}", observed, lines)


def _kinds_of(schema: dict[str, Any]) -> list[str]:
    """Return the JSON kinds that a schema takes; none if it does not say."""
    if "type" in schema:
        kinds = schema["type"]
        return [kinds] if isinstance(kinds, str) else list(kinds)
    if "enum" in schema or "const" in schema:
        codes = schema.get("enum", [schema.get("const")])
        return list({"null" if code is None else "boolean" if isinstance(code, bool) else
                     "string" if isinstance(code, str) else "integer" for code in codes})  # fmt: skip
    return []


def _widen(kinds: frozenset[str]) -> frozenset[str]:
    return kinds - {"integer"} if "number" in kinds else kinds


def _last(branch: Any) -> str:
    name = branch.get("name", branch.get("type", "")) if isinstance(branch, dict) else branch
    return str(name).rpartition(".")[2]


def _own_file(version: Version) -> Traversable | None:
    """Return the schema file that a version brings itself, the Avro one first; None if both are inherited."""
    for name in (AVRO_ENVELOPE, ENVELOPE):
        file = version.folder.joinpath(name)
        if file.is_file():
            return file
    return None
