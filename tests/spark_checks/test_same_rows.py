"""The same rows and the same report, whether a topic is decoded in this process, at once by Spark, or batch by batch."""

from collections import Counter

import pyarrow as pa
import pytest
from canonical_outputs import check_outputs, read_output, read_table
from changelogs import REFERENCE, write_changelog
from topics import scope_of

from cdc_contracts.registry.canonical.settlement import settle
from cdc_contracts.registry.canonical.sightings import Sightings
from cdc_contracts.registry.canonical.typed_rows import split_by_table, type_rows
from cdc_contracts.registry.kernel.kernel import Kernel
from cdc_contracts.registry.tables import TableContracts
from cdc_contracts.registry.tally import Tally
from cdc_contracts.spark_checks.auditing import audit_input
from cdc_contracts.spark_checks.decoding import Output, decode_input
from cdc_contracts.spark_checks.offsets import parse_range
from cdc_contracts.spark_checks.sources import read_topics

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
    kernel, tally, sightings, written = Kernel(scope_of(REFERENCE)), Tally(), Sightings(), []
    for records in batches:
        for part in kernel.decode(records):
            tally.merge(part.tally)
            sightings.merge(part.sightings)
            written.append(part)
    layouts = settle({}, TableContracts(), sightings, {})
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


def test_spark_writes_the_rows_that_the_kernel_makes_and_reports_what_an_audit_reports(
    spark, broker, topic, log, tmp_path
):
    source = read_topics(spark, broker.bootstrap, [topic], parse_range(), {})
    decoded = decode_input(spark, source, scope_of(REFERENCE), Output(str(tmp_path)), fail_on="error")
    tables, outputs, _ = in_process(source.batches())
    check_outputs(tmp_path, topic, log)
    for name in OUTPUTS:
        assert read_output(tmp_path, name) == outputs[name]
    for name, rows in tables.items():
        assert read_table(tmp_path, name) == rows
    audited = audit_input(None, source, scope_of(REFERENCE), fail_on="error")
    assert decoded.report == audited.report
