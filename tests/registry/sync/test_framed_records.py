"""Records framed for a schema registry, where the registry, the schema or the record is not as it should be."""

import io
import json
import socket

import fastavro
import patient
import pyarrow as pa
import pytest
from record_batches import batch_of
from registry_servers import serving
from topics import CATALOGUE

from cdc_contracts.registry.authoring.sync.schema_sources import open_source
from cdc_contracts.registry.core.common.errors import UnavailableError, UsageError
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.engine.native import framed_reading
from cdc_contracts.registry.core.validate.validation_context import open_validation

SOURCE = {"type": "record", "name": "Source", "fields": [
    {"name": name, "type": "string"} for name in ("version", "connector", "name", "db", "schema", "table")
]}  # fmt: skip
ROW = {"type": "record", "name": "Value", "fields": [
    {"name": "id", "type": "int"},
    {"name": "rate", "type": ["null", "float"], "default": None},
    {"name": "price", "type": {
        "type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2,
        "connect.name": "org.apache.kafka.connect.data.Decimal", "connect.parameters": {"scale": "2"},
    }},
]}  # fmt: skip
ENVELOPE = {"type": "record", "name": "Envelope", "namespace": "shop.orders", "fields": [
    {"name": "before", "type": ["null", ROW], "default": None},
    {"name": "after", "type": ["null", "Value"], "default": None},
    {"name": "source", "type": SOURCE},
    {"name": "op", "type": "string"},
    {"name": "ts_ms", "type": ["null", "long"], "default": None},
]}  # fmt: skip
MESSAGE = {
    "before": None, "after": {"id": 7, "rate": 0.1, "price": b"\x30\x39"}, "op": "c", "ts_ms": 1_760_000_000_000,
    "source": {"version": "3.5.0.Final", "connector": "postgresql", "name": "shop", "db": "shop", "schema": "public",
               "table": "orders"},
}  # fmt: skip
OTHER = {"type": "record", "name": "Other", "fields": [{"name": "text", "type": "string"}]}
WITHIN_ITSELF = {"type": "record", "name": "Node", "fields": [{"name": "next", "type": ["null", "Node"]}]}
SEVERAL = {"type": "record", "name": "Several", "fields": [{"name": "it", "type": ["string", "int"]}]}
DEEP = {"type": "array", "items": "int"}
for _ in range(80):
    DEEP = {"type": "array", "items": DEEP}


def body_of(schema, message):
    """The bytes of a record; decimals are given as the bytes they are written as."""
    plain = json.loads(json.dumps(schema).replace('"logicalType": "decimal"', '"was": "decimal"'))
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(plain), message)
    return out.getvalue()


def frame(number, body):
    return b"\0" + number.to_bytes(4, "big") + body


@pytest.fixture(scope="module")
def registry(tmp_path_factory):
    with serving(f"sqlite:///{tmp_path_factory.mktemp('registry')}/schemas.sqlite") as address:
        yield address


def register(registry, schema, kind="AVRO"):
    subject = f"s{abs(hash(json.dumps(schema)))}-value"
    answer = patient.post(
        f"{registry}/subjects/{subject}/versions", json={"schema": json.dumps(schema), "schemaType": kind}
    )
    assert answer.is_success, answer.text
    return answer.json()["id"]


def written(place, values, contract="debezium/json-schema@4"):
    options = ReadingOptions(schemas=open_source(str(place)))
    return list(
        Kernel(open_validation(CATALOGUE, contract, options)).decode(
            batch_of([(0, at, value) for at, value in enumerate(values)])
        )
    )


@pytest.fixture(params=["eager", "off"], autouse=True)
def native(request, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", request.param)


def test_a_record_is_read_by_the_schema_of_its_id_with_its_decimals_and_floats(registry):
    number = register(registry, ENVELOPE)
    (part,) = written(registry, [frame(number, body_of(ENVELOPE, MESSAGE)), None])
    (row,) = part.changes.to_pylist()
    assert row["after"] == [("id", "7"), ("rate", "0.1"), ("price", "123.45")]
    assert dict(row["column_types"])["price"] == "org.apache.kafka.connect.data.Decimal(9,2)"
    assert part.tally.outcomes == {"conforming": 1, "tombstone": 1}


BAD = {
    "an-id-that-nobody-knows": (lambda _: frame(4_000_000, b"\2"), "schema id 4000000: the registry has no such"),
    "an-id-that-none-can-have": (lambda _: frame(4_000_000_000, b"\2"), "schema id 4000000000: no registry has"),
    "five-bytes-only": (lambda of: frame(of(ENVELOPE), b""), "no record of the schema with id"),
    "a-record-that-is-cut": (lambda of: frame(of(ENVELOPE), body_of(ENVELOPE, MESSAGE)[:-3]), "no record of the schema"),
    "bytes-behind-a-record": (lambda of: frame(of(ENVELOPE), body_of(ENVELOPE, MESSAGE) + b"\0"), "bytes left unread"),
    "a-record-of-another-schema": (lambda of: frame(of(OTHER), body_of(ENVELOPE, MESSAGE)), "by the schema with id|no record"),
    "a-schema-within-itself": (lambda of: frame(of(WITHIN_ITSELF), b"\0"), "the record Node within itself"),
    "a-union-of-several-types": (lambda of: frame(of(SEVERAL), b"\0\2a"), "a union of several types"),
    "a-json-schema": (lambda of: frame(of({"type": "object"}, "JSON"), b"{}"), "a JSON Schema, whose types are not read"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_a_record_that_cannot_be_read_is_quarantined_whole_with_the_id_of_its_schema(registry, case):
    make, said = BAD[case]
    value = make(lambda schema, kind="AVRO": register(registry, schema, kind))
    good = frame(register(registry, ENVELOPE), body_of(ENVELOPE, MESSAGE))
    parts = written(registry, [good, value, good])
    rows = [row for part in parts for row in part.changes.to_pylist()]
    (refused,) = [row for part in parts for row in part.quarantine.to_pylist()]

    assert [row["offset"] for row in rows] == [0, 2]
    assert (refused["offset"], refused["value"], refused["outcome"]) == (1, value, "unreadable")
    (finding,) = refused["findings"]
    assert any(one in finding["observed"] for one in said.split("|")), finding


KEY = {"type": "record", "name": "Key", "fields": [{"name": "id", "type": "int"}]}


def test_a_null_value_is_the_deletion_of_the_row_that_a_framed_key_names(registry):
    key = frame(register(registry, KEY), body_of(KEY, {"id": 7}))
    options = ReadingOptions(
        schemas=open_source(registry), parameters={"null_values": "deletion"}, table="orders"
    )  # fmt: skip
    validation = open_validation(CATALOGUE, "debezium/flat@2", options)
    records = batch_of([(0, at, None) for at in range(3)])
    records = records.append_column("key", pa.array([key, b"\0\0\0\0\1", None], pa.binary()))
    (part,) = Kernel(validation).decode(records)

    assert [(row["op"], row["before"]) for row in part.changes.to_pylist()] == [("delete", [("id", "7")])]
    assert part.tally.outcomes == {"conforming": 1, "tombstone": 2}
    assert validation.validate(None, key).changes[0].before == {"id": "7"}


def test_a_value_that_is_json_is_read_beside_framed_ones(registry):
    number = register(registry, ENVELOPE)
    plain = {**MESSAGE, "after": {"id": 7}}
    values = [json.dumps(plain).encode(), frame(number, body_of(ENVELOPE, MESSAGE))]
    (part,) = written(registry, values, "debezium/json@4")
    assert [dict(row["after"])["id"] for row in part.changes.to_pylist()] == ["7", "7"]


def test_a_registry_that_does_not_answer_stops_the_run_and_quarantines_nothing():
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        place = f"http://127.0.0.1:{closed.getsockname()[1]}"
        with pytest.raises(UnavailableError, match="the registry cannot be reached"):
            written(place, [frame(1, body_of(ENVELOPE, MESSAGE))])


@pytest.mark.parametrize("place", ["no-such-folder", "ftp://registry", "http://user:secret@registry"])
def test_a_place_that_is_no_registry_is_refused_before_anything_is_read(place):
    with pytest.raises(UsageError) as error:
        open_source(place)
    assert "secret" not in str(error.value)


def test_access_to_a_registry_is_shown_nowhere(registry, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_REGISTRY_USER", "reader")
    monkeypatch.setenv("CDC_CONTRACTS_REGISTRY_PASSWORD", "hush-hush")
    schemas = open_source(registry)
    options = ReadingOptions(schemas=schemas)
    assert "hush-hush" not in options.identity() + repr(schemas) + repr(options)
    assert json.loads(options.identity())["schemas"] == registry


def test_records_whose_names_are_endless_are_refused_and_the_others_are_read(registry, native, monkeypatch):
    monkeypatch.setattr(framed_reading, "MOST_JSON", 1 << 16)
    endless = {"type": "record", "name": "Endless", "fields": [{"name": "n" * 40_000, "type": "int"}]}
    good = frame(register(registry, ENVELOPE), body_of(ENVELOPE, MESSAGE))
    parts = written(registry, [good, *[frame(register(registry, endless), b"\0")] * 3])
    assert [row["offset"] for part in parts for row in part.changes.to_pylist()] == [0]
    refused = [row for part in parts for row in part.quarantine.to_pylist()]
    assert [row["offset"] for row in refused] == [1, 2, 3]
