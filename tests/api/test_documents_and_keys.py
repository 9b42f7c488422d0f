"""Documents by the API: a record with its key has the row that only the key may hold."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple

import pytest
from document_messages import DELETE, MESSAGES, inserted

import cdc_contracts as cdc

OID = "690c5a1e7d3b0f4c2a91e6d8"


class Record(NamedTuple):
    """A record as a Kafka client has it."""

    value: bytes | None
    key: bytes | str | None = None


@pytest.fixture(scope="module")
def documents():
    return cdc.contract("debezium/mongodb@1")


@pytest.mark.parametrize("key", [MESSAGES["3.6.1 delete"].key, MESSAGES["3.6.1 delete"].key.decode()])
def test_a_delete_has_the_row_of_its_key(documents, key):
    record = Record(DELETE, key)

    assert documents.check(record).ok
    (change,) = documents.decode(record).changes
    assert (change.op, change.database, change.table, change.primary_key) == ("delete", "depot", "parcels", ("_id",))
    assert (dict(change.before), change.before_complete, change.after) == ({"_id": OID}, False, None)
    assert change.event_time == datetime(2025, 11, 6, 8, 1, 47, 102_000, UTC)
    assert dict(change.row) == {"_id": OID}
    assert documents.explain(record).outcome == "conforming"


@pytest.mark.parametrize(
    "record", [DELETE, Record(DELETE), Record(DELETE, b""), Record(DELETE, b'{"id":5}'), DELETE.decode()]
)
def test_a_delete_without_a_key_that_names_its_row_is_refused_and_explained(documents, record):
    checked, explained = documents.check(record), documents.explain(record)

    assert (checked.ok, checked.outcome) == (False, "drifted")
    for result in (checked, explained):
        errors = [one for one in result.findings if one.severity == "error"]
        assert [(one.rule, one.path, one.expected, one.observed) for one in errors] == [
            ("D09.image-present-for-op", "/before", "a row", "no row")
        ]
    assert documents.decode(record).changes == ()


def test_a_batch_has_the_rows_of_its_keys(documents):
    records = [Record(*MESSAGES["3.6.1 delete"]), Record(*MESSAGES["3.6.1 delete-with-pre-image"]), Record(DELETE),
               Record(None, MESSAGES["3.6.1 delete"].key)]  # fmt: skip

    batch = documents.decode_batch(records)

    rows = batch.changes.to_pylist()
    assert [(dict(row["before"])["_id"], row["before_complete"]) for row in rows] == [(OID, False), (OID, True)]
    assert [row["offset"] for row in batch.quarantine.to_pylist()] == [2]


def test_values_of_a_document_are_texts_as_messages_do_not_say_types(documents):
    (change,) = documents.decode(
        Record(inserted('{"_id": 5,"n": NaN,"o": {"n": NaN},"t": "NaN"}'), b'{"id":"5"}')
    ).changes

    assert dict(change.row) == {"_id": "5", "n": "NaN", "o": '{"n":{"$numberDouble":"NaN"}}', "t": "NaN"}


def test_an_id_is_one_value_whether_a_document_or_a_key_has_it(documents):
    """Consumers find the row that a delete is of by it. The notations of a document write a number in different ways."""
    names = ("3.6.1 insert-of-special-values", "3.7.0 insert-of-special-values-extended", "3.6.1 delete-by-int64-id",
             "3.7.0 insert-of-special-values-relaxed")  # fmt: skip
    rows = [documents.decode(Record(*MESSAGES[name])).changes[0] for name in names]

    assert {(change.after or change.before)["_id"] for change in rows} == {"4410000001"}
    whole = [dict(change.row) for change in rows if change.after is not None]
    assert whole[0] == whole[1] == whole[2]


def test_documents_are_detected_without_their_keys():
    found = cdc.detect([DELETE, MESSAGES["3.6.1 insert"].value, MESSAGES["2.5.4 update"].value, None])

    assert (found.verdict, found.contract) == ("certain", "debezium/mongodb@1")


def test_under_another_contract_a_document_is_of_its_own():
    for record in (Record(*MESSAGES["3.6.1 delete"]), Record(DELETE), Record(*MESSAGES["3.6.1 insert"])):
        checked = cdc.contract("debezium/json").check(record)
        assert (checked.outcome, [one.observed for one in checked.findings]) == ("other-dialect", ["debezium/mongodb"])
