"""Pairs of Avro schemas for hypothesis: the second is the first with a few things changed, or another one."""

from __future__ import annotations

import copy

from hypothesis import strategies as st

PRIMITIVES = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
DEFAULTS = {
    "null": None, "boolean": True, "int": 1, "long": 2, "float": 1.5, "double": 2.5, "bytes": "\xff", "string": "text",
}  # fmt: skip

VALUES = {
    "null": (None,), "boolean": (True, False), "int": (0, 2**31 - 1, -(2**31)), "long": (0, 2**63 - 1, -(2**63)),
    "float": (0.5, -1.0), "double": (1e300, -0.0), "bytes": (b"", b"\xff\x00"), "string": ("", "\u00e9", "\U0001f600"),
}  # fmt: skip
PROMOTED = {"int": "long", "long": "double", "float": "double", "string": "bytes", "bytes": "string"}


@st.composite
def schemas(draw):
    """Return a record; names are defined where they are first used, and used again afterwards."""
    return _record(draw, set(), 3)


def _type(draw, used, depth):
    kinds = [*PRIMITIVES, "enum", "fixed"] + (["array", "map", "union", "record"] * 3 if depth else [])
    kind = draw(st.sampled_from(kinds))
    match kind:
        case "enum":
            return _named(draw, used, ("E", "F"), _enum)
        case "fixed":
            return _named(draw, used, ("K", "L"), lambda draw, name: {"size": draw(st.integers(0, 2))})
        case "array":
            return {"type": "array", "items": _type(draw, used, depth - 1)}
        case "map":
            return {"type": "map", "values": _type(draw, used, depth - 1)}
        case "union":
            branches = [_type(draw, used, depth - 1) for _ in range(draw(st.integers(1, 3)))]
            kept = {_label(one): one for one in branches if not isinstance(one, list)}
            return [*dict.fromkeys(["null"])] if not kept else list(kept.values())
        case "record":
            return _record(draw, used, depth - 1)
    return kind


def _enum(draw, name):
    symbols = draw(st.lists(st.sampled_from("XYZ"), min_size=1, max_size=3, unique=True))
    return {"symbols": symbols, **({"default": symbols[0]} if draw(st.booleans()) else {})}


def _named(draw, used, names, make):
    name = draw(st.sampled_from(names))
    if name in used:
        return name
    used.add(name)
    kind = {"E": "enum", "F": "enum", "K": "fixed", "L": "fixed"}[name]
    return {"type": kind, "name": name, **make(draw, name)}


def _record(draw, used, depth):
    free = [name for name in ("R", "S", "T") if name not in used]
    if not free:
        return "string"
    name = free[0]
    used.add(name)
    fields = []
    for field in draw(st.lists(st.sampled_from("abcd"), max_size=3, unique=True)):
        inner = [name, "null"][:: draw(st.sampled_from((1, -1)))] if draw(st.integers(0, 9)) == 0 else None
        kind = inner or _type(draw, used, depth)
        default = (
            {"default": DEFAULTS[kind]} if isinstance(kind, str) and kind in DEFAULTS and draw(st.booleans()) else {}
        )
        fields.append({"name": field, "type": kind, **default})
    return {"type": "record", "name": name, "fields": fields}


def _label(kind):
    return kind if isinstance(kind, str) else kind.get("name", kind["type"])


@st.composite
def pairs(draw):
    """Return a writer's and a reader's schema: mostly neighbours, as versions are."""
    writer = draw(schemas())
    reader = copy.deepcopy(writer) if draw(st.integers(0, 3)) else draw(schemas())
    for _ in range(draw(st.integers(0, 3))):
        _change(draw, reader)
    return writer, reader


def _change(draw, schema):
    record = draw(st.sampled_from(list(_records(schema))))
    draw(st.sampled_from((_drop, _add, _promote, _make_nullable, _rename, _add_symbol)))(draw, record["fields"])


def _drop(draw, fields):
    del fields[-1:]


def _add(draw, fields):
    if "z" not in [one["name"] for one in fields]:
        fields.append({"name": "z", "type": "int", **({"default": 0} if draw(st.booleans()) else {})})


def _promote(draw, fields):
    for one in fields:
        if isinstance(one["type"], str) and one["type"] in PROMOTED:
            one["type"] = PROMOTED[one["type"]]
            one.pop("default", None)


def _make_nullable(draw, fields):
    for one in fields:
        if one["type"] in ("int", "long", "string"):
            one["type"] = ["null", one["type"]]
            one.pop("default", None)


def _rename(draw, fields):
    if fields and "y" not in [one["name"] for one in fields]:
        alias = {"aliases": [fields[-1]["name"]]} if draw(st.booleans()) else {}
        fields[-1].update(name="y", **alias)


def _add_symbol(draw, fields):
    for one in fields:
        if isinstance(one["type"], dict) and one["type"]["type"] == "enum":
            one["type"]["symbols"] = [*one["type"]["symbols"], "W"]


def _records(schema):
    if isinstance(schema, list):
        for one in schema:
            yield from _records(one)
    elif isinstance(schema, dict):
        if schema["type"] == "record":
            yield schema
            for field in schema["fields"]:
                yield from _records(field["type"])
        yield from _records(schema.get("items", schema.get("values", "null")))


def data(draw, schema, named, depth=3):
    """Return a datum of a schema, with the branches of unions named; `named` are the types that have names."""
    schema = named.get(schema, schema) if isinstance(schema, str) else schema
    if isinstance(schema, list):
        branch = draw(st.sampled_from(schema)) if depth > 0 or "null" not in schema else "null"
        reported = data(draw, branch, named, depth - 1)
        return None if branch == "null" else (_label(branch), reported)
    kind = schema["type"] if isinstance(schema, dict) else schema
    match kind:
        case "record":
            return {one["name"]: data(draw, one["type"], named, depth - 1) for one in schema["fields"]}
        case "array":
            return [data(draw, schema["items"], named, depth - 1) for _ in range(draw(st.integers(0, 2)))]
        case "map":
            return {
                key: data(draw, schema["values"], named, depth - 1) for key in draw(st.sampled_from(("", "k", "kl")))
            }
        case "enum":
            return draw(st.sampled_from(schema["symbols"]))
        case "fixed":
            return b"\xff" * schema["size"]
    return draw(st.sampled_from(VALUES[kind]))
