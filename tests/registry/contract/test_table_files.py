"""Table contracts as files: written so that they are read back, and never over what somebody else wrote."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdc_contracts.registry.core.common.errors import ContractError
from cdc_contracts.registry.core.common.yaml_documents import parse_document
from cdc_contracts.registry.core.contract.table_contract_files import (
    DIFFERS,
    NEW,
    SAME,
    file_contracts,
    file_name,
    write_table_contract,
)
from cdc_contracts.registry.core.contract.table_contracts import (
    TableColumn,
    TableContract,
    TableContracts,
    parse_table_contract,
    read_table_contracts,
)

TEXTS = st.text(st.characters(codec="utf-8")) | st.sampled_from(
    ["true", "1", "null", "~", "no", "a: b", "# c", "- d", "enum('x, y','}')", "", " ", "é", "\u2028", "x" * 2000, "2024-01-01"]
)  # fmt: skip


@given(
    st.dictionaries(TEXTS, st.tuples(TEXTS, st.booleans(), st.none() | TEXTS), min_size=1, max_size=4),
    TEXTS,
    st.none() | st.integers(1, 9),
)
def test_whatever_names_and_types_there_are_they_are_read_back(columns, table, version):
    contract = TableContract(
        table=table,
        version=version,
        columns={
            name: TableColumn(type=one, nullable=null, comment=says) for name, (one, null, says) in columns.items()
        },
        primary_key=tuple(columns)[:2],
        source_time_zone="+08:00",
    )
    text = write_table_contract(contract, dict.fromkeys(columns, "seen often"), "made\nby hand")
    assert parse_table_contract(parse_document(text, "here"), "here") == contract


def test_a_contract_is_written_as_a_person_would():
    contract = TableContract(
        table="shop.orders",
        columns={"id": TableColumn(type="bigint unsigned", nullable=False), "price": TableColumn(type="decimal(10,2)")},
        primary_key=("id",),
    )
    assert write_table_contract(contract) == (
        "table: shop.orders\n"
        "columns:\n"
        "  id: {type: bigint unsigned, nullable: false}\n"
        '  price: {type: "decimal(10,2)"}\n'
        "primary_key: [id]\n"
    )


@pytest.mark.parametrize(
    ("table", "name"),
    [
        ("shop.orders", "shop.orders.yaml"),
        ("shop.or ders/é", "shop.or%20ders%2F%C3%A9.yaml"),
        ("..", "%2E..yaml"),
        ("a~b", "a%7Eb.yaml"),
    ],
)
def test_a_file_is_called_like_its_table(table, name):
    assert file_name(table) == name


def test_names_that_are_very_long_are_cut_and_stay_apart():
    long, other = file_name("s." + "x" * 300), file_name("s." + "x" * 300 + "y")
    assert len(long) < 255
    assert long != other


def orders(**said):
    columns = {"id": TableColumn(type="int", nullable=False), "at": TableColumn(type="timestamp")}
    return TableContract(**{"table": "shop.orders", "columns": columns, "primary_key": ("id",), **said})


@pytest.mark.parametrize(
    ("there", "state"),
    [
        (None, NEW),
        ("table: shop.orders\ncolumns: {id: {type: int, nullable: false}, at: {type: timestamp}}\nprimary_key: [id]", SAME),
        ("table: shop.orders\nversion: 4\ncolumns: {at: {type: timestamp}, id: {type: int, comment: me}}\nprimary_key: [id]\nsource_time_zone: Z", SAME),
        ("table: shop.orders\ncolumns: {id: {type: int}, at: {type: datetime}}\nprimary_key: [id]", DIFFERS),
        ("table: shop.orders\ncolumns: {id: {type: int}, at: {type: timestamp}}", DIFFERS),
    ],
)  # fmt: skip
def test_a_file_that_says_the_same_is_left_alone(tmp_path, there, state):
    if there is not None:
        (tmp_path / "by hand.yaml").write_text(there)
    (found,) = file_contracts(tmp_path, [orders()])
    assert found.state == state
    assert found.file.name == ("shop.orders.yaml" if there is None else "by hand.yaml")


def test_tables_whose_names_differ_in_capitals_alone_have_files_that_differ_in_more(tmp_path):
    (tmp_path / "shop.ORDERS.yaml").write_text("table: shop.ORDERS\ncolumns: {id: {type: int}}")
    made = [orders(table=name) for name in ("shop.Orders", "shop.orders", "shop.visits")]
    names = [one.file.name for one in file_contracts(tmp_path, made)]
    assert len({"shop.orders.yaml", *(name.lower() for name in names)}) == 4
    assert names[2] == "shop.visits.yaml"


def test_what_a_person_added_is_kept(tmp_path):
    (tmp_path / "x.yaml").write_text(
        "table: shop.orders\nversion: 4\ncolumns: {id: {type: int, comment: mine}}\nsource_time_zone: Z\n"
    )
    (found,) = file_contracts(tmp_path, [orders(comment="theirs")])
    kept = found.contract
    assert (kept.version, kept.source_time_zone, kept.comment) == (4, "Z", "theirs")
    assert kept.columns["id"].comment == "mine"
    assert list(kept.columns) == ["id", "at"]


def test_a_folder_that_cannot_be_read_is_not_written_to(tmp_path):
    (tmp_path / "x.yaml").write_text("columns: 1")
    with pytest.raises(ContractError):
        file_contracts(tmp_path, [orders()])


def test_a_run_stays_the_same_run_where_only_comments_and_numbers_change(tmp_path):
    def reported(text):
        (tmp_path / "a.yaml").write_text(text)
        return read_table_contracts(tmp_path).documents()

    plain = reported("table: a.b\ncolumns: {x: {type: int}}\n")
    assert reported("table: a.b\nversion: 7\ncomment: c\ncolumns: {x: {type: int, comment: d}}\n") == plain
    assert reported("table: a.b\ncolumns: {x: {type: int, nullable: false}}\n") != plain
    assert TableContracts([orders(version=2)]).of("shop", None, "orders").reference == "shop.orders@2"
