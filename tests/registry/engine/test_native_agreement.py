"""The native part and the Python part say and write the same, of whatever bytes, and no bytes can hurt the native one.

CDC_CONTRACTS_BYTES=all tries many times as many.
"""

from __future__ import annotations

import json
import os
import random
from base64 import b64encode
from dataclasses import replace
from datetime import timedelta, timezone
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest
import record_batches
from both_paths import VERSIONS, by_fast_path
from changed_bytes import changed_bytes
from hypothesis import given, settings
from hypothesis import strategies as st
from scanned_messages import column_of, digests_of, expected_digests, kind_of_number
from topics import CATALOGUE, WITH_TABLES, rendered, samples
from values_alone import read_alone
from written_reports import build_report

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.engine.columns.form_parts import validate_parts
from cdc_contracts.registry.core.engine.columns.value_columns import ColumnValues, ValueColumns
from cdc_contracts.registry.core.engine.fast_validator import FastValidator
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.engine.layouts.decoded_batches import lay_out
from cdc_contracts.registry.core.engine.layouts.layout_parts import FormUse
from cdc_contracts.registry.core.engine.layouts.parsed_columns import ParsedColumn
from cdc_contracts.registry.core.engine.native import native_library as loading
from cdc_contracts.registry.core.engine.native import scanning
from cdc_contracts.registry.core.engine.native.form_checks import check_values, write_values
from cdc_contracts.registry.core.engine.native.scanned_columns import (
    ABSENT,
    DECIMAL,
    ESCAPED,
    INTEGER,
    NULL,
    NUMBER,
    TEXT,
    ScannedColumn,
)
from cdc_contracts.registry.core.engine.native.scanned_values import ScannedPart
from cdc_contracts.registry.core.message.transport import open_transport
from cdc_contracts.registry.core.records.message_values import MessageValues
from cdc_contracts.registry.core.validate.validation_context import open_validation
from cdc_contracts.registry.core.values import (
    FORMS,
    RECORDS,
    Context,
    Number,
)
from cdc_contracts.registry.core.values.type_bounds import bound_of

LIBRARY = loading.native_library()
pytestmark = pytest.mark.skipif(LIBRARY is None, reason="no native part was compiled here, or it is switched off")

LONG = os.environ.get("CDC_CONTRACTS_BYTES") == "all"
MOST = 4_000 if LONG else 14
"""So many changed messages of each version."""
GOOD = 40 if LONG else 16
"""So many unchanged ones besides its samples."""
OPTIONS = ReadingOptions(tables=WITH_TABLES.tables, parameters={"timestamp_zone": "+08:00"}, table="shop.orders")
HOSTILE = (
    b"", b" ", b"{", b"}", b"{}", b"{ }", b"[]", b"null", b"\xef\xbb\xbf{}", b'{"', b'{"a', b'{"a"', b'{"a":', b'{"a":1',
    b'{"a":1,', b'{"a":1,}', b'{"a":"', b'{"a":"\\', b'{"a":"\\u', b'{"a":"\\ud83d\\', b'{"a":-', b'{"a":1.', b'{"a":1e',
    b'{"a":' + b"[" * 5_000, b'{"a":' + b'{"a":' * 5_000, b"{" * 300 + b"}" * 300, b"\x00" * 64, b"\xff" * 64,
)  # fmt: skip
PARTS = (
    b"\\", b'"', b"\\u00e9", b"\\ud83d\\ude00", b"\\ud83d", b"\\udc00", b"\\u12", b"\xc3\xa9", b"\xed\xa0\x80", b"\xf4\x90\x80\x80",
    b"\xe2\x82", b"\x00", b"\x1f", b"\x7f", b"-0", b"01", b"1e5", b"0.0", b"9" * 19, b"-" + b"9" * 18, b"null", b"true", b"[]",
    b"{}", b'[[1,{"a":null}],"x"]', b" ", b"\n\t", b",", b":", b"}", b"]", b'"x":1,', b'"":"",', b"[" * 70 + b"]" * 70,
)  # fmt: skip


def good_of(version) -> list[bytes]:
    own = [value for value in samples(version) if value]
    return own + rendered(version.reference, GOOD, seed=7, controls=5, reading_options=OPTIONS)


def opened(version, values: list[bytes]) -> list[bytes]:
    """Return values with their images opened, where these are texts: the scanner gets them so."""
    images = open_transport(version, OPTIONS).text_images
    return values if images is None else [images.open(value) for value in values]


def changed_of(version, total: int) -> list[bytes]:
    draw, good = random.Random(version.reference), good_of(version)
    return [changed_bytes(draw, draw.choice(good), draw.choice(good), PARTS) for _ in range(total)]


def kernel_of(declared: str, setting: str, monkeypatch) -> Kernel:
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", setting)
    return Kernel(open_validation(CATALOGUE, declared, OPTIONS))


@pytest.mark.one_in(6)
@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_both_say_and_write_the_same_of_good_changed_and_hostile_bytes(version, part, monkeypatch):
    good = part(good_of(version), 6)
    values: list[bytes | None] = [*good, *part(changed_of(version, MOST), 3), *part(HOSTILE, 14), None]
    random.Random(3).shuffle(values)
    records = record_batches.batch_of_values([*good, *values])
    ways = part(("decode", "audit"), 2)
    for declared in (version.subject, version.reference)[: 2 if LONG else 1]:
        found: dict[str, list[Any]] = {}
        for setting in ("eager", "off"):
            kernel = kernel_of(declared, setting, monkeypatch)
            found[setting] = []
            if "decode" in ways:
                decoded = list(kernel.decode(records))
                for name in ("changes", "control", "quarantine"):
                    found[setting].append([getattr(written, name).to_pylist() for written in decoded])
                found[setting].append(report_of(version, decoded[0].tally))
            if "audit" in ways:
                found[setting].append(report_of(version, kernel.audit(records)))
            if setting == "eager":
                assert kernel._validator._sorter._scanner._recent, "nothing was scanned"
        for one, other in zip(found["eager"], found["off"], strict=True):
            assert one == other


def report_of(version, tally):
    return build_report(
        tally, catalogue=CATALOGUE, contract=version.reference, source={"kind": "kafka"}, spans={}, fail_on="error"
    )


@pytest.mark.one_in(2)
@pytest.mark.parametrize("version", [one for one in VERSIONS if one.meaning.transport == "json"], ids=str)
def test_what_the_scanner_takes_the_parser_takes_with_the_same_values(version, part, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", "eager")
    validator = FastValidator(open_validation(CATALOGUE, version.subject, OPTIONS))
    good, changed = opened(version, good_of(version)), opened(version, changed_of(version, MOST))
    validator._sorter.sort(MessageValues(pa.array(good, pa.binary())))  # the shapes are learnt
    scanner, taken = validator._sorter._scanner, 0
    recent = list(scanner._recent)
    for value in [*part(good, 6), *part(changed, 3), *part(HOSTILE, 14)]:
        offsets = np.array([0, len(value)], np.int32)
        alone = pa.BinaryArray.from_buffers(pa.binary(), 1, [None, pa.py_buffer(offsets), pa.py_buffer(bytes(value))])
        scanner._recent[:] = recent
        found, rest = scanner.scan(MessageValues(alone), np.zeros(1, np.int64))
        assert len(found) + len(rest) == 1
        for batch in found:
            taken += 1
            expected = lay_out(batch.shape, batch.layout, [0], [batch.layout.decode(value)])
            assert {name: list(one) for name, one in batch.members.items()} == {
                name: list(one) for name, one in expected.members.items()
            }
            assert [list(one) for one in batch.states.values()] == [list(one) for one in expected.states.values()]
            for name, rows in expected.rows.items():
                mine = batch.rows[name]
                assert (mine.state.tolist(), mine.start.tolist(), mine.count.tolist(), mine.record_of_row.tolist()) == (
                    rows.state.tolist(), rows.start.tolist(), rows.count.tolist(), rows.record_of_row.tolist()
                )  # fmt: skip
                assert [list(ScannedColumn(one.source, one.cells, one.decoder)) for one in mine.columns] == [
                    as_sent(one) for one in rows.columns[: len(mine.columns)]
                ]
    assert taken


def test_more_rows_than_fit_into_memory_are_left_to_the_parser(monkeypatch):
    """Rows without a value take three bytes in a message, and as many cells as any other."""
    validator = FastValidator(open_validation(CATALOGUE, "oms-community/canal@2", OPTIONS))
    messages = good_of(CATALOGUE.version("oms-community/canal@2")) * 40
    by_fast_path(validator, messages)
    scanner, values, numbers = validator._sorter._scanner, pa.array(messages, pa.binary()), np.arange(len(messages))
    assert scanner.scan(MessageValues(values), numbers)[0] != []
    monkeypatch.setattr(scanning, "_MOST_CELLS", len(messages))
    found, left = scanner.scan(MessageValues(values), numbers)
    assert (found, left.tolist()) == ([], numbers.tolist())


def as_sent(values) -> list[object]:
    return [bytes(value) if type(value).__name__ == "Raw" else value for value in values]


# --- forms

TOKENS = st.from_regex(r"-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,12})?([eE][+-]?[0-9]{1,3})?", fullmatch=True)
DATES = st.dates().map(str) | st.sampled_from(("0000-00-00", "0000-01-01", "2020-02-30", "1900-02-29", "9999-12-31"))
CLOCKS = st.times().map(lambda time: time.strftime("%H:%M:%S")) | st.sampled_from(("24:00:00", "23:59:60", "99:00:00"))
FRACTIONS = st.from_regex(r"(\.[0-9]{0,10})?", fullmatch=True)
TIMES = st.builds("".join, st.tuples(DATES, st.sampled_from(" T"), CLOCKS, FRACTIONS, st.sampled_from(("", "", "Z"))))
BYTES = st.binary(max_size=12).map(lambda value: b64encode(value).decode())
MINUTES = TIMES.map(lambda text: text[:16])
SECONDS = st.builds("".join, st.tuples(st.integers(-5, 10**12).map(str), FRACTIONS))
ODD = tuple(" 0:-.TZeE=+/é\0")
TYPES = (
    "decimal(9,2)",
    "decimal(4,4)",
    "number(5,-2)",
    "int",
    "bigint unsigned",
    "bit(4)",
    "datetime(3)",
    "timestamp",
    None,
)


@st.composite
def near(draw, texts: st.SearchStrategy[str]) -> str:
    text = draw(texts)
    if draw(st.integers(0, 3)) == 0:
        place, cut = draw(st.integers(0, len(text))), draw(st.integers(0, 1))
        text = text[:place] + draw(st.sampled_from(("", *ODD))) + text[place + cut :]
    return text


def of_form(form) -> st.SearchStrategy[tuple[int, str]]:
    """Give values as a kind and a text or token."""
    kinds = []
    if "text" in form.wire:
        pattern = None if form.records else form.schema.get("pattern")
        shaped = st.from_regex(pattern, fullmatch=True) if pattern else st.text(max_size=12)
        plain = st.one_of(
            shaped, TIMES, MINUTES, SECONDS, DATES, TOKENS, st.builds("".join, st.tuples(CLOCKS, FRACTIONS))
        )
        if form.records:
            names = st.sampled_from((*form.records * 4, *RECORDS, form.records[0] + "!", "", form.records[0].lower()))
            plain = st.builds(" ".join, st.tuples(names, plain | BYTES | st.integers(-9, 2200).map(str)))
        kinds.append(plain.map(lambda text: (ESCAPED, json.dumps(text + '"\n')[1:-1])))
        texts = near(plain).filter(lambda text: all(letter >= " " and letter not in '"\\' for letter in text))
        kinds.append(texts.map(lambda text: (TEXT, text)))
    if "number" in form.wire:
        numbers = TOKENS | st.integers(-(10**14), 10**14).map(str) | st.integers(-3, 3_000_000).map(str)
        kinds.append(numbers.map(lambda token: (kind_of_number(token), token)))
    return st.one_of(*kinds, st.just((NULL, "null")))


CHECKED = [form for form in FORMS.values() if form.name != "bool-json"]
CONTEXTS = st.builds(
    Context,
    zone=st.sampled_from((None, timezone(timedelta(hours=8)), ZoneInfo("America/New_York"))),
    keep_invalid=st.booleans(),
    invalid_literals=st.sampled_from(((), ("0000-00-00 00:00:00",), ("1970-01-01 00:00:00", "1", "-719529"))),
    zeros_left_out=st.booleans(),
)

TYPED = {
    "scale": st.sampled_from((None, 0, 2, 30, 31, -2)),
    "length": st.sampled_from((None, 1, 4, 10, 63, 64, 70)),
    "members": st.sampled_from(((), ("a", "b", "c,d"), ("", "b"), tuple(f"m{n}" for n in range(1, 65)), ("é" * 20,))),
}


@pytest.mark.one_in(6)
@pytest.mark.parametrize("form", CHECKED, ids=lambda form: form.name)
@settings(max_examples=2_000 if LONG else 30, deadline=None)
@given(data=st.data())
def test_flags_and_texts_of_scanned_values_are_those_of_the_form(form, data):
    values = data.draw(st.lists(of_form(form), min_size=1, max_size=12))
    use = data.draw(use_of(form))
    column = widened(form, values, column_of(values))
    part = ScannedPart([column], kinds_of(values))
    texts, flags = zip(*(read_alone(use, sent_value(value)) for value in values), strict=True)
    for wanted in (True, False):
        mine, written = validate_parts([(part, use)], texts=wanted)[0]
        assert list(zip(values, flags_of(mine, values), strict=True)) == list(zip(values, flags, strict=True))
        assert written is None or list(zip(values, written.to_pylist(), strict=True)) == list(
            zip(values, texts, strict=True)
        )


@pytest.mark.one_in(6)
@pytest.mark.parametrize("form", CHECKED, ids=lambda form: form.name)
@settings(max_examples=500 if LONG else 10, deadline=None)
@given(data=st.data())
def test_values_are_read_in_the_same_way_however_many_columns_of_however_many_rows_they_are_in(form, data):
    values = data.draw(st.lists(of_form(form), min_size=1, max_size=12))
    use = data.draw(use_of(form))
    ends = [0, *sorted(data.draw(st.lists(st.integers(0, len(values)), max_size=4))), len(values)]
    every, together = column_of(values), ValueColumns()
    cuts = [(begin, end) for begin, end in pairwise(ends)]
    columns = [
        ColumnValues(widened(form, values[begin:end], every.select(np.arange(begin, end))), end - begin)
        for begin, end in cuts
    ]
    for column in columns:
        together.add(column, [use])
    together.validate(texts=True)
    for (begin, end), column in zip(cuts, columns, strict=True):
        chunk, mine = column.chunk_of(use), values[begin:end]
        read = [read_alone(use, sent_value(value)) for value in mine]
        assert [*zip(mine, flags_of(chunk.read_flags, mine), strict=True)] == [
            *zip(mine, [flag for _, flag in read], strict=True)
        ]
        assert together.texts.take(pa.array(chunk.places)).to_pylist() == [text for text, _ in read]


@st.composite
def use_of(draw, form) -> FormUse:
    declared = draw(st.sampled_from(TYPES))
    bound = bound_of(declared, form.kind) if declared else None
    typed = {name: draw(TYPED[name]) for name in sorted(form.type_parameters)}
    context = replace(draw(CONTEXTS), **typed)
    if form.wire != {"text"}:  # of times as text alone a mapping says so
        context = replace(context, zeros_left_out=False)
    return FormUse(form, context, draw(st.booleans()), bound)


def kinds_of(values) -> int:
    return sum(1 << kind for kind in {kind for kind, _ in values} - {NULL})


def widened(form, values, column):
    """Return a column as a parser has it, which widens what another kind is in."""
    held = {kind for kind, _ in values}
    fits = (form.decoder == "raw" and not held & {TEXT, ESCAPED}) or not held & {DECIMAL, NUMBER}
    return type(column)(column.source, column.cells, form.decoder if fits else "wide").widened()


@pytest.mark.parametrize(
    ("form", "sent", "canonical"),
    [
        ("avro-integer", "Integer -42", "-42"),
        ("avro-decimal", "Decimal 12.10", "12.10"),
        ("avro-float64", "Float 33589.625", "33589.625"),
        ("avro-character", "Character red apple", "red apple"),
        ("avro-bytes", "BinaryObject amc=", "amc="),
        ("avro-text-object", "TextObject {}", "{}"),
        ("avro-text-or-bytes", "Character Character x", "Character x"),
        ("avro-text-or-bytes", "BinaryObject amc=", "amc="),
        ("avro-geometry", "TextGeometry POINT(1 2)", "POINT(1 2)"),
        ("avro-timestamp", "Timestamp 1718000000.5", "2024-06-10T06:13:20.5Z"),
        ("avro-date", "DateTime 2024-02-29", "2024-02-29"),
        ("avro-time", "DateTime 12:30:00.5", "12:30:00.5"),
        ("avro-datetime", "DateTime 2024-06-10 14:13:20", "2024-06-10T14:13:20"),
        ("avro-year", "DateTime 2024", "2024"),
    ],
)
def test_usual_values_of_named_records_are_decided_and_written_without_the_form(form, sent, canonical):
    use, column = FormUse(FORMS[form], Context(), lenient=False), column_of([(TEXT, sent), (NULL, "null")], "text")
    flags, undecided = check_values([(column, use)])[0]
    written, unwritten = write_values(column, use, flags)
    assert (flags, undecided.tolist(), unwritten.tolist()) == (None, [], [])
    assert written.to_pylist() == [canonical, None]


@given(
    st.lists(
        st.sampled_from([(TEXT, ""), (TEXT, "a"), (ESCAPED, "\\n"), (NULL, "null"), (ABSENT, ""), (INTEGER, "1")]),
        min_size=1,
    )
)
def test_texts_are_numbered_by_whether_they_are_filled_and_counted_by_kind(values):
    column = column_of(values, "text")
    codes, found = column.by_filling
    objects = column_of(values, "text").objects
    assert [found[code] for code in codes] == [bool(one) if type(one) is str else type(one) for one in objects]
    assert sorted(set(codes.tolist())) == list(range(len(found)))
    assert column.held == sum(1 << kind for kind in {kind for kind, _ in values})
    assert column.absent == [kind for kind, _ in values].count(ABSENT)


@given(
    st.one_of([
        st.lists(st.sampled_from(kinds), min_size=1)
        for kinds in (
            [(INTEGER, "0"), (INTEGER, "-7"), (INTEGER, "999999999999999999")],
            [(TEXT, "0"), (TEXT, "007"), (TEXT, "999999999999999999")],
            [(TEXT, "12"), (TEXT, "1" * 19), (TEXT, ""), (ESCAPED, "\\n"), (NULL, "null"), (ABSENT, ""), (INTEGER, "12")],
        )
    ])
)  # fmt: skip
def test_scanned_columns_answer_as_parsed_ones_do(values):
    scanned, objects = column_of(values, "text-or-int"), column_of(values, "text-or-int").objects
    parsed = ParsedColumn(objects, "text-or-int")
    for question in ("distinct", "few_distinct", "by_kind", "by_filling"):
        (codes, found), (own_codes, own_found) = getattr(scanned, question), getattr(parsed, question)
        answer, own = [found[code] for code in codes], [own_found[code] for code in own_codes]
        assert list(map(type, answer)) == list(map(type, own)), question
        assert question == "by_kind" or answer == own, question
    for question in ("all_integers", "all_digits", "all_last_counts"):
        answer, own = getattr(scanned, question), getattr(parsed, question)
        assert (answer is None) == (own is None), question
        assert answer is None or answer.tolist() == own.tolist(), question
    assert scanned.as_texts.to_pylist() == parsed.as_texts.to_pylist()


def sent_value(value: tuple[int, str]) -> Any:
    """Return a value by its kind and token as a form reads it."""
    kind, token = value
    if kind == NULL:
        return None
    return json.loads(f'"{token}"') if kind in (TEXT, ESCAPED) else Number(token)


def flags_of(flags, values) -> list[int]:
    return [0] * len(values) if flags is None else flags.tolist()


@settings(max_examples=100, deadline=None)
@given(st.lists(st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=90), min_size=1, max_size=20))
def test_digests_are_the_same(texts):
    tokens = [(NULL, "null") if text is None else written(text) for text in texts]
    assert digests_of(column_of(tokens, "text")) == expected_digests(texts)


def test_the_digest_of_a_long_text_is_the_same():
    texts = ["z" * 200_000, "\u20ac\n" * 70_000]
    column = column_of([written(text) for text in texts], "text")
    assert digests_of(column) == expected_digests(texts)


def written(text: str) -> tuple[int, str]:
    """Return the kind of a text and how JSON writes it, without quotes."""
    token = json.dumps(text)[1:-1]
    return (ESCAPED if "\\" in token else TEXT), token
