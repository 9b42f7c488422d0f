"""Messages like those of open connectors are drafted right: JSON in columns, no op code, keys of records, schema blocks."""

from __future__ import annotations

import json
import shutil

import pytest
import yaml
from framed_topics import HeldSchemas, body_of, frame
from home_made import written
from topics import CATALOGUE

from cdc_contracts.registry.authoring.drafting.draft_folders import make_folder, read_samples
from cdc_contracts.registry.authoring.lint import lint, lint_input
from cdc_contracts.registry.core.common.errors import UndetectedError
from cdc_contracts.registry.core.contract.catalogue import CANONICAL, Catalogue
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.validate.validation_context import open_validation
from cdc_contracts.registry.core.writer_schemas.writer_schemas import WriterSchemas


@pytest.fixture
def canonical(tmp_path_factory, monkeypatch):
    """The catalogue without any product, so that neither drafts nor lint compare with all of them."""
    root = tmp_path_factory.mktemp("canonical")
    shutil.copytree(CATALOGUE.canonical.folder, root / CANONICAL / "v1")
    found = Catalogue([root])
    monkeypatch.setattr(lint_input, "shipped_catalogue", lambda: found)
    return found


@pytest.fixture
def draft(canonical, tmp_path):
    """Draft a contract from messages and keys, check it, and return it with its questions and what messages decode to."""

    def drafted(messages, keys=None):
        values = written(messages)
        sent = [None] * len(values) if keys is None else [key and json.dumps(key).encode() for key in keys]
        samples = read_samples((f"m:{at}", *one) for at, one in enumerate(zip(values, sent, strict=True), 1))
        folder = make_folder(canonical, "acme/plain", "m.jsonl", samples, like=None, keep_values=False)
        for name, content in folder.files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes(content)
        report = lint([tmp_path])
        assert [(one.rule, one.expected, one.observed) for one in report.findings] == []
        validation = open_validation(Catalogue([*canonical.roots, tmp_path]), "acme/plain@1", ReadingOptions())
        validated = [validation.validate(value, key) for value, key in zip(values, sent, strict=True)]
        assert {one.verdict.outcome for one in validated} <= {"conforming", "control"}
        contract = yaml.safe_load((tmp_path / "acme/plain/v1/contract.yaml").read_text())
        rows = [
            [(change.op, change.before, change.after) for change in one.changes] or one.control.kind
            for one in validated
        ]
        return contract, folder.questions, rows

    return drafted


POINT = {"x": 1.0, "y": 2.0}


@pytest.mark.parametrize(
    ("message", "op", "before", "after"),
    [
        ({"op": "c", "after": {"id": 1, "p": POINT}}, "insert", None, {"id": "1", "p": '{"x":1.0,"y":2.0}'}),
        ({"op": "c", "after": {"p": POINT, "q": POINT}}, "insert", None, {"p": '{"x":1.0,"y":2.0}', "q": '{"x":1.0,"y":2.0}'}),
        (
            {"op": "c", "after": {"id": 1, "tags": ["a", None]}, "source": {"db": "x", "name": "n", "file": "f"}},
            "insert", None, {"id": "1", "tags": '["a",null]'},
        ),
        ({"op": "d", "before": {"id": 1, "p": POINT}, "after": None}, "delete", {"id": "1", "p": '{"x":1.0,"y":2.0}'}, None),
        ({"op": "I", "table": "t", "row": {"id": 1, "tags": [["a"], {}]}}, "insert", None, {"id": "1", "tags": '[["a"],{}]'}),
        (
            {"op": "I", "data": [{"id": 1, "n": "a", "p": POINT}, {"id": 2, "n": "b", "p": None}]},
            "insert", None, {"id": "1", "n": "a", "p": '{"x":1.0,"y":2.0}'},
        ),
        ({"p": {"x": 1}, "q": {"x": 2}, "__deleted": "false"}, "upsert", None, {"p": '{"x":1}', "q": '{"x":2}'}),
        ({"p": {"x": 1}, "q": {"x": 2}, "__deleted": "true"}, "delete", {"p": '{"x":1}', "q": '{"x":2}'}, None),
        ({"id": 1, "doc": {"x": 1}, "tags": [], "__op": "u"}, "update", None, {"id": "1", "doc": '{"x":1}', "tags": "[]"}),
        (
            {"table": "x", "schema": "y", "ddl": True, "source": {"db": "z"}, "__op": "c", "__table": "t"},
            "insert", None, {"table": "x", "schema": "y", "ddl": "true", "source": '{"db":"z"}'},
        ),
        ({"op": "c", "after": {"id": 1, "old": "{}"}}, "insert", None, {"id": "1", "old": "{}"}),
        ({"op": "c", "after": {"id": 1, "a-b": [1], "a.b": {"": 2}, "1st": 3}}, "insert", None,
         {"id": "1", "a-b": "[1]", "a.b": '{"":2}', "1st": "3"}),
    ],
    ids=str,
)  # fmt: skip
def test_arrays_and_objects_are_columns_of_their_row_and_never_the_row(draft, message, op, before, after):
    _, _, rows = draft([message])
    assert rows[0][0] == (op, before, after)


@pytest.mark.parametrize(
    "row",
    [{"id": 1, "doc": {"x": 1}}, {"n": "a", "data": {"id": 1, "name": "b"}}, {"n": 1, "p": [{"id": 1, "name": "b"}]}],
    ids=str,
)
def test_an_object_that_could_be_the_row_of_a_member_that_could_too_is_not_drafted(draft, row):
    with pytest.raises(UndetectedError, match="/row may be the row, or what it holds"):
        draft([{"op": "I", "row": row}])


SCHEMA_CHANGE = {
    "source": {"db": "x", "table": None},
    "databaseName": "x",
    "ddl": "CREATE TABLE t (id int)",
    "ts_ms": 1_760_000_000_001,
}
BEGIN, END = ({"status": status, "id": "7", "ts_ms": 1_760_000_000_002} for status in ("BEGIN", "END"))
HEARTBEAT = {"ts_ms": 1_760_000_000_003}
LOGICAL = {
    "source": {"db": "x", "table": ""},
    "message": {"prefix": "a", "content": "YQ=="},
    "ts_ms": 1_760_000_000_004,
}


def row_change(op, before, after):
    return {"before": before, "after": after, "source": {"db": "x", "table": "t"}, "op": op, "ts_ms": 1_760_000_000_000}


def test_messages_without_an_op_code_are_told_apart_by_their_members(draft):
    row = {"id": 1, "tags": ["a"]}
    contract, questions, rows = draft(
        [SCHEMA_CHANGE, row_change("c", None, row), BEGIN, row_change("d", row, None), END, HEARTBEAT, LOGICAL]
    )
    assert [one if isinstance(one, str) else one[0][0] for one in rows] == [
        "ddl", "insert", "begin", "delete", "commit", "heartbeat", "mark",
    ]  # fmt: skip
    assert contract["envelope"]["op"]["flags"] == [
        {"when": [{"absent": "/op"}, {"present": "/ddl"}], "means": "ddl"},
        {"when": [{"absent": "/op"}, {"equals": "/status", "value": "BEGIN"}], "means": "begin"},
        {"when": [{"absent": "/op"}, {"equals": "/status", "value": "END"}], "means": "commit"},
        {"when": [{"absent": "/op"}, {"absent": "/after"}, {"absent": "/before"}, {"absent": "/databaseName"},
                  {"absent": "/id"}, {"absent": "/message"}, {"present": "/ts_ms"}], "means": "heartbeat"},
        {"when": [{"absent": "/op"}, {"present": "/message"}], "means": "mark"},
    ]  # fmt: skip
    assert [one for one in questions if "without an op code" in one] == [
        "is heartbeat the op of the message without an op code, first in m:6? They hold times and numbers only.",
        "is mark the op of the message without an op code, first in m:7? They have no op code and no row.",
    ]


def test_a_row_that_lacks_its_op_code_is_not_taken_for_a_control_message(draft, canonical, tmp_path):
    draft([SCHEMA_CHANGE, row_change("c", None, {"id": 1}), HEARTBEAT])
    validation = open_validation(Catalogue([*canonical.roots, tmp_path]), "acme/plain@1", ReadingOptions())
    (value,) = written([{name: one for name, one in row_change("c", None, {"id": 2}).items() if name != "op"}])
    assert validation.validate(value).verdict.outcome not in ("conforming", "control")


def test_rows_that_never_have_an_op_code_are_read_by_the_images_that_hold_them(draft):
    messages = [row_change("", *images) for images in [(None, {"id": 1}), ({"id": 1}, {"id": 2}), ({"id": 2}, None)]]
    messages = [{name: one for name, one in message.items() if name != "op"} for message in messages]
    contract, questions, rows = draft([*messages, SCHEMA_CHANGE])
    assert rows == [
        [("upsert", None, {"id": "1"})], [("update", {"id": "1"}, {"id": "2"})], [("delete", {"id": "2"}, None)], "ddl",
    ]  # fmt: skip
    assert contract["ops"] == {}
    assert "is upsert the op of the message without an op code, first in m:1? The row is at /after." in questions


@pytest.mark.parametrize("member", [None, "payload"])
def test_columns_of_the_key_come_from_the_keys_of_records(draft, member):
    messages = [row_change("c", None, {"id": at, "n": "a"}) for at in range(3)]
    keys = [{"id": at} if member is None else {"schema": {}, member: {"id": at}} for at in range(3)]
    contract, questions, _ = draft(messages, keys)
    assert contract["envelope"]["primary_key"] == {"from": "kafka-key", "at": "" if member is None else "/payload"}
    assert {"primary-key-in-image", "kafka-key-agrees"} <= {*contract["rules"]}
    assert "do the columns in the key of the Kafka record identify a row?" in questions


@pytest.mark.parametrize("key", [None, 1, [1], {"id": 9}, {"other": 0}], ids=str)
def test_keys_of_records_that_are_not_of_their_rows_are_no_keys(draft, key):
    contract, questions, _ = draft([row_change("c", None, {"id": at, "n": "a"}) for at in range(3)], [key] * 3)
    assert "primary_key" not in contract["envelope"]
    assert any(one.startswith("no member lists the columns of the key") for one in questions)


def test_a_key_that_differs_from_one_row_of_many_is_asked_about(draft):
    messages = [row_change("c", None, {"id": at, "n": "a"}) for at in range(12)]
    contract, questions, _ = draft(messages, [{"id": at if at != 7 else 0} for at in range(12)])
    assert contract["envelope"]["primary_key"] == {"from": "kafka-key", "at": ""}
    assert "kafka-key-agrees" not in contract["rules"]
    asked = (
        "do the columns in the key of the Kafka record identify a row? In 1 keys, as in m:8, they differ from the row."
    )
    assert asked in questions


PLACEHOLDER = "__acme_unavailable_value"


def test_a_text_in_updates_that_says_of_itself_to_be_no_value_is_absent(draft):
    encoded = "X19hY21lX3VuYXZhaWxhYmxlX3ZhbHVl"
    rows = [{"id": 1, "n": "a", "b": "AA==", "t": ["x"]}, {"id": 1, "n": PLACEHOLDER, "b": encoded, "t": [PLACEHOLDER]}]
    contract, questions, decoded = draft([row_change("c", None, rows[0]), row_change("u", None, rows[1])])
    assert decoded[1] == [("update", None, {"id": "1"})]
    assert contract["images"]["absent"]["texts"][:4] == [
        PLACEHOLDER, encoded, "5f5f61636d655f756e617661696c61626c655f76616c7565", f'["{PLACEHOLDER}"]',
    ]  # fmt: skip
    assert any(
        f"does the text {PLACEHOLDER} in 1 messages stand for a value that was not sent?" in one for one in questions
    )


def test_such_a_text_in_an_insert_is_data(draft):
    contract, _, decoded = draft([row_change("c", None, {"id": 1, "n": PLACEHOLDER})])
    assert decoded == [[("insert", None, {"id": "1", "n": PLACEHOLDER})]]
    assert "absent" not in contract["images"]


def of_source(op, before, after, kind="postgresql"):
    message = row_change(op, before, after)
    return {**message, "source": {**message["source"], "connector": kind}}


def test_null_before_a_change_is_absent_where_earlier_rows_have_values(draft):
    contract, questions, decoded = draft([
        of_source("c", None, {"id": 1, "n": "a", "m": None}), of_source("c", None, {"id": 2, "n": "b", "m": "c"}),
        of_source("d", {"id": 1, "n": None, "m": None}, None), of_source("d", {"id": 2, "n": None, "m": None}, None),
    ])  # fmt: skip
    assert contract["images"]["absent"] == {"nulls": {"postgresql": ["/before"]}}
    assert contract["values"]["mapping"] == {"by": "/source/connector", "else": "acme-plain"}
    assert decoded[2:] == [[("delete", {"id": "1"}, None)], [("delete", {"id": "2"}, None)]]
    asked = "null at /before stands for values that an earlier row has, in 2 messages, first in m:3: was the value not sent?"
    assert asked in questions


def test_null_before_a_change_is_null_where_the_row_had_it(draft):
    contract, _, decoded = draft([
        of_source("c", None, {"id": 1, "n": None}, "mysql"), of_source("c", None, {"id": 1, "n": "b"}, "mysql"),
        of_source("d", {"id": 1, "n": None}, None, "mysql"),
    ])  # fmt: skip
    assert "absent" not in contract["images"]
    assert decoded[2] == [("delete", {"id": "1", "n": None}, None)]


DML, DDL = "/* app */ INSERT INTO t VALUES (1)", "-- by hand\nALTER TABLE t ADD n int"


def canal(type_, data=None, sql="", **more):
    return {
        "data": data,
        "database": "x",
        "es": 1_760_000_000_000,
        "id": 1,
        "sql": sql,
        "table": "t",
        "type": type_,
        **more,
    }


@pytest.mark.parametrize(
    ("statements", "kinds", "asked"),
    [
        ([(DML, False)], ["mark"], "does QUERY mean mark? /isDdl is false in messages with it."),
        ([(DDL, True)], ["ddl"], None),
        ([(DML, False), (DDL, True)], ["mark", "ddl"], "does QUERY mean mark? /isDdl is false in messages with it."),
        ([(DML, None)], ["mark"], "does QUERY mean mark? 1 of 1 statements with it define no table; no member says which."),
        ([(DDL, None)], ["ddl"], None),
        (
            [(DML, None), (DDL, None)], ["mark", "mark"],
            "does QUERY mean mark? 1 of 2 statements with it define no table; no member says which.",
        ),
    ],
    ids=str,
)  # fmt: skip
def test_a_statement_is_ddl_if_its_flag_or_without_one_its_text_says_so(draft, statements, kinds, asked):
    flags = [{} if flag is None else {"isDdl": flag} for _, flag in statements]
    row = canal("INSERT", [{"id": "1"}], **({} if not flags[0] else {"isDdl": False}))
    queries = [canal("QUERY", sql=sql, **flag) for (sql, _), flag in zip(statements, flags, strict=True)]
    _, questions, decoded = draft([row, *queries])
    assert decoded == [[("insert", None, {"id": "1"})], *kinds]
    assert [one for one in questions if one.startswith("does QUERY")] == ([] if asked is None else [asked])


def test_a_truncation_is_one_although_it_is_flagged_as_ddl(draft):
    messages = [canal("INSERT", [{"id": "1"}], isDdl=False), canal("TRUNCATE", sql="TRUNCATE t", isDdl=True),
                canal("QUERY", sql=DML, isDdl=False), canal("QUERY", sql=DDL, isDdl=True)]  # fmt: skip
    _, _, decoded = draft(messages)
    assert decoded[1:] == ["truncate", "mark", "ddl"]


def block(columns):
    """Return the schema block of a row change."""
    row = {"type": "struct", "optional": True, "fields": columns}
    fields = [{**row, "field": "before"}, {**row, "field": "after"}, {"type": "string", "field": "op"},
              {"type": "struct", "fields": [{"type": "string", "field": "table"}], "field": "source"}]  # fmt: skip
    return {"type": "struct", "fields": fields, "name": "x.t.Envelope"}


def test_types_come_from_a_schema_block(draft):
    columns = [
        {"type": "int32", "field": "id"}, {"type": "bytes", "field": "b"},
        {"type": "int64", "name": "acme.time.Moment", "field": "at"},
        {"type": "bytes", "name": "acme.Decimal", "parameters": {"scale": "2"}, "field": "d"},
        {"type": "array", "items": {"type": "int32"}, "field": "a"},
    ]  # fmt: skip
    row = {"id": 1, "b": "/w==", "at": 1_760_000_000_000_000, "d": "AQ==", "a": [1, 2]}
    messages = [
        {"schema": block(columns), "payload": {"before": None, "after": row, "source": {"table": "t"}, "op": "c"}},
        {"schema": block(columns), "payload": {"before": row, "after": None, "source": {"table": "t"}, "op": "d"}},
    ]
    contract, questions, decoded = draft(messages)
    sent = {"id": "1", "b": "/w==", "at": "1760000000000000", "d": "AQ==", "a": "[1,2]"}
    assert decoded == [[("insert", None, sent)], [("delete", sent, None)]]
    assert contract["columns"] == {"types": {"at": "/schema", "as": "connect-schema", "field": "after"}}
    assert {"columns-typed", "members-in-schema-block"} <= {*contract["rules"]}
    assert (
        "acme.Decimal, acme.time.Moment: which form do values have? Until this says it, they are written as sent."
        in questions
    )


TYPES = {
    "id": {"type": "int64"}, "n": {"type": "string"}, "at": {"type": "int64", "name": "acme.time.Moment"},
    "p": {"type": "struct", "fields": [{"type": "double", "field": "x"}, {"type": "double", "field": "y"}]},
    "tags": {"type": "array", "items": {"type": "string"}}, "ddl": {"type": "string"},
    "source": {"type": "struct", "fields": [{"type": "string", "field": "db"}], "name": "acme.Source"},
    "__op": {"type": "string"}, "__deleted": {"type": "string"}, "__table": {"type": "string"}, "op": {"type": "string"},
    "__source_ts_ms": {"type": "int64"}, "__rank": {"type": "int32"}, "old": {"type": "struct", "fields": []},
}  # fmt: skip


def beside_block(row, *, described=None):
    """Return a flattened row beside the schema block that describes its members, or those that are given."""
    fields = [{**TYPES[name], "field": name} for name in described or row]
    return {"schema": {"type": "struct", "fields": fields, "name": "x.t.Value"}, "payload": row}


def flattened_row(op, row, **more):
    return {**row, "__op": op, "__table": "t", "__source_ts_ms": 1_760_000_000_000, **more}


def test_a_flattened_row_beside_a_schema_block_has_the_columns_that_have_no_mark(draft):
    row = {"id": 1, "n": "a", "at": 1_760_000_000_000_000, "p": POINT, "tags": ["b"]}
    key = {**beside_block({"id": 1})}
    messages = [
        beside_block(flattened_row("c", row, __rank=3)), beside_block(flattened_row("u", {**row, "n": None}, __rank=4)),
        beside_block(flattened_row("d", row, __rank=5)),
    ]  # fmt: skip
    contract, questions, decoded = draft(messages, [key] * 3)
    sent = {"id": "1", "n": "a", "at": "1760000000000000", "p": '{"x":1.0,"y":2.0}', "tags": '["b"]'}
    assert decoded == [[("insert", None, sent)], [("update", None, {**sent, "n": None})], [("delete", sent, None)]]
    beside = {"at": "/payload", "not_columns": ["__op", "__table", "__source_ts_ms", "__rank"]}
    assert contract["images"] == {
        "container": "object", "insert": {"after": beside}, "update": {"after": beside}, "delete": {"before": beside},
    }  # fmt: skip
    assert contract["envelope"] == {
        "op": {"at": "/payload/__op"}, "table": {"at": "/payload/__table"},
        "event_time": {"at": "/payload/__source_ts_ms", "form": "epoch-millis"},
        "primary_key": {"from": "kafka-key", "at": "/payload"},
    }  # fmt: skip
    assert contract["columns"] == {"types": {"at": "/schema", "as": "connect-schema"}}
    assert contract["rules"] == [
        "image-present-for-op", "columns-typed", "members-in-schema-block", "primary-key-in-image", "kafka-key-agrees",
    ]  # fmt: skip
    assert contract["discriminators"] == [
        {"in": "/payload/__op", "values": ["c", "u", "d"]}, {"present": "/schema"}, {"present": "/payload"},
        {"present": "/payload/__table"}, {"present": "/payload/__source_ts_ms"},
    ]  # fmt: skip
    asked = {
        (
            "/payload is the row: is none of /payload/__op, /payload/__table, /payload/__source_ts_ms and "
            "/payload/__rank a column, and each of /payload/at, /payload/id, /payload/n, /payload/p and /payload/tags one?"
        ),
        "nothing reads /payload/__rank: does any of it belong to the row, its key, its time or its table?",
        "acme.time.Moment: which form do values have? Until this says it, they are written as sent.",
    }
    assert asked <= {*questions}


def test_a_mark_of_deletion_alone_says_which_rows_beside_a_block_are_deleted(draft):
    messages = [beside_block({"id": 1, "__deleted": "false"}), beside_block({"id": 1, "__deleted": "true"})]
    _, _, decoded = draft(messages)
    assert decoded == [[("upsert", None, {"id": "1"})], [("delete", {"id": "1"}, None)]]


def test_messages_without_rows_stand_among_flattened_rows_beside_blocks(draft):
    statement = {"ddl": "DROP TABLE t", "id": None, "source": {"db": "x"}}
    contract, questions, decoded = draft([beside_block(flattened_row("c", {"id": 1})), beside_block(statement)])
    assert decoded == [[("insert", None, {"id": "1"})], "ddl"]
    assert contract["envelope"]["op"]["flags"] == [
        {"when": [{"absent": "/payload/__op"}, {"present": "/payload/ddl"}], "means": "ddl"}
    ]
    assert not any("acme.Source" in question for question in questions)


INSERT, UNMARKED = flattened_row("c", {"id": 1, "n": "a"}), {"id": 1, "n": "a", "op": "c"}


@pytest.mark.parametrize(
    ("messages", "says", "first"),
    [
        ([beside_block(UNMARKED)], "/payload/op looks like the op code, and is in the row", "m:1"),
        (
            [beside_block(INSERT), {**beside_block(INSERT), "source": {"db": "x"}}],
            "/payload/__op looks like the op code, and is in the row, or the row is at /source", "m:2",
        ),
        (
            [beside_block(INSERT), {**beside_block(INSERT), "rows": [{"id": 2, "n": "b"}]}],
            "/payload/__op looks like the op code, and is in the row, or the row is at /rows", "m:2",
        ),
        (
            [beside_block(INSERT), beside_block({**INSERT, "old": POINT})],
            "/payload/__op looks like the op code, and is in the row, or the row is at /payload/old", "m:2",
        ),
        (
            [INSERT, {**INSERT, "old": POINT}],
            "/__op looks like the op code, and is in the row, or the row is at /old", "m:2",
        ),
        (
            [beside_block(INSERT, described=["id", "__op"])],
            "/payload/__op looks like the op code, and is in the row", "m:1",
        ),
        (
            [beside_block(INSERT), {**beside_block(INSERT), "payload": None}],
            "/payload is null in 1 of 2 messages, which may delete a row", "m:2",
        ),
        (
            [beside_block(INSERT), beside_block({"id": 2, "n": "b"})],
            "/payload/__op looks like the op code, and 1 of 2 messages have a row and do not have it", "m:2",
        ),
        (
            [INSERT, beside_block(INSERT)],
            "/__op looks like the op code, and 1 of 2 messages have a row and do not have it", "m:2",
        ),
        (
            [beside_block(INSERT), INSERT, beside_block(INSERT)],
            "/payload/__op looks like the op code, and 1 of 3 messages have a row and do not have it", "m:2",
        ),
    ],
    ids=["op without a mark", "object beside", "rows beside", "side in a row", "side in a message", "not described",
         "null", "row without its op", "row beside a block among messages", "message among rows beside blocks"],
)  # fmt: skip
def test_a_flattened_row_that_may_be_read_otherwise_is_not_drafted(draft, messages, says, first):
    with pytest.raises(UndetectedError) as error:
        draft(messages)
    assert error.value.what == f"no contract can express these messages: {says}"
    assert error.value.where == first


def test_a_framed_value_that_is_no_record_is_no_message_to_draft_from():
    schemas = WriterSchemas(HeldSchemas({1: "string"}))
    with pytest.raises(UndetectedError, match="not a message in JSON") as error:
        read_samples([("m:1", frame(1, body_of("string", "abc")))], schemas)
    assert error.value.where == "m:1"


def test_columns_without_a_type_in_the_schema_block_keep_their_values(draft):
    message = {"schema": block([{"type": "int32", "field": "id"}]),
               "payload": {"before": None, "after": {"id": 1, "n": "a"}, "source": {"table": "t"}, "op": "c"}}  # fmt: skip
    contract, _, decoded = draft([message])
    assert contract["columns"] == {"types": "none"}
    assert decoded == [[("insert", None, {"id": "1", "n": "a"})]]


def test_samples_hold_no_value_that_is_inside_an_array_or_an_object(draft, tmp_path):
    row = {"id": 1, "who": {"name": "Ann Lee", "mails": ["ann@example.org"]}, "notes": [{"text": "secret"}]}
    draft([row_change("c", None, row), row_change("u", None, {**row, "notes": PLACEHOLDER})])
    texts = [file.read_text() for file in (tmp_path / "acme/plain/v1/samples").iterdir()]
    assert len(texts) == 4
    assert [word for word in ("Ann", "example", "secret") for text in texts if word in text] == []
    assert sum(PLACEHOLDER in text for text in texts) == 1
