"""JDBC type codes: the numbers that may represent a source type, from java.sql.Types and drivers."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

DRS_DATETIME: Final = "94"
_TEXT_CODES: Final = frozenset({"1", "12", "-1", "-9", "-15", "-16", "2005", "2011"})
_BYTES_CODES: Final = frozenset({"-2", "-3", "-4", "2004"})
# java.sql.Types, with the neighbours that drivers use for the same MySQL type.
JDBC_CODES: Final[Mapping[str, frozenset[str]]] = MappingProxyType({
    "TINYINT": frozenset({"-6", "-7", "16"}),
    "SMALLINT": frozenset({"5"}),
    "MEDIUMINT": frozenset({"4"}),
    "INT": frozenset({"4", "-5"}),
    "BIGINT": frozenset({"-5", "3"}),
    "BOOLEAN": frozenset({"16", "-7", "-6"}),
    "YEAR": frozenset({"4", "5", "91"}),
    "DECIMAL": frozenset({"3", "2"}),
    "FLOAT": frozenset({"6", "7", "8"}),
    "DOUBLE": frozenset({"8", "6"}),
    "BIT": frozenset({"-7", "-2", "-3"}),
    "DATE": frozenset({"91"}),
    "TIME": frozenset({"92"}),
    "DATETIME": frozenset({"93"}),
    "TIMESTAMP": frozenset({"93", "2014"}),
    **dict.fromkeys(("CHAR", "VARCHAR", "TINYTEXT", "TEXT", "MEDIUMTEXT", "LONGTEXT", "ENUM", "SET"), _TEXT_CODES),
    **dict.fromkeys(("BINARY", "VARBINARY", "TINYBLOB", "BLOB", "MEDIUMBLOB", "LONGBLOB"), _BYTES_CODES),
})  # fmt: skip


def is_type_code(token: str) -> bool:
    """Return whether a number is the code of some type."""
    return token == DRS_DATETIME or any(token in known for known in JDBC_CODES.values())
