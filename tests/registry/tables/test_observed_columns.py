"""What the kernel tells of the columns it decoded: every one, under its type, however the records were cut."""

from __future__ import annotations

import json

import pytest
from record_batches import batch_of_values

from cdc_contracts.registry.core.contract.catalogue import shipped_catalogue
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContracts, parse_table_contract
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.generate.event_streams import ORDERS, row_stream
from cdc_contracts.registry.core.generate.rendering import Renderer
from cdc_contracts.registry.core.stats.observed_columns import ObservedColumns
from cdc_contracts.registry.core.tables.canonical.table_layouts import TableName
from cdc_contracts.registry.core.validate.validation_context import open_validation

NAME = TableName("shop", None, "orders")
OWN = TableContracts([
    parse_table_contract({"table": "shop.orders", "columns": {name: {"type": told} for name, told in ORDERS.types.items()}}, "t")
])  # fmt: skip
FAMILIES = ("oms-community/default@2", "oms-community/canal@2", "oms/debezium-smt@1", "dts/canal@2", "dts/avro@1")


def decode(values, reading_options, reference, size):
    kernel, seen, rows = Kernel(open_validation(shipped_catalogue(), reference, reading_options)), ObservedColumns(), []
    for start in range(0, len(values), size):
        for written in kernel.decode(batch_of_values(values[start : start + size], start=start)):
            seen.merge(written.observed)
            rows += written.changes.to_pylist()
    return seen, rows


@pytest.mark.one_in(3)
@pytest.mark.parametrize("contracts", [OWN, TableContracts()], ids=["with a contract", "without"])
@pytest.mark.parametrize("reference", FAMILIES)
def test_every_column_of_a_row_or_type_map_is_sighted_under_its_type(reference, contracts):
    values = list(
        Renderer(shipped_catalogue().version(reference), ReadingOptions(tables=OWN, table="shop.orders")).render_all(
            row_stream(3, 40)
        )
    )
    reading_options = ReadingOptions(tables=contracts, table="shop.orders")
    seen, rows = decode(values, reading_options, reference, 100)
    wanted: dict[str, set[str | None]] = {}
    for row in rows:
        types = dict(row["column_types"] or ())
        for name in [*types, *dict(row["before"] or ()), *dict(row["after"] or ())]:
            wanted.setdefault(name, set()).add(types.get(name))
    assert {name: {told for told, _ in pairs} for name, pairs in seen.columns(NAME).items()} == wanted
    assert seen.tables() == [NAME]
    assert decode(values, reading_options, reference, 7)[0] == seen


@pytest.mark.parametrize(("parameters", "kind"), [({"timestamp_zone": "+08:00"}, "timestamp"), ({}, "datetime")])
def test_a_timestamp_is_an_instant_only_where_its_zone_is_known(parameters, kind):
    values = list(Renderer(shipped_catalogue().version("dts/canal@2"), ReadingOptions()).render_all(row_stream(3, 20)))
    seen, _ = decode(values, ReadingOptions(parameters=parameters), "dts/canal@2", 100)
    assert {kind for _, kind in seen.columns(NAME)["seen"]} == {kind}
    assert {kind for _, kind in seen.columns(NAME)["made"]} == {"datetime"}


def test_what_is_quarantined_is_not_sighted():
    (value,) = Renderer(shipped_catalogue().version("dts/canal@2"), ReadingOptions()).render_all(row_stream(3, 1))
    broken = json.loads(value) | {
        "data": [{"id": "x"}],
        "mysqlType": {"id": "int"},
        "sqlType": {"id": 4},
        "table": "other",
    }
    seen, rows = decode([value, json.dumps(broken).encode()], ReadingOptions(), "dts/canal@2", 100)
    assert (len(rows), seen.tables()) == (1, [NAME])
