"""An image that is an empty object is no row, unless its op completes it from another: in batches as alone."""

import json

import pytest
from both_paths import VERSIONS
from output_rows import unlike_columns, within_a_batch
from topics import samples, scope_of

from cdc_contracts.registry.core.common.pointers import follow, split_pointer
from cdc_contracts.registry.core.engine.kernel import Kernel


def with_empty_images(value, pointers):
    """A message with each of its images that are objects replaced by an empty one, one at a time."""
    try:
        message = json.loads(value)
    except ValueError:  # a sample of bytes that are no message
        return
    for pointer in pointers:
        *above, name = split_pointer(pointer) or [""]
        holder = follow(message, tuple(above))
        if isinstance(holder, dict) and isinstance(holder.get(name), dict):
            held, holder[name] = holder[name], {}
            yield json.dumps(message).encode()
            holder[name] = held


@pytest.mark.one_in(2)
@pytest.mark.parametrize("setting", ["off", "eager"])
@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_an_empty_image_beside_rows_is_read_as_by_the_reference(version, setting, part, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", setting)
    meaning = version.meaning
    good = part(samples(version), 8) if meaning.transport == "json" else []
    empty = [changed for value in good for changed in with_empty_images(value, meaning.images.pointers())]
    values = [value for pair in zip(good, empty, strict=False) for value in pair] + empty
    assert unlike_columns(scope_of(version.reference), values) == []


@pytest.mark.parametrize("order", [1, -1])
def test_an_empty_image_where_no_row_belongs_is_told_from_a_row_though_updates_complete_it(order):
    row = {"database": "shop", "table": "orders", "type": "insert", "ts": 1718000467, "data": {"id": 1}}
    values = [json.dumps({**row, "old": old}).encode() for old in ({"id": 2}, {})][::order]
    records = within_a_batch(values)
    (written,) = Kernel(scope_of("maxwell/json@1")).decode(records)
    quarantined = [row["value"] for row in written.quarantine.to_pylist()]
    assert quarantined == [value for value in values if b"2" in value.split(b"old")[1]]
    assert unlike_columns(scope_of("maxwell/json@1"), values) == []
