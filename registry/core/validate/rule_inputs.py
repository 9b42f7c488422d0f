"""Rule inputs: the parts of a message that a rule depends on, by which the fast path has to group records.

Some parts distinguish records for every rule: the op with its flags, the names of the table, the JSON kind of every
member, the types of columns, and whether an image has the columns of the key. A rule declares here whatever else it
reads; from this the fast path derives the grouping key of a record and its value flags.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from cdc_contracts.registry.core.common.pointers import join_pointer
from cdc_contracts.registry.core.contract.envelope_model import Place
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.contract.relations import Relation


@dataclass(frozen=True)
class Reads:
    """The parts of messages that rules read under one contract, as JSON Pointers.

    `values`: members by their exact value. `filled`: members by whether they hold a text that is not empty. `seconds`:
    numbers by whether they count whole seconds. `patterns`: texts by whether they match. `relations`: members by how
    they are related. `joined`: the joined values of the key, by whether they are those of the key columns of an image.
    `blocks`: schema blocks by whether they describe the columns of the images. `empty_rows`: images of changed columns
    by whether a row of them has none. `columns`: images by which columns their rows have, besides those of the key.
    `compared`: the same, but only where no row may lack columns.
    `objects`: objects by which members they have, which tells records apart anyway.
    `kafka_keys`: objects in the key of the record, by their names, and by whether their values are those of the columns
    of an image.
    """

    values: tuple[str, ...] = ()
    filled: tuple[str, ...] = ()
    seconds: tuple[str, ...] = ()
    patterns: tuple[tuple[str, str], ...] = ()
    relations: tuple[Relation, ...] = ()
    joined: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()
    empty_rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    compared: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    kafka_keys: tuple[str, ...] = ()

    @property
    def places(self) -> frozenset[str]:
        """Every place of the message that is read."""
        related = (place for relation in self.relations for place in relation.places)
        matched = (place for place, _ in self.patterns)
        return frozenset(
            (
                *self.values,
                *self.filled,
                *self.seconds,
                *matched,
                *related,
                *self.joined,
                *self.blocks,
                *self.empty_rows,
                *self.columns,
                *self.compared,
                *self.objects,
            )
        )


DeclareReads = Callable[[Meaning], Reads]
"""What a rule reads under a contract: it knows the places by what they are for."""


def read_nothing(meaning: Meaning) -> Reads:
    """Declare that a rule reads nothing besides the parts that distinguish records for every rule."""
    return Reads()


def places_at(place: Place | None) -> tuple[str, ...]:
    """Return where a place of the envelope is, if it is a member."""
    return () if place is None or place.in_value is None else (place.in_value,)


def columns_of_images(meaning: Meaning) -> Reads:
    """Declare that a rule reads which columns the rows of all images have."""
    return Reads(columns=tuple(meaning.images.pointers()))


def compared_images(meaning: Meaning) -> Reads:
    """Declare that a rule compares the columns of images, where no row may lack columns."""
    return Reads(compared=tuple(meaning.images.pointers()))


def kafka_keys(meaning: Meaning) -> tuple[str, ...]:
    """Return where the key columns are in the Kafka key, if a contract reads them from there."""
    return () if meaning.envelope.key_place is None else (meaning.envelope.key_place.at,)


def join_reads(all_reads: Iterable[Reads]) -> Reads:
    """Return the union of what several rules read."""
    result = list(all_reads)
    return Reads(
        **{
            one.name: tuple(dict.fromkeys(part for reads in result for part in getattr(reads, one.name)))
            for one in fields(Reads)
        }
    )


def type_places(meaning: Meaning, meanings: Sequence[Meaning]) -> Iterator[str]:
    """Yield where types are by one of several contracts, then their codes; nothing if messages have no types."""
    types, codes = meaning.columns.types, meaning.columns.codes
    if types != "none":
        yield from places_of_types(types.model_dump(by_alias=True, exclude_none=True), meanings)
        if codes:
            yield codes.at


def places_of_types(types: Mapping[str, Any], meanings: Sequence[Meaning]) -> list[str]:
    """Return where types or codes of columns are: at one place, or in each image of the contracts."""
    if "in_image" not in types:
        return [types["at"]]
    images = dict.fromkeys(at for meaning in meanings for at in meaning.images.pointers())
    return [at + join_pointer(types["in_image"]) for at in images]
