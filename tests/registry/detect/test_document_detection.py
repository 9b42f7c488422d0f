"""Detection of documents: by their values, whether their keys are known or not, and beside messages of other contracts."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pytest
from document_messages import DELETE, MESSAGES, Pair, batch_of_pairs
from topics import CATALOGUE, rendered

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.detect.classifier import detect
from cdc_contracts.registry.core.detect.evidence_accumulator import EvidenceAccumulator
from cdc_contracts.registry.core.detect.message_evidence import RecordPlace
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.validate.described_contexts import open_detected
from cdc_contracts.registry.core.validate.validation_context import DetectedSubjects

WITHOUT_A_ROW = ("update-without-after", "update-from-the-oplog")
WITH_A_ROW = [pair for name, pair in MESSAGES.items() if not name.endswith(WITHOUT_A_ROW)]
GARBAGE = rb'{"id":"1,\"_id\": 5"}'
"""A key of a sharded collection, as releases before 2.5 wrote it."""


def detected(pairs: Iterable[Pair]):
    """Return what is detected for records of one partition."""
    accumulator = EvidenceAccumulator(CATALOGUE, ReadingOptions())
    for offset, (value, key) in enumerate(pairs):
        place = RecordPlace("depot", 0, offset)
        accumulator.pass_over(place) if value is None else accumulator.add(place, value, key)
    return detect(accumulator)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(
    "pairs", [WITH_A_ROW, [Pair(DELETE, b'{"id":"5"}')] * 8, *([pair] for pair in WITH_A_ROW[::5])]
)
def test_documents_are_of_their_contract_whether_their_keys_are_known_or_not(pairs, known):
    found = detected(pair if known else Pair(pair.value) for pair in pairs)

    assert (found.verdict, found.version.reference) == ("certain", "debezium/mongodb@1")


def test_keys_that_name_no_row_hide_nothing_but_the_deletes_they_are_of():
    assert detected(Pair(pair.value, GARBAGE) for pair in WITH_A_ROW).version.reference == "debezium/mongodb@1"

    found = detected([Pair(DELETE, GARBAGE)] * 8)
    assert (found.verdict, found.report().nearest) == ("not-in-catalogue", "debezium/mongodb@1")


def test_some_updates_without_their_document_leave_it_likely():
    found = detected(MESSAGES.values())

    assert (found.verdict, found.version.reference) == ("likely", "debezium/mongodb@1")


def test_tombstones_control_messages_and_broken_values_stand_among_documents():
    beside = [Pair(None, b'{"id":"5"}'), Pair(b'{"ts_ms":1762416107510}', b'{"serverName":"yard"}'), Pair(None)]

    assert detected([*WITH_A_ROW, *beside]).version.reference == "debezium/mongodb@1"


def test_a_topic_with_relational_messages_is_mixed_and_every_record_is_read():
    relational = [Pair(value, b'{"id":1}') for value in rendered("debezium/json@4", 30)]
    pairs = [*relational, *WITH_A_ROW]

    found = detected(pairs)

    subjects = tuple(dict.fromkeys(version.subject for version in found.detected))
    assert (found.verdict, {*subjects}) == ("mixed", {"debezium/json", "debezium/mongodb"})
    for order in (subjects, subjects[::-1]):
        validation = open_detected(CATALOGUE, DetectedSubjects(order), ReadingOptions())
        (written,) = Kernel(validation).decode(batch_of_pairs(pairs))
        assert written.quarantine.num_rows == 0
        documents = [row for row in written.changes.to_pylist() if row["contract"] == "debezium/mongodb@1"]
        assert [row["offset"] for row in documents] == [*range(len(relational), len(pairs))]


@pytest.mark.parametrize("connector", ["mysql", "postgresql", "mongo", None])
def test_what_another_connector_says_to_have_written_is_of_no_contract_of_documents(connector):
    message = json.loads(MESSAGES["3.6.1 insert"].value)
    message["source"]["connector"] = connector

    found = detected([Pair(json.dumps(message).encode())] * 8)

    assert "debezium/mongodb@1" not in [version.reference for version in found.detected]
