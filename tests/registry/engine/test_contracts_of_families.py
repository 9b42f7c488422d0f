"""The table contract of a family holds for its shards, in both validators, and for no other table."""

from __future__ import annotations

import pytest
from both_paths import by_fast_path, by_reference, shown
from topics import WITH_TABLES, rendered, scope_of

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContracts, parse_table_contract
from cdc_contracts.registry.core.contract.table_families import TableFamilies
from cdc_contracts.registry.core.engine.fast_validator import FastValidator

REFERENCE = "oms/default@2"
FAMILIES = TableFamilies({"shop.orders": "orders_[0-9]"})


def contract_of(table, id_type):
    columns = {name: {"type": kind} for name, kind in WITH_TABLES.tables.first().types.items()}
    return parse_table_contract({"table": table, "columns": columns | {"id": {"type": id_type}}}, "orders.yaml")


@pytest.mark.parametrize("native", ["off", "eager"])
def test_a_shard_is_read_by_the_contract_of_its_family_and_by_its_own_if_it_has_one(native, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    contracts = [contract_of("shop.orders", "bigint"), contract_of("shop.orders_1", "date")]
    validation = scope_of(REFERENCE, tables=TableContracts(contracts, families=FAMILIES))
    message = rendered(REFERENCE, 1, reading_options=WITH_TABLES)[0]
    names = ["orders_0", "orders_1", "orders_2", "carts_0"] * 20
    messages = [message.replace(b'"orders"', f'"{name}"'.encode()) for name in names]
    assert messages[0] != message
    verdicts = by_fast_path(FastValidator(validation), messages)
    assert [shown(one) for one in verdicts] == [shown(by_reference([validation], one)[0]) for one in messages]
    assert [one.outcome for one in verdicts[:4]] == ["conforming", "drifted", "conforming", "conforming"]
    assert [validation.reading_options.tables.lists(f"shop.{name}") for name in names[:4]] == [True, True, True, False]


def test_what_decides_the_contract_of_a_table_is_part_of_what_identifies_a_run():
    def identity(contracts, families):
        return ReadingOptions(tables=TableContracts(contracts, families=families)).identity()

    own, others = [contract_of("shop.orders", "bigint")], [contract_of("shop.carts", "bigint")]
    assert identity(own, FAMILIES) != identity(own, TableFamilies())
    assert identity(others, FAMILIES) == identity(others, TableFamilies())
