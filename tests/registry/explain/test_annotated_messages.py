"""Dissections of every kind of message: they keep to their schema, agree with the validators, and show no values."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from topics import CATALOGUE, rendered, scope_of

from cdc_contracts.registry.authoring.explain.message_explanations import (
    explain_message,
    explanation_schema,
    write_explanation,
)
from cdc_contracts.registry.core.common.json_messages import Unreadable, parse_message
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.message.unreadable_bytes import find_fault
from cdc_contracts.registry.core.message.wrapping_guesses import guess_bytes
from cdc_contracts.registry.core.records.record_origins import FoundPlace
from cdc_contracts.registry.core.validate.validation_context import open_validation

SCHEMA = Draft202012Validator(explanation_schema())
CASES = sorted((Path(__file__).parents[2] / "cli" / "why").glob("*.yaml"))
SAMPLES = [
    (version, file)
    for version in CATALOGUE.all_versions()
    for file in sorted(Path(str(version.folder)).glob("samples/**/*"))
    if file.suffix in (".json", ".bin", ".avro") and not file.name.endswith((".findings.json", ".change.json"))
]


def document_of(value, declared=None, **options):
    """The dissection as `--json` writes it, which has to keep to its schema."""
    validation = scope_of(declared) if declared is not None else None
    told = explain_message(value, CATALOGUE, ReadingOptions(), validation=validation, **options)
    document = json.loads(json.dumps(write_explanation(told, FoundPlace(file="a.jsonl", line=1))))
    assert [error.message for error in SCHEMA.iter_errors(document)] == []
    return document


def test_no_value_of_a_row_is_in_the_document():
    for path in CASES:
        case = yaml.safe_load(path.read_text(encoding="utf-8"))
        value = bytes.fromhex(case["hex"]) if "hex" in case else case["message"].encode(case.get("encoding", "utf-8"))
        text = json.dumps(document_of(value), ensure_ascii=False)
        assert [hidden for hidden in case.get("hides", ()) if hidden in text] == [], path.stem


def test_every_kind_of_sample_is_annotated_as_its_validator_decides():
    for version, file in SAMPLES[::60]:
        value = file.read_bytes()
        document = document_of(value, version.reference)
        verdict = scope_of(version.reference).validate(value).verdict
        assert document["outcome"] == verdict.outcome, file
        assert [one["rule"] for one in document["findings"]] == [one.rule for one in verdict.findings], file


@pytest.mark.one_in(4, any_subject=True)
@pytest.mark.parametrize("reference", [version.reference for version in CATALOGUE.all_versions()])
def test_without_a_contract_the_message_finds_its_own(reference):
    told = document_of(rendered(reference, 1)[0])
    fits = {told["contract"], *(other["contract"] for other in told["others"] if other["fits"])}
    if reference == "oms/debezium-smt@1":  # any product may write such rows
        assert told["outcome"] == "ambiguous"
        assert reference in fits
    else:
        assert told["outcome"] in ("conforming", "control", "ambiguous")
        assert reference in fits


def test_values_are_shown_only_where_asked():
    value = rendered("oms-community/canal@2", 1)[0]
    sent = json.loads(value)["data"][0]
    images = json.dumps(document_of(value)["anatomy"]["images"])
    assert [text for text in map(str, sent.values()) if len(text) > 1 and text in images] == []
    columns = document_of(value, show_values=True)["anatomy"]["images"][0]["columns"]
    assert {one["name"]: json.loads(one["wire"]) for one in columns if one["wire"] != "null"} == {
        name: held for name, held in sent.items() if held is not None
    }


def test_a_record_that_its_schema_does_not_read_is_shown_by_its_bytes():
    record = rendered("dts/avro@1", 1)[0]
    told = document_of(record[:-4], "dts/avro@1")
    assert (told["outcome"], told["fault"]["cause"], told["fault"]["position"]) == ("unreadable", "avro", None)
    assert "show REF --schema avro" in told["fault"]["action"]


def test_a_message_of_many_members_and_rows_is_shown_in_part_and_counted_in_full():
    rows = [{"id": str(number)} for number in range(50)]
    extra = {f"m{number}": number for number in range(1000)}
    value = {"data": rows, "type": "INSERT", "isDdl": False, "es": 0, "id": 1, "mysqlType": {"id": "int"}, **extra}
    anatomy = document_of(json.dumps(value).encode(), "dts/canal@2")["anatomy"]
    assert (len(anatomy["parts"]), anatomy["members"]) == (400, 1006)
    assert (len(anatomy["images"]), anatomy["rows"]) == (20, 50)


@pytest.mark.parametrize(
    ("value", "guess"),
    [
        (b"\x28\xb5\x2f\xfd\x04\x00", "zstd"),
        (b"\x04\x22\x4d\x18\x64", "LZ4"),
        (b"\x82SNAPPY\x00\x00", "snappy"),
        (b"Obj\x01\x04", "an Avro file with its schema"),
        (b"\xac\xed\x00\x05sr", "a Java object"),
        ('{"id":1}'.encode("utf-16"), "UTF-16 (little end first), by its byte order mark"),
        ('{"id":1}'.encode("utf-16-be"), "UTF-16 (big end first), without a byte order mark"),
        ('{"name":"Zoë"}'.encode("latin-1"), "Latin-1 (or Windows-1252)"),
        ("\n{}".encode("utf-16-le"), "UTF-16 (little end first), without a byte order mark"),
        (b'\x00\x00\x00\x01\x07{"id":1}', "JSON framed by a schema registry: 00, then schema id 263"),
        (b"\x00\x00\x00\x00\x05\x02\x06abc\x00", "a record framed by a schema registry: 00, then schema id 5"),
        (b"\x00\x00\x00\x00\x05" + b"\x02\x00" * 9, "a record framed by a schema registry: 00, then schema id 5"),
        (b"\x00" * 8 + b"\x05\x02\x06abc", "a record framed by a schema registry: 00, then schema id 5"),
        (
            b"\x03\x00" + bytes(range(16)) + b"\x02",
            "a record framed by a schema registry: 03, then the id of a schema version",
        ),
        (
            b"\x03\x00" + bytes(16) + b"\x02",
            "a record framed by a schema registry: 03, then the id of a schema version",
        ),
        (b"\xc3\x0112345678\x02", "an Avro record behind the fingerprint of its schema"),
        ('{"name":"Zo\u00eb"}'.encode()[:12], "a message cut in the middle of a character"),
        (b"\x08\x96\x01\x12\x03abc", "a record of Protocol Buffers"),
        (b"\x18\x07*\x05\x08\x07\x12\x01\xff", "a record of Protocol Buffers"),
        (b"\x08\x96\x01\x12\x04abc", None),
        (b"\x0a\x03abc", None),
        (b"\x08\x96\x01\x10\x02", None),
        (b'\n\n{"id":1}', None),
        (b'{"id":1}', None),
        (b"\x00\x01\x02", None),
    ],
)
def test_bytes_are_guessed_by_what_they_begin_with(value, guess):
    told = guess_bytes(value)
    assert (told.says if told else None) == guess


@given(
    sample=st.sampled_from([file for _, file in SAMPLES[::40]]),
    at=st.integers(0, 400),
    cut=st.integers(0, 40),
    put=st.sampled_from([b"", b"NaN", b"\\ud800", b"\xff\xfe", b"\xc4\xe3", b"{", b'"', b",", b"\x00", b"[" * 200]),
)
def test_whatever_is_wrong_with_the_bytes_has_its_place(sample, at, cut, put):
    value = sample.read_bytes()
    broken = value[:at] + put + value[at + cut :]
    try:
        parse_message(broken)
    except Unreadable as error:
        told = error
    else:
        return
    fault = find_fault(broken, told)
    assert fault.position is not None or told.cause == "empty"
    assert len(fault.window.split()) <= 16
    assert fault.action


def test_a_value_over_the_limit_is_shown_by_its_size():
    short = ReadingOptions(max_bytes=4)
    told = explain_message(b'{"id":1}', CATALOGUE, short, validation=open_validation(CATALOGUE, "dts/canal@2", short))
    assert (told.fault.cause, told.fault.reason) == (Unreadable("too-long", "").cause, "more than 4 bytes")
