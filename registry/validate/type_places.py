"""Type places: where messages of a contract have the source types and type codes of columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cdc_contracts.registry.common.pointers import join_pointer
from cdc_contracts.registry.contract.model import Meaning


def type_places(meaning: Meaning, meanings: Sequence[Meaning]) -> Iterator[str]:
    """Yield where types are by one of several contracts, then their codes; nothing if messages have no types."""
    types, codes = meaning.columns.types, meaning.columns.codes
    if types != "none":
        yield from places_of_types(types.model_dump(by_alias=True, exclude_none=True), meanings)
        if codes:
            yield codes.at


def places_of_types(types: Mapping[str, Any], meanings: Sequence[Meaning]) -> list[str]:
    """Return where types or codes of columns are: at a place of their own, or in each image of the contracts."""
    if "in_image" not in types:
        return [types["at"]]
    images = dict.fromkeys(at for meaning in meanings for at in meaning.images.pointers())
    return [at + join_pointer(types["in_image"]) for at in images]
