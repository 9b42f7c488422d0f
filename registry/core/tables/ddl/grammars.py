"""Grammars of MySQL, Oracle and PostgreSQL: how their DDL differs in names and types, as data.

Types come out as the database itself names them. MySQL stores `integer` as `int` and `bool` as `tinyint(1)`, and says
so; PostgreSQL prints `int4` as `integer` (`format_type`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

Phrases = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class TypeGrammar:
    """How a family of databases writes and stores the types of columns; all words are in capitals.

    `spell` gives a type the case that the database stores. `phrases` are names of several words, the longest first,
    `endings` what may follow the brackets of a type. `synonyms` say what is stored for a name, `bare` what is stored
    where it has no arguments, `around` what stands before and behind the arguments. `always_quoted` are other types
    without quotes. `unsized` are stored without their arguments, `serials` are never NULL, and a FLOAT of more than 24
    bits is `wide_float`. Types of the schema `catalogue` need not name it.
    """

    spell: Callable[[str], str]
    phrases: Phrases
    endings: Phrases
    synonyms: Mapping[str, str]
    bare: Mapping[str, str]
    around: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    always_quoted: frozenset[str] = frozenset()
    unsized: frozenset[str] = frozenset()
    serials: frozenset[str] = frozenset()
    wide_float: str | None = None
    arrays: bool = False
    catalogue: str | None = None


@dataclass(frozen=True)
class Grammar:
    """The SQL of one family of databases; all words are in capitals.

    `fold` gives an unquoted name the case that the database stores. `keeps_case`: whether columns may have names that
    differ in case alone. `elements` begin what is no column in the brackets of CREATE TABLE, `primary` says that a
    column is the primary key. `logs_virtual`: whether changes have columns that are computed when they are read.
    `schemas` are searched for a table or type that names none. `data` matches what is no SQL: commands of the client,
    and rows of COPY.
    """

    name: str
    fold: Callable[[str], str]
    keeps_case: bool
    types: TypeGrammar
    elements: Phrases
    primary: Phrases = (("PRIMARY", "KEY"),)
    logs_virtual: bool = False
    schemas: tuple[str, ...] = ()
    data: re.Pattern[str] | None = None


_NATIONAL: Final = (
    ("NATIONAL", "CHARACTER", "VARYING"), ("NATIONAL", "CHAR", "VARYING"), ("NATIONAL", "CHARACTER"),
    ("NATIONAL", "CHAR"), ("CHARACTER", "VARYING"), ("CHAR", "VARYING"), ("NCHAR", "VARYING"), ("DOUBLE", "PRECISION"),
)  # fmt: skip
_CONSTRAINTS: Final = (("CONSTRAINT",), ("PRIMARY", "KEY"), ("FOREIGN", "KEY"), ("CHECK", "("))

MYSQL: Final = Grammar(
    name="mysql",
    fold=str,
    keeps_case=False,
    types=TypeGrammar(
        spell=str.lower,
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
        unsized=frozenset({"YEAR"}),
        serials=frozenset({"SERIAL"}),
        wide_float="DOUBLE",
    ),
    elements=(*_CONSTRAINTS, ("UNIQUE",), ("KEY",), ("INDEX",), ("FULLTEXT",), ("SPATIAL",)),
    primary=(("PRIMARY", "KEY"), ("KEY",)),
    logs_virtual=True,
)  # fmt: skip
ORACLE: Final = Grammar(
    name="oracle",
    fold=str.upper,
    keeps_case=True,
    types=TypeGrammar(
        spell=str.upper,
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
    ),
    elements=(*_CONSTRAINTS, ("UNIQUE", "("), ("SUPPLEMENTAL", "LOG"), ("PERIOD", "FOR"), ("SCOPE", "FOR")),
)  # fmt: skip
_FIELDS: Final = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")
_INTERVALS: Final[Phrases] = (
    *(("INTERVAL", first, "TO", last) for at, first in enumerate(_FIELDS) for last in _FIELDS[at + 1 :]),
    *(("INTERVAL", one) for one in _FIELDS),
)
POSTGRES: Final = Grammar(
    name="postgres",
    fold=str.lower,
    keeps_case=True,
    types=TypeGrammar(
        spell=str.lower,
        phrases=(*_NATIONAL, ("BIT", "VARYING"), *_INTERVALS),
        endings=(("WITH", "TIME", "ZONE"), ("WITHOUT", "TIME", "ZONE")),
        synonyms={
            "INT": "INTEGER", "INT2": "SMALLINT", "INT4": "INTEGER", "INT8": "BIGINT", "SMALLSERIAL": "SMALLINT",
            "SERIAL2": "SMALLINT", "SERIAL": "INTEGER", "SERIAL4": "INTEGER", "BIGSERIAL": "BIGINT",
            "SERIAL8": "BIGINT", "DECIMAL": "NUMERIC", "DEC": "NUMERIC", "FLOAT": "REAL", "FLOAT4": "REAL",
            "FLOAT8": "DOUBLE PRECISION", "BOOL": "BOOLEAN", "CHAR": "CHARACTER", "BPCHAR": "CHARACTER",
            "VARCHAR": "CHARACTER VARYING", "CHAR VARYING": "CHARACTER VARYING", "NCHAR": "CHARACTER",
            "NATIONAL CHAR": "CHARACTER", "NATIONAL CHARACTER": "CHARACTER", "NCHAR VARYING": "CHARACTER VARYING",
            "NATIONAL CHAR VARYING": "CHARACTER VARYING", "NATIONAL CHARACTER VARYING": "CHARACTER VARYING",
            "VARBIT": "BIT VARYING",
        },
        bare={"FLOAT": "DOUBLE PRECISION", "CHARACTER": "CHARACTER(1)", "BPCHAR": "BPCHAR", "BIT": "BIT(1)"},
        around={
            "TIMESTAMP": ("TIMESTAMP", "WITHOUT TIME ZONE"), "TIMESTAMPTZ": ("TIMESTAMP", "WITH TIME ZONE"),
            "TIME": ("TIME", "WITHOUT TIME ZONE"), "TIMETZ": ("TIME", "WITH TIME ZONE"),
        },
        always_quoted=frozenset({"char"}),
        unsized=frozenset({"REAL"}),
        serials=frozenset({"SMALLSERIAL", "SERIAL2", "SERIAL", "SERIAL4", "BIGSERIAL", "SERIAL8"}),
        wide_float="DOUBLE PRECISION",
        arrays=True,
        catalogue="PG_CATALOG",
    ),
    elements=(*_CONSTRAINTS, ("UNIQUE", "("), ("UNIQUE", "NULLS"), ("EXCLUDE",), ("LIKE",), ("NOT", "NULL")),
    schemas=("public",),
    data=re.compile(
        r"^\\[a-z][^\n]*|^COPY [^\n;]* FROM STDIN[^\n;]*;[\s\S]*?(?:^\\\.\r?$|\Z)", re.MULTILINE | re.IGNORECASE
    ),
)  # fmt: skip
GRAMMARS: Final[Mapping[str, Grammar]] = {one.name: one for one in (MYSQL, ORACLE, POSTGRES)}


def as_written(text: str) -> Grammar:
    """Return the SQL that a text is likely to be in, with names as they stand there."""
    return replace(ORACLE if '"' in text and "`" not in text else MYSQL, fold=str)
