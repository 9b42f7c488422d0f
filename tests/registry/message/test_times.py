"""Envelope times: exact microseconds, or no moment and the text as sent."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from cdc_contracts.registry.core.common.pointers import ABSENT
from cdc_contracts.registry.core.common.time_zones import parse_zone
from cdc_contracts.registry.core.contract.envelope_model import Place
from cdc_contracts.registry.core.message.envelope_times import EventTime, format_micros, read_time
from cdc_contracts.registry.core.values import Number

SHANGHAI = parse_zone("Asia/Shanghai")
JUNE = 1_718_000_000_000_000  # 2024-06-10T06:13:20Z


def read(value, form, zone=None, **more):
    return read_time(value, Place(at="/t", form=form, **more), zone)


def number(token):
    return Number(token)


@pytest.mark.parametrize(
    ("form", "value", "micros"),
    [
        ("epoch-millis", number("1718000000000"), JUNE),
        ("epoch-millis", number("1718000000001"), JUNE + 1000),
        ("epoch-millis", number("0"), 0),
        ("epoch-millis", number("-1"), -1000),
        ("epoch-millis", "1718000000000", JUNE),
        ("epoch-micros", number("1718000000000000"), JUNE),
        ("epoch-micros", number("1718000000000001"), JUNE + 1),
        ("epoch-seconds", number("1718000000"), JUNE),
        ("epoch-seconds-text", "1718000000", JUNE),
        ("epoch-seconds-or-millis", number("1718000000"), JUNE),
        ("epoch-seconds-or-millis", number("1718000000000"), JUNE),
        ("epoch-seconds-or-millis", number("1718000000001"), JUNE + 1000),
        ("epoch-seconds-or-millis", number("99999999999"), 99_999_999_999_000_000),
        ("epoch-seconds-or-millis", number("100000000000"), 100_000_000_000_000),
        ("epoch-seconds-or-millis", number("-1"), -1_000_000),
        ("epoch-millis-list-last", [number("5"), number("1718000000000")], JUNE),
        ("iso-local", "2024-06-10T14:13:20", JUNE),
        ("iso-local", "2024-06-10 14:13:20", JUNE),
        ("iso-local", "2024-06-10T14:13:20.5", JUNE + 500_000),
        ("iso-local", "2024-06-10T14:13:20.123456", JUNE + 123_456),
        ("iso-local-or-utc", "2024-06-10T06:13:20Z", JUNE),
        ("iso-local-or-utc", "2024-06-10T14:13:20", JUNE),
        ("iso-local", "9999-12-31T23:59:59.999999", 253_402_300_799_999_999 - 8 * 3_600_000_000),
        ("epoch-millis", number("253402300799999"), 253_402_300_799_999_000),
    ],
)
def test_a_time_is_read_to_the_microsecond(form, value, micros):
    assert read(value, form, SHANGHAI) == EventTime(micros, None)


@pytest.mark.parametrize(
    ("form", "value", "text"),
    [
        ("epoch-millis", number("1718000000000.5"), "1718000000000.5"),
        ("epoch-millis", number("1.718e12"), "1.718e12"),
        ("epoch-millis", number("253402300800000"), "253402300800000"),
        ("epoch-millis", number("9999999999999999999"), "9999999999999999999"),
        ("epoch-seconds", number("-62135596801"), "-62135596801"),
        ("epoch-seconds-or-millis", number("1718000000.5"), "1718000000.5"),
        ("epoch-seconds-or-millis", number("999999999999999999"), "999999999999999999"),
        ("epoch-seconds-text", "1718000000.5", "1718000000.5"),
        ("epoch-seconds-text", "", ""),
        ("epoch-seconds-text", "\uff11\uff17", "\uff11\uff17"),
        ("iso-local", "2024-06-31T14:13:20", "2024-06-31T14:13:20"),
        ("iso-local", "2024-06-10T24:13:20", "2024-06-10T24:13:20"),
        ("iso-local", "2024-06-10", "2024-06-10"),
        ("iso-local", "0000-00-00 00:00:00", "0000-00-00 00:00:00"),
    ],
)
def test_what_is_no_moment_keeps_its_text(form, value, text):
    assert read(value, form, SHANGHAI) == EventTime(None, text)


@pytest.mark.parametrize("form", ["iso-local", "iso-local-or-utc"])
@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("2021-03-28T01:59:59.999999", 1),
        ("2021-03-28T02:00:00", None),  # clocks of Berlin skip the hour
        ("2021-03-28 02:30:00.5", None),
        ("2021-03-28T03:00:00", 2),
        ("2020-10-25T01:59:59", 2),
        ("2020-10-25T02:30:00", None),  # they show it twice
        ("2020-10-25T03:00:00", 1),
    ],
)
def test_a_local_time_that_is_no_single_instant_is_no_moment_and_keeps_its_text(form, text, hours):
    found = read(text, form, parse_zone("Europe/Berlin"))
    if hours is None:
        assert found == EventTime(None, text)
    else:
        utc = datetime.fromisoformat(text).replace(tzinfo=timezone(timedelta(hours=hours)))
        assert found == EventTime((utc - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1), None)


def test_a_local_time_whose_instant_no_calendar_has_keeps_its_text():
    assert read("0001-01-01T00:00:00", "iso-local", SHANGHAI) == EventTime(None, "0001-01-01T00:00:00")


@pytest.mark.parametrize("value", [True, {}, [], None, ABSENT])
@pytest.mark.parametrize("form", ["epoch-millis", "epoch-seconds-text", "iso-local", "epoch-millis-list-last"])
def test_what_is_no_time_at_all_is_none(form, value):
    assert read(value, form, SHANGHAI) == EventTime(None, None)


def test_a_wall_clock_time_without_a_zone_is_no_moment_unless_it_says_utc():
    assert read("2024-06-10T14:13:20", "iso-local-or-utc") == EventTime(None, "2024-06-10T14:13:20")
    assert read("2024-06-10T06:13:20Z", "iso-local-or-utc") == EventTime(JUNE, None)


def test_digits_finer_than_a_microsecond_keep_the_text_beside_the_moment():
    assert read("2024-06-10T14:13:20.123456789", "iso-local", SHANGHAI) == EventTime(
        JUNE + 123_456, "2024-06-10T14:13:20.123456789"
    )
    assert read("2024-06-10T14:13:20.123456000", "iso-local", SHANGHAI) == EventTime(JUNE + 123_456, None)


def test_a_value_that_means_none_is_no_time():
    assert read(number("-1"), "epoch-millis", absent_value=-1) == EventTime(None, None)
    assert read("null", "epoch-seconds-text", null_text="null") == EventTime(None, None)
    assert read(number("0"), "epoch-millis", absent_value=-1) == EventTime(0, None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-03-31 01:59:59", "2024-03-31T00:59:59.000000Z"),
        ("2024-03-31 03:00:00", "2024-03-31T01:00:00.000000Z"),
        ("2024-10-27 03:00:00", "2024-10-27T02:00:00.000000Z"),
    ],
)
def test_local_times_around_a_change_of_the_clock(text, expected):
    moment = read(text, "iso-local", parse_zone("Europe/Berlin")).micros

    assert moment is not None
    assert format_micros(moment) == expected


@pytest.mark.parametrize(
    ("micros", "text"),
    [
        (0, "1970-01-01T00:00:00.000000Z"),
        (-1, "1969-12-31T23:59:59.999999Z"),
        (JUNE + 1, "2024-06-10T06:13:20.000001Z"),
        (-62_135_596_800_000_000, "0001-01-01T00:00:00.000000Z"),
        (253_402_300_799_999_999, "9999-12-31T23:59:59.999999Z"),
    ],
)
def test_a_moment_is_written_with_all_digits(micros, text):
    assert format_micros(micros) == text


@pytest.mark.parametrize("text", ["Z", "UTC", "+00:00", "-00:00"])
def test_utc_has_several_names(text):
    assert parse_zone(text).utcoffset(None) == timedelta(0)


@pytest.mark.parametrize(
    ("text", "minutes"), [("+08:00", 480), ("-03:30", -210), ("+05:45", 345), ("-23:59", -1439), ("+14:00", 840)]
)
def test_an_offset_is_a_zone(text, minutes):
    assert parse_zone(text).utcoffset(None) == timedelta(minutes=minutes)


@pytest.mark.parametrize(
    "text", ["", "8", "+8:00", "+08", "08:00", "CET+1", "Mars/Base", "../etc/passwd", "/etc/passwd", "+\uff10\uff18:00"]
)
def test_other_texts_are_no_zone(text):
    with pytest.raises(ValueError, match="time zone"):
        parse_zone(text)


@pytest.mark.parametrize("text", ["+24:00", "-99:99"])
def test_an_offset_of_a_day_or_more_is_no_zone(text):
    with pytest.raises(ValueError, match=r"zone|offset"):
        parse_zone(text)
