"""Topics of which table contracts list some tables: a table that none lists is no new case, one that is listed is."""

import sys
from dataclasses import replace

import pytest
from output_rows import looks_of_the_reference, records_of, unlike_columns
from record_batches import batch_of
from topics import CATALOGUE, renderer_of, scope_of

from cdc_contracts.registry.core.contract.table_contracts import TableContracts, parse_table_contract
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.generate.event_streams import ORDERS, row_stream

CANAL = "oms-community/canal@2"
JSON = [version.reference for version in CATALOGUE.all_versions() if version.meaning.transport == "json"]
NAMES = ["orders", "a.b", "", "returns", "Orders", "ünï", "partly", "x"]


def table_contract(name, **columns):
    listed = {column: {"type": type_} for column, type_ in ORDERS.types.items()} | columns
    return parse_table_contract({"table": name, "columns": listed}, "test")


TABLES = TableContracts([
    table_contract("shop.orders"), table_contract("shop.returns"), table_contract("orders"),
    table_contract("shop.partly", note={"type": "varchar(3)", "nullable": False}),
])  # fmt: skip


def stream(reference, total, name):
    renderer = renderer_of(reference)
    for number, event in enumerate(row_stream(3, total)):
        yield renderer.render(replace(event, table=event.table and replace(event.table, name=name(number))))


def extents_of(tally):
    return {
        key: (found.expected, found.observed, found.ops, [extent.first for extent in found.extents.values()])
        for key, found in tally.findings.items()
    }


def mixed(number):
    return NAMES[number // 2 % 8] if number % 4 else f"t{number}"


@pytest.mark.one_in(6)
@pytest.mark.parametrize("setting", ["off", "eager"])
@pytest.mark.parametrize("reference", JSON)
def test_listed_tables_among_others_are_read_as_the_reference_reads_them(reference, setting, part, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", setting)
    validation = scope_of(reference, tables=TABLES, table="shop.orders")
    values = list(stream(reference, 50, lambda number: mixed(abs(30 - number))))
    assert unlike_columns(validation, part(values, 6)) == []


@pytest.mark.parametrize(("reference", "setting"), [(CANAL, "off"), (CANAL, "on"), ("debezium/json@4", "on")])
def test_blocks_in_which_a_table_is_listed_by_turns_are_told_apart(reference, setting, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", setting)
    names = [f"t{number}" if number < 280 or number % 3 else NAMES[number % 8] for number in range(480)]
    tally = Kernel(scope_of(reference, tables=TABLES)).audit(
        records_of(list(stream(reference, 480, names.__getitem__)))
    )
    listed = {"orders", "returns", "partly"}
    unknown = {key.table: one.count for key, one in tally.findings.items() if key.name == "unknown-table"}
    assert unknown == {f"shop.{name}": names.count(name) for name in {*names} - listed - {""}}


@pytest.mark.parametrize("reference", [CANAL, "debezium/json@4", "dts/canal@2"])
def test_an_unlisted_table_in_each_message_is_no_new_case_for_the_reference(reference, monkeypatch):
    looks = looks_of_the_reference(monkeypatch)

    def count(name):
        looks.clear()
        Kernel(scope_of(reference, tables=TABLES)).audit(records_of(list(stream(reference, 40, name))))
        return len(looks)

    assert count("t{}".format) <= 2 * count(lambda _: "t")


def test_an_unlisted_table_in_each_message_costs_few_calls_of_functions():
    calls = []

    def count(name):
        kernel, batch = Kernel(scope_of(CANAL, tables=TABLES)), records_of(list(stream(CANAL, 300, name)))
        kernel.audit(batch)
        calls.clear()
        sys.setprofile(lambda _, event, __: calls.append(event) if event == "call" else None)
        try:
            kernel.audit(batch)
        finally:
            sys.setprofile(None)
        return len(calls)

    assert count("t{}".format) - count(lambda _: "t") < 30 * 300


def test_unlisted_tables_are_counted_alike_however_batches_are_cut():
    records = [(0, offset, value) for offset, value in enumerate(stream(CANAL, 90, mixed))]
    validation = scope_of(CANAL, tables=TABLES)
    whole, cut = Kernel(validation).audit(batch_of(records)), Kernel(validation).audit(batch_of(records[:31]))
    cut.merge(Kernel(validation).audit(batch_of(records[31:])))
    assert [extents_of(one) for one in (cut, whole)] == [extents_of(whole)] * 2
