"""A schema of one table's messages takes every row that conforms, and refuses what its columns cannot hold.

Validated by jsonschema-rs and, in part, by jsonschema: rows from the contract run backwards, drifting rows, and rows with
a value of every other form in each column.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from functools import cache
from itertools import islice

import jsonschema
import jsonschema_rs
import pytest
from both_paths import CATALOGUE
from mutations import DROP, KINDS, replaced, walk
from plain_messages import plain
from registry_tables import ORDERS_TABLE as TABLE

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.common.json_messages import parse_message
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContract, TableContracts
from cdc_contracts.registry.core.generate.drifting_messages import Drifter
from cdc_contracts.registry.core.generate.event_streams import row_stream
from cdc_contracts.registry.core.message.reading import Reading, column_path
from cdc_contracts.registry.core.schema.message_schemas.bound_schema import bound_schema
from cdc_contracts.registry.core.schema.message_schemas.table_columns import pattern_up_to
from cdc_contracts.registry.core.schema.message_schemas.table_examples import table_in, table_renderer
from cdc_contracts.registry.core.validate.capabilities import capabilities_of
from cdc_contracts.registry.core.validate.reference_validator import ReferenceValidator
from cdc_contracts.registry.core.values import FORMS, Number

VERSIONS = list(CATALOGUE.all_versions())
OF_JSON = [version for version in VERSIONS if version.meaning.transport == "json"]
LONG = os.environ.get("CDC_CONTRACTS_MUTATIONS", "some") != "some"
ROWS = 1000 if LONG else 10
TWICE = 100 if LONG else 5
"""So many rows are shown to both validators."""
EVERY = 1 if LONG else 255
TURNS = 1 if LONG else 18
"""A column of a version is given one of so many wrong values, another version others."""
LONGEST = 15
"""So many digits a float keeps."""
ORACLE = TableContract.model_validate({
    "table": "shop.orders", "primary_key": ["ID"],
    "columns": {"ID": {"type": "NUMBER(10)"}, "NAME": {"type": "VARCHAR2(20)"}, "MADE": {"type": "TIMESTAMP(6)"}},
})  # fmt: skip


def terms_of(table, **parameters):
    return ReadingOptions(parameters=parameters, tables=TableContracts([table]), table=table.table)


@cache
def validators(version):
    schema = json.loads(json.dumps(bound_schema(version, TABLE, ReadingOptions())))
    jsonschema_rs.meta.validate(schema)
    return jsonschema.Draft202012Validator(schema), jsonschema_rs.Draft202012Validator(schema)


def is_taken(version, message):
    """Say whether a message is taken: by the faster validator where all numbers are short enough for its floats."""
    slow, fast = validators(version)
    numbers = [one.token for *_, one in walk(message) if isinstance(one, Number)]
    if all(len(token) < LONGEST for token in numbers):
        return fast.is_valid(json.loads(json.dumps(plain(message), default=float)))
    return slow.is_valid(plain(message))


def events(version, count, seed=1):
    ops = capabilities_of(version, ReadingOptions()).ops
    stream = row_stream(seed, 2 * count, table=table_in(version, TABLE), snapshot=count // 10)
    return islice((event for event in stream if event.op in ops), count)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_rows_that_conform_are_taken_by_two_validators(version):
    slow, fast = validators(version)
    renderer, validator = table_renderer(version, TABLE, ReadingOptions()), ReferenceValidator(version, terms_of(TABLE))
    taken = 0
    for number, event in enumerate(events(version, ROWS)):
        message = validator.wire.open(renderer.render(event))
        assert validator.validate(message).opinion.errors == 0
        assert fast.is_valid(plain(message)), message
        if number < TWICE:
            assert slow.is_valid(plain(message)), message
        taken += 1
    assert taken == ROWS


@pytest.mark.one_in(5)
@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_the_examples_are_messages_of_the_table_one_for_each_op(version):
    schema, validator = bound_schema(version, TABLE, ReadingOptions()), ReferenceValidator(version, terms_of(TABLE))
    _, fast = validators(version)
    ops = set()
    for message in schema["examples"]:
        assert fast.is_valid(message)
        value = json.dumps(message, ensure_ascii=False).encode()
        reported = parse_message(value) if validator.wire.text_images is None else validator.wire.open(value)
        assert validator.validate(reported).opinion.errors == 0
        reading = Reading(version.meaning, reported, terms_of(TABLE))
        assert validator.forms.columns_of(reading).table is TABLE
        ops.add(reading.op)
    assert len(ops) >= 2


def wrong_values(version):
    """Yield rows with a value of every other form in each column: message, column, the form of it, error rules there."""
    validator, renderer = ReferenceValidator(version, terms_of(TABLE)), table_renderer(version, TABLE, ReadingOptions())
    event = next(
        one for one in events(version, 200) if one.op in ("insert", "snapshot") and None not in one.after.values()
    )
    message = validator.wire.open(renderer.render(event))
    reading = Reading(version.meaning, message, terms_of(TABLE))
    pointer = next(one for one in version.meaning.images.pointers() if reading.rows(one))
    for number, name in enumerate(TABLE.columns, VERSIONS.index(version)):
        path = column_path(reading, pointer, name)
        parts = [int(part) if part == "0" else part for part in path[1:].split("/")]
        examples = sorted(
            {
                *(form.example for form in FORMS.values()),
                '"x"',
                "-1",
                "99999999999999999999999",
                '"123456789012345678901.5"',
            }
        )
        for example in examples[number % TURNS :: TURNS]:
            value = parse_message(f'{{"value":{example}}}'.encode())["value"]
            mutant = replaced(message, parts, value)
            opinion = validator.validate(mutant).opinion
            errors = {one.rule for one in opinion.findings if one.severity == "error"}
            at = {one.rule for one in opinion.findings if one.severity == "error" and one.path == path}
            yield mutant, name, opinion.forms.get(path), at, errors


def takes_every_kind(version):
    """Say whether values say themselves what they are: JSON of any kind is a value, and only a reader knows of which."""
    return "extended-json" in {version.catalogue.mapping(name).document.default for name in version.mapping_names()}


INEXACT = {
    "D14.range", "D14.scale",  # of numbers of many digits, digits behind the point of a number, bits in bytes
    "D07.bit-base64-le",  # more bits in the last byte than the type has
    "D07.micros-wallclock",  # moments beyond the year 9999
    "D07.iso-datetime-minutes", "D07.epoch-seconds-integer", "D07.epoch-seconds.fraction",  # texts beyond a calendar
}  # fmt: skip
"""What no keyword says, or only one that asks validators to be more exact than 53 bits."""


@pytest.mark.one_in(3)
@pytest.mark.parametrize("version", OF_JSON, ids=str)
def test_a_value_of_another_form_is_refused_exactly_where_it_is_an_error(version, part):
    refused, left = 0, Counter()
    for mutant, name, form, at, errors in part(wrong_values(version), 6):
        taken = is_taken(version, mutant)
        assert errors or taken, (name, mutant)  # nothing is refused that validating takes
        refused += not taken
        if taken and at:
            left[name, form, *sorted(at)] += 1
    assert refused >= 20 // TURNS or "value-forms" in version.meaning.undocumented or takes_every_kind(version)
    assert {rule for key in left for rule in key[2:]} <= INEXACT, left


@pytest.mark.one_in(3)
@pytest.mark.parametrize("version", OF_JSON, ids=str)
def test_every_value_form_drift_is_refused_by_the_schema_alone(version):
    drifter = Drifter(version, terms_of(TABLE), "value-form")
    validator = ReferenceValidator(version, terms_of(TABLE))
    shown = 0
    for event in () if takes_every_kind(version) else events(version, 1000 if LONG else 15):
        value = drifter.render(event) if event.before is not event.after else None
        message = None if value is None else validator.wire.open(value)
        if message is not None and validator.validate(message).opinion.errors:
            assert not is_taken(version, message), message
            shown += 1
    assert shown or "value-forms" in version.meaning.undocumented or takes_every_kind(version)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_what_is_refused_is_an_error_or_a_row_of_another_table(version):
    """Every member of a row in turn with a value of another kind, or taken away."""
    validator = ReferenceValidator(version, terms_of(TABLE))
    changed = []
    for message in bound_schema(version, TABLE, ReadingOptions())["examples"]:
        reported = parse_message(json.dumps(message, ensure_ascii=False).encode())
        places = [parts for parts, _, _ in walk(reported) if parts]
        changed += [(reported, parts, value) for parts in places for value in (*KINDS.values(), DROP)]
    wrong = []
    for message, parts, value in changed[::EVERY]:
        mutant = replaced(message, parts, value)
        if not is_taken(version, mutant):
            reading = Reading(version.meaning, mutant, terms_of(TABLE))
            if validator.forms.columns_of(reading).table is TABLE and not validator.validate(mutant).opinion.errors:
                wrong.append((parts, value))
    assert changed
    assert wrong == []


@pytest.mark.parametrize("name", ["oms/canal@1", "oms/default@2", "oms/dataworks@1", "oms/shareplex@1"])
def test_a_table_of_oracle_is_bound_by_the_mapping_of_oracle(name):
    version = CATALOGUE.version(name)
    schema = bound_schema(version, ORACLE, ReadingOptions(parameters={"source_mode": "oracle"}))
    validator = ReferenceValidator(version, terms_of(ORACLE, source_mode="oracle"))
    reported = json.dumps(schema["$defs"])
    assert "sql-datetime-zone" in reported
    for message in schema["examples"]:
        assert validator.validate(parse_message(json.dumps(message).encode())).opinion.errors == 0
    assert len(schema["examples"]) >= 3


@pytest.mark.parametrize(
    ("name", "mode"), [("oms/default@2", "oracle"), ("oms-community/default@2", "mysql"), ("dataworks/streamx@1", "")]
)
def test_every_type_of_a_mapping_has_a_schema_with_examples(name, mode):
    version, reading_options = (
        CATALOGUE.version(name),
        ReadingOptions(parameters={"source_mode": mode} if mode == "oracle" else {}),
    )
    mapping = CATALOGUE.mapping(f"oms-{mode}" if mode else "streamx")
    types = [reported for types in mapping.document.forms.values() for reported in types]
    assert len(types) >= 6
    for reported in types:
        table = TableContract.model_validate({"table": "shop.orders", "columns": {"it": {"type": reported}}})
        schema = bound_schema(version, table, reading_options)
        validator = jsonschema_rs.Draft202012Validator(schema)
        assert schema["examples"], reported
        assert all(validator.is_valid(message) for message in schema["examples"]), reported


def test_a_type_that_a_version_cannot_carry_is_named():
    table = TableContract.model_validate({"table": "shop.places", "columns": {"spot": {"type": "SDO_GEOMETRY"}}})
    with pytest.raises(UsageError, match=r"oms-community/canal@2 cannot carry the type SDO_GEOMETRY of column spot"):
        bound_schema(CATALOGUE.version("oms-community/canal@2"), table, ReadingOptions())
    with pytest.raises(UsageError, match="source_mode") as reported:
        bound_schema(CATALOGUE.version("oms/canal@1"), ORACLE, ReadingOptions())
    assert "VARCHAR2" in str(reported.value) or "NUMBER" in str(reported.value)


def test_names_of_columns_may_hold_what_pointers_and_addresses_escape():
    names = ["a/b", "c~d", "e%f", "g h", "ünï", "i.j", '"', "$ref"]
    table = TableContract.model_validate({"table": "shop.odd", "columns": {name: {"type": "int"} for name in names}})
    version = CATALOGUE.version("oms-community/default@2")
    schema = bound_schema(version, table, ReadingOptions())
    for validator in (jsonschema.Draft202012Validator(schema), jsonschema_rs.Draft202012Validator(schema)):
        for message in schema["examples"]:
            assert validator.is_valid(message)
            for name in names:
                if message["postStruct"]:
                    assert not validator.is_valid(replaced(message, ["postStruct", name], "x"))


def test_the_bounds_of_a_type_are_its_own():
    schema = bound_schema(CATALOGUE.version("oms-community/default@2"), TABLE, ReadingOptions())["$defs"]
    assert schema["column-id"] == {
        "description": "`bigint unsigned`", "type": ["integer", "null"], "$ref": "#/$defs/integer-number", "minimum": 0, "maximum": 18446744073709551615,
        "$comment": "D11.not-null (a warning): NOT NULL.",
    }  # fmt: skip
    assert schema["column-total"] == {
        "description": "`decimal(20,2)`", "type": ["number", "null"], "$ref": "#/$defs/decimal-number", "minimum": -(10**18), "maximum": 10**18,
    }  # fmt: skip
    assert "D14" not in str(schema["column-note"])


@pytest.mark.parametrize("most", [1, 7, 10, 99, 100, 127, 128, 255, 256, 1000, 2047, 32768])
def test_the_pattern_of_numbers_up_to_one_takes_these_and_no_others(most):
    reported = re.compile(pattern_up_to(most))
    matched = {number for number in range(2 * most + 20) if reported.fullmatch(str(number))}
    assert matched == set(range(1, most + 1))


def test_every_form_that_bounds_numbers_is_of_a_kind_that_has_bounds():
    assert {form.kind for form in FORMS.values() if form.kind in ("integer", "decimal", "number", "bit")} == {
        "integer", "decimal", "number", "bit",
    }  # fmt: skip
