"""Messages for tests of consumers, in every version."""

import re

import pytest
from topics import CATALOGUE

from cdc_contracts import UsageError
from cdc_contracts.testing import assert_conforms, messages
from cdc_contracts.testing.contract_cases import ContractCase
from cdc_contracts.testing.sent_messages import MessageSender

VERSIONS = [version.reference for subject in CATALOGUE.subjects() for version in CATALOGUE.versions(subject)]
NO_DOUBLE_OF_22_DIGITS = {"dataworks/streamx@1"}


@pytest.mark.one_in(6, any_subject=True)
@pytest.mark.parametrize("reference", VERSIONS)
def test_edge_rows_conform_in_every_version_and_none_is_left_out(reference):
    case = ContractCase(MessageSender(reference), kind="edges")
    assert case.drifting == []
    assert len(case.messages) == (22 if reference in NO_DOUBLE_OF_22_DIGITS else 31)


def test_a_stream_says_the_same_rows_in_every_version_of_a_subject():
    old, new = (ContractCase(MessageSender(f"dts/canal@{number}"), n=40) for number in (1, 2))
    assert old.messages != new.messages
    assert old.rows == new.rows
    assert len(old.rows) > 8


def test_rows_are_what_is_left_after_all_changes():
    case = ContractCase(MessageSender("dts/canal@2"), kind="edges")
    rows = {row["id"]: row for row in case.rows}
    changes = case.changes
    deleted = {change.before["id"] for change in changes if change.op == "delete"}
    assert deleted.isdisjoint(rows)
    inserted = [change.after["id"] for change in changes if change.op == "insert"]
    assert set(inserted) - deleted - set(rows) == {90_000}  # its key changed before it was deleted
    assert rows[90_001] == [change.after for change in changes if change.row.get("id") == 90_001][-1]


def test_messages_of_a_dialect_that_names_no_table_are_those_of_the_given_one():
    case = ContractCase(MessageSender("oms/debezium-smt@1"), n=20)
    assert case.drifting == []
    assert {change.table for change in case.changes} == {"orders"}
    assert type(case.rows[0]["id"]) is int


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({"n": 0}, "n is a whole number from 1, not 0"),
        ({"n": 1.5}, "n is a whole number from 1, not 1.5"),
        ({"seed": "x"}, "seed is a whole number, not 'x'"),
        ({"drift": ["unknown-enum"]}, "drift is text, not of the type list"),
        ({"drift": "unknown-enm"}, "unknown-enm"),
        ({"parameters": {"time_zone": "Mars"}}, "`Mars` is not a time zone"),
    ],
)
def test_a_wrong_argument_is_refused(given, what):
    with pytest.raises(UsageError, match=re.escape(what)):
        messages("dts/canal@2", **given)


def test_a_message_that_does_not_conform_fails_with_at_most_ten_findings():
    with pytest.raises(AssertionError) as failed:
        assert_conforms([b"{}" for _ in range(12)], "dts/canal@2")
    lines = str(failed.value).splitlines()
    assert lines[1] == "message 0: error D02: other-dialect at (message): expected dts/canal"
    assert lines[0] == "12 of 12 messages do not conform to dts/canal@2"
    assert lines[-1] == "and 2 more"
    assert len(lines) == 12


def test_nothing_sent_proves_nothing():
    sent = iter(MessageSender("dts/canal@2").stream(3, seed=1))
    assert_conforms(sent, "dts/canal@2")
    for nothing in ([], sent):
        with pytest.raises(AssertionError, match="there are no messages to check against dts/canal@2"):
            assert_conforms(nothing, "dts/canal@2")


def test_warnings_fail_unless_only_errors_are_asked_for():
    messages = MessageSender("dts/canal@2").stream(10, seed=1, drift="unknown-field")
    assert_conforms(messages, "dts/canal@2", fail_on="error")
    with pytest.raises(AssertionError, match="1 of 10 messages does not conform"):
        assert_conforms(messages, "dts/canal@2")
