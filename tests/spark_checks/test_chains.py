"""Key chains over topics of several partitions, by both engines and in any order of what is read."""

import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from chain_topics import NEW, OLD, Habits, make_topic, records
from topics import scope_of
from written_reports import document_of

from cdc_contracts.spark_checks.auditing import audit_input
from cdc_contracts.spark_checks.decoding import Output, decode_input
from cdc_contracts.spark_checks.engines.local_engine import LOCAL
from cdc_contracts.spark_checks.engines.spark_engine import SparkEngine
from cdc_contracts.spark_checks.inputs.file_inputs import read_files
from cdc_contracts.spark_checks.kafka.offsets import parse_range

MESSAGES = int(os.environ.get("CDC_CHAIN_MESSAGES", "2000"))
"""How long the streams are; the long form takes 20,000."""


@pytest.fixture(scope="module")
def turned():
    """Four partitions of whole images without a DELETE, which turn from the newer version to the older one."""
    turn = MESSAGES * 3 // 5
    topic = make_topic(
        11, Habits(messages=MESSAGES, keys=MESSAGES // 25, partitions=4), lambda n: NEW if n < turn else OLD
    )
    return topic, {
        partition: [at for at, value in enumerate(values) if b'"UPDATE"' in value and number_of(value) >= turn]
        for partition, values in enumerate(topic.partitions)
    }


def number_of(value):
    """The number of a message in its topic, told from its id, which begins at 1."""
    return int(value.partition(b'"id": ')[2].partition(b",")[0]) - 1


def write(path, topic, order):
    batches = [records(topic.partitions[partition], partition=partition) for partition in order]
    pq.write_table(pa.Table.from_batches(batches), path)
    return path


@pytest.mark.parametrize("engine", ["in this process", "Spark"])
@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 1, 0, 2)])
def test_a_switch_in_four_partitions_is_the_one_finding_and_exact(spark, tmp_path, turned, engine, order):
    topic, proven = turned
    source = read_files([write(tmp_path / "a.parquet", topic, order)], parse_range(), tasks=4)

    audited = audit_input(SparkEngine(spark) if engine == "Spark" else LOCAL, source, scope_of(NEW), fail_on="warning")
    report = document_of(audited.report)

    (finding,) = [one for one in report["findings"] if one["severity"] != "info"]
    assert (report["verdict"], finding["class"], finding["path"]) == ("drift", "other-version", "/old")
    reported = [
        (one["partition"], one["count"], one["first_offset"], one["last_offset"]) for one in finding["partitions"]
    ]
    assert reported == [(partition, len(at), at[0], at[-1]) for partition, at in proven.items()]
    assert {one["partition"]: one["at"] for one in report["switches"]} == {n: at[0] for n, at in proven.items()}


def test_a_decode_of_what_chains_contradict_publishes_nothing_unless_it_is_trusted(spark, tmp_path, turned):
    source = read_files([write(tmp_path / "a.parquet", turned[0], range(4))], parse_range(), tasks=4)

    held = decode_input(SparkEngine(spark), source, scope_of(NEW), Output(str(tmp_path / "out")), fail_on="error")
    trusted = decode_input(
        SparkEngine(spark), source, scope_of(NEW), Output(str(tmp_path / "out"), trust_contract=True), fail_on="error"
    )

    assert "row changes prove dts/canal@1" in held.withheld
    assert (held.report.verdict, held.record) == ("drift", None)
    assert trusted.withheld is None
    assert trusted.record is not None
