"""A decode that is killed and started again, wherever it was, comes to what an undisturbed one comes to.

`CDC_DECODE_KILLS=200000 pytest -s tests/spark_checks/test_kills.py` is the long form: so many messages, every point and
every victim in every format, and random times. It prints a table of the kills.
"""

from __future__ import annotations

import json
import os
import random
import sys
from itertools import cycle

import pytest
from canonical_outputs import check_current, check_outputs, digest_of, format_of, run_records
from changelogs import REFERENCE, write_changelog
from killed_command import find
from killing import Command, Kill

MESSAGES = int(os.environ.get("CDC_DECODE_KILLS", "2000"))
BATCHES = {"parquet": 24, "delta": 12, "iceberg": 12} if "CDC_DECODE_KILLS" in os.environ else {"parquet": 2}
"""Enough that every kill finds one to strike; keeping current rows takes each of them long."""
UNDISTURBED = 3
"""So many batches where nothing is killed: how a topic is cut makes no difference either."""
FORMATS = ("parquet", "delta", "iceberg")
long_form = pytest.mark.skipif("CDC_DECODE_KILLS" not in os.environ, reason="set CDC_DECODE_KILLS to a number")

_CHECKS = "cdc_contracts.spark_checks."
_RECORD = ("pathlib:Path.replace", "/_runs/")


def kill_at(point, table_format="parquet", *, victim="all", call=1):
    """A kill at one of the steps of a run, which are in their order here."""
    tables = (
        "tables.parquet_tables:ParquetTables"
        if table_format == "parquet"
        else "tables.lakehouse.lakehouse_tables:LakehouseTables"
    )
    trap, moment, among = {
        "offsets are logged": ("streams.streaming:Follow._take", "before", None),
        "before validating": ("runs.transactions:Attempt.validate", "before", None),
        "changes, control, quarantine written": ("runs.transactions:Attempt.validate", "after", None),
        "before typed rows": (f"{tables}.write", "before", None),
        "before the current rows of a table": ("tables.lakehouse.current_rows:CurrentTables.merge", "before", None),
        "between current rows and deletions": ("tables.lakehouse.current_rows:_merge_deleted", "before", None),
        "current rows of a table merged": ("tables.lakehouse.current_rows:CurrentTables.merge", "after", None),
        "between two tables": (f"{tables}._write_table", "after", None),
        "typed rows written": (f"{tables}.write", "after", None),
        "before the ledger": ("runs.transactions:write_table", "before", None),
        "ledger written": ("runs.transactions:write_table", "after", None),
        "before the run record": (_RECORD[0], "before", _RECORD[1]),
        "run record there": (_RECORD[0], "after", _RECORD[1]),
        "before Spark's commit": ("streams.streaming:Follow._validate_batch", "after", None),
    }[point]
    trap = trap if trap.startswith("pathlib") else _CHECKS + trap
    return Kill(point, victim, trap, moment, call, among)


POINTS = (
    "offsets are logged", "before validating", "changes, control, quarantine written", "before typed rows",
    "typed rows written", "before the ledger", "ledger written", "before the run record", "run record there",
    "before Spark's commit",
)  # fmt: skip
POINTS_OF_A_TABLE = (
    "before the current rows of a table", "between current rows and deletions", "current rows of a table merged",
    "between two tables",
)  # fmt: skip
"""In formats whose tables are committed one by one, three in each batch."""


@pytest.fixture(scope="module")
def log():
    return write_changelog(MESSAGES)


@pytest.fixture(scope="module")
def topic(make_topic, log):
    return make_topic(log.messages, partitions=3)


def decoding(broker, topic, folder, *options):
    given = ("decode", "topic", topic, "-b", broker.bootstrap, "--contract", REFERENCE, "--to", str(folder / "out"))
    return Command((*given, *options, "--debug"), folder / "said")


def following(broker, topic, folder, table_format, batches=None):
    options = ("--follow", "--once", "--max-offsets", str(MESSAGES // (batches or BATCHES[table_format]) + 1))
    if table_format != "parquet":
        options = (*options, "--table-format", table_format, "--current")
    return decoding(broker, topic, folder, *options)


def check_end(ended, out, topic, log):
    """The last process ended by itself and told the drift; all that the topic holds is there, and nothing twice."""
    assert ended.code == 1, ended.said[-3000:]
    check_outputs(out, topic, log)
    if format_of(out) != "parquet":
        check_current(out, log)


def tell(command, table_format):
    """Print a line of the table of kills for each process of a command."""
    for ended in command.ended:
        kill = ended.kill
        what = f"{kill.victim:6}  {kill.point}, call {kill.call}" if kill else "nobody  ended by itself"
        sys.stderr.write(f"\n{table_format:8}{what:58}exit {ended.code:3}{ended.orphans:3} left{ended.seconds:7.1f} s")


def files_of(out):
    """The Parquet files that are there, and those that the records of runs name."""
    named = {
        part["path"]
        for record in run_records(out)
        for parts in (record["files"], *(one["files"] for one in record["tables"]))
        for part in parts
    }
    return {str(path.relative_to(out)) for path in out.rglob("*.parquet")}, named


@pytest.mark.parametrize("table_format", FORMATS)
def test_every_point_is_a_step_of_the_program(table_format):
    for point in (*POINTS, *(POINTS_OF_A_TABLE if table_format != "parquet" else ())):
        assert callable(find(kill_at(point, table_format).trap)[2])


@long_form
def test_a_run_that_is_killed_counts_for_nothing_and_comes_whole_the_next_time(broker, topic, log, tmp_path):
    command, out = decoding(broker, topic, tmp_path), tmp_path / "out"
    ended = command.run(kill_at("before the run record"))
    assert ended.struck, ended.said
    assert run_records(out) == []
    check_end(command.run(), out, topic, log)
    there, named = files_of(out)
    assert there == named
    tell(command, "a run")


@pytest.mark.nightly
def test_a_stream_that_is_killed_between_record_and_commit_goes_on_where_it_was(broker, topic, log, tmp_path):
    command, out = following(broker, topic, tmp_path, "parquet"), tmp_path / "out"
    command.arguments = tuple(one for one in command.arguments if one != "--debug")
    ended = command.run_to_the_end([kill_at("run record there", victim="jvm", call=2)])
    check_end(ended, out, topic, log)
    tell(command, "parquet")
    killed = command.ended[0]
    assert (killed.code, killed.said.count("error: ")) == (3, 1), killed.said
    assert "error: Spark's JVM ended unexpectedly" in killed.said
    assert "Traceback" not in killed.said


@pytest.mark.nightly
def test_an_audit_that_is_killed_neither_loses_nor_repeats_a_record_in_its_rolling_report(broker, topic, tmp_path):
    given = ("audit", "topic", topic, "-b", broker.bootstrap, "--contract", REFERENCE, "--json", "--report")
    stream = ("--follow", "--once", "--max-offsets", str(MESSAGES // 4 + 1), "--checkpoint", str(tmp_path / "ck"))
    stream = (*stream, "--interval-reports", str(tmp_path / "batches"))
    step = _CHECKS + "streams.checkpoints:Checkpoint.keep_rolling"
    command = Command((*given, str(tmp_path / "rolling.json"), *stream), tmp_path / "said")
    ended = command.run_to_the_end([
        Kill("before the totals are kept", "all", step, "before", 2),
        Kill("totals are kept", "driver", step, "after", 1),
        Kill("before Spark's commit", "all", _CHECKS + "streams.streaming:Follow._validate_batch", "after", 1),
    ])  # fmt: skip
    assert ended.code == 1, ended.said[-3000:]
    whole = Command((*given, str(tmp_path / "whole.json")), tmp_path / "whole")
    assert whole.run().code == 1
    assert (tmp_path / "rolling.json").read_bytes() == (tmp_path / "whole.json").read_bytes()
    batches = [json.loads(path.read_text()) for path in sorted((tmp_path / "batches").iterdir())]
    read = json.loads((tmp_path / "whole.json").read_text())["ledger"]["read"]
    assert sum(one["ledger"]["read"] for one in batches) == read == MESSAGES
    tell(command, "audit")


@long_form
@pytest.mark.timeout(7_200)
@pytest.mark.parametrize("table_format", FORMATS)
def test_a_stream_has_the_same_result_however_often_it_is_killed(broker, topic, log, tmp_path, table_format):
    undisturbed = following(broker, topic, tmp_path / "undisturbed", table_format, UNDISTURBED)
    check_end(undisturbed.run(), tmp_path / "undisturbed" / "out", topic, log)
    digest = digest_of(tmp_path / "undisturbed" / "out", log)
    seconds = undisturbed.ended[0].seconds

    draw = random.Random(table_format)
    victims = cycle(("all", "driver", "jvm"))
    kills = [Kill("at a random time", next(victims), seconds=draw.random() * min(10, seconds / 8)) for _ in range(3)]
    kills += [
        kill_at(point, table_format, victim=next(victims), call=1 + place % 2) for place, point in enumerate(POINTS)
    ]
    if table_format != "parquet":
        kills += [
            kill_at(point, table_format, victim=next(victims), call=1 + place)
            for place, point in enumerate(POINTS_OF_A_TABLE)
        ]
    command = following(broker, topic, tmp_path / "killed", table_format)
    ended = command.run_to_the_end(
        kills, last=Kill("a task's Python", "worker", _CHECKS + "runs.transactions:Attempt.validate")
    )
    check_end(ended, tmp_path / "killed" / "out", topic, log)
    tell(command, table_format)
    assert digest_of(tmp_path / "killed" / "out", log) == digest
    assert len(kills) >= 13
