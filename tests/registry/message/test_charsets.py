"""The charsets of MySQL, by the names it has for them: every one that is known is read as the charset it means."""

from __future__ import annotations

import base64
import json

import pytest

from cdc_contracts.registry.core.message.avro_images import image_readers

IANA = {
    "ascii": "us-ascii", "big5": "big5", "cp1250": "windows-1250", "cp1251": "windows-1251", "cp1256": "windows-1256",
    "cp1257": "windows-1257", "cp850": "ibm850", "cp852": "ibm852", "cp866": "ibm866", "cp932": "ms932",
    "euckr": "euc-kr", "gb18030": "gb18030", "gb2312": "gb2312", "gbk": "gbk", "greek": "iso-8859-7",
    "hebrew": "iso-8859-8", "hp8": "hp-roman8", "koi8r": "koi8-r", "koi8u": "koi8-u", "latin2": "iso-8859-2",
    "latin5": "iso-8859-9", "latin7": "iso-8859-13", "macce": "maccentraleurope", "macroman": "macintosh",
    "sjis": "shift_jis", "tis620": "tis-620", "ucs2": "utf-16-be", "ujis": "euc-jp", "utf16": "utf-16-be",
    "utf16le": "utf-16-le", "utf32": "utf-32-be", "utf8": "utf-8", "utf8mb3": "utf-8", "utf8mb4": "utf-8",
}  # fmt: skip
UNKNOWN = ("armscii8", "binary", "dec8", "eucjpms", "geostd8", "keybcs2", "swe7")
"""What Python has no codec for; their bytes are kept, and no form takes them."""
HOLES = (0x81, 0x8D, 0x8F, 0x90, 0x9D)
"""What cp1252 leaves undefined; in MySQL's latin1 they are the control characters of the same number."""


def read_character(charset: str, value: bytes) -> str:
    name = charset.encode()
    data = bytes((2 * len(name),)) + name + bytes((2 * len(value),)) + value
    text, end = image_readers(6)["Character"](data, 0)
    assert end == len(data)
    return json.loads(text)


@pytest.mark.parametrize("spelled", [str.lower, str.upper])
@pytest.mark.parametrize("charset", IANA)
def test_a_charset_of_mysql_is_read_as_the_charset_it_means(charset, spelled):
    words = ["apple", "Приве́т", "Grüße", "žluťoučký", "日本", "한국", "中文", "Ελλάδα", "שלום", "สวัสดี", "Āboli", "ї"]
    known = []
    for word in words:
        try:
            value = word.encode(IANA[charset])
        except UnicodeEncodeError:
            continue
        known.append(word)
        assert read_character(spelled(charset), value) == f"Character {word}"
    assert known


@pytest.mark.parametrize("charset", UNKNOWN)
def test_bytes_of_an_unknown_charset_are_kept_and_not_guessed(charset):
    assert read_character(charset, b"\xe4") == f"Character! {charset} {base64.b64encode(bytes([0xE4])).decode()}"


def test_every_byte_is_a_character_of_latin1():
    for byte in range(256):
        try:
            expected = bytes([byte]).decode("cp1252")
        except UnicodeDecodeError:
            assert byte in HOLES
            expected = chr(byte)
        assert read_character("latin1", bytes([0x61, byte, 0x62])) == f"Character a{expected}b"


@pytest.mark.parametrize("charset", ["cp1252", "windows-1252"])
@pytest.mark.parametrize("byte", HOLES)
def test_what_windows_leaves_undefined_is_no_character_of_its_own_charset(charset, byte):
    assert read_character(charset, bytes([byte])).startswith("Character! ")
