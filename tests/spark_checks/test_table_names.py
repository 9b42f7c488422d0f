"""Tables are kept apart by any name that a source may give them, and however many there are."""

import duckdb
import pytest
from canonical_outputs import read_table, run_records
from changelogs import REFERENCE
from topics import CATALOGUE, scope_of

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.generate.rendering import Renderer
from cdc_contracts.registry.core.generate.source_events import Event, SourceTable
from cdc_contracts.registry.core.stats.observed_columns import TableName
from cdc_contracts.spark_checks.decoding import Output, decode_input
from cdc_contracts.spark_checks.engines.spark_engine import SparkEngine
from cdc_contracts.spark_checks.inputs.file_inputs import read_files
from cdc_contracts.spark_checks.kafka.offsets import parse_range

NAMES = [
    ("shop", "a/b"), ("shop", "../../up"), ("shop", ".."), ("shop", "."), ("shop", "a b"), ("shop", "%2E"), ("shop", "ünï"),
    ("苹果", "\U0001f34e"), ("a.b", "c"), ("a", "b.c"), ("shop", "Orders"), ("shop", "orders"), ("shop", "run=1"), ("_", "_"),
    ("shop", "x" * 300), ("shop", "x" * 299 + "y"), ("sh`op", "t`able"), ("shop", "-"), ("shop", "nul\x00l"), ("shop", "*?[x]"),
    ("shop", "x" * 300_000), ("shop", "x" * 299_999 + "y"),
]  # fmt: skip


@pytest.fixture(scope="module")
def directory(spark, tmp_path_factory):
    folder = tmp_path_factory.mktemp("names")
    names = NAMES + [("many", f"t{number}") for number in range(178)]
    renderer = Renderer(CATALOGUE.version(REFERENCE), ReadingOptions())
    lines = [
        renderer.render(
            Event("insert", SourceTable(name, {"id": "int", f"c{place}": "text"}, ("id",), database=database), None,
                  {"id": str(number), f"c{place}": f"{database}|{name}"}, 0, 0, str(number))
        )
        for number in range(3)
        for place, (database, name) in enumerate(names)
    ]  # fmt: skip
    (folder / "in.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    source = read_files([folder / "in.jsonl"], parse_range(), tasks=2)
    decoded = decode_input(
        SparkEngine(spark), source, scope_of(REFERENCE), Output(str(folder / "out")), fail_on="error"
    )
    assert decoded.report.ledger.changes == len(lines)
    return folder / "out"


@pytest.mark.nightly
def test_two_hundred_tables_of_one_run_each_have_their_rows(directory):
    (record,) = run_records(directory)
    assert len({one["table"] for one in record["tables"]}) == len(record["tables"]) == 200
    assert {one["rows"] for one in record["tables"]} == {3}


@pytest.mark.parametrize(("database", "name"), NAMES, ids=[str(place) for place in range(len(NAMES))])
def test_a_table_of_any_name_has_its_own_rows_below_the_directory(directory, database, name):
    rows = read_table(directory, TableName.of(database, None, name).text)
    (values,) = {tuple(set(row["after"].values()) - {0, 1, 2}) for row in rows}
    assert (len(rows), values) == (3, (f"{database}|{name}",))


def test_a_name_that_no_database_takes_is_cut_in_the_record_of_a_run(directory):
    texts = [path.read_text() for path in (directory / "_runs").iterdir() if path.is_file()]
    assert texts
    assert not any("x" * 2_000 in text for text in texts)


def test_nothing_was_written_outside_of_the_tables_and_any_reader_opens_the_paths(directory):
    (record,) = run_records(directory)
    paths = [directory / part["path"] for one in record["tables"] for part in one["files"]]
    assert {path.resolve().parents[2] for path in paths} == {(directory / "tables").resolve()}
    rows = duckdb.read_parquet([str(path) for path in paths], union_by_name=True)
    assert rows.aggregate("count(*)").fetchall() == [(600,)]


def test_names_that_only_dots_keep_apart_are_written_apart():
    assert [TableName("a.b", None, "c").text, TableName("a", None, "b.c").text] == ["`a.b`.c", "a.`b.c`"]
    assert [TableName("shop", None, "orders").text, TableName("a", "b", "c").text] == ["shop.orders", "a.b.c"]
