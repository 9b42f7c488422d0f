"""Mutants: the samples of a version, each changed in one thing, one of each kind, place, op and type or all.

CDC_CONTRACTS_MUTATIONS=kinds makes one of each (some 200,000), CDC_CONTRACTS_MUTATIONS=all every mutation of every
sample; otherwise they are a few of a quarter of the samples, which rotates with the commit.
"""

from __future__ import annotations

import json
import os
import random
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from both_paths import VERSIONS, samples
from case_sampling import VARIABLE, take_part, turn_of
from mutations import DROP, KINDS, Members, Mutant, Token, get, put, to_json, walk, written

from cdc_contracts.registry.core.common.json_messages import Unreadable
from cdc_contracts.registry.core.common.pointers import split_pointer
from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.message.transport import open_transport
from cdc_contracts.registry.core.values import Number

MUTATIONS = os.environ.get("CDC_CONTRACTS_MUTATIONS", "some")
SOME = MUTATIONS == "some"
CHOSEN, CHOSEN_VALUES = 2, 4
"""How many mutations of a kind are chosen per version, and of the kinds that put values in columns."""
THIN = 12 if SOME else 1
"""One of so many texts and numbers is put into a place, each place having others, before some of them are chosen."""
SHARE = 4 if SOME else 1
"""One of so many samples is changed."""
FEW = 4 if SOME else 8
"""Among the mutations of so many places one is drawn for a message of a stream."""


@cache
def mutants(version: Version) -> list[bytes]:
    """Return the mutated samples of a version: one of each kind, or all."""
    seen: set[Any] | None = None if MUTATIONS == "all" else set()
    found: dict[str, list[tuple[int, bytes | Any]]] = {}
    wire = open_transport(version, ReadingOptions())
    turn = turn_of(os.environ.get(VARIABLE, "0"))
    for number, (_, value) in take_part(enumerate(samples()[version.reference]), SHARE, version.reference, turn):
        try:
            message = wire.open(value)
        except Unreadable:
            continue
        for kind, mutant in mutate(message, AnnotatedMessage(version, message, seen)):
            rank = zlib.crc32(repr((kind, number, version.reference)).encode())
            found.setdefault(kind[0], []).append((rank, mutant))
        if wire.transport == "avro":
            found["broken bytes"] = [*found.get("broken bytes", []), *broken_bytes(value, number)]
    kept: dict[bytes | None, None] = {}
    for head, mutations in found.items():
        if SOME:
            mutations.sort(key=lambda entry: entry[0])
            del mutations[CHOSEN_VALUES if head in ("text", "number", "kind") else CHOSEN :]
        kept |= dict.fromkeys(written(wire, mutant) for _, mutant in mutations)
    return [value for value in kept if value is not None]


def broken_bytes(value: bytes, seed: int) -> Iterator[tuple[int, bytes]]:
    """Yield a record with a byte changed, left out or added, in a few places."""
    draw = random.Random(seed)
    for _ in range(6):
        place = draw.randrange(len(value))
        byte = bytes([draw.randrange(256)])
        for mutant in (value[:place] + byte + value[place + 1 :], value[:place] + value[place + 1 :],
                       value[:place] + byte + value[place:]):  # fmt: skip
            yield zlib.crc32(mutant), mutant


@dataclass
class AnnotatedMessage:
    """Where the op, the images and the types of a message are, so that kinds of mutations can be told apart.

    With `seen` one place of each kind is mutated, with `few` some places that it draws.
    """

    version: Version
    message: dict[str, Any]
    seen: set[Any] | None = None
    few: random.Random | None = None

    def __post_init__(self) -> None:
        meaning = self.version.meaning
        self.images = [split_pointer(at) for at in meaning.images.pointers()]
        self.op_at = split_pointer(meaning.envelope.op.at)
        types = meaning.columns.types
        self.types_at = () if types == "none" else split_pointer(types.at or "")
        self.types = get(self.message, self.types_at) if self.types_at else None
        op = get(self.message, self.op_at)
        self.op = op if isinstance(op, str) and op in meaning.ops else "other"

    def places(self, what: str) -> Iterator[tuple[tuple[Any, ...], tuple[Any, ...], Any, Any]]:
        """Yield each place with its kind, its parent and its value; one of each kind where kinds seen are noted."""
        everywhere = list(walk(self.message))
        for parts, parent, value in self.few.sample(everywhere, min(FEW, len(everywhere))) if self.few else everywhere:
            place = self.kind_of(parts)
            if self.seen is not None:
                key = (what, place, type(value))
                if key in self.seen:
                    continue
                self.seen.add(key)
            yield parts, place, parent, value

    def turn_of(self, place: tuple[Any, ...]) -> slice:
        """Return which of the values of a kind are put into a place: all, or where few are chosen in the end a few."""
        thin = 1 if self.seen is None else THIN
        return slice(zlib.crc32(repr((place, self.version.reference)).encode()) % thin, None, thin)

    def is_new(self, *kind: Any) -> bool:
        """Say whether a kind is new, where kinds seen are noted."""
        if self.seen is None:
            return True
        new = kind not in self.seen
        self.seen.add(kind)
        return new

    def image_of(self, parts: tuple[Any, ...]) -> tuple[str, ...] | None:
        return next((image for image in self.images if parts[: len(image)] == image), None)

    def is_column(self, parts: tuple[Any, ...]) -> bool:
        image = self.image_of(parts)
        depth = 1 if self.version.meaning.images.hold_one_row else 2
        return image is not None and len(parts) == len(image) + depth

    def kind_of(self, parts: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return a place without the names of columns: what the column is counts, and the op of the message."""
        if self.is_column(parts):
            reported = self.types.get(parts[-1]) if isinstance(self.types, dict) else None
            form = (
                type(get(self.message, parts)).__name__ if not isinstance(reported, str) else reported.partition("(")[0]
            )
            return (*parts[:1], form)
        if self.types_at and parts[:-1] == self.types_at:
            return (*self.types_at, "*")
        return (self.op, *("0" if isinstance(part, int) else part for part in parts))


TEXTS = (
    "-5", "007", "+1", "-0", "1.50", "1e3", "1E999999999", "0x1F", " 1", "1 ", "\uff11\uff12", "true", "null", "NaN",
    "AAEC", "AA==", "AB==", "A", "=", "FF00", "ff", "[1, 2]", "[]", "[300]", "2024", "1900", "0000", "2024-01-02",
    "2024-1-2",
    "2020-02-30", "0000-00-00", "2024-01-02 03:04:05", "2024-01-02 03:04:05.1234567890", "2024-01-02 03:04:05.5",
    "2024-01-02 03:04:05 Asia/Shanghai", "2024-01-02T03:04", "2024-01-02T03:04:05", "2024-01-02T03:04:05.5",
    "2024-01-02T03:04:05Z", "2024-01-02T25:00", "0000-00-00 00:00:00", "0000-00-00 00:00:00.0", "2020-02-30 10:00:00",
    "2020-02-30T10:00", "10:20", "10:20:30", "10:20:30.5", "-10:20:30", "-00:00:00", "850:00:00", "25:61:00",
    "1715000000", "1715000000.5", "1715000000.0000000000", "999999999999", "1234567890123", "-1715000000",
    "INTERVAL '3' DAY", "+04-02", "+03 04:05:06.7", "+04-12", "é", "\u0000", "😀", "1" * 41, "9" * 4097,
)  # fmt: skip
NUMBERS = (
    "0", "-0", "1", "2", "-1", "256", "1.0", "1e3", "1E+2", "-0.0", "0.10", "1.5e-7", "9007199254740993",
    "9223372036854775807", "9223372036854775808", "-9223372036854775809", "18446744073709551616", "1e400", "1e-400",
    "1e999999", "1e99999999999999999999", "1715000000", "1715000000000", "1715000000123", "1715000000123.4567",
    "1900", "1901", "2155", "2156", "1" + "0" * 30, "9" * 4096, "9" * 4097, "9" * 5000, "0." + "0" * 4200 + "1",
)  # fmt: skip
NAMES = ("shop", "mall.shop", "a.b.c", ".", "times", "orders", "every_type", "nowhere", "a/b")
KEYS = ([], ["nope"], ["id", "id"], ["id", "nope"], ["\u0001"], "id", "id\u0001nope", "nope", "\u0001", "id\u0001")
TWINS: dict[str, Any] = {"number": Number("7"), "text": "x", "null": None, "list": [{}]}
RAW_TEXTS = {
    "lone surrogate": r'"\ud800"', "pair": r'"\ud83d\ude00"', "bad escape": r'"\x"', "control": '"\x01"',
    "slash": r'"\/"',
}  # fmt: skip
RAW_VALUES = {
    "NaN": "NaN", "Infinity": "-Infinity", "leading zero": "01", "point": "1.", "plus": "+1", "True": "True",
    "deep": "[" * 126 + "]" * 126, "deeper": "[" * 130 + "]" * 130,
}  # fmt: skip
ESCAPES = str.maketrans({letter: f"\\u{ord(letter):04x}" for letter in "abcdefghijklmnopqrstuvwxyzIUD_ "})


def mutate(message: dict[str, Any], anatomy: AnnotatedMessage) -> Iterator[tuple[Any, bytes]]:
    """Yield every mutation of a message as its kind and what `to_bytes` writes."""
    yield from dropped_and_added(message, anatomy)
    yield from other_values(message, anatomy)
    yield from other_ops(message, anatomy)
    yield from other_images(message, anatomy)
    yield from other_types(message, anatomy)
    yield from other_names(message, anatomy)
    yield from named_twice(message, anatomy)
    yield from written_otherwise(message, anatomy)


def dropped_and_added(message: Any, anatomy: AnnotatedMessage) -> Iterator[tuple[Any, Mutant]]:
    for parts, place, _, value in anatomy.places("member"):
        if parts:
            yield ("drop", place), put(message, {parts: DROP})
        if isinstance(value, dict):
            for name, item in KINDS.items():
                yield ("add", place, name), put(message, {parts: {**value, "zz_new": item}})
            for name in ("", "a/b~c", 'quo"te', "back\\slash", "line\nfeed", "é", "type", "id", "data", "f0"):
                if name not in value:
                    yield ("add named", place, name), put(message, {parts: {**value, name: "x"}})
        elif isinstance(value, list):
            for name, item in KINDS.items():
                yield ("append", place, name), put(message, {parts: [*value, item]})


def other_values(message: Any, anatomy: AnnotatedMessage) -> Iterator[tuple[Any, Mutant]]:
    for parts, place, _, value in anatomy.places("value"):
        for name, item in KINDS.items():
            if parts:
                yield ("kind", place, name), put(message, {parts: item})
        if not parts or isinstance(value, dict | list):
            continue
        column = anatomy.is_column(parts)
        turn = anatomy.turn_of(place)
        for text in (TEXTS if column else TEXTS[::5])[turn]:
            yield ("text", place, text), put(message, {parts: text})
        for token in (NUMBERS if column else NUMBERS[::3])[turn]:
            yield ("number", place, token), put(message, {parts: Token(token)})


def other_ops(message: Any, anatomy: AnnotatedMessage) -> Iterator[tuple[Any, Mutant]]:
    codes = {code for version in VERSIONS for code in version.meaning.ops} | {"insert", "UPSERT", "", "\uff29"}
    for code in sorted(codes):
        if get(message, anatomy.op_at) is not None and anatomy.is_new("op", anatomy.op, code):
            yield ("op", anatomy.op, code), put(message, {anatomy.op_at: code})


def other_images(message: Any, anatomy: AnnotatedMessage) -> Iterator[tuple[Any, Mutant]]:
    held = [image for image in anatomy.images if get(message, image)]
    for image in held:
        value = get(message, image)
        row = value[0] if isinstance(value, list) else value
        if not isinstance(row, dict) or not anatomy.is_new("image", anatomy.op, image, len(held)):
            continue
        half = dict(list(row.items())[: len(row) // 2])
        variants = {
            "two": [row, row], "three": [row, half, row], "half": [half], "empty and row": [{}, row], "one empty": [{}],
            "row and null": [row, None], "bare": row, "listed": [row], "bare half": half, "reversed":
            [dict(reversed(row.items()))] if isinstance(value, list) else dict(reversed(row.items())),
        }  # fmt: skip
        for name, variant in variants.items():
            yield ("image", anatomy.op, image, name), put(message, {image: variant})
            for other in anatomy.images:
                if other != image:
                    yield ("image too", anatomy.op, image, other, name), put(message, {other: variant})
                    for gone in (DROP, None, [], {}):
                        moved = put(message, {other: variant, image: gone})
                        yield ("image moved", anatomy.op, image, name, str(gone)[:4]), moved
    if len(anatomy.images) > 1 and anatomy.is_new("images", anatomy.op, len(held)):
        first, second = anatomy.images[:2]
        a, b = get(message, first), get(message, second)
        yield ("swap", anatomy.op), put(message, {first: b, second: a})
        for pair in ((None, None), (DROP, DROP), ([], []), ({}, {}), (None, DROP), ([], None)):
            yield ("no image", anatomy.op, str(pair)[:20]), put(message, {first: pair[0], second: pair[1]})


def other_types(message: Any, anatomy: AnnotatedMessage) -> Iterator[tuple[Any, Mutant]]:
    if not isinstance(anatomy.types, dict):
        return
    reported = (
        "int", "varchar", "VARCHAR(20)", "timestamp", "timestamp(6)", "datetime", "date", "time", "bit", "blob", "year",
        "decimal(10,2)", "double", "bigint unsigned", "boolean", "json", "geometry", "", "no such type", "bit(8)",
    )  # fmt: skip
    for name, own in anatomy.types.items():
        for other in reported if anatomy.is_new("type", str(own), anatomy.op) else ():
            yield ("type", str(own), other), put(message, {(*anatomy.types_at, name): other})
    extra = {**anatomy.types, "zz_typed": "int"}
    yield ("type", "added"), put(message, {anatomy.types_at: extra})
    yield ("types", "reversed"), put(message, {anatomy.types_at: dict(reversed(anatomy.types.items()))})


def other_names(message: Any, anatomy: AnnotatedMessage) -> Iterator[tuple[Any, Mutant]]:
    envelope = anatomy.version.meaning.envelope
    for place in (envelope.database, envelope.table):
        at = split_pointer(place.at or "") if place else ()
        if at and isinstance(get(message, at), str):
            for name in NAMES if anatomy.is_new("name", at, anatomy.op) else ():
                yield ("name", at, anatomy.op, name), put(message, {at: name})
    keys = split_pointer(envelope.primary_key.at or "") if envelope.primary_key else ()
    if keys and get(message, keys[:-1]) is not None:
        for key in KEYS if anatomy.is_new("key", anatomy.op) else ():
            yield ("key", anatomy.op, str(key)), put(message, {keys: key})


def named_twice(message: Any, anatomy: AnnotatedMessage) -> Iterator[tuple[Any, Mutant]]:
    for parts, place, parent, value in anatomy.places("twice"):
        if not parts or not isinstance(parent, dict):
            continue
        name = parts[-1]
        for other_name, other in {**TWINS, "same": value}.items():
            for first in (True, False):
                pairs = Members(parent.items())
                pairs.insert(0, (name, other)) if first else pairs.append((name, other))
                yield ("twice", place, other_name, first), put(message, {parts[:-1]: pairs})


def written_otherwise(message: Any, anatomy: AnnotatedMessage) -> Iterator[tuple[Any, Mutant]]:
    """Yield the same message in other words, and what is no message at all."""
    if anatomy.is_new("written", anatomy.op):
        yield from written_around(to_json(message))
    for parts, place, parent, value in anatomy.places("token"):
        if not parts:
            continue
        if isinstance(parent, dict):
            escaped = Token(json.dumps(parts[-1], ensure_ascii=False).translate(ESCAPES))
            pairs = Members((escaped if name == parts[-1] else name, item) for name, item in parent.items())
            yield ("name escaped", place), put(message, {parts[:-1]: pairs})
        if isinstance(value, str):
            escaped = json.dumps(value, ensure_ascii=False)
            yield ("value escaped", place), put(message, {parts: Token(f'"{escaped[1:-1].translate(ESCAPES)}"')})
            for name, raw in RAW_TEXTS.items():
                yield (name, place), put(message, {parts: Token(raw)})
            yield ("bad bytes", place), put(message, {parts: "\udcff"})
            yield ("raw surrogate", place), put(message, {parts: "\ud800"})
        for name, raw in RAW_VALUES.items():
            yield ("token", name, place), put(message, {parts: Token(raw)})


def written_around(text: str) -> Iterator[tuple[Any, bytes]]:
    for around in (b" %s\r\n", b"\t\n%s", b"%s\n{}", b"\xef\xbb\xbf%s", b"%s,", b"[%s]", b"%s\x00", b"\x0b%s"):
        yield ("written", around), around % text.encode()
    yield ("written", "indented"), json.dumps(json.loads(text, parse_int=str, parse_float=str), indent=2).encode()
    yield ("written", "ascii"), re.sub("[^\x00-\x7f]", lambda found: json.dumps(found[0])[1:-1], text).encode()
    yield ("written", "spaced"), text.replace('":', '" : ').replace(',"', ' ,\t"').encode()
    yield ("written", "cut"), text.encode()[:-1]
    yield ("written", "utf-16"), text.encode("utf-16")
