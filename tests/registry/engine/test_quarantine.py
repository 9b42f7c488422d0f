"""Redacted quarantine: no value of a row is left of a record, whatever it looks like."""

import pyarrow as pa
import pytest
from topics import CATALOGUE

from cdc_contracts.registry.core.records.output_schemas import QUARANTINE_SCHEMA
from cdc_contracts.registry.core.records.redacted_quarantine import redact_quarantine

CANAL = "dts/canal@2"
MESSAGE = b'{"database":"shop","table":"orders","type":"INSERT","id":4711,"data":[{"name":"Jane O\'Hara"}]}'


def redacted(value, *, contract=CANAL, outcome="drifted", key=None, headers=None):
    row = {
        "outcome": outcome,
        "contract": contract,
        "findings": [{"rule": "D06", "class": "type-change", "severity": "error", "path": "/data", "expected": "list",
                      "observed": "text"}],
        "key": key, "value": value, "headers": headers, "topic": "t", "partition": 0, "offset": 5,
    }  # fmt: skip
    given = pa.RecordBatch.from_pylist([row], schema=QUARANTINE_SCHEMA)
    (shown,) = redact_quarantine(given, CATALOGUE).to_pylist()
    for name in ("outcome", "contract", "findings", "topic", "partition", "offset"):
        assert shown[name] == given.to_pylist()[0][name]
    return shown


def test_names_and_codes_of_a_message_stay_and_values_become_shapes():
    shown = redacted(MESSAGE)["value"].decode()
    assert shown == (
        '{"database": "shop", "table": "orders", "type": "INSERT", "id": 4711, "data": [{"name": "aaaa a\'aaaa"}]}'
    )


@pytest.mark.parametrize("outcome", ["other-dialect", "unreadable"])
def test_what_is_of_another_dialect_keeps_no_member_by_the_names_of_this_one(outcome):
    contract = CANAL if outcome == "other-dialect" else None
    shown = redacted(b'{"id":4711,"type":"Jane"}', contract=contract, outcome=outcome)["value"]
    assert shown == b'{"id": 9999, "type": "aaaa"}'


@pytest.mark.parametrize(
    ("value", "left"),
    [
        (b"\x00\x02\xffJane", b"7 bytes"),
        (b"Jane\x00", b"5 bytes"),
        ("Jörg".encode("utf-16"), b"10 bytes"),
        (b'{"name": "Jane', b'{"name": "aaaa'),
        ("Jörg".encode(), b"axaa"),
        (b"", b""),
        (None, None),
    ],
)
def test_what_is_no_message_keeps_its_shape_if_it_is_text_and_else_its_length(value, left):
    assert redacted(value, contract=None, outcome="unreadable")["value"] == left


def test_keys_are_shapes_and_headers_names():
    headers = [{"key": "trace", "value": b"Jane"}, {"key": "empty", "value": None}]
    shown = redacted(MESSAGE, key=b'{"id":4711}', headers=headers)
    assert shown["key"] == b'{"id": 9999}'
    assert shown["headers"] == [{"key": "trace", "value": None}, {"key": "empty", "value": None}]
    assert redacted(MESSAGE, key=b"Jane")["key"] == b"aaaa"
    assert redacted(MESSAGE)["key"] is None
