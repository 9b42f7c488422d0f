"""Singles of Avro records: a double is read as the fewest digits of the single-precision number that it holds."""

import struct
from random import Random

import numpy as np
import pytest

from cdc_contracts.registry.core.values import floats
from cdc_contracts.registry.core.values.form_values import BrokenValue, Context
from cdc_contracts.registry.core.values.named_records import read_single


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("0.10000000149011612", "0.1"),
        ("16777217.0", "16777216"),
        ("1.2379400392853803e+27", "1.2379401e+27"),  # two to the 90th: its nearest eight digits are another single
        ("3.4028234663852886e+38", "3.4028235e+38"),
        ("7e-46", "0"),
    ],
)
def test_a_single_has_the_fewest_digits_that_read_back_to_it(written, read):
    assert read_single(written, Context()).text == read


@pytest.mark.parametrize("written", ["1e39", "3.4028235677973366e+38"])
def test_a_number_beyond_the_largest_single_is_broken(written):
    with pytest.raises(BrokenValue):
        read_single(written, Context())


def test_digits_are_those_of_numpy():
    draw = Random(7)
    bits = [exponent << 23 | fraction for exponent in range(255) for fraction in (0, 1, 0x7FFFFF)]
    bits += [draw.getrandbits(31) for _ in range(3_000)]
    for (number,) in (struct.unpack(">f", struct.pack(">I", one)) for one in bits if one < 0x7F800000):
        wanted = floats.shortest(float(np.format_float_scientific(np.float32(number))))
        assert read_single(repr(number), Context()).text == wanted
