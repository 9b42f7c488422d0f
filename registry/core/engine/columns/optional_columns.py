"""Optional columns: those that a row may lack without a verdict, or what is counted of it, depending on that.

Where columns that are NULL are left out, almost every row has other ones. Records that differ in nothing else are of
one group then, so that it costs no more to validate them than rows that are whole.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cached_property

from cdc_contracts.registry.core.contract.document_model import ROW_OPS
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.engine.layouts.decoded_batches import DecodedBatch
from cdc_contracts.registry.core.engine.layouts.decoder_kinds import open_tokens
from cdc_contracts.registry.core.message.primary_keys import read_names
from cdc_contracts.registry.core.validate.drift_rule import reads_of
from cdc_contracts.registry.core.validate.validation_context import ValidationContext


class OptionalColumns:
    """The optional columns of the versions within a validation context."""

    def __init__(self, validation: ValidationContext) -> None:
        self._meanings = [validator.meaning for validator in validation.validators]
        self._options = validation.reading_options

    def by_image(self, decoded_batch: DecodedBatch, keys: Iterable[object]) -> Mapping[str, Collection[str]]:
        """Return the optional columns of a batch by image; `keys` are the columns that the Kafka keys name.

        With table contracts, these are the columns that they list: another one is a finding wherever it is.
        """
        if not self._images:
            return {}
        of_keys = {name for key in (*keys, *self._keys_in(decoded_batch)) if isinstance(key, tuple) for name in key}
        named, listed = of_keys | self._options.tables.key_columns, bool(self._options.tables)
        return {
            pointer: frozenset(
                column.name
                for column in rows.image.columns
                if column.name not in named and column.name not in rows.image.named and (column.typed or not listed)
            )
            for pointer, rows in decoded_batch.rows.items()
            if pointer in self._images
        }

    @cached_property
    def _images(self) -> frozenset[str]:
        """The images of which every version lets rows lack columns, and of which no rule reads what columns they have.

        What the Kafka key may stand for is not among them. An image that another completes takes the columns of the key
        alone, which always tell records apart.
        """
        if not all(self._options.may_lack_columns(one.columns) for one in self._meanings):
            return frozenset()
        if any(one.columns.types != "none" for one in self._meanings):
            return frozenset()
        every = frozenset(at for meaning in self._meanings for at in meaning.images.pointers())
        return every.difference(*map(_compared_images, self._meanings))

    def _keys_in(self, decoded_batch: DecodedBatch) -> set[tuple[str, ...]]:
        """Return the columns that the messages of a batch name as those of their keys."""
        found = set[tuple[str, ...]]()
        for place in dict.fromkeys(meaning.envelope.primary_key for meaning in self._meanings):
            if place is not None and place.in_value in decoded_batch.members:
                distinct = decoded_batch.members[place.in_value].distinct[1]
                tokens = open_tokens([value for value in distinct if type(value) is bytes])
                named = (read_names(value, place) for value in (*tokens, *distinct))
                found.update(tuple(names) for names in named if names)
        return found


def _compared_images(meaning: Meaning) -> set[str]:
    """Return the images whose columns a rule reads, and those whose row the Kafka key may have."""
    found = set(reads_of(meaning).columns)
    for op in ROW_OPS:
        sides = meaning.images.of(op)
        for side in (sides.before, sides.after) if sides is not None else ():
            if side is not None and side.or_key:
                found |= {at for at in (side.at, side.either, side.completed_from) if at is not None}
    return found
