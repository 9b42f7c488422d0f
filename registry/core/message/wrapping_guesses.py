"""Wrapping guesses: what a value that is no message may be: encoded, compressed, wrapped or truncated.

They are reported as guesses. Nothing is unpacked that could grow.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from cdc_contracts.registry.core.common.json_messages import Unreadable, parse_message
from cdc_contracts.registry.core.writer_schemas.writer_schemas import NUMBERED, frame_of

_BROKER_LIMIT: Final = range(1_000_000, 1_048_600)
"""How long values are that the usual limit of a broker, 1 MiB with its overhead, has cut."""
_LEAST_UTF16: Final = 5
"""Bytes by which such text is told."""
_BY_VERSION: Final = (b"\x03\x00", b"\x03\x05")
"""How serializers of AWS Glue begin: the version of their header, and whether the record behind it is compressed."""
_WITH_VERSION: Final = 18
"""The bytes of that header, sixteen of which are the id of a schema version."""
_HEAD: Final = 4096
_MOST_TEXTS: Final = 3
"""The longest texts of a message that may be another one: what wraps a message has little else."""
_SEPARATORS: Final = (b"\t", b"^", b"|", b":", b";", b"#", b"~")
"""What stands between a key and a message in lines that console consumers print."""
_LINE_OF_JSON: Final = re.compile(rb'[{[]|[]}]+,?|"[^"\\]*"\s*:.*')
"""A bracket, or a member that no other one stands before."""
_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{16,}={0,2}\Z")
_NOT_READ: Final = (
    "No contract reads such records: let the producer write JSON, or put the id of a schema registry there."
)
_MAGIC: Final = (
    (b"\xef\xbb\xbf", "a byte order mark of UTF-8", "Let the producer write UTF-8 without a byte order mark."),
    (b"\xff\xfe", "UTF-16 (little end first), by its byte order mark", ""),
    (b"\xfe\xff", "UTF-16 (big end first), by its byte order mark", ""),
    (b"\x1f\x8b", "gzip", "*"),
    (b"\x28\xb5\x2f\xfd", "zstd", "*"),
    (b"\x04\x22\x4d\x18", "LZ4", "*"),
    (b"\x82SNAPPY\x00", "snappy", "*"),
    (b"\xff\x06\x00\x00sNaPpY", "snappy", "*"),
    (b"BZh", "bzip2", "*"),
    (b"\xc3\x01", "an Avro record behind the fingerprint of its schema", _NOT_READ),
    (b"Obj\x01", "an Avro file with its schema", "Messages are bare records: find what writes files into the topic."),
    (b"PAR1", "a Parquet file", "Find what writes files into the topic."),
    (b"\xac\xed\x00\x05", "a Java object", "Let the producer serialize its messages as JSON."),
)
_VARINT, _SIZED, _WIDTHS, _LONGEST_VARINT = 0, 2, {1: 8, 5: 4}, 10
"""Kinds of fields of Protocol Buffers: a number, bytes after their length, and fixed widths in bytes."""
_FIRST_FIELDS: Final = frozenset(bytes([tag]) for tag in (0x08, 0x0A, 0x10, 0x12, 0x18, 0x1A))
"""The tags of fields 1 to 3 that are a number or have a length."""
_UNPACK: Final = "Compress in the producer's client (`compression.type`), which readers undo, not in the application."
_UTF8: Final = "Let the producer write UTF-8: set its character set, or that of the JVM (`file.encoding`)."
_UNWRAP: Final = "Unwrap it on the way"


@dataclass(frozen=True, slots=True)
class WrappingGuess:
    """What a value seems to be, what to do about it, and the message inside where unwrapping gives one."""

    says: str | None = None
    action: str | None = None
    inside: bytes | None = None

    @property
    def with_action(self) -> str:
        """What the value seems to be, and what to do about it."""
        return f"{self.says}. {self.action}"


def guess_bytes(value: bytes) -> WrappingGuess | None:
    """Return what the bytes seem to be that no JSON text begins with, or None."""
    for magic, name, action in _MAGIC:
        if value.startswith(magic):
            return WrappingGuess(name, {"*": _UNPACK, "": _UTF8}.get(action, action))
    return (
        _guess_utf16(value)
        or _guess_frame(value)
        or _guess_protobuf(value)
        or _guess_encoding(value)
        or _guess_base64(value)
        or _guess_json(value)
    )


def guess_text(value: bytes, position: int | None) -> WrappingGuess | None:
    """Return what a UTF-8 text seems to be that is not one JSON text, from where reading it stopped; or None."""
    text = value.strip(b" \t\r\n")
    behind = _find_behind_text(text)
    if behind is not None:
        return WrappingGuess(
            "a message behind other text, such as the key that a console consumer prints before it",
            "Print the values alone (`print.key=false`), or read the topic itself, which gives the keys too.",
            behind,
        )
    if _LINE_OF_JSON.fullmatch(text):
        return WrappingGuess(
            "a line of a JSON text that is written over several lines",
            "Write one message per line, or read a file that holds one message with `--whole`.",
        )
    if text.startswith(b"<"):
        return WrappingGuess("XML, or a page of HTML", "Find what writes it: an error page of a proxy is no message.")
    if not text.startswith((b"{", b"[")):
        return WrappingGuess(
            "plain text, such as a line of CSV or of a log", "Find the producer that writes it, or read another topic."
        )
    if position is not None and position >= len(text):
        limit = " (the size at which the usual limit of a broker cuts)" if len(value) in _BROKER_LIMIT else ""
        return WrappingGuess(
            f"a message that was cut after {len(value):,} bytes{limit}",
            "Look for a limit on size on the way: of messages, of a table column, of a log line.",
        )
    rest = b"" if position is None else value[position:].lstrip(b" \t\r\n")
    if rest.startswith((b"{", b"[")) and position is not None and _holds_object(value[:position]):
        return WrappingGuess(
            "several messages in one value", "Write one message per record, or one per line of a `.jsonl` file."
        )
    if text[1:2] == b"'" or b"': " in text[:_HEAD]:
        return WrappingGuess("the text of a Python dictionary", "Write it with a JSON writer, not with `str`.")
    return None


def _find_behind_text(text: bytes) -> bytes | None:
    """Return the message that ends a text, behind a key and a separator or behind what is no JSON; None without one.

    Objects with white space or a comma between them may be several messages.
    """
    decoded = text.decode()
    try:
        ahead = len(decoded[: json.JSONDecoder().raw_decode(decoded)[1]].encode())
    except (ValueError, RecursionError):
        ahead = 1
    start = text.find(b"{", ahead)
    separators = _SEPARATORS if text.startswith((b"{", b"[")) else (*_SEPARATORS, b" ")
    if start < 1 or text[start - 1 : start] not in separators or text[start:] == b"{}":
        return None
    return text[start:] if _holds_object(text[start:]) else None


def guess_wrapping(message: dict[str, Any], is_near: Callable[[bytes], bool]) -> WrappingGuess | None:
    """Return in what another tool wrapped a message that is JSON all the same, or None.

    `is_near` says whether a value resembles a message of some contract. Columns and documents are texts of JSON too, so
    the text of a member is a message only if it does; a member `payload` is taken for one whatever it holds.
    """
    payload = message.get("payload")
    if message.keys() == {"schema", "payload"} and isinstance(payload, str):
        return _unwrap_text(payload, "a message wrapped by a Connect converter, as text in `payload`", "payload")
    texts = sorted(((name, value) for name, value in message.items() if isinstance(value, str)), key=_longest_first)
    for name, value in texts[:_MOST_TEXTS]:
        found = _unwrap_text(value, f"a message wrapped in another, as text in `{name}`", name)
        if found is not None and (name == "payload" or (found.inside is not None and is_near(found.inside))):
            return found
    return None


def _longest_first(member: tuple[str, str]) -> int:
    """Order texts so that a message comes before its key."""
    return -len(member[1])


def _guess_frame(value: bytes) -> WrappingGuess | None:
    is_utf_32 = value[1:3] == b"\x00\x00" == value[5:7] and value[3:4] != b"\x00"
    if value.startswith(_BY_VERSION) and len(value) > _WITH_VERSION:
        return WrappingGuess("a record framed by a schema registry: 03, then the id of a schema version", _NOT_READ)
    frame = frame_of(value)
    if value[:1] != NUMBERED or frame is None or len(value) == frame.size or is_utf_32:
        return None
    rest = value[frame.size :]
    inside = rest if _holds_object(rest) else None
    what = "JSON" if inside else "a record"
    return WrappingGuess(
        f"{what} framed by a schema registry: 00, then schema id {frame.number}",
        "Give --schema-registry URL, or the folder of `registry dump`: its schema says what it is."
        if inside is None
        else f"Give --schema-registry URL, or drop the first {frame.size} bytes.",
        inside,
    )


def _guess_protobuf(value: bytes) -> WrappingGuess | None:
    """Return whether the bytes are fields of Protocol Buffers to the last one, the first with a low number."""
    if value[0:1] not in _FIRST_FIELDS or not _are_fields(value):
        return None
    return WrappingGuess(
        "a record of Protocol Buffers",
        "Let the producer write JSON: it may have an option for flat or JSON messages. No contract reads such records.",
    )


def _are_fields(value: bytes) -> bool:
    """Return whether bytes are two or more fields of Protocol Buffers, one of them with a length, and nothing else."""
    at, fields, sized = 0, 0, False
    while at < len(value):
        tag, at = _varint(value, at)
        kind = tag & 7
        if tag >> 3 == 0 or kind not in (*_WIDTHS, _VARINT, _SIZED):
            return False
        number, after = _varint(value, at) if kind in (_VARINT, _SIZED) else (0, at + _WIDTHS[kind])
        at = after + (number if kind == _SIZED else 0)
        fields, sized = fields + 1, sized or kind == _SIZED
    return at == len(value) and fields > 1 and sized


def _varint(value: bytes, at: int) -> tuple[int, int]:
    """Return a number in groups of seven bits, the lowest first, and where it ends; beyond the value if it does not."""
    number = 0
    for count, byte in enumerate(value[at : at + _LONGEST_VARINT]):
        number |= (byte & 0x7F) << 7 * count
        if byte < 0x80:  # noqa: PLR2004  the highest bit says that more follow
            return number, at + count + 1
    return 0, len(value) + 1


def _guess_utf16(value: bytes) -> WrappingGuess | None:
    head = value[:_HEAD]
    zeros = (head[0::2].count(0), head[1::2].count(0))
    end, name = ("little", "utf-16-le") if zeros[1] > zeros[0] else ("big", "utf-16-be")
    if len(head) < _LEAST_UTF16 or max(zeros) * 2 <= len(head) // 2 or not _is_letter(head[:2].decode(name, "replace")):
        return None
    return WrappingGuess(f"UTF-16 ({end} end first), without a byte order mark", _UTF8, _recoded(value, name))


def _is_letter(letter: str) -> bool:
    return letter.isprintable() or letter.isspace()


def _guess_encoding(value: bytes) -> WrappingGuess | None:
    try:
        value.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data":
            return WrappingGuess("a message cut in the middle of a character", "Look for a limit on size on the way.")
    else:
        return None
    inside = _recoded(value, "gb18030")
    if inside is not None and re.search("[\u4e00-\u9fff]", inside.decode()):
        return WrappingGuess("GBK (or GB18030)", _UTF8, inside)
    inside = _recoded(value, "cp1252")
    return WrappingGuess("Latin-1 (or Windows-1252)", _UTF8, inside) if inside is not None else None


def _guess_base64(value: bytes) -> WrappingGuess | None:
    text = value.strip(b" \t\r\n").strip(b'"')
    if not _BASE64.match(text):
        return None
    try:
        inside = base64.b64decode(text.replace(b"-", b"+").replace(b"_", b"/"), validate=True)
    except (binascii.Error, ValueError):
        return None
    if not _holds_object(inside):
        return None
    return WrappingGuess("a message in base64", _action("base64"), inside)


def _guess_json(value: bytes) -> WrappingGuess | None:
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):
        return None
    if isinstance(found, str):
        return _unwrap_text(found, "a message written as a JSON string")
    if isinstance(found, list) and found and all(isinstance(one, dict) for one in found):
        return WrappingGuess(
            f"a list of messages in one value, {len(found):,} of them", "Write one message per record."
        )
    return None


def _unwrap_text(text: str, says: str, member: str | None = None) -> WrappingGuess | None:
    """Return the guess where a text, or that of a member, holds a JSON object, as it is or in base64."""
    data = text.encode("utf-8", "replace")
    if _holds_object(data):
        return WrappingGuess(says, _action("connect-json" if member == "payload" else None), data)
    found = _guess_base64(data)
    return WrappingGuess(f"{says}, in base64", _action(None if member else "base64"), found.inside) if found else None


def _action(wrapping: str | None) -> str:
    return f"{_UNWRAP}." if wrapping is None else f"{_UNWRAP}, or read it with `--unwrap {wrapping}`."


def _recoded(value: bytes, encoding: str) -> bytes | None:
    try:
        inside = value.decode(encoding).encode()
    except (UnicodeDecodeError, UnicodeEncodeError):
        return None
    return inside if _holds_object(inside) else None


def _holds_object(value: bytes) -> bool:
    if value[:1] != b"{" and not value.lstrip(b" \t\r\n").startswith(b"{"):
        return False
    try:
        parse_message(value)
    except Unreadable:
        return False
    return True
