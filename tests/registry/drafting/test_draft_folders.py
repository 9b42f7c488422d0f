"""A contract drafted from messages takes these messages, lints clean, and says what the messages do not show."""

from __future__ import annotations

import json
import shutil
from contextlib import suppress
from dataclasses import replace

import pytest
import yaml
from both_paths import CATALOGUE, VERSIONS
from home_made import flat, listed, written

from cdc_contracts.registry.authoring.drafting.draft_checks import find_lost_rows
from cdc_contracts.registry.authoring.drafting.draft_folders import make_folder, read_samples
from cdc_contracts.registry.authoring.lint import lint, lint_input
from cdc_contracts.registry.core.common.errors import UndetectedError
from cdc_contracts.registry.core.common.json_messages import parse_message
from cdc_contracts.registry.core.common.pointers import ABSENT, follow, split_pointer
from cdc_contracts.registry.core.contract.catalogue import CANONICAL, Catalogue
from cdc_contracts.registry.core.contract.discriminators import all_hold
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContract
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.engine.kernel_checks import KernelChecks
from cdc_contracts.registry.core.engine.messages.validation_without_arrow import ValidationWithoutArrow
from cdc_contracts.registry.core.generate.contract_samples import find_samples
from cdc_contracts.registry.core.message.avro_records import Codec, same_message
from cdc_contracts.registry.core.records.file_batches import as_batch
from cdc_contracts.registry.core.records.input_files import RecordsWithoutArrow
from cdc_contracts.registry.core.schema.message_schemas.bound_avro import bound_avro_schema
from cdc_contracts.registry.core.validate.validation_context import open_validation

UNDRAFTED = ("goldengate/json-row", "maxwell/json", "ticdc/avro")
"""Subjects with an object beside the row that may be one: tokens, a table's definition, a block. A draft refuses all."""
JSON_VERSIONS = [
    version for version in VERSIONS if version.resolved["transport"] == "json" and version.subject not in UNDRAFTED
]


def drafted(values, root, subject="acme/plain", *, like=None, keep_values=False):
    """Draft a contract into a folder, and return what was drafted."""
    messages = read_samples([(f"messages.jsonl:{number}", value) for number, value in enumerate(values, 1)])
    folder = make_folder(CATALOGUE, subject, "messages.jsonl", messages, like=like, keep_values=keep_values)
    for name, content in folder.files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)
    return folder


def messages_of(reference):
    """Return the names and bytes of the samples of a version that conform."""
    return [(sample.name, sample.value) for sample in find_samples(CATALOGUE.version(reference)).messages]


def messages_alike(version):
    """Return the samples of a version without rows that lack the op code which the others have: no draft takes both."""
    at = split_pointer(version.meaning.envelope.op.at)
    samples = find_samples(version).messages
    return [one.value for one in samples if not one.expected() or follow(parse_message(one.value), at) is not ABSENT]


def contract_in(root, subject="acme/plain"):
    return yaml.safe_load((root / subject / "v1/contract.yaml").read_text())


@pytest.fixture(autouse=True)
def lint_alone(monkeypatch, request, tmp_path_factory):
    """Lint what was drafted without the shipped contracts, but in the tests that are about these."""
    if "version" in request.fixturenames or request.node.get_closest_marker("nightly"):
        return
    root = tmp_path_factory.mktemp("canonical")
    shutil.copytree(CATALOGUE.canonical.folder, root / CANONICAL / "v1")
    monkeypatch.setattr(lint_input, "shipped_catalogue", lambda: Catalogue([root]))


def assert_sound(root, values, reference="acme/plain@1"):
    """Check that nothing is found in a contract, nor in the messages that it was drafted from."""
    report = lint([root])
    assert report.validated
    assert [(one.rule, one.file, one.expected, one.observed) for one in report.findings] == []
    validation = open_validation(Catalogue([*CATALOGUE.roots, root]), reference, ReadingOptions())
    verdicts = [validation.validate(value).verdict for value in values]
    assert {verdict.outcome for verdict in verdicts} <= {"conforming", "control"}
    assert [one for verdict in verdicts for one in verdict.findings if one.severity != "info"] == []


def disguised(version, value):
    """Return a message of a shipped dialect as no contract knows it: one level deeper, or its mark renamed."""
    if version.meaning.images.pointers() == ("",):
        return value.replace(b'"__deleted"', b'"__is_deleted"').replace(b'"__op"', b'"__change"')
    return b'{"acme":' + value + b"}"


@pytest.mark.one_in(8, any_subject=True)
@pytest.mark.parametrize("version", JSON_VERSIONS, ids=str)
def test_a_contract_drafted_from_a_dialect_takes_its_messages_and_lints_clean(version, tmp_path):
    values = [disguised(version, value) for value in messages_alike(version)]

    folder = drafted(values, tmp_path)

    assert folder.samples
    assert folder.fits == []
    assert_sound(tmp_path, values)
    row_ops = {op for op in version.meaning.ops.values() if version.meaning.images.of(op) is not None}
    assert row_ops & {*contract_in(tmp_path)["ops"].values()} >= row_ops & {"insert", "delete", "upsert"}


@pytest.mark.parametrize("subject", UNDRAFTED)
def test_a_dialect_with_an_object_that_may_be_the_row_is_refused(subject, tmp_path):
    version = CATALOGUE.versions(subject)[-1]
    with pytest.raises(UndetectedError, match=r"holds? rows|may be the row|is in the row"):
        drafted([disguised(version, value) for value in messages_alike(version)], tmp_path)


def test_a_flat_dialect_is_read_as_it_was_made(tmp_path):
    values = written(flat())
    folder = drafted(values, tmp_path)

    contract = contract_in(tmp_path)
    assert contract["ops"] == {"I": "insert", "U": "update", "D": "delete"}
    assert contract["images"] == {
        "container": "object", "insert": {"after": {"at": "/row"}}, "update": {"after": {"at": "/row"}},
        "delete": {"before": {"at": "/row"}},
    }  # fmt: skip
    assert contract["envelope"] == {
        "op": {"at": "/op"}, "database_table": {"at": "/tbl", "split": "database.table"},
        "event_time": {"at": "/ts", "form": "epoch-millis"},
    }  # fmt: skip
    assert contract["columns"] == {"types": "none"}
    assert any("no message names the type of a column" in question for question in folder.questions)
    assert_sound(tmp_path, values)


def test_lists_of_rows_and_codes_that_are_no_words_are_read_by_where_rows_are(tmp_path):
    values = written(listed())
    folder = drafted(values, tmp_path)

    contract = contract_in(tmp_path)
    assert contract["ops"] == {"A": "insert", "E": "update", "X": "delete"}
    assert contract["images"] == {
        "container": "list-of-one", "insert": {"after": {"at": "/after"}},
        "update": {"before": {"at": "/before"}, "after": {"at": "/after"}}, "delete": {"before": {"at": "/before"}},
    }  # fmt: skip
    assert contract["columns"] == {"types": {"at": "/columns", "as": "list-of-objects", "name": "name", "type": "type"}}
    assert contract["envelope"]["event_time"] == {"at": "/header/commitTime", "form": "epoch-seconds"}
    assert contract["envelope"]["primary_key"] == {"at": "/keys", "as": "list"}
    assert contract["rules"] == ["image-present-for-op", "columns-typed", "primary-key-in-image"]
    mapping = yaml.safe_load((tmp_path / "acme/types/acme-plain.yaml").read_text())
    assert mapping["forms"] == {"integer-text": ["BIGINT"], "sql-date": ["DATE"], "text": ["VARCHAR"]}
    assert [one for one in folder.questions if one.startswith("does ")] == [
        "does A mean insert? It is no known word; each message with it holds one row, not before the change by name.",
        "does E mean update? It is no known word; a message with it holds two rows.",
        "does X mean delete? It is no known word; each message with it holds one row, before the change by name.",
    ]
    assert_sound(tmp_path, values)


def test_every_statement_says_how_many_messages_show_it_and_where_and_no_value(tmp_path):
    drafted(written(flat(count=30)), tmp_path)
    text = (tmp_path / "acme/plain/v1/contract.yaml").read_text()
    assert (
        "event_time: {at: /ts, form: epoch-millis}  # epoch millis in 30 of 30 messages, first in messages.jsonl:1"
        in text
    )
    assert "orders" not in text
    assert "Ann" not in text


@pytest.mark.parametrize("make", [pytest.param(flat, marks=pytest.mark.nightly), listed])
def test_samples_hold_no_value_of_a_row_unless_they_are_to_be_kept(make, tmp_path):
    messages = list(make())
    rows = [row for one in messages for row in ([one["row"]] if "row" in one else [*one["before"], *one["after"]])]
    texts = {str(value) for row in rows for value in row.values() if isinstance(value, str) and len(value) > 3}

    drafted(written(messages), tmp_path / "rewritten")
    folder = drafted(written(messages), tmp_path / "kept", keep_values=True)

    assert texts
    for file in (tmp_path / "rewritten/acme/plain/v1/samples").iterdir():
        assert [text for text in texts if text in file.read_text()] == []
    kept = [
        tmp_path / "kept" / name for name in folder.files if "/samples/" in name and not name.endswith(".change.json")
    ]
    assert {file.read_bytes() for file in kept} <= {*written(messages)}
    assert_sound(tmp_path / "kept", written(messages))


@pytest.mark.parametrize("content", ["AA==", "EQ==", "QUE=", "AAAB", "KioqKg=="])
def test_bytes_of_any_length_are_rewritten_to_bytes(content, tmp_path):
    row = {
        "type": "struct",
        "optional": True,
        "fields": [
            {"type": "int32", "optional": False, "field": "id"},
            {"type": "bytes", "optional": True, "field": "code"},
        ],
    }
    schema = {"type": "struct", "optional": False, "name": "acme.t.Envelope",
              "fields": [{**row, "field": "before"}, {**row, "field": "after"}]}  # fmt: skip
    payload = {"before": None, "after": {"id": 7, "code": content}, "op": "c", "source": {"table": "t"}}

    folder = drafted(written([{"schema": schema, "payload": payload}]), tmp_path)

    assert (folder.samples, folder.left_out) == (1, 0)


@pytest.mark.parametrize(
    ("messages", "says"),
    [
        ([{"op": "I", "table": "t", "after": [{"name": "id", "value": 1}]}], "/after holds lists of objects, one for each column"),
        ([{"op": "I", "table": "t", "data": [1, "a"]}], "/data holds arrays of values (as in messages.jsonl:1)"),
        (
            [{"op": "c", "after": '{"_id": 1}'}, {"op": "d", "after": "null"}, {"op": "d", "after": ""}],
            "/after holds JSON objects as texts, but in 2 of 3 messages a text that holds none",
        ),
        (
            [{"op": "I", "table": "t", "row": {"id": 1, "doc": {"x": 1}}}],
            "/row may be the row, or what it holds: /row/doc (as in messages.jsonl:1)",
        ),
        ([{"op": 1, "table": "t", "row": {"id": 1}}], "/op looks like the op code, and holds no texts"),
        ([{"op": "I", "t": 1, "after": {"id": 1}}, {"op": "I", "t": 1, "after": [{"id": 1}]}], "some images are objects and others are lists"),
        ([{"table": "t", "row": {"id": 1}}], "no member says what each message does"),
        ([{"op": "PING", "at": 1}], "no member holds rows"),
        (
            [{"schema": {"type": "struct", "fields": [{"type": "int32", "field": "id"}]}, "payload": {"id": 1, "n": "a", "__op": op}}
             for op in "cud"],
            "/payload/__op looks like the op code, and is in the row",
        ),
        (
            [{"op": "c", "after": {"id": 1}}, {"op": "u", "before": {"id": 1}, "after": None}],
            "updates hold a row at /before only, whose name says that it is the row before the change (as in messages.jsonl:2)",
        ),
        (
            [{"op": "I", "p": {"x": 1}, "q": {"x": 2}, "n": 1}],
            "no member holds rows: objects of columns, or lists of them; nor is the message itself one, beside /p, /q",
        ),
        ([{"op": "I", "id": 1, "labels": {"a": 1, "b": 2}}, {"op": "I", "id": 2, "labels": None}],
         "no name says which members hold rows, and /labels, which could, holds none in 1 of 2 messages that change a row"),
        ([{"op": "I", "row": {"id": 1}}, {"op": "U", "row": {"id": 1}}, {"row": {"id": 1}}],
         "/op looks like the op code, and 1 of 3 messages have a row and do not have it"),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)  # fmt: skip
def test_what_contracts_cannot_express_is_said_instead_of_drafted(messages, says, tmp_path):
    with pytest.raises(UndetectedError) as error:
        drafted(written(messages), tmp_path)
    assert says in error.value.what
    assert list(tmp_path.iterdir()) == []


ODD_NAMES = ["record-type", "connect.decimal.precision", "1st", "", "名称", "_x0041_", "a/b~c", "absent"]
ODD_FIELDS = [
    "record_x002D_type", "connect_x002E_decimal_x002E_precision", "_x0031_st", "_x_", "_x540D__x79F0_",
    "_x005F_x0041_", "a_x002F_b_x007E_c", "absent",
]  # fmt: skip


def with_odd_names(value):
    """Return a message that also has members of names that Avro does not take."""
    return {**value, **dict.fromkeys(ODD_NAMES, "x")}


def assert_kept_in_avro(root, reference, values):
    """Check that the drafted schema of a version takes messages, and gives them back."""
    codec = Codec(Catalogue([*CATALOGUE.roots, root]).version(reference).avro_schema)
    assert all(same_message(codec.read(codec.write(one)), one) for one in map(parse_message, values))


def test_members_whose_names_avro_does_not_take_have_escaped_ones_that_come_back(tmp_path):
    rows = [{"op": code, "table": "t", "after": {"id": 1, "na-me": "a"}} for code in ("c", "u", "c")]
    deeper = {"meta-data": {name: {name: 1} for name in ODD_NAMES}}
    values = written([with_odd_names(row) | deeper for row in rows])
    drafted(values, tmp_path)
    assert_sound(tmp_path, values)
    schema = json.loads((tmp_path / "acme/plain/v1/message.avsc").read_text())
    fields = {field["name"]: field for field in schema["fields"]}
    assert [fields[name].get("member", name) for name in ODD_FIELDS] == ODD_NAMES
    assert [field["name"] for field in fields["meta_x002D_data"]["type"]["fields"]] == ODD_FIELDS
    assert_kept_in_avro(tmp_path, "acme/plain@1", values)


def test_the_columns_of_a_table_are_in_an_image_of_such_a_name(tmp_path):
    rows = [{"op": code, "table": "t", "row-data": {"id": 1, "na-me": "a"}} for code in ("c", "d", "c")]
    values = written([with_odd_names(row) for row in rows])
    drafted(values, tmp_path)
    with (tmp_path / "acme/types/acme-plain.yaml").open("a") as mapping:
        mapping.write("forms:\n  integer-number: [INT]\n  text: [VARCHAR]\n")
    columns = {"id": {"type": "int"}, "na-me": {"type": "varchar(3)"}}
    table = TableContract.model_validate({"table": "t", "columns": columns})
    version = Catalogue([*CATALOGUE.roots, tmp_path]).version("acme/plain@1")
    schema = bound_avro_schema(version, table, ReadingOptions())
    image = next(field for field in schema["fields"] if field["name"] == "row_x002D_data")["type"]
    assert [(field["name"], field.get("member")) for field in image["fields"]][:2] == [("id", None), ("na_me", "na-me")]
    codec = Codec(schema)
    assert all(same_message(codec.read(codec.write(one)), one) for one in map(parse_message, values))


def test_a_contract_like_another_takes_such_members_too(tmp_path):
    values = [
        written([with_odd_names(json.loads(value))])[0]
        for name, value in messages_of("dts/canal@2") if "two-rows" not in name
    ]  # fmt: skip
    drafted(values, tmp_path, "acme/canal", like="dts/canal@2")
    assert_kept_in_avro(tmp_path, "acme/canal@1", values)


def test_a_contract_like_another_takes_codes_that_the_other_does_not_list(tmp_path):
    """As of a connector for another database, which writes the envelope of those that the contract lists."""
    source = {"version": "3.2.0.Final", "connector": "acme", "name": "shop", "ts_ms": 1760000000000, "db": "shop",
              "table": "pears", "snapshot": "false"}  # fmt: skip
    values = written(
        {"before": None, "after": {"id": at, "qty": 7}, "source": source, "op": op, "ts_ms": 1760000000123}
        for at, op in enumerate("rcc")
    )
    drafted(values, tmp_path, "acme/connector", like="debezium/json@4")
    contract = contract_in(tmp_path, "acme/connector")
    assert contract["based_on"] == "debezium/json@4"
    assert contract["enums"] is None
    assert not {"envelope", "ops", "images", "columns"} & contract.keys()
    meaning = Catalogue([*CATALOGUE.roots, tmp_path]).version("acme/connector@1").meaning
    assert meaning.enums == {}
    assert all(all_hold(meaning.discriminators, json.loads(value)) for value in values)


def test_a_time_that_no_form_reads_is_left_out_and_said(tmp_path):
    start = 1_760_000_000_000_000_000
    values = written({"op": "I", "table": "t", "ns": start + at, "row": {"id": at}} for at in range(3))
    folder = drafted(values, tmp_path)
    assert "event_time" not in contract_in(tmp_path)["envelope"]
    assert any(
        question.startswith("no form of a time in the envelope reads /ns (nanoseconds): is it the time of the change?")
        for question in folder.questions
    )
    assert_sound(tmp_path, values)


@pytest.mark.parametrize(
    ("times", "form"),
    [
        ((1_760_000_000_123, 1_760_000_001_456), "epoch-millis"),
        ((1_760_000_000, 1_760_000_001), "epoch-seconds"),
        (("1760000000", "1760000001"), "epoch-seconds-text"),
        (("2025-10-09 08:53:20", "2025-10-09 08:53:21"), "iso-local"),
        (("2025-10-09T08:53:20Z", "2025-10-09T08:53:21.5Z"), "iso-local-or-utc"),
        ((1_760_000_000_123_456, 1_760_000_001_123_456), "epoch-micros"),
        ((1_760_000_000_123_456_789, 1_760_000_001_123_456_789), "nanoseconds"),
        ((1_760_000_000.5, 1_760_000_001.5), "seconds, not all whole numbers"),
        (("1760000000123", "1760000001456"), "milliseconds, not all whole numbers as text"),
        (("2025-10-09T08:53:20+08:00", "2025-10-09T08:53:21+08:00"), "dates with a clock, in another form"),
        (("2025/10/09 08:53:20", "2025/10/09 08:53:21"), "dates with a clock, in another form"),
    ],
)
def test_a_time_is_read_or_asked_about(times, form, tmp_path):
    values = written({"op": "I", "table": "t", "ts": time, "row": {"id": at}} for at, time in enumerate(times))
    folder = drafted(values, tmp_path)
    place = contract_in(tmp_path)["envelope"].get("event_time")
    asked = [question for question in folder.questions if "reads /ts" in question]
    assert (place, asked != []) == (({"at": "/ts", "form": form}, False) if "-" in form else (None, True))
    assert all(f"/ts ({form})" in question for question in asked)
    assert_sound(tmp_path, values)


@pytest.mark.parametrize(
    ("delay", "event", "process"),
    [
        (0, "/source/ts", "/ts"),  # of a snapshot, which says nothing of which one is which
        (5, "/source/ts", "/ts"),
        (-5, "/ts", "/source/ts"),  # what the times show counts for more than the name of the object
    ],
)
def test_of_two_times_that_of_the_source_is_the_time_of_the_change(delay, event, process, tmp_path):
    times = (1_760_000_000_123, 1_760_000_001_456)
    drafted(
        written(
            {"op": "I", "source": {"table": "t", "ts": time}, "ts": time + delay, "row": {"id": at}}
            for at, time in enumerate(times)
        ),
        tmp_path,
    )
    envelope = contract_in(tmp_path)["envelope"]
    assert envelope["event_time"] == {"at": event, "form": "epoch-millis"}
    assert envelope["process_time"] == {"at": process, "form": "epoch-millis"}


def test_a_number_that_stands_for_no_time_is_said_and_read_as_none(tmp_path):
    values = written({"op": "I", "table": "t", "ts": time, "row": {"id": 1}} for time in (1_760_000_000_123, 0))
    drafted(values, tmp_path)
    assert contract_in(tmp_path)["envelope"]["event_time"] == {"at": "/ts", "form": "epoch-millis", "absent_value": 0}
    assert_sound(tmp_path, values)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", ["primary_keys", "pkNames", "keys", "primaryKeyColumns", "pk"])
def test_a_list_of_key_columns_is_the_key_although_one_message_contradicts_it(name, tmp_path):
    messages = [{"op": "I", "table": "t", name: ["id"], "row": {"id": at, "n": "a"}} for at in range(42)]
    messages.append({"op": "I", "table": "t", name: ["no"], "row": {"id": 42, "n": "b"}})
    folder = drafted(written(messages), tmp_path)
    contract = contract_in(tmp_path)
    assert contract["envelope"]["primary_key"] == {"at": f"/{name}", "as": "list"}
    assert "primary-key-in-image" not in contract["rules"]
    assert (
        f"do the columns that /{name} lists identify a row? In 1 of 43 messages, as in messages.jsonl:43, it names none."
        in folder.questions
    )
    assert_sound(tmp_path, written(messages))


@pytest.mark.parametrize("flags", [(True, False), (False,), (True,)], ids=str)
def test_a_statement_is_ddl_where_its_message_says_so(flags, tmp_path):
    rows = [{"kind": "INSERT", "isDdl": False, "data": [{"id": 1}], "sql": ""}]
    statements = [{"kind": "QUERY", "isDdl": flag, "data": None, "sql": "CREATE TABLE a"} for flag in flags]
    values = written([*rows, *statements])
    folder = drafted(values, tmp_path)
    contract = contract_in(tmp_path)
    flagged = [{"at": "/isDdl", "is": True, "means": "ddl", "of": ["mark"]}]
    assert contract["envelope"]["op"].get("flags") == (flagged if len(flags) == 2 else None)
    assert contract["ops"]["QUERY"] == ("ddl" if flags == (True,) else "mark")
    asked = "does QUERY mean mark? /isDdl is false in messages with it." in folder.questions
    assert asked is (False in flags)
    scope = open_validation(Catalogue([*CATALOGUE.roots, tmp_path]), "acme/plain@1", ReadingOptions())
    kinds = [scope.validate(value).control.kind for value in values[1:]]
    assert kinds == ["ddl" if flag else "mark" for flag in flags]
    assert_sound(tmp_path, values)


def test_unsigned_numbers_are_numbers(tmp_path):
    types = {
        "a": "bigint unsigned", "b": "INT(10) UNSIGNED ZEROFILL", "c": "decimal(5,2) unsigned", "d": "double unsigned",
        "e": "UNSIGNED SMALLINT", "f": "UINT64",
    }  # fmt: skip
    row = {"a": "18446744073709551615", "b": "7", "c": "1.50", "d": "2.5", "e": "8", "f": "9"}
    drafted(written([{"op": "I", "table": "t", "types": types, "row": row}]), tmp_path)
    mapping = yaml.safe_load((tmp_path / "acme/types/acme-plain.yaml").read_text())
    assert mapping["forms"] == {
        "integer-text": ["BIGINT UNSIGNED", "INT UNSIGNED ZEROFILL", "UINT64", "UNSIGNED SMALLINT"],
        "decimal-text": ["DECIMAL UNSIGNED"], "float64-text": ["DOUBLE UNSIGNED"],
    }  # fmt: skip


def test_what_is_asked_of_several_members_or_types_is_one_question(tmp_path):
    types = {"a": "blob", "b": "longblob", "c": "int", "d": "date", "e": "json", "f": "text", "g": "decimal(5,2)"}
    row = dict.fromkeys(types)
    envelope = {f"extra{at}": "x" for at in range(9)} | {f"none{at}": None for at in range(9)}
    both = [{"op": code, "table": "t", "types": types, "before": row, "after": row, **envelope} for code in "AEX"]
    folder = drafted(written(both), tmp_path)
    assert sum("only NULL was seen" in question for question in folder.questions) == 1
    assert sum(" mean " in question for question in folder.questions) == 1
    assert sum("/extra" in question for question in folder.questions) == 1
    assert sum("/none" in question for question in folder.questions) == 1
    assert len(folder.questions) < 15
    assert_sound(tmp_path, written(both))


def test_a_row_is_never_lost_where_types_are_absent(tmp_path):
    messages = [
        {"type": "I", "table": "t", "types": {"id": "INT", "n": "VARCHAR"}, "data": {"id": "1", "n": "a"}},
        {"type": "I", "table": "t", "data": {"id": "2", "n": "b"}},
    ]
    with suppress(UndetectedError):  # a draft that would lose one is not written
        drafted(written(messages), tmp_path)
    if not any(tmp_path.iterdir()):
        return
    scope = open_validation(Catalogue([*CATALOGUE.roots, tmp_path]), "acme/plain@1", ReadingOptions())
    batch = as_batch(RecordsWithoutArrow("a", 0, [0, 1], written(messages)))
    rows = [row for one in Kernel(scope).decode(batch) for row in one.changes.column("after").to_pylist()]
    assert list(map(dict, rows)) == [{"id": "1", "n": "a"}, {"id": "2", "n": "b"}]


def test_a_contract_whose_rows_do_not_come_out_is_found_by_decoding_its_messages(tmp_path):
    value = b'{"op":"I","table":"t","row":{"id":1,"n":"a"}}'
    drafted([value], tmp_path)
    scope = open_validation(Catalogue([*CATALOGUE.roots, tmp_path]), "acme/plain@1", ReadingOptions())
    message, validated = read_samples([("m:1", value)])[0], scope.validate(value)
    (change,) = validated.changes
    assert list(find_lost_rows(scope, [(message, validated)])) == []
    for changes, says in (
        ((), "1 rows are at /row, and 0 come out after the change"),
        ((replace(change, after={"id": "1", "n": None}),), "the column n of /row does not come out after the change"),
        (
            (replace(change, after={"id": "1", "n": "b"}),),
            "a batch that it is read in gives other rows than the message alone",
        ),
    ):
        assert list(find_lost_rows(scope, [(message, replace(validated, changes=changes))])) == [("m:1", says)]


@pytest.mark.nightly
def test_a_contract_like_another_states_only_the_differences(tmp_path):
    values = [value for name, value in messages_of("dts/canal@2") if "two-rows" not in name]
    drafted(values, tmp_path / "same", "acme/canal", like="dts/canal@2")
    contract = contract_in(tmp_path / "same", "acme/canal")
    assert contract.keys() == {"contract", "based_on", "applies", "provenance", "not_separable_from"}
    assert "dts/canal" in contract["not_separable_from"]
    assert_sound(tmp_path / "same", values, "acme/canal@1")

    more = [json.dumps({**json.loads(value), "shard": "a"}).encode() for value in values if b'"INSERT"' in value]
    drafted(more, tmp_path / "more", "acme/canal", like="dts/canal@2")
    contract = contract_in(tmp_path / "more", "acme/canal")
    assert not {"envelope", "ops", "images", "columns", "values", "discriminators"} & contract.keys()
    assert "shard" in (tmp_path / "more/acme/canal/v1/envelope.schema.json").read_text()


@pytest.mark.nightly
def test_contracts_that_take_the_messages_already_are_named(tmp_path):
    values = [value for _, value in messages_of("oms/debezium-flatten@1")]
    folder = drafted(values, tmp_path)
    assert folder.fits == ["oms/debezium-flatten@1"]
    assert_sound(tmp_path, values)


def test_messages_whose_row_may_be_missing_are_counted_by_both_validators(tmp_path):
    values = written([
        {"op": "I", "tbl": "a.b", "after": {"id": 1}}, {"op": "I", "tbl": "a.b", "after": None},
        {"op": "D", "tbl": "a.b", "before": {"id": 1}},
    ])  # fmt: skip
    drafted(values, tmp_path)
    assert contract_in(tmp_path)["images"]["insert"] == {"after": {"at": "/after", "optional": True}}
    scope = open_validation(Catalogue([*CATALOGUE.roots, tmp_path]), "acme/plain@1", ReadingOptions())
    counted = []
    for checker, batch in ((KernelChecks(scope), as_batch), (ValidationWithoutArrow(scope), lambda records: records)):
        assert list(checker.check(batch(RecordsWithoutArrow("a", 0, [0, 1, 2], values)))) == []
        counted.append(checker.finish().partitions)
    assert counted[0] == counted[1]
    assert counted[0]["a", 0].changes == 2


def test_numbers_of_any_length_stay_as_they_were_sent(tmp_path):
    values = [b'{"op":"I","table":"t","n":123456789012345678901234567890,"row":{"id":1.50,"big":1e400}}'] * 2
    drafted(values, tmp_path, keep_values=True)
    sample = (tmp_path / "acme/plain/v1/samples/insert-1.json").read_bytes()
    assert sample == values[0]
    assert parse_message(sample)["row"]["id"].token == "1.50"
    assert_sound(tmp_path, values)


def test_no_op_code_becomes_a_part_of_the_contract(tmp_path):
    hostile = ["Q\ninjected: true", "\x1b[31mR", "S\u2028", "T\x7f", "a #b", "- x", "\U000e0041", "null", "\ufeff"]
    codes = ["I", "U", "D", *hostile]
    values = written([{"op": codes[at % len(codes)], "tbl": "orders", "row": {"id": at}} for at in range(36)])
    drafted(values, tmp_path)
    contract = contract_in(tmp_path)
    assert {*contract["ops"]} == {*codes}
    assert "injected" not in contract
    text = (tmp_path / "acme/plain/v1/contract.yaml").read_text()
    assert all(line.isprintable() for line in text.splitlines())
    assert_sound(tmp_path, values)


@pytest.mark.parametrize("names", [("table",), ("database", "table"), ("schema", "tableName")], ids="-".join)
@pytest.mark.parametrize("tables", [1, 2])
def test_a_message_that_is_its_row_is_read_in_batches_beside_the_names_of_its_table(names, tables, tmp_path):
    ops = zip("IUD" * 2, range(6), strict=True)
    messages = [{"op": op, **{name: f"{name}{at % tables}" for name in names}, "id": at, "n": "a"} for op, at in ops]
    drafted(written(messages), tmp_path)
    scope = open_validation(Catalogue([*CATALOGUE.roots, tmp_path]), "acme/plain@1", ReadingOptions())
    batch = as_batch(RecordsWithoutArrow("a", 0, list(range(6)), written(messages)))
    changes = [row for one in Kernel(scope).decode(batch) for row in one.changes.to_pylist()]
    assert [dict(row["after"] or row["before"]) for row in changes] == [{"id": str(at), "n": "a"} for at in range(6)]
    assert [row["table"] for row in changes] == [f"{names[-1]}{at % tables}" for at in range(6)]
