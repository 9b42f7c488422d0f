"""Malicious schemas as text: the small ones are files, the large ones are generated here."""

from __future__ import annotations

import json

LIMIT = 1024 * 1024


def fill(make, limit=LIMIT):
    """Return a text of `make(n)` that is nearly as long as the limit."""
    count = limit // max(1, len(make(200)) - len(make(199)))
    while len(make(count)) >= limit:
        count = count * 97 // 100
    return make(count)


def chain(keyword):
    """Return schemas that each lead to the one before."""
    wrap = {
        "$ref": lambda inner: inner,
        "allOf": lambda inner: {"allOf": [inner]},
        "anyOf": lambda inner: {"anyOf": [inner, {"type": "null"}]},
        "not": lambda inner: {"not": inner},
        "properties": lambda inner: {"properties": {"x": inner}},
        "items": lambda inner: {"items": inner},
    }[keyword]

    def make(count):
        defined = {f"a{at}": wrap({"$ref": f"#/$defs/a{at - 1}"}) for at in range(1, count + 1)}
        return json.dumps({"$defs": {"a0": {"type": "string"}, **defined}, "$ref": f"#/$defs/a{count}"})

    return make


def laughs(keyword):
    """Return schemas that each name the one before twice, ten and more deep."""

    def make(count):
        twice = [{"$ref": "#/$defs/a{}"}] * 2
        defined = {
            f"a{at}": {keyword: json.loads(json.dumps(twice).replace("{}", str(at - 1)))} for at in range(1, count + 1)
        }
        return json.dumps({"$defs": {"a0": {"type": "string"}, **defined}, "$ref": f"#/$defs/a{count}"})

    return make


def of(shape):
    return lambda count: json.dumps(shape(count))


JSON_SCHEMAS = {
    **{f"a chain through {keyword}": chain(keyword) for keyword in ("$ref", "allOf", "anyOf", "not", "properties", "items")},
    **{f"laughs through {keyword}": laughs(keyword) for keyword in ("allOf", "anyOf", "oneOf")},
    "brackets and nothing else": lambda count: "[" * count,
    "brackets side by side": lambda count: "[" + "[]," * count + "[]]",
    "one long number": lambda count: '{"const": ' + "9" * count + "}",
    "one long fraction": lambda count: '{"const": 0.' + "9" * count + "}",
    "long exponents": lambda count: '{"enum": [' + "1e-999999999," * count + "1]}",
    "numbers": lambda count: '{"enum": [' + "1," * count + "1]}",
    "one long text": lambda count: '{"title": "' + "a" * count + '"}',
    "backslashes": lambda count: '{"title": "' + "\\\\" * count + '"}',
    "quotation marks": lambda count: '"' * count,
    "blanks": lambda count: " " * count,
    "halves of characters": lambda count: '{"title": "' + "\\ud800" * count + '"}',
    "one key again and again": lambda count: "{" + '"a": 1,' * count + '"a": 1}',
    "properties": of(lambda n: {"properties": {f"p{at}": {"type": ["string", "null"]} for at in range(n)}}),
    "properties with alternatives": of(
        lambda n: {"properties": {f"p{at}": {"anyOf": [{"type": "string"}, {"type": "null"}]} for at in range(n)}}
    ),
    "references": of(lambda n: {"$defs": {"a": {}}, "properties": {f"p{at}": {"$ref": "#/$defs/a"} for at in range(n)}}),
    "alternatives": of(lambda n: {"oneOf": [{"properties": {"k": {"const": at}}} for at in range(n)]}),
    "alternatives of alternatives": of(
        lambda n: {"allOf": [{"oneOf": [{"required": [f"a{at}"]}, {"required": [f"b{at}"]}]} for at in range(n)]}
    ),
    "dependencies": of(lambda n: {"dependentSchemas": {f"a{at}": {"required": [f"a{at + 1}"]} for at in range(n)}}),
    "definitions of all addresses": of(lambda n: {"$defs": {f"a{at}": {"$id": f"http://a/{at}"} for at in range(n)}, "$ref": "a"}),
    "anchors": of(lambda n: {"$defs": {f"a{at}": {"$anchor": f"x{at}"} for at in range(n)}, "$ref": "#x0"}),
    "patterns": of(lambda n: {"patternProperties": {f"^(a{at}|b)*$": True for at in range(n)}}),
    "patterns that count": of(lambda n: {"allOf": [{"pattern": f"(x{{{900 + at % 99}}})+{at}"} for at in range(n)]}),
    "one long pattern": of(lambda n: {"pattern": "(a|b)*" * n}),
    "one pattern that counts": of(lambda n: {"pattern": "(a{1000}b)" * n}),
    "values": of(lambda n: {"enum": [f"v{at}" for at in range(n)]}),
    "the words of no schema": of(lambda n: {f"word{at}": {"type": at} for at in range(n)}),
    "what is no type": of(lambda n: {"properties": {f"p{at}": {"type": "strin"} for at in range(n)}}),
    "members that all ask for one another": of(
        lambda n: {"$defs": {f"n{at}": {"properties": {f"p{to}": {"$ref": f"#/$defs/n{(at * 7 + to) % n}"} for to in range(10)}} for at in range(n)}}
    ),
    "addresses in one another": of(
        lambda n: {"$id": "http://a/" + "b/" * 200, "allOf": [{"$ref": "../" * 100 + "#"} for _ in range(n)]}
    ),
}  # fmt: skip


def record(name, *fields):
    return {"type": "record", "name": name, "fields": [{"name": key, "type": kind} for key, kind in fields]}


AVRO_SCHEMAS = {
    "fields": of(lambda n: record("R", *((f"f{at}", "string") for at in range(n)))),
    "fields of unions": of(lambda n: record("R", *((f"f{at}", ["null", "string"]) for at in range(n)))),
    "records that multiply": of(
        lambda n: [record("R0", ("a", "long")), *(record(f"R{at}", ("a", f"R{at - 1}"), ("b", f"R{at - 1}")) for at in range(1, n))]
    ),
    "records in a row": of(lambda n: [record("R0", ("a", "long")), *(record(f"R{at}", ("a", f"R{at - 1}")) for at in range(1, n))]),
    "branches": of(lambda n: [{"type": "enum", "name": f"E{at}", "symbols": ["X"]} for at in range(n)]),
    "symbols": of(lambda n: {"type": "enum", "name": "E", "symbols": [f"S{at}" for at in range(n)]}),
    "aliases": of(lambda n: {"type": "fixed", "name": "F", "size": 1, "aliases": [f"a.b{at}" for at in range(n)]}),
    "one long name": of(lambda n: {"type": "fixed", "name": "a." * n + "F", "size": 1}),
    "one long default": of(
        lambda n: {"type": "record", "name": "R", "fields": [{"name": "a", "type": {"type": "array", "items": "int"}, "default": [1] * n}]}
    ),
    "defaults for unions of unions": of(
        lambda n: {
            "type": "record", "name": "T", "fields": [{
                "name": "a",
                "type": {"type": "array", "items": [
                    "null",
                    {"type": "record", "name": "L", "fields": [{"name": "f", "type": ["null", "L", {"type": "map", "values": ["L", "string"]}]}]},
                ]},
                "default": [{"f": {"f": {"f": {"f": {"f": {"f": 1}}}}}}] * n,
            }],
        }
    ),
    "types of types": lambda count: '{"type":' * 127 + '"int"' + "}" * 127 + " " * count,
    "decimals": of(lambda n: record("R", *((f"f{at}", {"type": "bytes", "logicalType": "decimal", "precision": 10**300, "scale": 2}) for at in range(n)))),
}  # fmt: skip
