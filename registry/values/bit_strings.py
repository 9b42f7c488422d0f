# ruff: noqa: S105 - a token is a JSON number here
"""BIT columns: the unsigned integer of big-endian bytes; leading zero bytes do not count."""

from __future__ import annotations

import binascii
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from cdc_contracts.registry.values import integers
from cdc_contracts.registry.values.arrow_columns import ColumnResult, Texts, break_unless, slide, to_integers
from cdc_contracts.registry.values.byte_strings import decode_base64, decode_hex, encode_base64, fit_base64, fit_hex
from cdc_contracts.registry.values.form_values import BrokenValue, Context, Value
from cdc_contracts.registry.values.lazy_arrow import np, pa

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cdc_contracts.registry.values.arrow_columns import Bytes, Ints, Mask

WORD: Final = 8
"""Bytes of the longest bit field."""
MOST: Final = (1 << 8 * WORD) - 1
_LETTER: Final = "[A-Za-z0-9+/]"
BASE64: Final = f"(?:{_LETTER}{{4}}){{0,2}}(?:{_LETTER}{{2}}[AEIMQUYcgkosw048]=|{_LETTER}[AQgw]==)?"
HEX: Final = f"(?:[0-9A-F]{{2}}){{0,{WORD}}}"
_NO_PADDING: Final = bytes.maketrans(b"=", b"A")


def read_bit_number(token: str, context: Context) -> Value:
    """Read an unsigned integer of up to 64 bits."""
    if token.startswith("-") and token != "-0":
        raise BrokenValue
    value = integers.read_integer(token, context)
    if int(value.text) > MOST:
        raise BrokenValue
    return value


def read_bit_base64(text: str, _context: Context) -> Value:
    """Read the unsigned integer whose bytes are given in Base64."""
    return Value(_write_unsigned(decode_base64(text)))


def read_bit_hex(text: str, _context: Context) -> Value:
    """Read the unsigned integer whose bytes are given in hex."""
    return Value(_write_unsigned(decode_hex(text)))


def write_bit_base64(text: str, _context: Context) -> str:
    """Write an unsigned integer as Base64 of as few bytes as it needs, at least one."""
    return encode_base64(_to_bytes(text))


def write_bit_hex(text: str, _context: Context) -> str:
    """Write an unsigned integer as hex of as few bytes as it needs, at least one."""
    return _to_bytes(text).hex().upper()


def _write_unsigned(data: bytes) -> str:
    if len(data) > WORD:
        raise BrokenValue
    return str(int.from_bytes(data, "big"))


def _to_bytes(text: str) -> bytes:
    number = int(text)
    return number.to_bytes(max(1, (number.bit_length() + 7) // 8), "big")


def validate_bit_base64(values: pa.Array, _context: Context) -> ColumnResult:
    """Validate bit fields of up to eight bytes; longer ones are broken."""
    texts = Texts(values)
    return _validate(values, fit_base64(texts), _sizes_of_base64(texts), _decode_base64)


def validate_bit_hex(values: pa.Array, _context: Context) -> ColumnResult:
    """Validate bit fields of up to eight bytes; longer ones are broken."""
    texts = Texts(values)
    return _validate(values, fit_hex(texts), texts.lengths // 2, _decode_hex)


def validate_bit_numbers(values: pa.Array, _context: Context) -> ColumnResult:
    """Validate unsigned integers of up to 63 bits; larger ones stay open."""
    numbers, unfit = to_integers(values)
    fits = numbers >= 0
    return ColumnResult(lambda: pa.array(numbers).cast(pa.string()), unfit, break_unless(fits))


def _validate(values: pa.Array, fits: Mask, sizes: Ints, decode: Callable[[Texts], NDArray[np.uint64]]) -> ColumnResult:
    fits &= sizes <= WORD

    def write() -> pa.Array:
        numbers = np.zeros(len(values), np.uint64)
        if fits.any():
            numbers[fits] = decode(Texts(values.filter(pa.array(fits))))
        return pa.array(numbers).cast(pa.string())

    return ColumnResult(write, flags=break_unless(fits))


def _decode_base64(texts: Texts) -> NDArray[np.uint64]:
    data = np.frombuffer(binascii.a2b_base64(texts.data.tobytes().translate(_NO_PADDING)), np.uint8)
    sizes, room = _sizes_of_base64(texts), texts.lengths // 4 * 3
    return _read_words(data, np.cumsum(room) - room + sizes, sizes)


def _decode_hex(texts: Texts) -> NDArray[np.uint64]:
    sizes = texts.lengths // 2
    return _read_words(np.frombuffer(binascii.unhexlify(texts.data.tobytes()), np.uint8), np.cumsum(sizes), sizes)


def _sizes_of_base64(texts: Texts) -> Ints:
    padding = np.zeros(len(texts.lengths), np.int64)
    for step in (1, 2):
        padding += (texts.bytes_at(texts.ends - step) == ord("=")) & (texts.lengths > 0)
    return texts.lengths // 4 * 3 - padding


def _read_words(data: Bytes, ends: Ints, sizes: Ints) -> NDArray[np.uint64]:
    """Read the unsigned integers of `sizes` bytes, up to eight, that stop at `ends`."""
    words = slide(np.concatenate((np.zeros(WORD, np.uint8), data)), WORD, ends)
    words = np.where(np.arange(WORD)[:, None] >= WORD - sizes, words, np.uint8(0))
    return np.ascontiguousarray(words.T).view(">u8")[:, 0].astype(np.uint64)
