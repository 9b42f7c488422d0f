"""Records framed for a schema registry, where the registry, the schema or the record is not as it should be."""

import json
import re
import socket
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pyarrow as pa
import pytest
from framed_records import ENVELOPE, KEY, MESSAGE, ROW, SOURCE, body_of, frame, register
from framed_topics import HeldSchemas
from record_batches import batch_of
from registry_servers import serving
from stopwatch import measure
from topics import CATALOGUE

from cdc_contracts.registry.authoring.sync.schema_sources import open_source
from cdc_contracts.registry.core.common.errors import UnavailableError, UsageError
from cdc_contracts.registry.core.common.json_messages import Unreadable
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.engine.native import framed_reading
from cdc_contracts.registry.core.engine.native.native_library import native_library
from cdc_contracts.registry.core.message.framed_values import FramedValues
from cdc_contracts.registry.core.validate.validation_context import open_validation
from cdc_contracts.registry.core.writer_schemas import writer_schemas
from cdc_contracts.registry.core.writer_schemas.writer_schemas import NoSchema, SchemaText, WriterSchemas

OTHER = {"type": "record", "name": "Other", "fields": [{"name": "text", "type": "string"}]}
WITHIN_ITSELF = {"type": "record", "name": "Node", "fields": [{"name": "next", "type": ["null", "Node"]}]}
SEVERAL = {"type": "record", "name": "Several", "fields": [{"name": "it", "type": ["string", "int"]}]}
DEEP = {"type": "array", "items": "int"}
for _ in range(80):
    DEEP = {"type": "array", "items": DEEP}


PROTOBUF = 'syntax = "proto3"; message One { int32 id = 1; }'
LONG_ENUM = {"type": "record", "name": "Long", "fields": [
    {"name": "it", "type": {"type": "enum", "name": "E", "symbols": [f"S{number}" for number in range(100_000)]}},
]}  # fmt: skip
MANY_FIELDS = {"type": "record", "name": "Many", "fields": [{"name": f"f{n}", "type": "int"} for n in range(30_000)]}
DOUBLED = "int"
for number in range(20):
    twice = [{"name": "a", "type": DOUBLED}, {"name": "b", "type": f"D{number - 1}" if number else "int"}]
    DOUBLED = {"type": "record", "name": f"D{number}", "fields": twice}
NULLS = {"type": "record", "name": "Nulls", "fields": [{"name": "it", "type": {"type": "array", "items": "null"}}]}


def member(kind, place, **more):
    """A member of a JSON Schema as a converter writes it, which may be null."""
    return {"oneOf": [{"type": "null"}, {"type": kind, **more}], "connect.index": place}


JSON_ROW = {"type": "object", "title": "shop.orders.Value", "properties": {
    "price": {"type": "number", "connect.index": 2, "title": "org.apache.kafka.connect.data.Decimal", "connect.type": "bytes",
              "connect.version": 1, "connect.parameters": {"scale": "2", "connect.decimal.precision": "9"}},
    "rate": member("number", 1, **{"connect.type": "float32"}),
    "id": {"type": "integer", "connect.index": 0, "connect.type": "int32"},
    "day": member("integer", 3, title="io.debezium.time.Date", **{"connect.type": "int32", "connect.version": 1}),
}}  # fmt: skip
JSON_SCHEMA = {"type": "object", "title": "shop.orders.Envelope", "properties": {
    "before": {"oneOf": [{"type": "null"}, JSON_ROW], "connect.index": 0},
    "after": {"oneOf": [{"type": "null"}, JSON_ROW], "connect.index": 1},
    "source": {"type": "object", "title": "io.debezium.connector.postgresql.Source", "connect.index": 2, "properties": {
        name: {"type": "string", "connect.index": place}
        for place, name in enumerate(("version", "connector", "name", "db", "schema", "table"))
    }},
    "op": {"type": "string", "connect.index": 3},
    "ts_ms": member("integer", 4, **{"connect.type": "int64"}),
}}  # fmt: skip
JSON_TEXT = json.dumps(
    {**MESSAGE, "after": {"id": 7, "rate": 0.1, "price": 123.45, "day": 19_000}}, separators=(",", ":")
).encode()


@pytest.fixture(scope="module")
def registry(tmp_path_factory):
    with serving(f"sqlite:///{tmp_path_factory.mktemp('registry')}/schemas.sqlite") as address:
        yield address


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


def test_a_json_record_has_the_types_that_its_json_schema_says(registry):
    number = register(registry, JSON_SCHEMA, "JSON")
    (part,) = written(registry, [frame(number, JSON_TEXT), None])
    (row,) = part.changes.to_pylist()
    assert row["after"] == [("id", "7"), ("rate", "0.1"), ("price", "123.45"), ("day", "2022-01-08")]
    assert dict(row["column_types"]) == {
        "id": "int32", "rate": "float", "price": "org.apache.kafka.connect.data.Decimal(9,2)",
        "day": "io.debezium.time.Date",
    }  # fmt: skip
    assert part.tally.outcomes == {"conforming": 1, "tombstone": 1}


def test_json_records_need_no_types_where_the_contract_reads_none(registry):
    number = register(registry, {"type": "object"}, "JSON")
    (part,) = written(registry, [frame(number, JSON_TEXT)], "debezium/json@4")
    assert [dict(row["after"])["id"] for row in part.changes.to_pylist()] == ["7"]


def test_a_type_of_another_subject_is_read_where_a_schema_refers_to_it(registry):
    register(registry, {**ROW, "namespace": "shop.orders"}, subject="row")
    register(registry, {**SOURCE, "namespace": "shop.orders"}, subject="source")
    fields = [
        {**field, "type": ["null", "Value"]} if field["name"] in ("before", "after")
        else {**field, "type": "Source"} if field["name"] == "source" else field
        for field in ENVELOPE["fields"]
    ]  # fmt: skip
    number = register(registry, {**ENVELOPE, "fields": fields}, references=[
        {"name": "shop.orders.Value", "subject": "row", "version": 1},
        {"name": "shop.orders.Source", "subject": "source", "version": 1},
    ])  # fmt: skip
    (part,) = written(registry, [frame(number, body_of(ENVELOPE, MESSAGE))])
    assert [dict(row["after"])["price"] for row in part.changes.to_pylist()] == ["123.45"]


def test_a_json_schema_of_another_subject_is_read_where_one_refers_to_it(registry):
    register(registry, JSON_ROW, "JSON", subject="json-row")
    properties = JSON_SCHEMA["properties"] | {
        name: {"oneOf": [{"type": "null"}, {"$ref": "row.json"}], "connect.index": place}
        for place, name in enumerate(("before", "after"))
    }
    number = register(
        registry, {**JSON_SCHEMA, "properties": properties}, "JSON",
        references=[{"name": "row.json", "subject": "json-row", "version": 1}],
    )  # fmt: skip
    (part,) = written(registry, [frame(number, JSON_TEXT)])
    assert [dict(row["after"])["day"] for row in part.changes.to_pylist()] == ["2022-01-08"]


def test_an_id_that_is_known_later_is_read_by_the_program_then(monkeypatch):
    source = Held()
    schemas = WriterSchemas(source)
    monkeypatch.setattr(writer_schemas, "_ASK_AGAIN", 0.0)
    kernel = Kernel(open_validation(CATALOGUE, "debezium/json-schema@4", ReadingOptions(schemas=schemas)))
    records = batch_of([(0, 0, frame(1, body_of(ENVELOPE, MESSAGE)))])
    assert kernel.audit(records).outcomes == {"unreadable": 1}
    source.texts[1] = "AVRO", json.dumps(ENVELOPE)
    assert kernel.audit(records).outcomes == {"conforming": 1}
    if native_library() is not None:
        assert kernel._framed._values._programs.find([1])[1] == {1: 0}


BAD = {
    "an-id-that-nobody-knows": (lambda _: frame(4_000_000, b"\2"), "schema id 4000000: the registry has no such"),
    "an-id-that-none-can-have": (lambda _: frame(4_000_000_000, b"\2"), "schema id 4000000000: no registry has"),
    "five-bytes-only": (lambda of: frame(of(ENVELOPE), b""), "no record of the schema with id"),
    "a-record-that-is-cut": (lambda of: frame(of(ENVELOPE), body_of(ENVELOPE, MESSAGE)[:-3]), "no record of the schema"),
    "bytes-behind-a-record": (lambda of: frame(of(ENVELOPE), body_of(ENVELOPE, MESSAGE) + b"\0"), "bytes left unread"),
    "a-record-of-another-schema": (lambda of: frame(of(OTHER), body_of(ENVELOPE, MESSAGE)), "by the schema with id|no record"),
    "a-schema-within-itself": (lambda of: frame(of(WITHIN_ITSELF), b"\0"), "the record Node within itself"),
    "a-union-of-several-types": (lambda of: frame(of(SEVERAL), b"\0\2a"), "a union of several types"),
    "a-json-schema-without-members": (lambda of: frame(of({"type": "object"}, "JSON"), b"{}"), "a JSON Schema with a type `object`"),
    "text-that-is-no-json": (lambda of: frame(of(JSON_SCHEMA, "JSON"), b'{"before":null'), "schema"),
    "text-that-goes-on-behind-its-object": (lambda of: frame(of(JSON_SCHEMA, "JSON"), JSON_TEXT + b',"schema":{}'), "schema"),
}  # fmt: skip


class Held:
    """A source of schemas that nobody has checked: the type and text of each by id."""

    named = "held"

    def __init__(self, **texts):
        self.texts = {number: (kind, text if isinstance(text, str) else json.dumps(text))
                      for number, (kind, text) in enumerate(texts.items(), 1)}  # fmt: skip

    def find(self, number):
        if number not in self.texts:
            raise NoSchema("no such schema")
        return SchemaText(*self.texts[number])


HOSTILE = {
    "protobuf": (PROTOBUF, "a schema of type PROTOBUF, which is not read"),
    "an enumeration of a hundred thousand": (LONG_ENUM, "an enumeration of more than 10,000 symbols"),
    "many fields": (MANY_FIELDS, "more than 20,000 fields"),
    "types that hold each other many times": (DOUBLED, "more than 20,000 fields"),
    "a record within itself": (WITHIN_ITSELF, "the record Node within itself"),
    "a union of unions": ({**OTHER, "fields": [{"name": "it", "type": ["null", ["int", "string"]]}]}, "a union within a union"),
    "a union of thousands": ({**OTHER, "fields": [{"name": "it", "type": [
        {"type": "fixed", "name": f"F{n}", "size": 1} for n in range(2_000)]}]}, "a choice of more than 1,000 types"),
    "lists in lists": ({**OTHER, "fields": [{"name": "it", "type": DEEP}]}, "types nested deeper than 64"),
    "five megabytes": ("[" + " " * 5_000_000 + "]", "a schema of more than 4,194,304 characters"),
    "a default of a megabyte": ({**OTHER, "fields": [
        {"name": "it", "type": {"type": "array", "items": "int"}, "default": [0] * 2_000_000}]}, "a schema of more than"),
    "a fixed type of no size": ({**OTHER, "fields": [{"name": "it", "type": {"type": "fixed", "name": "F", "size": "x"}}]},
                                "a fixed type without a size"),
    "a fixed type that goes back": ({**OTHER, "fields": [{"name": "it", "type": {"type": "fixed", "name": "F", "size": -1}}]},
                                    "a fixed type without a size"),
    "half a character": ({**OTHER, "fields": [{"name": "a\ud800", "type": "int"}]}, "text that is no Avro schema"),
    "json, a type that is none": ({"type": [{}]}, "a type that is none"),
    "json, a default that is no number": ('{"type":"object","properties":{"a":{"type":"number","default":NaN}}}',
                                          "a JSON Schema with"),
    "no JSON": ("<html>", "text that is no Avro schema"),
    "brackets": ("[" * 100_000, "text that is no Avro schema"),
}  # fmt: skip


@pytest.mark.one_in(3)
@pytest.mark.parametrize("case", HOSTILE)
def test_a_schema_that_could_do_harm_is_refused_with_its_id_and_soon(case):
    text, said = HOSTILE[case]
    source = Held()
    source.texts = {
        7: (
            "JSON" if case.startswith("json") else "PROTOBUF" if case == "protobuf" else "AVRO",
            text if isinstance(text, str) else json.dumps(text),
        )
    }
    kernel = Kernel(open_validation(CATALOGUE, "debezium/json-schema@4", ReadingOptions(schemas=WriterSchemas(source))))
    records = batch_of([(0, at, frame(7, b"\2" * 40)) for at in range(50)])
    (part,), seconds = measure(lambda: list(kernel.decode(records)))
    assert seconds < 5
    observed = {finding["observed"] for row in part.quarantine.to_pylist() for finding in row["findings"]}
    assert len(part.quarantine) == 50
    assert observed == {one for one in observed if one.startswith("schema id 7: ") and said in one}


def test_an_array_of_endless_nothings_takes_no_memory():
    schemas = WriterSchemas(Held(AVRO=NULLS))
    value = frame(1, b"\xfe\xff\xff\xff\x1f\0")
    with pytest.raises(Unreadable, match="no record of the schema with id 1"):
        FramedValues(schemas, with_blocks=False).text_of(value)


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


@pytest.mark.parametrize("reference", ["debezium/flat@2", "debezium/flat-schema@2"])
def test_a_null_value_is_the_deletion_of_the_row_that_a_framed_key_names(registry, reference):
    key = frame(register(registry, KEY), body_of(KEY, {"id": 7}))
    options = ReadingOptions(
        schemas=open_source(registry), parameters={"null_values": "deletion"}, table="orders"
    )  # fmt: skip
    validation = open_validation(CATALOGUE, reference, options)
    records = batch_of([(0, at, None) for at in range(3)])
    records = records.append_column("key", pa.array([key, b"\0\0\0\0\1", None], pa.binary()))
    (part,) = Kernel(validation).decode(records)

    assert [(row["op"], row["before"]) for row in part.changes.to_pylist()] == [("delete", [("id", "7")])]
    assert part.tally.outcomes == {"conforming": 1, "tombstone": 2}
    assert validation.validate(None, key).changes[0].before == {"id": "7"}


def test_a_frame_behind_that_of_a_json_schema_is_no_message_whatever_its_id():
    held = HeldSchemas({9: SchemaText("JSON", '{"type": "object"}'), 2**25: ENVELOPE})
    validation = open_validation(CATALOGUE, "debezium/json@4", ReadingOptions(schemas=WriterSchemas(held)))
    inner = frame(2**25, body_of(ENVELOPE, MESSAGE))
    assert validation.validate(inner).verdict.outcome == "conforming"

    (part,) = Kernel(validation).decode(batch_of([(0, 0, frame(9, inner))]))

    assert (part.changes.num_rows, part.tally.outcomes) == (0, {"unreadable": 1})
    assert validation.validate(frame(9, inner)).verdict.outcome == "unreadable"


@pytest.mark.parametrize(
    "value",
    [frame(7, b"{}"), frame(1, b"cut"), frame(1, body_of(ENVELOPE, MESSAGE) + b"\0")],
    ids=["unknown", "cut", "too long"],
)
def test_a_record_alone_that_its_schema_does_not_fit_is_told_what_one_of_a_batch_is(value):
    held = WriterSchemas(HeldSchemas({1: ENVELOPE}))
    validation = open_validation(CATALOGUE, "debezium/json-schema@4", ReadingOptions(schemas=held))

    (part,) = Kernel(validation).decode(batch_of([(0, 0, value)]))

    ((finding,),) = part.quarantine.column("findings").to_pylist()
    (alone,) = validation.validate(value).verdict.findings
    assert (alone.rule, alone.expected, alone.observed) == (finding["rule"], finding["expected"], finding["observed"])


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


def test_a_registry_that_does_not_answer_quarantines_if_that_is_asked_for():
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        schemas = open_source(f"http://127.0.0.1:{closed.getsockname()[1]}", unknown="quarantine")
        kernel = Kernel(open_validation(CATALOGUE, "debezium/json-schema@4", ReadingOptions(schemas=schemas)))
        (part,) = kernel.decode(batch_of([(0, at, frame(7, b"\2")) for at in range(20)]))
    (observed,) = {finding["observed"] for row in part.quarantine.to_pylist() for finding in row["findings"]}
    assert len(part.quarantine) == 20
    assert observed.startswith("schema id 7: the registry does not answer")


def test_an_unknown_id_stops_the_run_if_that_is_asked_for():
    schemas = WriterSchemas(Held(), "stop")
    kernel = Kernel(open_validation(CATALOGUE, "debezium/json-schema@4", ReadingOptions(schemas=schemas)))
    with pytest.raises(UnavailableError, match="the schema with id 7 is unknown: no such schema"):
        kernel.audit(batch_of([(0, 0, frame(7, b"\2"))]))


ANSWERS = {
    "a page": (200, b"<html>sign in</html>", "it answered with status 200, text/html"),
    "a redirection": (302, b"", "redirecting to http://elsewhere/"),
    "another document": (200, b'{"id": 7}', "the answer is not that of a registry"),
    "two hundred megabytes": (200, b'{"schema": "' + b" " * (200 << 20), "it answered with more than 67,108,864 bytes"),
}  # fmt: skip


@pytest.mark.parametrize("case", ANSWERS)
def test_an_answer_that_is_not_one_of_a_registry_stops_the_run(case):
    status, body, said = ANSWERS[case]

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(status)
            self.send_header("Content-Type", "text/html")
            self.send_header("Location", "http://elsewhere/")
            self.end_headers()
            with suppress(OSError):
                self.wfile.write(body)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with pytest.raises(UnavailableError, match=re.escape(said)):
            written(f"http://127.0.0.1:{server.server_port}", [frame(7, b"\2")])
        server.shutdown()


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


def test_a_topic_of_many_ids_asks_once_for_each_and_keeps_a_kilobyte_of_it(native):
    """Of 3,000 ids, which any of the caches of schemas, programs and readers is smaller than."""
    total, asked = 3_000, []

    class Counted(Held):
        def find(self, number):
            asked.append(number)
            return SchemaText("AVRO", json.dumps(ENVELOPE))

    schemas = WriterSchemas(Counted())
    kernel = Kernel(open_validation(CATALOGUE, "debezium/json@4", ReadingOptions(schemas=schemas)))
    body = body_of(ENVELOPE, MESSAGE)
    sizes = []
    for _ in range(2):
        for start in range(0, total, 500):
            numbers = range(start + 1, start + 501)
            tally = kernel.audit(batch_of([(0, number, frame(number, body)) for number in numbers]))
            assert tally.outcomes == {"conforming": 500}
        sizes.append(sum(map(len, schemas._texts.values())))
        assert len(schemas._known) <= 512
    assert sorted(asked) == list(range(1, total + 1))
    assert sizes[0] == sizes[1] < total * 1024
