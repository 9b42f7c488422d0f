"""The same rows and the same report, whether a topic is decoded in this process, at once by Spark, or batch by batch."""

from collections import Counter

import pyarrow as pa
import pytest
from changelogs import REFERENCE, write_changelog
from topics import scope_of

from cdc_contracts.registry.canonical.settlement import settle
from cdc_contracts.registry.canonical.sightings import Sightings
from cdc_contracts.registry.canonical.typed_rows import split_by_table, type_rows
from cdc_contracts.registry.kernel.kernel import Kernel
from cdc_contracts.registry.tables import TableContracts
from cdc_contracts.registry.tally import Tally

KAFKA = pa.schema([
    ("topic", pa.string()), ("partition", pa.int32()), ("offset", pa.int64()), ("value", pa.binary()),
])  # fmt: skip


@pytest.fixture(scope="module")
def log():
    return write_changelog(6_000)


def in_process(log, topic):
    """What the kernel alone makes of the messages: typed rows, outputs, tally."""
    offsets, records = Counter(), []
    for partition, value in log.messages:
        records.append({"topic": topic, "partition": partition, "offset": offsets[partition], "value": value})
        offsets[partition] += 1
    records.sort(key=lambda record: (record["partition"], record["offset"]))
    kernel, tally, sightings = Kernel(scope_of(REFERENCE)), Tally(), Sightings()
    written = []
    for start in range(0, len(records), 1_000):
        for part in kernel.decode(pa.RecordBatch.from_pylist(records[start : start + 1_000], KAFKA)):
            tally.merge(part.tally)
            sightings.merge(part.sightings)
            written.append(part)
    layouts = settle({}, TableContracts(), sightings, {})
    tables = {name.text: [] for name in layouts}
    for part in written:
        for name, rows in split_by_table(part.changes):
            typed, _ = type_rows(rows, layouts[name])
            tables[name.text] += typed.to_pylist()
    outputs = {
        name: [row for part in written for row in getattr(part, name).to_pylist()]
        for name in ("changes", "control", "quarantine")
    }
    return tables, outputs, tally


def test_the_kernel_alone_makes_the_rows_that_the_source_had(log):
    tables, outputs, tally = in_process(log, "t")
    assert {
        name: [{key: row[key] for key in log.rows[name][0]} for row in rows] for name, rows in tables.items()
    } == log.rows
    assert not any(row["_raw"] or row["_absent"] for rows in tables.values() for row in rows)
    for source, counts in tally.partitions.items():
        assert {name: getattr(counts, name) for name in log.counts[source.partition]} == log.counts[source.partition]
    assert len(outputs["changes"]) == sum(map(len, log.rows.values()))
