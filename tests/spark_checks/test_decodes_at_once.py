"""Decodes of one range into one directory, started together: one publishes, and the others find what it published."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from canonical_outputs import read_output, run_records
from topics import rendered, scope_of

from cdc_contracts.spark_checks.decoding import Output, decode_input
from cdc_contracts.spark_checks.engines.local_engine import LocalEngine
from cdc_contracts.spark_checks.inputs.file_inputs import read_files
from cdc_contracts.spark_checks.kafka.offsets import parse_range

REFERENCE = "dts/canal@2"
COUNT = 200


@dataclass
class OvertakenEngine(LocalEngine):
    """The local engine, in which other decodes run to their end after a range was read, before it is published."""

    meanwhile: list[Callable[[], object]] = field(default_factory=list)

    def run_in_order(self, source, work, *, mergeable=False):
        yield from super().run_in_order(source, work, mergeable=mergeable)
        while self.meanwhile:
            self.meanwhile.pop()()


@pytest.fixture
def orders(tmp_path):
    path = tmp_path / "orders.jsonl"
    path.write_bytes(b"\n".join(rendered(REFERENCE, COUNT)))
    return path


def files_of(out):
    return sorted(str(path.relative_to(out)) for path in out.rglob("*.parquet"))


def check_one_run(out):
    """There is one run, all messages are in it once, and no file that it does not name."""
    (record,) = run_records(out)
    (ledger,) = read_output(out, "ledger")
    assert (ledger["read"], ledger["quarantined"], ledger["gaps"]) == (COUNT, 0, 0)
    places = [row["offset"] for name in ("changes", "control") for row in read_output(out, name)]
    assert sorted(places) == list(range(COUNT))
    named = [*record["files"], *(one for table in record["tables"] for one in table["files"])]
    assert files_of(out) == sorted(one["path"] for one in named)
    return record


@pytest.mark.parametrize("replace", [False, True], ids=["again", "replaced"])
def test_a_decode_that_is_overtaken_says_what_a_repetition_says(orders, tmp_path, replace):
    out, results = tmp_path / "out", {}

    def decode(name, *meanwhile, **options):
        source = read_files([orders], parse_range())
        engine = OvertakenEngine(meanwhile=list(meanwhile))
        results[name] = decode_input(engine, source, scope_of(REFERENCE), Output(str(out), **options), fail_on="error")

    decode("first", lambda: decode("second", lambda: decode("third", replace=replace)))
    record = check_one_run(out)
    assert {name: one.again for name, one in results.items()} == {"third": False, "second": True, "first": True}
    assert {one.run for one in results.values()} == {record["run"]}
    assert len({one.report.ledger.changes for one in results.values()}) == 1
    assert {one.record.attempt for one in results.values()} == {record["attempt"]}


@pytest.mark.nightly
def test_three_commands_that_decode_one_range_at_once_all_report_the_same_run(orders, tmp_path):
    out = tmp_path / "out"
    command = [sys.executable, "-m", "cdc_contracts.cli", "decode", "file", orders.name, "--contract", REFERENCE,
               "--engine", "local", "--to", "out"]  # fmt: skip
    started = [
        subprocess.Popen(command, cwd=tmp_path, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        for _ in range(3)
    ]
    said = [process.communicate(timeout=300)[1] for process in started]
    run = check_one_run(out)["run"]
    assert [process.returncode for process in started] == [0, 0, 0], said
    assert sorted(text.count(f"published run {run}: ") for text in said) == [0, 0, 1]
    assert sorted(text.count(f"run {run} already exists, with ") for text in said) == [0, 1, 1]
