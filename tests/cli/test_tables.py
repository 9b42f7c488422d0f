"""`tables`: contracts of source tables, from DDL and from messages, checked and compared, as a user does it."""

from __future__ import annotations

import json
import os
import signal
import subprocess

import pytest
import yaml
from topics import rendered

from cdc_contracts.cli.app import main
from cdc_contracts.registry.core.contract.table_contracts import read_table_contracts
from cdc_contracts.spark_checks.engines.local_engine import LocalEngine

DDL = """CREATE TABLE `orders` (
  `id` bigint unsigned NOT NULL,
  `price` decimal(10,2) DEFAULT NULL,
  PRIMARY KEY (`id`)
);
CREATE TABLE `visits` (`id` int NOT NULL PRIMARY KEY, `at` datetime(3));
"""
ORDERS = """table: shop.orders
columns:
  id: {type: bigint unsigned, nullable: false}
  price: {type: "decimal(10,2)"}
primary_key: [id]
"""
VISITS = """table: shop.visits
columns:
  id: {type: int, nullable: false}
  at: {type: datetime(3)}
primary_key: [id]
"""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """A working folder with a file of DDL and no settings."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "shop.sql").write_text(DDL)
    return tmp_path


def from_ddl(*arguments):
    return main(["tables", "from-ddl", "shop.sql", "--dialect", "mysql", "--database", "shop", *arguments])


def test_each_table_of_a_dump_becomes_a_file(here, capsys):
    assert from_ddl("-o", "tables") == 0
    assert {file.name: file.read_text() for file in (here / "tables").iterdir()} == {
        "shop.orders.yaml": ORDERS,
        "shop.visits.yaml": VISITS,
    }
    out, err = capsys.readouterr()
    assert (out, err) == ("", "tables: 2 written\n")
    assert main(["tables", "check", "tables"]) == 0


def test_without_a_folder_they_go_to_stdout(capsys):
    assert from_ddl() == 0
    assert capsys.readouterr().out == f"{ORDERS}---\n{VISITS}"


def test_files_that_say_the_same_are_left_as_they_are(here, capsys):
    from_ddl("-o", "tables")
    mine = here / "tables" / "shop.orders.yaml"
    mine.write_text("# mine\nversion: 3\n" + ORDERS + 'source_time_zone: "+08:00"\n')
    before = mine.read_bytes()
    assert from_ddl("-o", "tables") == 0
    assert mine.read_bytes() == before
    assert capsys.readouterr().err.endswith("tables: 2 as they were\n")


def test_what_says_something_else_is_reported_and_not_written_over_unasked(here, capsys):
    (here / "tables").mkdir()
    mine = here / "tables" / "orders.yaml"
    mine.write_text("version: 3\n" + ORDERS.replace("10,2", "8,2") + "source_time_zone: Z\n")
    assert from_ddl("-o", "tables") == 1
    assert capsys.readouterr().err == (
        "tables/orders.yaml differs for shop.orders:\n"
        "  columns price type: decimal(8,2) in the file, decimal(10,2) now\n"
        "nothing was written; --replace overwrites existing files\n"
    )
    assert sorted(file.name for file in (here / "tables").iterdir()) == ["orders.yaml"]
    assert from_ddl("-o", "tables", "--replace") == 0
    kept = yaml.safe_load(mine.read_text())
    assert (kept["version"], kept["source_time_zone"], kept["columns"]["price"]["type"]) == (3, "Z", "decimal(10,2)")


def test_what_cannot_be_read_is_reported_with_its_line_and_fails(here, capsys):
    (here / "shop.sql").write_text(DDL + "CREATE TABLE copied LIKE orders;\n")
    assert from_ddl("-o", "tables") == 1
    err = capsys.readouterr().err
    assert "shop.sql:7: not read: shop.copied is created LIKE another table\n" in err
    assert len(list((here / "tables").iterdir())) == 2


@pytest.mark.parametrize(
    ("content", "reported"),
    [
        (b"select 1;", "no table was read"),
        (b"", "no table was read"),
        ("-- größer\n".encode("latin-1"), "not UTF-8 at byte 5"),
        (b"create table t (a int comment 'open);", "a quote or comment is not closed"),
    ],
)
def test_a_file_without_a_table_is_a_wrong_call(here, capsys, content, reported):
    (here / "shop.sql").write_bytes(content)
    assert from_ddl() == 2
    assert reported in capsys.readouterr().err


def test_a_missing_file_and_another_dialect_are_wrong_calls(capsys):
    assert main(["tables", "from-ddl", "none.sql", "--dialect", "mysql"]) == 2
    assert main(["tables", "from-ddl", "shop.sql", "--dialect", "klingon"]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_two_versions_are_compared(here, capsys):
    (here / "old.yaml").write_text(ORDERS)
    (here / "new.yaml").write_text(ORDERS.replace("10,2", "8,2"))
    assert main(["tables", "check", "old.yaml", "new.yaml"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("INCOMPATIBLE: new.yaml with old.yaml\n")
    assert "breaking T204 type-narrowed /shop.orders/columns/price/type\n" in out
    assert "old.yaml:4:11" in out
    assert max(map(len, out.splitlines())) <= 80
    assert main(["tables", "check", "new.yaml", "old.yaml", "--json"]) == 0
    reported = json.loads(capsys.readouterr().out)
    assert (reported["compatible"], [one["rule"] for one in reported["findings"]]) == (True, ["T223"])
    (here / "new.yaml").write_text(ORDERS.replace('"decimal(10,2)"', "tally_counter"))
    assert main(["tables", "check", "old.yaml", "new.yaml"]) == 4
    assert main(["tables", "check", "old.yaml", "none.yaml"]) == 2
    assert main(["tables", "check", "old.yaml", "new.yaml", "old.yaml"]) == 2


@pytest.mark.parametrize(
    ("options", "reported"),
    [
        (["--report", "cmp.json", "--report", "cmp.md"], "--report has no effect when two versions are compared"),
        (["--format", "github"], "--format github has no effect when two versions are compared"),
        (["--format", "sarif", "--fail-on", "warning"], "--format sarif has no effect when two versions are compared"),
        (["--fail-on", "warning"], "--fail-on has no effect when two versions are compared"),
    ],
)
def test_options_of_the_check_of_one_version_are_refused_where_two_are_compared(here, capsys, options, reported):
    (here / "old.yaml").write_text(ORDERS)
    for compared in (["old.yaml", "old.yaml"], ["old.yaml", "--against", "main"]):
        assert main(["tables", "check", *compared, *options]) == 2
        assert capsys.readouterr() == ("", f"error: {reported}\n  Give --json to print the verdict as JSON.\n")
    assert [file.name for file in here.glob("cmp.*")] == []


def test_a_comparison_is_the_same_json_by_either_option(here, capsys):
    (here / "old.yaml").write_text(ORDERS)
    (here / "new.yaml").write_text(ORDERS.replace("10,2", "8,2"))
    texts = []
    for option in (["--json"], ["--format", "json"]):
        assert main(["tables", "check", "old.yaml", "new.yaml", *option]) == 1
        texts.append(capsys.readouterr().out)
    assert json.loads(texts[0])["compatible"] is False
    assert texts[0] == texts[1]


def test_a_folder_is_compared_with_what_it_was_at_a_git_ref(here, capsys):
    from_ddl("-o", "tables")

    def git(*arguments):
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], check=True, capture_output=True
        )

    git("init", "-b", "main")
    git("add", "tables")
    git("commit", "-m", "tables")
    assert main(["tables", "check", "--against", "HEAD"]) == 0
    (here / "tables" / "shop.orders.yaml").write_text(ORDERS.replace("  price", "  note: {type: text}\n  price"))
    (here / "tables" / "shop.visits.yaml").unlink()
    assert main(["tables", "check", "tables", "--against", "main"]) == 1
    out = capsys.readouterr().out
    assert "breaking T201 table-removed /shop.visits" in out
    assert "T222 column-added" in out
    assert main(["tables", "check", "tables", "--against", "nowhere"]) == 2


def test_the_folder_of_the_settings_is_checked_where_none_is_named(here, capsys):
    assert main(["tables", "check"]) == 2
    (here / "mine").mkdir()
    (here / "mine" / "a.yaml").write_text(ORDERS.replace("bigint unsigned", "bigitn"))
    (here / "cdc-contracts.yaml").write_text("tables: mine\n")
    assert main(["tables", "check"]) == 1
    assert "mine/a.yaml:3:8: error T01 column-type-known" in capsys.readouterr().out
    assert main(["lint", "mine"]) == 1


def test_files_that_are_no_contract_are_reported_with_the_line_and_keep_no_other_from_being_checked(here, capsys):
    mine = here / "mine"
    mine.mkdir()
    (mine / "bytes.yaml").write_bytes(b"table: shop.caf\xe9\n")
    (mine / "half.yaml").write_text("table: shop.orders\ncolumns:\n  id: {type: int")
    (mine / "twice.yaml").write_text("table: shop.orders\ncolumns:\n  id: {type: int}\n  id: {type: bigint}\n")
    (mine / "typo.yaml").write_text("table: shop.orders\ncolumns: {id: {type: int, nulable: false}}\n")
    (mine / "wrong.yaml").write_text(ORDERS.replace("bigint unsigned", "bigitn"))
    assert main(["tables", "check", "mine"]) == 1
    reported = [line.split(" error ")[0] for line in capsys.readouterr().out.splitlines()]
    at = ["bytes.yaml:", "half.yaml:4:1:", "twice.yaml:4:1:", "typo.yaml:2:27:", "wrong.yaml:3:8:"]
    assert reported == [f"mine/{one}" for one in at]


def test_two_contracts_of_one_table_are_reported_with_their_files(here, capsys):
    for name in ("one.yaml", "two.yaml"):
        (here / name).write_text(ORDERS)
    assert main(["check", "shop.sql", "--contract", "dts/canal@2", "--tables", "."]) == 2
    assert "two contracts for table shop.orders (one.yaml and two.yaml)" in capsys.readouterr().err


def test_types_are_held_against_the_contracts_that_topics_are_bound_to(here, capsys):
    (here / "mine").mkdir()
    (here / "mine" / "a.yaml").write_text(ORDERS)
    (here / "cdc-contracts.yaml").write_text("topics: {shop: oms-community/canal@2}\ntables: mine\n")
    assert main(["tables", "check", "--fail-on", "warning"]) == 0
    (here / "mine" / "b.yaml").write_text("table: shop.places\ncolumns: {at: {type: vector}, id: {type: int}}\n")
    assert main(["tables", "check", "--fail-on", "warning"]) == 1
    assert "topics are bound to it; found vector" in capsys.readouterr().out


def test_contracts_are_inferred_from_a_file_and_then_hold(here, capsys):
    values = rendered("oms-community/canal@2", 300, controls=97)
    (here / "orders.jsonl").write_bytes(b"\n".join(values))
    call = ["tables", "infer", "file", "orders.jsonl", "--contract", "oms-community/canal@2", "--engine", "local"]
    assert main([*call, "-o", "tables"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("shop.orders\nInferred from ")
    assert max(map(len, out.splitlines())) <= 80
    assert main(["tables", "check", "tables", "--fail-on", "warning"]) == 0
    check = ["check", "orders.jsonl", "--contract", "oms-community/canal@2", "--tables", "tables"]
    assert main(check) == 0
    written = here / "tables" / "shop.orders.yaml"
    assert '  total: {type: "decimal(20,2)"}  # ' in written.read_text()
    assert main([*call, "-o", "tables"]) == 0
    written.write_text(written.read_text().replace("decimal(20,2)", "decimal(18,2)"))
    capsys.readouterr()
    assert main([*call, "-o", "tables"]) == 1
    assert "  columns total type: decimal(18,2) in the file, decimal(20,2) now\n" in capsys.readouterr().err
    assert main([*call, "--json"]) == 0
    reported = json.loads(capsys.readouterr().out)
    assert reported["read"] == len(values)
    assert [one["name"] for one in reported["tables"][0]["columns"]][:3] == ["id", "customer", "total"]
    assert reported["tables"][0]["primary_key"] == ["id"]


def test_what_is_known_of_columns_is_shown_whatever_they_are_called(here, capsys):
    lines = rendered("dts/canal@2", 1)
    odd = [
        line.replace(b'"customer"', json.dumps("x" * 300).encode()).replace(b'"note"', b'"no\\nte"') for line in lines
    ]
    (here / "orders.jsonl").write_bytes(b"\n".join(odd))
    assert main(["tables", "infer", "file", "orders.jsonl", "--contract", "dts/canal@2", "--engine", "local"]) == 0
    reported = {line.split("  ")[0]: line for line in capsys.readouterr().out.splitlines()}
    assert "decimal(9,2)" in reported["total"]
    assert "text" in reported["no\\nte"]
    assert "varchar" in reported["x" * 30 + "…"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_inference_that_is_interrupted_says_so_and_writes_no_file(here, capsys, monkeypatch, number, code):
    infer = LocalEngine.infer

    def infer_and_be_stopped(*arguments):
        found = infer(*arguments)
        os.kill(os.getpid(), number)
        return found

    monkeypatch.setattr(LocalEngine, "infer", infer_and_be_stopped)
    (here / "orders.jsonl").write_bytes(b"\n".join(rendered("dts/canal@2", 30)))
    call = ["tables", "infer", "file", "orders.jsonl", "--contract", "dts/canal@2", "--engine", "local", "-o", "t"]
    assert main(call) == code
    told = capsys.readouterr()
    assert told.out.startswith("shop.orders\nInferred from ")
    assert "stopped before the end (interrupted): the result covers what was read until then\n" in told.err
    assert "no file was written" in told.err
    assert not (here / "t").exists()


def test_an_inference_that_a_time_limit_ends_says_so(here, capsys):
    lines = b"\n".join(rendered("dts/canal@2", 30))
    more_than_a_batch = b"\n".join([lines] * 800)
    (here / "orders.jsonl").write_bytes(more_than_a_batch)
    call = ["tables", "infer", "file", "orders.jsonl", "--contract", "dts/canal@2", "--engine", "local"]
    assert main([*call, "--time-limit", "0.001"]) == 4
    assert "stopped before the end (time limit): the result covers what was read" in capsys.readouterr().err


def test_where_there_is_no_row_nothing_is_inferred(here, capsys):
    (here / "none.jsonl").write_text("{}\n")
    call = ["tables", "infer", "file", "none.jsonl", "--contract", "dts/canal@2", "--engine", "local", "-o", "t"]
    assert main(call) == 4
    err = capsys.readouterr().err
    assert "1 of 1 messages do not conform and were left out" in err
    assert "there is nothing to infer from" in err
    assert not (here / "t").exists()


def test_defaults_that_are_one_constant_are_written_and_read_again(tmp_path, capsys):
    """What a database computes, and what databases read in ways of their own, is no default."""
    defaults = {
        "5": "5", "'0'": "0", "-3": "-3", "'it''s: #1'": "it's: #1", "''": "", "true": "true", "NULL": None, "b'101'": None,
        "0x41": None, "'a' 'b'": None, "'a\\nb'": None, "CURRENT_TIMESTAMP": None, "(1 + 1)": None,
        "7 REFERENCES p (id) ON DELETE SET DEFAULT": "7", "'x' COMMENT 'y'": "x",
    }  # fmt: skip
    columns = ", ".join(f"c{place} int DEFAULT {text}" for place, text in enumerate(defaults))
    (tmp_path / "t.sql").write_text(f"CREATE TABLE shop.t ({columns});")
    assert main(["tables", "from-ddl", str(tmp_path / "t.sql"), "--dialect", "mysql", "-o", str(tmp_path / "out")]) == 0
    (file,) = (tmp_path / "out").rglob("*.yaml")

    contract = read_table_contracts(tmp_path / "out").first()

    assert [column.default for column in contract.columns.values()] == list(defaults.values()), file.read_text()
