"""Message JSON Schema (`message.schema.json`): what a version says of one message, as far as JSON Schema can.

It refuses what validation calls an error, and nothing that validation accepts: warnings stay warnings. What no keyword
can express is in a `$comment` with the id of the rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from cdc_contracts.registry.common.findings import ERROR
from cdc_contracts.registry.contract.catalogue import CANONICAL, Version, span
from cdc_contracts.registry.schema.message_schemas.clauses import all_of, when, within
from cdc_contracts.registry.schema.message_schemas.conditions import op_holds_rows, op_is_known
from cdc_contracts.registry.schema.message_schemas.counts import MOST_COLUMNS, MOST_ROWS, equal_rows, typed_columns
from cdc_contracts.registry.schema.message_schemas.form_definitions import definitions, typed_rows
from cdc_contracts.registry.schema.message_schemas.image_placement import ddl_flag, placements
from cdc_contracts.registry.schema.message_schemas.member_examples import with_member_examples
from cdc_contracts.registry.schema.message_schemas.message_examples import example_messages
from cdc_contracts.registry.schema.message_schemas.moments import moments
from cdc_contracts.registry.validate.drift_rulebook import drift_rules

GENERATED: Final = "Written from the contract by `cdc-contracts schema --write`; edit the contract, not this file."
_HELD_FOR: Final[Mapping[str, str]] = {
    "project-created": "projects created",
    "product-version": "releases",
    "document-edition": "editions of the document",
    "instance-created-or-restarted": "instances created or restarted",
}
_SAID: Final = frozenset({"image-present-for-op", "ddl-flag-agrees", "position-matches"})
"""Rules that clauses say whole."""
_MAPS: Final = frozenset({"properties", "$defs"})
"""Keywords whose values are schemas by name."""


@lru_cache(128)
def message_schema(version: Version) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a version's messages, not to be changed.

    Raises ContractError if the version is broken.
    """
    envelope = _open(version.schema)
    head = {"$schema": envelope["$schema"], "$id": schema_id(version), "$comment": GENERATED}
    result = {"title": title_of(version), "description": describe(version, envelope.get("description", ""))}
    body = {key: value for key, value in envelope.items() if key not in {*head, *result, "allOf", "$defs"}}
    if version.subject == CANONICAL:
        return {**head, **result, **body, **_tail(envelope, [], {})}
    groups = {
        name: {"description": says, **all_of(clauses)} for name, says, clauses in _groups(version) if any(clauses)
    }
    clauses = [*({"$ref": f"#/$defs/{name}"} for name in groups), *({"$comment": one} for one in _comments(version))]
    tail = _tail(envelope, clauses, {**groups, **definitions(version)})
    messages = example_messages(version)
    return with_member_examples({**head, **result, **body, **tail, "examples": messages}, messages)


def schema_id(version: Version) -> str:
    """Return the `$id` of the schema of a version."""
    return f"urn:cdc-contracts:{version.subject.replace('/', ':')}:v{version.number}"


def title_of(version: Version) -> str:
    """Return what a schema is called: product, dialect, version and what it holds for."""
    name = version.resolved.get("title", version.subject)
    held = span(version)
    return f"{name}, version {version.number}" + ("" if held == "always" else f" ({held})")


def describe(version: Version, says: str) -> str:
    """Return what a schema is about, and for which releases or dates of the product."""
    applies = version.resolved.get("applies", {})
    counted = _HELD_FOR.get(applies.get("counted_from", ""))
    result = f"Contract {version.reference}, {version.resolved['status']}."
    if counted and span(version) != "always":
        zone = f" (UTC{applies['zone']})" if "zone" in applies else ""
        result += f" It holds for {counted} {span(version)}{zone}."
    return f"{says} {result}".strip()


def _groups(version: Version) -> Iterator[tuple[str, str, list[dict[str, Any]]]]:
    """Yield what clauses say: the name of a definition, what it is about, and its clauses."""
    meaning = version.meaning
    yield "op-codes", "The codes of operations.", [op_is_known(meaning)]
    if "image-present-for-op" in meaning.rules:
        yield "images-by-op", "Which images hold rows, by operation.", list(placements(meaning))
        yield "row-counts", f"As many rows in each image, said of up to {MOST_ROWS}.", list(equal_rows(meaning))
    if "ddl-flag-agrees" in meaning.rules:
        yield "ddl-flag", "The DDL flag is true exactly where the code is the one of DDL.", list(ddl_flag(meaning))
    codes = [within(pointer, {"enum": list(result)}, required=False) for pointer, result in meaning.enums.items()]
    yield "codes", "Members with a list of codes.", codes
    if "position-matches" in meaning.rules:
        patterns = [within(at, {"pattern": result}, required=False) for at, result in meaning.patterns.items()]
        yield "positions", "How positions in the log are written.", [when(op_holds_rows(meaning), all_of(patterns))]
    yield (
        "times",
        "Units of times; a number that is a moment of our days in another unit is refused.",
        [*moments(meaning)],
    )
    if "columns-typed" in meaning.rules:
        says = f"No more columns in an image than there are types, said of up to {MOST_COLUMNS}."
        yield "column-counts", says, list(typed_columns(meaning))
    says = "Types that there are, and the values of rows all of whose columns have types of one value form."
    yield "types-and-values", says, list(typed_rows(version))


def _comments(version: Version) -> Iterator[str]:
    """Yield what rules ask that no clause says, with the ids of the rules; warnings are marked as such."""
    meaning, rules = version.meaning, drift_rules()
    if not meaning.images.hold_one_row:
        yield f"{rules['image-present-for-op'].id}: as many rows in each image."
    if meaning.columns.types != "none":
        yield "D07.value-form: each value by the type of its own column; a schema of one table says it by name."
    for name in meaning.rules:
        if name not in _SAID:
            rule = rules[name]
            kind = "" if rule.severity == ERROR else f" (a {rule.severity})"
            yield f"{rule.id}{kind}: {rule.says}"


def _open(schema: Any) -> Any:
    """Return a schema that accepts members which nobody names: for validation they are a warning (D04)."""
    if isinstance(schema, list):
        return [_open(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: {name: _open(one) for name, one in below.items()} if key in _MAPS else _open(below)
        for key, below in schema.items()
        if not (key == "additionalProperties" and below is False)
    }


def _tail(envelope: Mapping[str, Any], clauses: list[dict[str, Any]], defined: Mapping[str, Any]) -> dict[str, Any]:
    every = [*envelope.get("allOf", ()), *clauses]
    defs = {**envelope.get("$defs", {}), **defined}
    return ({"allOf": every} if every else {}) | ({"$defs": defs} if defs else {})
