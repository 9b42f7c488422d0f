"""DDL as databases print it. Each file of ddl/ has beside it, written by hand, everything that has to be read from it."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from stopwatch import measure

from cdc_contracts.registry.core.contract.table_contracts import parse_table_contract
from cdc_contracts.registry.core.tables.ddl import read_added_columns, read_create_table, read_resets
from cdc_contracts.registry.core.tables.ddl.ddl_messages import MOST_CHARACTERS

CASES = sorted((Path(__file__).parent / "ddl").glob("*.sql"))


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_ddl_is_read_as_the_database_stores_it(case):
    expected = yaml.safe_load(case.with_suffix(".yaml").read_text(encoding="utf-8"))
    found = read_create_table(case.read_text(encoding="utf-8"), expected["dialect"], expected.get("database"))
    assert [(one.line, one.what) for one in found.problems] == [
        (one["line"], one["what"]) for one in expected.get("problems", ())
    ]
    assert list(found.tables) == [parse_table_contract(one, str(case)) for one in expected["tables"]]
    assert [list(one.columns) for one in found.tables] == [list(one["columns"]) for one in expected["tables"]]
    assert [(one.line, one.what) for one in found.left_out] == [
        (one["line"], one["what"]) for one in expected.get("left_out", ())
    ]
    assert found.passed == expected.get("passed", {})


@pytest.mark.parametrize(
    ("text", "dialect", "table", "columns"),
    [
        ("ALTER TABLE `shop`.`orders` ADD COLUMN `note` varchar(20) NOT NULL AFTER `id`", "mysql", ("shop", "orders"), {"note": "varchar(20)"}),
        ("alter table orders add a int, add column b decimal(5), add index i (a), drop column c", "mysql", ("orders",), {"a": "int", "b": "decimal(5,0)"}),
        ("/* by hand */ ALTER TABLE orders ADD (a int, b int comment 'x, y'), ALGORITHM=INPLACE;", "mysql", ("orders",), {"a": "int", "b": "int"}),
        ("ALTER TABLE orders ADD PARTITION (PARTITION p1 VALUES LESS THAN (3)), ADD PRIMARY KEY (id)", "mysql", None, {}),
        ('ALTER TABLE "S"."o" ADD (a number(3), "b" date default sysdate not null) MODIFY (x not null)', "oracle", ("S", "o"), {"A": "NUMBER(3,0)", "b": "DATE"}),
        ("alter table o add a varchar2(3)", "oracle", ("O",), {"A": "VARCHAR2(3)"}),
        ("alter table o add (v as (a * 2) virtual, w number)", "oracle", ("O",), {"W": "NUMBER"}),
        ("alter table Orders add Note varchar(3)", None, ("Orders",), {"Note": "varchar(3)"}),
        ('alter table "Orders" add note varchar2(3)', None, ("Orders",), {"note": "VARCHAR2(3)"}),
        ('alter table only Shop."Orders" add a int4[], add if not exists b timestamptz(3)', "postgres", ("shop", "Orders"), {"a": "integer[]", "b": "timestamp(3) with time zone"}),
        ("create table o (a int)", "mysql", None, {}),
        ("insert into log values ('alter table o add a int')", "mysql", None, {}),
        ("create procedure p() begin delete from a; alter table o add a int; end", "mysql", None, {}),
    ],
)  # fmt: skip
def test_columns_that_a_message_adds_are_reported_with_their_types(text, dialect, table, columns):
    found = read_added_columns(text, dialect)
    assert found.reason is None or not columns
    assert [(one.table, {name: column.type for name, column in one.columns.items()}) for one in found.added] == (
        [(table, columns)] if columns else []
    )


HOSTILE = [
    None, "", "\x00", "alter add", "alter table", "alter table add", "alter table o add", "alter table o add (",
    "alter table o add a enum('", "alter table o add `", "alter table o add a int(((((", "alter table .. add a int",
    "alter table o add a int; alter table o add (b", "alter\x00table o add \ud800 int", "alter table o add 'a' int",
]  # fmt: skip
HEAVY = [
    "alter table o add " + "(" * 30_000, "alter table o add a " + "int " * 7_000, "alter table o add a" + "," * 30_000,
    "alter table o add a enum(" + "'x'," * 7_000 + "'y')", "alter add " * 3_000, "/*" * 15_000 + "alter table o add",
    "alter table o add " + "a int, add " * 2_500, "a," * 16_000, "/*!" * 10_000, "/*!*/" * 6_000, "alter table o add a int default " + "'" * 30_001,
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("TRUNCATE TABLE shop.orders", ["TRUNCATE shop orders"]),
        ("/* c */ truncate `or``ders`;", ["TRUNCATE or`ders"]),
        ('TRUNCATE TABLE "SHOP"."Orders" DROP STORAGE', ["TRUNCATE SHOP Orders"]),
        ("DROP TABLE IF EXISTS a, `b`.`c d` CASCADE; create table a (id int)", ["DROP TABLE a", "DROP TABLE b c d"]),
        ('drop table "A" cascade constraints purge', ["DROP TABLE A"]),
        ("RENAME TABLE a TO `b`, c.d TO e", ["RENAME a", "RENAME b", "RENAME c d", "RENAME e"]),
        ("rename orders to old", ["RENAME orders", "RENAME old"]),
        ("ALTER TABLE a RENAME b", ["RENAME a", "RENAME b"]),
        ('ALTER TABLE "S"."A" RENAME TO "B"', ["RENAME S A", "RENAME B"]),
        ("alter table if exists only s.a rename to b", ["RENAME s a", "RENAME b"]),
        ("alter table s.a add c int, truncate partition p1", ["TRUNCATE PARTITION s a"]),
        ("ALTER TABLE a EXCHANGE PARTITION p WITH TABLE b", ["EXCHANGE PARTITION a"]),
        ("ALTER TABLE a RENAME COLUMN b TO c, RENAME INDEX i TO j, DROP COLUMN d, DROP KEY k", []),
        ("CREATE TABLE t (`truncate` int, `drop` int)", []),
        ("DROP INDEX truncate_it ON orders", []),
        ("DROP TEMPORARY TABLE t", []),
        ("a statement of kind TRUNCATE", []),
        ("TRUNCATE", []),
        ("TRUNCATE TABLE `a", []),
        ("-- TRUNCATE TABLE a", []),
        ("insert into a values ('; truncate b; ') -- ; truncate b", []),
        ("/* ; truncate a; */ # ; truncate a", []),
        (None, []),
        ("CREATE PROCEDURE p() BEGIN DELETE FROM a; TRUNCATE TABLE b; END", []),
        ("CREATE DEFINER=`root`@`%` EVENT e ON SCHEDULE EVERY 1 DAY DO BEGIN DELETE FROM a; TRUNCATE b; END", []),
        ("create or replace package body p as procedure q is begin null; end; drop table a; end;", []),
        ("drop trigger t; create trigger t before insert on a for each row begin set @a = 1; drop table a; end", []),
        ("alter definer = current_user event e do begin delete from a; truncate b; end", []),
        ("create table event (type int); truncate a", ["TRUNCATE a"]),
        ("DROP TABLES IF EXISTS a, b", ["DROP TABLE a", "DROP TABLE b"]),
        ("DROP DATABASE IF EXISTS `shop`; drop schema s cascade", ["DROP DATABASE shop", "DROP DATABASE s"]),
        ("create or replace table s.a (id int)", ["CREATE OR REPLACE TABLE s a"]),
        ("create or replace temporary table a (id int); create or replace view a as select 1", []),
        ("DROP /*!40005 TEMPORARY */ TABLE IF EXISTS `orders`", []),
        ("DROP TABLE /*!32311 IF EXISTS*/ `a` /* generated by server */", ["DROP TABLE a"]),
        ("/*M!100100 TRUNCATE a */; /*! drop table b */; /*! drop table c", []),
        ("/*M!100100 TRUNCATE a */; /*! drop table b */; /* done */", ["TRUNCATE a", "DROP TABLE b"]),
    ],
)
def test_a_message_names_the_tables_it_empties_and_those_that_lose_rows_in_other_ways(text, reported):
    found = read_resets(text)
    assert [" ".join((one.statement, *one.table)) for one in found] == reported
    assert all(one.emptied == (one.statement in {"TRUNCATE", "DROP TABLE"}) for one in found)


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("dialect", ["mysql", "oracle", "postgres", None, "klingon"])
def test_no_text_makes_it_fail(text, dialect):
    assert len(read_added_columns(text, dialect).added) == (text is not None and "a int;" in text)
    assert read_resets(text and text.replace("alter", "truncate alter")) is not None


@pytest.mark.one_in(3)
@pytest.mark.parametrize("text", HEAVY, ids=range(len(HEAVY)))
def test_no_text_makes_it_take_long(text):
    _, taken = measure(lambda: read_added_columns(text, "mysql"))
    assert taken < 5
    _, taken = measure(lambda: read_resets(f"drop table {text}; rename {text}"[:MOST_CHARACTERS]))
    assert taken < 5


def test_what_cannot_be_read_has_a_reason_and_the_rest_is_read():
    found = read_added_columns("alter table o add a int; alter table o add (b", "mysql")
    assert [list(one.columns) for one in found.added] == [["a"]]
    assert found.reason == "a bracket is not closed"
    assert (
        read_added_columns("alter table o add a int" + " " * MOST_CHARACTERS).reason == "longer than 32,768 characters"
    )


STATEMENTS = [
    "set search_path ", "select set_config(", "create type t as enum ", "create domain d ", "alter type t ",
    "create table p partition of t ", "alter table only t attach partition t ", "alter table t inherit ",
    "create domain a as b; create domain b as a; alter table t add x a; ", "COPY t FROM stdin;\n",
]  # fmt: skip
PIECES = [
    *"`'\"(),;./*-# \n@0a[]",
    "alter table ",
    "add ",
    "create table ",
    "int ",
    "primary key ",
    "comment on column ",
]


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_any_text_at_all_is_read_or_refused(text):
    read_added_columns("alter table t add " + text)
    read_resets("truncate " + text)
    for dialect in ("mysql", "oracle", "postgres"):
        read_create_table("create table t (" + text, dialect)
    for head in STATEMENTS:
        read_create_table("create table t (a int); " + head + text, "postgres")


def test_nothing_is_printed_or_logged(capfd, caplog):
    read_create_table("create table t (a int) engine=; alter table t frobnicate; \x00 select", "mysql")
    read_added_columns("alter table t add a frobnicate(,,) +++")
    read_resets("rename frobnicate(,,) +++; truncate \x00")
    assert capfd.readouterr() == ("", "")
    assert caplog.records == []
