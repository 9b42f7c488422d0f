"""Two schema files alone show what a product changed: a message of one version that the other refuses."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import jsonschema
import pytest
from both_paths import CATALOGUE

from cdc_contracts.cli.app import main
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import parse_table_contract
from cdc_contracts.registry.core.schema.message_schemas.bound_schema import bound_schema
from cdc_contracts.registry.core.validate.reference_validator import ReferenceValidator
from cdc_contracts.registry.core.values import Number


def compared(subject, capsys):
    versions = [CATALOGUE.version(f"{subject}@{number}") for number in (1, 2)]
    files = [str(Path(str(version.folder)) / "message.schema.json") for version in versions]
    code = main(["compat", *files, "--json"])
    return code, json.loads(capsys.readouterr().out)["findings"]


def proofs(findings):
    reported = [one["proof"]["message"] for one in findings if one["proof"]]
    return [json.loads(one) if isinstance(one, str) else one for one in reported]


def test_the_timestamps_of_3_3_0_are_reported_by_a_message(capsys):
    code, findings = compared("oms-community/canal", capsys)
    assert code == 1
    rows = [message["data"] for message in proofs(findings)]
    assert [{"at": 1718000000}] in rows  # as it was: seconds as a number
    assert [{"at": "1718000000.5"}] in rows  # as it is: text with a fraction


def test_the_swap_of_2022_is_reported_by_a_message(capsys):
    code, findings = compared("dts/canal", capsys)
    assert code == 1
    places = {(one["type"], one["data"] is None, one["old"] is None) for one in proofs(findings)}
    assert {("DELETE", True, False), ("DELETE", False, True)} <= places


@pytest.mark.parametrize("subject", ["oms-community/dataworks", "oms-community/default-extend-column-type"])
def test_other_dialects_with_types_show_the_timestamps_too(subject, capsys):
    code, findings = compared(subject, capsys)
    assert code == 1
    assert len(proofs(findings)) == 2


TYPED = ("oms-community/canal", "oms-community/dataworks", "oms-community/default-extend-column-type")


def schema_of(reference):
    return json.loads(CATALOGUE.version(reference).folder.joinpath("message.schema.json").read_text())


def validated(reference, message):
    """Return whether the reference finds no error in a message."""
    value = json.loads(json.dumps(message), parse_int=Number, parse_float=Number)
    return ReferenceValidator(CATALOGUE.version(reference), ReadingOptions()).validate(value).opinion.errors == 0


def orders(subject, moment):
    """Return an insert of a row of mixed types: id BIGINT, name VARCHAR and at TIMESTAMP."""
    row = {"id": 7, "name": "pear", "at": moment}
    types = {"id": "BIGINT", "name": "VARCHAR", "at": "TIMESTAMP"}
    message = next(one for one in schema_of(f"{subject}@2")["examples"] if "INSERT" in json.dumps(one))
    message = json.loads(json.dumps(message))
    if subject.endswith("canal"):
        codes = {"id": -5, "name": 12, "at": 93}
        return message | {"data": [row], "mysqlType": types, "sqlType": codes, "pkNames": ["id"]}
    if subject.endswith("dataworks"):
        message["schema"]["column"] = [{"name": name, "type": kind} for name, kind in types.items()]
        message["schema"]["pk"] = ["id"]
        message["payload"]["after"]["data"] = row
        return message
    message["postStruct"] = {**row, "__light_type": {name: {"schemaType": kind} for name, kind in types.items()}}
    return message


@pytest.mark.parametrize("subject", TYPED)
def test_a_row_of_mixed_types_with_a_timestamp_of_before_3_3_0_is_refused_since(subject):
    before, since = orders(subject, 1718000000), orders(subject, "1718000000.5")
    validator = jsonschema.Draft202012Validator(schema_of(f"{subject}@2"))
    assert [validator.is_valid(one) for one in (before, since)] == [False, True]
    assert [validated(f"{subject}@2", one) for one in (before, since)] == [False, True]


def test_a_whole_row_with_nulls_and_one_that_lacks_a_column_are_left_alone():
    subject = "oms-community/canal"
    validator = jsonschema.Draft202012Validator(schema_of(f"{subject}@2"))
    null, lacking = orders(subject, None), orders(subject, "1718000000.5")
    del lacking["data"][0]["at"]
    assert [validator.is_valid(one) for one in (null, lacking)] == [True, True]
    assert [validated(f"{subject}@2", one) for one in (null, lacking)] == [True, True]


def update(data, old):
    """Return an update of a table of two columns, with the images as they are told."""
    whole = {"id": "7", "value": "red"}
    rows = {"whole": whole, "changed": {"value": "green"}}
    message = next(one for one in schema_of("dts/canal@2")["examples"] if one["type"] == "UPDATE")
    types, codes = {"id": "bigint", "value": "varchar"}, {"id": -5, "value": 12}
    return message | {"mysqlType": types, "sqlType": codes, "pkNames": ["id"], "data": [rows[data]], "old": [rows[old]]}


@pytest.mark.parametrize("bound", [False, True])
def test_an_update_whose_images_are_swapped_is_refused_where_the_contract_finds_an_error(bound):
    columns = {"id": {"type": "bigint"}, "value": {"type": "varchar(10)"}}
    table = {"table": "shop.orders", "columns": columns, "primary_key": ["id"]}
    version = CATALOGUE.version("dts/canal@2")
    own = parse_table_contract(table, "orders")
    schema = bound_schema(version, own, ReadingOptions()) if bound else schema_of("dts/canal@2")
    validator = jsonschema.Draft202012Validator(schema)
    for data, old in product(("whole", "changed"), repeat=2):
        message = update(data, old)
        assert validator.is_valid(message) == validated("dts/canal@2", message) == ((data, old) != ("changed", "whole"))


def test_a_bound_schema_sees_the_swap_in_tables_of_many_columns_too():
    columns = {f"c{number}": {"type": "bigint"} for number in range(40)}
    table = parse_table_contract({"table": "shop.orders", "columns": columns, "primary_key": ["c0"]}, "orders")
    schema = bound_schema(CATALOGUE.version("dts/canal@2"), table, ReadingOptions())
    whole = dict.fromkeys(columns, "1")
    swapped = update("changed", "whole") | {
        "mysqlType": dict.fromkeys(columns, "bigint"), "sqlType": dict.fromkeys(columns, -5), "pkNames": ["c0"],
        "data": [{"c1": "2"}], "old": [whole],
    }  # fmt: skip
    validator = jsonschema.Draft202012Validator(schema)
    right = swapped | {"data": swapped["old"], "old": swapped["data"]}
    assert [validator.is_valid(one) for one in (swapped, right)] == [False, True]
    assert [validated("dts/canal@2", one) for one in (swapped, right)] == [False, True]


@pytest.mark.parametrize("number", [1, 2])
def test_a_version_whose_images_no_message_shows_says_so_and_names_what_can(number):
    schema = schema_of(f"dts/canal@{number}")
    assert "no schema of one message can tell; `cdc-contracts detect`" in schema["description"]


@pytest.mark.parametrize("subject", [*TYPED, "oms-community/default", "oms-community/shareplex", "dts/canal"])
def test_avro_schemas_of_one_shape_state_what_they_read_differently(subject, capsys):
    files = [str(Path(str(CATALOGUE.version(f"{subject}@{one}").folder)) / "message.avsc") for one in (1, 2)]
    code = main(["compat", *files, "--json"])
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert (code, finding["rule"]) == (1, "C215")
    expected = "images delete before at: /old, then /data" if subject == "dts/canal" else "TIMESTAMP: epoch-seconds-int"
    assert expected in finding["says"]
