"""What the native part reads into typed columns is what Arrow reads, and what it leaves alone is read as before."""

import base64
import random
from datetime import UTC, date, datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from cdc_contracts.registry.core.engine.native import typed_columns
from cdc_contracts.registry.core.engine.native.native_library import native_library
from cdc_contracts.registry.core.engine.native.typed_columns import place_keys, read_texts
from cdc_contracts.registry.core.records.output_schemas import CHANGES_SCHEMA
from cdc_contracts.registry.core.tables.canonical import typed_rows
from cdc_contracts.registry.core.tables.canonical.table_layouts import ColumnLayout, TableLayout, TableName
from cdc_contracts.registry.core.tables.canonical.typed_rows import type_rows
from cdc_contracts.registry.core.tables.canonical.typed_values import read_column

pytestmark = pytest.mark.skipif(native_library() is None, reason="no native part was compiled")

INSTANT, CLOCK = pa.timestamp("us", tz="UTC"), pa.timestamp("us")
TYPES = [pa.int64(), pa.decimal128(12, 2), pa.decimal128(38, 4), pa.decimal128(20, 0), pa.decimal128(4, 4),
         pa.date32(), CLOCK, INSTANT, pa.float64(), pa.binary()]  # fmt: skip
PLAIN = {
    pa.int64(): ["0", "7", "-12", "999999999999999999"],
    pa.decimal128(12, 2): ["0", "-0", "-0.5", "1234567890.12", "7", "-3.1"],
    pa.decimal128(38, 4): ["9" * 34 + ".9999", "-" + "9" * 34],
    pa.decimal128(20, 0): ["18446744073709551615", "0"],
    pa.decimal128(4, 4): ["0.1234", "-0.5", "0"],
    pa.date32(): ["0001-01-01", "2000-02-29", "1969-12-31", "9999-12-31"],
    CLOCK: ["0001-01-01T00:00:00", "2024-02-29T23:59:59.999999", "1969-12-31T23:59:59.5"],
    INSTANT: ["2024-05-01T10:00:00Z", "1900-03-01T00:00:00.000001Z", "9999-12-31T23:59:59.123456Z"],
    pa.float64(): ["0", "7", "-12.5", "0.1", "123456.789", "9007199254740992", "-0.000000000000001"],
    pa.binary(): ["", "AA==", "AAA=", "AAAA", base64.b64encode(bytes(range(256))).decode()],
}
ODD = {
    pa.int64(): ["-0", "01", "+1", " 1", "1 ", "1.0", "1e3", "", "-", "9223372036854775808", "٣"],
    pa.decimal128(12, 2): ["1.", ".5", "1.234", "01", "12345678901", "1e2", "NaN", "-", "", "1.2.3", "--1"],
    pa.decimal128(38, 4): ["1" * 35, "0.00001", "9" * 60],
    pa.decimal128(20, 0): ["1" * 21, "1.0", "-"],
    pa.decimal128(4, 4): ["1", "0.12345", "1.5"],
    pa.date32(): ["0000-00-00", "0000-01-01", "1900-02-29", "2024-13-01", "2024-1-1", "2024-01-01 ", "24-01-01", "20240101"],
    CLOCK: ["2024-05-01T24:00:00", "2024-05-01T10:00:60", "2024-05-01 10:00:00", "2024-05-01T10:00:00Z",
            "2024-05-01T10:00:00.", "2024-05-01T10:00:00.1234567", "2024-05-01T10:00", "2024-02-30T10:00:00"],
    INSTANT: ["2024-05-01T10:00:00", "2024-05-01T10:00:00+00:00", "2024-05-01T10:00:00.Z", "0000-05-01T10:00:00Z"],
    pa.float64(): ["-0", "0.0", "1.", ".5", "01", "1e5", "Infinity", "-", "", "9007199254740993", "1.2.3", "+1",
                   "123456789012345678", "0.30000000000000004"],
    pa.binary(): ["A", "A=", "A===", "AB==", "AAB=", "AA=A", "====", "AAA\n", "Ä==="],
}  # fmt: skip


def places_of(texts):
    return np.array([place if text is not None else -1 for place, text in enumerate(texts)], np.int64)


def read(texts, type_):
    array = pa.array(texts, pa.string())
    half = len(texts) // 2
    places = places_of(texts)
    return read_texts([(array, places[:half]), (array, places[half:])], type_)


@pytest.mark.parametrize("type_", TYPES, ids=str)
def test_plain_texts_become_what_arrow_makes_of_them(type_):
    texts = [None, *PLAIN[type_], None]
    values, unread = read_column(pa.array(texts, pa.string()), type_)
    assert unread is None
    assert read(texts, type_).equals(values)


def test_values_are_those_that_a_person_reads():
    assert read(["-12", None, "0"], pa.int64()).to_pylist() == [-12, None, 0]
    assert read(["-3.1"], pa.decimal128(12, 2)).to_pylist() == [Decimal("-3.10")]
    assert read(["2000-02-29"], pa.date32()).to_pylist() == [date(2000, 2, 29)]
    assert read(["1969-12-31T23:59:59.5Z"], INSTANT).to_pylist() == [datetime(1969, 12, 31, 23, 59, 59, 500_000, UTC)]
    assert read(["AAE=", None, ""], pa.binary()).to_pylist() == [b"\0\1", None, b""]


@pytest.mark.parametrize("type_", TYPES, ids=str)
def test_what_is_not_plainly_a_value_is_left_to_arrow(type_):
    for odd in ODD[type_]:
        assert read([*PLAIN[type_], odd], type_) is None, odd


@pytest.mark.parametrize("type_", TYPES, ids=str)
def test_whatever_a_text_is_made_of_it_is_never_read_otherwise(type_, part):
    taken = 0
    letters = "AAZz09+/=" if type_ == pa.binary() else "0123456789999.-TZ:e "
    for number in part(range(4_000), 4):
        draw = random.Random(f"{type_} {number}")
        text = list(draw.choice(PLAIN[type_] + ODD[type_]))
        for _ in range(draw.randint(0, 2)):
            place = draw.randint(0, len(text))
            text[place : place + draw.randint(0, 2)] = [draw.choice(letters)] * draw.randint(0, 2)
        found = read(["".join(text)], type_)
        if found is not None:
            taken += 1
            values, unread = read_column(pa.array(["".join(text)], pa.string()), type_)
            assert unread is None, text
            assert found.equals(values), text
    assert taken > 25


def test_texts_that_begin_within_a_longer_array():
    texts = pa.array(["x", None, "1", "2", None, "3"], pa.string()).slice(2)
    assert read_texts([(texts, np.array([3, -1, 2, 0], np.int64))], pa.int64()).to_pylist() == [3, None, None, 1]


def test_text_and_short_floats_are_not_read_here():
    assert read(["1"], pa.string()) is None
    assert read(["1"], pa.float32()) is None
    assert read(["NaN"], pa.float64()) is None


def test_a_float_is_the_nearest_one_to_its_digits():
    draw = random.Random(3)
    texts = [f"{draw.choice('-')}{draw.randrange(1, 10**9)}.{draw.randrange(10**7):07}" for _ in range(4_000)]
    texts = [text[draw.randrange(2) :] for text in texts]
    kept = [text for text in texts if int(text.replace(".", "").lstrip("-")) <= 2**53]
    assert len(kept) > 3_000
    assert read(kept, pa.float64()).to_pylist() == [float(text) for text in kept]


IMAGE = pa.map_(pa.string(), pa.string())


def test_entries_are_found_by_their_keys_in_whatever_order():
    images = pa.array([[("a", "1"), ("b", "2")], None, [("b", "3"), ("x", "4"), ("a", "5")], [], [("ab", "6")]], IMAGE)
    placed = place_keys(images, ["a", "b"])
    assert placed.places.tolist() == [[0, -1, 4, -1, -1], [1, -1, 2, -1, -1]]
    assert placed.others.tolist() == [3, 5]
    part = place_keys(images.slice(2), ["a", "b"])
    assert part.places.tolist() == [[2, -1, -1], [0, -1, -1]]
    assert part.others.tolist() == [1, 3]
    assert place_keys(images, []).others.tolist() == list(range(6))
    assert place_keys(images, [str(number) for number in range(typed_columns.MOST_COLUMNS + 1)]) is None


@pytest.mark.parametrize("seed", range(5))
def test_rows_are_typed_as_without_the_native_part(monkeypatch, seed):
    draw = random.Random(seed)
    layout = TableLayout(
        TableName("d", None, "t"),
        tuple(ColumnLayout(str(type_), type_, None, None) for type_ in (*TYPES, pa.string())), (), "x",
    )  # fmt: skip
    names = [column.name for column in layout.columns]

    def image():
        if draw.random() < 0.2:
            return None
        held = draw.sample([*names, "other", "Other"], draw.randint(0, len(names)))
        odd = 0.02 if seed % 2 else 0
        return [(name, draw.choice([None, value(name, odd=draw.random() < odd)])) for name in held]

    def value(name, *, odd):
        type_ = next((column.type for column in layout.columns if column.name == name), None)
        return draw.choice((ODD if odd else PLAIN).get(type_, ["1.5", "2"]))

    rows = [
        {"contract": "x@1", "undecided": False, "op": "update", "types_from": "message", "invalid": [], "topic": "t",
         "partition": 0, "offset": number, "row_index": 0, "before": image(), "after": image(),
         "column_types": [(name, "blob") for name in names] if draw.random() < 0.9 else None}
        for number in range(60)
    ]  # fmt: skip
    changes = pa.RecordBatch.from_pylist(rows, schema=CHANGES_SCHEMA)
    mine = type_rows(changes.slice(3), layout)
    monkeypatch.setattr(typed_rows, "place_keys", lambda *_: None)
    monkeypatch.setattr(typed_rows, "read_texts", lambda *_: None)
    theirs = type_rows(changes.slice(3), layout)
    assert mine[0].equals(theirs[0])
    assert mine[1] == theirs[1]
