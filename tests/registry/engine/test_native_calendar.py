"""The native part knows the calendar, clocks and digits: every form is asked about values just within and just beyond.

Which days exist is counted here by numpy, whose calendar is another one; the year 0 is as the year 400.
"""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from scanned_messages import LIBRARY, column_of

from cdc_contracts.registry.core.engine.layouts.layout_parts import FormUse
from cdc_contracts.registry.core.engine.native.form_checks import check_values, write_values
from cdc_contracts.registry.core.engine.native.scanned_columns import DECIMAL, INTEGER, TEXT
from cdc_contracts.registry.core.engine.native.typed_columns import read_texts
from cdc_contracts.registry.core.values import FORMS, Context
from cdc_contracts.registry.core.values.type_bounds import bound_of

pytestmark = pytest.mark.skipif(LIBRARY is None, reason="no native part was compiled here, or it is switched off")

DATED = {
    "sql-date": "{}", "sql-datetime": "{} 12:30:45", "sql-datetime-zone": "{} 12:30:45.5",
    "sql-datetime-instant": "{} 12:30:45", "sql-datetime-utc": "{} 12:30:45", "iso-datetime-minutes": "{}T12:30", "iso-instant": "{}T12:30:45Z",
    "avro-date": "DateTime {}", "avro-datetime": "DateTime {} 12:30:45", "iso-date-z": "{}Z",
    "iso-wallclock-z": "{}T12:30:45Z", "sql-datetime-z": "{} 12:30:45Z", "iso-instant-offset": "{}T12:30:45Z",
}  # fmt: skip
"""How a form writes a date."""
WRITTEN = {"sql-date": "{}", "iso-date-z": "{}", "avro-date": "{}", "iso-datetime-minutes": "{}T12:30:00", "iso-instant": "{}T12:30:45Z",
           "sql-datetime-zone": "{}T12:30:45.5", "sql-datetime-instant": "{}T12:30:45",
           "sql-datetime-utc": "{}T12:30:45Z", "sql-datetime-z": "{}T12:30:45Z",
           "iso-instant-offset": "{}T12:30:45Z"}  # fmt: skip
TIMED = {
    "sql-time": "{}", "avro-time": "DateTime {}", "sql-datetime": "2024-02-29 {}", "avro-datetime": "DateTime 2024-02-29 {}",
    "iso-instant": "2024-02-29T{}Z", "iso-datetime-minutes": "2024-02-29T{}", "sql-datetime-zone": "2024-02-29 {}",
    "sql-datetime-instant": "2024-02-29 {}", "sql-datetime-utc": "2024-02-29 {}", "iso-time-minutes": "{}",
    "iso-wallclock-z": "2024-02-29T{}Z", "iso-time-z": "{}Z", "iso-time-zoned": "{}Z",
    "sql-datetime-z": "2024-02-29 {}Z", "iso-instant-offset": "2024-02-29T{}Z",
}  # fmt: skip
"""How it writes a time with seconds."""
DAY_LONG = {"sql-time", "avro-time", "iso-time-minutes"}
"""Forms of times that are no time of day: up to 99 hours."""
NOTES_FRACTIONS = {"iso-time-minutes", "iso-datetime-minutes"}
SECONDS = {"epoch-seconds-integer": "{}", "epoch-seconds.fraction": "{}", "avro-timestamp": "Timestamp {}"}
WITHOUT_DATES = {"days-since-epoch", "millis-wallclock", "micros-wallclock", "nanos-wallclock", "epoch-micros-instant",
                 "epoch-nanos-instant", "epoch-millis-instant", "epoch-millis.fraction-number",
                 "avro-zoned"}  # fmt: skip
OK, BROKEN, NOTED, OPEN = 0, 1, 3, 255
NOON = ("12", "30", "45")


def flags_of(form: str, texts: list[str], *, kind: int = TEXT, declared: str | None = None, context=None) -> list[int]:
    """Return what the native part says of values of a form."""
    bound = bound_of(declared, FORMS[form].kind) if declared else None
    use = FormUse(FORMS[form], context or Context(), lenient=False, bound=bound)
    found = check_values([(column_of([(kind, text) for text in texts], FORMS[form].decoder), use)])[0]
    assert found is not None
    flags, undecided = found
    listed = [OK] * len(texts) if flags is None else flags.tolist()
    assert undecided.tolist() == [at for at, flag in enumerate(listed) if flag == OPEN]
    return listed


def texts_written(form: str, texts: list[str]) -> list[str | None]:
    use, column = FormUse(FORMS[form], Context(), lenient=False), column_of([(TEXT, text) for text in texts])
    written = write_values(column, use, check_values([(column, use)])[0][0])
    assert written is not None
    return written[0].to_pylist()


LENGTHS = np.diff(np.arange("0001-01", "10000-02", dtype="M8[M]").astype("M8[D]").astype(np.int64)).tolist()
"""The days of each month from the year 1 on."""


def is_day(year: int, month: int, day: int) -> bool:
    return 1 <= month <= 12 and 1 <= day <= LENGTHS[((year or 400) - 1) * 12 + month - 1]


ENDS_OF_FEBRUARY = [(year, 2, day) for year in range(10_000) for day in (28, 29, 30)]
EVERY_DAY = [
    (year, month, day)
    for year in (0, 1, 4, 99, 100, 400, 1582, 1600, 1700, 1900, 1999, 2000, 2023, 2024, 2100, 2400, 9996, 9999)
    for month in (*range(15), 20, 99)
    for day in (*range(34), 40, 99)
]
DAYS = [
    (f"{year:04d}-{month:02d}-{day:02d}", is_day(year, month, day)) for year, month, day in ENDS_OF_FEBRUARY + EVERY_DAY
]


def test_every_form_that_has_a_date_or_a_time_is_asked():
    kinds = {name for name, form in FORMS.items() if form.kind in ("date", "datetime", "timestamp")}
    assert kinds == {*DATED, *SECONDS} | WITHOUT_DATES
    assert {name for name, form in FORMS.items() if form.kind == "time"} == {
        *DAY_LONG, "iso-time-z", "iso-time-zoned", "millis-of-day", "micros-of-day", "nanos-of-day",
    }  # fmt: skip


@pytest.mark.parametrize("form", DATED)
def test_exactly_the_days_of_the_calendar_are_dates(form):
    flags = flags_of(form, [DATED[form].format(day) for day, _ in DAYS])
    assert [day for (day, real), flag in zip(DAYS, flags, strict=True) if (flag == OK) != real] == []
    assert set(flags) == {OK, OPEN}


@pytest.mark.parametrize("form", DATED)
def test_dates_are_written_as_they_are(form):
    days = [day for day, real in DAYS if real][::7]
    expected = [WRITTEN.get(form, "{}T12:30:45").format(day) for day in days]
    assert texts_written(form, [DATED[form].format(day) for day in days]) == expected


@pytest.mark.parametrize("form", DATED)
@pytest.mark.parametrize("spoilt", ["2024-0a-01", "2024-01-0:", "202/-01-01", "2024.01-01", "2024-01.01", "20 4-01-01",
                                    "2024-01-1", "24-01-01", "+024-01-01", "2024-1-01", "2024-01-0", "\uff12024-01"])  # fmt: skip
def test_a_date_has_its_digits_and_hyphens_and_nothing_else(form, spoilt):
    assert flags_of(form, [DATED[form].format(spoilt)]) == [OPEN]


def test_a_moment_that_a_zone_can_move_out_of_the_calendar_is_left_open():
    context = Context(zone=timezone(timedelta()))
    texts = [f"{year:04d}-06-01 00:00:00" for year in (0, 1, 2, 3, 9997, 9998, 9999)]
    assert flags_of("sql-datetime-instant", texts, context=context) == [OPEN, OPEN, OK, OK, OK, OK, OPEN]


@pytest.mark.parametrize("form", TIMED)
def test_exactly_the_times_of_a_clock_are_times(form):
    most = 99 if form in DAY_LONG else 23
    times = [(*NOON[:at], f"{one:02d}", *NOON[at + 1 :]) for at in range(3) for one in range(100)]
    flags = flags_of(form, [TIMED[form].format(":".join(time)) for time in times])
    expected = [int(hours) <= most and int(minutes) < 60 and int(seconds) < 60 for hours, minutes, seconds in times]
    assert [flag == OK for flag in flags] == expected
    assert set(flags) == {OK, OPEN}


@pytest.mark.parametrize("form", TIMED)
@pytest.mark.parametrize("spoilt", ["12.30:45", "12:30.45", "1a:30:45", "12:3 :45", "12:30:4/", "12:30:", "12:30:4", "123045",
                                    "-1:30:45", ":2:30:45", "12:30:450", "12:30:45:", "12:30:45.", "12:30:45,5"])  # fmt: skip
def test_a_time_has_its_digits_and_colons_and_nothing_else(form, spoilt):
    assert flags_of(form, [TIMED[form].format(spoilt)]) == [OPEN]


@pytest.mark.parametrize("form", [form for form in sorted(DAY_LONG | {"iso-datetime-minutes"}) if "minutes" in form])
def test_times_without_seconds_are_those_of_a_clock(form):
    before, most = ("", 99) if form in DAY_LONG else ("2024-02-29T", 23)
    times = list(product((0, 9, 23, 24, 59, 60, 99), repeat=2))
    flags = flags_of(form, [f"{before}{hours:02d}:{minutes:02d}" for hours, minutes in times])
    assert [flag == OK for flag in flags] == [hours <= most and minutes < 60 for hours, minutes in times]
    assert (
        flags_of(form, [f"{before}1:30", f"{before}12.30", f"{before}12:3", f"{before}a2:30", f"{before}12:b0"])
        == [OPEN] * 5
    )
    assert texts_written(form, [f"{before}12:30", f"{before}12:30:45.50"]) == [
        f"{before}12:30:00",
        f"{before}12:30:45.5",
    ]


@pytest.mark.parametrize("between", [" ", "T", "t", "_", "-", ":"])
def test_a_date_and_a_time_are_joined_as_the_form_joins_them(between):
    text = f"2024-02-29{between}12:30:45"
    for form in ("sql-datetime", "sql-datetime-zone", "sql-datetime-instant"):
        assert flags_of(form, [text]) == [OK if between == " " else OPEN]
    for form, joint in (("iso-instant", "T"), ("sql-datetime-z", " ")):
        assert flags_of(form, [text + "Z", text, text + "z"]) == [OK if between == joint else OPEN, BROKEN, BROKEN]
    # with a blank a form of minutes is certain to refuse a time that exists
    assert flags_of("iso-datetime-minutes", [text]) == [{"T": OK, " ": BROKEN}.get(between, OPEN)]
    assert flags_of("iso-datetime-minutes", [text[:16]]) == [OK if between == "T" else OPEN]


@pytest.mark.parametrize("form", [*TIMED, "epoch-seconds.fraction", "avro-timestamp"])
def test_fractions_have_one_to_nine_digits(form):
    template = TIMED.get(form) or SECONDS[form]
    start = "12:30:45" if form in TIMED else "1718000000"
    ends = ["." + "123456789012"[:digits] for digits in range(13)] + [".5a", ".a5", "5", ".5.", ". 5", ".-5", ",5"]
    good = NOTED if form in NOTES_FRACTIONS else OK
    flags = flags_of(form, [template.format(start + end) for end in ends])
    wanted = [good if 1 <= digits <= 9 else OPEN for digits in range(13)] + [OPEN] * 7
    if form not in TIMED:
        wanted[15] = OK  # a digit more of the seconds
    assert flags == wanted


@pytest.mark.parametrize("form", [*TIMED, "epoch-seconds.fraction", "avro-timestamp"])
def test_zeros_at_the_end_of_a_fraction_are_not_written_and_open_where_they_say_something(form):
    template = TIMED.get(form) or SECONDS[form]
    start = "12:30:45" if form in TIMED else "1718000000"
    ends, kept = ("", ".0", ".50", ".05", ".000000000", ".100000000"), ("", "", ".5", ".05", "", ".1")
    plain = texts_written(form, [template.format(start)])[0]
    zone = "Z" if plain.endswith("Z") else ""
    written = texts_written(form, [template.format(start + end) for end in ends])
    assert written == [plain.removesuffix("Z") + end + zone for end in kept]
    context = Context(zeros_left_out=True)
    opened = [flag == OPEN for flag in flags_of(form, [template.format(start + end) for end in ends], context=context)]
    assert opened == [False, True, True, False, True, True]


@pytest.mark.parametrize(
    "form", ["sql-datetime", "iso-datetime-minutes", "sql-datetime-instant", "iso-instant", "avro-timestamp"]
)
@pytest.mark.parametrize("digits", range(10))
def test_a_fraction_has_no_more_digits_than_its_type(form, digits):
    template = TIMED.get(form) or SECONDS[form]
    start = "12:30:45" if form in TIMED else "1718000000"
    texts = [template.format(start + "." + "1" * own) for own in range(1, 10)]
    flags = flags_of(
        form,
        texts,
        declared=f"timestamp({digits})" if "instant" in form or "timestamp" in form else f"datetime({digits})",
    )
    allowed = next(at for at, flag in enumerate([*flags, OPEN]) if flag == OPEN)
    assert set(flags[allowed:]) <= {OPEN}
    assert allowed >= min(digits, 9)
    if digits >= 6 and allowed < 9:
        assert allowed == digits


@pytest.mark.parametrize("form", SECONDS)
def test_seconds_are_those_that_have_a_date(form):
    numbers = [0, 1, 59, 60, 86_399, 86_400, 10**9, 10**11, 253_402_300_799]
    beyond = ["253402300800", "999999999999", "1000000000000", "0000000000001"]
    template = SECONDS[form]
    assert flags_of(form, [template.format(number) for number in numbers]) == [OK] * len(numbers)
    assert flags_of(form, [template.format(number) for number in beyond]) == [OPEN] * len(beyond)
    odd = flags_of(form, [template.format(text) for text in ("", "-1", "1a", " 1", "1.", "\u0661")])
    assert OK not in odd
    if form == "epoch-seconds-integer":
        assert flags_of(form, ["7", "253402300799"], kind=INTEGER) == [OK, OK]


@pytest.mark.parametrize("form", SECONDS)
def test_seconds_become_the_date_of_the_calendar(form):
    months = np.arange("1970-01", "10000-01", dtype="M8[M]").astype("M8[s]").astype(np.int64)
    seconds = np.concatenate([months, months[1:] - 1, months + 86_400 * 14 + 45_296])
    expected = [f"{one}Z" for one in np.datetime_as_string(seconds.astype("M8[s]")).tolist()]
    assert texts_written(form, [SECONDS[form].format(one) for one in seconds.tolist()]) == expected


# --- typed columns


@pytest.mark.parametrize("zone", [None, "UTC"])
def test_typed_columns_have_the_days_of_the_calendar(zone):
    first_days = np.arange("0001-01", "9999-12", dtype="M8[M]").astype("M8[D]")
    days = np.concatenate([first_days, first_days[1:] - 1, first_days + 13])
    texts = np.datetime_as_string(days).tolist()
    found = read_texts([(pa.array(texts), np.arange(len(texts)))], pa.date32())
    assert found is not None
    assert (found.to_numpy(zero_copy_only=False) == days).all()
    moments = days.astype("M8[us]") + np.timedelta64(45_296_000_001, "us")
    end = "Z" if zone else ""
    written = pa.array([f"{text}{end}" for text in np.datetime_as_string(moments).tolist()])
    found = read_texts([(written, np.arange(len(texts)))], pa.timestamp("us", tz=zone))
    assert found is not None
    assert (found.cast(pa.int64()).to_numpy() == moments.astype(np.int64)).all()


def test_typed_columns_have_no_other_days_and_times():
    wrong = [day for day, real in DAYS if not real or day.startswith("0000")][::11]
    wrong += ["1900-02-29", "2100-02-29", "2000-02-30", "2023-02-29"]
    for day in wrong:
        for text, type_ in ((day, pa.date32()), (f"{day}T00:00:00", pa.timestamp("us"))):
            assert read_texts([(pa.array([text]), np.zeros(1, np.int64))], type_) is None, text
    for at in range(3):
        for one in range(100):
            time = ":".join((*NOON[:at], f"{one:02d}", *NOON[at + 1 :]))
            found = read_texts([(pa.array([f"2024-02-29T{time}Z"]), np.zeros(1, np.int64))], pa.timestamp("us", tz=UTC))
            assert (found is not None) == (one < (24, 60, 60)[at]), time


@pytest.mark.parametrize(
    ("precision", "scale"), [(1, 0), (1, 1), (2, 1), (18, 0), (19, 4), (37, 37), (38, 0), (38, 19), (38, 38)]
)
def test_decimals_have_as_many_digits_as_their_column(precision, scale):
    type_, whole = pa.decimal128(precision, scale), precision - scale
    good = ["0"] + ([] if not whole else ["9" * whole, "-" + "9" * whole])
    good += (
        []
        if not scale
        else ["0." + "9" * scale, "-0." + "0" * (scale - 1) + "1", ("9" * whole or "0") + "." + "9" * scale]
    )
    found = read_texts([(pa.array(good), np.arange(len(good)))], type_)
    assert found is not None
    assert found.to_pylist() == [Decimal(text) for text in good]
    bad = [
        "1" + "0" * whole,
        "-1" + "0" * whole,
        "0." + "0" * scale + "1",
        "1" + "0" * whole + ".5",
        "00",
        "0.",
        "-",
        "",
    ]
    for text in bad:
        assert read_texts([(pa.array([text]), np.zeros(1, np.int64))], type_) is None, text


# --- numbers and bytes

WHOLE = ["integer-number", "integer-text", "integer-or-text", "avro-integer"]


@pytest.mark.parametrize("form", WHOLE)
def test_whole_numbers_have_up_to_nineteen_characters_and_lie_within_their_type(form):
    head = "Integer " if form == "avro-integer" else ""
    kind = INTEGER if form == "integer-number" else TEXT
    good = ["0", "7", "-7", "10", "9" * 18, "-" + "9" * 18, "9" * 19]
    assert flags_of(form, [head + text for text in good], kind=kind) == [OK] * len(good)
    bad = [
        "",
        "-",
        "-0",
        "00",
        "01",
        "-01",
        "1.0",
        "1.",
        "9" * 20,
        "-" + "9" * 19,
        "1e5",
        "+1",
        " 1",
        "1 ",
        "1a",
        "\u0661",
    ]
    refused = {" 1", "1 ", "1a", "\u0661"}  # no number has these characters
    wanted = [BROKEN if text in refused else OPEN for text in bad]
    assert flags_of(form, [head + text for text in bad], kind=kind) == wanted
    for declared, least, most in (
        ("tinyint", -128, 127), ("tinyint unsigned", 0, 255), ("smallint", -(2**15), 2**15 - 1),
        ("mediumint", -(2**23), 2**23 - 1), ("int", -(2**31), 2**31 - 1), ("int unsigned", 0, 2**32 - 1),
    ):  # fmt: skip
        texts = [head + str(one) for one in (least - 1, least, least + 1, most - 1, most, most + 1, 10**17, 10**18)]
        flags = flags_of(form, texts, kind=kind, declared=declared)
        assert [flag == OK for flag in flags] == [False, True, True, True, True, False, False, False], declared


@pytest.mark.parametrize(
    "form", ["bool-0-1", "days-since-epoch", "micros-of-day", "millis-wallclock", "epoch-millis-instant", "bit-number"]
)
def test_numbers_of_a_form_lie_between_its_bounds(form):
    day = 86_400_000
    least, most = {
        "bool-0-1": (0, 1), "days-since-epoch": (-719_528, 2_932_896), "bit-number": (0, 2**63 - 1),
        "micros-of-day": (None, None),
    }.get(form, (-719_528 * day, 2_932_897 * day - 1))  # fmt: skip
    if form == "micros-of-day":
        most = 838 * 3_600_000_000 + 59 * 60_000_000 + 59_999_999
        least = -most
    texts = [str(one) for one in (least - 1, least, 0, most, most + 1)]
    assert flags_of(form, texts, kind=INTEGER) == [OPEN, OK, OK, OK, OPEN]


@pytest.mark.parametrize("form", ["decimal-number", "decimal-text", "json-number", "avro-decimal"])
def test_decimals_are_plain_digits_within_their_type(form):
    head = "Decimal " if form == "avro-decimal" else ""
    kind = DECIMAL if "number" in form else TEXT
    good = ["0", "0.0", "7.25", "-7.25", "-1", "1" * 30 + "." + "2" * 30]
    assert flags_of(form, [head + text for text in good], kind=kind) == [OK] * len(good)
    bad = ["", "-", "-0", "-0.5", "00", "01.5", "1.", ".5", "1.5.5", "1e5", "+1", "1,5", "1.a", "1" * 4_001]
    wanted = [BROKEN if text in ("1,5", "1.a") else OPEN for text in bad]
    assert flags_of(form, [head + text for text in bad], kind=kind) == wanted
    assert flags_of(form, [head + "1" * 4_000], kind=kind) == [OK]
    if form != "json-number":
        texts = ["99999.99", "-99999.99", "100000", "100000.5", "0.999", "0.99", "0"]
        flags = flags_of(form, [head + text for text in texts], kind=kind, declared="decimal(7,2)")
        assert [flag == OK for flag in flags] == [True, True, False, False, False, True, True]


@pytest.mark.parametrize("form", ["float64-text", "float64-number", "avro-float64"])
def test_floats_have_up_to_thirty_characters(form):
    head = "Float " if form == "avro-float64" else ""
    kind = DECIMAL if "number" in form else TEXT
    texts = ["1." + "5" * 28, "1." + "5" * 29, "0.5", "1e5"]
    assert [flag == OK for flag in flags_of(form, [head + text for text in texts], kind=kind)] == [
        True,
        False,
        True,
        False,
    ]


@pytest.mark.parametrize("form", ["base64", "avro-bytes"])
def test_base64_is_padded_and_its_last_letter_has_no_bits_to_spare(form):
    head = "BinaryObject " if form == "avro-bytes" else ""
    good = [base64.b64encode(bytes(range(251, 251 - size, -1))).decode() for size in range(20)] + [
        "+/+/",
        "////",
        "AA==",
        "AAA=",
    ]
    assert flags_of(form, [head + text for text in good]) == [OK] * len(good)
    bad = [
        "A",
        "AA",
        "AAA",
        "AAAAA",
        "A===",
        "AA=A",
        "=AAA",
        "====",
        "AB==",
        "AAB=",
        "AAA-",
        "AA_A",
        "AA A",
        "AAAA\\n",
        "AA==AAAA",
    ]
    assert flags_of(form, [head + text for text in bad]) == [BROKEN] * len(bad)
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    for at in range(4):
        texts = [head + "AAAA"[:at] + chr(byte) + "AAAA"[at + 1 :] for byte in range(0x20, 0x7F)]
        assert [flag == OK for flag in flags_of(form, texts)] == [
            chr(byte) in letters or (chr(byte) == "=" and at == 3) for byte in range(0x20, 0x7F)
        ]  # fmt: skip


def test_bits_in_base64_and_hex_are_the_number_of_their_bytes():
    numbers = [0, 1, 63, 64, 255, 256, 65_535, 2**24 - 1, 2**32, 2**40 - 1, 2**48, 2**56 + 3, 2**63 - 1]
    for size in range(9):
        fitting = [number for number in numbers if number < 256**size]
        raw = [number.to_bytes(size, "big") for number in fitting]
        assert texts_written("bit-base64", [base64.b64encode(one).decode() for one in raw]) == [
            str(one) for one in fitting
        ]
        assert texts_written("bit-hex", [one.hex().upper() for one in raw]) == [str(one) for one in fitting]
    eight, nine = bytes([0x80, *bytes(7)]), bytes(9)
    assert flags_of("bit-base64", [base64.b64encode(one).decode() for one in (eight, nine, bytes(8))]) == [
        OPEN,
        OPEN,
        OK,
    ]
    assert flags_of("bit-hex", [one.hex().upper() for one in (eight, nine, bytes(8))] + ["0", "ab", "0G", "AF"]) == [
        OPEN, OPEN, OK, OPEN, OPEN, OPEN, OK,
    ]  # fmt: skip


def test_hex_has_pairs_of_digits_and_capital_letters():
    texts = [chr(one) + chr(other) for one, other in product(range(0x20, 0x7F), (0x30, 0x46))]
    assert [flag == OK for flag in flags_of("hex-upper", texts)] == [text[0] in "0123456789ABCDEF" for text in texts]
    assert flags_of("hex-upper", ["", "A", "ABC", "AB" * 500]) == [OK, BROKEN, BROKEN, OK]


@pytest.mark.parametrize("form", ["sql-datetime", "sql-date", "decimal-text"])
def test_a_literal_for_what_is_no_value_is_left_open(form):
    literal = {"sql-date": "2024-02-29", "decimal-text": "1.5"}.get(form, "2024-02-29 00:00:00")
    other = literal[:-1] + ("8" if form != "sql-datetime" else "1")
    texts = [literal, other]
    assert flags_of(form, texts, context=Context(invalid_literals=(literal,))) == [OPEN, OK]
    for literals in ((literal, "x"), ("x", literal), ("", literal), (literal[:-1], literal + "0", "x", literal)):
        assert flags_of(form, texts, context=Context(invalid_literals=literals)) == [OPEN, OK]
    assert flags_of(form, texts, context=Context(invalid_literals=(literal[:-1], literal + "0", "\0" + literal))) == [
        OK,
        OK,
    ]
    assert flags_of(form, texts) == [OK, OK]


def test_an_offset_is_taken_from_the_time_before_it():
    offsets = [timedelta(hours=18), timedelta(hours=-18), timedelta(0), timedelta(minutes=-45),
               timedelta(hours=5, minutes=53, seconds=28), timedelta(hours=-9, minutes=-30)]  # fmt: skip
    years, days = (1, 1583, 1969, 2024, 9998), ((1, 1), (2, 28), (12, 31))
    local = [datetime(year, *day, 23, 59, 58) for year in years for day in days]  # noqa: DTZ001  a clock without zone
    cases = [(one, offset) for one in local for offset in offsets if one.year > 1 or offset <= timedelta(0)]
    texts = [one.replace(tzinfo=timezone(offset)).isoformat() for one, offset in cases]
    assert texts_written("iso-instant-offset", texts) == [(one - offset).isoformat() + "Z" for one, offset in cases]
    fractions = [text[:19] + ".120" + text[19:] for text in texts]
    assert texts_written("iso-instant-offset", fractions) == [
        (one - offset).isoformat() + ".12Z" for one, offset in cases
    ]


@pytest.mark.parametrize(
    "offset",
    ["+1:00", "+0100", "+18:01", "-19:00", "+01:60", "+01:00:60", "+01-00", "+01:00:00:00", "", "+", "+01:0a", "z"],
)
def test_what_is_no_offset_is_left_open(offset):
    assert flags_of("iso-instant-offset", [f"2024-02-29T12:30:45{offset}"]) == [OPEN]


def test_a_time_that_may_leave_the_years_of_four_digits_is_left_open():
    texts = [
        "0000-06-15T12:00:00+01:00",
        "9999-06-15T12:00:00+01:00",
        "0000-06-15T12:00:00Z",
        "9999-06-15T12:00:00+00:00",
    ]
    assert flags_of("iso-instant-offset", texts) == [OPEN, OPEN, OK, OK]
