"""Key spellings: how the keys of the records of one table are written, but for the values of their columns.

By one of them many keys are compared with the columns of their rows at once, as bytes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cdc_contracts.registry.core.common.pointers import follow, split_pointer
from cdc_contracts.registry.core.contract.envelope_model import KeyPlace
from cdc_contracts.registry.core.engine.columns.value_columns import ColumnValues
from cdc_contracts.registry.core.engine.columns.value_flags import Mask
from cdc_contracts.registry.core.engine.layouts.parsed_values import ParsedValues
from cdc_contracts.registry.core.message.primary_keys import columns_at, parse_key

Numbers = NDArray[np.int64]

_MEMBER: Final = re.compile(rb'[\s,]*+"(?:[^"\\]|\\.)*+"\s*+:\s*+')
_END: Final = re.compile(rb"\s*+\}")
_VALUE: Final = r'"[^"\\\x00-\x1f]*"|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|true|false|null'
"""A text without escapes, a number or a constant."""
_decode_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


@dataclass(frozen=True)
class KeySpelling:
    """The names of the columns of keys, and the text around their values."""

    names: tuple[str, ...]
    around: tuple[str, ...]
    json_texts: frozenset[str] = frozenset()
    """The columns whose values are JSON texts in keys."""

    def agreeing(self, columns: Mapping[str, ColumnValues], rows: Numbers, keys: pa.BinaryArray) -> Mask:
        """Return which keys are, byte for byte, what the columns of their rows make of this spelling.

        Texts that JSON cannot hold as they are count as others.
        """
        around: list[str] = [self.around[0]]
        texts: list[pa.StringArray] = []
        sure = np.ones(len(keys), np.bool_)
        for name, behind in zip(self.names, self.around[1:], strict=True):
            sent = _sent_values(columns.get(name), rows, sure)
            if sent is None:
                return np.zeros(len(keys), np.bool_)
            written = _contents(sent) if name in self.json_texts else _values(sent)
            if written is None:
                return np.zeros(len(keys), np.bool_)
            text, quote, known = written
            sure &= known
            around[-1] += quote
            texts.append(text)
            around.append(quote + behind)
        same = (
            _are_between(keys, around[0], around[1], texts[0]) if len(texts) == 1 else _are_joined(keys, around, texts)
        )
        return same & sure

    def differing(
        self, columns: Mapping[str, ColumnValues], rows: Numbers, keys: pa.BinaryArray
    ) -> tuple[Mask, dict[str, Mask]]:
        """Return which keys are written so, and by column those of them that have another value than their row.

        Arrays and objects are left to whoever reads keys one by one.
        """
        try:
            found = pc.extract_regex(keys.cast(pa.string()), self._pattern)
        except pa.ArrowInvalid:  # not UTF-8
            return np.zeros(len(keys), np.bool_), {}
        differing: dict[str, Mask] = {}
        for place, name in enumerate(self.names):
            if name not in columns:
                continue
            there = np.ones(len(keys), np.bool_)
            sent = _sent_values(columns[name], rows, there)
            if sent is None:
                return np.zeros(len(keys), np.bool_), {}
            value = pc.struct_field(found, place)
            quoted = pc.starts_with(value, '"')
            text = pc.if_else(quoted, pc.utf8_slice_codeunits(value, 1, -1), value)
            alike = pc.and_(
                pc.equal(_unsigned_zeros(text), _unsigned_zeros(sent.sent_texts())),
                pc.equal(quoted, pa.array(sent.are_texts)),
            )
            differing[name] = ~alike.fill_null(fill_value=False).to_numpy(zero_copy_only=False) & there
        matched: Mask = found.is_valid().to_numpy(zero_copy_only=False)
        return matched, {name: other & matched for name, other in differing.items()}

    @cached_property
    def _pattern(self) -> str:
        first, *behind = map(re.escape, self.around)
        values = (f"(?P<v{place}>{_VALUE}){text}" for place, text in enumerate(behind))
        return f"^{first}{''.join(values)}$"


def _values(sent: ParsedValues) -> tuple[pa.StringArray, str, Mask]:
    """Return values as JSON writes them, the quotes around all of them, and which it writes without escapes."""
    text, kinds = sent.sent_texts(), set(sent.json_kinds)
    if kinds == {"text"}:
        return text, '"', sent.plain_texts
    if "text" not in kinds:
        return text, "", np.ones(len(sent), np.bool_)
    text = pc.if_else(pa.array(sent.are_texts), pc.binary_join_element_wise('"', text, '"', ""), text)
    return text, "", sent.plain_texts | ~sent.are_texts


def _contents(sent: ParsedValues) -> tuple[pa.StringArray, str, Mask] | None:
    """Return the same of the JSON texts of values, as they were sent; None if these are not known."""
    written = sent.json_texts()
    if written is None:
        return None
    texts, known = written
    return pc.replace_substring(pc.replace_substring(texts, "\\", r"\\"), '"', r"\""), '"', known


def _are_between(keys: pa.BinaryArray, before: str, after: str, texts: pa.StringArray) -> Mask:
    """Return which keys are a text between two others."""
    head, tail = before.encode(), after.encode()
    between = pc.equal(pc.binary_slice(keys, len(head), -len(tail)), texts.cast(pa.binary()))
    long = pc.greater_equal(pc.binary_length(keys), len(head) + len(tail))
    framed = pc.and_(pc.starts_with(keys, head), pc.ends_with(keys, tail))
    return _as_mask(pc.and_(pc.and_(between, long), framed))


def _are_joined(keys: pa.BinaryArray, around: list[str], texts: list[pa.StringArray]) -> Mask:
    """Return which keys are several texts and what is around them."""
    parts: list[Any] = [part for pair in zip(around, texts, strict=False) for part in pair]
    return _as_mask(pc.equal(pc.binary_join_element_wise(*parts, around[-1], "").cast(pa.binary()), keys))


def _as_mask(found: pa.BooleanArray) -> Mask:
    mask: Mask = found.fill_null(fill_value=False).to_numpy(zero_copy_only=False)
    return mask


def _unsigned_zeros(texts: pa.StringArray) -> pa.StringArray:
    return pc.if_else(pc.equal(texts, "-0"), "0", texts)


def _sent_values(column: ColumnValues | None, rows: Numbers, there: Mask) -> ParsedValues | None:
    """Return the values of a column in rows, and take those without it out of a mask; None where some are not known."""
    if column is None or column.odd_rows or not len(column.values):
        return None
    if column.present is None:
        return column.values if len(rows) == len(column.values) else column.values.select(rows)
    there &= column.present[rows]
    return column.values.select(np.maximum(np.cumsum(column.present) - 1, 0)[rows])


def find_spelling(key: bytes, place: KeyPlace) -> KeySpelling | None:
    """Return how a key is written; None if it holds no object of columns there, or one that is written oddly."""
    message = parse_key(key)
    if message is None:
        return None
    at = columns_at(message, place.at)
    members = follow(message, split_pointer(at))
    if not isinstance(members, dict) or not members:
        return None
    columns = dict(place.json_texts)
    names = tuple(columns.get(name, name) for name in map(str, members))
    if len(set(names)) < len(names) or not all(isinstance(members.get(name), str) for name in columns):
        return None
    start, end = 0, len(key)
    for name in split_pointer(at):
        places = _places_of_members(key, start, end)
        if name not in places:
            return None
        start, end = places[name]
    places = _places_of_members(key, start, end)
    if [*places] != [*members]:
        return None
    starts, ends = [0, *(end for _, end in places.values())], [*(start for start, _ in places.values()), len(key)]
    around = tuple(key[first:last].decode() for first, last in zip(starts, ends, strict=True))
    return KeySpelling(names, around, frozenset(columns.values()))


def _places_of_members(key: bytes, start: int, end: int) -> dict[str, tuple[int, int]]:
    """Return where the values of the members of an object in a JSON text begin and end; none if one is there twice."""
    try:
        members = _decode_members(key[start:end])
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return {}
    found, at = {}, key.index(b"{", start) + 1
    for name, value in members.items():
        member = _MEMBER.match(key, at, end)
        if member is None or key[member.end() : member.end() + len(value)] != bytes(value):
            return {}
        found[name] = (member.end(), at := member.end() + len(bytes(value)))
    return found if _END.match(key, at, end) else {}
