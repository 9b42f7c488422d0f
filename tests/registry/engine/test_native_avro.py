"""The native reader writes of an Avro record what the transport writes of it, byte for byte, or leaves it.

CDC_CONTRACTS_BYTES=all tries many times as many records.
"""

from __future__ import annotations

import math
import os
import random
import struct

import pyarrow as pa
import pytest
from avro_records import FRAME, NAMESPACE, PARTS, VERSION, WRITTEN, changed_record, good_records
from hypothesis import example, given, settings
from hypothesis import strategies as st
from topics import rendered, samples

from cdc_contracts.registry.core.common.json_messages import Unreadable
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.engine.native import native_library as loading
from cdc_contracts.registry.core.engine.native.avro_reading import AvroReader
from cdc_contracts.registry.core.message.transport import AvroTransport, open_transport

pytestmark = pytest.mark.skipif(
    loading.native_library() is None, reason="no native part was compiled here, or it is switched off"
)

LONG = os.environ.get("CDC_CONTRACTS_BYTES") == "all"


def transport() -> AvroTransport:
    return open_transport(VERSION, ReadingOptions())


def texts_of(wire, values):
    """Return what the transport writes, value by value."""
    found = []
    for value in values:
        try:
            found.append(None if value is None else wire.text_of(value))
        except Unreadable:
            found.append(b"")
    return found


def compare(values, *, left=None, make=transport):
    """Hold both against each other; `left` is how many records the native reader may leave."""
    mine, other, passed_on = make(), make(), []
    reader = AvroReader(mine)
    assert reader._program is not None
    text_of = mine.text_of
    mine.text_of = lambda value: passed_on.append(value) or text_of(value)
    found = reader.read(pa.array(values, pa.binary())).array.to_pylist()
    assert found == texts_of(other, values)
    assert mine.order == other.order
    if left is not None:
        assert len(passed_on) == left
    return found


def test_samples_and_rendered_records_are_read_the_same_and_few_are_left():
    values = good_records()
    found = compare([*values, None, b"", *(FRAME + value for value in values)])
    assert found[len(values)] is None
    rows = rendered(VERSION.reference, 200, seed=3)
    compare(rows, left=0)
    compare([FRAME + value for value in rows], left=0)


@pytest.mark.parametrize("seed", range(40 if LONG else 4))
def test_changed_records_are_read_the_same(seed):
    draw, values = random.Random(seed), good_records()
    compare([changed_record(draw, draw.choice(values), draw.choice(values)) for _ in range(2_000)])


@pytest.mark.parametrize("seed", range(10 if LONG else 1))
def test_each_record_alone_in_memory_of_its_own_is_read_the_same(seed):
    """A read behind its end would be one behind the end of what is allocated."""
    draw, values = random.Random(100 + seed), good_records()
    for value in [
        *values,
        *PARTS,
        *(changed_record(draw, draw.choice(values), draw.choice(values)) for _ in range(300 if LONG else 100)),
    ]:
        compare([value])


def test_every_cut_of_a_record_is_read_the_same():
    value = max(samples(VERSION), key=len)
    compare([value[:end] for end in range(len(value) + 1)])


@settings(max_examples=5_000 if LONG else 100, deadline=None)
@given(
    st.lists(st.floats(width=64) | st.floats(width=32) | st.decimals(-(10**9), 10**9, places=3).map(float), min_size=1)
)
@example([0.0, -0.0, math.inf, -math.inf, math.nan, 1e15, 1e16, 9999999999999998.0, 123456789012345680.0, 1e22, 1e23])
@example([0.1, 1e-4, 1e-5, 0.00012345678901234567, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 2.0**60])
@example([0.10000000149011612, 16777216.0, 3.4028234663852886e38, 9007199254740993.0, 0.3, 2.5, 100.0, 1e-22, 3e-23])
def test_doubles_are_written_as_python_writes_them(numbers):
    compare([WRITTEN.record([("Float", {"value": one, "precision": 64, "scale": 64}) for one in numbers])])


def test_short_and_single_precision_doubles_are_not_left():
    draw = random.Random(5)
    short = [round(draw.uniform(-1e6, 1e6), draw.randrange(7)) for _ in range(500)]
    single = [struct.unpack("<f", struct.pack("<f", one))[0] for one in short]
    long = [draw.uniform(-1e6, 1e6) for _ in range(500)]
    compare(
        [WRITTEN.record([("Float", {"value": one, "precision": 64, "scale": 64})]) for one in short + single + long],
        left=0,
    )


def test_whole_numbers_of_every_length_are_written_as_python_writes_them():
    edges = [
        0,
        2**63 - 1,
        -(2**63),
        *(sign * (10**power + more) for power in range(19) for sign in (1, -1) for more in (-1, 0)),
    ]
    found = compare([WRITTEN.record(["NULL"], id=number) for number in edges], left=0)
    assert [text[text.index(b'"id":') + 5 : text.index(b',"sourceTimestamp"')] for text in found] == [
        b"%d" % number for number in edges
    ]


@pytest.mark.parametrize("length", range(1, 20))
def test_a_text_is_written_whole_wherever_it_has_an_escape(length):
    texts = ["a" * length, *("a" * at + odd + "a" * (length - at - 1) for at in range(length) for odd in '"\\\n\x7fé')]
    compare([WRITTEN.record(["NULL"], sourceTxid=text) for text in texts], left=0)


def test_columns_that_are_a_text_are_no_columns_of_the_record_before():
    image = [("Integer", {"precision": 4, "value": "1"})]
    text, listed = WRITTEN.record(image, "c0"), WRITTEN.record(image)
    found = compare([text, listed, text, text, listed], left=0)
    assert [b'"afterImages":{"c0":"Integer 1"}' in one for one in found] == [False, True, False, False, True]


PARTS_OF_TIME = ("year", "month", "day", "hour", "minute", "second", "millis")
PART = st.none() | st.integers(-3, 60) | st.sampled_from((-838, 838, 2024, 999_999, 1_000_000, -1, 123_000, 2**31 - 1))
MOMENTS = st.fixed_dictionaries(dict.fromkeys(PARTS_OF_TIME, PART))


@settings(max_examples=3_000 if LONG else 100, deadline=None)
@given(st.lists(MOMENTS, min_size=1, max_size=9), st.text(max_size=5))
def test_times_are_written_the_same(moments, zone):
    values = [("DateTime", moment) for moment in moments]
    values += [("TimestampWithTimeZone", {"value": moment, "timezone": zone}) for moment in moments]
    compare([WRITTEN.record(values)])


@pytest.mark.parametrize(("fraction", "second"), [("micros", 10**6), ("nanos", 10**9)])
def test_parts_at_their_edges_are_written_the_same_in_every_unit(fraction, second):
    options = ReadingOptions(parameters={"avro_timestamp_fraction": fraction})
    parts = [sign * one for one in (0, 1, 59, second - 1, second, second + 1, 2**31 - 2) for sign in (1, -1)]
    whole = dict.fromkeys(PARTS_OF_TIME, 1)
    moments = [whole | {name: part} for name in PARTS_OF_TIME for part in parts]
    moments += [dict.fromkeys(PARTS_OF_TIME, 0) | {name: part} for name in PARTS_OF_TIME for part in parts]
    moments += [moment | {name: None} for moment in moments for name in PARTS_OF_TIME]
    values = [WRITTEN.record([("DateTime", moment)]) for moment in moments]
    values += [WRITTEN.record([("Timestamp", {"timestamp": 5, "millis": part})]) for part in parts]
    compare(values, make=lambda: open_transport(VERSION, options))


@settings(max_examples=1_000 if LONG else 70, deadline=None)
@given(st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), PART.filter(lambda part: part is not None)), min_size=1))
def test_instants_are_written_the_same(instants):
    compare([WRITTEN.record([("Timestamp", {"timestamp": one, "millis": part}) for one, part in instants])])


CHARSETS = ("utf8mb4", "UTF8MB4", "utf8", "latin1", "gbk", "GBK", "big5", "sjis", "ascii", "binary", "utf16", "koi8r",
            "no such charset", "", "ütf8", "utf8mb4 ", "x" * 70)  # fmt: skip


@settings(max_examples=3_000 if LONG else 100, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(CHARSETS), st.binary(max_size=20) | st.text(max_size=20).map(str.encode))))
def test_texts_of_every_charset_are_written_the_same(texts):
    compare([WRITTEN.record([("Character", {"charset": name, "value": value}) for name, value in texts])])


@pytest.mark.parametrize(
    ("charset", "value", "text"),
    [
        ("utf8mb4", '蛋糕 😀 "\\\n\x01\x7f'.encode(), '"Character 蛋糕 😀 \\"\\\\\\n\\u0001\x7f"'),
        ("latin1", b"caf\xe9 \x80", '"Character café €"'),
        ("koi8-r", "привет".encode("koi8-r"), '"Character привет"'),
        ("gbk", b"plain", '"Character plain"'),
    ],
)
def test_texts_are_what_their_charset_says(charset, value, text):
    found = compare([WRITTEN.record([("Character", {"charset": charset, "value": value})])], left=0)
    assert f'"c0":{text}'.encode() in found[0]


def test_images_follow_the_columns_and_stay_lists_where_they_do_not_fit():
    number = (NAMESPACE + "Integer", {"precision": 1, "value": "1"})
    named = (
        [], [("a", 3)], [("a", 3), ("b", 3)], [("a", 3), ("a", 3)], [('q"\n', 3), ("é", 3)],
    )  # fmt: skip
    columns = [None, "text", *([{"name": name, "dataTypeNumber": code} for name, code in one] for one in named)]
    images = [None, "CREATE TABLE x", [], ["NULL"], ["NONE"], [None], ["NULL", "NONE"], ["NONE", number], [number] * 3]
    values = [
        WRITTEN.record([], one, fields=one, beforeImages=before, afterImages=after)
        for one in columns
        for before in images
        for after in images
    ]
    random.Random(1).shuffle(values)
    compare(values, left=0)


def test_many_columns_with_and_without_a_name_twice():
    def of(total, *more):
        names = [f"column {place}" for place in range(total)] + list(more)
        return WRITTEN.record(["NULL"] * len(names), [{"name": name, "dataTypeNumber": 3} for name in names])

    compare([of(1_000), of(4_000), of(4_000), of(1_000, "column 0"), of(2), of(4_000, "column 3999")], left=0)
    compare([of(4_200), of(3)], left=1)


def test_blocks_of_arrays_and_their_sizes_are_read_the_same():
    """An array may come in several blocks, each with its size or without."""
    value = WRITTEN.record([], processTimestamps=[5, 6])
    at = value.index(b"\x02\x04\x0a\x0c\x00")
    blocks = (
        b"\x02\x02\x0a\x02\x0c\x00",
        b"\x02\x03\x04\x0a\x0c\x00",
        b"\x02\x01\x02\x0a\x02\x0c\x00",
        b"\x02\x04\x0a\x0c",
    )
    compare([value[:at] + block + value[at + 5 :] for block in blocks])


def test_a_boolean_is_one_of_two_bytes():
    """No schema of the catalogue has one."""

    def with_a_boolean():
        wire = transport()
        schema = WRITTEN.schema | {"fields": [*WRITTEN.schema["fields"], {"name": "sure", "type": "boolean"}]}
        wire.schemas = {"own": schema}
        return wire

    value = WRITTEN.record(["NULL"])
    compare([value + bytes([byte]) for byte in range(256)] + [value, value + b"\x00\x00"], make=with_a_boolean)


def test_the_schema_that_fitted_last_is_tried_first():
    newest = [WRITTEN.record(["NULL"]) for _ in range(3)]
    oldest = [value[: -len(b"\x00")] for value in newest]
    compare([*newest, *oldest, newest[0], oldest[0], FRAME + newest[0], FRAME + oldest[0]], left=0)


def test_buffers_grow_with_what_is_written():
    values = [
        WRITTEN.record([("TextObject", {"type": "TEXT", "value": "\x01" * size})]) for size in (10, 5_000, 300_000)
    ]
    compare(values, left=0)
    compare([b"no record", *values, b"\x00", *values])


def test_slices_and_nulls_are_read_the_same():
    values = pa.array([None, *good_records()[:20], None, b"x"], pa.binary())
    reader = AvroReader(transport())
    for start, length in ((0, 23), (1, 5), (3, 0), (20, 3)):
        part = values.slice(start, length)
        assert reader.read(part).array.to_pylist() == texts_of(transport(), part.to_pylist())
    assert reader.read(pa.array([], pa.binary())).array.to_pylist() == []
    assert reader.read(pa.array([None, None], pa.binary())).array.to_pylist() == [None, None]


def test_more_json_than_an_array_holds_is_refused():
    """The kernel then validates the two halves of the batch."""
    with pytest.raises(OverflowError):
        AvroReader(transport(), most_text=10_000).read(pa.array(rendered(VERSION.reference, 40), pa.binary()))
    long = WRITTEN.record(["NULL"], sourceTxid="a" * 20_000)
    with pytest.raises(OverflowError):
        AvroReader(transport(), most_text=10_000).read(pa.array([long], pa.binary()))


def test_a_schema_that_the_reader_does_not_know_is_left_to_the_transport(monkeypatch):
    wire = transport()
    monkeypatch.setattr(wire, "fields", "no such member")
    reader = AvroReader(wire)
    assert reader._program is None
    values = good_records()[:5]
    assert reader.read(pa.array(values, pa.binary())).array.to_pylist() == texts_of(wire, values)
