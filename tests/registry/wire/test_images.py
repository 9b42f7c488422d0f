"""Values of Avro images: a charset is any text, and whatever it is a value is read or refused, never a fault of ours."""

from __future__ import annotations

import json
from encodings.aliases import aliases

import pytest
from output_rows import records_of, unlike_columns
from topics import rendered, scope_of

from cdc_contracts.registry.kernel.kernel import Kernel
from cdc_contracts.registry.wire.images import image_readers

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
        told, end = read(data, 0)
        assert end == len(data)
        assert json.loads(told.encode()).split(" ")[0] in ("Character", "Character!")


@pytest.mark.parametrize(
    ("charset", "told"),
    [("utf8mb4", "Character pear"), ("LATIN1", "Character pear"), ("unicode_escape", "Character! unicode_escape cGVhcg=="),
     ("utf\0", "Character! utf\0 cGVhcg=="), ("swe7", "Character! swe7 cGVhcg==")],
)  # fmt: skip
def test_what_is_no_charset_of_a_database_is_marked(charset, told):
    shown, _ = image_readers(9)["Character"](text(charset) + long(4) + b"pear", 0)
    assert json.loads(shown) == told


@pytest.mark.parametrize("name", [b"utf8\0b4", b"UTF-7\0\0", b"utf_7\0\0"])
def test_a_record_with_an_odd_charset_is_judged_alike_by_both_paths(name):
    scope = scope_of("dts/avro@1")
    values = [value.replace(b"utf8mb4", name, 1) for value in rendered("dts/avro@1", 6)]

    assert unlike_columns(scope, values) == []
    (written,) = Kernel(scope).decode(records_of(values))
    rules = {finding["rule"] for row in written.quarantine.to_pylist() for finding in row["findings"]}
    assert rules == {"D07.avro-text-or-bytes"}
