"""Unframed records: records behind the id of a schema as the JSON texts that a draft is made from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cdc_contracts.registry.authoring.drafting.message_members import Members, SampleMessage
from cdc_contracts.registry.authoring.drafting.op_codes import find_op
from cdc_contracts.registry.authoring.drafting.row_places import RowPlaces
from cdc_contracts.registry.core.common.json_messages import Unreadable, parse_message
from cdc_contracts.registry.core.generate.drifting_messages import write_message
from cdc_contracts.registry.core.message.framed_values import FrameReading, framed_values
from cdc_contracts.registry.core.writer_schemas.writer_schemas import WriterSchemas, frame_of


def unframe(
    values: Sequence[bytes], keys: Sequence[bytes | None], schemas: WriterSchemas
) -> tuple[list[bytes], list[bytes | None]]:
    """Return what a JSON converter writes of records and of their keys: changes beside schema blocks, rows alone.

    Rows are what most records are if they hold no record in another; they stand beside blocks too if the name of their
    op code is marked to be none of the columns. What has no frame, or does not fit its schema, is returned as it is.
    """
    opened, opened_keys = (_open(some, schemas) for some in (values, keys))
    framed = [one for one in opened if one is not None]
    rows = [one["payload"] for one in framed if isinstance(one["payload"], dict)]
    nested = sum(any(isinstance(member, dict) for member in row.values()) for row in rows)
    with_blocks = 2 * nested >= len(framed) or _are_marked(rows)

    def text_of(message: dict[str, Any]) -> bytes:
        return write_message(schemas.with_block(message) if with_blocks else message["payload"]).encode()

    return (
        [value if one is None else text_of(one) for value, one in zip(values, opened, strict=True)],
        [key if one is None else text_of(one) for key, one in zip(keys, opened_keys, strict=True)],
    )


def _are_marked(rows: Sequence[dict[str, Any]]) -> bool:
    """Return whether rows have their op code among the columns, with a mark in its name."""
    codes = find_op(Members(SampleMessage("", b"", row) for row in rows), RowPlaces())
    return codes is not None and codes.is_marked


def _open(values: Sequence[bytes | None], schemas: WriterSchemas) -> list[dict[str, Any] | None]:
    """Return the message of each framed value beside what stands for its block, None for any other value."""
    reader, opened = framed_values(schemas, FrameReading(with_blocks=True)), list[dict[str, Any] | None]()
    for value in values:
        try:
            framed = value is not None and frame_of(value) is not None
            opened.append(parse_message(reader.text_of(value)) if framed and value is not None else None)
        except Unreadable:
            opened.append(None)
    return opened
