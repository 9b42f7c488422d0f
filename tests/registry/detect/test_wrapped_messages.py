"""Messages inside or behind something else: what is told of it, and what is not taken for one."""

import json

import pytest
from detected_topics import detect_messages, sampled

ORDER = '{"at": "2026-11-28", "customer": 7, "cart": "{\\"pears\\": 2, \\"plums\\": 5}", "total": "12.10"}'
DOCUMENT = (
    '{"before":null,"after":"{\\"_id\\": 5,\\"lane\\": 3}","updateDescription":null,"source":{"version":"3.6.1.Final",'
    '"connector":"mongodb","name":"depot","ts_ms":1762416030918,"snapshot":"soon","db":"depot","sequence":null,'
    '"ts_us":1762416030918000,"ts_ns":1762416030918000000,"collection":"parcels","ord":4,"lsid":null,"txnNumber":null,'
    '"wallTime":null},"op":"r","ts_ms":1762416031204,"transaction":null}'
)
ROW_WITH_ITS_SCHEMA = '{"table":"EMP","schema":"{\\"type\\":\\"record\\",\\"name\\":\\"EMP\\",\\"fields\\":[]}","ID":7}'


@pytest.mark.parametrize("message", [ORDER, DOCUMENT, ROW_WITH_ITS_SCHEMA])
def test_a_text_of_json_that_no_contract_knows_is_not_taken_for_a_message(message):
    found = detect_messages([message.encode()])

    assert found.verdict == "not-in-catalogue"
    assert "Unwrap" not in found.finalize


def test_a_message_of_a_contract_inside_a_member_of_any_name_is_found():
    messages = [json.dumps({"headers": {}, "body": value.decode()}).encode() for value in sampled("dts/canal@2", 20)]

    found = detect_messages(messages)

    assert found.verdict == "not-in-catalogue"
    assert found.finalize.startswith("The values look like a message wrapped in another, as text in `body`. Unwrap it")


def test_a_message_inside_a_member_is_found_where_it_drifts():
    drifting = [value.replace(b'"UPDATE"', b'"UPSERT"') for value in sampled("dts/canal@2", 60) if b'"UPDATE"' in value]
    messages = [json.dumps({"headers": {}, "body": value.decode()}).encode() for value in drifting]

    assert "as text in `body`" in detect_messages(messages).finalize


def test_a_member_payload_is_unwrapped_whatever_it_holds():
    found = detect_messages([json.dumps({"topic": "orders", "offset": 7, "payload": ORDER}).encode()])

    assert "as text in `payload`. Unwrap it on the way, or read it with `--unwrap connect-json`." in found.finalize


@pytest.mark.parametrize(
    "before", ['{"id": 7}\t', '{"id": 7}^', "null\t", "7|", '"7"\t', "order-7\t", "Partition:0\tOffset:12\torder-7\t"]
)
def test_messages_behind_their_keys_are_told_as_such(before):
    found = detect_messages([before.encode() + value for value in sampled("dts/canal@2", 20)])

    assert found.verdict == "not-in-catalogue"
    assert found.finalize.startswith("The values look like a message behind other text, such as the key")


@pytest.mark.parametrize("between", ["", " ", "\n", ","])
def test_two_messages_in_one_value_are_not_taken_for_a_key_and_a_message(between):
    found = detect_messages([value + between.encode() + value for value in sampled("dts/canal@2", 20)])

    assert "behind other text" not in found.finalize
    if between != ",":
        assert found.finalize.startswith("The values look like several messages in one value. Write one message per")


@pytest.mark.parametrize("line", ["7,Kim,2026-11-28", "level=info msg={}", "order-7 {not JSON}", "order-7\t{"])
def test_a_line_without_a_message_is_plain_text(line):
    found = detect_messages([line.encode()])

    assert "plain text" in found.finalize
