"""Files of typed tables, without Spark: bounded in memory and open files, in order, and nothing left of a failure."""

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cdc_contracts.registry.core.records.output_schemas import CHANGES_SCHEMA
from cdc_contracts.registry.core.tables.canonical.table_layouts import ColumnLayout, TableLayout, TableName
from cdc_contracts.spark_checks.files.file_sinks import SinkPlace, TableWriter, table_folder
from cdc_contracts.spark_checks.tables import typed_files
from cdc_contracts.spark_checks.tables.parquet_tables import WriteJob


def changes(count, tables):
    """Rows that take turns in some tables."""
    return pa.RecordBatch.from_pylist(
        [
            {
                "contract": "x@1", "undecided": False, "op": "insert", "database": "shop",
                "table": f"t{number % tables}", "types_from": "message", "invalid": [], "topic": "t", "partition": 0,
                "offset": number, "row_index": 0, "after": [("id", str(number)), ("text", "x" * 50)],
            }
            for number in range(count)
        ],
        schema=CHANGES_SCHEMA,
    )  # fmt: skip


def layout(table):
    columns = (ColumnLayout("id", pa.int64(), "int", "integer"), ColumnLayout("text", pa.string(), "text", "text"))
    return TableLayout(TableName("shop", None, table), columns, (), "messages")


@pytest.fixture
def write(tmp_path):
    def run(count, tables, *, known=None):
        place = SinkPlace(str(tmp_path), "0123456789abcdef", "tok")
        writer = TableWriter(place, "changes", CHANGES_SCHEMA, "00000")
        writer.write(changes(count, tables))
        parts = tuple(writer.close())
        layouts = {one.name: one for one in (layout(f"t{number}") for number in range(known or tables))}
        return WriteJob(place, parts, layouts).run([0])

    return run


def test_files_have_the_least_and_the_greatest_of_single_values_and_not_of_entries(write, tmp_path):
    files = [tmp_path / write(100, 1).parts[0].path, *(tmp_path / "changes").rglob("*.parquet")]
    found = {}
    for file in files:
        group = pq.ParquetFile(file).metadata.row_group(0)
        for number in range(group.num_columns):
            column = group.column(number)
            found[column.path_in_schema] = column.is_stats_set and column.statistics.has_min_max
    assert (found["_offset"], found["after.id"], found["offset"], found["op"]) == (True, True, True, True)
    assert [name for name, held in found.items() if held and (".list." in name or ".key_value." in name)] == []


def test_what_rises_is_written_by_its_steps_and_all_else_by_a_dictionary(write, tmp_path):
    files = [tmp_path / write(100, 1).parts[0].path, *(tmp_path / "changes").rglob("*.parquet")]
    found = {}
    for file in files:
        group = pq.ParquetFile(file).metadata.row_group(0)
        columns = [group.column(number) for number in range(group.num_columns)]
        found |= {column.path_in_schema: set(column.encodings) - {"RLE", "PLAIN"} for column in columns}
    steps = {name for name, encodings in found.items() if encodings == {"DELTA_BINARY_PACKED"}}
    assert steps == {
        "offset", "event_time", "process_time", "kafka_timestamp", "_offset", "_event_time", "_process_time",
    }  # fmt: skip
    rest = {name: encodings for name, encodings in found.items() if name not in steps}
    assert {name for name, encodings in rest.items() if encodings == {"RLE_DICTIONARY"}} >= {
        "op", "after.key_value.key", "after.key_value.value", "primary_key.list.element", "_topic", "after.id",
        "after.text", "_changed.list.element",
    }  # fmt: skip
    assert {name: encodings for name, encodings in rest.items() if encodings - {"RLE_DICTIONARY"}} == {}


def test_times_and_offsets_that_go_back_or_are_missing_are_read_as_they_were(tmp_path):
    instants = [0, None, -(2**62), 2**62, 1_700_000_000_000_000, 1_600_000_000_000_000, None]
    columns = {
        "offset": pa.array([2**63 - 1, 0, 5, -1, 7, 7, 6]),
        "event_time": pa.array(instants, pa.timestamp("us", tz="UTC")),
        "_process_time": pa.array([None] * 7, pa.timestamp("us", tz="UTC")),
        "position": pa.array([*"abcdef", None]),
    }
    writer = TableWriter(SinkPlace(str(tmp_path), "0123456789abcdef", "tok"), "odd", pa.table(columns).schema, "0")
    writer.write(pa.record_batch(columns))
    (part,) = writer.close()
    file = tmp_path / part.path
    assert pq.read_table(file, partitioning=None).equals(pa.table(columns))
    read = duckdb.sql(f"select \"offset\", epoch_us(event_time), position from read_parquet('{file}')").fetchall()
    assert read == list(zip(columns["offset"].to_pylist(), instants, columns["position"].to_pylist(), strict=True))


@pytest.mark.parametrize(("waiting", "most_open"), [(64 * 1024 * 1024, 200), (20_000, 200), (20_000, 3)])
def test_rows_of_many_tables_are_all_there_in_order_however_little_may_wait_or_be_open(
    write, tmp_path, monkeypatch, waiting, most_open
):
    monkeypatch.setattr(typed_files, "WAITING_BYTES", waiting)
    monkeypatch.setattr(typed_files, "MOST_OPEN", most_open)
    written = write(1_000, 40)
    assert written.rows == {f"shop.t{number}": 25 for number in range(40)}
    assert len({part.path for part in written.parts}) == len(written.parts)
    seen = []
    for part in written.parts:
        rows = pq.read_table(tmp_path / part.path, partitioning=None).to_pylist()
        offsets = [row["_offset"] for row in rows]
        assert offsets == sorted(offsets)
        assert {f"shop.t{offset % 40}" for offset in offsets} == {part.table}
        assert [row["after"]["id"] for row in rows] == offsets
        seen += offsets
    assert sorted(seen) == list(range(1_000))


def test_nothing_is_left_of_a_task_that_fails(write, tmp_path, monkeypatch):
    monkeypatch.setattr(typed_files, "WAITING_BYTES", 20_000)
    with pytest.raises(KeyError):
        write(1_000, 40, known=39)
    assert list((tmp_path / "tables").rglob("*.parquet")) == []


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        (("shop", None, "orders"), "shop.orders"),
        (("HR", "APP", "Emp_1"), "HR.APP.Emp_1"),
        (("a.b", None, "c"), "a%2Eb.c"),
        (("../..", None, "/etc"), "%2E%2E%2F%2E%2E.%2Fetc"),
        ((None, None, "订单"), "%E8%AE%A2%E5%8D%95"),
        ((None, None, ""), "(unnamed)"),
        (("", None, "(unnamed)"), "%28unnamed%29"),
    ],
)
def test_a_table_lies_in_a_folder_of_its_name(name, folder):
    assert table_folder(TableName(*name)) == f"tables/{folder}"


def test_names_too_long_for_a_folder_stay_apart():
    folders = {table_folder(TableName("库" * 60, None, "表" * 60 + end)) for end in ("", "a", "b")}
    assert len(folders) == 3
    assert all(len(folder.removeprefix("tables/")) <= 200 for folder in folders)


def test_rows_that_an_earlier_release_wrote_are_typed_and_invalid_columns_stay_text_on_both_sides(tmp_path):
    earlier = pa.schema([one for one in CHANGES_SCHEMA if one.name != "invalid_values"])
    row = {**changes(1, 1).to_pylist()[0], "before": [("id", "7")], "after": [("id", "8")], "invalid": ["id"]}
    place = SinkPlace(str(tmp_path), "0123456789abcdef", "tok")
    writer = TableWriter(place, "changes", earlier, "00000")
    writer.write(pa.RecordBatch.from_pylist([row], schema=earlier))
    (part,) = WriteJob(place, tuple(writer.close()), {layout("t0").name: layout("t0")}).run([0]).parts

    (typed,) = pq.read_table(tmp_path / part.path, partitioning=None).to_pylist()

    assert (typed["before"]["id"], typed["after"]["id"]) == (None, None)
    assert dict(typed["_raw"]) == {"before.id": "7", "after.id": "8"}
