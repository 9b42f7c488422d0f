"""What of a message may be shown: names, codes and times; of values only their shape."""

import json
import os
import re

import pytest
from mutations import Token, members, replaced, to_json
from topics import CATALOGUE, rendered

from cdc_contracts.registry.authoring.explain.annotated_messages import take_apart
from cdc_contracts.registry.core.common.json_messages import parse_message
from cdc_contracts.registry.core.common.pointers import join_pointer, split_pointer
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.message.transport import open_transport
from cdc_contracts.registry.core.validate.redaction import redact_message, redact_statement
from cdc_contracts.registry.core.validate.reference_validator import ReferenceValidator

CANAL = CATALOGUE.version("dts/canal@2")
VERSIONS = [version for subject in CATALOGUE.subjects() for version in CATALOGUE.versions(subject)]


def test_values_of_rows_become_shapes_and_the_rest_of_the_message_stays():
    message = (
        '{"database":"shop","table":"orders","type":"UPDATE","isDdl":false,"es":1718000000000,"pkNames":["id"],'
        '"mysqlType":{"id":"int","at":"date","who":"text"},"sqlType":{"id":4},'
        '"data":[{"id":"-17","at":"2024-06-10","who":"Zoë B.","ok":true,"n":-1.50,"none":null}]}'
    )
    assert redact_message(message, CANAL) == (
        '{"database": "shop", "table": "orders", "type": "UPDATE", "isDdl": false, "es": 1718000000000, '
        '"pkNames": ["id"], "mysqlType": {"id": "int", "at": "date", "who": "text"}, "sqlType": {"id": 4}, '
        '"data": [{"id": "-99", "at": "9999-99-99", "who": "aax a.", "ok": "boolean", "n": -9.99, "none": null}]}'
    )


def test_what_the_contract_does_not_know_is_redacted_too_and_names_inside_a_value_of_a_row():
    message = '{"type":"INSERT","shard":7,"more":{"secret":"x1"},"data":[{"doc":{"alice@example.com":{"b":[1]}}}]}'
    assert redact_message(message, CANAL) == (
        '{"type": "INSERT", "shard": 9, "more": {"secret": "a9"}, "data": [{"doc": {"aaaaa@aaaaaaa.aaa": {"a": [9]}}}]}'
    )


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (b'{"type":"INSERT"} trailing 5', '{"type": "aaaaaa"}aaaaaaaa 9'),
        (b'{"type" "INSERT"}', '{"aaaa"'),
        (b'{"a":[1,{"x":tr', '{"a": [9, {"x": aa'),
        (b'"Alice"', '"aaaaa"'),
        (b"\xff\xfe plain text", "xx aaaaa aaaa"),
        (b"", ""),
        (b"}{", "}{"),
    ],
)
def test_what_is_no_message_is_shown_as_far_as_it_is_json_and_then_as_one_shape(value, shown):
    reported = redact_message(value, None)
    assert reported.startswith(shown)
    assert "INSERT" not in reported


def test_a_long_message_is_cut_and_says_so_however_long_it_is():
    long = '{"data":[' + ",".join('{"id":"12"}' for _ in range(1_000_000)) + "]}"
    shown = redact_message(long, CANAL)
    assert shown.startswith('{"data": [{"id": "99"}, {"id": "99"}')
    assert len(shown) == 2_001
    assert shown.endswith("…")
    assert redact_message('{"data":[]}', CANAL, most=5) == '{"dat…'


def test_texts_in_ddl_are_redacted_and_names_in_it_are_not():
    assert redact_statement("ALTER TABLE `a` ADD b varchar(3) DEFAULT 'it''s 5' COMMENT \"Bob\" AFTER \"c\"") == (
        "ALTER TABLE `a` ADD b varchar(3) DEFAULT 'aa''a 9' COMMENT \"aaa\" AFTER \"c\""
    )
    shown = redact_message('{"type":"DDL","sql":"ALTER TABLE a ADD b int DEFAULT \'x1\'"}', CANAL)
    assert shown == '{"type": "DDL", "sql": "ALTER TABLE a ADD b int DEFAULT \'a9\'"}'


@pytest.mark.parametrize(
    ("statement", "shown"),
    [
        ("INSERT INTO t VALUES ('Bob', 417)", "INSERT INTO t VALUES ('aaa', 999)"),
        ("INSERT INTO t VALUES(417)", "INSERT INTO t VALUES(999)"),
        ('ALTER TABLE t COMMENT="Bob" /* Bob */', 'ALTER TABLE t COMMENT="aaa" /* aaa */'),
        (
            '/* Bob */ alter table t add PARTITION p VALUES IN ("Bob", 417) -- Bob',
            '/* aaa */ alter table t add PARTITION p VALUES IN ("aaa", 999) -- aaa',
        ),
        ("Bob has 417", "aaa aaa 999"),
        ("-- Bob", "-- aaa"),
        ("UPDATE t SET a='Bob", "UPDATE t SET a='aaa'"),
        (
            'ALTER TABLE "SHOP"."T1" ADD ("NOTE" varchar2(40) DEFAULT 417, c9 decimal(20, 2))',
            'ALTER TABLE "SHOP"."T1" ADD ("NOTE" varchar2(40) DEFAULT 999, c9 decimal(20, 2))',
        ),
    ],
)
def test_no_literal_of_a_statement_is_shown_however_it_is_quoted(statement, shown):
    assert redact_statement(statement) == shown


@pytest.mark.one_in(2)
@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_no_dialect_shows_a_value_of_its_rows(version):
    for value in rendered(version.reference, 30, controls=5):
        shown = redact_message(open_transport(version, ReadingOptions()).text_of(value), version, most=100_000)
        json.loads(shown)
        for secret in ("third floor", "paid in full", "slash", "3FTTYg", "2213082"):
            assert secret not in shown
        assert "orders" in shown or "orders" not in value.decode("utf-8", "replace")


# --- values in places that refuse them

ALL = os.environ.get("CDC_CONTRACTS_MUTATIONS", "some") != "some"
REFUSED = ("4929771200001111", '"4929 Zoë 7712"', '["4929 Zoë 7712"]', "49297712.5", '"4929-7712"')
SHOWN = re.compile("4929|7712|Zoë|Zo.u00eb")


def outside_of_rows(version, message):
    """Yield the place of every member of a message that is no row and in none."""
    beside = {
        split_pointer(at): version.meaning.images.non_column_members(at) for at in version.meaning.images.pointers()
    }
    if () in beside:
        yield split_pointer(version.meaning.envelope.op.at)
        return
    for parts in members(message):
        of_row = [image for image in beside if parts[: len(image)] == image]
        if all(parts[len(image) :][:1] and parts[len(image)] in beside[image] for image in of_row):
            yield parts


@pytest.mark.one_in(3)
@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_a_value_that_its_place_refuses_is_shown_nowhere(version, part):
    """Another kind of value for each member in turn: no finding, no example and no `why` shows what is refused."""
    wire, validator = open_transport(version, ReadingOptions()), ReferenceValidator(version, ReadingOptions())
    whole = next(one for one in map(wire.open, rendered(version.reference, 12)) if validator.validate(one).changes)
    known = {(one.rule, one.path) for one in validator.validate(whole).findings}
    refused = set()
    for place, parts in enumerate(outside_of_rows(version, whole)):
        for token in REFUSED if ALL else part((*REFUSED[place % 5 :], *REFUSED[: place % 5]), 5):
            text = to_json(replaced(whole, parts, Token(token)))
            message = parse_message(text.encode())
            at = join_pointer(*parts)
            found = [one for one in validator.validate(message).findings if (one.rule, one.path) not in known]
            if not any(one.path == at or one.path.startswith(at + "/") for one in found):
                continue  # nothing refuses it here
            refused.add(parts)
            parts_shown = take_apart(validator, message, None, show_values=False)
            shown = [
                redact_message(text, version, most=1_000_000), *(one.observed for one in found),
                str(parts_shown.code), *(f"{part.wire} {part.reads}" for part in parts_shown.parts),
            ]  # fmt: skip
            assert [one for one in shown if SHOWN.search(one)] == [], (parts, token, found)
    assert split_pointer(version.meaning.envelope.op.at) in refused


def test_wrong_codes_are_shown_by_their_shapes_and_words_of_other_contracts_unchanged():
    message = (
        '{"database":"shop","table":"orders","type":"Zoë 4929","isDdl":"Zoë","es":"Zoë","ts":17180000000000000000,'
        '"id":"Zoë","pkNames":["Zoë","id"],"mysqlType":{"id":"int","at":"Zoë(3)","who":"ENUM"},'
        '"sqlType":{"id":4,"at":"Zoë"},"data":[{"id":"1"}]}'
    )
    assert redact_message(message, CANAL) == (
        '{"database": "shop", "table": "orders", "type": "aax 9999", "isDdl": "aax", "es": "aax", '
        '"ts": 99999999999999999999, "id": "aax", "pkNames": ["aax", "id"], '
        '"mysqlType": {"id": "int", "at": "aax(9)", "who": "ENUM"}, "sqlType": {"id": 4, "at": "aax"}, '
        '"data": [{"id": "9"}]}'
    )
    assert '"type": "HEARTBEAT"' in redact_message('{"type":"HEARTBEAT","data":[]}', CANAL)


@pytest.mark.parametrize(
    ("statement", "shown"),
    [
        ("SELECT $$Bob 7$$, $x$it's $$ Bob$x$ FROM t", "SELECT $$aaa 9$$, $a$aa'a $$ aaa$a$ FROM t"),
        ("ALTER TABLE a$b$c ADD d$ int DEFAULT $$Bob", "ALTER TABLE a$b$c ADD d$ int DEFAULT $$aaa"),
        ("SELECT q'[it's Bob]', nq'!Bob's!' FROM t", "SELECT a'[aa'a aaa]', aa'!aaa'a!' FROM t"),
        ("ALTER TABLE t ADD c int # Bob 7\n, ADD d int", "ALTER TABLE t ADD c int # aaa 9\n, ADD d int"),
        ("ALTER TABLE t#1 ADD c binary(3) DEFAULT 0x426F62", "ALTER TABLE t#9 ADD c binary(3) DEFAULT 9a999a99"),
    ],
)
def test_no_literal_of_other_databases_is_shown_either(statement, shown):
    assert redact_statement(statement) == shown
