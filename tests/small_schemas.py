"""Small schemas of all forms, and all values that they can tell apart. `CDC_ALL_PAIRS=1` compares all pairs of them."""

import json
import os
from functools import cache
from itertools import combinations, product

from cdc_contracts.registry.authoring.compat.json_schema.bundled_schemas import SLOW_JUDGES
from cdc_contracts.registry.authoring.compat.levels import Level
from cdc_contracts.registry.authoring.compat.version_comparison import compare_schemas
from cdc_contracts.registry.core.schema.json_schemas.schema_checks import VALIDATORS
from cdc_contracts.registry.core.schema.json_schemas.schema_drafts import DRAFT_NAMES, draft_of
from cdc_contracts.registry.core.schema.schema_documents import JSON, read_schema

ALL = bool(os.environ.get("CDC_ALL_PAIRS"))
NAMES = dict(zip(("4", "6", "7", "2019", "2020"), DRAFT_NAMES.values(), strict=True))
TEXT, NUMBER = {"type": "string"}, {"type": "integer"}


def arrays_of_2020():
    firsts = [{}, {"prefixItems": [TEXT]}, {"prefixItems": [TEXT, TEXT]}, {"prefixItems": [NUMBER, TEXT]}]
    others = [{}, {"items": TEXT}, {"items": False}, {"unevaluatedItems": False}, {"unevaluatedItems": TEXT}]
    contained = [{}, *({"contains": {"const": "a"}, **more} for more in ({}, {"minContains": 0}, {"maxContains": 1}))]
    return [{"type": "array", **a, **b, **c} for a, b, c in product(firsts, others, contained)]


def arrays_of_7():
    firsts = [{}, {"items": [TEXT]}, {"items": [TEXT, TEXT]}, {"items": TEXT}]
    others = [{}, {"additionalItems": False}, {"additionalItems": TEXT}, {"additionalItems": False, "title": "other"}]
    later = [{}, {"minContains": 0, "contains": {"const": "a"}}, {"prefixItems": [NUMBER], "unevaluatedItems": False}]
    return [{**a, **b, **c} for a, b, c in product(firsts, others, later)]


def objects_of_2020():
    named = [{}, {"properties": {"a": TEXT}}, {"properties": {"a": TEXT, "b": NUMBER}}]
    patterns = [{}, {"^a": TEXT}, {"b": TEXT}, {"^a": TEXT, "b": NUMBER}]
    others = [
        {}, {"additionalProperties": False}, {"additionalProperties": TEXT}, {"unevaluatedProperties": False},
        {"propertyNames": {"pattern": "a"}}, {"propertyNames": {"pattern": "ab"}}, {"propertyNames": {"pattern": "o"}},
    ]  # fmt: skip
    keyed = [{"patternProperties": one} if one else {} for one in patterns]
    return [{"type": "object", **a, **b, **c} for a, b, c in product(named, keyed, others)]


def numbers_of_4():
    limits = [{}, {"minimum": 0}, {"minimum": 0, "exclusiveMinimum": True}, {"minimum": 1, "exclusiveMinimum": False}]
    most = [{}, {"maximum": 2, "exclusiveMaximum": True}, {"maximum": 1}]
    kinds = [{}, {"type": "integer"}, {"type": "number", "const": 7}]
    return [{**a, **b, **c} for a, b, c in product(limits, most, kinds)]


def lists(elements, longest):
    return [list(one) for size in range(longest + 1) for one in product(elements, repeat=size)]


def objects(names, values, most):
    for size in range(most + 1):
        for chosen in combinations(names, size):
            yield from (dict(zip(chosen, held, strict=True)) for held in product(values, repeat=size))


KINDS = [None, True, 0, 1, 7, 0.5, 1.5, 2, -1, "", "a", "ab", [], {}]
FAMILIES = {
    "arrays of 2020-12": ("2020", arrays_of_2020, [*KINDS, *lists(["a", "b", 1], 3)], 61),
    "arrays of draft 7": ("7", arrays_of_7, [*KINDS, *lists(["a", 1], 3)], 29),
    "objects of 2020-12": (
        "2020",
        objects_of_2020,
        [*KINDS, *objects(["a", "b", "ab", "c", "o", "ao", "ba", "bo", "abo", "bab"], ["s", 1], 2)],
        71,
    ),
    "numbers of draft 4": ("4", numbers_of_4, KINDS, 13),
}


@cache
def takes(draft, text):
    """Return which values a schema takes, by two validators; where they do not agree, no number counts."""
    schema, values = json.loads(text), FAMILIES[draft][2]
    fast = VALIDATORS[draft_of(schema)](schema, offline=True, validate_formats=False)
    slow = SLOW_JUDGES[draft_of(schema)](schema)
    found = [(fast.is_valid(value), slow.is_valid(value)) for value in values]
    assert all(one == other for one, other in found), "the validators differ"
    return {number for number, (one, _) in enumerate(found) if one}


def validate(old, new, policy):
    sides = [read_schema(json.dumps(one), type=JSON, name=name) for one, name in ((old, "old"), (new, "new"))]
    return compare_schemas(sides[:1], sides[1], level=Level.BACKWARD, policy=policy)
