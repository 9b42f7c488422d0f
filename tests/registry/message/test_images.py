"""Values of Avro images: a charset is any text, and whatever it is a value is read or refused, never a fault of ours."""

from __future__ import annotations

import json
from encodings.aliases import aliases

import pytest
from output_rows import records_of, unlike_columns
from topics import CATALOGUE, rendered, scope_of

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.message.avro_images import image_readers, to_datum
from cdc_contracts.registry.core.validate.capabilities import capabilities_of

ODD_NAMES = ("", "\0", "utf8\0", "utf-8 ", "no such charset", "../utf_8", "encodings", "a" * 5_000, "é", "undefined")
BYTES = (b"", b"plain", b"\xff\xfe", b"+2AA-", b"\\ud800", b"-zzz", bytes(range(256)))


def text(value: str) -> bytes:
    return long(len(value.encode())) + value.encode()


def long(value: int) -> bytes:
    """Return an Avro long, by the specification: zigzag, then seven bits a byte."""
    value, out = (value << 1) ^ (value >> 63), bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


@pytest.mark.parametrize("charset", sorted({*aliases, *aliases.values(), *ODD_NAMES}))
def test_a_text_of_any_charset_is_read_or_marked_as_none(charset):
    read = image_readers(9)["Character"]
    for value in BYTES:
        data = text(charset) + long(len(value)) + value
        reported, end = read(data, 0)
        assert end == len(data)
        assert json.loads(reported.encode()).split(" ")[0] in ("Character", "Character!")


@pytest.mark.parametrize(
    ("charset", "reported"),
    [("utf8mb4", "Character pear"), ("LATIN1", "Character pear"), ("unicode_escape", "Character! unicode_escape cGVhcg=="),
     ("utf\0", "Character! utf\0 cGVhcg=="), ("swe7", "Character! swe7 cGVhcg==")],
)  # fmt: skip
def test_what_is_no_charset_of_a_database_is_marked(charset, reported):
    shown, _ = image_readers(9)["Character"](text(charset) + long(4) + b"pear", 0)
    assert json.loads(shown) == reported


@pytest.mark.parametrize("name", [b"utf8\0b4", b"UTF-7\0\0", b"utf_7\0\0"])
def test_a_record_with_an_odd_charset_is_judged_alike_by_both_paths(name):
    validation = scope_of("dts/avro@1")
    values = [value.replace(b"utf8mb4", name, 1) for value in rendered("dts/avro@1", 6)]

    assert unlike_columns(validation, values) == []
    (written,) = Kernel(validation).decode(records_of(values))
    rules = {finding["rule"] for row in written.quarantine.to_pylist() for finding in row["findings"]}
    assert rules == {"D07.avro-text-or-bytes"}


def datetime(**parts: int) -> bytes:
    """Return a DateTime whose parts are each null or an int."""
    names = ("year", "month", "day", "hour", "minute", "second", "millis")
    return b"".join(long(1) + long(parts[name]) if name in parts else long(0) for name in names)


@pytest.mark.parametrize(
    ("parts", "reported"),
    [
        ({"hour": 0, "minute": 0, "second": -1}, " -00:00:01"),
        ({"hour": 0, "minute": -1, "second": 2}, " -00:01:02"),
        ({"hour": 0, "minute": 0, "second": 0, "millis": -500_000_000}, " -00:00:00.5"),
        ({"hour": -12, "minute": 34, "second": 56}, " -12:34:56"),
        ({"hour": -1, "minute": -2, "second": -3}, " -01:02:03"),
        ({"hour": 0, "minute": 0, "second": 0}, " 00:00:00"),
        ({"hour": 1, "minute": -2, "second": 3}, "! "),
        ({"hour": 0, "minute": 2, "second": -3}, "! "),
        ({"hour": 0, "minute": 0, "second": 1, "millis": -1}, "! "),
        ({"year": 2024, "month": -5, "day": 6}, "! "),
    ],
)  # fmt: skip
def test_the_first_part_of_a_clock_that_is_not_zero_has_its_sign(parts, reported):
    shown, _ = image_readers(9)["DateTime"](datetime(**parts), 0)
    assert json.loads(shown) == "DateTime" + reported


@pytest.mark.parametrize("clock", ["-00:00:01", "-00:01:02", "-00:00:00.5", "-12:34:56", "-01:02:03", "00:00:00"])
def test_a_clock_of_either_sign_is_written_and_read_back(clock):
    (_, record) = to_datum(f"DateTime {clock}", 9)
    shown, _ = image_readers(9)["DateTime"](datetime(**{k: v for k, v in record.items() if v is not None}), 0)
    assert json.loads(shown) == f"DateTime {clock}"


@pytest.mark.parametrize(
    ("reference", "parameters", "digits"),
    [("oms/avro@1", {}, 9), ("dts/avro@1", {}, 6), ("oms/avro@1", {"avro_timestamp_fraction": "micros"}, 6),
     ("dts/avro@1", {"avro_timestamp_fraction": "nanos"}, 9)],
)  # fmt: skip
def test_the_part_of_a_second_counts_what_the_vendor_documents_unless_the_user_says_otherwise(
    reference, parameters, digits
):
    can = capabilities_of(CATALOGUE.version(reference), ReadingOptions(parameters=parameters))
    assert can.types.fraction_digits("timestamp") == can.types.fraction_digits("datetime") == digits
