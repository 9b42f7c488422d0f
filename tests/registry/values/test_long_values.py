"""Values of unusual length, and floats of every size."""

from __future__ import annotations

import base64
import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stopwatch import measure

from cdc_contracts.registry.core.values import FORMS, Context, Flag, Number
from cdc_contracts.registry.core.values.floats import shortest

DICE = random.Random(20260301)


@pytest.mark.parametrize("name", ["byte-list", "hex-upper", "base64"])
def test_long_and_many_bytes_read_as_they_were(read_each: Any, name: str) -> None:
    form = FORMS[name]
    sizes = [0, 1, 2, 3, 100_000, 5] + [DICE.randrange(40) for _ in range(500)]
    expected = [base64.b64encode(DICE.randbytes(size)).decode() for size in sizes]
    wire = [form.write(text, Context()) for text in expected]
    assert read_each(form, wire, Context()) == [(text, Flag.OK) for text in expected]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_text_of_a_float_reads_back_to_it(number: float) -> None:
    text = FORMS["float64-number"].read(Number(json.dumps(number)), Context()).text
    assert float(text) == number
    assert text == shortest(number)


LENGTH = 200_000
"""Of a text: what takes longer than in proportion takes far more than a fifth of a second for so much."""


@pytest.mark.one_in(5)
@pytest.mark.parametrize("name", FORMS)
def test_very_long_texts_take_no_longer_than_their_length(read_each: Any, name: str) -> None:
    form = FORMS[name]
    if "text" not in form.wire:
        pytest.skip("takes no text")
    texts = ("9" * LENGTH, "A" * LENGTH, "[" + "1, " * (LENGTH // 3), "1e" + "9" * LENGTH, " " * LENGTH)
    _, taken = measure(lambda: read_each(form, texts, Context(keep_invalid=True)))
    assert taken < LENGTH / 1_000_000
