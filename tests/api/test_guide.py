"""The examples of the guide to the Python interface, carried out in order, and what it shows."""

from contextlib import redirect_stdout
from io import StringIO

import pytest
from fastapi.testclient import TestClient
from site_pages import DOCS, agrees, blocks_of

GUIDE = DOCS / "how-to/python-api.md"


def carry_out(names):
    """Carry out the blocks of the guide that need nothing more, and compare what they print."""
    blocks = [block for block in blocks_of(GUIDE) if block.language in {"python", "text"}]
    shown = []
    for block, following in zip(blocks, [*blocks[1:], None], strict=True):
        if block.language != "python" or block.needs:
            continue
        printed = StringIO()
        with redirect_stdout(printed):
            exec(compile(block.text, f"{GUIDE.name}:{block.line}", "exec"), names)
        if following is not None and following.language == "text":
            assert agrees(printed.getvalue(), following.text), printed.getvalue()
            shown.append(following.line)
    return shown


@pytest.fixture(scope="module")
def names():
    found = {}
    assert len(carry_out(found)) >= 6
    return found


class Record:
    """A message as confluent-kafka has it."""

    def __init__(self, value, failure=None):
        self._value, self._failure = value, failure

    def value(self):
        return self._value

    def error(self):
        return self._failure


class Consumer:
    def __init__(self, records):
        self.records = list(records)
        self.committed = []

    def poll(self, _seconds):
        return self.records.pop(0) if self.records else None

    def commit(self, record):
        self.committed.append(record)


def test_the_consumer_applies_what_conforms_and_keeps_the_rest(names):
    good, bad, failed = Record(names["message"]), Record(b"{}"), Record(None, "end of partition")
    consumer, applied, kept = Consumer([good, failed, bad]), [], []
    names["consume"](consumer, applied.append, lambda record, findings: kept.append((record, findings[0].rule)))
    assert [change.row["id"] for change in applied] == [1]
    assert kept == [(bad, "D02")]
    assert consumer.committed == [good, bad]


def test_the_service_answers_with_the_findings(names):
    client = TestClient(names["app"])
    good, bad = (
        client.post("/changes", content=body)
        for body in (names["message"], names["message"].replace(b"INSERT", b"UPSERT"))
    )
    assert (good.status_code, good.text) == (200, "")
    assert bad.status_code == 422
    assert bad.text.startswith("unknown-enum at /type: expected one of INSERT")


@pytest.mark.nightly
def test_the_consumer_reads_a_real_topic(names, broker, make_topic):
    from confluent_kafka import Consumer as KafkaConsumer

    topic = make_topic([(0, names["message"]), (0, b"{}"), (0, None)])
    settings = {"bootstrap.servers": broker.bootstrap, "group.id": topic, "auto.offset.reset": "earliest"}
    consumer, applied, kept = KafkaConsumer(settings), [], []
    consumer.subscribe([topic])
    for _ in range(60):  # until the group has its partitions
        names["consume"](consumer, applied.append, lambda record, findings: kept.append(record.offset()))
        if kept:
            break
    consumer.close()
    assert [change.row["id"] for change in applied] == [1]
    assert kept == [1]
