"""BIT columns: the unsigned integer of big-endian bytes; leading zero bytes do not count."""

from __future__ import annotations

import binascii
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from cdc_contracts.registry.values.arrow_columns import ColumnResult, Texts, break_unless, slide
from cdc_contracts.registry.values.byte_strings import decode_base64, decode_hex, encode_base64, fit_base64, fit_hex
from cdc_contracts.registry.values.form_values import LIMIT, BrokenValue, Context, Flag, Value
from cdc_contracts.registry.values.lazy_arrow import np, pa

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cdc_contracts.registry.values.arrow_columns import Bytes, Ints, Mask

WORD: Final = 8
"""Bytes of the longest BIT of MySQL; longer ones are left to the reference."""
MOST_BYTES: Final = 1701
"""An integer of more bytes has more than LIMIT digits."""
_NO_PADDING: Final = bytes.maketrans(b"=", b"A")


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
    data = data.lstrip(b"\0")
    text = str(int.from_bytes(data, "big")) if len(data) <= MOST_BYTES else ""
    if not text or len(text) > LIMIT:
        raise BrokenValue(Flag.TOO_LONG)
    return text


def _to_bytes(text: str) -> bytes:
    number = int(text)
    return number.to_bytes(max(1, (number.bit_length() + 7) // 8), "big")


def validate_bit_base64(values: pa.Array, _context: Context) -> ColumnResult:
    """Validate bit fields of up to eight bytes; longer ones stay open."""
    texts = Texts(values)
    return _validate(values, fit_base64(texts), _sizes_of_base64(texts), _decode_base64)


def validate_bit_hex(values: pa.Array, _context: Context) -> ColumnResult:
    """Validate bit fields of up to eight bytes; longer ones stay open."""
    texts = Texts(values)
    return _validate(values, fit_hex(texts), texts.lengths // 2, _decode_hex)


def _validate(values: pa.Array, fits: Mask, sizes: Ints, decode: Callable[[Texts], NDArray[np.uint64]]) -> ColumnResult:
    short = fits & (sizes <= WORD)

    def write() -> pa.Array:
        numbers = np.zeros(len(values), np.uint64)
        if short.any():
            numbers[short] = decode(Texts(values.filter(pa.array(short))))
        return pa.array(numbers).cast(pa.string())

    return ColumnResult(write, fits & ~short, break_unless(fits))


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
