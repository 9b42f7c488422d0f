"""Documents in batches: whatever stands beside them, and however a topic is cut, the rows and findings are the same."""

from __future__ import annotations

import json
import random
from functools import cache

import pytest
from document_messages import (
    DELETE,
    MESSAGES,
    Pair,
    batch_of_pairs,
    beside_blocks,
    inserted,
    open_documents,
    quarantine_of,
    rows_of_kernel,
    unlike_by_cuts,
)
from topics import CATALOGUE, rendered, scope_of

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.engine.messages.message_validator import MessageValidator
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.stats.position_sequences import Point
from cdc_contracts.registry.core.stats.reference_tally import account_of
from cdc_contracts.registry.core.validate.described_contexts import open_detected
from cdc_contracts.registry.core.validate.validation_context import DetectedSubjects, ValidationContext

native = pytest.mark.parametrize("native", ["off", "eager"])
ORDERS = [("debezium/mongodb", "debezium/json"), ("debezium/json", "debezium/mongodb")]
"""The subjects of a mixed topic, the more frequent first."""
SOURCE = {
    "version": "3.5.0.Final", "connector": "mysql", "name": "cdc", "ts_ms": 1718000000000, "snapshot": "false",
    "db": "shop", "sequence": None, "ts_us": 1718000000000000, "ts_ns": 1718000000000000000, "table": "orders",
    "server_id": 1, "gtid": None, "file": "binlog.000001", "pos": 4, "row": 0, "thread": None, "query": None,
}  # fmt: skip
HEARTBEAT = Pair(b'{"ts_ms":1762416107510}', b'{"serverName":"yard"}')
BEGIN = Pair(
    b'{"status":"BEGIN","id":"x:7","event_count":null,"data_collections":null,"ts_ms":1762416084650}', b'{"id":"x:7"}'
)


def relational(row: object) -> Pair:
    """Return an insert of a relational table, whatever is in place of its row."""
    message = {"before": None, "after": row, "source": SOURCE, "transaction": None, "op": "c", "ts_ms": 1718000000001,
               "ts_us": 1718000000001000, "ts_ns": 1718000000001000000}  # fmt: skip
    return Pair(json.dumps(message).encode(), b'{"id":1}')


KEYS = [None, b"", b"{}", b'{"id":"5"}', b'{"id":5}', b'{"id":"{\\"a\\": 1}"}', b'{"id":"1,\\"_id\\": 5"}', b'{"id":"null"}',
        b'{"id":"5","x":1}', b"\xff", b'{"schema":null,"payload":{"id":"7"}}']  # fmt: skip
BROKEN = [
    Pair(value, b'{"id":"5"}') for value in (b"", b"\xff", b"{", b"null", b"[]", b"7", DELETE[:-1], DELETE + b"}")
]
TOMBSTONES = [Pair(None, key) for key in KEYS]
RECORDS = [
    *MESSAGES.values(),
    *(Pair(value) for value, _ in MESSAGES.values()),
    *(Pair(DELETE, key) for key in KEYS),
    *(Pair(MESSAGES["3.6.1 delete-with-pre-image"].value, key) for key in KEYS),
    *(Pair(MESSAGES["2.5.4 insert"].value, key) for key in KEYS),
    *BROKEN,
    *TOMBSTONES,
    *(Pair(value, b'{"id":1}') for value in rendered("debezium/json@4", 30)),
    *(relational(row) for row in ({"id": 1}, '{"id":1}', "{}", "[]", None)),
    HEARTBEAT,
    BEGIN,
]


def shuffled(records: list[Pair], seed: int) -> list[Pair]:
    """Return records in another order."""
    return random.Random(seed).sample(records, len(records))


@cache
def mixed(order: tuple[str, ...]) -> ValidationContext:
    """Return the context of a topic with messages of these subjects: one for all tests, which ask the same of it."""
    return open_detected(CATALOGUE, DetectedSubjects(order), ReadingOptions())


@native
@pytest.mark.parametrize("order", [("debezium/mongodb",), *ORDERS], ids=" ".join)
def test_rows_and_findings_of_records_alone_in_a_batch_are_those_of_the_reference(order, native, part, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    assert unlike_by_cuts(mixed(order), shuffled(part(RECORDS, 3), 0), 1) == []


@native
@pytest.mark.parametrize(("size", "times"), [(7, 1), (400, 3)])
@pytest.mark.parametrize("order", [("debezium/mongodb",), *ORDERS], ids=" ".join)
def test_rows_and_findings_do_not_depend_on_how_a_topic_is_cut(order, size, times, native, part, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    for seed in part(range(2), 2):
        assert unlike_by_cuts(mixed(order), shuffled(RECORDS * times, seed), size) == [], seed


@pytest.mark.parametrize("subject", ["debezium/mongodb", "debezium/mongodb@1", "debezium/json", "debezium/flat"])
def test_a_declared_contract_says_the_same_of_every_cut(subject):
    for size in (7, 400):
        assert unlike_by_cuts(scope_of(subject), shuffled(RECORDS, size), size) == []


@pytest.mark.parametrize("subject", [one for one in CATALOGUE.subjects() if one != "debezium/mongodb"])
def test_under_any_other_contract_documents_are_said_to_be_of_their_own(subject, part):
    validation, pairs = scope_of(subject), part(MESSAGES.values(), 3) * 2

    assert unlike_by_cuts(validation, pairs, len(pairs)) == []
    found = {
        one["observed"] for row in quarantine_of(validation, [MESSAGES["3.6.1 insert"]]) for one in row["findings"]
    }
    assert found == {"debezium/mongodb"}


@pytest.mark.parametrize("order", ORDERS, ids=" ".join)
def test_a_delete_whose_key_has_its_row_is_one_also_beside_other_messages(order):
    """Which subject takes a message, its value alone decides: the key may have the row that the value lacks."""
    pairs = [relational({"id": 1}), MESSAGES["3.6.1 delete"], relational({"id": 2}), MESSAGES["3.6.1 insert"]]
    validation = mixed(order)

    (change,) = validation.validate(*MESSAGES["3.6.1 delete"]).changes
    assert (change.op, change.before) == ("delete", {"_id": "690c5a1e7d3b0f4c2a91e6d8"})
    rows = rows_of_kernel(validation, pairs * 20)
    assert [(row["contract"], row["op"]) for row in rows] == [
        ("debezium/json@4", "insert"), ("debezium/mongodb@1", "delete"), ("debezium/json@4", "insert"), ("debezium/mongodb@1", "insert"),
    ] * 20  # fmt: skip
    assert rows[1]["before"] == {"_id": "690c5a1e7d3b0f4c2a91e6d8"}
    assert quarantine_of(validation, pairs) == []


@pytest.mark.parametrize("order", ORDERS, ids=" ".join)
def test_a_delete_whose_key_has_no_row_is_refused_by_the_contract_that_it_is_of(order):
    (row,) = quarantine_of(mixed(order), [Pair(DELETE, b'{"id":5}')])

    assert (row["outcome"], row["contract"]) == ("drifted", "debezium/mongodb@1")
    assert [one["rule"] for one in row["findings"] if one["severity"] == "error"] == ["D09.image-present-for-op"]


@pytest.mark.parametrize(
    "order", [("debezium/mongodb-schema", "debezium/json-schema"), ("debezium/json-schema", "debezium/mongodb-schema")]
)
def test_messages_beside_their_schema_are_told_apart_too(order):
    pairs = [beside_blocks(pair) for name, pair in MESSAGES.items() if "without-after" not in name]
    pairs += [Pair(value, b'{"id":1}') for value in rendered("debezium/json-schema@4", 10)]

    for size in (3, 100):
        assert unlike_by_cuts(mixed(order), pairs, size) == []
    refused = quarantine_of(mixed(order), pairs)
    assert [row["value"] for row in refused] == [beside_blocks(MESSAGES["1.9.7 update-from-the-oplog"]).value]


def test_a_delete_is_of_another_dialect_where_only_relational_messages_are_declared():
    validation = scope_of("debezium/json")
    pair = MESSAGES["3.6.1 delete"]

    verdicts = [validation.validate(*pair).verdict, MessageValidator(validation).validate(*pair, decodes=True).verdict]

    assert [(one.outcome, one.findings[0].observed) for one in verdicts] == [("other-dialect", "debezium/mongodb")] * 2
    assert [row["outcome"] for row in quarantine_of(validation, [pair] * 20)] == ["other-dialect"] * 20


@pytest.mark.parametrize("order", ORDERS, ids=" ".join)
def test_a_row_that_is_a_text_is_none_for_a_contract_whose_rows_are_objects(order):
    """Texts are opened for the contract that has such, and for no other of the topic."""
    validation, pair = mixed(order), relational('{"id":1}')
    assert validation.validate(*pair).changes == ()

    assert rows_of_kernel(validation, [MESSAGES["3.6.1 insert"], pair] * 20) == rows_of_kernel(
        validation, [MESSAGES["3.6.1 insert"], Pair(None)] * 20
    )
    assert {row["value"] for row in quarantine_of(validation, [MESSAGES["3.6.1 insert"], pair] * 20)} == {pair.value}


def test_the_example_of_a_finding_is_the_record_as_it_came():
    """Its digest is that by which somebody finds it in the topic."""
    pair = Pair(inserted('{"_id": 7,  "day": {"$date": "yesterday"}}'), b'{"id":"7"}')
    validation = open_documents(show_values=True)

    (found,) = Kernel(validation).audit(batch_of_pairs([pair] * 3)).findings.values()

    assert (found.example.value, found.example.size) == (pair.value, len(pair.value))
    assert [*found.observed] == ['{"$date":"yesterday"}']
    validated, point = validation.validate(*pair), Point(0, None)
    (alone,) = account_of(validated, Source("orders", 0), point, pair.value, show_values=True).findings.values()
    assert (alone.example, [*alone.observed]) == (found.example, [*found.observed])


def test_control_messages_of_the_other_contract_stand_among_documents():
    validation = open_documents()
    (written,) = Kernel(validation).decode(
        batch_of_pairs([MESSAGES["3.6.1 insert"], HEARTBEAT, BEGIN, relational({"id": 1})])
    )

    assert [(row["offset"], row["kind"]) for row in written.control.to_pylist()] == [(1, "heartbeat"), (2, "begin")]
    assert [(row["offset"], row["outcome"]) for row in written.quarantine.to_pylist()] == [(3, "other-dialect")]


def test_tombstones_are_counted_and_are_no_rows():
    records = batch_of_pairs([MESSAGES["3.6.1 delete"], Pair(None, MESSAGES["3.6.1 delete"].key), *TOMBSTONES])

    (counts,) = Kernel(open_documents()).audit(records).partitions.values()

    assert (counts.read, counts.conforming, counts.tombstone, counts.quarantined) == (13, 1, 12, 0)
