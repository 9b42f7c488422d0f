"""Null values: records whose key names a deleted row, where a parameter or the contract says so.

Such a value is null, the JSON text `null`, or null in place of a row behind its schema block. The message that it
stands for has the members of the key, and, where the op of a message is, those that a contract lists.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from cdc_contracts.registry.core.common.json_messages import Unreadable, parse_message
from cdc_contracts.registry.core.common.json_structures import write_json
from cdc_contracts.registry.core.common.pointers import follow, split_pointer
from cdc_contracts.registry.core.contract.envelope_model import KeyPlace
from cdc_contracts.registry.core.message.primary_keys import BLOCK, columns_at, read_key_columns

_BLANK: Final = " \t\r\n"
_ALONE: Final = rf"\A[{_BLANK}]*null[{_BLANK}]*\z"
_IN_PLACE_OF_A_ROW: Final = rf'"payload"[{_BLANK}]*:[{_BLANK}]*null[{_BLANK}]*\}}[{_BLANK}]*'
_ends_without_a_row: Final = re.compile(_IN_PLACE_OF_A_ROW.encode() + rb"\Z").search


@dataclass(frozen=True)
class NullValues:
    """How null values of a subject are read: the place of the columns in a key, and the members beside the op.

    `beside_block` says that rows stand beside a schema block.
    """

    key_place: KeyPlace
    beside_block: bool
    op_at: str
    members: Mapping[str, str]

    @property
    def pattern(self) -> str:
        """The pattern of texts that may be null values; `is_null` says which are."""
        return rf"{_ALONE}|{_IN_PLACE_OF_A_ROW}\z" if self.beside_block else _ALONE

    def is_null(self, value: bytes | None) -> bool:
        """Return whether a value is null, the JSON text of it, or one in place of a row beside its schema block."""
        if value is None or value.strip(_BLANK.encode()) == b"null":
            return True
        if not self.beside_block or not _ends_without_a_row(value):
            return False
        try:
            message = parse_message(value)
        except Unreadable:
            return False
        return message.keys() == BLOCK and message["payload"] is None

    def text_of(self, value: bytes | None, key: bytes | None) -> bytes | None:
        """Return the message that a null value stands for; the value as it is if its key names no row."""
        if key is None or not read_key_columns(key, self.key_place):
            return value
        message: dict[str, Any] = parse_message(key)
        at = columns_at(message, self.key_place.at)
        if at != self.key_place.at:
            if not at:
                return value  # the deletion would lack the schema block
            message, at = follow(message, split_pointer(at)), ""
        for name in self.key_place.not_columns:
            follow(message, split_pointer(at)).pop(name, None)
        holder = follow(message, split_pointer(self.op_at)[:-1])
        if not isinstance(holder, dict) or holder.keys() & self.members.keys():
            return value
        holder.update(self.members)
        return write_json(message).encode()
