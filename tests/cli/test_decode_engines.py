"""`decode --engine local` writes the rows and the record that `--engine spark` writes, and needs no JVM for it.

`CDC_SIGNAL_POINTS` says at how many moments of a decode a signal is sent.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from changelogs import REFERENCE, write_changelog
from killing import Command, Kill
from producing import write_transactions
from topics import rendered

from cdc_contracts.cli.app import main

ROOT = Path(__file__).parents[2]
STOPPED = ROOT / "tests" / "stopped_command.py"
ENGINES = ("spark", "local")
PLACE = ("topic", "partition", "offset", "row_index")
POINTS = int(os.environ.get("CDC_SIGNAL_POINTS", "5"))
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A working folder with no settings of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def place_of(row):
    return tuple(row.get(name, row.get(f"_{name}", 0)) for name in PLACE)


def rows_below(out):
    """The rows of every table, in order of where they are from, and whether files keep that order."""
    tables, ordered = {}, True
    for path in sorted(out.rglob("*.parquet")):
        rows = pq.read_table(path, partitioning=None).to_pylist()
        ordered = ordered and list(map(place_of, rows)) == sorted(map(place_of, rows))
        tables.setdefault(str(path.parent.relative_to(out)), []).extend(rows)
    return {name: sorted(rows, key=place_of) for name, rows in tables.items()}, ordered


def plain(record):
    """A run record without what is different by nature: the names and sizes of files, and the name of the attempt."""
    files = {}
    for part in record.pop("files"):
        folder = part["path"].rpartition("/")[0]
        files[folder] = files.get(folder, 0) + part["rows"]
    del record["attempt"]
    record["replaces"] = len(record["replaces"])
    record["tables"] = [{**one, "files": sum(part["rows"] for part in one["files"])} for one in record["tables"]]
    return {**record, "files": files}


def all_of(out):
    """What a directory holds: rows, run records and reports."""
    rows, _ = rows_below(out)
    records = {path.name: plain(json.loads(path.read_text())) for path in sorted((out / "_runs").iterdir())}
    reports = {path.name: path.read_bytes() for path in sorted((out / "_reports").iterdir())}
    return rows, records, reports


def both(capsys, here, *commands):
    """Decode by both engines; what they say and write is one and the same, and is returned."""
    found = {}
    for engine in ENGINES:
        said = []
        for command in commands:
            code = main(["decode", "-q", *command, "--to", "out", "--engine", engine])
            said.append((code, *capsys.readouterr()))
        held = all_of(here / "out")
        if engine == "local":
            assert rows_below(here / "out")[1]
        shutil.move(here / "out", here / engine)
        found[engine] = (said, held)
    assert found["local"][0] == found["spark"][0]
    for mine, spark in zip(found["local"][1], found["spark"][1], strict=True):
        assert mine == spark
    rows, records, _ = found["local"][1]
    return [code for code, *_ in found["local"][0]], rows, records


DIALECTS = ["dts/canal@2", "oms-community/canal@2", "dts/avro@1", "drs/json@2", "oms/shareplex@1", "oms/debezium-smt@1"]


@pytest.mark.one_in(3, any_subject=True)
@pytest.mark.parametrize("reference", DIALECTS)
def test_topics_of_any_dialect(spark, broker, make_topic, here, capsys, reference):
    values = rendered(reference, 300, controls=97)
    hostile = [None, b"", b"x", values[0][:-9], b'{"a":1}', b'{"shard":3,' + values[1][1:]]
    topic = make_topic(
        [(place % 2, value) for place, value in enumerate([*values[:150], *hostile, *values[150:]])], partitions=3
    )
    codes, rows, records = both(
        capsys, here, ["topic", topic, "-b", broker.bootstrap, "--contract", reference, "--redact-quarantine"]
    )
    (record,) = records.values()
    assert codes == [1]
    assert record["counts"]["read"] == len(values) + len(hostile)
    assert {name.partition("/")[0] for name in rows} >= {"changes", "quarantine", "ledger", "tables"}


def test_a_topic_of_several_tables_with_drift_control_and_hostile_messages(spark, broker, make_topic, here, capsys):
    log = write_changelog(3_000)
    topic = make_topic(log.messages, partitions=3)
    read = ["topic", topic, "-b", broker.bootstrap, "--contract", REFERENCE]
    first, second = [*read, "--until", "offset:500"], [*read, "--from", "offset:500"]
    codes, rows, records = both(capsys, here, first, second)
    assert (codes, len(records)) == ([1, 1], 2)
    typed = [row for name, held in rows.items() if name.startswith("tables/") for row in held]
    assert len(typed) == sum(map(len, log.rows.values()))


def test_gaps_of_transactions_and_headers(spark, broker, make_topic, here, capsys):
    topic, values = make_topic(), rendered("dts/canal@2", 30)
    write_transactions(broker, topic, (values[:10], True), (values[10:20], False), ([*values[20:], b"no"], True))
    codes, _, records = both(capsys, here, ["topic", topic, "-b", broker.bootstrap, "--contract", "dts/canal@2"])
    assert codes == [1]
    assert next(iter(records.values()))["counts"]["read"] == 21


def test_a_stretch_that_was_sent_again_within_a_run_and_after_another(spark, here, capsys):
    lines = rendered("dts/canal@2", 30)
    (here / "a.jsonl").write_bytes(b"\n".join([*lines[:20], *lines[12:], *lines[25:]]))
    read = ["file", "a.jsonl", "--contract", "dts/canal@2", "--drop-duplicates"]
    codes, rows, records = both(capsys, here, [*read, "--until", "offset:15"], [*read, "--from", "offset:15"])
    assert codes == [0, 0]
    assert sorted(one["repeats"]["rows"] for one in records.values()) == [0, 13]
    assert len([row for name, held in rows.items() if name.startswith("tables/") for row in held]) == 30


@pytest.mark.nightly
def test_a_versions_file_a_table_contract_and_a_detected_contract(spark, here, capsys):
    old, new = rendered("dts/canal@1", 60), rendered("dts/canal@2", 60)
    (here / "a.jsonl").write_bytes(b"\n".join([*old[:40], *new[40:]]))
    ranges = {"0": [{"to": 40, "contract": "dts/canal@1"}, {"from": 40, "contract": "dts/canal@2"}]}
    (here / "versions.json").write_text(json.dumps({"topics": {"a.jsonl": ranges}}))
    codes, rows, _ = both(capsys, here, ["file", "a.jsonl", "--versions", "versions.json"])
    assert codes == [0]
    for engine in ENGINES:
        shutil.rmtree(here / engine)
    (here / "orders.yaml").write_text(
        "table: shop.orders\ncolumns: {id: {type: bigint}, price: {type: 'decimal(4,1)'}}\nprimary_key: [id]\n"
    )
    codes, rows, _ = both(
        capsys, here, ["file", "a.jsonl", "--contract", "dts/canal", "--tables", "orders.yaml", "--from", "offset:40"]
    )
    assert any(name.startswith("tables/shop.orders") for name in rows)
    for engine in ENGINES:
        shutil.rmtree(here / engine)
    codes, _, records = both(capsys, here, ["file", "a.jsonl", "--from", "offset:40"])
    assert next(iter(records.values()))["contract"] == "auto"


@pytest.mark.nightly
def test_a_run_that_is_there_a_range_that_overlaps_and_one_that_takes_its_place(spark, here, capsys):
    (here / "a.jsonl").write_bytes(b"\n".join(rendered("dts/canal@2", 50)))
    read = ["file", "a.jsonl", "--contract", "dts/canal@2"]
    part = [*read, "--until", "offset:20"]
    codes, _, records = both(capsys, here, part, part, read, [*read, "--replace"], [*part, "--replace"])
    assert codes == [0, 0, 3, 0, 3]
    assert [one["counts"]["read"] for one in records.values()] == [50]


def test_nothing_is_published_where_a_record_proves_another_version(spark, here, capsys):
    (here / "a.jsonl").write_bytes(b"\n".join(rendered("dts/canal@1", 80)))
    for engine in ENGINES:
        assert main(["decode", "file", "a.jsonl", "--contract", "dts/canal@2", "--to", "o", "--engine", engine]) == 1
        assert "error: nothing was published" in capsys.readouterr().err
        assert list((here / "o").rglob("*.parquet")) == []


def test_a_quarantine_is_replayed_by_either_engine(spark, here, capsys):
    old, new = rendered("oms-community/canal@1", 40), rendered("oms-community/canal@2", 40)
    (here / "a.jsonl").write_bytes(b"\n".join([*old[:10], *new[10:]]))
    held = []
    for engine in ENGINES:
        call = ["file", "a.jsonl", "--contract", "oms-community/canal@2", "--to", engine, "--engine", engine]
        assert main(["decode", *call]) == 1
        call = ["replay", "quarantine", engine, "--contract", "oms-community/canal@1", "--engine", engine]
        assert main(call) == 0
        held.append(all_of(here / engine)[:2])
        capsys.readouterr()
    assert held[0] == held[1]


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(6))
def test_rows_at_positions_that_come_again_are_compared_alike(spark, here, capsys, seed):
    """Rows of few positions and few values, some at several rows of one transaction, cut into three runs at random."""
    draw = random.Random(seed)
    lines = [json.loads(line) for line in rendered("dts/canal@2", 5)]
    reported = [json.dumps(draw.choice(lines) | {"id": draw.randrange(3)}) for _ in range(120)]
    (here / "a.jsonl").write_text("\n".join(reported))
    cuts = [0, *sorted(draw.sample(range(1, 120), 2)), 120]
    read = ["file", "a.jsonl", "--contract", "dts/canal@2", *(["--drop-duplicates"] if seed % 2 else [])]
    calls = [
        [*read, "--from", f"offset:{cuts[at]}", "--until", f"offset:{cuts[at + 1]}"] for at in draw.sample(range(3), 3)
    ]
    _, _, records = both(capsys, here, *calls)
    assert sum(one["repeats"]["rows"] for one in records.values()) > 20


# --- without a JVM


def local_call(here, out="out", *more):
    return ["decode", "file", str(here / "a.jsonl"), "--contract", "dts/canal@2", "--to", str(here / out), *more,
            "--engine", "local"]  # fmt: skip


@pytest.fixture
def file(here):
    path = here / "a.jsonl"
    path.write_bytes(b"\n".join(rendered("dts/canal@2", 100)))
    return path


def test_a_decode_of_one_process_imports_no_spark_and_starts_no_java(file, here):
    lines = rendered("dts/canal@2", 30)
    file.write_bytes(b"\n".join([*lines[:20], *lines[12:]]))
    program = (
        "import sys\n"
        "from cdc_contracts.cli.app import main\n"
        f"code = main({local_call(here)!r})\n"
        "print(code, sorted({name.split('.')[0] for name in sys.modules} & {'pyspark', 'py4j'}))\n"
    )
    # Without a PATH no java can be found, let alone started.
    environment = {"PYTHONPATH": str(ROOT / ".src"), "PATH": "", "HOME": os.environ.get("HOME", "")}
    found = subprocess.run([sys.executable, "-c", program], cwd=here, env=environment, capture_output=True, check=False)
    assert found.returncode == 0, found.stderr
    assert found.stdout.decode().splitlines()[-1] == "0 []"
    assert b"8 rows repeat others by position" in found.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--table-format", "delta"], "--table-format delta needs --engine spark"),
        (["--table-format", "iceberg", "--current"], "--current needs --engine spark"),
        (["--current"], "--current needs --engine spark"),
    ],
)
def test_what_only_spark_can_do_is_refused(file, here, capsys, options, said):
    assert main(local_call(here, "out", *options)) == 2
    assert f"error: {said}\n  Give --engine spark;" in capsys.readouterr().err
    assert not (here / "out").exists()


def test_a_stream_is_refused(capsys):
    call = ["decode", "topic", "t", "-b", "localhost:1", "--contract", "dts/canal@2", "--to", "o", "--engine", "local"]
    assert main([*call, "--follow"]) == 2
    assert "error: --follow needs --engine spark\n" in capsys.readouterr().err
    assert main(call) == 3


@pytest.mark.parametrize(
    "trap",
    [
        pytest.param("runs.transactions:Attempt.validate", marks=pytest.mark.nightly),
        pytest.param("runs.transactions:write_table", marks=pytest.mark.nightly),
        "runs.run_directory:RunDirectory._finalize_files",
    ],
)
def test_a_decode_that_is_killed_counts_for_nothing_and_comes_whole_the_next_time(file, here, trap):
    command = Command((*local_call(here), "--debug"), here / "said")
    moment = "before" if "_finalize" in trap else "after"
    ended = command.run(Kill(trap, "driver", f"cdc_contracts.spark_checks.{trap}", moment))
    assert ended.struck, ended.said
    left = {path.name for path in (here / "out").rglob("*.parquet")}
    assert left
    assert not list((here / "out").glob("_runs/*.json"))
    ended = command.run()
    assert ended.code == 0, ended.said
    rows, _ = rows_below(here / "out")
    assert sum(len(held) for name, held in rows.items() if name.startswith("changes/")) == 100
    assert not left & {path.name for path in (here / "out").rglob("*.parquet")}


def stopped(here, point, number):
    process = subprocess.Popen(
        [sys.executable, STOPPED, str(point), str(int(number)), *local_call(here), "-q"],
        env={**os.environ, "PYTHONPATH": str(ROOT / ".src"), "COLUMNS": "80"}, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err


@pytest.mark.nightly
def test_a_signal_ends_a_decode_at_every_moment_and_nothing_of_it_stays(file, here):
    """Whatever the moment, the run is there whole or not at all."""
    code, out, err = stopped(here, 0, 0)
    assert (code, "conform" in out) == (0, True), err
    calls, whole = int(err.split()[-1]), 0
    for part in range(1, POINTS):
        shutil.rmtree(here / "out")
        number = list(CODES)[part % 2]
        code, _, err = stopped(here, calls * part // POINTS, number)
        assert code == CODES[number]
        assert [line for line in err.splitlines() if not line.startswith(("published", "  "))] == []
        (here / "out").mkdir(exist_ok=True)
        records, files = list((here / "out").glob("_runs/*.json")), list((here / "out").rglob("*.parquet"))
        assert len(files) == (3 if records else 0)
        whole += len(records)
    assert whole < POINTS - 1
