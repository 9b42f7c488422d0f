"""What the policy cdc means, decided for one message at a time from schemas as they are written.

A producer sends what its schema accepts, with members that the schema names and no others. An object whose schema names
no properties, says what members of other names are, or asks for more members than it names is a map and may hold any. A
consumer accepts a message if its schema does, with the members that it does not name or without them; where members are
counted, they may count. Of alternatives each describes an object on its own. Nothing of the comparison is used.

Where that leaves a choice, a message refutes that schemas are compatible only if it does by every reading, and it shows
that they are not if it does by one.
"""

import json
import re
from functools import cache
from itertools import islice, product

import jsonschema
from schema_pairs import messages

from cdc_contracts.registry.core.schema.json_schemas.schema_checks import VALIDATORS
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


def has_misfit(schema, schemas):
    """Return whether a schema asks for names of another form than one of those that the schemas name."""
    pattern = schema.get("propertyNames", {}).get("pattern", "")
    return any(re.search(pattern, name) is None for name in names_of(schemas))


def below(schemas, name):
    for one in schemas:
        described = [one["properties"][name]] if name in one.get("properties", {}) else []
        described += [part for pattern, part in one.get("patternProperties", {}).items() if finds(pattern, name)]
        yield from described
        if not described and isinstance(one.get("additionalProperties"), dict):
            yield one["additionalProperties"]


def holds_only_named(root, schemas, value, *, widely=False):
    """Return whether every object holds members only that its schema names.

    `widely` says that an object that has to have some number of members, must not be such as a schema says, or must not
    have one of the names that are named, is a map too: there may be no object of the named members alone.
    """
    schemas = in_place(root, schemas)
    widely_map = widely and any({"minProperties", "not"} & one.keys() or has_misfit(one, schemas) for one in schemas)
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


def choices(schema, is_chosen, *, apart=False):
    """Yield a schema with one alternative chosen wherever there are such as `is_chosen` says.

    `apart` says that a value must still not fit the others of `oneOf`.
    """
    if not isinstance(schema, dict):
        yield schema
        return
    options = {}
    for word, held in schema.items():
        if word in ("anyOf", "oneOf") and is_chosen(schema, held):
            options[word] = []
            for at, part in enumerate(held):
                others = [*held[:at], *held[at + 1 :]] if apart and word == "oneOf" else []
                for one in few(part, is_chosen, apart=apart):
                    options[word].append([{"allOf": [one, {"not": {"anyOf": others}}]} if others else one])
        elif word in ("allOf", "anyOf", "oneOf"):
            options[word] = [list(one) for one in product(*(few(part, is_chosen, apart=apart) for part in held))]
        elif word in ("properties", "definitions", "patternProperties"):
            below = product(*(few(one, is_chosen, apart=apart) for one in held.values()))
            options[word] = [dict(zip(held, one, strict=True)) for one in below]
        elif word in ("items", "additionalProperties", "then", "else"):
            options[word] = few(held, is_chosen, apart=apart)
        else:
            options[word] = [held]
    yield from (dict(zip(options, one, strict=True)) for one in product(*options.values()))


def few(schema, is_chosen, *, apart=False):
    """Return the choices of a schema. Raises OverflowError if there are too many to validate a message by."""
    found = list(islice(choices(schema, is_chosen, apart=apart), MOST_CHOICES + 1))
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
    """Return the schema as it is written, and with each choice of alternatives, each with its validator.

    A producer chooses one alternative of `oneOf` and sends what the others refuse; a consumer does not ask the others.
    """
    schema = without_hidden(json.loads(text))
    chosen = zip(few(schema, is_chosen), few(schema, is_chosen, apart=is_chosen is is_choice), strict=True)
    return [(one, fast(apart)) for one, apart in [(schema, schema), *(pair for pair in chosen if pair[0] != schema)]]


@cache
def uncounted(text):
    """Return what a consumer reads that counts no members, each with its validator."""
    if "minProperties" not in text:
        return []
    return [(one, fast(one)) for one in (without_counts(schema) for schema, _ in readings(text, has_closed))]


def fast(schema):
    return VALIDATORS[draft_of(schema)](schema, offline=True, validate_formats=False)


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
    for schema, validator in (*readings(text, has_closed), *uncounted(text)):
        if validator.is_valid(value):
            return True
        for whole_maps in (False, True):
            if validator.is_valid(without_others(schema, [schema], value, whole_maps=whole_maps)):
                return True
        if '"additionalProperties": false' in text and not names_too_few(schema) and takes_others(schema, value):
            return True
    return False


def names_too_few(schema):
    """Return whether a schema that refuses members names fewer than are asked for, in it or beside it.

    It accepts no object then: members that are ignored count, but must not make up the number.
    """
    waiting, least, fewest = [schema], 0, []
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting += one
        elif isinstance(one, dict):
            waiting += one.values()
            asked = one.get("minProperties", 0)
            least = max(least, asked if isinstance(asked, int) else 0)
            if one.get("additionalProperties") is False and not one.get("patternProperties"):
                fewest.append(len(one.get("properties", ())))
    return least > min(fewest, default=least)


def takes_by_all_readings(text, value):
    """Return whether a consumer accepts a message, whether members that it ignores count and have a name that fits or not."""
    first, *chosen = readings(text, has_closed)
    return _takes_so(*first, value) and (not chosen or any(_takes_so(*one, value) for one in chosen))


def _takes_so(schema, validator, value):
    without = without_others(schema, [schema], value, whole_maps=False)
    return validator.is_valid(without) and takes_others(schema, value)


def takes_others(schema, value):
    """Return whether a schema accepts a message with the members that it does not name, where it refuses them too."""
    others = dropped(value, without_others(schema, [schema], value, whole_maps=False))
    return fast(with_others(schema, others)).is_valid(value)


def dropped(value, kept):
    """Return the names of members that a message has and what is kept of it has not."""
    if isinstance(value, list):
        return {name for pair in zip(value, kept, strict=True) for name in dropped(*pair)}
    if not isinstance(value, dict):
        return set()
    inside = {below for name in kept for below in dropped(value[name], kept[name])}
    return {*(value.keys() - kept.keys()), *inside}


def with_others(schema, others):
    """Return a schema that refuses no member of these names for its name alone, save under a condition."""
    if isinstance(schema, list):
        return [with_others(one, others) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found = {word: held if word in ("not", "if") else with_others(held, others) for word, held in schema.items()}
    if schema.get("additionalProperties") is False:
        found["properties"] = {**{name: {} for name in sorted(others)}, **found.get("properties", {})}
    return found


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
    uncounted.cache_clear()
    readings.cache_clear()
