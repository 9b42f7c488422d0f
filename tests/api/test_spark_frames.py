"""DataFrames by the Python interface, batch and streaming; Spark starts at night."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from topics import rendered

import cdc_contracts as cdc

ROOT = Path(__file__).parents[2]
REFERENCE = "dts/canal@2"


class Frame:
    """A DataFrame as far as it is looked at before Spark is asked for anything."""

    def __init__(self, *columns):
        self.columns = columns
        self.isStreaming = True

    def mapInArrow(self, *_):  # noqa: N802  the name that Spark gave it
        raise AssertionError("Spark is asked for rows")


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda: cdc.audit(Frame("value"), REFERENCE), "no column `topic`\n  It needs the columns of the Kafka source"),
        (lambda: cdc.decode(Frame()), 'needs either a contract or a versions file\n  Write `cdc_contracts.audit(df, "dts/canal'),
        (lambda: cdc.audit(Frame(), "auto"), "the contract of a DataFrame must be given"),
        (lambda: cdc.decode(Frame(), "dts/cannal"), "there is no contract `dts/cannal`\n  Did you mean dts/canal?"),
        (lambda: cdc.audit(Frame(), cdc.contract(REFERENCE), parameters={"timestamp_zone": "Z"}), "Give them to `contract()`."),
        (lambda: cdc.audit(Frame("value", "topic", "partition", "offset"), REFERENCE, fail_on="drift"), "`drift` is neither a severity nor"),
        (lambda: cdc.audit(None, REFERENCE), "not a DataFrame of Spark, but of the type NoneType\n  `Contract.check_batch` and"),
        (lambda: cdc.FrameAudit(Frame()).report(), "a report for each micro-batch\n  Write `.frame` with `writeStream`"),
    ],
)  # fmt: skip
def test_a_wrong_call_says_what_to_pass(call, what):
    with pytest.raises(cdc.UsageError) as refused:
        call()
    assert what in str(refused.value)


@pytest.fixture
def captured(tmp_path):
    """A folder with 40 messages in two files, of which two drift."""
    values = rendered(REFERENCE, 38, seed=5)
    values[10:10] = [b"{}", values[3].replace(b'"type":"', b'"type":"UN')]
    for number in range(2):
        part = values[number * 20 : number * 20 + 20]
        columns = {
            "value": pa.array(part, pa.binary()), "topic": ["orders"] * 20, "partition": pa.array([0] * 20, pa.int32()),
            "offset": range(number * 20, number * 20 + 20),
        }  # fmt: skip
        pq.write_table(pa.table(columns), tmp_path / f"part-{number}.parquet")
    return tmp_path


@pytest.mark.nightly
def test_a_batch_frame_is_audited_and_decoded_as_a_batch_in_this_process(spark, captured):
    frame = spark.read.parquet(str(captured))
    contract = cdc.contract(REFERENCE)
    report = cdc.audit(frame, contract).report()
    local = contract.check_batch(pq.read_table(captured, partitioning=None))
    assert (report.verdict, report.read, report.quarantined) == ("drift", 40, 2)
    assert report.findings == local.findings
    assert {**report.document, "source": None} == {**local.document, "source": None}
    rows = cdc.decode(frame, REFERENCE)
    batch = contract.decode_batch(pq.read_table(captured, partitioning=None))
    for name in ("changes", "control", "quarantine"):
        assert getattr(rows, name).count() == getattr(batch, name).num_rows


@pytest.mark.nightly
def test_a_streaming_frame_gives_rows_and_a_report_for_each_micro_batch(spark, captured):
    stream = (
        spark.readStream.schema("value binary, topic string, partition int, offset bigint")
        .option("maxFilesPerTrigger", 1)
        .parquet(str(captured))
    )

    def drain(frame, name):
        query = frame.writeStream.format("memory").queryName(name).trigger(availableNow=True).start()
        query.awaitTermination(120)
        return spark.table(name).collect()

    reports = [json.loads(row.report) for row in drain(cdc.audit(stream, REFERENCE).frame, "reports")]
    assert [one["ledger"]["read"] for one in reports] == [20, 20]
    assert sum(one["ledger"]["quarantined"] for one in reports) == 2
    rows = cdc.decode(stream, REFERENCE)
    assert rows.changes.isStreaming
    changes, control, quarantine = (drain(getattr(rows, name), name) for name in ("changes", "control", "quarantine"))
    assert sorted(row.offset for row in quarantine) == [10, 11]
    assert len({row.offset for row in [*changes, *control, *quarantine]}) == 40


NOTEBOOK = """
import sys
from pyspark.sql import SparkSession
import cdc_contracts as cdc

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
print(cdc.audit(spark.read.parquet(sys.argv[1]), "dts/canal@2").report().read)
"""


@pytest.mark.nightly
@pytest.mark.java
def test_a_session_of_a_notebook_runs_this_python_in_its_workers(captured, tmp_path):
    path = tmp_path / "bin"
    path.mkdir()
    (path / "python3").write_text("#!/bin/sh\nexit 1\n")
    (path / "python3").chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYSPARK_")}
    environment |= {"PATH": f"{path}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT / ".src")}
    told = subprocess.run(
        [sys.executable, "-c", NOTEBOOK, str(captured)], env=environment, capture_output=True, text=True, check=False
    )
    assert told.stdout == "40\n", told.stderr[-3000:]
