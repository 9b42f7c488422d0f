"""Rows that are JSON texts are drafted: what messages hold comes out, and what no text shows is asked or refused."""

from __future__ import annotations

import json

import pytest
import yaml
from document_messages import (
    BESIDE_BLOCKS,
    DOCUMENTS,
    MESSAGES,
    Pair,
    beside_blocks,
    open_documents,
    quarantine_of,
    rows_of_kernel,
)
from framed_topics import HeldSchemas, body_of, frame
from home_made import written
from topics import CATALOGUE

from cdc_contracts.registry.authoring.drafting.draft_folders import make_folder, read_samples
from cdc_contracts.registry.authoring.lint import lint, lint_input
from cdc_contracts.registry.core.common.errors import UndetectedError
from cdc_contracts.registry.core.contract.catalogue import Catalogue
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.validate.validation_context import open_validation
from cdc_contracts.registry.core.writer_schemas.writer_schemas import WriterSchemas

SUBJECT = "acme/feed"


KEPT_TEXTS = (
    "JSON objects stand there as texts and are kept as texts: no name says that they are rows before or after a change."
)


class Draft:
    """A contract drafted from records, checked like any contract, and the rows that it gives of them."""

    def __init__(self, pairs, root, catalogue, **options):
        samples = read_samples((f"m:{number}", *pair) for number, pair in enumerate(pairs, 1))
        kept = {"like": None, "keep_values": False, **options}
        self.folder = make_folder(catalogue, SUBJECT, "m.jsonl", samples, **kept)
        for name, content in self.folder.files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(content)
        alone = catalogue is not CATALOGUE  # lint compares with the others that are linted
        assert [(one.rule, one.expected, one.observed) for one in lint([root]).findings if alone] == []
        self.validation = open_validation(Catalogue([*catalogue.roots, root]), f"{SUBJECT}@1", ReadingOptions())
        validated = [self.validation.validate(*pair) for pair in pairs]
        verdicts = [one.verdict for one in validated]
        assert {one.outcome for one in verdicts} <= {"conforming", "control"}
        assert [finding for one in verdicts for finding in one.findings if finding.severity != "info"] == []
        self.contract = yaml.safe_load((root / SUBJECT / "v1/contract.yaml").read_text())
        self.mapping = yaml.safe_load((root / "acme/types/acme-feed.yaml").read_text())
        self.questions = self.folder.questions
        self.rows = [[(change.op, change.before, change.after) for change in one.changes] for one in validated]


@pytest.fixture
def draft(canonical, tmp_path, monkeypatch):
    monkeypatch.setattr(lint_input, "shipped_catalogue", lambda: canonical)
    return lambda pairs, **options: Draft(pairs, tmp_path, options.pop("catalogue", canonical), **options)


def rows_by(validation, pairs):
    """Return what stands in a row, by the place of its record among those that hold one."""
    names = (
        "op",
        "database",
        "table",
        "primary_key",
        "event_time",
        "process_time",
        "before",
        "after",
        "before_complete",
    )
    return {row["offset"]: [row[name] for name in names] for row in rows_of_kernel(validation, pairs)}


@pytest.mark.parametrize(
    ("reference", "pairs"),
    [
        (DOCUMENTS, [*MESSAGES.values()]),
        (BESIDE_BLOCKS, [*map(beside_blocks, MESSAGES.values())]),
        (BESIDE_BLOCKS, [Pair(beside_blocks(pair).value, pair.key) for pair in MESSAGES.values()]),
    ],
    ids=["plain", "beside blocks", "values beside blocks, keys without"],
)
def test_documents_of_a_connector_are_drafted_like_the_contract_that_describes_them(reference, pairs, draft):
    found = draft(pairs)

    assert rows_by(found.validation, pairs) == rows_by(open_documents(reference), pairs)
    assert len(rows_by(found.validation, pairs)) == 39
    assert quarantine_of(found.validation, pairs) == []
    at, wanted = "/payload" * (reference == BESIDE_BLOCKS), CATALOGUE.version(reference).resolved
    images = found.contract["images"]
    assert images == {
        "container": "json-text", "constants": "$numberDouble",
        "insert": {"after": {"at": f"{at}/after"}}, "snapshot": {"after": {"at": f"{at}/after"}},
        "update": {"before": {"at": f"{at}/before", "optional": True}, "after": {"at": f"{at}/after", "optional": True}},
        "delete": {"before": {"at": f"{at}/before", "or_key": True}},
    }  # fmt: skip
    assert {name: images[name] for name in ("container", "constants", "insert", "snapshot", "delete")} == {
        name: wanted["images"][name] for name in ("container", "constants", "insert", "snapshot", "delete")
    }
    assert found.contract["ops"] == wanted["ops"]
    assert found.contract["columns"] == wanted["columns"]
    assert found.contract["rules"] == wanted["rules"]
    assert found.contract["envelope"]["primary_key"]["json_texts"] == {"id": "_id"}
    assert found.mapping["untyped"] == {
        "number": "extended-json", "text": "text", "boolean": "bool-json", "array": "extended-json",
        "object": "extended-json",
    }  # fmt: skip


def test_a_contract_that_takes_all_documents_is_named(draft):
    with_rows = [pair for name, pair in MESSAGES.items() if "without-after" not in name and "update-from" not in name]
    found = draft(with_rows, catalogue=CATALOGUE)
    assert (found.folder.fits, found.folder.nearest) == ([DOCUMENTS], None)


def test_the_nearest_contract_of_documents_without_rows_is_named(draft):
    found = draft([*MESSAGES.values()], catalogue=CATALOGUE)
    assert (found.folder.fits, found.folder.nearest) == ([], DOCUMENTS)


@pytest.mark.parametrize("keep_values", [False, True])
def test_samples_have_texts_too_and_a_row_of_the_key_in_the_message(keep_values, draft, tmp_path):
    found = draft([*MESSAGES.values()], keep_values=keep_values)

    assert found.folder.left_out == 0
    files = [file for file in (tmp_path / SUBJECT / "v1/samples").iterdir() if "change" not in file.name]
    samples = [json.loads(file.read_text()) for file in files]
    images = [sample.get(side) for sample in samples for side in ("before", "after")]
    assert {type(image) for image in images} == {str, type(None)}
    rows = [json.loads(image) for image in images if image is not None]
    assert any(row.keys() == {"_id"} for row in rows)
    assert ("KX-4410" in json.dumps(rows)) is keep_values


def test_samples_of_values_that_stand_for_others_still_stand_for_such(draft):
    names = ("2.5.4 insert-of-special-values", "3.7.0 insert-of-special-values-extended", "3.6.1 insert-of-every-type")
    found = draft([MESSAGES[name] for name in names])
    assert (found.folder.samples, found.folder.left_out) == (3, 0)


def test_documents_without_keys_leave_deletions_open(draft):
    values = [Pair(MESSAGES[f"3.6.1 {name}"].value) for name in ("insert", "update", "delete")]

    found = draft(values)

    assert found.contract["ops"] == {"c": "insert", "u": "update", "d": "mark"}
    assert found.rows[2] == []
    asked = (
        "no member lists the columns of the key: table contracts may (`primary_key: [...]`). No record here has a key; the "
        "keys of a topic, or of a Parquet file, may say which row is deleted."
    )
    assert {"does d mean mark? No message with it holds a row.", asked} <= {*found.questions}


def test_a_delete_has_the_row_of_its_key_at_the_only_image_there_is(draft):
    names = ("insert", "delete-from-the-oplog")
    found = draft([MESSAGES[f"1.9.7 {name}"] for name in names])

    assert found.contract["images"]["delete"] == {"before": {"at": "/after", "or_key": True}}
    assert found.rows[1] == [("delete", {"_id": "690c5a1e7d3b0f4c2a91e6d8"}, None)]
    assert (
        "is the row of a delete that of the key of its record, where the message holds none (1 of 1 messages)?"
        in found.questions
    )


def test_texts_beside_rows_are_no_rows_and_are_asked_about(draft):
    found = draft([MESSAGES[f"2.5.4 {name}"] for name in ("insert", "update", "update-in-a-transaction")])

    assert found.contract["images"]["update"] == {"after": {"at": "/after"}}
    asked = [question for question in found.questions if question.startswith("is there a row at")]
    assert asked == [f"is there a row at /source/lsid and /updateDescription/updatedFields? {KEPT_TEXTS}"]


KEY = {"type": "record", "name": "Key", "fields": [{"name": "id", "type": "string"}]}
SIDES = [{"name": name, "type": ["null", "string"]} for name in ("before", "after")]
ENVELOPE = {"type": "record", "name": "Envelope", "fields": [
    *SIDES, {"name": "op", "type": "string"}, {"name": "ts_ms", "type": "long"},
    {"name": "source", "type": {"type": "record", "name": "Source", "fields": [{"name": "table", "type": "string"}]}},
]}  # fmt: skip


def test_framed_records_hold_texts_too(canonical):
    schemas, key = WriterSchemas(HeldSchemas({1: ENVELOPE, 2: KEY})), frame(2, body_of(KEY, {"id": "1"}))
    common = {"ts_ms": 1_760_000_000_000, "source": {"table": "t"}}
    messages = [{"op": "c", "before": None, "after": ANN} | common, {"op": "d", "before": None, "after": None} | common]
    records = [(f"m:{number}", frame(1, body_of(ENVELOPE, one)), key) for number, one in enumerate(messages, 1)]

    folder = make_folder(canonical, SUBJECT, "m", read_samples(records, schemas), like=None, keep_values=False)

    contract = yaml.safe_load(folder.files[f"{SUBJECT}/v1/contract.yaml"])
    assert contract["envelope"]["primary_key"] == {"from": "kafka-key", "at": "/payload", "json_texts": {"id": "id"}}
    assert contract["images"] == {
        "container": "json-text", "insert": {"after": {"at": "/payload/after"}},
        "delete": {"before": {"at": "/payload/before", "or_key": True}},
    }  # fmt: skip
    assert [question for question in folder.questions if question.startswith("nothing reads")] == []


def text(**row):
    return json.dumps(row, separators=(",", ":"))


def change(op, before, after, **more):
    return {"op": op, "before": before, "after": after, "ts": 1_760_000_000_000, **more}


def pairs_of(messages, keys=None):
    sent = [None] * len(messages) if keys is None else [json.dumps(key).encode() for key in keys]
    return [Pair(*pair) for pair in zip(written(messages), sent, strict=True)]


ANN, BOB = text(id=1, name="Ann", tags=["a"], at={"x": 1.5}), text(id=1, name="Bob", tags=[], at=None)
ANN_ROW = {"id": "1", "name": "Ann", "tags": '["a"]', "at": '{"x":1.5}'}
BOB_ROW = {"id": "1", "name": "Bob", "tags": "[]", "at": None}


def test_texts_of_plain_json_are_rows(draft):
    found = draft(pairs_of([change("c", None, ANN), change("u", ANN, BOB), change("d", BOB, None)]))

    assert found.rows == [
        [("insert", None, ANN_ROW)], [("update", ANN_ROW, BOB_ROW)], [("delete", BOB_ROW, None)],
    ]  # fmt: skip
    assert found.contract["images"] == {
        "container": "json-text", "insert": {"after": {"at": "/after"}},
        "update": {"before": {"at": "/before"}, "after": {"at": "/after"}}, "delete": {"before": {"at": "/before"}},
    }  # fmt: skip
    assert found.contract["columns"] == {"types": "none"}
    assert found.mapping["untyped"]["object"] == found.mapping["untyped"]["array"] == "json-value"
    assert "may a row lack columns that others of its table have? `optional: true` says so." in found.questions


def test_an_object_where_others_have_its_text_is_a_row_too(draft):
    found = draft(pairs_of([change("c", None, ANN), change("u", None, json.loads(BOB))]))
    assert [rows[0][2] for rows in found.rows] == [ANN_ROW, BOB_ROW]


def test_rows_that_are_texts_need_no_op_code(draft):
    messages = [{"before": before, "after": after, "t": 1} for before, after in [(None, ANN), (ANN, BOB), (BOB, None)]]
    assert draft(pairs_of(messages)).rows == [
        [("upsert", None, ANN_ROW)], [("update", ANN_ROW, BOB_ROW)], [("delete", BOB_ROW, None)],
    ]  # fmt: skip


def test_rows_beside_a_marked_op_code_alone_are_rows(draft):
    messages = [{"__op": "c", "before": None, "after": ANN}, {"__op": "u", "before": ANN, "after": BOB}]
    assert draft(pairs_of(messages)).rows == [[("insert", None, ANN_ROW)], [("update", ANN_ROW, BOB_ROW)]]


@pytest.mark.parametrize(
    ("message", "row"),
    [
        ({"__op": "c", "id": 1, "after": ANN}, {"id": "1", "after": ANN}),
        ({"__op": "c", "__table": "t", "data": ANN}, {"data": ANN}),
        ({"op": "c", "table": "t", "note": ANN}, {"note": ANN}),
        ({"op": "c", "after": {"id": 1, "old": "{}", "x": [1]}}, {"id": "1", "old": "{}", "x": "[1]"}),
        ({"op": "c", "after": {"id": 1, "after": ANN}}, {"id": "1", "after": ANN}),
        ({"op": "c", "after": text(id=1, old=ANN)}, {"id": "1", "old": ANN}),
    ],
    ids=["of a marked row", "of a marked row alone", "by its name", "beside an array", "in an object", "in a text"],
)
def test_a_text_that_is_a_column_stays_one(message, row, draft):
    assert draft(pairs_of([message])).rows == [[("insert", None, row)]]


ABOUT_DATA = "is /data the row, or a column of the message? It is a text, and no other member is a column."


def test_the_only_member_beside_the_envelope_is_the_row_if_its_name_says_so(draft):
    message = {"op": "I", "table": "t", "ts": 1_760_000_000_000, "pk": ["id"], "data": ANN}
    found = draft(pairs_of([message, {**message, "op": "D", "data": BOB}]))

    assert found.rows == [[("insert", None, ANN_ROW)], [("delete", BOB_ROW, None)]]
    assert found.contract["envelope"]["primary_key"] == {"at": "/pk", "as": "list"}
    assert found.contract["images"]["insert"] == {"after": {"at": "/data"}}
    assert ABOUT_DATA in found.questions


def test_a_text_beside_what_may_be_columns_stays_one_and_is_asked_about(draft):
    found = draft(pairs_of([{"op": "I", "table": "t", "id": 7, "data": ANN}]))
    assert found.rows == [[("insert", None, {"id": "7", "data": ANN})]]
    assert f"is there a row at /data? {KEPT_TEXTS}" in found.questions
    assert ABOUT_DATA not in found.questions


def test_a_document_without_a_field_of_another_is_whole(draft):
    """What an image lacks was removed: it must not come from the other image."""
    found = draft(pairs_of([change("c", None, ANN), change("u", ANN, text(id=1, name="Bob", tags=["a"]))]))

    assert found.rows[1] == [("update", ANN_ROW, {"id": "1", "name": "Bob", "tags": '["a"]'})]
    assert found.contract["columns"] == {"types": "none", "optional": True}
    assert any(question.startswith("which columns do the images of update leave out?") for question in found.questions)


ABOUT_LACKING = "is a column that a row lacks NULL or empty? `lacking: null-or-empty` says so."


@pytest.mark.parametrize(
    ("rows", "optional"),
    [
        ([{"id": 1, "a": 1}, {"id": 2}, {"id": 3, "a": 3}], True),
        ([{"id": 1}, {"id": 2, "a": 2}, {"id": 3, "a": 3}], False),
        ([{"id": 1, "a": 1}, {"id": 2, "a": 2}, {"id": 3}], False),
        ([{"id": 1, "a": 1}, {"id": 2, "a": None}, {"id": 3, "a": 3}], False),
    ],
    ids=["a column that comes back", "a new column", "a lost column", "a null"],
)
def test_rows_may_lack_columns_where_one_comes_back(rows, optional, draft):
    messages = [{"op": "I", "table": "t", "ts": 1_760_000_000_000 + at, "after": row} for at, row in enumerate(rows)]
    found = draft(pairs_of(messages))

    assert found.contract["columns"] == {"types": "none"} | ({"optional": True} if optional else {})
    assert (ABOUT_LACKING in found.questions) == optional
    assert [row[0][2].keys() for row in found.rows] == [row.keys() for row in rows]


def test_rows_of_several_tables_lack_no_column(draft):
    rows = [("t", {"id": 1, "a": 1}), ("u", {"id": 2}), ("t", {"id": 3, "a": 3})]
    messages = [{"op": "I", "table": table, "ts": 1_760_000_000_000, "after": row} for table, row in rows]
    assert draft(pairs_of(messages)).contract["columns"] == {"types": "none"}


def test_a_row_of_changed_columns_alone_is_completed_by_its_key_where_rows_may_lack_columns(draft):
    """What else it lacks may be new in the other row; without a key nothing is known of it."""
    messages = [change("c", None, ANN), change("u", text(name="Ann"), text(id=1, name="Bob"))]
    found = draft(pairs_of(messages))
    assert found.contract["images"]["update"]["before"] == {"at": "/before", "completed_from": "/after"}
    assert found.rows[1] == [("update", {"name": "Ann"}, {"id": "1", "name": "Bob"})]

    found = draft(pairs_of(messages, [{"id": "1"}, {"id": "1"}]))
    assert found.rows[1] == [("update", {"id": "1", "name": "Ann"}, {"id": "1", "name": "Bob"})]


@pytest.mark.parametrize(
    ("key", "json_texts", "row"),
    [
        ({"id": "1"}, {"id": "id"}, {"id": "1"}),
        ({"no": "1"}, {"no": "id"}, {"id": "1"}),
        ({"id": 1}, None, {"id": "1"}),
        ({"schema": {}, "payload": {"id": "1"}}, {"id": "id"}, {"id": "1"}),
        ({"id": 1, "name": '"Ann"'}, {"name": "name"}, {"id": "1", "name": "Ann"}),
    ],
    ids=str,
)
def test_the_key_of_a_record_may_hold_columns_as_texts_and_the_row_of_a_delete(key, json_texts, row, draft):
    messages = [change("c", None, ANN), change("d", None, None), change("u", None, ANN)]
    found = draft(pairs_of(messages, [key] * 3))

    assert found.contract["envelope"]["primary_key"].get("json_texts") == json_texts
    assert found.contract["images"]["delete"] == {"before": {"at": "/before", "or_key": True}}
    assert found.rows[1] == [("delete", row, None)]


@pytest.mark.parametrize("key", ["1", {"id": "2"}, {"id": "{"}, {"id": "Ann"}, {}], ids=str)
def test_a_key_that_holds_no_column_is_no_key_and_no_row(key, draft):
    messages = [change("c", None, ANN), change("d", None, None)]
    found = draft(pairs_of(messages, [key] * 2))
    assert "primary_key" not in found.contract["envelope"]
    assert found.contract["ops"]["d"] == "mark"


def test_of_two_columns_with_the_value_of_a_key_the_one_of_its_name_is_the_key(draft):
    found = draft(pairs_of([change("c", None, text(shop=1, _id=1)), change("d", None, None)], [{"id": "1"}] * 2))
    assert found.contract["envelope"]["primary_key"]["json_texts"] == {"id": "_id"}


def test_of_two_columns_with_the_value_of_a_key_none_is_the_key_by_chance(draft):
    found = draft(pairs_of([change("c", None, text(a=1, b=1)), change("d", None, None)], [{"id": "1"}] * 2))
    assert "primary_key" not in found.contract["envelope"]


def test_numbers_without_a_notation_in_json_are_texts_of_their_own(draft):
    found = draft(pairs_of([change("c", None, '{"id":1,"n":NaN,"m":[-Infinity]}')]))
    assert found.contract["images"]["constants"] == "$numberDouble"
    assert found.rows == [[("insert", None, {"id": "1", "n": "NaN", "m": '[{"$numberDouble":"-Infinity"}]'})]]


def test_extended_json_that_some_object_breaks_is_kept_as_json_and_asked_about(draft):
    good, broken = {"$oid": "690c5a1e7d3b0f4c2a91e6d8"}, {"$oid": "?"}
    found = draft(pairs_of([change("c", None, text(id=1, n=good)), change("c", None, text(id=2, n=broken))]))
    assert [rows[0][2]["n"] for rows in found.rows] == ['{"$oid":"690c5a1e7d3b0f4c2a91e6d8"}', '{"$oid":"?"}']
    assert "an object is Extended JSON in m:1, and broken in m:2: is each kept as JSON?" in found.questions


def test_extended_json_in_objects_is_read_too(draft):
    found = draft(pairs_of([change("c", None, {"id": {"$numberLong": "7"}, "n": "a"})]))
    assert found.contract["images"]["container"] == "object"
    assert found.rows == [[("insert", None, {"id": "7", "n": "a"})]]


@pytest.mark.parametrize(
    ("messages", "says", "first"),
    [
        ([change("c", None, "null"), change("c", None, ANN)],
         "/after holds JSON objects as texts, but in 1 of 2 messages a text that holds none", "m:1"),
        ([change("c", None, ANN), change("c", None, "null")],
         "/after holds JSON objects as texts, but in 1 of 2 messages a text that holds none", "m:2"),
        ([change("c", None, ANN), change("c", None, ANN[:-1])],
         "/after holds JSON objects as texts, but in 1 of 2 messages a text that holds none", "m:2"),
        ([change("c", None, ANN), change("c", None, "")],
         "/after holds JSON objects as texts, but in 1 of 2 messages a text that holds none", "m:2"),
        ([change("c", None, ANN), change("c", None, f"[{ANN}]")],
         "/after holds JSON objects as texts, but in 1 of 2 messages a text that holds none", "m:2"),
        ([change("c", None, None), change("d", None, None)],
         "no member holds rows: objects of columns, or lists of them; nor is the message itself one, beside /before, /after", ""),
        ([change("c", None, "{}")], "no member holds rows: objects of columns, or lists of them", ""),
        ([change("c", None, ANN), change("c", None, [{"id": 1}])], "some images are objects and others are lists", ""),
    ],
    ids=["null first", "null", "cut off", "empty", "list", "all null", "no column", "text and list"],
)  # fmt: skip
def test_texts_that_no_contract_reads_are_refused(messages, says, first, draft):
    with pytest.raises(UndetectedError) as error:
        draft(pairs_of(messages))
    assert error.value.what.startswith(f"no contract can express these messages: {says}")
    assert error.value.where == first
