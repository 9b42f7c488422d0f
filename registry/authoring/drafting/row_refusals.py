"""Row refusals: why the rows of messages cannot be expressed, so that no other member is taken for them."""

from __future__ import annotations

from typing import Final

from cdc_contracts.registry.authoring.drafting.envelope_places import KEY, EnvelopeFacts
from cdc_contracts.registry.authoring.drafting.image_sides import OpImages
from cdc_contracts.registry.authoring.drafting.message_members import Parts, words_of
from cdc_contracts.registry.authoring.drafting.op_codes import OpCodes
from cdc_contracts.registry.authoring.drafting.row_places import (
    BEFORE,
    SIDE,
    RowPlaces,
    UnreadableRows,
    hint_of,
    words_of_image,
)
from cdc_contracts.registry.core.common.pointers import join_pointer

_FEWEST_NAMES: Final = 2
"""A member is a row with this many columns in common, or this many at all where no name says what the rows are."""


def find_refusal(places: RowPlaces, codes: OpCodes, envelope: EnvelopeFacts, sides: dict[str, OpImages]) -> str | None:
    """Return why no contract can express the rows of messages; None if one can."""
    likely = sorted(places.refused.items(), key=lambda one: -hint_of(one[0]))
    for parts, rows in likely:
        if _hold_rows(parts, rows, places, codes, envelope):
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
    if codes.member.parts[: len(parts)] == parts:  # the envelope
        return False
    if {*words_of(parts[-1])} & KEY and rows.holds == "arrays of values":  # names of columns
        return False
    mine = hint_of(parts, own=True)
    below = [image for image in places.images if image and image[: len(parts)] == parts]
    if below:
        taken = {place.says.get("at") for place in envelope.places.values()}
        plain = {name for name in rows.plain if join_pointer(*parts, name) not in taken}
        if not plain:
            return False
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
