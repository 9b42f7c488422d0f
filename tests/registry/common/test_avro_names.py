"""Avro names: every name of a member has one that Avro takes, and comes back from it."""

import re

import pytest
from fastavro.schema import parse_schema
from hypothesis import example, given
from hypothesis import strategies as st

from cdc_contracts.registry.core.common.avro_names import avro_name, member_name

WORDS = [
    ("op", "op"), ("__deleted", "__deleted"), ("x_max_", "x_max_"), ("_x", "_x"), ("a_xy_", "a_xy_"),
    ("record-type", "record_x002D_type"), ("connect.decimal.precision", "connect_x002E_decimal_x002E_precision"),
    ("1st", "_x0031_st"), ("", "_x_"), (" ", "_x0020_"), ("名", "_x540D_"), ("é", "_x00E9_"), ("😀", "_x1F600_"),
    ("\x00", "_x0000_"), ("\ud800", "_xD800_"), ("_x_", "_x005F_x_"), ("_x0041_", "_x005F_x0041_"),
    ("_x0041", "_x0041"), ("_x0041.", "_x005F_x0041_x002E_"), ("_x.", "_x_x002E_"), ("a_x_b", "a_x_b"),
    ("_x0041_x0042_", "_x005F_x0041_x005F_x0042_"), ("_xFF_", "_xFF_"), ("_x00ff_", "_x00ff_"),
    ("_xFFFFFF_", "_x005F_xFFFFFF_"),
]  # fmt: skip
PIECES = [
    "_",
    "x",
    "_x",
    "0041",
    "1F600",
    "00",
    "_x0041_",
    "_x005F_",
    "_x_",
    ".",
    "-",
    "名",
    "é",
    "A",
    "a",
    "9",
    "/",
    "~",
]


@pytest.mark.parametrize(("member", "name"), WORDS)
def test_a_member_has_the_name_that_the_rule_gives(member, name):
    assert avro_name(member) == name
    assert member_name(name) == member


@given(st.lists(st.sampled_from(PIECES), max_size=9).map("".join) | st.text(st.characters(exclude_categories=())))
@example("_x" * 4 + "_")
@example("__x0041__")
def test_every_name_is_one_of_avro_and_comes_back(member):
    name = avro_name(member)
    assert re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name)
    assert member_name(name) == member
    parse_schema({"type": "record", "name": "R", "fields": [{"name": name, "type": "int"}]})


def test_a_name_that_is_made_of_no_member_stays_as_it_is():
    assert [member_name(name) for name in ("_xFFFFFF_", "_x41_", "op")] == ["_xFFFFFF_", "_x41_", "op"]


@given(st.sets(st.lists(st.sampled_from(PIECES), max_size=5).map("".join), max_size=20))
def test_no_two_members_share_a_name(members):
    assert len({avro_name(member) for member in members}) == len(members)
