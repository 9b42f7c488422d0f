"""Random pairs of JSON Schemas, an old and a new one that is mostly a change of it, and messages for them."""

import json
import random
from itertools import product

from cdc_contracts.registry.authoring.compat.json_schema import compare_json
from cdc_contracts.registry.authoring.compat.levels import Level, Policy
from cdc_contracts.registry.core.common.bounded_processes import Overrun, call_guarded
from cdc_contracts.registry.core.schema.schema_documents import JSON, SchemaDocument

DRAFTS = ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"]
NAMES = ["a", "b", "c", "x1"]
SCALARS = [None, True, 0, 7, "", "long"]


def some(rng, most=2):
    return rng.sample(NAMES, rng.randint(1, most))


def value_schema(rng, depth):
    kind = rng.random()
    if depth and kind < 0.22:
        return object_schema(rng, depth - 1)
    if depth and kind < 0.28:
        return {"type": "array", "items": object_schema(rng, depth - 1)}
    if kind < 0.36:
        return {}
    if kind < 0.40:
        return {"enum": rng.sample(SCALARS, 2)}
    if kind < 0.43:
        return False
    return {"type": rng.choice(["integer", "string", ["integer", "string"], ["string", "null"]])}


def object_schema(rng, depth):
    schema = {"type": "object"} if rng.random() < 0.7 else {}
    if rng.random() < 0.8:
        schema["properties"] = {name: value_schema(rng, depth) for name in some(rng, 3)}
    for _ in range(rng.choice([0, 1, 1, 2, 2, 3])):
        schema |= rng.choice(ASKED)(rng, depth)
    return schema


def dependency(rng, depth):
    asked = some(rng) if rng.random() < 0.5 else object_schema(rng, 0)
    return {"dependencies": {rng.choice(NAMES): asked}}


def condition(rng, depth):
    found = {"if": object_schema(rng, 0)}
    for word in rng.sample(["then", "else"], rng.randint(1, 2)):
        found[word] = object_schema(rng, depth - 1 if depth else 0) if rng.random() < 0.8 else False
    return found


def parts(word):
    return lambda rng, depth: {word: [object_schema(rng, max(depth - 1, 0)) for _ in range(rng.randint(1, 2))]}


ASKED = [
    lambda rng, depth: {"required": some(rng)},
    lambda rng, depth: {"required": some(rng)},
    lambda rng, depth: {"additionalProperties": False},
    lambda rng, depth: {"additionalProperties": False},
    lambda rng, depth: {"additionalProperties": value_schema(rng, 0)},
    lambda rng, depth: {"minProperties": rng.randint(1, 3)},
    lambda rng, depth: {"maxProperties": rng.randint(0, 2)},
    lambda rng, depth: {"patternProperties": {rng.choice(["^x", "[ab]", "1$"]): value_schema(rng, depth)}},
    lambda rng, depth: {"propertyNames": {"pattern": rng.choice(["^x", "[abc]", "^.$"])}},
    lambda rng, depth: {"not": {"required": some(rng)}},
    lambda rng, depth: {"not": object_schema(rng, 0)},
    lambda rng, depth: {"$ref": "#/definitions/shared"},
    dependency,
    condition,
    parts("allOf"),
    parts("anyOf"),
    parts("oneOf"),
]


def document(rng):
    schema = object_schema(rng, 2)
    text = json.dumps(schema)
    if "#/definitions/shared" in text:
        if rng.random() < 0.98:  # what refers to itself is compared in a process of its own, which takes long
            shared = object_schema(rng, 1)
            shared = json.loads(json.dumps(shared).replace("#/definitions/shared", "#/definitions/other"))
            schema["definitions"] = {"shared": shared, "other": {"properties": {rng.choice(NAMES): {}}}}
        else:
            schema = json.loads(text.replace("#/definitions/shared", "#"))
            schema.pop("$ref", None)
            schema["allOf"] = [one for one in schema.get("allOf", []) if "$ref" not in json.dumps(one)] or [{}]
            for word in ("anyOf", "oneOf", "not", "if", "then", "else", "dependencies"):
                schema.pop(word, None)
    return schema


def changed(rng, schema):
    """Return a schema with one or two parts added, taken away or written anew, at any depth."""
    schema = json.loads(json.dumps(schema))
    for _ in range(rng.randint(1, 2)):
        places = [schema]
        for one in places:
            below = [*one.get("properties", {}).values(), *one.get("definitions", {}).values(), one.get("items")]
            below += [part for word in ("allOf", "anyOf", "oneOf") for part in one.get(word, ())]
            places += [part for part in below if isinstance(part, dict)]
        place = rng.choice(places)
        at = rng.random()
        if at < 0.4 and isinstance(place.get("properties"), dict):
            name = rng.choice(NAMES)
            place["properties"][name] = value_schema(rng, 1)
        elif at < 0.7:
            place |= {key: held for key, held in rng.choice(ASKED)(rng, 0).items() if key != "$ref"}
        elif set(place) - {"definitions", "type"}:
            del place[rng.choice(sorted(set(place) - {"definitions", "type"}))]
    if "#/definitions/" in json.dumps(schema):
        schema.setdefault("definitions", {"shared": {"properties": {"c": {}}}})
        schema["definitions"].setdefault("other", {})
    return schema


def message(rng, depth=2):
    if depth == 0 or rng.random() < 0.4:
        return rng.choice(SCALARS)
    if depth == 1 and rng.random() < 0.2:
        return [message(rng, 1 if rng.random() < 0.5 else 0)]
    return {name: message(rng, depth - 1) for name in rng.sample([*NAMES, "other"], rng.randint(0, 4))}


def messages(seed=3, count=400):
    rng = random.Random(seed)
    small = [dict.fromkeys(chosen, 7) for chosen in product(["a", "b", "c", "x1"], repeat=2)]
    return [*SCALARS, [], {}, *({name: held} for name in NAMES for held in SCALARS), *small,
            *(message(rng, 3) for _ in range(count))]  # fmt: skip


def in_later_words(schema):
    """Return a schema of draft 7 as later drafts write it."""
    if isinstance(schema, list):
        return [in_later_words(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found = {word: in_later_words(held) for word, held in schema.items() if word != "dependencies"}
    for name, asked in schema.get("dependencies", {}).items():
        word = "dependentRequired" if isinstance(asked, list) else "dependentSchemas"
        found.setdefault(word, {})[name] = in_later_words(asked)
    return found


def pairs(seed, count):
    rng = random.Random(seed)
    for _ in range(count):
        draft = rng.choice(DRAFTS)
        old = document(rng)
        new = changed(rng, old) if rng.random() < 0.8 else document(rng)
        yield tuple({"$schema": draft, **(one if "07" in draft else in_later_words(one))} for one in (old, new))


def compare_all(several):
    """Return the findings of each pair by the policy cdc, the first that breaks at least."""
    found = []
    for pair in several:
        sides = [
            SchemaDocument(JSON, name, schema, json.dumps(schema))
            for name, schema in zip(("old", "new"), pair, strict=True)
        ]
        found.append(compare_json(*sides, level=Level.FULL, policy=Policy.CDC, most=1))
    return found


def compare_bounded(several):
    """Return the findings of each pair, compared in one process with limits; None where those do not suffice."""
    try:
        return call_guarded(compare_all, several)
    except Overrun:
        half = len(several) // 2
        return [*compare_bounded(several[:half]), *compare_bounded(several[half:])] if half else [None]
