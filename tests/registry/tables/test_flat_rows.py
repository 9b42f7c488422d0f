"""Flat rows of every version, from messages of a table with a contract: the values of the nested rows, one image each."""

from __future__ import annotations

import pytest
from both_paths import CATALOGUE
from decoded_rows import decoded_rows
from registry_tables import ORDERS_TABLE

from cdc_contracts.registry.core.tables.canonical.table_layouts import FLAT


@pytest.mark.one_in(4)
@pytest.mark.parametrize("version", list(CATALOGUE.all_versions()), ids=str)
def test_flat_columns_hold_the_typed_values_of_the_image_after_a_change_and_before_a_deletion(version):
    layout, nested = decoded_rows(version, ORDERS_TABLE)
    flat_layout, flat = decoded_rows(version, ORDERS_TABLE, shape=FLAT)
    names = [column.name for column in layout.columns]
    assert flat_layout.arrow.names[-len(names) :] == names
    assert [flat_layout.arrow.field(name).type for name in names] == [one.type for one in layout.image]
    shown = set()
    for whole, row in zip(nested.to_pylist(), flat.to_pylist(), strict=True):
        side = "before" if whole["_op"] == "delete" or whole["_update_part"] == "before" else "after"
        image = whole[side]
        if image is None:  # a deletion of which the dialect tells the key in the image after it
            side, image = "after", whole["after"]
        assert {name: row[name] for name in names} == image
        assert row["_columns"] == [name for name in names if f"{side}.{name}" not in whole["_absent"]]
        assert row["id"] is not None
        shown.add((row["_op"], side))
    assert ("delete", "before") in shown or ("delete", "after") in shown
    assert ("insert", "after") in shown or ("upsert", "after") in shown or ("snapshot", "after") in shown
