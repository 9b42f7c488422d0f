"""Envelope places: which members name the table, give times and positions, and list the key."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

from cdc_contracts.registry.authoring.drafting.envelope_facts import EnvelopeFacts, EnvelopePlace, evidence_of
from cdc_contracts.registry.authoring.drafting.key_places import find_key
from cdc_contracts.registry.authoring.drafting.message_members import Members, ObservedMember, Parts, words_of
from cdc_contracts.registry.authoring.drafting.op_codes import OpCodes
from cdc_contracts.registry.authoring.drafting.row_places import RowPlaces
from cdc_contracts.registry.authoring.drafting.statement_texts import STATEMENT_WORDS
from cdc_contracts.registry.core.common.pointers import ABSENT

_TABLE: Final = (("table",), ("tbl",), ("tab",), ("table", "name"), ("tbl", "name"), ("tab", "name"), ("relation",),
                 ("collection",))  # fmt: skip
_DATABASE: Final = (("database",), ("db",), ("database", "name"), ("db", "name"), ("catalog",), ("dbname",))
_SCHEMA: Final = (("schema",), ("schema", "name"), ("owner",))
_POSITION: Final = frozenset({"pos", "position", "lsn", "scn", "seq", "sequence", "offset", "csn"})
_TRANSACTION: Final = frozenset({"xid", "txid", "txn", "trx", "gtid", "transaction", "trans"})
_EVENT: Final = frozenset({"es", "event", "commit", "committed", "source", "when", "change", "changed", "op"})
_MILLIS: Final = (10**12, 5 * 10**12)
_SECONDS: Final = (5 * 10**8, 5 * 10**9)
_TIME: Final = frozenset({
    "time", "timestamp", "ts", "at", "when", "date", "sec", "seconds", "ms", "created", "updated", "modified",
})  # fmt: skip
_MICROS: Final = (5 * 10**14, 5 * 10**15)
_UNREAD: Final = (("microseconds", _MICROS), ("nanoseconds", (5 * 10**17, 5 * 10**18)))
_ISO: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z)?")
_ISO_FORMS: Final = ("iso-local", "iso-local-or-utc")
_LIKE_ISO: Final = re.compile(r"[0-9]{4}[-/.][0-9]{2}[-/.][0-9]{2}[T ][0-9]{2}:[0-9]{2}.*", re.DOTALL)
_NONE: Final = ("0", "-1")
"""Numbers that stand for no time, where the others are times."""


def find_envelope(members: Members, places: RowPlaces, codes: OpCodes) -> EnvelopeFacts:
    """Return the facts of the envelope besides the op."""
    found = EnvelopeFacts()
    outside = [member for member in members if not _is_taken(member.parts, places, codes)]
    statements = outside
    if places.flattened is not None:  # the other members are columns, and a column is no part of the envelope
        columns = [one for one in outside if one.parts[:-1] == places.flattened and one.parts[-1] in places.columns]
        others = (None, *places.not_columns)
        outside = [member for member in outside if places.name_in_flattened(member.parts) in others]
        times = [member.pointer for member in columns if _form_of_time(member) or _unread_time(member)]
        if times:
            found.questions.append(f"read as columns: is one of {', '.join(times)} the time of the change instead?")
    _find_names(found, members, outside)
    _find_times(found, members, outside)
    find_key(found, members, outside, places, codes)
    _find_positions(found, members, outside)
    _find_ddl(found, members, statements, codes)
    return found


def _is_taken(parts: Parts, places: RowPlaces, codes: OpCodes) -> bool:
    taken = [image for image in places.images if image != places.flattened]
    taken += [places.types.parts] if places.types else []
    taken += [places.codes] if places.codes else []
    return parts == codes.member.parts or any(parts[: len(one)] == one for one in taken)


def _find_names(found: EnvelopeFacts, members: Members, outside: list[ObservedMember]) -> None:
    texts = [member for member in outside if member.is_only("string")]
    table, database, schema = (_named(texts, names) for names in (_TABLE, _DATABASE, _SCHEMA))
    if table is None:
        found.places["table"] = EnvelopePlace(
            {"from": "topic-or-table-option"}, "no member is named like a table",
            "which member names the table? Without one, give --table or one topic for each table.",
        )  # fmt: skip
    elif database is None and all(text.count(".") == 1 for text in table.texts):
        says = {"at": table.pointer, "split": "database.table"}
        found.places["database_table"] = EnvelopePlace(
            says, evidence_of(members, table, "text of two parts"),
            f"is the part of {table.pointer} before the point a database? `split: schema.table` is for a schema.",
        )  # fmt: skip
    else:
        found.places["table"] = EnvelopePlace({"at": table.pointer}, evidence_of(members, table, "text"))
    for name, member in (("database", database), ("schema", schema)):
        if member is not None:
            found.places[name] = EnvelopePlace({"at": member.pointer}, evidence_of(members, member, "text"))


def _named(members: list[ObservedMember], names: tuple[tuple[str, ...], ...]) -> ObservedMember | None:
    for name in names:
        for member in sorted(members, key=lambda one: len(one.parts)):
            if member.words == name:
                return member
    return None


def _find_times(found: EnvelopeFacts, members: Members, outside: list[ObservedMember]) -> None:
    times = [(member, form) for member in outside if (form := _form_of_time(member)) is not None]
    unread = [f"{member.pointer} ({what})" for member in outside if (what := _unread_time(member)) is not None]
    found.asked |= {one.partition(" (")[0] for one in unread}
    if unread:
        found.questions.append(
            f"no form of a time in the envelope reads {', '.join(unread)}: is it the time of the change? "
            f"The forms are epoch-millis, epoch-micros, epoch-seconds, epoch-seconds-text, iso-local and "
            f"iso-local-or-utc."
        )
    if not times:
        if not unread:
            found.questions.append(
                "no member looks like the time of the change: /… for `event_time: {at: …, form: …}`?"
            )
        return
    times.sort(key=lambda one: (-one[0].held, len(one[0].parts)))
    event, form = min(times, key=lambda one: _rank_as_event(one[0]))  # of equals the first
    others = [one for one in times if one[0] is not event]
    later = next((one for one in others if _is_later(members, (event, form), one) is True), None)
    if later is None:
        earlier = next((one for one in others if _is_later(members, one, (event, form)) is True), None)
        if earlier is not None and not {*event.words} & _EVENT:
            (event, form), later = earlier, (event, form)
    question = f"is {event.pointer} the time of the change in the source (else call it process_time)?"
    _add_time(found, members, "event_time", event, form, question if later is None else "")
    if later is not None:
        question = f"{later[0].pointer} is never before {event.pointer}: is it when the message was written?"
        _add_time(found, members, "process_time", *later, question)


def _add_time(
    found: EnvelopeFacts, members: Members, name: str, member: ObservedMember, form: str, question: str
) -> None:
    says: dict[str, Any] = {"at": member.pointer, "form": form}
    none = next((text for text in _NONE if any(number.token == text for number in member.numbers)), None)
    if none is not None:
        says["absent_value"] = int(none)
        question = f"{question} Does {none} stand for no time?".lstrip()
    found.places[name] = EnvelopePlace(says, evidence_of(members, member, form.replace("-", " ")), question)


def _rank_as_event(member: ObservedMember) -> tuple[int, int]:
    """Order times by what calls them that of the change: their own names, then those of the objects above."""
    above = {word for part in member.parts[:-1] for word in words_of(part)}
    return -len({*member.words} & _EVENT), -len(above & _EVENT)


def _form_of_time(member: ObservedMember) -> str | None:
    """Return the form of a time that all values of a member have."""
    if member.is_only("number"):
        if _all_within(member, _MILLIS):
            return "epoch-millis"
        if _all_within(member, _MICROS):
            return "epoch-micros"
        return "epoch-seconds" if _all_within(member, _SECONDS) and _sounds_like_time(member) else None
    if member.is_only("string") and member.texts:
        if all(re.fullmatch("[0-9]{10}", text) for text in member.texts) and _sounds_like_time(member):
            return "epoch-seconds-text"
        matches = [_ISO.fullmatch(text) for text in member.texts]
        if all(matches):
            return "iso-local-or-utc" if any(match and match[2] for match in matches) else "iso-local"
    return None


def _unread_time(member: ObservedMember) -> str | None:
    """Return what a member holds that looks like a time and is of no form, None if it does not look like one."""
    if not member.is_only("number", "string") or _form_of_time(member) is not None:
        return None
    whole = [number.token.partition(".")[0] for number in member.numbers]
    counts = [int(token) for token in whole if token.lstrip("-").isdigit() and token not in _NONE]
    texts = [text for text in member.texts if text]
    if texts and not counts:
        if all(_LIKE_ISO.fullmatch(text) for text in texts):
            return "dates with a clock, in another form"
        counts = [int(text.partition(".")[0]) for text in texts if re.fullmatch(r"[0-9]{9,19}(\.[0-9]+)?", text)]
        if len(counts) < len(texts):
            return None
    named = [("milliseconds, not all whole numbers", _MILLIS), *_UNREAD]
    if _sounds_like_time(member):
        named.append(("seconds, not all whole numbers", _SECONDS))
    for unit, (first, end) in named:
        if counts and all(first <= count < end for count in counts):
            return unit + (" as text" if texts else "")
    return None


def _sounds_like_time(member: ObservedMember) -> bool:
    return bool({*member.words} & _TIME | _EVENT)


def _all_within(member: ObservedMember, span: tuple[int, int]) -> bool:
    """Return whether a member holds whole numbers of a span alone, besides one that stands for none."""
    tokens = {number.token for number in member.numbers}
    numbers = [int(token) for token in tokens if token.lstrip("-").isdigit() and token not in _NONE]
    none = len(tokens & {*_NONE})
    return len(numbers) + none == len(tokens) and none <= 1 and all(span[0] <= one < span[1] for one in numbers) and (
        len(numbers) > 0
    )  # fmt: skip


def _is_later(members: Members, first: tuple[ObservedMember, str], second: tuple[ObservedMember, str]) -> bool | None:
    """Return whether the second of two times is never before the first; None if they cannot be compared."""
    if first[1] != second[1]:
        return None
    pairs = [
        (one, other)
        for message, one in members.values(first[0].parts)
        if (other := message.at(second[0].parts)) is not ABSENT and other is not None
    ]
    if first[1] in _ISO_FORMS:
        pairs = [(str(one).replace(" ", "T"), str(other).replace(" ", "T")) for one, other in pairs]
    return all(one <= other for one, other in pairs) if pairs else None


def _find_positions(found: EnvelopeFacts, members: Members, outside: list[ObservedMember]) -> None:
    timed = {place.says.get("at") for place in found.places.values()}
    free = [member for member in outside if member.pointer not in timed]
    position = next((one for one in free if {*one.words[-1:]} & _POSITION and one.is_only("number", "string")), None)
    if position is not None:
        order = "integer" if _are_integers(position) else "opaque"
        rising = " that never falls" if order == "integer" and _rises(members, position) else ""
        kind = f"whole number{rising}" if order == "integer" else "text"
        found.places["position"] = EnvelopePlace(
            {"at": position.pointer, "order": order}, evidence_of(members, position, kind),
            f"is {position.pointer} the position of the message in its stream? `monotonic: strict` or `non-strict` "
            f"promises an order.",
        )  # fmt: skip
    plain = [one for one in free if one.is_only("number", "string")]
    ids = [one for one in plain if one.words == ("id",) and {*words_of("".join(one.parts[-2:-1]))} & _TRANSACTION]
    transaction = next((one for one in (*ids, *plain) if one in ids or {*one.words} & _TRANSACTION), None)
    if transaction is not None and transaction is not position:
        found.places["transaction"] = EnvelopePlace(
            {"at": transaction.pointer},
            evidence_of(members, transaction, "id"),
            f"is {transaction.pointer} the id of the transaction?",
        )


def _are_integers(member: ObservedMember) -> bool:
    texts = all(re.fullmatch("-?(0|[1-9][0-9]*)", text) for text in member.texts)
    return texts and all(number.token.lstrip("-").isdigit() for number in member.numbers)


def _rises(members: Members, member: ObservedMember) -> bool:
    numbers = [int(str(value)) for _, value in members.values(member.parts)]
    return all(one <= other for one, other in pairwise(numbers))


def _find_ddl(found: EnvelopeFacts, members: Members, outside: list[ObservedMember], codes: OpCodes) -> None:
    statements = [message for message in members.messages if codes.op(message) == "ddl"]
    if not statements:
        return
    for member in _by_likeness(outside):
        with_text = [one for one in statements if isinstance(one.at(member.parts), str) and one.at(member.parts)]
        if with_text:
            found.ddl = EnvelopePlace(
                {"text": {"at": member.pointer}},
                f"text in {len(with_text):,} of {len(statements):,} messages of DDL",
                f"is {member.pointer} the statement?",
            )
            return


def _by_likeness(members: list[ObservedMember]) -> Iterator[ObservedMember]:
    yield from (member for member in members if {*member.words} & STATEMENT_WORDS and member.is_only("string"))
