"""Nearest contracts: the one of the catalogue that comes nearest to messages which none of it takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from cdc_contracts.registry.authoring.drafting.message_members import SampleMessage
from cdc_contracts.registry.core.contract.catalogue import Catalogue
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.validate.candidates import find_nearest, open_validations, weigh

COMPARED: Final = 50
"""Messages compared with every contract."""


def nearest_contract(catalogue: Catalogue, messages: Sequence[SampleMessage], rows: AbstractSet[str]) -> str | None:
    """Return the contract with the fewest errors in most of the first messages, if it has a row where the draft has.

    None if most messages are like none.
    """
    validations = open_validations(catalogue, ReadingOptions())
    compared, found = messages[:COMPARED], Counter[str | None]()
    for left, message in zip(range(len(compared) - 1, -1, -1), compared, strict=True):
        one = find_nearest(weigh(message.value, validations, message.key))
        found[one.version.reference if one and rows & {*one.version.meaning.images.pointers()} else None] += 1
        first, second, *_ = *(count for _, count in found.most_common(2)), 0
        if first > second + left:  # no other can have as many
            break
    return found.most_common(1)[0][0]
