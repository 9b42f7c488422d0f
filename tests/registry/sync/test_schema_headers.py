"""Records whose schema a header names: read as those with its id in front, or quarantined with the header that is wrong."""

import json
import uuid
from base64 import b64encode

import patient
import pyarrow as pa
import pytest
from framed_records import ENVELOPE, KEY, MESSAGE, body_of, frame, register
from record_batches import batch_of
from registry_servers import answering, serving
from topics import CATALOGUE

import cdc_contracts as cdc
from cdc_contracts.cli.app import main
from cdc_contracts.registry.authoring.sync.schema_sources import open_source
from cdc_contracts.registry.core.common.json_messages import Unreadable
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.engine.native.framed_reading import frames_of
from cdc_contracts.registry.core.records.framed_columns import framed_column, with_frames
from cdc_contracts.registry.core.records.output_schemas import HEADERS_TYPE
from cdc_contracts.registry.core.validate.validation_context import open_validation
from cdc_contracts.registry.core.writer_schemas.schema_headers import frame_in
from cdc_contracts.registry.core.writer_schemas.writer_schemas import frame_of

CONTRACT = "debezium/json-schema@4"
BODY = body_of(ENVELOPE, MESSAGE)
GUID = uuid.UUID("01234567-89ab-cdef-0123-456789abcdef")
SEVEN, NINE = b"\0\0\0\0\7", b"\0\0\0\0\x09"
LONG_SEVEN, GLOBAL_SEVEN = b"\0\0\0\0\0\0\0\7", b"\2\0\0\0\0\0\0\0\7"
VALUE, CONTENT, GLOBAL = "__value_schema_id", "apicurio.value.contentId", "apicurio.value.globalId"
ENCODING = "apicurio.value.encoding"
SENT = {"Confluent-Accept-Unknown-Properties": "true"}

NAMED = {
    "no headers": ([], b""),
    "headers of other things": ([("trace", b"\1"), ("__value_schema", SEVEN)], b""),
    "an id": ([(VALUE, SEVEN)], SEVEN),
    "a GUID": ([(VALUE, b"\1" + GUID.bytes)], b"\1" + GUID.bytes),
    "an id of contents, with the encoding": ([(ENCODING, b"BINARY"), (CONTENT, LONG_SEVEN)], SEVEN),
    "a global id": ([(GLOBAL, LONG_SEVEN)], GLOBAL_SEVEN),
    "an id twice": ([(VALUE, SEVEN), ("trace", None), (VALUE, SEVEN)], SEVEN),
    "a name that looks like one": ([('},{"key":"__value_schema_id","value":"', b"\1"), (VALUE, SEVEN)], SEVEN),
    "many alike": ([(VALUE, SEVEN)] * 70, SEVEN),
    "a header without a value": ([(VALUE, None)], b""),
    "the schema of the key": ([("__key_schema_id", SEVEN), ("apicurio.key.globalId", LONG_SEVEN)], b""),
}

REFUSED = {
    "no bytes": ([(VALUE, b"")], "header __value_schema_id: 0 bytes that are neither"),
    "an id of three bytes": ([(VALUE, b"\0\0\0\7")], "4 bytes that are neither"),
    "the indexes of Protobuf behind an id": ([(VALUE, SEVEN + b"\0")], "6 bytes that are neither"),
    "another first byte": ([(VALUE, b"\2\0\0\0\7")], "5 bytes that are neither 0 and an id of four nor 1 and a GUID"),
    "a GUID behind 0": ([(VALUE, b"\0" + GUID.bytes)], "17 bytes that are neither"),
    "the id 0": ([(VALUE, b"\0\0\0\0\0")], "the id 0, which no schema has"),
    "four bytes for eight": ([(GLOBAL, b"\0\0\0\7")], "header apicurio.value.globalId: 4 bytes, and an id has 8"),
    "zero in eight bytes": ([(CONTENT, bytes(8))], "the id 0, which no schema has"),
    "a negative id": ([(CONTENT, b"\xff" * 8)], "the id -1, which no schema has"),
    "an id above the highest": ([(CONTENT, (2**31).to_bytes(8))], "the id 2147483648, which no schema has"),
    "an encoding as JSON": ([(ENCODING, b"JSON"), (CONTENT, LONG_SEVEN)], "an encoding other than BINARY"),
    "two ids": ([(VALUE, SEVEN), (VALUE, NINE)], "different schemas: __value_schema_id 7, __value_schema_id 9"),
    "an id and a GUID": ([(VALUE, SEVEN), (VALUE, b"\1" + GUID.bytes)], f"__value_schema_id 7, __value_schema_id {GUID}"),
    "two kinds of ids": ([(GLOBAL, LONG_SEVEN), (CONTENT, LONG_SEVEN)], "globalId 7 (global), apicurio.value.contentId 7"),
    "ids of two registries": ([(VALUE, NINE), (CONTENT, LONG_SEVEN)], "__value_schema_id 9, apicurio.value.contentId 7"),
    "an artifact": ([("apicurio.value.artifactId", b"orders")], "a schema that is named by its artifact"),
}  # fmt: skip


@pytest.mark.parametrize("case", NAMED)
def test_headers_stand_for_the_frame_that_says_the_same(case):
    headers, expected = NAMED[case]
    assert frame_in(headers) == expected


@pytest.mark.parametrize("case", REFUSED)
def test_headers_that_are_not_as_they_should_be_are_refused_by_name(case):
    headers, said = REFUSED[case]
    with pytest.raises(Unreadable) as error:
        frame_in(headers)
    assert error.value.cause == "schema-header"
    assert said in error.value.observed


def test_headers_of_a_key_are_those_with_its_name():
    headers = [("__key_schema_id", SEVEN), (VALUE, NINE), ("apicurio.key.contentId", LONG_SEVEN)]
    assert frame_in(headers, "key") == SEVEN


def as_lists(headers):
    return pa.array(
        [None if one is None else [{"key": name, "value": content} for name, content in one] for one in headers],
        HEADERS_TYPE,
    )


def as_spark_writes(headers):
    """The text that `to_json` writes: Base64, and no member for null."""
    texts = [
        None if one is None
        else json.dumps([
            {"key": name} | ({} if content is None else {"value": b64encode(content).decode()}) for name, content in one
        ])
        for one in headers
    ]  # fmt: skip
    return pa.array(texts, pa.string())


@pytest.mark.parametrize("held", [as_lists, as_spark_writes])
@pytest.mark.parametrize("start", [0, 3])
def test_records_of_a_batch_have_the_frames_that_each_alone_has(held, start):
    cases = [*NAMED.values(), *((headers, None) for headers, _ in REFUSED.values())]
    headers = [None, *(headers for headers, _ in cases), *(headers for headers, _ in reversed(cases)), None]
    frames = [b"", *(one for _, one in cases), *(one for _, one in reversed(cases)), b""]
    values = [b"v%d" % number if number % 7 else None for number in range(len(headers))]
    records = pa.RecordBatch.from_pydict({"value": pa.array(values, pa.binary()), "headers": held(headers)})
    found = framed_column(records.slice(start), "value")
    assert (
        found.array.to_pylist()
        == [
            None if value is None or before is None else before + value
            for value, before in zip(values, frames, strict=True)
        ][start:]
    )
    assert list(found.failures) == [
        number - start for number, before in enumerate(frames)
        if number >= start and before is None and values[number] is not None
    ]  # fmt: skip


@pytest.mark.parametrize("held", [as_lists, as_spark_writes])
@pytest.mark.parametrize("headers", [[None, None], [[], None], [[("trace", b"\1")], [("k", None)]]])
def test_values_are_not_copied_where_no_header_names_a_schema(held, headers):
    records = pa.RecordBatch.from_pydict({"value": pa.array([b"a", None], pa.binary()), "headers": held(headers)})
    found = framed_column(records, "value")
    assert found.array.buffers()[2].address == records.column("value").buffers()[2].address


def test_a_draft_takes_values_and_keys_behind_the_frames_of_their_headers():
    headers = [[(VALUE, SEVEN), ("__key_schema_id", NINE)], [(VALUE, b"?")], None]
    records = records_of([(b"one", headers[0]), (b"two", headers[1]), (None, headers[2])])
    records = records.append_column("key", pa.array([b"k", None, b"m"], pa.binary()))
    found = with_frames(records)
    assert found.column("value").to_pylist() == [SEVEN + b"one", b"two", None]
    assert found.column("key").to_pylist() == [NINE + b"k", None, b"m"]
    assert found.schema == records.schema


def test_the_frames_of_a_batch_are_those_of_each_of_its_values():
    heads = [
        SEVEN,
        LONG_SEVEN,
        bytes(9),
        GLOBAL_SEVEN,
        b"\2\0\0\0\1\0\0\0\7",
        b"\2" + bytes(8),
        b"\1" + GUID.bytes,
        b"\1" + bytes(16),
        b"{}",
    ]
    values = [None, *((head + b"rest")[:length] for length in range(22) for head in heads)]
    for start in (0, 5):
        found = frames_of(pa.array(values, pa.binary()).slice(start))
        each = [None if value is None else frame_of(value) for value in values[start:]]
        assert [found.id_at(place) for place in range(len(each))] == [one and one.number for one in each]
        assert [size for size, one in zip(found.sizes.tolist(), each, strict=True) if one] == [
            one.size for one in each if one
        ]
        assert len(set(found.ids)) == len(found.ids)
        assert "0 (global)" not in found.ids  # no registry counts from 0


@pytest.fixture(scope="module")
def registry(tmp_path_factory):
    with serving(f"sqlite:///{tmp_path_factory.mktemp('registry')}/schemas.sqlite") as address:
        yield address


@pytest.fixture(scope="module")
def number(registry):
    return register(registry, ENVELOPE, subject="orders-value")


@pytest.fixture(scope="module")
def guid(registry, number):
    return uuid.UUID(patient.get(f"{registry}/subjects/orders-value/versions/1", headers=SENT).json()["guid"])


@pytest.fixture(params=["eager", "off"])
def native(request, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", request.param)


def records_of(records, held=as_lists):
    """Values with their headers, from offset 0."""
    batch = batch_of([(0, at, value) for at, (value, _) in enumerate(records)])
    return batch.append_column("headers", held([headers for _, headers in records]))


def written(place, records, contract=CONTRACT, **options):
    kernel = Kernel(open_validation(CATALOGUE, contract, ReadingOptions(schemas=open_source(str(place)), **options)))
    return list(kernel.decode(records))


def rows_of(parts, name="changes"):
    return [row for part in parts for row in getattr(part, name).to_pylist()]


@pytest.mark.parametrize("held", [as_lists, as_spark_writes])
def test_a_record_whose_header_names_its_schema_has_the_rows_of_one_behind_its_id(registry, number, guid, held, native):
    long = number.to_bytes(8)
    headers = [
        None, [(VALUE, b"\0" + number.to_bytes(4))], [(VALUE, b"\1" + guid.bytes), ("trace", b"x")],
        [(CONTENT, long), (ENCODING, b"BINARY")],
    ]  # fmt: skip
    values = [frame(number, BODY), *[BODY] * 3]
    parts = written(registry, records_of([*zip(values, headers, strict=True), (None, headers[1])], held))
    rows = rows_of(parts)
    assert [row.pop("offset") for row in rows] == [0, 1, 2, 3]
    assert rows[0]["after"] == [("id", "7"), ("rate", "0.1"), ("price", "123.45")]
    assert rows == [rows[0]] * 4
    assert parts[0].tally.outcomes == {"conforming": 4, "tombstone": 1}


def test_contracts_without_blocks_read_records_by_guid(registry, guid, native):
    parts = written(registry, records_of([(BODY, [(VALUE, b"\1" + guid.bytes)])]), "debezium/json@4")
    assert [dict(row["after"])["id"] for row in rows_of(parts)] == ["7"]


def test_a_guid_with_its_bytes_in_front_of_the_record_is_read_as_well(registry, guid, native):
    parts = written(registry, batch_of([(0, 0, b"\1" + guid.bytes + BODY)]))
    assert [dict(row["after"])["price"] for row in rows_of(parts)] == ["123.45"]


def test_records_that_cannot_be_read_are_quarantined_as_they_came_and_the_others_are_read(registry, number, native):
    good = [(VALUE, b"\0" + number.to_bytes(4))]
    other = register(registry, {"type": "record", "name": "Other", "fields": [{"name": "text", "type": "string"}]})
    bad = {
        "malformed": (BODY, [(VALUE, b"\0\0\0\7")], "header __value_schema_id: 4 bytes"),
        "several": (BODY, [*good, (VALUE, b"\0" + other.to_bytes(4))], f"__value_schema_id {number}, __value_schema_id {other}"),
        "unknown": (BODY, [(VALUE, b"\1" + GUID.bytes)], f"schema id {GUID}: the registry has no such schema"),
        "framed by another": (frame(other, body_of(KEY, {"id": 1})), good, f"it begins with a frame, of schema id {other}"),
        "framed by the same": (frame(number, BODY), good, f"it begins with a frame, of schema id {number}"),
        "of another schema": (b"\7" * 9, good, f"no record of the schema with id {number}"),
        "empty": (b"", good, f"no record of the schema with id {number}"),
    }  # fmt: skip
    records = [(BODY, good), *((value, headers) for value, headers, _ in bad.values()), (BODY, good)]
    parts = written(registry, records_of(records))
    assert [row["offset"] for row in rows_of(parts)] == [0, len(bad) + 1]
    refused = sorted(rows_of(parts, "quarantine"), key=lambda row: row["offset"])
    assert [row["offset"] for row in refused] == list(range(1, len(bad) + 1))
    for row, (value, headers, said) in zip(refused, bad.values(), strict=True):
        assert (row["value"], row["outcome"]) == (value, "unreadable")
        assert [(one["key"], one["value"]) for one in row["headers"]] == headers
        assert said in row["findings"][0]["observed"]


def test_text_behind_a_frame_is_no_json_of_the_schema_that_a_header_names(registry, native):
    json_id = register(registry, {"type": "object"}, "JSON")
    header = [(VALUE, b"\0" + json_id.to_bytes(4))]
    text = json.dumps({**MESSAGE, "after": {"id": 7}}).encode()
    parts = written(registry, records_of([(text, header), (frame(json_id, text), header)]), "debezium/json@4")
    assert [dict(row["after"])["id"] for row in rows_of(parts)] == ["7"]
    (refused,) = rows_of(parts, "quarantine")
    assert f"it begins with a frame, of schema id {json_id}" in refused["findings"][0]["observed"]


def test_a_null_value_deletes_the_row_of_the_key_whose_schema_a_header_names(registry, native):
    named = [("__key_schema_id", b"\0" + register(registry, KEY, subject="orders-key").to_bytes(4))]
    key = body_of(KEY, {"id": 7})
    records = records_of([(None, named), (None, [("__key_schema_id", b"?")]), (None, None)])
    records = records.append_column("key", pa.array([key, key, None], pa.binary()))
    parts = written(registry, records, "debezium/flat@2", parameters={"null_values": "deletion"}, table="orders")
    assert [(row["op"], row["before"]) for row in rows_of(parts)] == [("delete", [("id", "7")])]
    assert parts[0].tally.outcomes == {"conforming": 1, "tombstone": 2}


def test_a_key_in_json_whose_headers_are_malformed_names_no_row_alone_and_in_a_batch(registry, native):
    key, headers = b'{"id":7}', [("__key_schema_id", b"?")]
    contract = cdc.contract("debezium/flat@2", schema_registry=registry, table="orders",
                            parameters={"null_values": "deletion"})  # fmt: skip
    named, unnamed = Record(None, [], key), Record(None, headers, key)
    assert [contract.check(one).outcome for one in (named, unnamed)] == ["conforming", "tombstone"]
    assert contract.explain(unnamed).outcome == "tombstone"
    assert contract.check_batch([named, unnamed]).tombstones == 1


def test_headers_are_not_read_where_no_schemas_are_given():
    text = json.dumps({**MESSAGE, "after": {"id": 7}}).encode()
    validation = open_validation(CATALOGUE, "debezium/json@4", ReadingOptions())
    tally = Kernel(validation).audit(records_of([(text, [(VALUE, b"not an id")])]))
    assert tally.outcomes == {"conforming": 1}


def test_a_folder_of_schemas_has_them_by_their_guids(registry, guid, tmp_path):
    assert main(["registry", "dump", str(tmp_path / "held"), "--url", registry]) == 0
    parts = written(tmp_path / "held", records_of([(BODY, [(VALUE, b"\1" + guid.bytes)])]))
    assert [dict(row["after"])["price"] for row in rows_of(parts)] == ["123.45"]


def test_a_registry_without_guids_stops_no_run_as_any_bytes_may_look_like_one():
    with answering({}) as address:
        parts = written(address, records_of([(BODY, [(VALUE, b"\1" + GUID.bytes)]), (b"\1" * 40, None)]))
    observed = [row["findings"][0]["observed"] for row in rows_of(parts, "quarantine")]
    assert observed == [
        f"schema id {guid}: the registry has no schemas by GUID, as Confluent's before 8.0"
        for guid in (GUID, uuid.UUID(bytes=b"\1" * 16))
    ]


def test_a_global_id_is_asked_for_where_ids_of_contents_are_others(native):
    other = {"type": "record", "name": "Other", "fields": []}
    answers = {
        "/apis/registry/v2/ids/globalIds/7?dereference=true": ENVELOPE,
        "/apis/registry/v2/ids/globalIds/8?dereference=true": {"type": "object"},
        "/apis/ccompat/v7/schemas/ids/7": {"schema": json.dumps(other)},
    }
    text = json.dumps({**MESSAGE, "after": {"id": 8}}).encode()
    records = records_of(
        [(BODY, [(GLOBAL, number.to_bytes(8))]) for number in (7, 9)] + [(text, [(GLOBAL, b"\0" * 7 + b"\x08")])]
    )
    with answering(answers) as address:
        parts = written(f"{address}/apis/ccompat/v7", records, "debezium/json@4")
    assert [(row["offset"], dict(row["after"])["id"]) for row in rows_of(parts)] == [(0, "7"), (2, "8")]
    (refused,) = rows_of(parts, "quarantine")
    assert refused["findings"][0]["observed"] == "schema id 9 (global): the registry has no such schema"


def test_a_global_id_of_protobuf_is_refused_with_its_type_and_stops_no_run():
    answers = {"/apis/registry/v2/ids/globalIds/7?dereference=true": 'syntax = "proto3"; message One { int32 id = 1; }'}
    with answering(answers) as address:
        parts = written(f"{address}/apis/ccompat/v7", records_of([(BODY, [(GLOBAL, (7).to_bytes(8))])]))
    (refused,) = rows_of(parts, "quarantine")
    assert refused["findings"][0]["observed"] == "schema id 7 (global): a schema of type PROTOBUF, which is not read"


def test_a_global_id_is_not_taken_for_an_id_of_another_registry_or_folder(registry, number, tmp_path):
    for place, said in ((registry, "a registry whose address has /apis/ccompat/"), (tmp_path, "not to a folder")):
        (refused,) = rows_of(written(place, records_of([(BODY, [(GLOBAL, number.to_bytes(8))])])), "quarantine")
        assert f"schema id {number} (global): global ids are known to" in refused["findings"][0]["observed"]
        assert said in refused["findings"][0]["observed"]


class Record:
    """A record of a Kafka client."""

    def __init__(self, value, headers, key=None):
        self.value, self.headers, self.key = value, headers, key


def test_records_of_a_client_are_checked_detected_and_explained_by_their_headers(registry, number, guid):
    contract = cdc.contract(CONTRACT, schema_registry=registry)
    good = Record(BODY, [(VALUE, b"\1" + guid.bytes)])
    bad = Record(BODY, ((VALUE, b"\1"),))
    assert contract.decode(good).changes[0].after["id"] == 7
    assert contract.explain(good).document["bytes"] == len(BODY)
    for found in (contract.check(bad), contract.explain(bad)):
        (finding,) = found.findings
        assert (found.outcome, finding.rule) == ("unreadable", "D01.schema-header")
        assert "header __value_schema_id: 1 bytes" in finding.observed
    assert contract.check_batch([good, bad, good]).quarantined == 1
    detected = cdc.detect([good] * 3, schema_registry=registry)
    assert CONTRACT in (detected.contract, *detected.equivalent)
    columns = pa.table({"value": [BODY] * 3, "headers": as_lists([good.headers] * 3)})
    assert cdc.detect(columns, schema_registry=registry).contract == detected.contract
