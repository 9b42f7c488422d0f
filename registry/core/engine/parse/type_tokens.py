"""Type tokens: the types of columns, and what stands in place of NULL, from the bytes of the member that says them."""

from __future__ import annotations

from typing import Any

from cdc_contracts.registry.core.common.json_messages import Unreadable, parse_message
from cdc_contracts.registry.core.engine.layouts.struct_layouts import LayoutPlan
from cdc_contracts.registry.core.message.sent_types import read_sent_defaults, read_sent_types
from cdc_contracts.registry.core.writer_schemas.writer_schemas import WriterSchemas


def read_defaults(token: bytes, plan: LayoutPlan, schemas: WriterSchemas | None) -> dict[str, str]:
    """Return the values that columns have in place of NULL, from the token that holds their types."""
    written = plan.types.written
    return {} if written is None else read_sent_defaults(written, _open(token, schemas))


def read_types(token: bytes, plan: LayoutPlan, schemas: WriterSchemas | None) -> dict[str, str] | None:
    """Return the types in a token, by column; None if it is not a map of texts."""
    try:
        types = plan.types
        if types.written is None:
            return None
        return read_sent_types(types.written, _open(token, schemas), types.others)
    except Unreadable:
        return None


def _open(token: bytes, schemas: WriterSchemas | None) -> Any:
    """Return the value of a token, the block of a writer schema where it stands for one."""
    found = parse_message(b'{"types":' + token + b"}")["types"]
    return found if schemas is None else schemas.resolve(found)
