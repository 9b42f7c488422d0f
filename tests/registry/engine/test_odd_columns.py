"""Columns that hold arrays and objects, and maps of types that are none: what the fast path says of such messages."""

from __future__ import annotations

import pytest
from both_paths import all_tables, by_reference, differences, report
from mutations import get, replaced, to_bytes
from odd_columns import JSON_VERSIONS, with_odd_columns
from output_rows import unlike_columns
from topics import PLAIN, rendered, scope_of

from cdc_contracts.registry.core.common.pointers import split_pointer
from cdc_contracts.registry.core.engine.fast_validator import FastValidator
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.message.transport import open_transport

EACH = 60
NO_TYPES = ({"a": None}, {"a": ["x"]}, "x", [], {"a": {}}, False)
"""What stands in place of a map of types; the first without a type that can be read."""


def types_in(version):
    types = version.meaning.columns.types
    if isinstance(types, str):
        return []
    if types.at is not None:
        return [types.at]
    return [f"{at}/{types.in_image}" for at in version.meaning.images.pointers()]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("tables", [False, True], ids=["by itself", "with tables"])
@pytest.mark.parametrize("version", JSON_VERSIONS, ids=str)
def test_both_paths_agree_on_columns_that_hold_arrays_and_objects(version, tables, part):
    options = {"tables": all_tables()} if tables else {}
    references = part((version.subject, version.reference), 2)

    found = disagreements(references, part(with_odd_columns(version, EACH), 5), options)

    assert not found, report(found)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("version", [version for version in JSON_VERSIONS if types_in(version)], ids=str)
def test_both_paths_agree_on_maps_of_types_that_cannot_be_read(version, part):
    wire = open_transport(version, PLAIN)
    messages = [wire.open(value) for value in rendered(version.reference, EACH, seed=9)]
    places = [split_pointer(at) for at in types_in(version)]
    values = [
        to_bytes(replaced(message, place, NO_TYPES[number // 2 % len(NO_TYPES)]))
        for number, message in enumerate(messages)
        for place in places
        if isinstance(get(message, place[:-1]), dict)
    ]

    found = disagreements(part((version.subject, version.reference), 2), part(values, 5), {})

    assert not found, report(found)


def disagreements(references, values, options):
    found = []
    for reference in references:
        validation = scope_of(reference, **options)
        expected = [by_reference([validation], value)[0] for value in values]
        found += differences(FastValidator(validation), values, expected)
    return found


@pytest.mark.parametrize("native", ["off", "eager"])
@pytest.mark.parametrize("number", ["1e400", "-1E+999999999999", "9" * 4400])
@pytest.mark.parametrize("around", ["[1,{}]", '{{"a":{}}}'], ids=["array", "object"])
def test_a_number_that_no_double_holds_is_kept_in_an_array_or_object(native, number, around, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", native)
    validation, held = scope_of("maxwell/json@2"), around.format(number)
    rows = {document: f'{{"id":1,"document":{document}}}' for document in ("[1,2]", held)}
    plain, odd = (
        f'{{"database":"shop","table":"t","type":"insert","ts":1718000000,"xid":1,"commit":true,"data":{row}}}'.encode()
        for row in rows.values()
    )

    assert [one.after["document"] for one in validation.validate(odd).changes] == [held]
    assert unlike_columns(validation, [plain] * 60 + [odd] + [plain] * 60, Kernel(validation)) == []
