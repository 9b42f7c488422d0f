from collections.abc import Iterator
from importlib.resources.abc import Traversable
from typing import Any, Final

from cdc_contracts.registry.authoring.lint.lint_links import resolve_reference
from cdc_contracts.registry.authoring.lint.lint_rule import Faults, LintFault, Parts, lint_rule
from cdc_contracts.registry.authoring.lint.lint_run import LintRun
from cdc_contracts.registry.core.common.findings import ERROR
from cdc_contracts.registry.core.common.pointers import split_pointer
from cdc_contracts.registry.core.contract.catalogue import ENVELOPE
from cdc_contracts.registry.core.message.reading import non_column_members

_BOUNDS: Final = frozenset({"enum", "const", "pattern", "minimum"})


@lint_rule(
    ERROR,
    says="Checks that a JSON Schema is valid, uses only supported keywords, and allows no undeclared members.",
    why="An unsupported keyword would be checked by only one of the two validators; an open object hides drift.",
    good='"additionalProperties": false',
    bad='"patternProperties": {}',
)
def schemas_are_valid(run: LintRun) -> Faults:
    for version in run.versions:
        file = version.folder.joinpath(ENVELOPE)
        if file.is_file() and version.reference in run.no_schemas:
            yield LintFault(file, "a schema: an object", "another JSON value")
        if not file.is_file() or version.reference not in run.schemas:
            continue
        for pointer, problem in run.schema_faults.get(version.reference, []):
            yield LintFault(file, "a schema in the closed list of keywords", problem, split_pointer(pointer))
        schema = run.schemas[version.reference]
        if version.reference not in run.schema_faults:
            yield from _open_objects(file, schema, ())
            if version.reference in run.meanings:
                meaning = run.meanings[version.reference]
                for pointer in meaning.images.pointers():
                    yield from _bounded_columns(file, schema, pointer, non_column_members(meaning, pointer))


def _open_objects(file: Traversable, schema: Any, parts: Parts) -> Faults:
    """Yield the objects with named members that take any other member as well."""
    if not isinstance(schema, dict):
        return
    if "properties" in schema and "additionalProperties" not in schema:
        yield LintFault(file, "additionalProperties", "none, so that any member is taken", (*parts, "properties"))
    for name, below in (*schema.get("properties", {}).items(), *schema.get("$defs", {}).items()):
        section = "properties" if name in schema.get("properties", {}) else "$defs"
        yield from _open_objects(file, below, (*parts, section, name))
    for section in ("items", "additionalProperties"):
        yield from _open_objects(file, schema.get(section), (*parts, section))


def _bounded_columns(file: Traversable, schema: dict[str, Any], pointer: str, beside: frozenset[str]) -> Faults:
    """Yield the columns of an image whose values the schema bounds by more than their kind.

    Values are constrained by their value form; a bound in the schema would not be checked in every record.
    """
    for parts, below in _places_of(schema, schema, (), split_pointer(pointer)):
        place, row = (*parts, "items"), below.get("items")
        if not isinstance(row, dict):
            place, row = parts, below
        columns = [((*place, "properties", name), one) for name, one in row.get("properties", {}).items()
                   if name not in beside]  # fmt: skip
        columns.append(((*place, "additionalProperties"), row.get("additionalProperties")))
        for at, column in columns:
            for keyword in _BOUNDS & column.keys() if isinstance(column, dict) else ():
                yield LintFault(
                    file, "the kind of a column alone: its value form says the rest", f"`{keyword}`", (*at, keyword)
                )


def _places_of(whole: dict[str, Any], schema: Any, at: Parts, way: Parts) -> Iterator[tuple[Parts, dict[str, Any]]]:
    """Yield every schema of a member: in `properties`, behind a `$ref`, or in a branch."""
    while isinstance(schema, dict) and "$ref" in schema:
        at, schema = split_pointer(schema["$ref"].removeprefix("#")), resolve_reference(whole, schema["$ref"])
    if not isinstance(schema, dict):
        return
    if not way:
        yield at, schema
        return
    below = schema.get("properties", {})
    if way[0] in below:
        yield from _places_of(whole, below[way[0]], (*at, "properties", way[0]), way[1:])
    for number, branch in enumerate(schema.get("allOf", ())):
        yield from _places_of(whole, branch.get("then"), (*at, "allOf", str(number), "then"), way)
