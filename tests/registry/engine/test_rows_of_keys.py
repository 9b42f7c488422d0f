"""Rows that only Kafka keys hold: whatever batch they are in, they are told from whole rows one by one."""

from __future__ import annotations

import json

import pytest
from document_messages import MESSAGES, open_documents, rows_of_kernel
from output_rows import by_kernel, records_of, unlike_columns

from cdc_contracts.registry.core.engine.columns import key_columns
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.message.primary_keys import read_key_columns

ALONE, WHOLE = MESSAGES["3.6.1 delete"], MESSAGES["3.6.1 delete-with-pre-image"]


@pytest.mark.parametrize("native", ["off", "eager"])
@pytest.mark.parametrize("pairs", [[ALONE, WHOLE], [WHOLE, ALONE], [WHOLE, ALONE] * 40, [ALONE] * 40 + [WHOLE] * 40])
def test_a_row_of_a_key_is_not_complete_beside_whole_ones_that_are(pairs, native, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)

    rows = rows_of_kernel(open_documents(), pairs)

    assert [row["before_complete"] for row in rows] == [pair is WHOLE for pair in pairs]
    assert unlike_columns(open_documents(), [pair.value for pair in pairs], keys=[pair.key for pair in pairs]) == []


AGREES = "D09.kafka-key-agrees"
NAMELESS = [
    b"{}",
    b'{"x":1}',
    b'{"_id":"7"}',
    b'{"payload":{"id":"5"}}',
    b'{"$oid":"690c5a1e7d3b0f4c2a91e6d8"}',
    b'{"ID":"5"}',
]


def test_a_key_without_the_member_that_holds_the_id_names_no_row():
    """Else consumers would delete by a column that no document has."""
    validation = open_documents()
    for key in NAMELESS:
        validated = validation.validate(ALONE.value, key)
        assert [one.rule for one in validated.verdict.findings] == ["D09.image-present-for-op", AGREES], key
        (change,) = validation.validate(WHOLE.value, key).changes
        assert (change.primary_key, change.before_complete) == (None, True), key
    for value in (ALONE.value, WHOLE.value):
        assert unlike_columns(validation, [value] * len(NAMELESS), keys=NAMELESS) == []


def test_a_member_of_a_key_that_is_no_column_is_not_in_the_row():
    key = b'{"id":"5","__dbz__physicalTableIdentifier":"depot.parcels"}'
    (change,) = open_documents().validate(ALONE.value, key).changes
    assert change.before == {"_id": "5"}
    assert unlike_columns(open_documents(), [ALONE.value], keys=[key]) == []


IDS = {
    '{"$numberLong": "5"}': ["5", '{"$numberLong":"5"}', '{"$numberInt":"5"}'],
    '{"$date": 1762416030918}': ['{"$date":"2025-11-06T08:00:30.918Z"}', '{"$date": {"$numberLong": "1762416030918"}}'],
    '{"$binary": "D4iNwA==","$type": "04"}': ['{"$binary":{"base64":"D4iNwA==","subType":"04"}}'],
    '{"a": {"$numberLong": "1"}}': ['{"a":1}', '{ "a" : 1 }'],
    '"5"': ['"5"'],
    '[1,{"$numberInt": "2"}]': ["[1,2]"],
    "null": ["null"],
    "true": ["true"],
    "NaN": ['{"$numberDouble":"NaN"}'],
    "5.0": ["5.0", '{"$numberDouble":"5.0"}'],
}
"""Ids as a document has them, and as keys may write them."""


def inserted(written):
    """An insert of a document with an id that is written so."""
    message = json.loads(MESSAGES["3.6.1 insert"].value)
    message["after"] = f'{{"_id": {written},"code": "K"}}'
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()


def rules_of(value, key):
    return [one.rule for one in open_documents().validate(value, key).verdict.findings]


def test_a_key_has_the_id_of_its_document_in_whatever_notation():
    values = [inserted(one) for one, keys in IDS.items() for _ in keys]
    keys = [json.dumps({"id": one}).encode() for written in IDS.values() for one in written]
    assert [rules_of(*pair) for pair in zip(values, keys, strict=True)] == [[]] * len(values)
    assert unlike_columns(open_documents(), values * 3, keys=keys * 3) == []


def test_a_key_with_another_id_than_its_document_is_warned_of_by_both_paths():
    values, keys = [], []
    for one in IDS:
        for other, written in IDS.items():
            if one != other and (one, other) not in ALIKE:
                values.append(inserted(one))
                keys.append(json.dumps({"id": written[0]}).encode())
    assert [rules_of(*pair) for pair in zip(values, keys, strict=True)] == [[AGREES]] * len(values)
    assert unlike_columns(open_documents(), values, keys=keys) == []


ALIKE = [('{"$numberLong": "5"}', '"5"'), ('"5"', '{"$numberLong": "5"}')]
"""Ids that differ in their type alone are one (a loss of the contract)."""


@pytest.mark.parametrize("native", ["off", "eager"])
def test_keys_that_hold_the_id_as_the_document_does_are_compared_at_once(native, monkeypatch):
    """Whatever the id is, and whether the key names more; one that is written otherwise is read by itself."""
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    read = []
    monkeypatch.setattr(
        key_columns, "read_key_columns", lambda key, place: read.append(key) or read_key_columns(key, place)
    )
    texts = [one for one in IDS if one != "NaN"]
    texts = [*texts, '{"a": "b\\\\c"}', '"d\\"e"', '"é"', "7", "1.50", '{"$oid": "690c5a1e7d3b0f4c2a91e6d8"}'] * 3
    values, first = [inserted(one) for one in texts], texts[0]
    keys = [json.dumps({"id": one}, ensure_ascii=False).encode() for one in texts]

    by_kernel(Kernel(open_documents()), records_of(values, keys))

    if native == "eager":  # the first message is parsed, to learn its shape, and a text with an escape is not sure
        assert {json.loads(key)["id"] for key in read} - {first} == {'"d\\"e"'}
    others = [json.dumps({"id": f"{one} "}).encode() for one in texts]
    named = [key[:-1] + b',"__dbz__physicalTableIdentifier":"depot.parcels"}' for key in keys]
    for sent in (keys, others, named, [*others[1:], keys[0]], [*named[1:], keys[0]]):
        assert unlike_columns(open_documents(), values, keys=sent) == []


def test_a_key_that_names_the_column_itself_beside_its_text_is_read_by_itself():
    values, keys = [inserted("5")] * 40, [b'{"id":"5","_id":7}', b'{"_id":7,"id":"5"}'] * 20
    assert unlike_columns(open_documents(), values, keys=keys) == []
    assert unlike_columns(open_documents(), values, keys=[b'{"x":1,"id":"5","y":2}'] * 40) == []
