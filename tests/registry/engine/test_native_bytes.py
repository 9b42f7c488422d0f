"""The native part reads bytes however they are written: every byte, and what is no byte."""

from __future__ import annotations

import json
from base64 import b64encode, urlsafe_b64encode
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scanned_messages import LIBRARY, column_of

from cdc_contracts.registry.core.engine.layouts.layout_parts import FormUse
from cdc_contracts.registry.core.engine.native.form_checks import check_values, write_values
from cdc_contracts.registry.core.engine.native.scanned_columns import ESCAPED, TEXT
from cdc_contracts.registry.core.values import FORMS, Context, Flag

pytestmark = pytest.mark.skipif(LIBRARY is None, reason="no native part was compiled here, or it is switched off")

ALL = bytes(range(256))


def texts_written(form, texts, context=None):
    """Return the text of each value that the native part reads, None of those that it refuses or leaves open."""
    use = FormUse(FORMS[form], context or Context(), lenient=False)
    column = column_of([cell_of(text) for text in texts], "text")
    checked = check_values([(column, use)])[0]
    found = write_values(column, use, checked[0])[0].to_pylist()
    refused = [] if checked[0] is None else np.flatnonzero(checked[0] == Flag.BROKEN).tolist()
    assert [place for place, text in enumerate(found) if text is None] == sorted([*checked[1].tolist(), *refused])
    return found


def cell_of(text):
    token = json.dumps(text, ensure_ascii=False)[1:-1]
    return (ESCAPED if "\\" in token else TEXT), token


def in_base64(*values):
    return [b64encode(value).decode() for value in values]


def test_every_character_of_iso_8859_1_is_its_byte():
    texts = [chr(code) for code in range(256)] + [chr(code) + "\n" for code in range(256)]
    assert texts_written("latin1-bytes", texts) == in_base64(*(text.encode("latin-1") for text in texts))
    escaped = column_of([(ESCAPED, f"\\u{code:04x}\\u{code:04X}") for code in range(0x180)], "text")
    use = FormUse(FORMS["latin1-bytes"], Context(), lenient=False)
    flags, undecided = check_values([(escaped, use)])[0]
    assert undecided.tolist() == list(range(0x100, 0x180))
    written = write_values(escaped, use, flags)[0].to_pylist()
    assert written == in_base64(*(bytes([code, code]) for code in range(256))) + [None] * 0x80


def test_every_escape_of_json_is_its_byte():
    escapes = {'\\"': '"', "\\\\": "\\", "\\/": "/", "\\b": "\b", "\\f": "\f", "\\n": "\n", "\\r": "\r", "\\t": "\t"}
    use = FormUse(FORMS["latin1-bytes"], Context(), lenient=False)
    column = column_of([(ESCAPED, escape) for escape in escapes], "text")
    written = write_values(column, use, check_values([(column, use)])[0][0])[0].to_pylist()
    assert written == in_base64(*(letter.encode() for letter in escapes.values()))


def test_other_characters_are_left_open():
    texts = ["\u0100", "€", "é€", "\U0001f34e", "a\n\u0100", "\ud7ff"]
    assert texts_written("latin1-bytes", texts) == [None] * len(texts)


def test_a_literal_among_texts_with_escapes_is_left_open():
    column = column_of([cell_of("a\n"), cell_of("b")], "text")
    use = FormUse(FORMS["latin1-bytes"], Context(invalid_literals=("a\n",)), lenient=False)
    assert check_values([(column, use)])[0][1].tolist() == [0]


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 95, 96, 97, 98, 99, 100, 3_000])
def test_bytes_of_any_length_have_room(size):
    data = (ALL * 12)[:size]
    texts = [data.decode("latin-1"), "a" * size, "é" * size]
    assert texts_written("latin1-bytes", texts * 3) == in_base64(data, b"a" * size, b"\xe9" * size) * 3


@given(st.lists(st.binary(max_size=150), min_size=1))
def test_bytes_are_the_same_in_every_form(values):
    expected = in_base64(*values)
    assert texts_written("latin1-bytes", [value.decode("latin-1") for value in values]) == expected
    assert texts_written("hex-lower", [value.hex() for value in values]) == expected
    assert texts_written("hex-0x", ["0x" + value.hex() for value in values]) == expected
    assert texts_written("hex-0x", ["0x" + value.hex().upper() for value in values]) == expected
    assert texts_written("base64-url", [urlsafe_b64encode(value).decode() for value in values]) == expected


def test_hex_is_of_the_letters_of_its_form():
    pairs = [one + other for one, other in product(map(chr, range(0x20, 0x7F)), "0f")]
    texts = [text for text in pairs if '"' not in text and "\\" not in text]
    lower = texts_written("hex-lower", texts)
    assert [text for text, found in zip(texts, lower, strict=True) if found] == [
        text for text in texts if text[0] in "0123456789abcdef"
    ]
    either = texts_written("hex-0x", ["0x" + text for text in texts])
    assert [text for text, found in zip(texts, either, strict=True) if found] == [
        text for text in texts if text[0] in "0123456789abcdefABCDEF"
    ]
    assert texts_written("hex-lower", ["", "0", "0F", "0x"]) == ["", None, None, None]
    assert texts_written("hex-0x", ["", "0", "0x", "0X", "1x", "0x0", "0x0F0f"]) == [
        None, None, "", None, None, None, "Dw8=",
    ]  # fmt: skip


def test_each_alphabet_of_base64_has_its_own_two_letters():
    texts = ["-_-_", "+/+/", "AA==", "AB=="]
    assert texts_written("base64-url", texts) == ["+/+/", None, "AA==", None]
    plain = FormUse(FORMS["base64"], Context(), lenient=False)
    flags, undecided = check_values([(column_of([(TEXT, text) for text in texts], "text"), plain)])[0]
    assert (flags.tolist(), undecided.tolist()) == ([Flag.BROKEN, Flag.OK, Flag.OK, Flag.BROKEN], [])
