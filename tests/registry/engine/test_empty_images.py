"""An image that is an empty object is no row, unless another image completes it: beside rows, in batches as alone."""

import json

import pytest
from both_paths import VERSIONS
from output_rows import unlike_columns
from topics import samples, scope_of

from cdc_contracts.registry.core.common.pointers import follow, split_pointer


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
def test_an_empty_image_beside_rows_is_read_as_by_the_reference(version, setting, monkeypatch):
    monkeypatch.setenv("CDC_CONTRACTS_NATIVE", setting)
    meaning = version.meaning
    good = samples(version) if meaning.transport == "json" else []
    empty = [changed for value in good for changed in with_empty_images(value, meaning.images.pointers())]
    values = [value for pair in zip(good, empty, strict=False) for value in pair] + empty
    assert unlike_columns(scope_of(version.reference), values) == []
