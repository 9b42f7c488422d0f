"""Batches by the Python interface: columns of Arrow and pandas and iterators, with the results of single messages."""

import pyarrow as pa
import pytest
from topics import rendered

import cdc_contracts as cdc

REFERENCE = "dts/canal@2"


@pytest.fixture(scope="module")
def orders():
    return cdc.contract(REFERENCE, parameters={"timestamp_zone": "+08:00"})


@pytest.fixture(scope="module")
def messages():
    return [*rendered(REFERENCE, 12, seed=5), b'{"broken"', None]


def data_frame(values):
    import pandas as pd

    return pd.DataFrame({"value": values})


def relation(values):
    import duckdb

    return duckdb.from_arrow(pa.table({"value": pa.array(values, pa.binary())}))


FORMS = {
    "iterator": iter,
    "records": lambda values: [type("ConsumerRecord", (), {"value": value})() for value in values],
    "array": lambda values: pa.array(values, pa.binary()),
    "chunked array": lambda values: pa.chunked_array([values[:5], values[5:]], pa.binary()),
    "table": lambda values: pa.table({"value": pa.array(values, pa.large_binary())}),
    "record batch": lambda values: pa.record_batch({"value": pa.array(values, pa.binary())}),
    "reader": lambda values: pa.table({"value": pa.array(values, pa.binary())}).to_reader(4),
    "text": lambda values: pa.table({"value": [value and value.decode() for value in values]}),
    "series": lambda values: data_frame(values)["value"],
    "data frame": lambda values: data_frame(values).assign(weight=0.5),
    "relation": relation,
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_every_form_of_a_batch_is_read_alike(orders, messages, form):
    batch = orders.decode_batch(form(messages))
    expected = orders.decode_batch(pa.table({"value": pa.array(messages, pa.binary())}))
    assert (batch.read, batch.tombstones, batch.quarantine.num_rows) == (14, 1, 1)
    for name in ("changes", "control", "quarantine"):
        assert getattr(batch, name) == getattr(expected, name)
    report = orders.check_batch(form(messages))
    assert (report.read, report.conforming, report.tombstones, report.quarantined) == (14, 12, 1, 1)


def test_the_rows_of_a_batch_are_those_of_single_messages(orders, messages):
    rows = orders.decode_batch(messages).table("shop.orders").to_pylist()
    single = [(offset, change) for offset, one in enumerate(messages) for change in orders.decode(one).changes]
    assert [row["_offset"] for row in rows] == [offset for offset, _ in single]
    for row, (_, change) in zip(rows, single, strict=True):
        raw = dict(row["_raw"])
        for side in ("before", "after"):
            image = getattr(change, side)
            assert (row[side] is None) == (image is None)
            for name, value in (image or {}).items():
                kept = raw.get(f"{side}.{name}", row[side][name])
                assert kept == value or str(kept) == str(value), name  # a decimal without digits is text in a table


def test_a_batch_keeps_the_coordinates_of_its_records(orders, messages):
    table = pa.table({
        "value": pa.array(messages[:3], pa.binary()), "topic": ["a", "a", "b"], "partition": [0, 1, 0],
        "offset": [5, 7, 9], "key": [b"k", None, None],
    })  # fmt: skip
    changes = orders.decode_batch(table).changes.select(["topic", "partition", "offset", "kafka_key"]).to_pylist()
    assert [tuple(row.values()) for row in changes] == [("a", 0, 5, b"k"), ("a", 1, 7, None), ("b", 0, 9, None)]


def test_an_empty_key_is_a_key_also_where_no_record_has_another():
    contract = cdc.contract("debezium/flat@2", table="shop.orders")
    value, record = b'{"id":7,"__op":"c"}', type("ConsumerRecord", (), {"value": b'{"id":7,"__op":"c"}', "key": b""})
    columns = pa.table({"value": [value] * 3, "key": [b""] * 3})

    batch = contract.decode_batch([record()] * 3)

    assert batch.changes == contract.decode_batch(columns).changes
    assert batch.changes.column("kafka_key").to_pylist() == [b""] * 3
    assert [one.rule for one in contract.check(record()).findings] == ["D09.kafka-key-agrees"]
    found = {one.rule: one.count for one in contract.check_batch([record()] * 3).findings if one.severity == "warning"}
    assert found == {"D09.kafka-key-agrees": 3}


def test_rows_that_begin_to_name_the_schema_of_their_table_stay_in_it():
    contract = cdc.contract("debezium/flat@2", table="cdc.public.orders")
    named = b'{"id":8,"__op":"c","__schema":"public","__table":"orders"}'

    batch = contract.decode_batch([b'{"id":7,"__op":"c"}', named])

    assert {name: table.num_rows for name, table in batch.tables.items()} == {"public.orders": 2}


def test_offsets_count_on_over_all_chunks(orders, messages):
    many = [messages[0]] * 7_000
    offsets = orders.decode_batch(iter(many)).changes.column("offset").to_pylist()
    assert offsets == list(range(7_000))


def test_the_report_of_a_batch_says_what_drifted_and_where(orders, messages):
    report = orders.check_batch([*messages[:5], messages[5].replace(b'"type":"', b'"type":"UN')])
    assert (report.ok, report.verdict, report.quarantined) == (False, "drift", 1)
    first = report.findings[0]
    assert (first.rule, first.table, first.count, first.denominator) == ("D08.op", "shop.orders", 1, 6)
    assert first.first == ("messages", 0, 5)
    assert str(report).startswith("drift: 6 read, 5 conforming, 0 control, 0 tombstones, 1 quarantined, validated")
    assert "error D08.op: unknown-enum at /type" in str(report)
    assert report.document["report_version"] == 2


def test_a_batch_of_nothing_is_inconclusive(orders):
    assert orders.check_batch([]).verdict == "inconclusive"
    empty = orders.decode_batch(pa.table({"value": pa.array([], pa.binary())}))
    assert (empty.read, empty.changes.num_rows, empty.tables) == (0, 0, {})


def test_the_contract_of_a_batch_is_detected(messages):
    found = cdc.detect(pa.table({"value": pa.array(messages, pa.binary())}))
    assert (found.contract.partition("@")[0], found.messages) == ("dts/canal", 13)


@pytest.mark.parametrize(
    ("given", "what"),
    [
        (lambda: pa.table({"message": [b"{}"]}), "no column `value` among message\n  Name the column of the messages"),
        (lambda: pa.table({"message": pa.array([], pa.binary())}), "no column `value` among message"),
        (lambda: data_frame([b"{}"]).rename(columns={"value": "message"}), "no column `value` among message"),
        (lambda: pa.table({"value": [1]}), "`value` is of the type int64\n  Bytes or text are needed."),
        (lambda: pa.table({"value": [b"{}"], "offset": ["x"]}), "`offset` is of the type string\n  int64 is needed"),
        (lambda: pa.table({"value": [b"{}"], "topic": [None]}), "`topic` contains nulls"),
        (lambda: pa.table({"value": [b"{}"], "timestamp": [1_718_000_000_000]}), "`timestamp` is of the type int64"),
        (
            lambda: pa.table({"value": [b"{}"], "headers": ["x"]}),
            "the column `headers` is of the type string, and holds",
        ),
        (
            lambda: pa.table({"value": [b"{}"], "headers": [7]}),
            "the column `headers` is of the type int64, and holds no",
        ),
        (lambda: pa.Table.from_arrays([pa.array([b"{}"])] * 2, ["value", "value"]), "several columns `value`"),
        (lambda: data_frame([object()]), "the DataFrame cannot be read"),
        (lambda: b"{}", "several messages are needed, and this is one\n  Put it into a list."),
        (lambda: {"value": []}, "messages cannot be of the type dict\n  Give an iterable of bytes, an Arrow table"),
        (lambda: 5, "messages cannot be of the type int"),
    ],
)
def test_a_batch_that_cannot_be_read_says_what_to_pass(orders, given, what):
    with pytest.raises(cdc.UsageError) as refused:
        orders.decode_batch(given())
    assert what in str(refused.value)


def test_a_threshold_that_is_none_is_refused(orders):
    with pytest.raises(cdc.UsageError, match="fail_on is text, not of the type NoneType"):
        orders.check_batch([], fail_on=None)


def test_a_table_without_rows_is_refused_with_those_that_have_some(orders, messages):
    with pytest.raises(cdc.UsageError, match=r"no rows of `shop.order`\n  There are rows of shop.orders."):
        orders.decode_batch(messages).table("shop.order")
