"""Schema checks: whether a parsed document is a JSON Schema, and whether validating messages with it terminates."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import jsonschema_rs

from cdc_contracts.registry.core.common.pointers import join_pointer
from cdc_contracts.registry.core.common.subschemas import REFERENCES, every_place, holds_any
from cdc_contracts.registry.core.schema.json_schemas.expansion import refuse_explosions
from cdc_contracts.registry.core.schema.json_schemas.schema_drafts import DRAFT_NAMES, draft_of
from cdc_contracts.registry.core.schema.json_schemas.schema_references import SchemaAddresses
from cdc_contracts.registry.core.schema.schema_texts import SchemaFault

MAX_COUNT: Final = 2**53
"""The largest count of `minItems` and its like: every reader of JSON holds it exactly."""

VALIDATORS: Final[Mapping[int, type[jsonschema_rs.Validator]]] = {
    jsonschema_rs.Draft4: jsonschema_rs.Draft4Validator,
    jsonschema_rs.Draft6: jsonschema_rs.Draft6Validator,
    jsonschema_rs.Draft7: jsonschema_rs.Draft7Validator,
    jsonschema_rs.Draft201909: jsonschema_rs.Draft201909Validator,
    jsonschema_rs.Draft202012: jsonschema_rs.Draft202012Validator,
}
_COUNTS: Final = frozenset({
    "minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties", "minContains", "maxContains",
})  # fmt: skip
_SHOWN: Final = 160
MAX_WEIGHT: Final = 50_000
"""Steps of all patterns of a schema together, counts such as {1000} written out."""
_TOKEN: Final = re.compile(r"\\.|\[(?:\\.|[^\]\\])*+\]|\{(\d{1,9})(?:,(\d{0,9}))?\}|.", re.DOTALL)


def refuse_no_schema(document: Any, references: Mapping[str, Any]) -> None:
    """Raise SchemaFault if a document is no JSON Schema of its draft, or validating with it might not terminate.

    `references` are the schemas submitted with it, by the text of the `$ref` that leads to them.
    """
    if not isinstance(document, dict | bool):
        raise SchemaFault("a JSON Schema is an object, true or false", hint="Write an object.")
    draft = draft_of(document)
    weight = 0
    for pointer, schema in every_place(document):
        _refuse_counts(schema, pointer)
        for place, pattern in _patterns(schema):
            weight += pattern_weight(pattern)
            _refuse_heavy(weight, pointer + place)
    _refuse_against_metaschema(document, draft)
    if holds_any(document, REFERENCES):
        refuse_explosions(document, SchemaAddresses(document, references))
    for pattern, pointer in {
        pattern: pointer + place for pointer, schema in every_place(document) for place, pattern in _patterns(schema)
    }.items():
        _refuse_no_pattern(pattern, pointer, draft)


def _refuse_against_metaschema(document: Any, draft: int) -> None:
    result = {"$schema": DRAFT_NAMES[draft], **document} if isinstance(document, dict) else document
    try:
        jsonschema_rs.meta.validate(result)
    except jsonschema_rs.ValidationError as error:
        message = error.message if len(error.message) <= _SHOWN else error.message[: _SHOWN - 1] + "…"
        raise SchemaFault(
            f"not a JSON Schema: {message}",
            join_pointer(*map(str, error.instance_path)),
            hint="Write the keyword as its draft defines it.",
        ) from None
    except ValueError as error:
        raise SchemaFault(f"not a JSON Schema: {str(error)[:_SHOWN]}") from None


def _refuse_counts(schema: Mapping[str, Any], pointer: str) -> None:
    for key in _COUNTS & schema.keys():
        value = schema[key]
        if isinstance(value, int | float) and value > MAX_COUNT:
            raise SchemaFault(
                f"`{key}` is {value:.3g}, more than any message can have",
                f"{pointer}/{key}",
                hint=f"Stay below {MAX_COUNT:,}, or leave it out.",
            )


def _patterns(schema: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if isinstance(schema.get("pattern"), str):
        yield "/pattern", schema["pattern"]
    keyed = schema.get("patternProperties")
    if isinstance(keyed, dict):
        yield from ((f"/patternProperties{join_pointer(pattern)}", pattern) for pattern in keyed)


def _refuse_heavy(weight: int, pointer: str) -> None:
    if weight > MAX_WEIGHT:
        raise SchemaFault(
            f"the patterns so far have more than {MAX_WEIGHT:,} steps, with repetitions expanded",
            pointer,
            hint="Repetitions such as {1000} multiply; limit lengths with minLength and maxLength.",
        )


def _refuse_no_pattern(pattern: str, pointer: str, draft: int) -> None:
    try:
        VALIDATORS[draft]({"pattern": pattern})
    except (jsonschema_rs.ValidationError, ValueError):
        raise SchemaFault(
            f"not a JSON Schema pattern: {pattern[:_SHOWN]}",
            pointer,
            hint="Write patterns in ECMAScript syntax.",
        ) from None


def pattern_weight(pattern: str) -> int:
    """Return how many steps a pattern has when its counts are written out; a count around a count multiplies."""
    groups = [0]
    last = 0  # the weight of what a count would repeat
    for token in _TOKEN.finditer(pattern):
        if token[1] is not None:
            times = max(int(token[1]), int(token[2] or 0), 1)
            groups[-1] += last * (times - 1)
            last *= times
        elif token[0] == "(":
            groups.append(0)
            last = 0
        elif token[0] == ")" and len(groups) > 1:
            last = groups.pop() + 1
            groups[-1] += last
        else:
            last = 1
            groups[-1] += 1
        if groups[-1] > MAX_WEIGHT:
            return MAX_WEIGHT + 1
    return sum(groups)
