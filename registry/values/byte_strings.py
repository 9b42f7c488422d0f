# ruff: noqa: PLR2004 - the numbers are those of bytes and their digits
"""Byte strings: Base64, upper-case hex and lists of numbers; canonical is padded Base64."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Final

from cdc_contracts.registry.values.arrow_columns import ColumnResult, Texts, break_unless
from cdc_contracts.registry.values.form_values import BrokenValue, Context, Value
from cdc_contracts.registry.values.lazy_arrow import np, pa

if TYPE_CHECKING:
    from cdc_contracts.registry.values.arrow_columns import Bytes, Ints, Mask

BASE64: Final = re.compile("(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=|[A-Za-z0-9+/][AQgw]==)?")
"""RFC 4648 section 4 with padding; the bits that padding leaves over are zero."""
HEX: Final = re.compile("(?:[0-9A-F]{2})*")
_ITEM: Final = "(?:-?[1-9][0-9]{0,2}|0)"
BYTE_LIST: Final = re.compile(rf"\[(?:{_ITEM}(?:, {_ITEM})*)?\]")
PART: Final = 1 << 16
"""Bytes looked at in one go: few enough to stay in the cache with what is computed from them."""


def decode_base64(text: str) -> bytes:
    """Give the bytes of canonical Base64.

    Raises BrokenValue: the text is anything else.
    """
    if not BASE64.fullmatch(text):
        raise BrokenValue
    return base64.b64decode(text)


def decode_hex(text: str) -> bytes:
    """Give the bytes of upper-case hex digits.

    Raises BrokenValue: the text is anything else.
    """
    if not HEX.fullmatch(text):
        raise BrokenValue
    return bytes.fromhex(text)


def encode_base64(data: bytes) -> str:
    """Give the canonical text of bytes."""
    return base64.b64encode(data).decode("ascii")


def read_base64(text: str, _context: Context) -> Value:
    """Read canonical Base64."""
    decode_base64(text)
    return Value(text)


def read_hex(text: str, _context: Context) -> Value:
    """Read upper-case hex."""
    return Value(encode_base64(decode_hex(text)))


def read_byte_list(text: str, _context: Context) -> Value:
    """Read a list of numbers from -128 to 255; the negative ones are bytes less 256."""
    if not BYTE_LIST.fullmatch(text):
        raise BrokenValue
    numbers = [int(item) for item in text[1:-1].split(", ")] if text != "[]" else []
    if numbers and not (min(numbers) >= -128 and max(numbers) <= 255):
        raise BrokenValue
    return Value(encode_base64(bytes(number & 255 for number in numbers)))


def write_hex(text: str, _context: Context) -> str:
    """Write canonical Base64 as upper-case hex."""
    return decode_base64(text).hex().upper()


def write_byte_list(text: str, _context: Context) -> str:
    """Write canonical Base64 as a list of signed bytes."""
    signed = (byte - 256 if byte > 127 else byte for byte in decode_base64(text))
    return f"[{', '.join(map(str, signed))}]"


def validate_base64(values: pa.Array, _context: Context) -> ColumnResult:
    """Validate Base64; all other text is broken."""
    return ColumnResult(lambda: values, flags=break_unless(fit_base64(Texts(values))))


def validate_hex(values: pa.Array, _context: Context) -> ColumnResult:
    """Validate upper-case hex; all other text is broken."""
    fits = fit_hex(Texts(values))
    return ColumnResult(partial(_write_each, values, fits, _hex_to_base64), flags=break_unless(fits))


def fit_base64(texts: Texts) -> Mask:
    """Mark the rows that are canonical Base64."""
    odd = _mark(texts.data, _NOT_BASE64)
    fits: Mask = texts.lengths % 4 == 0
    last = texts.ends - 1
    one = fits & (texts.lengths > 0) & (texts.bytes_at(last) == ord("="))
    two = one & (texts.bytes_at(last - 1) == ord("="))
    odd[last[one]] = False
    odd[last[two] - 1] = False
    fits[texts.rows_of(np.flatnonzero(odd))] = False
    padded = np.flatnonzero(one)
    final = texts.bytes_at((last - 1 - two)[padded])
    two_left, one_left = (np.frombuffer(table, bool) for table in (_TWO_LEFT, _ONE_LEFT))
    fits[padded] &= np.where(two[padded], two_left[final], one_left[final])
    return fits


def fit_hex(texts: Texts) -> Mask:
    """Mark the rows that are upper-case hex."""
    fits: Mask = texts.lengths % 2 == 0
    fits[texts.rows_of(np.flatnonzero(_mark(texts.data, _NOT_HEX)))] = False
    return fits


def _mark(data: Bytes, table: bytes) -> Mask:
    """Look every byte up in a table of 256 booleans."""
    marks = np.empty(len(data), bool)
    for start in range(0, len(data), PART):
        part = data[start : start + PART].tobytes()
        marks[start : start + PART] = np.frombuffer(part.translate(table), bool)
    return marks


def _letters(letters: str, *, there: bool = True) -> bytes:
    """Give a table that says of each of the 256 bytes whether it is among some letters, or not."""
    return bytes((byte in letters.encode("ascii")) is there for byte in range(256))


_HEX: Final = "0123456789ABCDEF"
_DIGITS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_NOT_HEX: Final = _letters(_HEX, there=False)
_NOT_BASE64: Final = _letters(_DIGITS, there=False)
_ONE_LEFT: Final = _letters(_DIGITS[::4])
_TWO_LEFT: Final = _letters(_DIGITS[::16])


def _write_each(values: pa.Array, fits: Mask, write: Callable[[pa.Array], pa.Array]) -> pa.Array:
    """Write the rows that fit; the others become null."""
    if fits.all():
        return write(values)
    places = pa.array(np.cumsum(fits) - 1, mask=~fits)
    return write(values.filter(pa.array(fits))).take(places)


def _hex_to_base64(values: pa.Array) -> pa.Array:
    texts = Texts(values)
    return join_base64(np.frombuffer(binascii.unhexlify(texts.data.tobytes()), np.uint8), texts.lengths // 2)


def join_base64(data: Bytes, lengths: Ints) -> pa.Array:
    """Encode n byte strings that lie one after another in `data`, each padded to groups of three."""
    bounds = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum((lengths + 2) // 3, out=bounds[1:])
    left = lengths % 3
    one, two = bounds[1:][left == 1], bounds[1:][left == 2]
    filled = np.zeros(int(bounds[-1]) * 3, np.uint8)
    own = np.ones(len(filled), bool)
    own[one * 3 - 2] = own[one * 3 - 1] = own[two * 3 - 1] = False
    filled[own] = data
    encoded = np.frombuffer(bytearray(binascii.b2a_base64(filled.data, newline=False)), np.uint8)
    encoded[one * 4 - 2] = encoded[one * 4 - 1] = encoded[two * 4 - 1] = ord("=")
    offsets = (bounds * 4).astype(np.int32)
    return pa.StringArray.from_buffers(len(lengths), pa.py_buffer(offsets), pa.py_buffer(encoded))


def validate_byte_lists(values: pa.Array, _context: Context) -> ColumnResult:
    """Validate lists of bytes, a part of the column at a time."""
    parts = [_scan_byte_lists(Texts(values.slice(start, size))) for start, size in _parts(values)]
    data, counts, fits = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return ColumnResult(lambda: join_base64(data, counts), flags=break_unless(fits))


def _parts(values: pa.Array) -> Iterator[tuple[int, int]]:
    size = max(1, PART * len(values) // (values.nbytes + 1))
    return ((start, size) for start in range(0, len(values), size))


def _scan_byte_lists(texts: Texts) -> tuple[Bytes, Ints, Mask]:
    """Give the bytes of all lists that fit, how many each row has, and which rows fit.

    An item ends before a comma or a closing bracket; the next one begins two bytes further.
    """
    closing = texts.data == ord("]")
    ends = np.flatnonzero(closing | (texts.data == ord(",")))
    counts = np.diff(np.searchsorted(ends, texts.bounds))
    rows = np.repeat(np.arange(len(counts)), counts)
    begun = counts > 0
    first = (np.cumsum(counts) - counts)[begun]
    starts = np.empty(len(ends), np.int64)
    starts[1:] = ends[:-1] + 2
    starts[first] = texts.starts[begun] + 1

    negative = texts.bytes_at(starts) == ord("-")
    digits = (ends - starts).clip(-1, 5).astype(np.int8) - negative
    hundreds, tens, ones = texts.window(3, ends - 3) - np.uint8(ord("0"))
    has_tens, has_hundreds = digits >= 2, digits >= 3
    numbers = ones + (tens * has_tens) * np.int16(10) + (hundreds * has_hundreds) * np.int16(100)
    fits_item = (digits >= 1) & (digits <= 3) & (ones < 10)
    fits_item &= ((tens < 10) & (numbers >= 10)) | ~has_tens
    fits_item &= ((hundreds < 10) & (numbers >= 100)) | ~has_hundreds
    fits_item &= np.where(negative, (numbers >= 1) & (numbers <= 128), numbers <= 255)
    spaced = texts.bytes_at(starts - 1) == ord(" ")
    spaced[first] = True
    fits_item &= spaced

    fits: Mask = begun & (texts.bytes_at(texts.starts) == ord("[")) & (texts.bytes_at(texts.ends - 1) == ord("]"))
    empty = fits & (texts.lengths == 2)
    fits[rows[~fits_item]] = False
    closing[texts.ends[begun] - 1] = False
    fits[texts.rows_of(np.flatnonzero(closing))] = False  # a bracket in the middle
    items = np.where(negative, -numbers, numbers).astype(np.uint8)
    if not fits.all():
        items, counts = items[fits[rows]], np.where(fits, counts, 0)
        fits |= empty
    return items, counts, fits
