"""Envelope places: which members name the table, give times and positions, and list the key."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

from cdc_contracts.registry.common.pointers import ABSENT
from cdc_contracts.registry.drafting.message_members import Members, ObservedMember, Parts
from cdc_contracts.registry.drafting.op_codes import OpCodes
from cdc_contracts.registry.drafting.row_places import RowPlaces

_TABLE: Final = (("table",), ("tbl",), ("tab",), ("table", "name"), ("tbl", "name"), ("tab", "name"), ("relation",))
_DATABASE: Final = (("database",), ("db",), ("database", "name"), ("db", "name"), ("catalog",), ("dbname",))
_SCHEMA: Final = (("schema",), ("schema", "name"), ("owner",))
_POSITION: Final = frozenset({"pos", "position", "lsn", "scn", "seq", "sequence", "offset", "csn"})
_TRANSACTION: Final = frozenset({"xid", "txid", "txn", "trx", "gtid", "transaction", "trans"})
_DDL: Final = frozenset({"sql", "ddl", "query", "statement", "text"})
_EVENT: Final = frozenset({"es", "event", "commit", "committed", "source", "when", "change", "changed", "op"})
_MILLIS: Final = (10**12, 5 * 10**12)
_SECONDS: Final = (5 * 10**8, 5 * 10**9)
_MICROS: Final = (5 * 10**14, 5 * 10**15)
_ISO: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z)?")


@dataclass
class EnvelopePlace:
    """One fact of the envelope: what the contract says, what shows it, and what is not certain about it."""

    says: dict[str, Any]
    evidence: str
    question: str = ""


@dataclass
class EnvelopeFacts:
    """The facts of the envelope, by the names that a contract has for them, and what could not be expressed."""

    places: dict[str, EnvelopePlace] = field(default_factory=dict)
    ddl: EnvelopePlace | None = None
    questions: list[str] = field(default_factory=list)


def find_envelope(members: Members, places: RowPlaces, codes: OpCodes) -> EnvelopeFacts:
    """Return the facts of the envelope besides the op."""
    found = EnvelopeFacts()
    outside = [member for member in members if not _is_taken(member.parts, places, codes)]
    _find_names(found, members, outside)
    _find_times(found, members, outside)
    _find_key(found, members, outside, places)
    _find_positions(found, members, outside)
    _find_ddl(found, members, outside, codes)
    return found


def _is_taken(parts: Parts, places: RowPlaces, codes: OpCodes) -> bool:
    taken = [image for image in places.images if image]
    taken += [places.types.parts] if places.types else []
    taken += [places.codes] if places.codes else []
    return parts == codes.member.parts or any(parts[: len(one)] == one for one in taken)


def evidence_of(members: Members, member: ObservedMember, what: str) -> str:
    """Return how many messages have a member, and where the first of them is."""
    return f"{what} in {member.held:,} of {len(members.messages):,} messages, first in {member.first}"


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
            "is the part before the point a database? `split: schema.table` is for a schema.",
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
    for member in outside:
        if member.is_only("number") and _all_within(member, _MICROS):
            found.questions.append(
                f"{member.pointer} looks like microseconds since 1970, which no form of a time in the envelope reads "
                f"(there are epoch-millis, epoch-seconds and others): it is checked as a whole number only."
            )
    if not times:
        found.questions.append("no member looks like the time of the change: /… for `event_time: {at: …, form: …}`?")
        return
    times.sort(key=lambda one: (-len({*one[0].words} & _EVENT), -one[0].held, len(one[0].parts)))
    (event, form), *others = times
    later = next((one for one in others if _is_later(members, event, one[0]) is True), None)
    if later is None:
        earlier = next((one for one in others if _is_later(members, one[0], event) is True), None)
        if earlier is not None and not {*event.words} & _EVENT:
            (event, form), later = earlier, (event, form)
    question = "is this the time of the change in the source (else call it process_time)?" if later is None else ""
    _add_time(found, members, "event_time", event, form, question)
    if later is not None:
        question = f"it is never before {event.pointer}: is it when the message was written?"
        _add_time(found, members, "process_time", *later, question)


def _add_time(
    found: EnvelopeFacts, members: Members, name: str, member: ObservedMember, form: str, question: str
) -> None:
    found.places[name] = EnvelopePlace(
        {"at": member.pointer, "form": form}, evidence_of(members, member, form.replace("-", " ")), question
    )


def _form_of_time(member: ObservedMember) -> str | None:
    """Return the form of a time that all values of a member have."""
    if member.is_only("number"):
        if _all_within(member, _MILLIS):
            return "epoch-millis"
        return "epoch-seconds" if _all_within(member, _SECONDS) and _sounds_like_time(member) else None
    if member.is_only("string") and member.texts:
        if all(re.fullmatch("[0-9]{10}", text) for text in member.texts) and _sounds_like_time(member):
            return "epoch-seconds-text"
        matches = [_ISO.fullmatch(text) for text in member.texts]
        if all(matches) and all(text[10] == "T" for text in member.texts):
            return "iso-local-or-utc" if any(match and match[2] for match in matches) else "iso-local"
    return None


def _sounds_like_time(member: ObservedMember) -> bool:
    return bool({*member.words} & {"time", "timestamp", "ts", "at", "when", "date", "sec", "seconds", "ms", *_EVENT})


def _all_within(member: ObservedMember, span: tuple[int, int]) -> bool:
    numbers = [number for number in member.numbers if number.token.lstrip("-").isdigit()]
    return len(numbers) == len(member.numbers) > 0 and all(span[0] <= number < span[1] for number in numbers)


def _is_later(members: Members, first: ObservedMember, second: ObservedMember) -> bool | None:
    """Return whether the second of two numbers is never below the first; None if they cannot be compared."""
    pairs = [
        (one, other)
        for message, one in members.values(first.parts)
        if (other := message.at(second.parts)) is not ABSENT and other is not None
    ]
    if not pairs or any(isinstance(value, str) for pair in pairs for value in pair):
        return None
    return all(one <= other for one, other in pairs)


def _find_key(found: EnvelopeFacts, members: Members, outside: list[ObservedMember], places: RowPlaces) -> None:
    for member in outside:
        if _lists_columns(members, member, places, _listed):
            says = {"at": member.pointer, "as": "list"}
        elif (
            member.is_only("string")
            and {"key", "pk"} & {*member.words}
            and _lists_columns(members, member, places, _joined)
        ):
            says = {"at": member.pointer, "as": "joined-u0001"}
        else:
            continue
        found.places["primary_key"] = EnvelopePlace(
            says, evidence_of(members, member, "names of columns"), "do these columns identify a row?"
        )
        return
    found.questions.append("no member lists the columns of the key: table contracts may (`primary_key: [...]`).")


def _listed(value: Any) -> list[str] | None:
    return value if isinstance(value, list) and all(isinstance(one, str) for one in value) else None


def _joined(value: Any) -> list[str] | None:
    return value.split("\x01") if isinstance(value, str) and value else None


def _lists_columns(
    members: Members, member: ObservedMember, places: RowPlaces, read: Callable[[Any], list[str] | None]
) -> bool:
    """Return whether every list of a member names columns of the rows of its message."""
    seen = 0
    for message, value in members.values(member.parts):
        names = read(value)
        columns = {name for parts in places.images for row in places.rows(message.at(parts)) for name in row}
        if names is None or (columns and not {*names} <= columns):
            return False
        seen += bool(columns and names)
    return seen > 0


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
            "is it the position of the message in its stream? `rises: always` or `or-stays` promises an order.",
        )  # fmt: skip
    transaction = next((one for one in free if {*one.words} & _TRANSACTION and one.is_only("number", "string")), None)
    if transaction is not None and transaction is not position:
        found.places["transaction"] = EnvelopePlace(
            {"at": transaction.pointer}, evidence_of(members, transaction, "id"), "is it the id of the transaction?"
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
        if all(isinstance(message.at(member.parts), str) and message.at(member.parts) for message in statements):
            found.ddl = EnvelopePlace(
                {"text": {"at": member.pointer}}, f"text in all {len(statements):,} messages of DDL",
                "is it the statement?",
            )  # fmt: skip
            return


def _by_likeness(members: list[ObservedMember]) -> Iterator[ObservedMember]:
    yield from (member for member in members if {*member.words} & _DDL and member.is_only("string"))
