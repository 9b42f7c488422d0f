"""Image questions: what is not certain about the rows of a draft; what is asked of several ops is one question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cdc_contracts.registry.authoring.drafting.image_sides import OpImages
from cdc_contracts.registry.authoring.drafting.message_members import Members, Parts
from cdc_contracts.registry.authoring.drafting.object_texts import holds_objects
from cdc_contracts.registry.authoring.drafting.row_places import JSON_TEXT, SIDE, RowPlaces, hint_of
from cdc_contracts.registry.core.common.pointers import join_pointer


def image_questions(members: Members, places: RowPlaces, sides: Mapping[str, OpImages]) -> Iterator[str]:
    """Yield the questions about the members that hold rows, then those about the rows of each op."""
    yield from _about_places(places)
    texts = [join_pointer(*parts) for parts in _texts_beside(members, places)]
    if texts:
        why = "JSON objects stand there as texts and are kept as texts: no name says that they are rows"
        yield f"is there a row at {_all(texts)}? {why} before or after a change."
    yield from _about_pairs(sides)
    for op, one in sides.items():
        if one.against_names is not None:
            yield f"is {one.against_names} the row of {op}? Its name says that it is the row before a change."
        if one.uneven:
            yield f"which columns do the images of {op} leave out? Some rows have columns that the other one lacks."
        if one.of_keys:
            some = f"{one.of_keys:,} of {one.messages:,} messages"
            yield f"is the row of a {op} that of the key of its record, where the message holds none ({some})?"
    without = [
        f"{number:,} of {one.messages:,} messages of {op} hold none at {pointer or 'the message'}"
        for op, one in sides.items() for pointer, number in one.without_row.items()
    ]  # fmt: skip
    if without:
        yield f"may a row be missing: {_all(without)}?"
    beside = [
        f"{pointer} in {number:,} messages of {op}"
        for op, one in sides.items() for pointer, number in one.in_other_image.items()
    ]  # fmt: skip
    if beside:
        yield f"what are these rows, which are not read: {_all(beside)}?"


def _about_places(places: RowPlaces) -> Iterator[str]:
    if places.guessed:
        pointers = [join_pointer(*parts) or "the message" for parts in places.images]
        yield f"is the row at {_all(pointers)}? No name says so."
    else:
        nameless = [join_pointer(*parts) for parts in places.images if hint_of(parts) > hint_of(parts, own=True) == 0]
        if nameless:
            yield f"is there a row at {_all(nameless)}, or a column that is an object? Only the member above says so."
        lone = [join_pointer(*parts) for parts in places.images if hint_of(parts) < SIDE]
        if places.container == JSON_TEXT and lone:
            yield f"is {_all(lone)} the row, or a column of the message? It is a text, and no other member is a column."
    if places.flattened is not None and places.not_columns:
        hidden, columns = (
            _all([join_pointer(*places.flattened, name) for name in names])
            for names in (places.not_columns, sorted(places.columns))
        )
        row = join_pointer(*places.flattened) or "the message"
        yield f"{row} is the row: is none of {hidden} a column, and each of {columns} one?"


def _texts_beside(members: Members, places: RowPlaces) -> Iterator[Parts]:
    """Yield the members that hold texts of objects alone, outside of rows or named like one."""
    for member in members:
        is_inside = any(parts == member.parts[: len(parts)] for parts in places.images)
        is_named = hint_of(member.parts, own=True) > 0 and places.flattened is not None
        if (is_named or not is_inside) and holds_objects(member):
            yield member.parts


def _about_pairs(sides: Mapping[str, OpImages]) -> Iterator[str]:
    pairs: dict[tuple[str, str, bool], list[str]] = {}
    for op, one in sides.items():
        if {"before", "after"} <= one.sides.keys():
            pairs.setdefault((one.sides["before"]["at"], one.sides["after"]["at"], one.by_names), []).append(op)
    for (before, after, by_names), ops in pairs.items():
        why = "The names say so" if by_names else "No name says so"
        yield f"is {before} the row before an {' or '.join(ops)} and {after} the one after it? {why}."


def _all(names: list[str]) -> str:
    """Return names as a list in a sentence."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
