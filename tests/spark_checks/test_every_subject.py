"""A topic of every subject in a real broker: audited, decoded, and compared with the rows that went in.

It is audited by one process and decoded by either engine; that both audit alike is for the commands to show.
"""

import json

import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace
from topics import CATALOGUE, WITH_TABLES, as_decoded, expressed_op

from cdc_contracts.registry.core.contract.document_model import CONTROL_OPS
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContracts
from cdc_contracts.registry.core.generate.event_streams import ORDERS, row_stream
from cdc_contracts.registry.core.generate.rendering import Renderer
from cdc_contracts.registry.core.validate.capabilities import capabilities_of
from cdc_contracts.registry.core.validate.validation_context import open_validation
from cdc_contracts.spark_checks.auditing import audit_input
from cdc_contracts.spark_checks.decoding import Output, decode_input
from cdc_contracts.spark_checks.engines.local_engine import LOCAL
from cdc_contracts.spark_checks.inputs.sources import read_topics
from cdc_contracts.spark_checks.kafka.offsets import parse_range

PARTITIONS = 2


@pytest.mark.one_in(5, any_subject=True)
@pytest.mark.parametrize("subject", CATALOGUE.subjects())
def test_every_row_of_a_topic_comes_out_as_it_went_in(engine, broker, make_topic, tmp_path, subject):
    version = CATALOGUE.versions(subject)[-1]
    tables, known = WITH_TABLES.tables, capabilities_of(version)
    if known.table and not known.database:  # listed by the name that messages can say
        tables = TableContracts([tables.first().model_copy(update={"table": "orders"})])
    reading_options = ReadingOptions(tables=tables, parameters={"timestamp_zone": "+08:00"}, table="shop.orders")
    can, renderer = capabilities_of(version, reading_options), Renderer(version, reading_options)
    sent = [event for event in row_stream(31, 200, snapshot=10, controls=20) if event.op in can.ops]
    topic = make_topic(
        [(number % PARTITIONS, renderer.render(event)) for number, event in enumerate(sent)], partitions=PARTITIONS
    )
    validation = open_validation(CATALOGUE, version.reference, reading_options)

    def read(engine):
        return read_topics(engine, broker.bootstrap, [topic], parse_range(), {}, headers=True)

    report = audit_input(LOCAL, read(LOCAL), validation, fail_on="warning").report
    decoded = decode_input(engine, read(engine), validation, Output(str(tmp_path)), fail_on="warning")

    assert report.verdict == decoded.report.verdict == "pass"
    # a decode names the options of the producer that its sample decided, so that its findings can be seen again
    assert [replace(one, reproduce=None) for one in decoded.report.findings] == [
        replace(one, reproduce=None) for one in report.findings
    ]
    assert [finding for finding in report.findings if finding.severity != "info"] == []
    assert report.ledger.read == len(sent) == report.ledger.conforming + report.ledger.control
    places = {(number % PARTITIONS, number // PARTITIONS): event for number, event in enumerate(sent)}
    rows = {(row["partition"], row["offset"]): row for row in read_changes(tmp_path)}
    assert rows.keys() == {place for place, event in places.items() if event.op not in CONTROL_OPS}
    for place, row in rows.items():
        event = places[place]
        assert row["op"] == expressed_op(version, event.op)
        assert row["table"] == "orders"
        for side in ("before", "after") if can.update_before or event.op != "update" else ("after",):
            image = getattr(event, side)
            expected = image and {name: as_decoded(text, ORDERS.types[name], can) for name, text in image.items()}
            assert (row[side] and dict(row[side])) == expected


def read_changes(out):
    (record,) = [json.loads(path.read_text()) for path in (out / "_runs").glob("*.json")]
    for part in record["files"]:
        if part["table"] == "changes":
            yield from pq.read_table(out / part["path"], partitioning=None).to_pylist()
