"""Documents that the classes of a connector wrote hold the rows written here by hand, on every path through the engine."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from document_messages import (
    BESIDE_BLOCKS,
    DELETE,
    MESSAGES,
    Pair,
    beside_blocks,
    change_of_one,
    inserted,
    open_documents,
    quarantine_of,
    rows_of_kernel,
    with_members,
)
from output_rows import unlike_columns

from cdc_contracts.registry.core.message.canonical_changes import Change

PARCEL = {
    "_id": "690c5a1e7d3b0f4c2a91e6d8", "code": "KX-4410", "weight": "12.5", "pieces": "3", "fragile": "false",
    "received": "2025-11-06T08:00:30Z", "to": '{"town":"Ålesund","dock":7}', "marks": '["cold","top"]', "note": None,
}  # fmt: skip
MOVED = {
    "_id": "690c5a1e7d3b0f4c2a91e6d8", "code": "KX-4410", "weight": "12.75", "pieces": "3", "fragile": "false",
    "received": "2025-11-06T08:00:30Z", "to": '{"town":"Ålesund","dock":9}', "marks": '["cold"]',
}  # fmt: skip
LOADED = {
    "_id": "690c59f07d3b0f4c2a91e6c4", "code": "KX-4397", "weight": "3.0", "pieces": "1", "fragile": "true",
    "received": "2025-11-06T07:59:30Z", "to": '{"town":"Bodø","dock":2}', "marks": "[]", "note": "call first",
}  # fmt: skip
EVERY_TYPE = {
    "_id": "690c5a2b7d3b0f4c2a91e6e1",
    "a_double": "0.75",
    "a_string": 'Pier "Nord" \N{EN DASH} 3 m²',
    "an_object": '{"row":4,"shelf":"B"}',
    "an_array": '[1,"two",{"three":3}]',
    "a_binary": "AY//AGRlcG90",
    "a_uuid": "Wwxt4fOiTH+aEQ2OUsS29w==",
    "an_undefined": '{"$undefined":true}',
    "an_object_id": "690c5a2b7d3b0f4c2a91e6e2",
    "a_boolean": "true",
    "a_date": "2025-11-06T08:00:30.918Z",
    "a_null": None,
    "a_regex": r'{"$regularExpression":{"pattern":"^KX-\\d{4}$","options":"i"}}',
    "a_pointer": '{"$ref":"depot.docks","$id":{"$oid":"690c5a2b7d3b0f4c2a91e6e3"}}',
    "a_code": '{"$code":"function (p) { return p.weight * 2; }"}',
    "a_symbol": "north",
    "a_scoped_code": '{"$code":"return limit","$scope":{"limit":30}}',
    "an_int32": "-40",
    "a_timestamp": '{"$timestamp":{"t":1762416030,"i":6}}',
    "an_int64": "9007199254740993",
    "a_decimal": "1840.5500",
    "a_min_key": '{"$minKey":1}',
    "a_max_key": '{"$maxKey":1}',
}
SPECIAL_VALUES = {
    "_id": "4410000001",
    "nan": "NaN",
    "infinity": "Infinity",
    "negative_infinity": "-Infinity",
    "negative_zero": "0.0",
    "whole": "3.0",
    "large": "15000000000000000000000",
    "small": "0.00000010",
    "before_1970": "1969-12-31T23:59:59.999Z",
    "after_9999": '{"$date":{"$numberLong":"253402300800000"}}',
    "decimal_nan": "NaN",
    "decimal_large": "10000000000000000000000000000000000000000",
    "beyond_plane": "box 📦",
    "empty_object": "{}",
    "empty_array": "[]",
    "nested": '{"nan":{"$numberDouble":"NaN"},"id":{"$oid":"690c5a1e7d3b0f4c2a91e6d8"}}',
    "user_binary": "AQ==",
}
TRANSACTION = (
    '{"id": {"$binary": "wdCpTit/Tw6MNeahkH1Esg==","$type": "04"},'
    '"uid": {"$binary": "BwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyAhIiMkJSY=","$type": "00"}}:7'
)


def written(op: str, sent: str, **more: Any) -> dict[str, Any]:
    """Return what a row has: its op, when it was sent on the day of all of them, and what else is not None."""
    nothing = {"before": None, "after": None, "before_complete": None, "after_complete": None, "event_time": None,
               "transaction": None, "update_part": "joined" if op == "update" else None}  # fmt: skip
    return nothing | {"op": op, "process_time": sent} | more


def after(op: str, row: dict[str, Any], event_time: str | None, sent: str, **more: Any) -> dict[str, Any]:
    return written(op, sent, after=row, after_complete=True, event_time=event_time, **more)


def deleted(event_time: str, sent: str, **row: Any) -> dict[str, Any]:
    """Return a delete of which the Kafka key alone says the row."""
    return written("delete", sent, before=row, before_complete=False, event_time=event_time)


OBJECT_ID = "690c5a1e7d3b0f4c2a91e6d8"
ROWS = {
    "1.9.7 insert": after("insert", PARCEL, "08:00:30", "08:00:31.247"),
    "1.9.7 delete-from-the-oplog": deleted("08:01:47", "08:01:47.510", _id=OBJECT_ID),
    "2.5.4 insert": after("insert", PARCEL, "08:00:30", "08:00:31.247"),
    "2.5.4 insert-of-every-type": after("insert", EVERY_TYPE, "08:00:43", "08:00:43.377"),
    "2.5.4 insert-of-special-values": after("insert", SPECIAL_VALUES, "08:00:49", "08:00:50.110"),
    "2.5.4 snapshot": after("snapshot", LOADED, "08:00:00", "08:00:20.880"),
    "2.5.4 snapshot-of-an-idle-stream": after(
        "snapshot", {"_id": "4410000002", "code": "KX-4398"}, None, "08:00:20.882"
    ),
    "2.5.4 replace": after("update", PARCEL | {"code": "KX-4411"}, "08:01:30", "08:01:31.004"),
    "2.5.4 update": after("update", MOVED, "08:01:10", "08:01:11.203"),
    "2.5.4 update-with-pre-image": after(
        "update", MOVED, "08:01:10", "08:01:11.203", before=PARCEL, before_complete=True
    ),
    "2.5.4 update-in-a-transaction": after(
        "update", PARCEL | {"pieces": "2"}, "08:01:24", "08:01:25.090", transaction=TRANSACTION
    ),
    "2.5.4 delete": deleted("08:01:47", "08:01:47.510", _id=OBJECT_ID),
    "2.5.4 delete-with-pre-image": written(
        "delete", "08:01:47.510", before=MOVED, before_complete=True, event_time="08:01:47"
    ),
    "2.5.4 delete-by-date": deleted("08:01:47", "08:01:48.010", _id="2025-11-06T08:00:30.9Z"),
    "2.5.4 delete-by-document": deleted("08:01:47", "08:01:48.010", _id='{"depot":"north","no":12}'),
    "2.5.4 delete-by-int64-id": deleted("08:01:47", "08:01:48.010", _id="4410000001"),
    "2.5.4 delete-by-text-id": deleted("08:01:47", "08:01:48.010", _id='KX "4410"'),
    "2.5.4 delete-by-uuid": deleted("08:01:47", "08:01:48.010", _id="Wwxt4fOiTH+aEQ2OUsS29w=="),
    "2.6.2 snapshot-of-an-idle-stream": after(
        "snapshot", {"_id": "4410000002", "code": "KX-4398"}, None, "08:00:20.882"
    ),
    "3.6.1 insert": after("insert", PARCEL, "08:00:30.918", "08:00:31.247"),
    "3.6.1 insert-of-every-type": after("insert", EVERY_TYPE, "08:00:43.020", "08:00:43.377"),
    "3.6.1 insert-of-special-values": after("insert", SPECIAL_VALUES, "08:00:49.880", "08:00:50.110"),
    "3.6.1 snapshot": after("snapshot", LOADED, "08:00:00", "08:00:20.880"),
    "3.6.1 snapshot-of-an-idle-stream": after(
        "snapshot", {"_id": "4410000002", "code": "KX-4398"}, "08:00:20.881", "08:00:20.882"
    ),
    "3.6.1 replace": after("update", PARCEL | {"code": "KX-4411"}, "08:01:30.700", "08:01:31.004"),
    "3.6.1 update": after("update", MOVED, "08:01:10.871", "08:01:11.203"),
    "3.6.1 update-with-pre-image": after(
        "update", MOVED, "08:01:10.871", "08:01:11.203", before=PARCEL, before_complete=True
    ),
    "3.6.1 update-in-a-transaction": after(
        "update", PARCEL | {"pieces": "2"}, "08:01:24.650", "08:01:25.090", transaction=TRANSACTION
    ),
    "3.6.1 delete": deleted("08:01:47.102", "08:01:47.510", _id=OBJECT_ID),
    "3.6.1 delete-with-pre-image": written(
        "delete", "08:01:47.510", before=MOVED, before_complete=True, event_time="08:01:47.102"
    ),
    "3.6.1 delete-by-date": deleted("08:01:47.800", "08:01:48.010", _id="2025-11-06T08:00:30.9Z"),
    "3.6.1 delete-by-document": deleted("08:01:47.800", "08:01:48.010", _id='{"depot":"north","no":12}'),
    "3.6.1 delete-by-int64-id": deleted("08:01:47.800", "08:01:48.010", _id="4410000001"),
    "3.6.1 delete-by-text-id": deleted("08:01:47.800", "08:01:48.010", _id='KX "4410"'),
    "3.6.1 delete-by-uuid": deleted("08:01:47.800", "08:01:48.010", _id="Wwxt4fOiTH+aEQ2OUsS29w=="),
    "3.7.0 insert-of-every-type-extended": after("insert", EVERY_TYPE, "08:00:43.020", "08:00:43.377"),
    "3.7.0 insert-of-every-type-relaxed": after("insert", EVERY_TYPE, "08:00:43.020", "08:00:43.377"),
    "3.7.0 insert-of-special-values-extended": after("insert", SPECIAL_VALUES, "08:00:49.880", "08:00:50.110"),
    "3.7.0 insert-of-special-values-relaxed": after("insert", SPECIAL_VALUES, "08:00:49.880", "08:00:50.110"),
}
"""The row of each message that holds one, its times on 2025-11-06."""
WITHOUT_A_ROW = ("1.9.7 update-from-the-oplog", "2.5.4 update-without-after", "3.6.1 update-without-after")
IN_EVERY_ROW = {"database": "depot", "table": "parcels", "primary_key": ["_id"], "position": None, "changed": None}
NO_ROW = ("D09.image-present-for-op", "error")


def errors_of(validated):
    """The rules that a message breaks; that its key is not that of its row is a warning."""
    return [(one.rule, one.severity) for one in validated.verdict.findings if one.severity == "error"]


START = datetime(1970, 1, 1, tzinfo=UTC)


def moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(f"2025-11-06T{text}+00:00")


def expected_row(name: str) -> dict[str, Any]:
    row = IN_EVERY_ROW | ROWS[name]
    return row | {time: moment(row[time]) for time in ("event_time", "process_time")}


def read_row(change: Change) -> dict[str, Any]:
    """Return what is expected of a row, of a change of the reference or of a single message."""
    row = {name: getattr(change, name) for name in IN_EVERY_ROW | written("", "")}
    for time in ("event_time", "process_time"):
        row[time] = None if row[time] is None else START + timedelta(microseconds=row[time])
    return row


def test_every_message_has_a_row_here_or_none():
    assert MESSAGES.keys() == {*ROWS, *WITHOUT_A_ROW}


@pytest.mark.parametrize("name", ROWS)
def test_the_reference_reads_the_row(name):
    validated = open_documents().validate(*MESSAGES[name])

    assert (validated.verdict.outcome, validated.verdict.findings) == ("conforming", ())
    assert [read_row(change) for change in validated.changes] == [expected_row(name)]


@pytest.mark.parametrize("name", ROWS)
def test_a_message_by_itself_has_the_same_row(name):
    assert [*map(read_row, change_of_one(open_documents(), MESSAGES[name]))] == [expected_row(name)]


@pytest.mark.parametrize("native", ["off", "eager"])
def test_a_batch_has_the_same_rows(native, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    validation, pairs = open_documents(), [MESSAGES[name] for name in ROWS]

    rows = rows_of_kernel(validation, pairs)

    assert [{name: row[name] for name in expected_row(first)} for first, row in zip(ROWS, rows, strict=True)] == [
        expected_row(name) for name in ROWS
    ]
    assert unlike_columns(validation, [*(pair.value for pair in pairs)], keys=[pair.key for pair in pairs]) == []


@pytest.mark.parametrize("native", ["off", "eager"])
def test_messages_beside_their_schema_have_the_same_rows(native, monkeypatch):
    """Their keys may be without one: a converter of its own writes them."""
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    validation = open_documents(BESIDE_BLOCKS)
    both = [beside_blocks(MESSAGES[name]) for name in ROWS]
    value_alone = [Pair(pair.value, MESSAGES[name].key) for name, pair in zip(ROWS, both, strict=True)]

    for pairs in (both, value_alone):
        for name, pair in zip(ROWS, pairs, strict=True):
            assert [*map(read_row, validation.validate(*pair).changes)] == [expected_row(name)]
            assert [*map(read_row, change_of_one(validation, pair))] == [expected_row(name)]
        rows = rows_of_kernel(validation, pairs)
        assert [{at: row[at] for at in expected_row(name)} for name, row in zip(ROWS, rows, strict=True)] == [
            expected_row(name) for name in ROWS
        ]
        assert unlike_columns(validation, [pair.value for pair in pairs], keys=[pair.key for pair in pairs]) == []


def test_beside_their_schema_an_update_without_its_document_and_a_key_without_a_row_are_refused_too():
    validation = open_documents(BESIDE_BLOCKS)
    pairs = [beside_blocks(MESSAGES[name]) for name in WITHOUT_A_ROW]
    pairs += [Pair(beside_blocks(Pair(DELETE)).value, key) for key in KEYS_WITHOUT_A_ROW.values()]

    for pair in pairs:
        assert errors_of(validation.validate(*pair)) == [NO_ROW], pair
    assert [row["value"] for row in quarantine_of(validation, pairs)] == [pair.value for pair in pairs]
    assert unlike_columns(validation, [pair.value for pair in pairs], keys=[pair.key for pair in pairs]) == []


def test_the_notations_of_one_document_have_one_row():
    validation = open_documents()
    for named in ("insert-of-every-type", "insert-of-special-values"):
        ways = [f"3.6.1 {named}", f"3.7.0 {named}-extended", f"3.7.0 {named}-relaxed"]
        strict, extended, relaxed = (validation.validate(*MESSAGES[name]).changes for name in ways)
        assert strict == extended == relaxed


BARE = '{"_id": 1,"of": {"nan": NaN,"all": [Infinity,-Infinity,{"deep": NaN}]},"text": "NaN","here": -Infinity}'
NAMED = (
    '{"_id": 1,"of": {"nan": {"$numberDouble": "NaN"},"all": [{"$numberDouble": "Infinity"},'
    '{"$numberDouble": "-Infinity"},{"deep": {"$numberDouble": "NaN"}}]},"text": "NaN","here": {"$numberDouble": "-Infinity"}}'
)


@pytest.mark.parametrize("document", [BARE, NAMED])
def test_numbers_that_are_none_are_read_bare_and_by_name(document):
    (change,) = open_documents().validate(inserted(document), b'{"id":"1"}').changes

    assert change.after == {
        "_id": "1",
        "of": '{"nan":{"$numberDouble":"NaN"},"all":[{"$numberDouble":"Infinity"},{"$numberDouble":"-Infinity"},'
              '{"deep":{"$numberDouble":"NaN"}}]}',
        "text": "NaN",
        "here": "-Infinity",
    }  # fmt: skip


@pytest.mark.parametrize("name", WITHOUT_A_ROW)
def test_an_update_without_its_document_is_quarantined(name):
    validation, pair = open_documents(), MESSAGES[name]
    found = [validation.validate(*pair).verdict]
    (row,) = quarantine_of(validation, [pair])

    assert [(one.outcome, [(f.rule, f.severity, f.path) for f in one.findings]) for one in found] == [
        ("drifted", [(*NO_ROW, "/after")])
    ]
    assert (row["outcome"], row["value"], row["key"]) == ("drifted", *pair)


KEYS_WITHOUT_A_ROW = {
    "no key": None,
    "an empty key": b"",
    "null": b"null",
    "a text": b'"690c5a1e7d3b0f4c2a91e6d8"',
    "the document's id alone": b'{"$oid": "690c5a1e7d3b0f4c2a91e6d8"}',
    "no JSON": b"Struct{id=5}",
    "a value that is no text": b'{"id":5}',
    "null in place of a text": b'{"id":null}',
    "an empty text": b'{"id":""}',
    "a text that is no JSON": b'{"id":"690c5a1e7d3b0f4c2a91e6d8"}',
    "a cut text": rb'{"id":"{\"$oid\": \"690c"}',
    "two values": b'{"id":"5 6"}',
    "a constant of JavaScript": b'{"id":"NaN"}',
    "bytes behind the key": b'{"id":"5"} 6',
    "a sharded collection": rb'{"id":"\": \"eu\",\"_id\": 5"}',
    "a sharded collection by a short name": rb'{"id":"1,\"_id\": 5"}',
    "a sharded collection by _id first": rb'{"id":"5,\"region\": \"eu\""}',
    "bytes that are no UTF-8": b'{"id":"\xff"}',
    "a lone surrogate": rb'{"id":"\"\\ud800\""}',
    "a byte order mark": b'\xef\xbb\xbf{"id":"5"}',
}  # fmt: skip
"""Keys that name no row."""


@pytest.mark.parametrize("native", ["off", "eager"])
def test_a_delete_whose_key_names_no_row_is_quarantined(native, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    validation, pairs = open_documents(), [Pair(DELETE, key) for key in KEYS_WITHOUT_A_ROW.values()]
    for name, key in KEYS_WITHOUT_A_ROW.items():
        assert errors_of(validation.validate(DELETE, key)) == [NO_ROW], name
        assert change_of_one(validation, Pair(DELETE, key)) == (), name

    written = quarantine_of(validation, pairs)

    assert [(row["outcome"], row["key"], row["value"]) for row in written] == [
        ("drifted", key, DELETE) for key in KEYS_WITHOUT_A_ROW.values()
    ]
    assert unlike_columns(validation, [DELETE] * len(pairs), keys=[pair.key for pair in pairs]) == []


def test_a_row_before_a_delete_is_that_of_the_message_whatever_the_key_is():
    validation = open_documents()
    for key in (*KEYS_WITHOUT_A_ROW.values(), b'{"id":"5"}'):
        (change,) = validation.validate(MESSAGES["3.6.1 delete-with-pre-image"].value, key).changes
        assert (change.before, change.before_complete) == (MOVED, True)


def test_a_key_beside_its_schema_names_the_row():
    keys = [b'{"schema":null,"payload":{"id":"5"}}',
            b'{"schema":{"type":"struct","fields":[{"type":"string","field":"id"}]},"payload":{"id":"5"}}',
            b'{"id":"{\\"$numberLong\\": \\"5\\"}"}', b' { "id" : " 5 " } ']  # fmt: skip
    validation = open_documents()
    for key in keys:
        (change,) = validation.validate(DELETE, key).changes
        assert (change.before, change.primary_key, change.before_complete) == ({"_id": "5"}, ["_id"], False)
    assert unlike_columns(validation, [DELETE] * 4, keys=keys) == []


def test_a_delete_without_the_member_before_has_the_row_of_its_key_too():
    value = with_members(MESSAGES["1.9.7 delete-from-the-oplog"].value)
    assert b'"before"' not in value
    (change,) = open_documents().validate(value, b'{"id":"5"}').changes
    assert change.before == {"_id": "5"}
