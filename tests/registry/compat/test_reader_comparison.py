"""Two schemas of a registry: whether readers of each read records of the other, by the rules of `compat`."""

import json

import pytest

from cdc_contracts.registry.authoring.compat.reader_comparison import compare_readers
from cdc_contracts.registry.core.writer_schemas.writer_schemas import SchemaText

ID = {"name": "id", "type": "int"}
NOTE = {"name": "note", "type": ["null", "string"], "default": None}


def record(*fields):
    return SchemaText("AVRO", json.dumps({"type": "record", "name": "R", "fields": fields}))


def of_time(name):
    return record({"name": "at", "type": {"type": "long", "connect.name": f"io.debezium.time.{name}"}})


def json_of(**types):
    properties = {name: {"type": kind} for name, kind in types.items()}
    return SchemaText("JSON", json.dumps({"type": "object", "properties": properties, "required": ["id"]}))


CASES = {
    "the same": (record(ID), record(ID), (True, True), ""),
    "a column with a default": (record(ID), record(ID, NOTE), (True, True), ""),
    "a column without one": (record(ID), record(ID, {"name": "note", "type": "string"}), (False, True), "C204"),
    "a column gone": (record(ID, NOTE), record(ID), (True, False), "C210"),
    "a wider integer": (record(ID), record({"name": "id", "type": "long"}), (True, False), "C205"),
    "another unit of time": (of_time("Timestamp"), of_time("MicroTimestamp"), (False, False), "C208"),
    "null": (record(ID), record({"name": "id", "type": ["null", "int"]}), (True, False), "C205"),
    "JSON, another type": (json_of(id="integer"), json_of(id="string"), (False, False), "C"),
    "JSON, the same": (json_of(id="integer"), json_of(id="integer"), (True, True), ""),
    "another language": (record(ID), json_of(id="integer"), (False, False), "C101"),
    "no schema": (record(ID), SchemaText("AVRO", '{"type": "nothing"}'), (None, None), "not compared"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_readers_of_two_schemas_are_told_with_the_rule_that_breaks(case):
    earlier, later, wanted, rule = CASES[case]
    found = compare_readers(earlier, later)
    assert (found.later_reads, found.earlier_reads) == wanted
    assert [one for one in found.reasons[:1] if one.startswith(rule)] == list(found.reasons[:1])
    assert bool(found.reasons) == bool(rule)


def test_no_default_is_told_as_it_may_be_a_value_of_a_row():
    secret = {"name": "note", "type": "string", "default": "hush-hush"}
    assert "hush" not in " ".join(compare_readers(record(ID, secret), record(ID)).reasons)


def test_a_type_of_another_subject_is_compared_where_schemas_refer_to_it():
    whole = json.dumps({"type": "record", "name": "R", "fields": [{"name": "key", "type": "Key"}]})
    inner = [
        json.dumps({"type": "record", "name": "Key", "fields": [{"name": "id", "type": kind}]})
        for kind in ("int", "string")
    ]
    old, new = (SchemaText("AVRO", whole, {"Key": text}) for text in inner)
    found = compare_readers(old, new)
    assert (found.later_reads, found.earlier_reads) == (False, False)
