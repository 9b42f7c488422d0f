"""Values that do not fit the type in a table contract, as `check`, `decode` and `rules` tell of them."""

import json

import pytest

from cdc_contracts.cli.app import main

CONTRACT = "table: shop.orders\ncolumns: {id: {type: bigint}, total: {type: 'decimal(6,2)'}}\nprimary_key: [id]\n"
MESSAGE = {
    "database": "shop", "table": "orders", "type": "INSERT", "old": None, "isDdl": False, "sql": "", "pkNames": ["id"],
    "mysqlType": {"id": "bigint", "total": "decimal"}, "sqlType": {"id": -5, "total": 3},
}  # fmt: skip


@pytest.fixture
def messages(tmp_path, monkeypatch):
    """Four messages: the value of the first and the last fits."""
    monkeypatch.chdir(tmp_path)
    lines = [
        json.dumps({**MESSAGE, "id": at, "es": 1609344671000, "ts": 1609344671000 + at, "data": [{"id": str(at), "total": total}]})
        for at, total in enumerate(["12.10", "12.105", "12345.00", "1.5000"])
    ]  # fmt: skip
    (tmp_path / "orders.jsonl").write_text("\n".join(lines) + "\n")
    (tmp_path / "orders.yaml").write_text(CONTRACT)
    return "orders.jsonl"


def test_check_names_the_declared_type_and_never_the_value(messages, capsys):
    assert main(["check", messages, "--contract", "dts/canal@2", "--tables", "orders.yaml"]) == 1
    out, err = capsys.readouterr()
    assert [line for line in out.splitlines() if "precision" in line] == [
        "orders.jsonl:2 error precision /data/0/total expected decimal(6,2), observed more digits after the point",
        "orders.jsonl:3 error precision /data/0/total expected decimal(6,2), observed a number beyond it",
    ]
    assert err.startswith("drift: 4 read, 2 conforming")


def test_without_the_table_contract_every_value_is_taken(messages, capsys):
    assert main(["check", messages, "--contract", "dts/canal@2"]) == 0
    assert "precision" not in capsys.readouterr().out


@pytest.mark.parametrize("rule", ["D14.scale", "D14.range", "D14.second-digits", "precision"])
def test_the_rule_book_has_the_page(capsys, rule):
    assert main(["rules", "show", rule]) == 0
    assert "table contract" in " ".join(capsys.readouterr().out.split())


NARROW = """table: shop.orders
columns: {id: {type: bigint}, a: {type: 'decimal(3,3)'}, b: {type: 'bit(3)'}, c: {type: decimal(4)}, d: {type: 'decimal(5,-2)'},
  e: {type: 'decimal(2,4)'}, f: {type: tinyint unsigned}, g: {type: 'datetime(3)'}, h: {type: 'decimal(65,30)'}}
primary_key: [id]
"""


def test_samples_of_a_narrow_table_conform_to_it(tmp_path, capsys):
    (tmp_path / "orders.yaml").write_text(NARROW)
    table, file = ["--tables", str(tmp_path / "orders.yaml")], str(tmp_path / "orders.jsonl")
    assert main(["sample", "oms/default@2", "-n", "60", "-o", file, *table]) == 0
    capsys.readouterr()
    main(["check", file, "--contract", "oms/default@2", *table])
    assert "0 quarantined" in capsys.readouterr().err
