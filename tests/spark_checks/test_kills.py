"""A decode that is killed and started again, wherever it was, comes to what an undisturbed one comes to.

`CDC_DECODE_KILLS=200000 pytest tests/spark_checks/test_kills.py` is the long form: so many messages, every point in
every format, and random times. It prints a table of the kills.
"""

from __future__ import annotations

import os
import sys

import pytest
from canonical_outputs import check_outputs, run_records
from changelogs import REFERENCE, write_changelog
from killing import Command, Kill

MESSAGES = int(os.environ.get("CDC_DECODE_KILLS", "3000"))
LONG = "CDC_DECODE_KILLS" in os.environ
BATCH = max(1_000, MESSAGES // 16)
FORMATS = ("parquet", "delta", "iceberg")

_CHECKS = "cdc_contracts.spark_checks."
_WRITE = {
    "parquet": _CHECKS + "parquet_tables:ParquetTables.write",
    "delta": _CHECKS + "lakehouse.delta_tables:DeltaTables.write",
    "iceberg": _CHECKS + "lakehouse.iceberg_tables:IcebergTables.write",
}
_RECORD = {"trap": "pathlib:Path.replace", "among": "/_runs/"}


def points(table_format):
    """Where a run is killed: the steps of a run in their order."""
    return {
        "offsets are logged": {"trap": _CHECKS + "streaming:Follow._take", "moment": "before"},
        "before judging": {"trap": _CHECKS + "decoding:_judge", "moment": "before"},
        "changes, control and quarantine are written": {"trap": _CHECKS + "decoding:_judge", "moment": "after"},
        "before typed rows": {"trap": _WRITE[table_format], "moment": "before"},
        "typed rows are written": {"trap": _WRITE[table_format], "moment": "after"},
        "before the ledger": {"trap": _CHECKS + "runs:RunDirectory.write_part", "moment": "before"},
        "the ledger is written": {"trap": _CHECKS + "runs:RunDirectory.write_part", "moment": "after"},
        "before the run record": {**_RECORD, "moment": "before"},
        "the run record is there, Spark has not committed": {**_RECORD, "moment": "after"},
    }


@pytest.fixture(scope="module")
def log():
    return write_changelog(MESSAGES)


@pytest.fixture(scope="module")
def topic(make_topic, log):
    return make_topic(log.messages, partitions=3)


def decoding(broker, topic, out, *options):
    return (
        "decode", "topic", topic, "-b", broker.bootstrap, "--contract", REFERENCE, "--to", str(out / "out"), *options,
    )  # fmt: skip


def following(broker, topic, out, table_format):
    options = ("--follow", "--once", "--max-offsets", str(BATCH), "--table-format", table_format)
    return Command(decoding(broker, topic, out, *options), out / "said")


def check_end(command, ended, out, topic, log):
    """The last process ended by itself, drift was found, nothing runs any more, and all is there once."""
    assert ended.code == 1, ended.said[-3000:]
    check_outputs(out, topic, log)
    tell(command)


def tell(command):
    for ended in command.ended:
        kill = ended.kill
        what = f"{kill.victim:7}{kill.point}" if kill else "not killed"
        sys.stderr.write(f"\n  {ended.seconds:5.1f} s  exit {ended.code:4}  left running {ended.orphans}  {what}")


def test_a_run_that_is_killed_leaves_nothing_that_counts_and_comes_whole_the_next_time(broker, topic, log, tmp_path):
    command = Command(
        decoding(
            broker,
            topic,
            tmp_path,
        ),
        tmp_path / "said",
    )
    every = points("parquet")
    for point in ("typed rows are written", "before the run record"):
        ended = command.run(Kill(point, "all", **every[point]))
        assert ended.struck, ended.said
        assert run_records(tmp_path / "out") == []
    ended = command.run()
    check_end(command, ended, tmp_path / "out", topic, log)
    kept = {
        part["path"]
        for record in run_records(tmp_path / "out")
        for part in [*record["files"], *(part for one in record["tables"] for part in one["files"])]
    }
    assert {str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*.parquet")} == kept
