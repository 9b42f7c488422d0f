"""What a person sees while a command works: a first line before anything slow is imported, progress, nothing with -q."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from topics import rendered

from cdc_contracts.cli.app import main
from cdc_contracts.cli.output import console, progress, waiting
from cdc_contracts.registry.core.records.record_batches import CAPTURE_SCHEMA
from cdc_contracts.registry.core.report.audit_report import Span
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.spark_checks.engines.local_engine import LOCAL
from cdc_contracts.spark_checks.spark import jars, reminders

SLOW = {"typer", "rich", "pydantic", "yaml", "pyarrow", "numpy", "pyspark", "msgspec"}


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("audit topic orders -b localhost:9092", "audit: loading contracts\n"),
        ("decode file a.jsonl --to out", "decode: loading contracts\n"),
        ("decode files out shop.orders", ""),
        ("decode join out", "decode: loading the engine\n"),
        ("demo", "demo: generating messages\n"),
        ("audit", ""),
        ("audit topic --help", ""),
        ("audit topic orders -q", ""),
        ("audit --quiet topic orders", ""),
        ("--version", ""),
        ("lint contracts", ""),
    ],
)
def test_a_command_that_takes_long_says_at_once_what_it_begins_with(call, said, capsys):
    waiting.announce(call.split())
    assert capsys.readouterr() == ("", said)


def test_the_first_line_is_printed_before_anything_slow_is_imported():
    program = (
        "import sys; from cdc_contracts.cli.output import waiting; waiting.announce(['audit', 'topic', 'orders']); "
        f"print(sorted(set({sorted(SLOW)!r}) & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("[]\n", "audit: loading contracts\n")


def test_the_first_line_of_an_audit_comes_within_half_a_second_of_processor_time(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b"\n".join(rendered("dts/canal@2", 10)))
    command = [sys.executable, "-m", "cdc_contracts.cli", "audit", "file", "a.jsonl", "--contract", "dts/canal@2"]
    with subprocess.Popen(
        [*command, "--engine", "local"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stderr.readline() == b"audit: loading contracts\n"
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        process.kill()
    seconds = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    assert seconds < 0.5


def test_a_quick_command_says_what_it_does_on_a_terminal_only_if_nothing_else_was_printed(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(waiting, "_PATIENCE_SECONDS", 0.01)
    monkeypatch.setattr(console._State, "written", False)
    waiting.announce(["lint", "contracts"])
    deadline = time.monotonic() + 60
    while not console.has_written() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert capsys.readouterr().err == "lint: loading contracts\n"
    waiting.announce(["lint", "contracts"])
    time.sleep(0.1)
    assert capsys.readouterr().err == ""


def test_where_there_is_no_terminal_progress_is_a_line_now_and_then(monkeypatch, capsys):
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.05)
    console.prepare()
    with progress.progress(LOCAL, {Source("t", 0): Span(0, 1000)}) as watch:
        watch.read.add(250)
        watch.quarantined.add(3)
        time.sleep(0.3)
    lines = capsys.readouterr().err.splitlines()
    assert lines
    assert all(line.startswith("250 of 1,000 (25%), ") and line.endswith(", 3 quarantined") for line in lines)


@pytest.mark.parametrize(
    ("read", "seconds", "line"),
    [
        (0, 4.2, "reading 1,000,000 offsets … 4 s"),
        (0, 200, "reading 1,000,000 offsets … 3 min 20 s"),
        (250_000, 10, "250,000 of 1,000,000 (25%), 25,000 a second, about 30 s to go, 7 quarantined"),
        (250_000, 100, "250,000 of 1,000,000 (25%), 2,500 a second, about 5 min 0 s to go, 7 quarantined"),
        (10_000, 100, "10,000 of 1,000,000 (1%), 100 a second, about 2 h 45 min to go, 7 quarantined"),
        (1_000_001, 10, "1,000,001 of 1,000,000 (100%), 100,000 a second, about 0 s to go, 7 quarantined"),
    ],
)
def test_progress_is_reported_as_rate_share_and_time_left(read, seconds, line):
    assert progress.describe(read, 7, 1_000_000, seconds) == line


@pytest.mark.parametrize(
    ("read", "waited", "line"),
    [
        (980_000, 9, "980,000 of 1,000,000 (98%), 8,991 a second, about 2 s to go, 7 quarantined"),
        (980_000, 240, "980,000 of 1,000,000 (98%), no further task or batch has ended for 4 min 0 s, 7 quarantined"),
        (1_000_000, 42, "1,000,000 of 1,000,000 (100%), writing the results for 42 s, 7 quarantined"),
        (0, 20, "reading 1,000,000 offsets … 2 min 0 s"),
    ],
)
def test_a_run_in_which_nothing_ends_guesses_no_time_left(read, waited, line):
    assert progress.describe(read, 7, 1_000_000, 100, waited=waited) == line


def test_a_long_step_says_now_and_then_that_it_goes_on(monkeypatch):
    monkeypatch.setattr(reminders, "EVERY_SECONDS", 0.05)
    said = []
    with reminders.reminding(said.append, "still starting Spark"):
        time.sleep(0.3)
    count = len(said)
    time.sleep(0.1)
    assert 1 <= count == len(said)
    assert set(said) == {"still starting Spark … 0 s"}


@pytest.mark.parametrize(
    ("partitions", "line"),
    [
        (2, """c: --from '{"0": 0, "1": 0}' --until '{"0": 30, "1": 30}'\n"""),
        (9, "c: 60 offsets of 9 partitions, listed in the report\n"),
    ],
)
def test_the_ranges_of_many_partitions_are_summed_up_in_a_line(tmp_path, capsys, partitions, line):
    values = rendered("dts/canal@2", 60)
    rows = [
        {"topic": "c", "partition": number % partitions, "offset": number // partitions, "value": value}
        for number, value in enumerate(values)
    ]
    path = tmp_path / "c.parquet"
    pq.write_table(pa.Table.from_pylist(rows, CAPTURE_SCHEMA), path)
    assert main(["audit", "file", str(path), "--contract", "dts/canal@2", "--engine", "local"]) == 0
    assert line in capsys.readouterr().err


def test_the_name_of_a_file_is_on_the_line_of_its_range(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("a\nerror: b.jsonl").write_bytes(b"\n".join(rendered("dts/canal@2", 10)))
    assert main(["audit", "file", "a\nerror: b.jsonl", "--contract", "dts/canal@2", "--engine", "local"]) == 0
    assert """a\\nerror: b.jsonl: --from '{"0": 0}' --until '{"0": 10}'\n""" in capsys.readouterr().err


def test_quiet_leaves_out_progress_and_keeps_results_and_errors(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("a.jsonl").write_bytes(b"\n".join(rendered("dts/canal@2", 10)))
    call = ["audit", "file", "a.jsonl", "--contract", "dts/canal@2", "--engine", "local", "--json"]
    assert main(call) == 0
    loud = capsys.readouterr()
    assert loud.err == """a.jsonl: --from '{"0": 0}' --until '{"0": 10}'\n"""
    assert main([*call, "-q"]) == 0
    assert capsys.readouterr() == (loud.out, "")
    assert main(["audit", "-q", "file", "b.jsonl", "--contract", "dts/canal@2", "--engine", "local"]) == 3
    assert "b.jsonl" in capsys.readouterr().err
    with progress.progress(LOCAL, {}) as watch:
        assert watch is None


def test_fetching_reports_how_many_jars_are_resolved_and_fetched(tmp_path, monkeypatch):
    ivy = tmp_path / "spark" / "jars" / "ivy-2.jar"
    ivy.parent.mkdir(parents=True)
    ivy.touch()
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text(
        "#!/bin/sh\n"
        'printf "found a#b;1\\nfound a#c;1\\n\\t[SUCCESSFUL ] a#b;1\\nfound a#d;1\\n"\n'
        'for last; do :; done; mkdir -p "${last%%/\\[*}"; touch "${last%%/\\[*}/b-1.jar"\n'
    )
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setenv("SPARK_HOME", str(tmp_path / "spark"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(jars, "SILENCE_SECONDS", -1)
    said = []
    assert [path.name for path in jars.fetch_jars(["a:b:1"], say=said.append)] == ["b-1.jar"]
    assert said[0] == f"fetching a:b:1 into {tmp_path}/cache/cdc-contracts/jars; this is done once"
    assert said[-1] == "still fetching: 3 jars resolved, 1 fetched"
