"""Rows that only Kafka keys hold: whatever batch they are in, they are told from whole rows one by one."""

from __future__ import annotations

import pytest
from document_messages import MESSAGES, open_documents, rows_of_kernel
from output_rows import unlike_columns

ALONE, WHOLE = MESSAGES["3.6.1 delete"], MESSAGES["3.6.1 delete-with-pre-image"]


@pytest.mark.parametrize("native", ["off", "eager"])
@pytest.mark.parametrize("pairs", [[ALONE, WHOLE], [WHOLE, ALONE], [WHOLE, ALONE] * 40, [ALONE] * 40 + [WHOLE] * 40])
def test_a_row_of_a_key_is_not_complete_beside_whole_ones_that_are(pairs, native, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)

    rows = rows_of_kernel(open_documents(), pairs)

    assert [row["before_complete"] for row in rows] == [pair is WHOLE for pair in pairs]
    assert unlike_columns(open_documents(), [pair.value for pair in pairs], keys=[pair.key for pair in pairs]) == []


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
        assert [one.rule for one in validated.verdict.findings] == ["D09.image-present-for-op"], key
        (change,) = validation.validate(WHOLE.value, key).changes
        assert (change.primary_key, change.before_complete) == (None, True), key
    for value in (ALONE.value, WHOLE.value):
        assert unlike_columns(validation, [value] * len(NAMELESS), keys=NAMELESS) == []


def test_a_member_of_a_key_that_is_no_column_is_not_in_the_row():
    key = b'{"id":"5","__dbz__physicalTableIdentifier":"depot.parcels"}'
    (change,) = open_documents().validate(ALONE.value, key).changes
    assert change.before == {"_id": "5"}
    assert unlike_columns(open_documents(), [ALONE.value], keys=[key]) == []
