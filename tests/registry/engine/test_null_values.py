"""Null values that are deletions: both paths read the row that the key names, and leave all others as they are."""

import json
from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from output_rows import unlike_columns
from record_batches import batch_of
from topics import CATALOGUE

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContracts, parse_table_contract
from cdc_contracts.registry.core.contract.version_ranges import read_ranges
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.engine.messages.message_validator import MessageValidator
from cdc_contracts.registry.core.validate.described_contexts import open_ranges
from cdc_contracts.registry.core.validate.validation_context import open_validation

FLAT = "debezium/flat@2"
DELETION = {"null_values": "deletion"}
ORDERS = {"table": "orders", "columns": {"id": {"type": "int"}, "qty": {"type": "int"}}, "primary_key": ["id"]}
READ = [
    (None, b'{"id":7}', "conforming", {"id": "7"}),
    (b"null", b'{"id":7}', "conforming", {"id": "7"}),
    (b" null\r\n", b'{"id":7.50,"part":"a\\u00e4"}', "conforming", {"id": "7.50", "part": "aä"}),
    (b"null" + b" " * 61, b'{"id":7}', "conforming", {"id": "7"}),
    (None, b'{"id":7,"__deleted":"x"}', "tombstone", None),
    (None, b'{"schema":{"type":"struct","fields":[]},"payload":{"id":7}}', "conforming", {"id": "7"}),
    (None, b'{"id":7,"__dbz__physicalTableIdentifier":"s.shop.t1"}', "conforming", {"id": "7"}),
    (None, b'{"id":null}', "conforming", {"id": None}),
    (None, None, "tombstone", None),
    (None, b"", "tombstone", None),
    (None, b"{}", "tombstone", None),
    (None, b"7", "tombstone", None),
    (None, b'{"id":', "tombstone", None),
    (b"null", None, "unreadable", None),
    (b"null", b"7", "unreadable", None),
    (b"nullx", b'{"id":7}', "unreadable", None),
    (b'"null"', b'{"id":7}', "unreadable", None),
    (b'{"id":null,"__op":"c"}', b'{"id":null}', "conforming", {"id": None}),
]
"""Values and keys, what becomes of them, and the columns of the row."""


def open_flat(**options):
    return open_validation(CATALOGUE, FLAT, ReadingOptions(table="orders", **options))


@pytest.mark.parametrize(("value", "key", "outcome", "row"), READ)
def test_a_null_value_is_the_deletion_of_the_row_that_its_key_names(value, key, outcome, row):
    validation = open_flat(parameters=DELETION)
    for validated in (
        validation.validate(value, key),
        MessageValidator(validation).validate(value, key, decodes=True),
    ):
        assert validated.verdict.outcome == outcome
        for change in validated.changes:
            image = change.after if value and b"__op" in value else change.before
            assert image == row
        assert bool(validated.changes) == (row is not None)


@pytest.mark.parametrize("native", ["off", "eager"])
@pytest.mark.parametrize("tables", [(), (ORDERS,)], ids=["untyped", "typed"])
@settings(max_examples=10, deadline=None)
@given(drawn=st.lists(st.sampled_from(READ), max_size=12), repeats=st.sampled_from([1, 30]))
def test_both_paths_write_and_count_the_same_in_any_order(native, tables, drawn, repeats):
    contracts = TableContracts([parse_table_contract(one, "orders") for one in tables])
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("CDC_CONTRACTS_NATIVE", native)
        validation = open_flat(parameters=DELETION, tables=contracts)
        values, keys = [one[0] for one in drawn] * repeats, [one[1] for one in drawn] * repeats

        assert unlike_columns(validation, values, Kernel(validation), keys=keys) == []


def test_columns_that_a_key_lacks_are_not_lost():
    contracts = TableContracts([parse_table_contract(ORDERS, "orders")])
    validation = open_flat(parameters=DELETION, tables=contracts)

    validated = validation.validate(None, b'{"id":7}')

    assert [finding for finding in validated.verdict.findings if finding.severity != "info"] == []
    assert validated.changes[0].before_complete is False


BLOCK = '{"type":"struct","fields":[{"type":"bytes","name":"org.apache.kafka.connect.data.Decimal",\
"parameters":{"scale":"2"},"optional":false,"field":"id"}],"optional":false}'


@pytest.mark.parametrize(
    ("key", "outcome", "row"),
    [
        (f'{{"schema":{BLOCK},"payload":{{"id":"BNI="}}}}', "conforming", {"id": "12.34"}),
        ('{"id":"BNI="}', "tombstone", None),  # nothing says what this is
        (f'{{"schema":{BLOCK},"payload":{{}}}}', "tombstone", None),
        (f'{{"schema":{BLOCK},"payload":null}}', "tombstone", None),
        (f'{{"schema":{BLOCK},"payload":{{"id":"BNI=","__deleted":"x"}}}}', "tombstone", None),
    ],
)
def test_a_key_beside_its_schema_block_says_the_types_of_the_deleted_row(key, outcome, row):
    options = ReadingOptions(table="orders", parameters=DELETION)
    validation = open_validation(CATALOGUE, "debezium/flat-schema@2", options)

    validated = validation.validate(None, key.encode())

    assert (validated.verdict.outcome, [one.before for one in validated.changes]) == (outcome, [row] if row else [])
    for native in ("off", "eager"):
        with pytest.MonkeyPatch.context() as patched:
            patched.setenv("CDC_CONTRACTS_NATIVE", native)
            values = [value for value, _ in BEHIND_A_SCHEMA]
            assert unlike_columns(validation, values, Kernel(validation), keys=[key.encode()] * len(values)) == []


BEHIND_A_SCHEMA = [
    (None, True),
    (b"null", True),
    (f'{{"schema":{BLOCK},"payload":null}}'.encode(), True),
    (f' {{"schema": {BLOCK}, "payload" : null }}\n'.encode(), True),
    (b'{"schema":null,"payload":null}', True),
    (f'{{"schema":{BLOCK},"more":1,"payload":null}}'.encode(), False),
    (f'{{"schema":{BLOCK},"payload":{{"payload":null}}}}'.encode(), False),
    (f'{{"schema":{BLOCK},"payload":[null]}}'.encode(), False),
    (b'{"schema":{,"payload":null}', False),
]


@pytest.mark.parametrize(("value", "deletes"), BEHIND_A_SCHEMA)
def test_null_behind_a_schema_is_a_null_value(value, deletes):
    options = ReadingOptions(table="orders", parameters=DELETION)
    validation = open_validation(CATALOGUE, "debezium/flat-schema@2", options)
    key = f'{{"schema":{BLOCK},"payload":{{"id":"BNI="}}}}'.encode()

    assert [one.op for one in validation.validate(value, key).changes] == (["delete"] if deletes else [])


def test_without_the_parameter_a_null_value_is_a_tombstone():
    assert open_flat().validate(None, b'{"id":7}').verdict.outcome == "tombstone"
    assert open_flat(parameters={"null_values": "tombstone"}).validate(None, b'{"id":7}').verdict.outcome == "tombstone"


def test_a_contract_that_knows_no_such_deletions_refuses_the_parameter():
    with pytest.raises(UsageError, match="knows no deletions by a null value"):
        open_validation(CATALOGUE, "debezium/json@4", ReadingOptions(parameters=DELETION))


def test_the_columns_of_a_key_are_written_as_they_were_sent():
    validated = open_flat(parameters=DELETION).validate(None, b'{"id":1.10,"n":-0,"t":"\\u0000","o":{"a":[1,2.50]}}')

    assert json.loads(json.dumps(validated.changes[0].before)) == {
        "id": "1.10", "n": "0", "t": "\x00", "o": '{"a":[1,2.50]}',
    }  # fmt: skip


def test_ranges_of_several_subjects_read_null_values_each_by_its_own():
    """Partition 0 has flattened rows, partition 1 changes whose deletions are followed by tombstones."""
    ranges = read_ranges([
        {"topic": "orders", "partition": place, "ranges": [{"from": 0, "to": 9, "contract": contract, "unit": "offset"}]}
        for place, contract in enumerate((FLAT, "debezium/json@4"))
    ])  # fmt: skip
    validation = open_ranges(CATALOGUE, ranges, ReadingOptions(table="orders", parameters=DELETION))
    records = batch_of([(place, offset, None) for place in (0, 1) for offset in range(3)])
    records = records.append_column("key", pa.array([b'{"id":7}'] * 6, pa.binary()))

    parts = list(Kernel(validation).decode(records))

    rows = [(row["partition"], row["op"]) for part in parts for row in part.changes.to_pylist()]
    assert rows == [(0, "delete")] * 3
    outcomes = [validation.at("orders", place, 0, None).validate(None, b'{"id":7}').verdict.outcome for place in (0, 1)]
    assert outcomes == ["conforming", "tombstone"]
    assert sum((Counter(part.tally.outcomes) for part in parts), Counter()) == {"conforming": 3, "tombstone": 3}


@pytest.mark.parametrize("native", ["off", "eager"])
@pytest.mark.parametrize(
    ("members", "table", "named"),
    [
        ({"__table": "orders"}, "cdc.public.orders", ("public", None, "orders")),
        ({"__schema": "public", "__table": "orders"}, "cdc.public.orders", ("public", None, "orders")),
        ({"__db": "shop", "__schema": "public", "__table": "orders"}, "cdc.public.orders", ("public", None, "orders")),
        ({"__db": "shop", "__table": "orders"}, "cdc.shop.orders", ("shop", None, "orders")),
        ({"__db": "shop", "__schema": "public", "__table": "orders"}, "orders", (None, None, "orders")),
    ],
)
def test_a_deletion_by_a_null_value_is_of_the_table_of_its_rows(native, members, table, named, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    validation = open_validation(CATALOGUE, FLAT, ReadingOptions(table=table, parameters=DELETION))
    row = json.dumps({"id": 7, "qty": 1, "__op": "c", **members}).encode()
    values, keys = [row, None, b"null"] * 30, [b'{"id":7}'] * 90

    changes = [change for value in values[:3] for change in validation.validate(value, b'{"id":7}').changes]

    assert [(one.op, one.database, one.schema, one.table) for one in changes] == [
        ("insert", *named), ("delete", *named), ("delete", *named),
    ]  # fmt: skip
    assert unlike_columns(validation, values, Kernel(validation), keys=keys) == []
