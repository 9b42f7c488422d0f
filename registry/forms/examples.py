"""One value of each form as it stands in a message, for people who read a schema."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

EXAMPLES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "integer-number": "42",
        "integer-text": '"42"',
        "integer-or-text": "9007199254740993",
        "year-number": "2024",
        "year-text": '"2024"',
        "decimal-number": "12.5",
        "decimal-text": '"12.10"',
        "json-number": "12.5",
        "json-number-or-text": '"12.10"',
        "float32-number": "0.5",
        "float64-number": "0.1",
        "float32-text": '"0.5"',
        "float64-text": '"1.0E7"',
        "bool-0-1": "1",
        "bool-json": "true",
        "text": '"red apple"',
        "json-text": '"{\\"a\\": 1}"',
        "opaque-text": '"1011"',
        "base64": '"amc="',
        "hex-upper": '"6A67"',
        "byte-list": '"[106, -1]"',
        "bit-number": "5",
        "bit-base64": '"BQ=="',
        "bit-hex": '"05"',
        "sql-date": '"2024-06-10"',
        "days-since-epoch": "19884",
        "sql-time": '"-12:30:00.5"',
        "iso-time-minutes": '"12:30"',
        "micros-of-day": "45000000000",
        "sql-datetime": '"2024-06-10 14:13:20.5"',
        "sql-datetime-zone": '"2024-06-10 14:13:20.5 +08:00"',
        "iso-datetime-minutes": '"2024-06-10T14:13"',
        "millis-wallclock": "1718028800500",
        "epoch-seconds-integer": "1718000000",
        "epoch-seconds.fraction": '"1718000000.5"',
        "sql-datetime-instant": '"2024-06-10 14:13:20.5"',
        "iso-instant": '"2024-06-10T06:13:20.5Z"',
        "epoch-millis-instant": "1718000000500",
        "epoch-millis.fraction-number": "1718000000500.25",
        "interval-literal": "\"INTERVAL '3' DAY\"",
        "interval-signed": '"+04-02"',
        "avro-integer": '"Integer 42"',
        "avro-decimal": '"Decimal 12.10"',
        "avro-float32": '"Float 0.5"',
        "avro-float64": '"Float 0.1"',
        "avro-character": '"Character red apple"',
        "avro-bytes": '"BinaryObject amc="',
        "avro-text-object": '"TextObject {}"',
        "avro-text-or-bytes": '"Character red apple"',
        "avro-geometry": '"TextGeometry POINT(1 2)"',
        "avro-timestamp": '"Timestamp 1718000000.5"',
        "avro-zoned": '"TimestampWithTimeZone 2024-06-10 14:13:20.5 Asia/Shanghai"',
        "avro-date": '"DateTime 2024-06-10"',
        "avro-time": '"DateTime 12:30:00.5"',
        "avro-datetime": '"DateTime 2024-06-10 14:13:20.5"',
        "avro-year": '"DateTime 2024"',
    }
)
"""JSON texts, by the name of the form: numbers keep their digits."""
