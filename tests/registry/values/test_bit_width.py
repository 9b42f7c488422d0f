"""A bit field has at most 64 bits, in whatever form it is written."""

from __future__ import annotations

import base64

import jsonschema
import pytest

from cdc_contracts.registry.core.values import FORMS, BrokenValue, Context, Flag, Number

PLAIN = Context()
FIELDS = [
    lead * b"\0" + body
    for lead in range(12)
    for size in range(24 - lead)
    for body in (b"\xff" * size, b"\x80" + b"\0" * size)
]
WRITTEN = {
    "bit-base64": lambda data: base64.b64encode(data).decode(),
    "bit-hex": lambda data: data.hex().upper(),
    "bit-number": lambda data: Number(str(int.from_bytes(data, "big"))),
}  # fmt: skip


@pytest.mark.parametrize("name", WRITTEN)
def test_a_bit_field_of_more_than_64_bits_is_none(read_each, name):
    form, values = FORMS[name], [WRITTEN[name](data) for data in FIELDS]
    numbers = [int.from_bytes(data, "big") for data in FIELDS]
    fits = [
        number < 2**64 if name == "bit-number" else len(data) <= 8 for number, data in zip(numbers, FIELDS, strict=True)
    ]
    expected = [
        (str(number), Flag.OK) if fit else (None, Flag.BROKEN) for number, fit in zip(numbers, fits, strict=True)
    ]
    assert read_each(form, values, PLAIN) == expected
    for value, (text, _) in zip(values, expected, strict=True):
        if text is not None:
            assert form.read(value, PLAIN).text == text
        else:
            with pytest.raises(BrokenValue):
                form.read(value, PLAIN)
    if name == "bit-number":
        return  # its schema knows no upper bound: validators with numbers of 53 bits would get it wrong
    schema = jsonschema.Draft202012Validator(dict(form.schema))
    assert [schema.is_valid(value) for value in values] == fits


@pytest.mark.parametrize("digits", ["18446744073709551615", "9999999999999999", "1234567812345678", "1" * 400])
def test_the_digits_of_a_number_are_no_base64_of_a_bit_field(read_each, digits):
    assert read_each(FORMS["bit-base64"], [digits], PLAIN) == [(None, Flag.BROKEN)]


def test_a_bit_field_that_is_wider_cannot_be_written():
    for name in WRITTEN:
        assert FORMS[name].write(str(2**64 - 1), PLAIN) is not None
        with pytest.raises(BrokenValue):
            FORMS[name].write(str(2**64), PLAIN)
