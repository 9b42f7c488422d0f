"""Grammars of MySQL and Oracle: how their DDL differs in names and types, as data.

Types come out as the database itself names them: it stores `integer` as `int`, `bool` as `tinyint(1)`, and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

Phrases = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Grammar:
    """The SQL of one family of databases; all words are in capitals.

    `fold` gives an unquoted name the case that the database stores, `spell` a type. `keeps_case`: whether columns may
    have names that differ in case alone. `phrases` are names of types of
    several words, the longest first, `endings` what may follow the brackets of a type. `synonyms` say what is stored
    for a name of a type, `bare` what is stored where it has no arguments. `elements` begin what is no column in the
    brackets of CREATE TABLE.
    """

    name: str
    fold: Callable[[str], str]
    spell: Callable[[str], str]
    keeps_case: bool
    phrases: Phrases
    endings: Phrases
    synonyms: Mapping[str, str]
    bare: Mapping[str, str]
    elements: Phrases


_NATIONAL: Final = (
    ("NATIONAL", "CHARACTER", "VARYING"), ("NATIONAL", "CHAR", "VARYING"), ("NATIONAL", "CHARACTER"),
    ("NATIONAL", "CHAR"), ("CHARACTER", "VARYING"), ("CHAR", "VARYING"), ("NCHAR", "VARYING"), ("DOUBLE", "PRECISION"),
)  # fmt: skip
_CONSTRAINTS: Final = (("CONSTRAINT",), ("PRIMARY", "KEY"), ("FOREIGN", "KEY"), ("CHECK", "("))

MYSQL: Final = Grammar(
    name="mysql",
    fold=str,
    spell=str.lower,
    keeps_case=False,
    phrases=(
        *_NATIONAL, ("NATIONAL", "VARCHAR"), ("NCHAR", "VARCHAR"), ("LONG", "VARCHAR"), ("LONG", "VARBINARY"),
        ("LONG", "CHAR", "VARYING"),
    ),
    endings=(("UNSIGNED",), ("SIGNED",), ("ZEROFILL",)),
    synonyms={
        "INTEGER": "INT", "INT1": "TINYINT", "INT2": "SMALLINT", "INT3": "MEDIUMINT", "MIDDLEINT": "MEDIUMINT",
        "INT4": "INT", "INT8": "BIGINT", "NUMERIC": "DECIMAL", "DEC": "DECIMAL", "FIXED": "DECIMAL",
        "DOUBLE PRECISION": "DOUBLE", "REAL": "DOUBLE", "FLOAT8": "DOUBLE", "FLOAT4": "FLOAT", "CHARACTER": "CHAR",
        "NCHAR": "CHAR", "NATIONAL CHAR": "CHAR", "NATIONAL CHARACTER": "CHAR", "CHARACTER VARYING": "VARCHAR",
        "CHAR VARYING": "VARCHAR", "NATIONAL VARCHAR": "VARCHAR", "NATIONAL CHARACTER VARYING": "VARCHAR",
        "NATIONAL CHAR VARYING": "VARCHAR", "NCHAR VARCHAR": "VARCHAR", "NCHAR VARYING": "VARCHAR",
        "NVARCHAR": "VARCHAR", "VARCHARACTER": "VARCHAR", "LONG": "MEDIUMTEXT", "LONG VARCHAR": "MEDIUMTEXT",
        "LONG CHAR VARYING": "MEDIUMTEXT", "LONG VARBINARY": "MEDIUMBLOB",
    },
    bare={
        "BOOL": "TINYINT(1)", "BOOLEAN": "TINYINT(1)", "SERIAL": "BIGINT UNSIGNED", "DECIMAL": "DECIMAL(10,0)",
        "CHAR": "CHAR(1)", "BINARY": "BINARY(1)", "BIT": "BIT(1)",
    },
    elements=(*_CONSTRAINTS, ("UNIQUE",), ("KEY",), ("INDEX",), ("FULLTEXT",), ("SPATIAL",)),
)  # fmt: skip
ORACLE: Final = Grammar(
    name="oracle",
    fold=str.upper,
    spell=str.upper,
    keeps_case=True,
    phrases=(*_NATIONAL, ("LONG", "RAW"), ("INTERVAL", "YEAR"), ("INTERVAL", "DAY")),
    endings=(
        ("WITH", "LOCAL", "TIME", "ZONE"), ("WITH", "TIME", "ZONE"), ("TO", "MONTH"), ("TO", "SECOND"),
    ),
    synonyms={
        "NUMERIC": "NUMBER", "DECIMAL": "NUMBER", "DEC": "NUMBER", "VARCHAR": "VARCHAR2", "CHARACTER": "CHAR",
        "CHARACTER VARYING": "VARCHAR2", "CHAR VARYING": "VARCHAR2", "NATIONAL CHARACTER": "NCHAR",
        "NATIONAL CHAR": "NCHAR", "NATIONAL CHARACTER VARYING": "NVARCHAR2", "NATIONAL CHAR VARYING": "NVARCHAR2",
        "NCHAR VARYING": "NVARCHAR2",
    },
    bare={
        "INTEGER": "NUMBER(38,0)", "INT": "NUMBER(38,0)", "SMALLINT": "NUMBER(38,0)", "NUMERIC": "NUMBER(38,0)",
        "DECIMAL": "NUMBER(38,0)", "DEC": "NUMBER(38,0)", "REAL": "FLOAT(63)", "DOUBLE PRECISION": "FLOAT(126)",
        "CHAR": "CHAR(1)", "CHARACTER": "CHAR(1)", "NCHAR": "NCHAR(1)", "NATIONAL CHAR": "NCHAR(1)",
        "NATIONAL CHARACTER": "NCHAR(1)",
    },
    elements=(*_CONSTRAINTS, ("UNIQUE", "("), ("SUPPLEMENTAL", "LOG"), ("PERIOD", "FOR"), ("SCOPE", "FOR")),
)  # fmt: skip
GRAMMARS: Final[Mapping[str, Grammar]] = {one.name: one for one in (MYSQL, ORACLE)}


def as_written(text: str) -> Grammar:
    """Return the SQL that a text is likely to be in, with names as they stand there."""
    return replace(ORACLE if '"' in text and "`" not in text else MYSQL, fold=str)
