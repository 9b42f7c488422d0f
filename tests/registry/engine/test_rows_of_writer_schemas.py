"""Framed rows of TiDB, encoded here by the schemas that TiCDC registers: both paths, every type and option."""

import json
from io import BytesIO

import fastavro
import pyarrow as pa
import pytest
from output_rows import unlike_columns
from record_batches import batch_of
from topics import CATALOGUE

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.detect.classifier import detect
from cdc_contracts.registry.core.detect.evidence_accumulator import EvidenceAccumulator
from cdc_contracts.registry.core.detect.message_evidence import RecordPlace
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.validate.validation_context import open_validation
from cdc_contracts.registry.core.writer_schemas.writer_schemas import NoSchema, SchemaText, WriterSchemas

CONTRACT = "ticdc/avro@1"
EXTENSION = [
    {"name": "_tidb_op", "type": "string", "default": ""},
    {"name": "_tidb_commit_ts", "type": "long", "default": 0},
    {"name": "_tidb_commit_physical_time", "type": "long", "default": 0},
]
CHECKSUM = [
    {"name": "_tidb_row_level_checksum", "type": "string", "default": ""},
    {"name": "_tidb_corrupted", "type": "boolean", "default": False},
    {"name": "_tidb_checksum_version", "type": "int", "default": 0},
]
SAID = {"_tidb_op": "c", "_tidb_commit_ts": 450363514456113153, "_tidb_commit_physical_time": 1718000467133}
SUMS = {"_tidb_row_level_checksum": "2031892547", "_tidb_corrupted": False, "_tidb_checksum_version": 0}


def column(name, avro, tidb, *, nullable=True, **more):
    """A field as TiCDC registers it: what a decimal is stands beside its type, members and lengths among parameters."""
    logical = {key: more.pop(key) for key in ("logicalType", "precision", "scale") if key in more}
    type_ = {"type": avro, "connect.parameters": {"tidb_type": tidb, **more}, **logical}
    return {"name": name, "type": ["null", type_], "default": None} if nullable else {"name": name, "type": type_}


ID = column("id", "long", "BIGINT", nullable=False)
PRICE = column("price", "bytes", "DECIMAL", logicalType="decimal", precision=10, scale=2)
ROW = [ID, column("name", "string", "TEXT"), PRICE]
VALUES = {"id": 1, "name": "pear", "price": b"\x03\x16"}


def table(*fields, name="orders", namespace="default.shop"):
    return {"type": "record", "name": name, "namespace": namespace, "fields": list(fields)}


class Registry:
    """A source of schemas, each under the next id."""

    named = "held"

    def __init__(self, *schemas):
        self.texts = [json.dumps(schema) for schema in schemas]

    def find(self, number):
        if not 1 <= number <= len(self.texts):
            raise NoSchema("no such schema")
        return SchemaText("AVRO", self.texts[number - 1])


def framed(schemas, number, message):
    """A record behind the id of its schema; decimals are given as the bytes they are written as."""
    plain = json.loads(schemas.texts[number - 1].replace('"logicalType": "decimal"', '"was": "decimal"'))
    out = BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(plain), message)
    return b"\0" + number.to_bytes(4, "big") + out.getvalue()


def opened(schemas, contract=CONTRACT, **options):
    return open_validation(CATALOGUE, contract, ReadingOptions(schemas=WriterSchemas(schemas), **options))


def decoded(validation, values, keys=None):
    """The rows of some records, after both paths were compared."""
    assert unlike_columns(validation, values, Kernel(validation), keys=keys) == []
    records = batch_of([(0, at, value) for at, value in enumerate(values)])
    if keys is not None:
        records = records.append_column("key", pa.array(keys, pa.binary()))
    return [row for part in Kernel(validation).decode(records) for row in part.changes.to_pylist()]


@pytest.fixture(params=["eager", "off"], autouse=True)
def native(request, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", request.param)


def test_a_row_is_apart_from_what_stands_beside_it_and_its_schema_names_the_table():
    schemas = Registry(table(*ROW, *EXTENSION, *CHECKSUM))
    (row,) = decoded(opened(schemas), [framed(schemas, 1, {**VALUES, **SAID, **SUMS})])

    assert (row["tenant"], row["database"], row["table"], row["op"]) == ("default", "shop", "orders", "insert")
    assert row["after"] == [("id", "1"), ("name", "pear"), ("price", "7.90")]
    assert dict(row["column_types"]) == {
        "id": "BIGINT", "name": "TEXT", "price": "org.apache.kafka.connect.data.Decimal(10,2)",
    }  # fmt: skip
    assert (row["position"], row["event_time"].isoformat()) == (
        "450363514456113153",
        "2024-06-10T06:21:07.133000+00:00",
    )


def test_without_the_extension_no_row_says_whether_it_is_new():
    schemas = Registry(table(*ROW))
    (row,) = decoded(opened(schemas), [framed(schemas, 1, VALUES)])
    assert (row["op"], row["position"], row["event_time"], dict(row["after"])["id"]) == ("upsert", None, None, "1")


def test_a_null_value_is_the_deletion_of_the_row_that_its_key_names_and_nobody_has_to_say_so():
    schemas = Registry(table(*ROW, *EXTENSION), table(ID))
    values = [framed(schemas, 1, {**VALUES, **SAID}), None, None, None]
    keys = [framed(schemas, 2, {"id": 1})] * 2 + [None, b"\0\0\0\0\x09\2"]
    inserted, deleted = decoded(opened(schemas), values, keys)

    assert (inserted["op"], inserted["primary_key"]) == ("insert", ["id"])
    assert (deleted["op"], deleted["table"], deleted["before"], deleted["after"]) == (
        "delete",
        "orders",
        [("id", "1")],
        None,
    )
    assert (deleted["column_types"], deleted["primary_key"]) == ([("id", "BIGINT")], ["id"])
    stated = opened(schemas, parameters={"null_values": "tombstone"})
    assert stated.validate(None, keys[0]).verdict.outcome == "tombstone"


MODES = [
    (column("it", "long", "BIGINT UNSIGNED"), -1, "18446744073709551615"),
    (column("it", "long", "BIGINT UNSIGNED"), 2**63 - 1, "9223372036854775807"),
    (column("it", "string", "BIGINT UNSIGNED"), "18446744073709551615", "18446744073709551615"),
    (column("it", "string", "DECIMAL"), "-1234.50", "-1234.50"),
    (column("it", "bytes", "DECIMAL", logicalType="decimal", precision=65, scale=30), b"\xff", "-0." + "0" * 29 + "1"),
    (column("it", "bytes", "DECIMAL", logicalType="decimal", precision=64, scale=0), b"\0", "0"),
    (column("it", "int", "INT"), -128, "-128"),
    (column("it", "int", "INT UNSIGNED"), 255, "255"),
    (column("it", "long", "INT UNSIGNED"), 2**32 - 1, "4294967295"),
    (column("it", "float", "FLOAT"), 0.1, "0.1"),
    (column("it", "double", "FLOAT"), 0.5, "0.5"),
    (column("it", "double", "DOUBLE"), 0.1, "0.1"),
    (column("it", "bytes", "BIT", length="10"), b"\x02\x01", "513"),
    (column("it", "bytes", "BIT", length="10"), b"\0\x01", "1"),
    (column("it", "bytes", "BLOB"), b"\xff\0", "/wA="),
    (column("it", "string", "TEXT"), "", ""),
    (column("it", "string", "ENUM", allowed="a\\,b,c"), "a,b", "a,b"),
    (column("it", "string", "SET", allowed="a,b"), "a,b", "a,b"),
    (column("it", "string", "JSON"), '{"a": [1, 2.50]}', '{"a": [1, 2.50]}'),
    (column("it", "string", "DATE"), "2024-06-10", "2024-06-10"),
    (column("it", "string", "DATETIME"), "2024-06-10 08:21:07.25", "2024-06-10T08:21:07.25"),
    (column("it", "string", "TIME"), "-838:59:59", "-838:59:59"),
    (column("it", "int", "YEAR"), 2024, "2024"),
    (column("it", "string", "TiDBVECTORFloat32"), "[1,2.5]", "[1,2.5]"),
]  # fmt: skip


def test_values_are_read_by_the_type_of_tidb_and_by_how_the_schema_writes_it():
    schemas = Registry(*(table(ID, field, *EXTENSION) for field, _, _ in MODES))
    values = [framed(schemas, number, {"id": 1, "it": sent, **SAID}) for number, (_, sent, _) in enumerate(MODES, 1)]
    rows = decoded(opened(schemas), values)
    assert [dict(row["after"])["it"] for row in rows] == [text for _, _, text in MODES]


@pytest.mark.parametrize(
    ("field", "sent"),
    [
        (column("it", "long", "INT UNSIGNED"), -1),
        (column("it", "long", "INT UNSIGNED"), 2**32),
        (column("it", "long", "INT"), 2**31),
        (column("it", "bytes", "DECIMAL", logicalType="decimal", precision=3, scale=2), b"\x7f\xff"),
    ],
)
def test_a_value_beyond_the_type_of_tidb_is_a_finding(field, sent):
    schemas = Registry(table(ID, field))
    value = framed(schemas, 1, {"id": 1, "it": sent})
    validation = opened(schemas)
    assert decoded(validation, [value]) == []
    assert [one.rule for one in validation.validate(value).verdict.findings] == ["D14.range"]


def test_options_are_found_out_and_checked_where_they_are_stated():
    schemas = Registry(
        table(ID, column("it", "string", "DECIMAL")), table(ID, column("it", "string", "BIGINT UNSIGNED"))
    )
    values = [framed(schemas, number, {"id": 1, "it": "7"}) for number in (1, 2)]
    tally = Kernel(opened(schemas)).audit(batch_of([(0, at, value) for at, value in enumerate(values)]))
    said = {(one.option, one.values) for one in tally.statistics.options.options()}
    assert said == {
        ("avro-decimal-handling-mode", ("string",)), ("avro-bigint-unsigned-handling-mode", ("string",)),
    }  # fmt: skip
    stated = {"avro-decimal-handling-mode": "precise", "avro-bigint-unsigned-handling-mode": "long"}
    rules = [opened(schemas, parameters=stated).validate(value).verdict.findings[0].rule for value in values]
    assert rules == ["D08.source-type", "D06"]


def test_a_timestamp_is_in_the_zone_that_a_parameter_names():
    schemas = Registry(table(ID, column("at", "string", "TIMESTAMP")))
    values = [framed(schemas, 1, {"id": 1, "at": "2024-06-10 08:21:07"})]
    assert dict(decoded(opened(schemas), values)[0]["after"])["at"] == "2024-06-10T08:21:07"
    zoned = opened(schemas, parameters={"timestamp_zone": "+08:00"})
    assert dict(decoded(zoned, values)[0]["after"])["at"] == "2024-06-10T00:21:07Z"


def test_null_is_null_even_where_the_column_has_a_default():
    text = {"type": "string", "connect.parameters": {"tidb_type": "TEXT"}}
    schemas = Registry(table(ID, {"name": "name", "type": [text, "null"], "default": "pear"}))
    values = [framed(schemas, 1, {"id": number, "name": name}) for number, name in ((1, None), (2, "pear"))]
    validation = opened(schemas)
    assert [dict(row["after"])["name"] for row in decoded(validation, values)] == [None, "pear"]
    assert [one for value in values for one in validation.validate(value).verdict.findings] == []


def test_a_record_whose_fields_are_no_columns_of_tidb_is_refused_as_it_is():
    plain = table({"name": "id", "type": "long"}, {"name": "_tidb_op", "type": "string"})
    schemas = Registry(plain, table(*ROW, {"name": "record", "type": "string"}))
    validation = opened(schemas)
    for value in (framed(schemas, 1, {"id": 1, "_tidb_op": "c"}), framed(schemas, 2, {**VALUES, "record": "x"})):
        (verdict,) = {validation.validate(value).verdict.outcome}
        assert verdict == "drifted"
        assert decoded(validation, [value]) == []


def test_framed_rows_of_tidb_are_detected_and_no_other_contract_takes_them():
    schemas = Registry(table(*ROW, *EXTENSION), table(*ROW))
    values = [framed(schemas, 1, {**VALUES, **SAID}), framed(schemas, 2, VALUES)]
    options = ReadingOptions(schemas=WriterSchemas(schemas))
    for some in (values, values[:1], values[1:]):
        accumulator = EvidenceAccumulator(CATALOGUE, options)
        for offset, value in enumerate(some):
            accumulator.add(RecordPlace("orders", 0, offset), value)
        found = detect(accumulator)
        assert (found.verdict, [one.subject for one in found.detected]) == ("certain", ["ticdc/avro"])
