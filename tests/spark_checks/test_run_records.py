"""Records of runs as JSON: written as they always were, read from earlier releases too, and refused where broken."""

import json

import pyarrow as pa
import pytest
from msgspec import UNSET, structs

from cdc_contracts.registry.core.common.errors import UnavailableError
from cdc_contracts.registry.core.report.audit_report import Span
from cdc_contracts.registry.core.report.report_model import RepeatedRows, TableRepeats
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.stats.positions import PositionLine, PositionStretch, write_positions
from cdc_contracts.registry.core.tables.canonical.table_layouts import ColumnLayout, TableLayout, TableName, read_layout
from cdc_contracts.registry.core.tables.canonical.table_resets import TableReset
from cdc_contracts.spark_checks.files.file_sinks import FilePart
from cdc_contracts.spark_checks.runs.run_records import (
    RecordedBatch,
    RecordedReplay,
    RunRecord,
    read_record,
    write_files,
    write_ranges,
    write_record,
    write_table_record,
)
from cdc_contracts.spark_checks.tables.typed_tables import TableCommit

FILE = FilePart("changes", "changes/run=a/part-0.parquet", 3, 900)
LAYOUT = TableLayout(
    TableName("shop", None, "orders"),
    (ColumnLayout("id", pa.int64(), "bigint", "integer"), ColumnLayout("note", pa.string(), None, None)),
    ("id",), "messages", ("later",),
)  # fmt: skip
RESET = TableReset("shop", None, ("orders",), "TRUNCATE", True, "x@1", "t", 0, 5, None)  # noqa: FBT003
RECORD = RunRecord(
    run="a", attempt="k", replaces=("old",), contract="x@1", contract_fingerprint="f", table_contracts_fingerprint="g",
    stream=RecordedBatch("query", 3), redacted=True, replay=RecordedReplay(("b",), 4, 3), topics={"t": "Zk3"},
    ranges=write_ranges({Source("t", 1): Span(2, 9), Source("t", 0): Span(0, 5)}), counts={"read": 12},
    files=write_files([FilePart("ledger", "ledger/run=a/p", 1, 2), FILE]),
    repeats=RepeatedRows(1, 0, ("b",), (TableRepeats("shop.orders", "t", 0, 1, 4, 2),)),
    positions=write_positions({PositionLine("t", 0, "x"): PositionStretch(0, 4, 7, 9, 7, 9, stayed=True)}),
    upheavals=(RESET,), table_format="delta", table_schema=None, current=True, drops_repeats=False,
    tables=(write_table_record(LAYOUT, rows=3, raw={"b": 1, "a": 2}, commit=TableCommit(version=4)),),
)  # fmt: skip
WRITTEN = {
    "run": "a", "attempt": "k", "replaces": ["old"], "contract": "x@1", "contract_fingerprint": "f",
    "table_contracts_fingerprint": "g", "stream": {"query": "query", "batch": 3}, "redacted": True,
    "replay": {"of": ["b"], "validated": 4, "replayed": 3}, "topics": {"t": "Zk3"},
    "range": [
        {"topic": "t", "partition": 0, "start": 0, "end": 5}, {"topic": "t", "partition": 1, "start": 2, "end": 9},
    ],
    "counts": {"read": 12},
    "files": [
        {"table": "changes", "path": "changes/run=a/part-0.parquet", "rows": 3, "size": 900},
        {"table": "ledger", "path": "ledger/run=a/p", "rows": 1, "size": 2},
    ],
    "repeats": {
        "rows": 1, "dropped": 0, "compared_with": ["b"],
        "tables": [
            {"table": "shop.orders", "topic": "t", "partition": 0, "rows": 1, "offset": 4, "first_offset": 2}
        ],
    },
    "positions": [
        {"topic": "t", "partition": 0, "subject": "x", "start": 0, "end": 4, "first": 7, "last": 9, "least": 7,
         "most": 9, "fell": False, "stayed": True}
    ],
    "upheavals": [
        {"database": "shop", "schema": None, "table": ["orders"], "statement": "TRUNCATE", "emptied": True,
         "contract": "x@1", "topic": "t", "partition": 0, "offset": 5, "position": None}
    ],
    "table_format": "delta", "table_schema": None, "current": True, "drops_repeats": False,
    "tables": [
        {"table": "shop.orders", "rows": 3, "raw": {"a": 2, "b": 1}, "commit": {"version": 4}, "files": [],
         "layout": {
             "name": {"database": "shop", "schema": None, "table": "orders"},
             "columns": [
                 {"name": "id", "type": "int64", "source_type": "bigint", "kind": "integer"},
                 {"name": "note", "type": "string", "source_type": None, "kind": None},
             ],
             "primary_key": ["id"], "origin": "messages", "awaited": ["later"],
         }}
    ],
}  # fmt: skip


def test_a_record_is_written_member_by_member_in_one_order():
    assert json.dumps(write_record(RECORD)) == json.dumps(WRITTEN)
    assert read_layout(RECORD.tables[0].layout) == LAYOUT


def test_a_record_that_was_written_is_read_as_it_was():
    assert read_record(json.loads(json.dumps(WRITTEN)), "a.json") == RECORD


def test_a_record_of_the_first_release_is_read_and_what_it_does_not_say_is_not_made_up():
    kept = ("run", "contract", "contract_fingerprint", "range", "counts", "files")
    old = read_record({name: WRITTEN[name] for name in kept}, "a.json")
    assert (old.attempt, old.table_schema, old.drops_repeats) == (UNSET, UNSET, UNSET)
    assert (old.tables, old.positions, old.upheavals, old.topics, old.stream, old.replay) == (
        (),
        (),
        (),
        {},
        None,
        None,
    )
    assert old.files == RECORD.files


def test_what_a_later_release_adds_to_a_record_is_read_over():
    later = WRITTEN | {"zone": "eu", "files": [one | {"digest": "x"} for one in WRITTEN["files"]]}
    assert read_record(later, "a.json") == RECORD


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"run": 1}, ".run"),
        ({"files": [WRITTEN["files"][0], {"path": "x"}]}, ".files[1]"),
        ({"tables": [WRITTEN["tables"][0] | {"rows": "3"}]}, ".tables[0].rows"),
        ({"range": {}}, ".range"),
    ],
)
def test_a_broken_record_is_refused_with_the_path_of_what_is_wrong(change, path):
    with pytest.raises(UnavailableError, match="this is not a run record") as refused:
        read_record(WRITTEN | change, "_runs/a.json")
    assert refused.value.where == f"_runs/a.json{path}"


def test_all_files_of_a_run_are_those_of_its_tables_too():
    own = FilePart("tables/shop.orders", "tables/shop.orders/run=a/p", 3, 4)
    record = structs.replace(RECORD, tables=(write_table_record(LAYOUT, rows=3, parts=[own]),))
    assert record.paths == {FILE.path, "ledger/run=a/p", own.path}
    assert record.folders == {"changes/run=a", "ledger/run=a", "tables/shop.orders/run=a"}
    assert record.files_of("changes") == [FILE]
