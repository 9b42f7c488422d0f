"""Key columns from Kafka keys: both paths say the same of every key, whatever is in it and however it is written."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from output_rows import ask_reference, unlike_columns
from topics import CATALOGUE, rendered

from cdc_contracts.registry.core.contract.catalogue import Catalogue
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContracts, parse_table_contract
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.engine.messages.message_validator import MessageValidator
from cdc_contracts.registry.core.validate.validation_context import ValidationContext, open_validation

DEBEZIUM = "debezium/json@4"
SOURCE = {
    "version": "3.5.0.Final", "connector": "postgresql", "name": "shop", "ts_ms": 1718000000000, "snapshot": "false",
    "db": "shop", "sequence": None, "ts_us": 1718000000000250, "ts_ns": 1718000000000250000, "schema": "public",
    "table": "orders", "txId": 731, "lsn": 24000128, "xmin": None, "origin": None, "origin_lsn": None,
}  # fmt: skip
RULES = ("primary-key-in-image", "kafka-key-agrees")
native = pytest.mark.parametrize("native", ["off", "eager"])
Pair = tuple[bytes, bytes | None]


def message(op: str, before: Any, after: Any, **source: Any) -> bytes:
    """Return a message as the connector of PostgreSQL writes it, the texts of images as they are given."""
    text = json.dumps({
        "before": "<before>", "after": "<after>", "source": SOURCE | source, "transaction": None, "op": op,
        "ts_ms": 1718000001234, "ts_us": 1718000001234005, "ts_ns": 1718000001234005678,
    })  # fmt: skip
    for side, image in (("before", before), ("after", after)):
        text = text.replace(f'"<{side}>"', image if isinstance(image, str) else json.dumps(image))
    return text.encode()


def insert(row: Any, **source: Any) -> bytes:
    return message("c", None, row, **source)


def open_debezium(**options: Any) -> ValidationContext:
    return open_validation(CATALOGUE, DEBEZIUM, ReadingOptions(**options))


def catalogue_with_keys(reference: str, at: str) -> Catalogue:
    """Return the shipped catalogue, in which one version, without other rules, takes its keys from Kafka keys."""
    catalogue = Catalogue(CATALOGUE.roots)
    for version in catalogue.versions(reference.partition("@")[0]):
        envelope = {name: place for name, place in version.resolved["envelope"].items() if "primary_key" not in name}
        keyed = {"envelope": envelope | {"primary_key": {"from": "kafka-key", "at": at}}, "rules": list(RULES)}
        vars(version).update(resolved=version.resolved | keyed)
    return catalogue


def rules_of(validation: ValidationContext, value: bytes, key: bytes | None) -> list[tuple[str, str, str, str]]:
    findings = validation.validate(value, key).verdict.findings
    return [(one.rule, one.path, one.expected, one.observed) for one in findings]


ROW = {"id": 7, "name": "pear"}
ABSENT = ("D09.primary-key-in-image", "/after", "columns of the image", "absent column")
OTHER = ("D09.kafka-key-agrees", "/after/id", "the value in the Kafka key", "another value")
UNREADABLE = ("D09.kafka-key-agrees", "", "a Kafka key with one JSON object", "none")
SAID = {
    b'{"id": 7}': (["id"], []),
    b'{"id":7}': (["id"], []),
    b'{"name":"pear","id":7}': (["name", "id"], []),
    b"{}": ([], []),
    b'{"id":7,"__dbz__physicalTableIdentifier":"srv.shop.t1"}': (["id"], []),
    b'{"__dbz__physicalTableIdentifier":"srv.shop.t1","id":7}': (["id"], []),
    b'{"id":8,"__dbz__physicalTableIdentifier":"srv.shop.t1"}': (["id"], [OTHER]),
    b'{"__dbz__physicalTableIdentifier":"srv.shop.t1"}': ([], []),
    b'{"schema":{"type":"struct","fields":[{"type":"int64","field":"id"}]},"payload":{"id":7}}': (["id"], []),
    b'{"schema":{"type":"struct","fields":[{"type":"int64","field":"id"}]},"payload":{"id":8}}': (["id"], [OTHER]),
    b'{"schema":null,"payload":{"id":7}}': (["id"], []),
    b'{"schema":7,"payload":{"id":7}}': (["schema", "payload"], [ABSENT]),
    b'{"schema":null,"payload":7}': (["schema", "payload"], [ABSENT]),
    None: (None, []),
    b'{"id":8}': (["id"], [OTHER]),
    b'{"id":"7"}': (["id"], [OTHER]),
    b'{"id":7.0}': (["id"], [OTHER]),
    b'{"id":null}': (["id"], [OTHER]),
    b'{"id":{"value":7}}': (["id"], [OTHER]),
    b'{"idx":7}': (["idx"], [ABSENT]),
    b'{"id":8,"idx":7}': (["id", "idx"], [ABSENT, OTHER]),
    b"Struct{id=7}": (None, [UNREADABLE]),
    b"7": (None, [UNREADABLE]),
    b"[7]": (None, [UNREADABLE]),
    b"null": (None, [UNREADABLE]),
    b"": (None, [UNREADABLE]),
    b'{"id":\xff}': (None, [UNREADABLE]),
    b'{"id":7}}': (None, [UNREADABLE]),
}
"""Kafka keys of a row, the key columns that they name, and what is found wrong."""


@native
@pytest.mark.parametrize("repeats", [1, 40])
def test_what_a_kafka_key_states_is_read_and_compared_with_the_row(native, repeats, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    validation = open_debezium()
    for key, (named, found) in SAID.items():
        validated = validation.validate(insert(ROW), key)
        assert validated.verdict.outcome == "conforming", key
        assert validated.changes[0].primary_key == named, key
        assert sorted(rules_of(validation, insert(ROW), key)) == sorted(found), key
    keys = [key for key in SAID for _ in range(repeats)]
    assert unlike_columns(validation, [insert(ROW)] * len(keys), keys=keys) == []


def test_the_key_is_that_of_the_row_after_a_change_and_before_a_delete():
    validation, old, new = open_debezium(), {"id": 7}, {"id": 8}
    assert rules_of(validation, message("u", old, new), b'{"id":8}') == []
    assert rules_of(validation, message("u", old, new), b'{"id":7}') == [OTHER]
    assert rules_of(validation, message("d", old, None), b'{"id":7}') == []
    assert rules_of(validation, message("d", old, None), b'{"id":8}') == [
        ("D09.kafka-key-agrees", "/before/id", "the value in the Kafka key", "another value")
    ]


def test_keys_of_messages_without_a_row_are_not_those_of_rows():
    validation = open_debezium()
    begin = b'{"status":"BEGIN","id":"731:24000128","event_count":null,"data_collections":null,"ts_ms":1718000001234}'
    assert rules_of(validation, begin, b"no JSON") == []
    assert rules_of(validation, message("t", None, None), b"no JSON") == []
    assert (
        unlike_columns(validation, [begin, message("t", None, None)] * 40, keys=[b"no JSON", b'{"id":"7"}'] * 40) == []
    )


VALUES = {
    "small": ("7", "8", "-7", "0", "-0"),
    "large": ("18446744073709551616", "1e3", "1000", "1.0", "1.00", "1E3"),
    "text": (
        '"a"',
        '"b c"',
        '""',
        '"7"',
        '"null"',
        '"x\\"y"',
        '"back\\\\slash"',
        '"a\\nb"',
        '"\\u00e9"',
        '"é"',
        '"名"',
    ),
    "truth": ("true", "false", '"true"'),
    "nothing": ("null",),
    "mixed": ("7", '"7"', "true", "null", '"null"'),
    "nested": ('{"scale":0,"value":"Bw=="}', '{"scale":1,"value":"Bw=="}', "[1,2]", "[]", "{}", '"{}"', '{"a":[null]}'),
}
"""Values of key columns, as they are written in JSON."""


def keys_of(value: str, others: tuple[str, ...]) -> Iterator[bytes | None]:
    for one in (value, value, *others):
        yield f'{{"k":{one}}}'.encode()
    yield f'{{ "k" : {value}\n}} '.encode()
    yield f'{{"k":{value},"k":{others[0]}}}'.encode()
    yield f'{{"k":{value},"v":1}}'.encode()
    yield f'{{"v":1,"k":{value}}}'.encode()
    yield f'{{"\\u006b":{value}}}'.encode()
    yield f'{{"K":{value}}}'.encode()
    yield from (b"", b"x", None)


@pytest.mark.one_in(2)
@native
@pytest.mark.parametrize("kind", VALUES)
def test_a_key_is_that_of_its_row_where_its_values_are_written_alike(kind, native, part, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    values = VALUES[kind]
    pairs = [
        (op(f'{{"k":{value},"v":1}}'), key)
        for op in (insert, lambda row: message("d", row, None), lambda row: message("u", row, row))
        for value in values
        for key in keys_of(value, values)
    ]  # fmt: skip
    assert disagreements(open_debezium(), part(pairs, 6)) == []


def disagreements(validation: ValidationContext, pairs: list[Pair]) -> list[str]:
    """Return where the kernel, with what it remembers too, and single messages differ from the reference."""
    values, keys = [value for value, _ in pairs], [key for _, key in pairs]
    kernel, single = Kernel(validation), MessageValidator(validation)
    found = unlike_columns(validation, values, kernel, keys=keys)
    found += unlike_columns(validation, values[::2], kernel, keys=keys[::2])
    for value, key in dict.fromkeys(pairs):
        expected = ask_reference(validation, value, key)
        for mine in (single.validate(value, key, decodes=True), single.validate(value, key, decodes=True)):
            if (mine.verdict.findings, mine.changes) != (expected.verdict.findings, expected.changes):
                found.append(f"{value!r} with {key!r}: {mine}, not {expected}")
    return found


@native
def test_equal_values_with_different_keys_have_verdicts_of_their_own(native, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    validation = open_debezium()
    keys = [b'{"id":7}', b'{"id":8}', b'{"name":"pear"}', None, b"x", b'{"id":7,"name":"pear"}'] * 30
    assert disagreements(validation, [(insert(ROW), key) for key in keys]) == []


@native
def test_keys_of_many_tables_with_the_same_columns_are_compared(native, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    key = {number: ["id", "name"][number % 2 :] for number in range(12)}
    pairs = [
        (insert(row, table=f"t{number}"), json.dumps({name: row[name] for name in key[number]}).encode())
        for each in range(20)
        for number in key
        for row in [{"id": each, "name": f"n{each}"}]
    ]
    assert disagreements(open_debezium(), pairs) == []


@native
def test_a_table_contract_with_another_key_is_told_of_the_one_in_the_kafka_key(native, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    columns = {"id": {"type": "bigint"}, "name": {"type": "text"}}
    table = parse_table_contract({"table": "shop.public.orders", "columns": columns, "primary_key": ["name"]}, "t.yaml")
    validation = open_debezium(tables=TableContracts([table]))
    assert rules_of(validation, insert(ROW), b'{"id":7}') == [("D11.primary-key", "/after", "name", "id")]
    assert rules_of(validation, insert(ROW), None) == []
    keys = [b'{"id":7}', b'{"name":"pear"}', None, b"{}", b"x"] * 30
    assert disagreements(validation, [(insert(ROW), key) for key in keys]) == []


def payload(key: Mapping[str, Any] | None) -> bytes:
    fields = [{"field": name, "type": "int64"} for name in key or ()]
    return json.dumps({"schema": {"fields": fields, "name": "shop.Key", "payload": {"id": 7}}, "payload": key}).encode()


@native
def test_key_columns_are_read_at_their_place_in_the_kafka_key(native, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    validation = open_validation(catalogue_with_keys(DEBEZIUM, "/payload"), DEBEZIUM, ReadingOptions())
    lacks = ("D09.kafka-key-agrees", "", "a Kafka key with one JSON object at /payload", "none")
    assert rules_of(validation, insert(ROW), payload({"id": 7})) == []
    assert rules_of(validation, insert(ROW), payload({"id": 8})) == [OTHER]
    assert rules_of(validation, insert(ROW), b'{"id":7}') == []  # a converter of its own, which writes no block
    assert rules_of(validation, insert(ROW), b'{"id":8}') == [OTHER]
    assert rules_of(validation, insert(ROW), b'{"schema":{"id":7}}') == [lacks]
    assert rules_of(validation, insert(ROW), payload(None)) == [lacks]
    keys = [
        payload({"id": 7}),
        payload({"id": 7, "name": "pear"}),
        payload({"id": 8}),
        b'{"id":7}',
        b'{"id":8}',
        payload(None),
    ]
    rows = [insert(ROW)] * len(keys)
    assert disagreements(validation, list(zip(rows * 30, keys * 30, strict=True))) == []


def test_versions_that_read_keys_at_different_places_are_validated_too():
    catalogue = catalogue_with_keys(DEBEZIUM, "/payload")
    first = catalogue.version("debezium/json@1")
    envelope = first.resolved["envelope"] | {"primary_key": {"from": "kafka-key", "at": "/key"}}
    vars(first).update(resolved=first.resolved | {"envelope": envelope})
    validation = open_validation(catalogue, DEBEZIUM, ReadingOptions())
    pairs = [(insert(ROW), key) for key in (b'{"key":{"id":7},"payload":7}', payload({"id": 7}), None)]
    named = [one.primary_key for pair in pairs for one in validation.validate(*pair).changes]
    assert named == [None, ["id"], None]
    assert disagreements(validation, pairs * 10) == []


OTHERS = [
    "dts/canal@1", "dts/canal@2", "drs/json@2", "oms-community/canal@2", "oms-community/shareplex@2", "dataworks/streamx@1",
    "oms-community/debezium@1", "oms/debezium-smt@1", "dts/avro@1",
]  # fmt: skip
"""Contracts that place rows in every way there is."""


@pytest.mark.one_in(2)
@native
@pytest.mark.parametrize("reference", OTHERS)
def test_contracts_that_place_rows_otherwise_read_kafka_keys_too(reference, native, part, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    options = ReadingOptions(parameters={"timestamp_zone": "+08:00"}, table="shop.orders")
    validation = open_validation(catalogue_with_keys(reference, ""), reference, options)
    values = part(rendered(reference, 24, seed=3, snapshot=3, reading_options=options), 4)
    pairs: list[Pair] = [
        (value, None if key is None else json.dumps(key).encode())
        for value in values
        for change in validation.validate(value).changes
        for image in [change.after or change.before]
        for key in ({"id": int(image["id"])}, {"id": image["id"]}, {"id": 0}, {"renamed": 1}, None)
    ]
    changes = [change for value, key in pairs for change in validation.validate(value, key).changes]
    assert {tuple(one.primary_key or ()) for one in changes} == {("id",), ("renamed",), ()}
    assert disagreements(validation, pairs) == []


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from(["", "a", 'q"', "\\", "\n", "é", "1", "null", "\x7f"])
)
ROWS = st.dictionaries(st.sampled_from(["a", "b", 'c"', "d e", "é"]), SCALARS, min_size=1)


@st.composite
def pairs_of_rows_and_keys(draw: st.DrawFn) -> Pair:
    row, ascii_only = draw(ROWS), draw(st.booleans())
    key = {name: draw(st.sampled_from([row[name], row[name], None, 1])) for name in draw(st.permutations([*row]))}
    kept = dict(list(key.items())[: draw(st.integers(0, len(key)))])
    separators = draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,\t", "\n: ")]))
    return insert(row), json.dumps(kept, ensure_ascii=ascii_only, separators=separators).encode()


@settings(max_examples=8, deadline=None)
@given(st.lists(pairs_of_rows_and_keys(), min_size=1, max_size=6))
def test_any_key_of_any_row_is_compared_alike_by_all_paths(pairs):
    assert disagreements(open_debezium(), pairs * 20) == []
