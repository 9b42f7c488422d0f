"""Contracts that leave a message more freedom than shipped ones: what cannot be a row is refused by both paths.

Each version is taken without rules, with every member optional, and with images that may hold anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from mutations import replaced, to_json
from open_schemas import with_any_values, with_optional_members
from output_rows import unlike_columns
from topics import CATALOGUE, rendered

from cdc_contracts.registry.core.common.pointers import split_pointer
from cdc_contracts.registry.core.contract.catalogue import Catalogue, Version
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.message.reading import Reading
from cdc_contracts.registry.core.message.transport import open_transport
from cdc_contracts.registry.core.validate.validation_context import open_validation

REFERENCES = [str(version) for version in CATALOGUE.all_versions() if version.meaning.transport == "json"]
IN_LISTS = [one for one in REFERENCES if CATALOGUE.version(one).meaning.images.container == "list-of-rows"]
ALONE = ReadingOptions(parameters={"timestamp_zone": "+08:00"}, table="shop.orders")


def open_catalogue() -> Catalogue:
    """Return the shipped contracts, as far as they demand nothing of rows."""
    catalogue = Catalogue(CATALOGUE.roots)
    for version in catalogue.all_versions():
        code = version.resolved["envelope"]["op"]["at"]
        less = {"discriminators": [{"present": code}], "version_evidence": [], "rules": [], "notes": []}
        schema = with_any_values(with_optional_members(version.schema))
        vars(version).update(resolved=version.resolved | less, schema=schema)
    return catalogue


OPEN = cache(open_catalogue)


def readings_of(version: Version) -> Iterator[Reading]:
    wire = open_transport(version, ALONE)
    for value in rendered(version.reference, 24, seed=5, snapshot=2, reading_options=ALONE):
        reading = Reading(version.meaning, wire.open(value), ALONE)
        if reading.holds_rows:
            yield reading


def images_of(reading: Reading) -> list[tuple[str, ...]]:
    """Return the places of the images from which a message's rows are taken."""
    return [split_pointer(at) for side in reading.sides if (at := reading.source(side)) is not None]


def with_nested_values(version: Version) -> Iterator[bytes]:
    """Yield messages in which one column of a row is an array or an object, with the types of columns and without."""
    types = getattr(version.meaning.columns.types, "at", None)
    one_row = version.meaning.images.hold_one_row
    for number, reading in enumerate(readings_of(version)):
        for image in images_of(reading):
            place = image if one_row else (*image, 0)
            name = next(iter(reading.rows("".join(f"/{part}" for part in image))[0]))
            nested: Any = [1, "x"] if number % 2 else {"a": {}}
            message = replaced(reading.message, (*place, name), nested)
            yield to_json(message).encode()
            if types is not None:
                yield to_json(replaced(message, split_pointer(types), None)).encode()


def with_more_rows(version: Version) -> Iterator[bytes]:
    """Yield messages of two images of which one holds a row more than the other."""
    for reading in readings_of(version):
        images = images_of(reading)
        for image in images if len(images) > 1 else ():
            rows = reading.rows("".join(f"/{part}" for part in image)) or []
            yield to_json(replaced(reading.message, image, [*rows, rows[0]])).encode()


SCALAR = [
    reference
    for reference in REFERENCES
    if not any(
        {"array", "object"} & mapping.document.untyped.keys()
        for mapping in map(CATALOGUE.mapping, CATALOGUE.version(reference).mapping_names())
    )
]
"""Versions whose columns hold no arrays and objects."""


@pytest.mark.one_in(4)
@pytest.mark.parametrize("setting", ["off", "eager"])
@pytest.mark.parametrize("reference", SCALAR)
def test_an_array_or_object_is_no_value_of_a_column_with_or_without_a_type(reference, setting, part, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", setting)
    validation = open_validation(OPEN(), reference, ALONE)
    values = part(with_nested_values(CATALOGUE.version(reference)), 5)
    assert values
    for value in values:
        validated = validation.validate(value)
        assert not validated.changes
        assert "type-change" in {finding.name for finding in validated.verdict.findings}
    clean = list(rendered(reference, 8, seed=6, reading_options=ALONE))
    assert not unlike_columns(validation, [*clean, *values, *clean], Kernel(validation))


@pytest.mark.parametrize("setting", ["off", "eager"])
@pytest.mark.parametrize("reference", IN_LISTS)
def test_images_with_different_numbers_of_rows_are_refused_without_the_rule_that_says_so(
    reference, setting, part, monkeypatch
):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", setting)
    validation = open_validation(OPEN(), reference, ALONE)
    values = part(with_more_rows(CATALOGUE.version(reference)), 5)
    assert values
    for value in values:
        validated = validation.validate(value)
        assert not validated.changes
        assert ("D09.image-present-for-op", "as many rows in each image") in {
            (finding.rule, finding.expected) for finding in validated.verdict.findings
        }
    clean = list(rendered(reference, 8, seed=6, reading_options=ALONE))
    assert not unlike_columns(validation, [*clean, *values, *clean], Kernel(validation))
