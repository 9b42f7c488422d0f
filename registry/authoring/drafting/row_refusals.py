"""Row refusals: why the rows of messages cannot be expressed, so that no other member is taken for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from cdc_contracts.registry.authoring.drafting.envelope_facts import EnvelopeFacts
from cdc_contracts.registry.authoring.drafting.image_sides import OpImages
from cdc_contracts.registry.authoring.drafting.key_places import KEY
from cdc_contracts.registry.authoring.drafting.message_members import Parts, words_of
from cdc_contracts.registry.authoring.drafting.op_codes import OpCodes
from cdc_contracts.registry.authoring.drafting.row_places import (
    BEFORE,
    JSON_TEXT,
    SIDE,
    TEXTS,
    RowPlaces,
    UnreadableRows,
    hint_of,
    words_of_image,
)
from cdc_contracts.registry.core.common.pointers import join_pointer

_FEWEST_NAMES: Final = 2
"""A member is a row with this many columns in common, or this many at all where no name says what the rows are."""


def find_wide_rows(places: RowPlaces, codes: OpCodes, envelope: EnvelopeFacts) -> Parts | None:
    """Return a member that holds rows as texts, or with arrays or objects as values of columns; None if there is none.

    Its name says that it holds rows, or it has most columns of a member that does: any other object may be a part of
    the envelope.
    """
    for parts, rows in _holding(places, codes, envelope):
        if _rivals_within(places, parts, rows):
            if rows.plain:
                return None  # either may be the row
            continue
        named = (hint_of(parts) and rows.plain) or hint_of(parts, own=True) == SIDE or _has_most_columns(rows, places)
        return parts if rows.can_be_read and named else None
    return None


def _rivals_within(places: RowPlaces, parts: Parts, rows: UnreadableRows) -> list[Parts]:
    """Return the members inside one that may be the row instead.

    Their names say so as clearly as its own, or its own does not say so clearly, and they have more members than it has
    plain values.
    """
    mine = hint_of(parts, own=True)
    if mine == SIDE and rows.plain:
        return []
    most = len(rows.plain) if len(rows.plain) >= _FEWEST_NAMES else 0
    larger = [(*parts, name) for name, size in rows.objects if mine < SIDE and size > most]
    if larger:
        return larger
    inside = [one for one in (*places.images, *places.refused) if len(one) > len(parts) and one[: len(parts)] == parts]
    return [one for one in inside if hint_of(one, own=True) >= max(1, mine)]


def _holding(places: RowPlaces, codes: OpCodes, envelope: EnvelopeFacts) -> Iterator[tuple[Parts, UnreadableRows]]:
    """Yield the members that cannot be read and hold rows, those first whose names say so most clearly."""
    for parts, rows in sorted(places.refused.items(), key=lambda one: -hint_of(one[0])):
        if not _is_text_column(parts, rows, places) and _hold_rows(parts, rows, places, codes, envelope):
            yield parts, rows


def _is_text_column(parts: Parts, rows: UnreadableRows, places: RowPlaces) -> bool:
    """Return whether a member that holds texts is a column of a row, as the name of this one says a side."""
    wide = (one for one, why in places.refused.items() if why.by_columns)
    around = [image for image in (*places.images, *wide) if image == parts[: len(image)] != parts]
    return rows.holds == TEXTS and any(hint_of(image, own=True) == SIDE for image in around)


def hold_unreadable_rows(places: RowPlaces, codes: OpCodes, envelope: EnvelopeFacts) -> bool:
    """Return whether some member holds rows that no contract can express."""
    return next(_holding(places, codes, envelope), None) is not None


def _has_most_columns(rows: UnreadableRows, places: RowPlaces) -> bool:
    shared = rows.plain & places.columns
    return not places.guessed and len(shared) * 2 > len(rows.plain) and len(shared) >= _FEWEST_NAMES


def find_refusal(places: RowPlaces, codes: OpCodes, envelope: EnvelopeFacts, sides: dict[str, OpImages]) -> str | None:
    """Return why no contract can express the rows of messages; None if one can."""
    for parts, rows in _holding(places, codes, envelope):
        rivals = _rivals_within(places, parts, rows)
        if rivals and rows.plain:
            held = ", ".join(join_pointer(*one) for one in rivals)
            return f"{join_pointer(*parts)} may be the row, or what it holds: {held} (as in {rows.place})"
        if not rivals:
            return rows.says(parts)
    if places.mixed:
        return f"some images are objects and others are lists: {_images(places)}"
    if not sides:
        beside = ", ".join(join_pointer(*parts) for parts in places.refused_beside)
        why = f"; nor is the message itself one, beside {beside}" if beside else ""
        return f"no member holds rows: objects of columns, or lists of them{why}"
    without = next((one for one in sides.values() if one.without_row), None)
    if places.guessed and without is not None:
        pointer, number = next(iter(without.without_row.items()))
        return (
            f"no name says which members hold rows, and {pointer}, which could, holds none in {number:,} of "
            f"{without.messages:,} messages that change a row"
        )
    update = sides.get("update")
    if update is not None and update.against_names is not None:
        return (
            f"updates hold a row at {update.against_names} only, whose name says that it is the row before the change "
            f"(as in {update.first})"
        )
    return None


def _hold_rows(parts: Parts, rows: UnreadableRows, places: RowPlaces, codes: OpCodes, envelope: EnvelopeFacts) -> bool:
    """Return whether a member that cannot be read holds the rows, rather than members of the envelope."""
    mine = hint_of(parts, own=True)
    if codes.member.parts[: len(parts)] == parts or (places.container == JSON_TEXT and mine < SIDE):
        return False  # the envelope: rows that are texts have names of sides
    if {*words_of(parts[-1])} & KEY and rows.holds == "arrays of values":  # names of columns
        return False
    below = [image for image in places.images if image and image[: len(parts)] == parts]
    if below:
        taken = {place.says.get("at") for place in envelope.places.values()}
        plain = {name for name in rows.plain if join_pointer(*parts, name) not in taken}
        if not plain:  # every column is an array or an object, or the rows are deeper
            return mine == SIDE and not any(hint_of(image, own=True) for image in below)
        if places.guessed:
            return True
        directly = [image for image in below if len(image) == len(parts) + 1]
        return mine == SIDE or (mine > 0 and len(directly) == 1)
    columns = places.columns
    if not places.images or codes.without_rows():
        return hint_of(parts) > 0
    if places.guessed and len(rows.plain) >= _FEWEST_NAMES:
        return rows.holds != "arrays of values"
    if rows.holds == "arrays of values" and rows.plain and rows.plain <= columns:
        return False
    shared = rows.plain & columns
    if len(shared) * 2 > len(rows.plain) and len(shared) >= _FEWEST_NAMES:
        return True
    after = [image for image in places.images if image and not words_of_image(image) & BEFORE]
    return mine >= max([1, *map(hint_of, after)])  # the row before a change alone is not the row


def _images(places: RowPlaces) -> str:
    return ", ".join(join_pointer(*parts) for parts in places.images)
