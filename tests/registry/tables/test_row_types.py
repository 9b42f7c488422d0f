"""Row types: modules that type checkers understand, with a type for every value that decoding a message gives."""

import datetime as dt
import subprocess
import sys
import types
from pathlib import Path
from typing import get_type_hints

import pytest
from topics import CATALOGUE

import cdc_contracts as cdc
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContracts, parse_table_contract
from cdc_contracts.registry.core.generate.event_streams import ORDERS
from cdc_contracts.registry.core.tables.schemas.row_types import row_types_module
from cdc_contracts.testing.sent_messages import MessageSender

ROOT = Path(__file__).parents[3]
CACHE = ROOT / ".mypy_cache" / "of users"
"""What the type checker knows of the package from the last run, checked as users have it, without our settings."""
COLUMNS = {name: {"type": told, "nullable": name != "id"} for name, told in ORDERS.types.items()}
TABLE = {"table": "shop.orders", "columns": COLUMNS, "primary_key": ["id"]}
VERSIONS = [str(version) for version in CATALOGUE.all_versions()]


def module_text(reference, document):
    table = parse_table_contract(document, "tables")
    return row_types_module(CATALOGUE.version(reference), table, ReadingOptions(tables=TableContracts([table])))


def module_of(text):
    module = types.ModuleType("row_types_of_a_table")
    exec(compile(text, "rows.py", "exec"), module.__dict__)
    return module


@pytest.mark.one_in(2)
@pytest.mark.parametrize("reference", VERSIONS)
def test_every_decoded_value_is_of_the_type_of_its_column(reference, part):
    module = module_of(module_text(reference, TABLE))
    hints = get_type_hints(module.Row)
    sender = MessageSender(reference, table=TABLE)
    contract = cdc.contract(reference, tables=TABLE, table="shop.orders")
    changes = [
        change
        for value in part((*sender.stream(60, seed=3), *sender.edges()), 3)
        for change in contract.decode(value).changes
        if change.table == "orders"
    ]
    assert len(changes) > 10
    wrong = {
        (name, type(value).__name__)
        for change in changes
        for name, value in module.row_of(change).items()
        if not isinstance(value, hints[name])
    }
    assert not wrong


def test_a_type_is_told_by_the_contract_and_null_by_the_table():
    hints = get_type_hints(module_of(module_text("oms-community/canal@2", TABLE)).Row)
    assert (hints["id"], hints["note"]) == (int, str | None)
    hints = get_type_hints(module_of(module_text("oms-community/canal@2", TABLE | {
        "columns": {"kind": {"type": "blob"}, "flag": {"type": "bit(8)", "nullable": False}}, "primary_key": [],
    })).Row)  # fmt: skip
    assert hints == {"kind": bytes | None, "flag": int}


def test_types_are_those_of_the_mapping_that_lists_them_where_another_has_a_default():
    columns = {"a": {"type": "oid"}, "b": {"type": "mood"}, "c": {"type": "cidr"}, "d": {"type": "timestamptz"}}
    table = {"table": "shop.things", "columns": columns | {"e": {"type": "boolean"}}}
    hints = get_type_hints(module_of(module_text("debezium/json@4", table)).Row)
    assert hints == {
        "a": int | None, "b": str | None, "c": str | None, "d": dt.datetime | str | None, "e": bool | None
    }  # fmt: skip


def test_names_that_python_does_not_take_are_names_of_columns_all_the_same():
    odd = {
        "table": 'shop.o"{x}',
        "columns": {"class": {"type": "int"}, "a b": {"type": "text"}, "__x": {"type": "int"}},
    }
    module = module_of(module_text("dts/canal@2", odd))
    assert set(get_type_hints(module.Row)) == {"class", "a b", "__x"}
    (change,) = (
        one for value in MessageSender("dts/canal@2").stream(1, seed=1)
        for one in cdc.contract("dts/canal@2").decode(value).changes
    )  # fmt: skip
    with pytest.raises(ValueError, match=r'not a row of o"\{x\}: orders'):
        module.row_of(change)


def test_type_checkers_know_the_values_of_a_row(tmp_path):
    (tmp_path / "orders_row.py").write_text(module_text("dts/canal@2", TABLE))
    (tmp_path / "consumer.py").write_text(
        "import cdc_contracts as cdc\nfrom orders_row import row_of\n\n"
        "for change in cdc.contract('dts/canal@2').decode(b'').changes:\n"
        "    if isinstance(change, cdc.Change):\n"
        "        reveal_type(row_of(change)['id'])\n"
        "        row_of(change)['nope']\n"
        "        if change.op == 'inserted':\n            pass\n"
    )
    ended = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file", "", "--cache-dir", CACHE, "consumer.py"],
        cwd=tmp_path, env={"MYPYPATH": str(ROOT / ".src"), "PATH": ""}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    said = [line for line in ended.stdout.splitlines() if line.startswith(("consumer.py", "orders_row.py"))]
    assert [line.partition(": ")[0] for line in said if " error: " in line] == ["consumer.py:7", "consumer.py:8"], said
    assert any('Revealed type is "builtins.int"' in line or 'Revealed type is "int"' in line for line in said), said
