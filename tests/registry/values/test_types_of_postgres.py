"""Types as PostgreSQL names them: their families, ranges, bounds, and the columns that hold them exactly or as text."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from both_paths import CATALOGUE

from cdc_contracts.registry.core.contract.type_families import family_of, type_name_in
from cdc_contracts.registry.core.tables.canonical.column_types import column_type, write_type
from cdc_contracts.registry.core.values.type_bounds import bound_of
from cdc_contracts.registry.core.values.type_ranges import (
    NARROWER,
    OTHER,
    SAME,
    SHORTER,
    WIDER,
    compare_types,
    read_range,
)

DDL = Path(__file__).parents[1] / "tables" / "ddl"
MOMENT, CLOCK = "timestamp[us, UTC]", "timestamp[us]"
COLUMNS = {
    "smallint": ("integer", "int64"), "integer": ("integer", "int64"), "bigint": ("integer", "int64"),
    "oid": ("integer", "int64"), "numeric": ("decimal", "string"), "numeric(10,0)": ("decimal", "decimal(10,0)"),
    "numeric(10,2)": ("decimal", "decimal(10,2)"), "numeric(10,-2)": ("decimal", "decimal(12,0)"),
    "numeric(2,4)": ("decimal", "decimal(4,4)"), "numeric(40,2)": ("decimal", "string"),
    "real": ("float", "double"), "double precision": ("float", "double"), "boolean": ("boolean", "bool"),
    "character(1)": ("text", "string"), "character varying(20)": ("text", "string"), "text": ("text", "string"),
    "date": ("date", "date32[day]"), "time(3) without time zone": ("time", "string"),
    "time with time zone": ("time", "string"), "timestamp(3) without time zone": ("datetime", CLOCK),
    "timestamp with time zone": ("timestamp", MOMENT), "timestamp(3) with time zone": ("timestamp", MOMENT),
    "interval day to second(3)": ("text", "string"), "interval": ("text", "string"), "bytea": ("bytes", "binary"),
    "bit(5)": ("bit", "int64"), "bit varying(5)": ("text", "string"), "uuid": ("text", "string"),
    "json": ("json", "string"), "jsonb": ("json", "string"), "inet": ("text", "string"), "money": ("text", "string"),
    "xml": ("text", "string"), "tsvector": ("text", "string"), "hstore": ("text", "string"),
    "int4range": ("text", "string"), "integer[]": ("text", "string"), "numeric(10,2)[]": ("text", "string"),
    "timestamp(3) with time zone[]": ("text", "string"), "enum('a','b')": ("text", "string"),
}  # fmt: skip


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_holds_every_value_of_its_type_or_is_text(name):
    family, column = COLUMNS[name]
    assert family_of(name) == family
    assert write_type(column_type(name, family)) == column


@pytest.mark.parametrize("case", ["types-by-other-names", "script", "relatives", "dump"])
def test_every_type_that_is_read_from_ddl_is_known(case):
    tables = yaml.safe_load((DDL / f"postgres-{case}.yaml").read_text(encoding="utf-8"))["tables"]
    types = {column["type"] for table in tables for column in table["columns"].values()}
    assert {one for one in types if read_range(one) is None} == set()
    assert read_range("public.mood") is None


@pytest.mark.parametrize(
    ("old", "new", "result"),
    [
        ("smallint", "integer", WIDER),
        ("bigint", "integer", NARROWER),
        ("integer", "numeric", WIDER),
        ("numeric", "numeric(38,10)", NARROWER),
        ("numeric(12,2)", "numeric", WIDER),
        ("real", "double precision", WIDER),
        ("double precision", "real", NARROWER),
        ("oid", "bigint", WIDER),
        ("oid", "integer", NARROWER),
        ("character varying(20)", "character varying(40)", WIDER),
        ("character varying(40)", "character varying(20)", SHORTER),
        ("character varying(100000)", "text", WIDER),
        ("character varying", "character varying(20)", SHORTER),
        ("timestamp(3) with time zone", "timestamp with time zone", WIDER),
        ("time without time zone", "time(3) without time zone", NARROWER),
        ("timestamp without time zone", "timestamp with time zone", OTHER),
        ("interval(6)", "interval", SAME),
        ("integer[]", "bigint[]", WIDER),
        ("bigint[]", "integer[]", NARROWER),
        ("integer", "integer[]", OTHER),
        ("json", "jsonb", OTHER),
        ("uuid", "text", OTHER),
        ("enum('a','b')[]", "enum('a')[]", NARROWER),
    ],
)
def test_a_change_of_type_is_compared_by_the_values(old, new, result):
    assert compare_types(old, new) == result


def test_a_dialect_of_six_types_has_the_nearest_one_and_one_of_another_database_has_none():
    types = ("oid", "numeric(10,2)", "real", "timestamp(3) without time zone", "bytea", "uuid", "integer[]")
    six, other = CATALOGUE.mapping("streamx"), CATALOGUE.mapping("oms-mysql")
    assert [type_name_in(six, one, None) for one in types] == [
        "LONG", "DOUBLE", "DOUBLE", "DATE", "BYTES", "STRING", "STRING",
    ]  # fmt: skip
    assert [type_name_in(other, one, None) for one in ("uuid", "jsonb", "integer[]")] == [None, None, None]


def test_the_bounds_of_whole_numbers_are_those_of_the_server():
    assert (bound_of("smallint", "integer").least, bound_of("smallint", "integer").most) == (-32768, 32767)
    assert (bound_of("oid", "integer").least, bound_of("oid", "integer").most) == (0, 4294967295)
    assert bound_of("integer[]", "text") is None
