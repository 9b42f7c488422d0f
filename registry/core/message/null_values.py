"""Null values: records whose key names a deleted row, where a parameter or the contract says so.

Such a value is null or the JSON text `null`. The message that it stands for has the members of the key, and, where the
op of a message is, those that a contract lists.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from cdc_contracts.registry.core.common.json_messages import parse_message
from cdc_contracts.registry.core.common.json_structures import write_json
from cdc_contracts.registry.core.common.pointers import follow, split_pointer
from cdc_contracts.registry.core.contract.envelope_model import KeyPlace
from cdc_contracts.registry.core.message.primary_keys import columns_at, read_key_columns

NULL_TEXT: Final = "null"
BLANK: Final = " \t\r\n"


@dataclass(frozen=True)
class NullValues:
    """How null values of a subject are read: the place of the columns in a key, and the members beside the op."""

    key_place: KeyPlace
    op_at: str
    members: Mapping[str, str]

    def text_of(self, value: bytes | None, key: bytes | None) -> bytes | None:
        """Return the message that a null value stands for; any other value, or one whose key names no row, as it is."""
        if key is None or not is_null(value) or not read_key_columns(key, self.key_place):
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


def is_null(value: bytes | None) -> bool:
    """Return whether a value is null, or the JSON text of it."""
    return value is None or value.strip(BLANK.encode()) == NULL_TEXT.encode()
