"""Logical types: those that a type may have, and the attributes that declare them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, TypeGuard

from cdc_contracts.registry.core.schema.avro_types.type_graph import LogicalType

DECIMAL: Final = "decimal"

_BASES: Final[Mapping[str, tuple[str, ...]]] = {
    DECIMAL: ("bytes", "fixed"),
    "uuid": ("string", "fixed"),
    "date": ("int",),
    "time-millis": ("int",),
    "time-micros": ("long",),
    "timestamp-millis": ("long",),
    "timestamp-micros": ("long",),
    "timestamp-nanos": ("long",),
    "local-timestamp-millis": ("long",),
    "local-timestamp-micros": ("long",),
    "local-timestamp-nanos": ("long",),
    "duration": ("fixed",),
}
_SIZES: Final[Mapping[str, int]] = {"uuid": 16, "duration": 12}


def read_logical(schema: Mapping[str, Any], kind: str, size: int) -> LogicalType | None:
    """Return the logical type that the attributes of a type give it, if any.

    As the specification has it, one that does not fit its type is no logical type. Kafka Connect writes what a value
    means into `connect.name`, which counts where there is no `logicalType`.
    """
    name = schema.get("logicalType", schema.get("connect.name") if kind not in ("record", "enum") else None)
    if not isinstance(name, str) or kind not in _BASES.get(name, (kind,)):
        return None
    if kind == "fixed" and size != _SIZES.get(name, size):
        return None
    if name != DECIMAL:
        return LogicalType(name)
    precision, scale = schema.get("precision"), schema.get("scale", 0)
    if not _is_count(precision) or not _is_count(scale) or not 0 <= scale <= precision or precision == 0:
        return None
    if kind == "fixed" and precision > math.floor(math.log10(2) * (8 * size - 1)):
        return None
    return LogicalType(name, precision, scale)


def _is_count(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)
