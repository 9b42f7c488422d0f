"""Message parts: where rows are, what says the op, which images each op has, and the envelope, or why none is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from cdc_contracts.registry.authoring.drafting.envelope_facts import EnvelopeFacts
from cdc_contracts.registry.authoring.drafting.envelope_places import find_envelope
from cdc_contracts.registry.authoring.drafting.image_sides import OpImages, find_sides
from cdc_contracts.registry.authoring.drafting.image_texts import add_rows_of_keys, find_lone_text, open_texts
from cdc_contracts.registry.authoring.drafting.key_places import lists_key
from cdc_contracts.registry.authoring.drafting.message_members import Members, ObservedMember, Parts, SampleMessage
from cdc_contracts.registry.authoring.drafting.op_codes import (
    MARKS,
    OpCodes,
    find_messages_without_code,
    find_op,
    name_no_op,
    numeric_op,
    op_in_row,
    rows_without_code,
)
from cdc_contracts.registry.authoring.drafting.row_places import (
    AFTER,
    BEFORE,
    SIDE,
    TEXTS,
    RowPlaces,
    find_rows,
    hint_of,
    structures_in,
    take_flattened,
)
from cdc_contracts.registry.authoring.drafting.row_refusals import find_refusal, find_wide_rows, hold_unreadable_rows
from cdc_contracts.registry.authoring.drafting.unsent_marks import UnsentMarks, find_absent
from cdc_contracts.registry.core.common.errors import UndetectedError
from cdc_contracts.registry.core.common.json_messages import kind_of
from cdc_contracts.registry.core.common.pointers import join_pointer

VOCABULARY: Final = "A dialect beyond docs/vocabulary.md needs a reading of its own, which is code."


@dataclass
class MessageParts:
    """The parts of messages: where rows are, what says the op, which images each op has, and the envelope."""

    members: Members
    """The messages, with rows in place of their texts."""
    places: RowPlaces
    codes: OpCodes
    sides: dict[str, OpImages]
    envelope: EnvelopeFacts
    absent: UnsentMarks


def find_parts(members: Members) -> MessageParts:
    """Return the parts of messages; members that hold rows as texts, or with arrays or objects, become images in turn.

    Raises UndetectedError if contracts cannot express what is seen.
    """
    members, places, codes, envelope = _find_rows(members)
    if _is_marked_row(members, places, codes, envelope) or _may_be_row(members, places, codes, envelope):
        _take_flattened(members, places, codes)
        codes = find_op(members, places) or codes
    elif codes.member.parts[:-1] in places.images:
        raise _op_in_row(codes.member)
    nulls = [message for message in members.messages if places.flattened and message.at(places.flattened) is None]
    if nulls:
        raise _null_row(members, places.flattened or (), nulls)
    lacking = rows_without_code(members, places, codes)
    if lacking:
        raise _partial_op(members, codes, lacking)
    find_messages_without_code(members, places, codes)
    sides, envelope = find_sides(members, places, codes), find_envelope(members, places, codes)
    reason = find_refusal(places, codes, envelope, sides)
    if reason is not None:
        raise UndetectedError(f"no contract can express these messages: {reason}", hint=_images_hint(places))
    return MessageParts(members, places, codes, sides, envelope, find_absent(members, places, codes, envelope))


def _find_rows(members: Members) -> tuple[Members, RowPlaces, OpCodes, EnvelopeFacts]:
    """Return messages with rows in place of their texts, and where rows, op codes and the envelope are."""
    wide, texts = set[Parts](), set[Parts]()
    while True:
        places = find_rows(members, wide, texts)
        codes = find_op(members, places) or name_no_op(members, places)
        if codes is None:
            raise _no_op(members, places)
        envelope = find_envelope(members, places, codes)
        more = text = find_wide_rows(places, codes, envelope)
        if more is None:
            text = find_lone_text(members, places, codes, envelope)
        elif places.refused[more].holds != TEXTS:
            text = None
        if text is not None:
            if _is_marked_row(members, places, codes, envelope):
                break
            members, more = open_texts(members, text), text
            texts.add(text)
        elif more is None:
            keyed = add_rows_of_keys(members, places, codes, envelope)
            if keyed is None:
                break
            members, more = keyed
        elif more in wide:
            break
        wide.add(more)
    return members, places, codes, envelope


def _is_marked_row(members: Members, places: RowPlaces, codes: OpCodes, envelope: EnvelopeFacts) -> bool:
    """Return whether what holds the op code is the row, as the name of the code is marked to be none of the columns.

    That is the message itself, or an object that a schema block describes. Raises UndetectedError if another object may
    be the row as well.
    """
    at = codes.member.parts[:-1]
    if not codes.is_marked or (at and at not in places.described):
        return False
    named = {str(place.says["at"]) for place in envelope.places.values() if "at" in place.says}
    rows = (message.at(at) for message in members.messages if codes.code(message) is not None)
    others = {(name, kind_of(value)) for row in rows for name, value in row.items() if not name.startswith(MARKS)}
    texts = {parts for parts, rows in places.refused.items() if rows.holds == TEXTS}
    plain = any(
        kind not in ("object", "array", "null") and join_pointer(*at, name) not in named and (*at, name) not in texts
        for name, kind in others
    )
    if not plain and (not others or texts or any(hint_of(one) for one in places.images)):
        return False
    rivals = [members[one] for one in places.images if hint_of(one) == SIDE]
    rivals += _objects_beside(members, places, codes)
    if rivals:
        raise _op_in_row(codes.member, rivals)
    return True


def _may_be_row(members: Members, places: RowPlaces, codes: OpCodes, envelope: EnvelopeFacts) -> bool:
    """Return whether the message itself may be the row: no member holds one, and none is an object that could."""
    if places.images or hold_unreadable_rows(places, codes, envelope):
        return False
    top = [member for member in members if len(member.parts) == 1]
    empty = [member for member in top if not member.held and member.words]
    sides = [member.parts for member in empty if {*member.words} <= BEFORE | AFTER]
    places.refused_beside = (*(member.parts for member in top if _holds_objects(members, member)), *sides)
    return not places.refused_beside


def _objects_beside(members: Members, places: RowPlaces, codes: OpCodes) -> list[ObservedMember]:
    """Return the objects, and lists of them, beside the row that a schema block describes: each could be one too."""
    at = codes.member.parts[:-1]
    row = (at, places.described.get(at))
    beside = (one for one in members if at and one.parts[:-1] == at[:-1] and one.parts not in row)
    return [one for one in beside if _holds_objects(members, one)]


def _holds_objects(members: Members, member: ObservedMember) -> bool:
    if "object" in member.kinds:
        return True
    return any(isinstance(one, dict) for _, value in members.values(member.parts) if isinstance(value, list)
               for one in value)  # fmt: skip


def _partial_op(members: Members, codes: OpCodes, lacking: Sequence[SampleMessage]) -> UndetectedError:
    return UndetectedError(
        f"no contract can express these messages: {codes.member.pointer} looks like the op code, and "
        f"{len(lacking):,} of {len(members.messages):,} messages have a row and do not have it",
        where=lacking[0].place, hint="Give messages that all say what they do; leave out the others.",
    )  # fmt: skip


def _no_op(members: Members, places: RowPlaces) -> UndetectedError:
    numeric = numeric_op(members, places)
    if numeric is not None:
        return UndetectedError(
            f"no contract can express these messages: {numeric.pointer} looks like the op code, and holds no texts",
            where=numeric.first,
            hint=f"`ops` of a contract takes texts. {VOCABULARY}",
        )
    within = op_in_row(members, places)
    if within is not None:
        return _op_in_row(within)
    return UndetectedError(
        "no member says what each message does: a text in every message, with few values such as insert or U",
        hint="Give more messages of one dialect, with an insert, an update and a delete among them.",
    )


def _op_in_row(member: ObservedMember, rivals: Sequence[ObservedMember] = ()) -> UndetectedError:
    others = f", or the row is at {', '.join(one.pointer for one in rivals)}" if rivals else ""
    return UndetectedError(
        f"no contract can express these messages: {member.pointer} looks like the op code, and is in the row{others}",
        where=rivals[0].first if rivals else member.first,
        hint="Unwrap the rows first: only a row that is the message, or that a schema block describes, has its op "
        "among columns, under a name that begins with _ or @.",
    )


def _null_row(members: Members, at: Parts, nulls: Sequence[SampleMessage]) -> UndetectedError:
    seen = f"{len(nulls):,} of {len(members.messages):,} messages"
    return UndetectedError(
        f"no contract can express these messages: {join_pointer(*at)} is null in {seen}, which may delete a row",
        where=nulls[0].place, hint="Leave them out. If they delete rows, say so in the contract by `op.null_value`.",
    )  # fmt: skip


def _images_hint(places: RowPlaces) -> str:
    if places.refused:
        return "An image is an object of columns with plain values, a list of one, or a list of rows. " + VOCABULARY
    return "Give messages with rows. " + VOCABULARY


def _take_flattened(members: Members, places: RowPlaces, codes: OpCodes) -> None:
    """Read what holds the op code as the row, beside what belongs to the envelope."""
    at = codes.member.parts[:-1]
    places.images = [one for one in places.images if one != at]  # its members may be parts of the envelope
    rows = Members(message for message in members.messages if codes.code(message) is not None)
    names = dict.fromkeys(name for message in rows.messages for name in message.at(at))
    envelope = find_envelope(rows, places, codes)
    named = [one.parts[-1] for one in (codes.member, codes.ddl_flag) if one is not None and one.parts[:-1] == at]
    pointers = {join_pointer(*at, name): name for name in names}
    for fact, place in envelope.places.items():
        name = pointers.get(str(place.says.get("at")))
        if fact in ("table", "database", "schema", "database_table") and name is not None:
            named.append(name)
    if codes.is_marked:  # so is all that is beside the columns, and a column may be called anything else
        named = [name for name in named if name.startswith(MARKS)]
    named += [name for name in names if name.startswith(MARKS) or lists_key(rows, (*at, name), names)]
    take_flattened(places, rows, at, names, named)
    held = (message.at(at) for message in members.messages)
    places.structures = structures_in(value for row in held if isinstance(row, dict) for value in row.values())
