"""Columns as they come: long, sliced, mixed, full of nulls, and with bytes left over in null rows."""

from __future__ import annotations

import base64
import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stopwatch import measure

from cdc_contracts.registry.values import FORMS, Context, Flag, Number
from cdc_contracts.registry.values.floats import shortest

DICE = random.Random(20260301)


@pytest.mark.parametrize("name", FORMS)
def test_an_empty_column_and_one_of_nulls_are_all_ok(name: str) -> None:
    form = FORMS[name]
    type_ = {"int": pa.int64(), "bool": pa.bool_()}.get(form.decoder, pa.string())
    for size in (0, 1, 100):
        column = form.column(pa.nulls(size, type_), Context())
        assert column.text.to_pylist() == [None] * size
        assert column.text.type == pa.string()
        assert column.flags is None
        assert form.check(pa.nulls(size, type_), Context()) is None


@pytest.mark.parametrize("name", [name for name, form in FORMS.items() if "text" in form.wire])
def test_bytes_left_over_in_a_null_row_mean_nothing(name: str) -> None:
    form = FORMS[name]
    texts = ["2020-01-01", "rubbish \0", "1", "", "[1]"]
    full = pa.array(texts, pa.string())
    validity = pa.py_buffer(np.packbits([0, 0, 1, 0, 0], bitorder="little"))
    holed = pa.StringArray.from_buffers(5, full.buffers()[1], full.buffers()[2], validity)
    clean = pa.array([None, None, "1", None, None], pa.string())
    for keep in (True, False):
        left, right = (form.column(array, Context(keep_invalid=keep)) for array in (holed, clean))
        assert left.text.to_pylist() == right.text.to_pylist()
        assert (left.flags is None) == (right.flags is None)
        assert left.flags is None or left.flags.tolist() == right.flags.tolist()


@pytest.mark.parametrize("name", ["byte-list", "hex-upper", "base64"])
def test_long_and_many_bytes_read_as_they_were(name: str) -> None:
    form = FORMS[name]
    sizes = [0, 1, 2, 3, 100_000, 5] + [DICE.randrange(40) for _ in range(5000)]
    data = [DICE.randbytes(size) for size in sizes]
    expected = [base64.b64encode(each).decode() for each in data]
    wire = [form.write(text, Context()) for text in expected]
    column = form.column(pa.array(wire, pa.string()), Context())
    assert column.flags is None
    assert column.text.to_pylist() == expected
    wire[2500] = "[1, 2, 256]"
    column = form.column(pa.array(wire, pa.string()), Context())
    assert column.flags is not None
    assert np.flatnonzero(column.flags).tolist() == [2500]
    assert column.text.to_pylist() == [*expected[:2500], None, *expected[2501:]]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_the_text_of_a_float_reads_back_to_it(numbers: list[float]) -> None:
    texts = FORMS["float64-number"].column(pa.array(numbers, pa.float64()), Context()).text.to_pylist()
    assert [float(text) for text in texts] == numbers
    assert texts == [shortest(number) for number in numbers]


def test_floats_of_every_size_are_laid_out_as_ecmascript_does() -> None:
    numbers = [DICE.choice((1, -1)) * DICE.random() * 10.0 ** DICE.randrange(-300, 300) for _ in range(5000)]
    numbers += [
        DICE.choice((1, -1)) * round(DICE.random() * 10.0**size, DICE.randrange(4))
        for size in range(24)
        for _ in range(200)
    ]
    numbers += [float(10**size + step) for size in range(24) for step in (-1, 0, 1)]
    column = FORMS["float64-number"].column(pa.array(numbers), Context())
    assert column.text.to_pylist() == [shortest(number) for number in numbers]


def test_decimals_with_exponents_expand_alike_in_a_column_and_alone() -> None:
    form = FORMS["decimal-number"]
    tokens = [
        f"{DICE.choice(('', '-'))}{DICE.randrange(10 ** DICE.randrange(1, 9))}{DICE.choice(('', '.0', '.00123', '.5'))}"
        f"{DICE.choice(('', 'e', 'E', 'E+', 'e-'))}"
        for _ in range(2000)
    ]
    tokens = [token + str(DICE.randrange(12)) if token[-1] in "eE+-" else token for token in tokens]
    expected = [form.read(Number(token), Context()).text for token in tokens]
    assert form.column(pa.array(tokens), Context()).text.to_pylist() == expected


def test_the_column_of_a_slice_keeps_no_other_rows(read_column: Any) -> None:
    texts = pa.array(["junk", "2020-01-01 00:00:00", None, "2020-02-30 00:00:00", "junk"])
    column = FORMS["sql-datetime"].column(texts.slice(1, 3), Context(keep_invalid=True))
    assert column.text.to_pylist() == ["2020-01-01T00:00:00", None, "2020-02-30 00:00:00"]
    assert column.flags is not None
    assert column.flags.tolist() == [Flag.OK, Flag.OK, Flag.INVALID]


LENGTH = 200_000
"""Of a text: what takes longer than in proportion takes far more than a fifth of a second for so much."""


@pytest.mark.one_in(5)
@pytest.mark.parametrize("name", FORMS)
def test_very_long_texts_take_no_longer_than_their_length(name: str) -> None:
    form = FORMS[name]
    if "text" not in form.wire:
        pytest.skip("takes no text")
    texts = ("9" * LENGTH, "A" * LENGTH, "[" + "1, " * (LENGTH // 3), "1e" + "9" * LENGTH, " " * LENGTH)
    columns = [pa.array([text, "1"]) for text in texts]
    _, taken = measure(lambda: [form.check(column, Context(keep_invalid=True)) for column in columns])
    assert taken < LENGTH / 1_000_000
