"""File forms: compressed files and JSON arrays, whose messages are read one after the other, and files in UTF-16.

A form is recognised by the first bytes, not by the name. UTF-16, which a shell of Windows writes, is named, not read.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final, cast

import msgspec

from cdc_contracts.registry.core.common.errors import UnavailableError, UsageError
from cdc_contracts.registry.core.common.extras import require_packages

LINES: Final = (".jsonl", ".ndjson")
"""The endings of files with a message in each line."""
ROWS: Final = ".parquet"
"""The ending of files with a message in each row."""
ONE: Final = (".json", ".avro")
"""The endings of files that are one message, if .json has no object in each line."""
PACKED: Final = frozenset({".gz", ".bz2", ".xz", ".zst"})
"""The endings of compressed files; the ending before says what is in one."""
ARRAY: Final = "array"
CHUNK_BYTES: Final = 16 * 1024 * 1024
_ZSTD: Final = "zstd"
_MAGIC: Final = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\0": "xz", b"\x28\xb5\x2f\xfd": _ZSTD}
_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")
_HEAD_BYTES: Final = 64
_PAIRS_BYTES: Final = 8
_BLANK: Final = b" \t\r\n"


def form_of(path: Path, *, one: bool) -> str | None:
    """Return how a file is compressed, `array` if it is one JSON array, or None. Raises UsageError if it is UTF-16.

    A file of one message (`one`) has its bytes as they were sent: what they are, a finding says.
    """
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
        found = None if one else form_of_bytes(head, str(path))
        if found is None and head.lstrip(_BLANK)[:1] == b"[":
            return ARRAY if split_array(head + file.read()) is not None else None
    if found is not None:
        _refuse_packed_array(next(filter(None, read_unpacked(str(path), found)), b""), str(path))
    return found


def _refuse_packed_array(start: bytes, where: str) -> None:
    """Raise UsageError if a compressed file is one JSON array: its lines are no messages."""
    first = start.lstrip(_BLANK)
    if first[:1] == b"[" and first[1:].lstrip(_BLANK)[:1] == b"{":
        raise UsageError(
            "this is a JSON array in a compressed file, which is read line by line",
            where=where,
            hint="Unpack it first: the elements of an array in a .json file that is not compressed are messages.",
        )


def has_lines(path: Path) -> bool:
    """Return whether a file has a JSON object in each line: its first line is one, and the next one begins another."""
    with path.open("rb") as file:
        lines = filter(None, map(_strip, file))
        first = next(lines, b"")
        following = next(lines, b"") if first.endswith(b"}") else b""
    if not following.startswith(b"{"):
        return False
    try:
        msgspec.json.decode(first, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return True


def form_of_bytes(head: bytes, where: str) -> str | None:
    """Return how bytes are compressed, by the first of them, None if they are not. Raises UsageError for UTF-16."""
    if head.startswith(_MARKS) or _alternates(head[:_PAIRS_BYTES]):
        raise UsageError(
            "this is UTF-16, and messages are UTF-8",
            where=where,
            hint="Convert it: `iconv -f UTF-16 -t UTF-8 FILE > FILE.jsonl`; PowerShell 7 writes UTF-8 with -Encoding "
            "utf8NoBOM.",
        )
    return next((form for magic, form in _MAGIC.items() if head.startswith(magic)), None)


def unpack(data: bytes, where: str) -> bytes:
    """Return bytes as they are, or unpacked if they are compressed. Raises as `form_of_bytes` and `read_unpacked`."""
    form = form_of_bytes(data[:_HEAD_BYTES], where)
    return data if form is None else b"".join(_chunks(io.BytesIO(data), form, where))


def read_unpacked(path: str, form: str) -> Iterator[bytes]:
    """Yield whole lines of a compressed file, many at a time. Raises UnavailableError if it is damaged or cut short."""
    rest = b""
    with Path(path).open("rb") as packed:
        for chunk in _chunks(packed, form, path):
            lines, feed, rest = (rest + chunk).rpartition(b"\n")
            yield lines + feed
    yield rest


def split_array(data: bytes) -> list[bytes] | None:
    """Return the elements of a JSON array as they are written; None if it is not one, or not one of objects."""
    try:
        elements = msgspec.json.decode(data, type=list[msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    values = [bytes(one) for one in elements]
    return values if values and all(one.startswith(b"{") for one in values) else None


def _strip(line: bytes) -> bytes:
    return line.strip(_BLANK)


def _chunks(packed: IO[bytes], form: str, where: str) -> Iterator[bytes]:
    import lzma

    try:
        with _open(packed, form) as file:
            while chunk := file.read(CHUNK_BYTES):
                yield chunk
    except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        raise UnavailableError(f"the compressed file cannot be read: {error}", where=where) from error


def _open(packed: IO[bytes], form: str) -> IO[bytes]:
    import bz2
    import gzip
    import lzma

    match form:
        case "gzip":
            return cast("IO[bytes]", gzip.GzipFile(fileobj=packed))
        case "bzip2":
            return bz2.BZ2File(packed)
        case "xz":
            return lzma.LZMAFile(packed)
    require_packages("pyarrow")
    import pyarrow as pa

    opened: IO[bytes] = pa.CompressedInputStream(packed, _ZSTD)
    return opened


def _alternates(head: bytes) -> bool:
    """Return whether every second byte is 0, and no other, as ASCII characters are in UTF-16."""
    even, odd = head[0::2], head[1::2]
    return len(head) == _PAIRS_BYTES and ((not any(even) and all(odd)) or (all(even) and not any(odd)))
