"""Zeros at the end of a fraction, where a mapping says that they are left out: noted alike on both paths."""

from __future__ import annotations

import pytest

from cdc_contracts.registry.core.values import FORMS, BrokenValue, Context, Flag

LEFT_OUT = Context(keep_invalid=True, zeros_left_out=True)
TEXTS = {
    "sql-time": {
        "07:08:09": Flag.OK,
        "07:08:10": Flag.OK,
        "07:08:09.5": Flag.OK,
        "07:08:09.05": Flag.OK,
        "07:08:09.50": Flag.NOTED,
        "-00:00:00.000000": Flag.NOTED,
        "25:61:00.10": Flag.INVALID,
        "7:8:9.10": Flag.BROKEN,
    },
    "sql-datetime-zone": {
        "2024-05-06 12:53:20": Flag.OK,
        "2024-05-06 12:53:20.5": Flag.OK,
        "2024-05-06 12:53:20.500": Flag.NOTED,
        "2024-05-06 12:53:20.50 Asia/Shanghai": Flag.NOTED,
        "2024-05-06 12:53:20.5 +08:00": Flag.OK,
        "0000-00-00 00:00:00.0": Flag.INVALID,
        "yesterday.0": Flag.BROKEN,
    },
    "epoch-seconds.fraction": {
        "1715000000": Flag.OK,
        "1715000000.012345": Flag.OK,
        "1715000000.0": Flag.NOTED,
        "1715000000.123456780": Flag.NOTED,
        "1715000000.": Flag.BROKEN,
    },
}


def flag_of(form, text, context):
    try:
        return form.read(text, context).flag
    except BrokenValue as error:
        return error.flag


@pytest.mark.parametrize("name", TEXTS)
def test_a_zero_at_the_end_is_noted(name):
    form, texts = FORMS[name], TEXTS[name]
    assert {text: flag_of(form, text, LEFT_OUT) for text in texts} == texts


@pytest.mark.parametrize("name", TEXTS)
def test_the_moment_is_the_same_with_and_without_zeros_and_nothing_is_noted_elsewhere(name):
    form, plain = FORMS[name], Context(keep_invalid=True)
    for text, flag in TEXTS[name].items():
        if flag == Flag.NOTED:
            assert flag_of(form, text, plain) == Flag.OK
            assert form.read(text, LEFT_OUT).text == form.read(text, plain).text
