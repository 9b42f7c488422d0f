"""Every rule of Avro compatibility on a pair of schemas: what is reported, where, and a proof that holds."""

import io
import json
from contextlib import suppress
from pathlib import Path

import fastavro
import pytest
import yaml

from cdc_contracts.registry.authoring.compat.avro.avro_comparison import compare_avro
from cdc_contracts.registry.authoring.compat.compatibility_rule import compatibility_rules
from cdc_contracts.registry.authoring.compat.levels import Level, Policy
from cdc_contracts.registry.core.schema.schema_documents import read_schema

CASES = sorted((Path(__file__).parent / "cases").glob("*.yaml"))


def read(schema, name):
    return read_schema(json.dumps(schema), type="AVRO", name=name)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_pair_gives_exactly_its_findings(path):
    case = yaml.safe_load(path.read_text())
    found = compare_avro(
        read(case["old"], "old"), read(case["new"], "new"), level=Level(case["level"]), policy=Policy(case["policy"])
    )
    assert [reported(finding) for finding in found] == [
        {
            key: one[key]
            for key in ("rule", "severity", "direction", "path", "old", "new", "places", "confluent", "proof")
        }
        for one in case["findings"]
    ]
    for finding, expected in zip(found, case["findings"], strict=True):
        if "message" in expected:
            assert finding.proof.message == expected["message"]
        if "reads" in expected:
            assert [finding.proof.old, finding.proof.new] == expected["reads"]
        if "why" in expected:
            assert expected["why"] in {finding.proof.old, finding.proof.new}.difference({"accepted"}).pop()
        if finding.proof is not None:
            check(finding.proof, case)


def reported(finding):
    return {
        "rule": finding.rule,
        "severity": finding.severity,
        "direction": finding.direction,
        "path": finding.path,
        "old": finding.old,
        "new": finding.new,
        "places": [place and place.pointer for place in (finding.old_place, finding.new_place)],
        "confluent": finding.confluent_rule,
        "proof": finding.proof and finding.proof.kind,
    }


def check(proof, case):
    """Read the message of a proof once more, without the code that made it."""
    if proof.kind == "read-differently":
        read = [
            values(proof.message, case[writer], case[reader]) for writer, reader in (("old", "new"), ("new", "old"))
        ]
        assert any(len({repr(value) for value in seen}) > 1 for seen in read if seen), "all readings are alike"
        return
    writer, reader = (case["old"], case["new"]) if proof.kind == "refused-by-new" else (case["new"], case["old"])
    message = write(proof.message, writer)
    with pytest.raises((fastavro.read.SchemaResolutionError, UnicodeDecodeError)):
        fastavro.schemaless_reader(io.BytesIO(message), plain(writer), plain(reader))


def values(message, writer, reader):
    """Return what the writer means, what resolution gives, and what the reader alone takes the bytes for."""
    try:
        written = write(message, writer)
    except (KeyError, ValueError, TypeError, AttributeError, StopIteration):
        return None  # it is a message of the other version
    seen = [fastavro.schemaless_reader(io.BytesIO(written), plain(writer), None)]
    with suppress(fastavro.read.SchemaResolutionError):
        seen.append(fastavro.schemaless_reader(io.BytesIO(written), plain(writer), plain(reader)))
    with suppress(EOFError, IndexError):
        seen.append(fastavro.schemaless_reader(io.BytesIO(written), plain(reader), None))
    return seen


def write(message, schema):
    """Return the bytes of a message in Avro's JSON form, taken as bare types."""
    bare = plain(schema, bare=True)
    out = io.BytesIO()
    fastavro.schemaless_writer(out, bare, datum_of(message, bare, {}))
    return out.getvalue()


def datum_of(message, schema, named):
    """Return a message in Avro's JSON form as fastavro writes it; its own reader of that form knows no recursion."""
    schema = named.get(schema, schema) if isinstance(schema, str) else schema
    if isinstance(schema, list):
        if message is None:
            return None
        ((branch, inside),) = message.items()
        found = next(one for one in schema if branch in (one, isinstance(one, dict) and one.get("name", one["type"])))
        return branch, datum_of(inside, found, named)
    kind = schema["type"] if isinstance(schema, dict) else schema
    if isinstance(schema, dict) and "name" in schema:
        named[schema["name"]] = schema
    match kind:
        case "record":
            return {one["name"]: datum_of(message[one["name"]], one["type"], named) for one in schema["fields"]}
        case "array":
            return [datum_of(one, schema["items"], named) for one in message]
        case "map":
            return {name: datum_of(one, schema["values"], named) for name, one in message.items()}
        case "bytes" | "fixed":
            return message.encode("latin-1")
    return message


def plain(schema, *, bare=False):
    text = json.dumps(schema)
    return fastavro.parse_schema(json.loads(text.replace('"logicalType"', '"was"') if bare else text))


def test_every_rule_has_a_case_that_proves_it():
    shown = {yaml.safe_load(path.read_text()).get("rules") for path in CASES}
    assert {rule.id for rule in compatibility_rules() if rule.id.startswith("C2")} - shown == {
        "C214"
    }  # which the test below is about


def test_records_that_meet_in_too_many_pairs_are_left_undecided():
    def many(kind):
        rows = [
            {"type": "record", "name": f"n{at}.Row", "fields": [{"name": f"f{one}", "type": kind} for one in range(90)]}
            for at in range(100)
        ]
        inner = ["null", *(f"n{at}.Row" for at in range(100))]
        holders = [
            {
                "type": "record",
                "name": f"m{at}.Top",
                "fields": [{"name": f"r{one}", "type": f"n{(at + one) % 100}.Row"} for one in range(60)],
            }
            for at in range(25)
        ]
        return [*rows, *holders, {"type": "map", "values": inner}]

    old = many("string")
    new = [
        {**one, "fields": [{"name": f"r{k}", "type": f"n{(at * 7 + k * 4) % 100}.Row"} for k in range(60)]}
        if one["type"] == "record" and one["name"].endswith("Top") else one
        for at, one in enumerate(old)
    ]  # fmt: skip
    found = compare_avro(read(old, "old"), read(new, "new"), level=Level.BACKWARD, policy=Policy.CONFLUENT_STRICT)
    assert [(finding.rule, finding.severity) for finding in found] == [("C214", "undecided")]
