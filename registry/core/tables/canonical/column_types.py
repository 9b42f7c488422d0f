"""Column types: the Arrow type of a column of a canonical table, by its source type and the kind of its values.

The kind (VOCABULARY, canonical text) decides, for it says how the text is written; the source type gives the number of
digits. Where it does not, or has more than Arrow and Spark hold, the column stays text.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import pyarrow as pa

from cdc_contracts.registry.core.values.source_types import INTEGERS, SourceType, parse_source_type

TEXT: Final = pa.string()
WHOLE: Final = pa.int64()
"""All integers of up to 64 bits: a column that grows from INT to BIGINT keeps its type."""
UNSIGNED: Final = pa.decimal128(20, 0)
YEAR: Final = pa.int32()
INSTANT: Final = pa.timestamp("us", tz="UTC")
WALL_CLOCK: Final = pa.timestamp("us")

MOST_DIGITS: Final = 38
_MOST_SECOND_DIGITS: Final = 6
_SIGNED_BITS: Final = 63
_PLAIN: Final = {"float": pa.float64(), "boolean": pa.bool_(), "bytes": pa.binary(), "date": pa.date32(), "year": YEAR}


@lru_cache(8192)
def column_type(source_type: str | None, kind: str | None) -> pa.DataType:
    """Return the type of a column whose values have a canonical kind (None: not known) under a source type."""
    result = parse_source_type(source_type or "")
    match kind:
        case "integer":
            return _exact(result) or (
                UNSIGNED if result.unsigned and result.name in ("BIGINT", "SERIAL", "INT8") else WHOLE
            )
        case "bit":
            return WHOLE if result.bits is not None and result.bits <= _SIGNED_BITS else UNSIGNED
        case "decimal" | "number":
            return _exact(result) or (column_type(source_type, "integer") if result.name in INTEGERS else TEXT)
        case "timestamp" | "datetime" if (result.second_digits or 0) > _MOST_SECOND_DIGITS:
            return TEXT
        case "timestamp":
            return INSTANT
        case "datetime":
            return TEXT if result.zoned else WALL_CLOCK
        case _:
            return _PLAIN.get(kind or "", TEXT)


def _exact(source_type: SourceType) -> pa.DataType | None:
    """Return the decimal type of an exact source type; None if it is none, or has too many digits."""
    digits = source_type.digits
    if digits is None or digits.whole + digits.fraction > MOST_DIGITS:
        return None
    return pa.decimal128(digits.whole + digits.fraction, digits.fraction)


def write_type(type_: pa.DataType) -> str:
    """Return a column type as text: `int64`, `decimal(12,2)`, `timestamp[us, UTC]`."""
    if pa.types.is_decimal(type_):
        return f"decimal({type_.precision},{type_.scale})"
    if type_ == INSTANT:
        return "timestamp[us, UTC]"
    return str(type_)


def read_type(text: str) -> pa.DataType:
    """Return the column type that a text names. Raises ValueError if there is none."""
    if text.startswith("decimal("):
        precision, scale = text.removeprefix("decimal(").removesuffix(")").split(",")
        return pa.decimal128(int(precision), int(scale))
    types = (TEXT, WHOLE, YEAR, INSTANT, WALL_CLOCK, *_PLAIN.values())
    found = next((one for one in types if write_type(one) == text), None)
    if found is None:
        raise ValueError(f"not a column type: {text}")
    return found
