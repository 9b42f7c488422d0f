"""The same rows and the same report, whether a topic is decoded in this process, at once by Spark, or batch by batch."""

import json
from collections import Counter

import pyarrow as pa
import pytest
from canonical_outputs import check_outputs, digest_of, read_output, read_table, run_records
from changelogs import REFERENCE, write_changelog
from msgspec import structs
from topics import scope_of
from written_reports import document_of

from cdc_contracts.cli.app import main
from cdc_contracts.registry.core.contract.table_contracts import TableContracts
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.stats.observed_columns import ObservedColumns
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.tables.canonical.layout_resolution import resolve_layouts
from cdc_contracts.registry.core.tables.canonical.typed_rows import split_by_table, type_rows
from cdc_contracts.spark_checks.auditing import audit_input
from cdc_contracts.spark_checks.decoding import Output, decode_input
from cdc_contracts.spark_checks.engines.local_engine import LOCAL
from cdc_contracts.spark_checks.engines.spark_engine import SparkEngine
from cdc_contracts.spark_checks.inputs.sources import read_topics
from cdc_contracts.spark_checks.kafka.offsets import parse_range

KAFKA = pa.schema([
    ("topic", pa.string()), ("partition", pa.int32()), ("offset", pa.int64()), ("value", pa.binary()),
])  # fmt: skip
OUTPUTS = ("changes", "control", "quarantine")


@pytest.fixture(scope="module")
def log():
    return write_changelog(6_000)


@pytest.fixture(scope="module")
def topic(make_topic, log):
    return make_topic(log.messages, partitions=3)


def in_process(batches):
    """What the kernel alone makes of record batches: typed rows by table, outputs, tally."""
    kernel, tally, observed, written = Kernel(scope_of(REFERENCE)), Tally(), ObservedColumns(), []
    for records in batches:
        for part in kernel.decode(records):
            tally.merge(part.tally)
            observed.merge(part.observed)
            written.append(part)
    layouts = resolve_layouts({}, TableContracts(), observed, {})
    tables = {name.text: [] for name in layouts}
    for part in written:
        for name, rows in split_by_table(part.changes):
            tables[name.text] += type_rows(rows, layouts[name])[0].to_pylist()
    outputs = {name: [row for part in written for row in getattr(part, name).to_pylist()] for name in OUTPUTS}
    for rows in tables.values():
        rows.sort(key=lambda row: (row["_partition"], row["_offset"]))
    for rows in outputs.values():
        rows.sort(key=lambda row: (row["partition"], row["offset"]))
    return tables, outputs, tally


def batches_of(log):
    """The messages as batches of the Kafka source, in order of partition and offset."""
    offsets, records = Counter(), []
    for partition, value in log.messages:
        records.append({"topic": "t", "partition": partition, "offset": offsets[partition], "value": value})
        offsets[partition] += 1
    records.sort(key=lambda record: (record["partition"], record["offset"]))
    return [
        pa.RecordBatch.from_pylist(records[start : start + 1_000], KAFKA) for start in range(0, len(records), 1_000)
    ]


def test_the_kernel_alone_makes_the_rows_that_the_source_had(log):
    tables, outputs, tally = in_process(batches_of(log))
    made = {name: [{key: row[key] for key in log.rows[name][0]} for row in rows] for name, rows in tables.items()}
    assert made == log.rows
    assert not any(row["_raw"] or row["_absent"] for rows in tables.values() for row in rows)
    for source, counts in tally.partitions.items():
        assert {name: getattr(counts, name) for name in log.counts[source.partition]} == log.counts[source.partition]
    assert len(outputs["changes"]) == sum(map(len, log.rows.values()))


@pytest.fixture(scope="module")
def at_once(spark, broker, topic, tmp_path_factory):
    """The topic decoded by one run of Spark: where the rows are, and the run."""
    folder = tmp_path_factory.mktemp("at-once")
    source = read_topics(SparkEngine(spark), broker.bootstrap, [topic], parse_range(), {})
    return (
        folder,
        decode_input(SparkEngine(spark), source, scope_of(REFERENCE), Output(str(folder)), fail_on="error"),
        source,
    )


def test_spark_writes_the_rows_that_the_kernel_makes_and_reports_what_an_audit_reports(at_once, topic, log):
    folder, decoded, source = at_once
    tables, outputs, _ = in_process(source.batches())
    check_outputs(folder, topic, log)
    for name in OUTPUTS:
        assert read_output(folder, name) == outputs[name]
    for name, rows in tables.items():
        assert read_table(folder, name) == rows
    audited = audit_input(LOCAL, source, scope_of(REFERENCE), fail_on="error")
    # Repeats are looked for among the rows that are kept, and an audit keeps none.
    assert decoded.report == structs.replace(audited.report, repeats=decoded.report.repeats)


@pytest.mark.nightly
def test_batch_by_batch_the_rows_and_the_report_are_those_of_one_run(at_once, broker, topic, log, tmp_path):
    folder, decoded, _ = at_once
    out, report = tmp_path / "out", tmp_path / "report.json"
    options = ["--follow", "--once", "--max-offsets", "1700", "--to", str(out), "--report", str(report)]
    assert main(["decode", "topic", topic, "-b", broker.bootstrap, "--contract", REFERENCE, *options]) == 1
    assert len(run_records(out)) > 3
    check_outputs(out, topic, log)
    assert digest_of(out, log) == digest_of(folder, log)
    told = json.loads(report.read_text())
    whole = document_of(decoded.report)
    assert {**told, "source": None} == {**whole, "source": None}
