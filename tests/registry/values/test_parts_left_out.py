"""Parts of a DateTime that the type of a column does not hold, and floats of Avro: read, but not silently."""

from __future__ import annotations

import pytest

from cdc_contracts.registry.core.values import FORMS, Context, Flag

OK, PART = Flag.OK, Flag.NOT_WHOLE
CASES = {
    "avro-date": {
        "DateTime 2020-02-29": ("2020-02-29", OK), "DateTime 2020-02-29 00:00:00": ("2020-02-29", OK),
        "DateTime 2020-02-29 00:00:00.5": ("2020-02-29", PART), "DateTime 2020-02-29 10:00:00": ("2020-02-29", PART),
        "DateTime 2020-02-30 10:00:00": ("2020-02-30", Flag.INVALID),
    },
    "avro-time": {
        "DateTime 10:00:00": ("10:00:00", OK), "DateTime 1970-01-01 10:00:00": ("10:00:00", OK),
        "DateTime 0000-00-00 10:00:00": ("10:00:00", OK), "DateTime 2020-02-29 10:00:00": ("10:00:00", PART),
    },
    "avro-year": {
        "DateTime 2020": ("2020", OK), "DateTime 2020-01-01": ("2020", OK), "DateTime 2020-01-01 00:00:00": ("2020", OK),
        "DateTime 2020-05-01": ("2020", PART), "DateTime 2020-01-01 00:00:01": ("2020", PART),
    },
    "avro-float64": {"Float 0.0": ("0", OK), "Float -0.0": ("0", PART), "Float 5e-324": ("5e-324", OK)},
    "avro-float32": {"Float 0.0": ("0", OK), "Float -0.0": ("0", PART), "Float 1e-60": ("0", PART)},
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_value_is_read_and_what_its_type_does_not_hold_is_noted(read_each, name):
    form, context = FORMS[name], Context(keep_invalid=True)
    expected = list(CASES[name].values())
    assert [(read.text, read.flag) for read in (form.read(text, context) for text in CASES[name])] == expected
    assert read_each(form, list(CASES[name]), context) == expected
