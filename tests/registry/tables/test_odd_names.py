"""Columns may be called anything: every value is found again under its name, by any reader of Parquet, and no other."""

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from topics import CATALOGUE, scope_of

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContracts, parse_table_contract
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.generate.rendering import Renderer
from cdc_contracts.registry.core.generate.source_events import Event, SourceTable
from cdc_contracts.registry.core.tables.canonical.layout_resolution import resolve_layouts
from cdc_contracts.registry.core.tables.canonical.typed_rows import type_rows

COLUMNS = (
    "id", "a.b", "a`b", 'say "yes"', "it's", "a b", " a", "a ", "", "ü", "u\u0308", "名", "\U0001f34e", "_op", "_raw", "_absent",
    "_offset", "_partition", "before", "after", "after.id", "before.a.b", "a\\b", "a\nb", "a\tb", "type", "columns", "$ref",
    "0", "null", "true", "~", "a/b", "x" * 300, "a,b", "a;b", "{a}", "a=b", "%41", "key", "value", "list", "element",
)  # fmt: skip
APART = ("ID", "Id", "nul\0")
"""Names that no table has beside the others: their values are kept as text."""
ODD = SourceTable("orders", dict.fromkeys((*COLUMNS, *APART), "varchar(60)"), ("id",), database="shop")
BEFORE, AFTER = ({name: f"{side} {number}" for number, name in enumerate(ODD.types)} for side in ("old", "new"))
KAFKA = pa.schema([
    ("topic", pa.string()), ("partition", pa.int32()), ("offset", pa.int64()), ("value", pa.binary()),
])  # fmt: skip
BY_CONTRACT = TableContracts([
    parse_table_contract(
        {"table": "shop.orders", "columns": {name: {"type": "varchar(60)"} for name in ODD.types}, "primary_key": ["id"]},
        "orders.yaml",
    )
])  # fmt: skip


@pytest.mark.parametrize("tables", [TableContracts(), BY_CONTRACT], ids=["as-seen", "by-contract"])
@pytest.mark.parametrize("reference", ["drs/json@2", "oms/avro@1", "oms-community/default@2"])
def test_each_value_is_found_under_its_name_and_no_other(tmp_path, reference, tables):
    event = Event("update", ODD, BEFORE, AFTER, 1_718_000_000_000_000, 1_718_000_000_250_000, "1", "t")
    (message,) = Renderer(CATALOGUE.version(reference), ReadingOptions(tables=tables)).render_all([event])
    records = pa.RecordBatch.from_pylist([{"topic": "t", "partition": 0, "offset": 0, "value": message}], KAFKA)
    (part,) = Kernel(scope_of(reference, tables=tables)).decode(records)
    ((name, layout),) = resolve_layouts({}, tables, part.observed, {}).items()
    assert (name.text, {column.name for column in layout.columns}) == ("shop.orders", {*COLUMNS})
    pq.write_table(pa.Table.from_batches([type_rows(part.changes, layout)[0]]), tmp_path / "a.parquet")

    (by_arrow,) = pq.read_table(tmp_path / "a.parquet").to_pylist()
    rows = duckdb.read_parquet(str(tmp_path / "a.parquet")).select("_op", "before", "after", "_absent", "_raw")
    by_duckdb = dict(zip(rows.columns, *rows.fetchall(), strict=True))
    for read in (by_arrow, by_duckdb):
        assert (read["before"], read["after"]) == tuple(
            {name: image[name] for name in COLUMNS} for image in (BEFORE, AFTER)
        )
        assert (read["_op"], read["_absent"]) == ("update", [])
        assert dict(read["_raw"]) == {
            f"{side}.{name}": image[name] for side, image in (("before", BEFORE), ("after", AFTER)) for name in APART
        }
