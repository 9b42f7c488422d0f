"""`decode --layout flat`: one column per source column, in every run of a directory."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest
from topics import rendered

from cdc_contracts.cli.app import main
from cdc_contracts.registry.core.tables.canonical.table_layouts import FLAT, NESTED, SHAPES
from cdc_contracts.spark_checks.table_readers import list_tables, table_layout

REFERENCE = "oms-community/canal@2"
TABLE = "shop.orders"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    messages = rendered(REFERENCE, 40)
    (tmp_path / "a.jsonl").write_bytes(b"\n".join([*messages[:20], b"{}"]) + b"\n")
    (tmp_path / "b.jsonl").write_bytes(b"\n".join(messages[20:]) + b"\n")
    return tmp_path


def decode(*options, file="a.jsonl", out="out", engine="local"):
    return main(["decode", "file", file, "--contract", REFERENCE, "--to", out, "--engine", engine, *options])


def rows(out):
    (path,) = out.glob("tables/*/*/*.parquet")
    return pq.read_table(path, partitioning=None)


def test_the_layouts_that_can_be_asked_for_are_those_there_are():
    from cdc_contracts.cli.options.output_options import RowLayout

    assert [one.value for one in RowLayout] == list(SHAPES)


@pytest.mark.parametrize("outputs", ["changes,tables", "tables"])
def test_flat_files_hold_the_values_of_nested_ones_and_the_record_says_so(here, outputs):
    assert (decode("--layout", "flat", "--outputs", outputs), decode(out="nested")) == (1, 1)
    flat, nested = rows(here / "out"), rows(here / "nested").to_pylist()
    assert flat.schema == table_layout("out", TABLE).arrow
    for row, whole in zip(flat.to_pylist(), nested, strict=True):
        image = whole["before"] if whole["_op"] == "delete" else whole["after"]
        assert {name: row[name] for name in image} == image
    assert "delete" in flat.column("_op").to_pylist()
    (record,) = [json.loads(path.read_text()) for path in (here / "out/_runs").iterdir()]
    assert record["table_layout"] == "flat"
    assert "table_layout" not in json.loads(next((here / "nested/_runs").iterdir()).read_text())
    assert (table_layout("out", TABLE).shape, table_layout("nested", TABLE).shape) == (FLAT, NESTED)


def test_all_runs_of_a_directory_have_one_layout(here, capsys):
    assert decode("--layout", "flat") == 1
    assert decode(file="b.jsonl") == 3
    assert "was decoded with --layout flat" in capsys.readouterr().err
    assert decode("--layout", "flat", file="b.jsonl") == 0
    assert list_tables("out") == [TABLE]
    assert main(["replay", "quarantine", "out", "--contract", REFERENCE, "--engine", "local"]) == 1
    records = [json.loads(path.read_text()) for path in (here / "out/_runs").iterdir()]
    assert {record["table_layout"] for record in records} == {"flat"}


def test_current_rows_need_both_images(here, capsys):
    assert decode("--layout", "flat", "--table-format", "delta", "--current", engine="spark") == 2
    assert "--current is made of both images of a change" in capsys.readouterr().err
    assert not (here / "out").exists()
