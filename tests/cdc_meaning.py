"""What the policy cdc means, decided for one message at a time from schemas as they are written.

A producer sends what its schema accepts, with members that the schema names and no others. An object whose schema names
no properties, says what members of other names are, or asks for more members than it names is a map and may hold any. A
consumer accepts a message if its schema does, with the members that it does not name or without them; where members are
counted, they may count. Of alternatives each describes an object on its own. Nothing of the comparison is used.

Where that leaves a choice, a message refutes that schemas are compatible only if it does by every reading, and it shows
that they are not if it does by one.
"""

import json
from functools import cache
from itertools import islice, product

import jsonschema
from schema_pairs import messages

from cdc_contracts.registry.authoring.compat.json_schema.bundled_schemas import FAST_VALIDATORS
from cdc_contracts.registry.core.schema.json_schemas.schema_drafts import draft_of

MESSAGES = messages()
MOST_CHOICES = 32


def without_hidden(schema):
    """Return a schema without what a reference hides before draft 2019-09."""
    hides = "07" in schema["$schema"]

    def cut(one):
        if isinstance(one, list):
            return [cut(part) for part in one]
        if not isinstance(one, dict):
            return one
        kept = {"$ref", "$schema", "definitions"} if hides and isinstance(one.get("$ref"), str) else one.keys()
        return {word: cut(held) for word, held in one.items() if word in kept}

    return cut(schema)


def finds(pattern, name):
    return {"^x": name.startswith("x"), "[ab]": bool({"a", "b"} & set(name)), "1$": name.endswith("1")}[pattern]


def resolve(root, schema):
    reference = schema["$ref"]
    return root if reference == "#" else root["definitions"][reference.rsplit("/", 1)[-1]]


def dependencies_of(schema):
    words = ("dependencies", "dependentRequired", "dependentSchemas")
    return [(name, asked) for word in words for name, asked in schema.get(word, {}).items()]


def in_place(root, schemas, *, tested=True):
    """Return all schemas that apply to the same value, once each; those that are only asked about where `tested`."""
    found, waiting = [], list(schemas)
    while waiting:
        one = waiting.pop()
        if not isinstance(one, dict) or any(one is other for other in found):
            continue
        found.append(one)
        waiting += [part for word in ("allOf", "anyOf", "oneOf") for part in one.get(word, ())]
        waiting += [one.get(word) for word in (("if", "then", "else", "not") if tested else ("then", "else"))]
        waiting += [asked for _, asked in dependencies_of(one)]
        waiting += [resolve(root, one)] if "$ref" in one else []
    return found


def names_of(schemas):
    found = set()
    for one in schemas:
        found |= {*one.get("properties", {}), *one.get("required", ())}
        for name, asked in dependencies_of(one):
            found |= {name, *(asked if isinstance(asked, list) else ())}
    return found


def is_map(schemas):
    others = [one["additionalProperties"] for one in schemas if "additionalProperties" in one]
    return (
        not any(one.get("properties") for one in schemas)
        or any(one.get("patternProperties") for one in schemas)
        or any(isinstance(one, dict) and one for one in others)
        or wants_more(schemas)
    )


def wants_more(schemas):
    """Return whether an object has to have more members than are named."""
    return max([one.get("minProperties", 0) for one in schemas], default=0) > len(names_of(schemas))


def below(schemas, name):
    for one in schemas:
        described = [one["properties"][name]] if name in one.get("properties", {}) else []
        described += [part for pattern, part in one.get("patternProperties", {}).items() if finds(pattern, name)]
        yield from described
        if not described and isinstance(one.get("additionalProperties"), dict):
            yield one["additionalProperties"]


def holds_only_named(root, schemas, value, *, widely=False):
    """Return whether every object holds members only that its schema names.

    `widely` says that an object that has to have some number of members, or must not be such as a schema says, is a map
    too: there may be no object of the named members alone.
    """
    schemas = in_place(root, schemas)
    widely_map = widely and any({"minProperties", "not"} & one.keys() for one in schemas)
    if isinstance(value, list):
        items = [one["items"] for one in schemas if "items" in one]
        return all(holds_only_named(root, items, one, widely=widely) for one in value)
    if not isinstance(value, dict):
        return True
    if not (widely_map or is_map(schemas)) and not value.keys() <= names_of(schemas):
        return False
    return all(holds_only_named(root, list(below(schemas, name)), held, widely=widely) for name, held in value.items())


def without_others(root, schemas, value, *, whole_maps):
    """Return a message without the members that the schema does not name."""
    schemas = in_place(root, schemas)
    if isinstance(value, list):
        items = [one["items"] for one in schemas if "items" in one]
        return [without_others(root, items, one, whole_maps=whole_maps) for one in value]
    if not isinstance(value, dict):
        return value
    named = names_of(schemas)
    matched = {
        name for name in value for one in schemas for key in one.get("patternProperties", ()) if finds(key, name)
    }
    others = any(isinstance(one.get("additionalProperties"), dict) and one["additionalProperties"] for one in schemas)
    kept = value if others or (whole_maps and wants_more(schemas)) else named | matched
    return {
        name: without_others(root, list(below(schemas, name)), held, whole_maps=whole_maps)
        for name, held in value.items()
        if name in kept
    }


def choices(schema, is_chosen):
    """Yield a schema with one alternative chosen wherever there are such as `is_chosen` says."""
    if not isinstance(schema, dict):
        yield schema
        return
    options = {}
    for word, held in schema.items():
        if word in ("anyOf", "oneOf") and is_chosen(schema, held):
            options[word] = [[one] for part in held for one in few(part, is_chosen)]
        elif word in ("allOf", "anyOf", "oneOf"):
            options[word] = [list(one) for one in product(*(few(part, is_chosen) for part in held))]
        elif word in ("properties", "definitions", "patternProperties"):
            below = product(*(few(one, is_chosen) for one in held.values()))
            options[word] = [dict(zip(held, one, strict=True)) for one in below]
        elif word in ("items", "additionalProperties", "then", "else"):
            options[word] = few(held, is_chosen)
        else:
            options[word] = [held]
    yield from (dict(zip(options, one, strict=True)) for one in product(*options.values()))


def few(schema, is_chosen):
    """Return the choices of a schema. Raises OverflowError if there are too many to validate a message by."""
    found = list(islice(choices(schema, is_chosen), MOST_CHOICES + 1))
    if len(found) > MOST_CHOICES:
        raise OverflowError
    return found


def without_counts(schema):
    """Return a schema that counts no members where it names as many as it asks for: those that are ignored count."""
    if isinstance(schema, list):
        return [without_counts(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found = {word: without_counts(held) for word, held in schema.items() if word not in ("not", "if")}
    if schema.get("patternProperties") or schema.get("minProperties", 0) <= len(schema.get("properties", ())):
        found.pop("minProperties", None)
    return {**found, **{word: schema[word] for word in ("not", "if") if word in schema}}


def is_choice(schema, parts):
    """Return whether the alternatives say all that a schema says of an object."""
    return (
        schema.keys() <= {"$schema", "definitions", "type", "anyOf", "oneOf"}
        and len(schema.keys() & {"anyOf", "oneOf"}) == 1
    )


def has_closed(schema, parts):
    return '"additionalProperties": false' in json.dumps([parts, schema.get("definitions")])


@cache
def readings(text, is_chosen):
    """Return the schema as it is written, and with each choice of alternatives, each with its validator."""
    schema = without_hidden(json.loads(text))
    found = [schema, *(one for one in few(schema, is_chosen) if one != schema)]
    if is_chosen is has_closed and "minProperties" in text:
        found += [without_counts(one) for one in found]
    return [(one, FAST_VALIDATORS[draft_of(schema)](one, offline=True, validate_formats=False)) for one in found]


@cache
def sent(text):
    """Return which messages a producer sends by a schema."""
    return [at for at, one in enumerate(MESSAGES) if sends(text, one)]


def sends(text, value, *, widely=False):
    """Return whether a producer sends a message by a schema, by every reading or widely by one."""
    (_, validator), *chosen = readings(text, is_choice)
    by = chosen or readings(text, is_choice)
    return validator.is_valid(value) and any(
        each.is_valid(value) and holds_only_named(schema, [schema], value, widely=widely) for schema, each in by
    )


def takes(text, value):
    """Return whether a consumer accepts a message by a schema."""
    for schema, validator in readings(text, has_closed):
        if validator.is_valid(value):
            return True
        for whole_maps in (False, True):
            if validator.is_valid(without_others(schema, [schema], value, whole_maps=whole_maps)):
                return True
    return False


def takes_by_all_readings(text, value):
    """Return whether a consumer accepts a message, whether members that it ignores count and have a name that fits or not."""
    (first, *_), chosen = readings(text, has_closed)[:1], readings(text, has_closed)[1:]
    return _takes_so(*first, value) and (not chosen or any(_takes_so(*one, value) for one in chosen))


def _takes_so(schema, validator, value):
    opened = without_refusal(schema)
    counted = FAST_VALIDATORS[draft_of(schema)](opened, offline=True, validate_formats=False)
    return validator.is_valid(without_others(schema, [schema], value, whole_maps=False)) and counted.is_valid(value)


def without_refusal(schema):
    """Return a schema that refuses no member for its name alone, save under a condition."""
    if isinstance(schema, list):
        return [without_refusal(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {word: held for word, held in schema.items() if word != "additionalProperties" or held is not False}
    return {word: held if word in ("not", "if") else without_refusal(held) for word, held in kept.items()}


def misses(old, new, value):
    """Return whether a message has a member that the old schema describes and the new one does not name."""
    old, new = without_hidden(old), without_hidden(new)
    return _misses((old, new), [old], [new], value)


def _misses(roots, mine, theirs, value):
    mine = in_place(roots[0], mine, tested=False)  # what is only asked about is not described
    theirs = in_place(roots[1], theirs)
    if isinstance(value, list):
        inside = [[one["items"] for one in schemas if "items" in one] for schemas in (mine, theirs)]
        return any(_misses(roots, *inside, one) for one in value)
    return isinstance(value, dict) and any(
        (name not in names_of(theirs) and any(one.get("properties", {}).get(name, False) is not False for one in mine))
        or _misses(roots, list(below(mine, name)), list(below(theirs, name)), held)
        for name, held in value.items()
    )


def missing(old, new):
    """Return a message that consumers of the old version are sent, and of which the new one no longer names a member."""
    roots = tuple(without_hidden(json.loads(one)) for one in (old, new))
    sides = [[one] for one in roots]
    return next((MESSAGES[at] for at in sent(old) if _misses(roots, *sides, MESSAGES[at])), None)


def refuting(old, new):
    """Return a message that one version sends and a consumer of the other refuses; None if none is known.

    Raises OverflowError if a schema has too many alternatives.
    """
    for writer, reader in ((old, new), (new, old)):
        for at in sent(writer):
            if not takes(reader, MESSAGES[at]) and is_confirmed(json.loads(writer), json.loads(reader), MESSAGES[at]):
                return MESSAGES[at]
    return None


def is_confirmed(writer, reader, value):
    """Return whether the validator that is slow, and not the one that searched, says the same of both schemas."""
    by = [jsonschema.validators.validator_for(one)(one) for one in (writer, reader)]
    return by[0].is_valid(value) and not by[1].is_valid(value)


def forget():
    """Forget what messages the schemas of before take."""
    sent.cache_clear()
    readings.cache_clear()
