"""`decode` with `families` in the settings: the shards of a family are one typed table, and no row is lost."""

from __future__ import annotations

import json
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cdc_contracts
from cdc_contracts.cli.app import main
from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.spark_checks.table_readers import list_tables, table_files, table_layout

REFERENCE = "oms-community/canal@2"
SETTINGS = 'families: {orders: "orders_[0-9]{4}"}\n'
CODES = {"bigint": -5, "int": 4, "decimal": 3, "varchar": 12}
COLUMNS = {"id": "bigint", "total": "decimal(12,2)"}


def insert(table, row, types=COLUMNS, *, database="shop", key=("id",)):
    return json.dumps({
        "database": database, "table": table, "type": "INSERT", "isDdl": False, "es": 1_700_000_000_000,
        "ts": 1_700_000_000_000, "sql": "", "pkNames": list(key), "mysqlType": types,
        "sqlType": {name: CODES[kind.partition("(")[0]] for name, kind in types.items()}, "data": [row], "old": None,
    })  # fmt: skip


def statement(table, text, kind="ALTER"):
    return json.dumps({
        "database": "shop", "table": table, "type": kind, "isDdl": True, "es": 1_700_000_000_000,
        "ts": 1_700_000_000_000, "sql": text, "pkNames": None, "mysqlType": None, "sqlType": None, "data": None,
        "old": None,
    })  # fmt: skip


@pytest.fixture
def decode(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(messages, *options, settings=SETTINGS, name="a", out="out"):
        (tmp_path / "cdc-contracts.yaml").write_text(settings)
        (tmp_path / f"{name}.jsonl").write_text("\n".join(messages) + "\n")
        given = ["--contract", REFERENCE, "--to", out, "--engine", "local", *options]
        return main(["decode", "file", f"{name}.jsonl", *given])

    return run


def rows_of(table, out="out"):
    schema = table_layout(out, table).arrow
    parts = [pq.read_table(one.path, partitioning=None) for one in table_files(out, table)]
    rows = pa.concat_tables(parts, promote_options="default").to_pylist() if parts else []
    return schema, sorted(rows, key=lambda row: (row["_topic"], row["_offset"]))


def record_of(out):
    (path,) = (out / "_runs").iterdir()
    return json.loads(path.read_text())


@pytest.mark.parametrize("options", [(), ("--outputs", "tables"), ("--layout", "flat")], ids=["both", "tables", "flat"])
def test_the_shards_of_a_family_are_one_table_whose_rows_say_of_which_shard_they_are(decode, tmp_path, options):
    sent = [("shop", "orders_0000", 1), ("shop", "carts", 9), ("shop", "orders_1023", 1), ("shop_2", "orders_0000", 1)]
    messages = [insert(table, {"id": key, "total": 1.5}, database=database) for database, table, key in sent]
    assert decode(messages, *options) == 0
    assert list_tables("out") == ["orders", "shop.carts"]
    schema, rows = rows_of("orders")
    found = [
        (row["_database"], row["_schema"], row["_table"], row.get("id", row.get("after", {}).get("id"))) for row in rows
    ]
    assert found == [
        ("shop", None, "orders_0000", 1), ("shop", None, "orders_1023", 1), ("shop_2", None, "orders_0000", 1),
    ]  # fmt: skip
    assert {"_database", "_schema", "_table"} <= set(schema.names)
    assert not {"_database", "_schema", "_table"} & set(rows_of("shop.carts")[0].names)
    (family,) = [one for one in record_of(tmp_path / "out")["tables"] if one["table"] == "orders"]
    assert (family["rows"], family["layout"]["shards"]) == (3, "orders_[0-9]{4}")


def test_changes_keep_the_names_of_the_shards(decode, tmp_path):
    assert decode([insert("orders_0001", {"id": 1, "total": 1}), insert("orders_0002", {"id": 2, "total": 2})]) == 0
    changes = [pq.read_table(path, partitioning=None) for path in (tmp_path / "out/changes").rglob("*.parquet")]
    assert sorted(pa.concat_tables(changes).column("table").to_pylist()) == ["orders_0001", "orders_0002"]


def test_a_column_that_one_shard_has_and_one_of_another_type_are_as_those_of_one_table(decode, capsys):
    wider = {**COLUMNS, "note": "varchar(20)"}
    other = {**COLUMNS, "total": "decimal(14,3)"}
    messages = [
        insert("orders_0000", {"id": 1, "total": 1.25}),
        insert("orders_0001", {"id": 1, "total": 1.25, "note": "x"}, wider),
        insert("orders_0002", {"id": 1, "total": 1.125}, other),
    ]
    assert decode(messages) == 0
    told = "    total is not of one type in all shards (decimal(12,2), decimal(14,3)): text where it does not fit"
    assert told in capsys.readouterr().err.splitlines()
    schema, rows = rows_of("orders")
    assert [(one.name, str(one.type)) for one in schema.field("after").type] == [
        ("id", "int64"), ("total", "string"), ("note", "string"),
    ]  # fmt: skip
    assert [row["after"]["total"] for row in rows] == ["1.25", "1.25", "1.125"]
    assert [row["_absent"] for row in rows] == [["after.note"], [], ["after.note"]]


def test_what_a_later_shard_sends_in_another_type_is_kept_as_text_beside_the_column(decode):
    assert decode([insert("orders_0000", {"id": 1, "total": 1.25})]) == 0
    assert (
        decode([insert("orders_0001", {"id": 1, "total": 1.125}, {"id": "bigint", "total": "decimal(14,3)"})], name="b")
        == 0
    )
    _, rows = rows_of("orders")
    assert [(row["after"]["total"], row["_raw"]) for row in rows] == [
        (Decimal("1.25"), []), (None, [("after.total", "1.125")]),
    ]  # fmt: skip


def test_a_column_that_a_statement_adds_to_one_shard_is_one_of_the_family(decode):
    assert decode([insert("orders_0000", {"id": 1, "total": 1})]) == 0
    later = [
        statement("orders_0000", "ALTER TABLE `orders_0000` ADD COLUMN `note` varchar(20)"),
        insert("orders_0000", {"id": 2, "total": 1, "note": "x"}, {**COLUMNS, "note": "varchar(20)"}),
    ]
    assert decode(later, name="b") == 0
    assert [one.name for one in rows_of("orders")[0].field("after").type] == ["id", "total", "note"]


def test_a_family_may_name_its_database_and_have_the_shards_of_several(decode):
    settings = 'families: {shop.orders: "shop_[0-9]{2}[.]orders_[0-9]{4}"}\n'
    messages = [insert("orders_0000", {"id": 1, "total": 1}, database=name) for name in ("shop_00", "shop_01", "test")]
    assert decode(messages, settings=settings) == 0
    assert list_tables("out") == ["shop.orders", "test.orders_0000"]
    assert [row["_database"] for row in rows_of("shop.orders")[1]] == ["shop_00", "shop_01"]


def test_a_table_that_has_the_name_of_a_family_and_is_no_shard_of_it_is_refused(decode, tmp_path, capsys):
    settings = 'families: {shop.orders: "orders_[0-9]{4}"}\n'
    messages = [insert("orders_0000", {"id": 1, "total": 1}), insert("orders", {"id": 1, "total": 1})]
    assert decode(messages, settings=settings) == 2
    said = capsys.readouterr().err
    assert "there is a table shop.orders, which is no shard by its pattern `orders_[0-9]{4}`" in said
    assert "families, shop.orders" in said
    assert "Give the family another name, or a pattern that matches this table too." in said
    assert not [*(tmp_path / "out").rglob("*.parquet")]
    assert decode(messages, settings='families: {shop.orders: "orders(_[0-9]{4})?"}\n') == 0
    assert [row["_table"] for row in rows_of("shop.orders")[1]] == ["orders_0000", "orders"]


@pytest.mark.parametrize(
    ("first", "then", "said"),
    [
        ("{}", SETTINGS, ["has tables of their own for shards, such as shop.orders_0000", "without this family"]),
        (SETTINGS, "{}", ["has a table orders for all that `orders_[0-9]{4}` matches", "with `families: {orders:"]),
        (SETTINGS, 'families: {orders: "orders_0.*"}', ["matches, and the settings say otherwise now"]),
    ],
    ids=["without", "with", "other pattern"],
)  # fmt: skip
def test_runs_of_a_directory_have_the_families_that_its_tables_have(decode, capsys, first, then, said):
    messages = [insert("orders_0000", {"id": 1, "total": 1})]
    assert decode(messages, settings=first) == 0
    for name, again in (("a", messages), ("b", [insert("orders_0001", {"id": 1, "total": 1})])):
        assert decode(again, settings=then, name=name) == 3
        message = capsys.readouterr().err
        assert all(words in message for words in said), message
    assert decode([insert("orders_0001", {"id": 1, "total": 1})], settings=first, name="b") == 0


def test_a_family_of_tables_that_a_directory_does_not_have_may_be_added(decode):
    assert decode([insert("carts", {"id": 1, "total": 1})], settings="{}") == 0
    assert decode([insert("orders_0001", {"id": 1, "total": 1})], name="b") == 0
    assert list_tables("out") == ["orders", "shop.carts"]


def test_a_family_with_the_name_of_a_table_of_an_earlier_run_is_refused(decode, capsys):
    assert decode([insert("orders", {"id": 1, "total": 1})], settings="{}") == 0
    later = [insert("orders_0001", {"id": 1, "total": 1})]
    assert decode(later, settings='families: {shop.orders: "orders_[0-9]{4}"}', name="b") == 3
    said = capsys.readouterr().err
    assert "has a table shop.orders that holds no shards" in said
    assert "continue with another name of the family in cdc-contracts.yaml" in said


def test_the_table_contract_of_a_family_is_that_of_all_shards_without_one_of_their_own(decode, tmp_path, capsys):
    written = "table: {}\ncolumns: {{id: {{type: bigint}}, total: {{type: 'decimal(12,2)', nullable: {}}}}}\nprimary_key: [id]\n"
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables/orders.yaml").write_text(written.format("orders", "false"))
    (tmp_path / "tables/shard.yaml").write_text(written.format("shop.orders_0001", "true"))
    messages = [insert(f"orders_000{number}", {"id": 1, "total": None}) for number in range(3)]
    options = ("--tables", "tables", "--report", "report.json", "--report", "again.json")
    assert decode([*messages, insert("carts", {"id": 1, "total": 1})], *options) == 0
    report = json.loads((tmp_path / "report.json").read_text())
    found = {
        (one["class"], table)
        for one in report["findings"]
        for table in [one["table"], *(part["table"] for part in one.get("tables", ()))]
    }
    assert {table for name, table in found if name == "unknown-table"} == {"shop.carts"}
    assert {table for name, table in found if name == "table-schema"} == {None, "shop.orders_0000", "shop.orders_0002"}
    (family,) = [one for one in record_of(tmp_path / "out")["tables"] if one["table"] == "orders"]
    assert (family["layout"]["origin"], family["layout"]["primary_key"]) == ("contract", ["id"])


def test_a_statement_that_empties_a_shard_is_not_one_that_empties_the_family(decode, tmp_path):
    messages = [
        insert("orders_0000", {"id": 1, "total": 1}),
        statement("orders_0000", "TRUNCATE TABLE orders_0000", "TRUNCATE"),
        statement("orders_0000", "TRUNCATE TABLE ORDERS_0001", "TRUNCATE"),
    ]
    assert decode(messages) == 0
    assert [one["emptied"] for one in record_of(tmp_path / "out")["upheavals"]] == [False, False]


def test_the_schemas_of_a_family_have_the_columns_of_its_shards(decode, tmp_path, capsys):
    decode([insert("orders_0000", {"id": 1, "total": 1})])
    (tmp_path / "orders.yaml").write_text("table: orders\ncolumns: {id: {type: bigint}}\nprimary_key: [id]\n")
    capsys.readouterr()
    assert main(["schema", REFERENCE, "--tables", "orders.yaml", "--format", "spark-ddl"]) == 0
    printed = capsys.readouterr().out
    assert "_database" in printed
    assert "_table" in printed
    (tmp_path / "cdc-contracts.yaml").unlink()
    assert main(["schema", REFERENCE, "--tables", "orders.yaml", "--format", "spark-ddl"]) == 0
    assert "_database" not in capsys.readouterr().out


@pytest.mark.parametrize("name", ["a.b.c.d", "shop.", ""])
def test_the_name_of_a_family_is_that_of_a_table(decode, capsys, name):
    assert decode([insert("orders_0000", {"id": 1, "total": 1})], settings=f'families: {{"{name}": "x"}}') == 2
    assert "DATABASE.SCHEMA.TABLE" in capsys.readouterr().err


def test_python_has_one_table_of_a_family_too():
    messages = [insert(f"orders_000{number}", {"id": 1, "total": 1.5}).encode() for number in range(3)]
    opened = cdc_contracts.contract(REFERENCE, families={"shop.orders": "orders_[0-9]{4}"})
    rows = opened.decode_batch([*messages, insert("carts", {"id": 2, "total": 1}).encode()]).tables
    assert sorted(rows) == ["shop.carts", "shop.orders"]
    assert rows["shop.orders"].column("_table").to_pylist() == ["orders_0000", "orders_0001", "orders_0002"]
    with pytest.raises(UsageError, match=r"there is a table shop\.orders, which is no shard"):
        _ = opened.decode_batch([*messages, insert("orders", {"id": 2, "total": 1}).encode()]).tables
