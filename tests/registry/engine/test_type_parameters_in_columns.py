"""Parameters of types reach the forms on both paths: from the message, else from the table contract."""

from __future__ import annotations

import pytest
from both_paths import by_fast_path, by_reference, shown
from record_batches import batch_of_values
from typed_messages import TYPED, UNTYPED, catalogue_with, typed_message, untyped_message

from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContracts, parse_table_contract
from cdc_contracts.registry.core.engine.fast_validator import FastValidator
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.validate.validation_context import open_validation

TIMES = 30


def declared_as(source_type: str | None) -> ReadingOptions:
    """Return options with a contract for the table, if a type of the column is given."""
    if source_type is None:
        return ReadingOptions()
    columns = {"id": {"type": "bigint"}, "v": {"type": source_type}}
    names = ("shop.things", "things")
    return ReadingOptions(
        tables=TableContracts(parse_table_contract({"table": name, "columns": columns}, "t.yaml") for name in names)
    )


def read_by_both(reference, form, source_type, values, options, invalid=None):
    """Return of each value its text, whether it is invalid, and the findings on it; both paths agree on all of it."""
    validation = open_validation(catalogue_with(form, source_type, invalid), reference, options)
    messages = [value for value in values for _ in range(TIMES)]  # the first ones teach the fast path their shape
    decoded = list(Kernel(validation).decode(batch_of_values(messages)))
    rows = {row["offset"]: row for part in decoded for row in part.changes.to_pylist()}
    found = []
    for place, fast in enumerate(by_fast_path(FastValidator(validation), messages)):
        assert shown(fast) == shown(by_reference([validation], messages[place])[0])
        told = [one.rule for one in fast.findings]
        row, changes = rows.get(place), validation.validate(messages[place]).changes
        if row is None:
            assert not changes
            found.append((None, False, told))
            continue
        text, invalid = dict(row["after"])["v"], bool(row["invalid"])
        assert (changes[0].after["v"], bool(changes[0].invalid)) == (text, invalid)
        found.append((text, invalid, told))
    assert all(found[at : at + TIMES] == found[at : at + 1] * TIMES for at in range(0, len(found), TIMES))
    return found[::TIMES]


@pytest.mark.parametrize("native", ["off", "eager"])
@pytest.mark.parametrize(
    ("sent", "declared", "expected"),
    [
        ("decimal(9,3)", None, ("0.790", False, [])),
        ("decimal", "decimal(9,2)", ("7.90", False, [])),
        ("decimal(9,3)", "decimal(9,2)", ("0.790", False, [])),
        ("decimal(9,4)", "decimal(9,2)", (None, False, ["D14.scale"])),
        ("decimal(2,2)", None, (None, False, ["D14.range"])),
        ("decimal", None, ("AxY=", True, ["D07.no-scale"])),
    ],
)
def test_the_scale_of_a_message_comes_before_that_of_a_table_contract(sent, declared, expected, native, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    value = typed_message(sent, '"AxY="')
    assert read_by_both(TYPED, "decimal-base64", "DECIMAL", [value], declared_as(declared)) == [expected]


@pytest.mark.parametrize("native", ["off", "eager"])
@pytest.mark.parametrize(
    ("declared", "expected"), [("decimal(9,3)", ("0.790", False, [])), ("decimal", ("AxY=", True, ["D07.no-scale"]))]
)
def test_without_types_in_messages_a_table_contract_has_the_scale(declared, expected, native, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    value = untyped_message('"AxY="')
    assert read_by_both(UNTYPED, "decimal-base64", "DECIMAL", [value], declared_as(declared)) == [expected]


@pytest.mark.parametrize("native", ["off", "eager"])
def test_columns_of_one_form_have_the_scale_of_their_own_type(native, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    values = [typed_message(f"decimal(9,{scale})", '"AxY="') for scale in (0, 1, 2)]
    found = read_by_both(TYPED, "decimal-base64", "DECIMAL", values, ReadingOptions())
    assert found == [("790", False, []), ("79.0", False, []), ("7.90", False, [])]


@pytest.mark.parametrize("native", ["off", "eager"])
def test_a_bit_field_with_more_bits_than_the_type_in_its_message_is_broken(native, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    values = [typed_message("bit(10)", token) for token in ('"/wM="', '"AAQ="', '""')]
    found = read_by_both(TYPED, "bit-base64-le", "BIT", values, ReadingOptions())
    assert found == [("1023", False, []), (None, False, ["D07.bit-base64-le"]), ("0", False, [])]


@pytest.mark.parametrize("native", ["off", "eager"])
def test_members_are_those_of_the_type_in_the_message(native, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    types = ("enum('a','b''c')", "enum('z','a')", "enum")  # what has no member has the form of the other version
    values = [typed_message(one, '"2"') for one in types] + [typed_message(types[0], '"3"')]
    found = read_by_both(TYPED, "enum-index", "ENUM", values, ReadingOptions())
    assert found == [
        ("b'c", False, []), ("a", False, []), ("2", False, ["D07.enum-index"]), (None, False, ["D03.value-form"]),
    ]  # fmt: skip


@pytest.mark.parametrize("native", ["off", "eager"])
def test_a_float_as_text_is_broken_unless_it_is_a_literal(native, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    values = [typed_message("double", token) for token in ("1.5", '"NaN"', '"-Infinity"', '"1.5"')]
    found = read_by_both(TYPED, "float64-number-or-literal", "DOUBLE", values, ReadingOptions())
    assert found == [
        ("1.5", False, []), ("NaN", False, []), ("-Infinity", False, []),
        (None, False, ["D07.float64-number-or-literal"]),
    ]  # fmt: skip


@pytest.mark.parametrize("native", ["off", "eager"])
def test_numbers_that_stand_for_no_time_are_kept_and_named_invalid_on_both_paths(native, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    invalid = {"literal": ["9223372036825200000", "5"], "others": "keep-text"}
    tokens = ("9223372036825200000", "5", "4", "-62167219200000001", "253402300800000000")
    values = [typed_message("datetime(6)", token) for token in tokens]
    found = read_by_both(TYPED, "micros-wallclock", "DATETIME", values, ReadingOptions(), invalid)
    assert found == [
        ("9223372036825200000", True, []), ("5", True, []), ("1970-01-01T00:00:00.000004", False, []),
        ("-62167219200000001", True, []), (None, False, ["D07.micros-wallclock"]),
    ]  # fmt: skip
