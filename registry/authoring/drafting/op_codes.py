"""Op codes: which member says what happened to a row, and what each of its codes means."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from cdc_contracts.registry.authoring.drafting.codeless_messages import (
    CodelessKind,
    find_codeless,
    find_codeless_rows,
)
from cdc_contracts.registry.authoring.drafting.message_members import Members, ObservedMember, Parts, SampleMessage
from cdc_contracts.registry.authoring.drafting.row_places import AFTER, BEFORE, RowPlaces, words_of_image
from cdc_contracts.registry.authoring.drafting.statement_texts import defines_tables, statements_of
from cdc_contracts.registry.core.common.pointers import ABSENT

MARKS: Final = ("_", "@")
"""What names begin with that are told apart from those of columns."""
_MOST_CODES: Final = 24
_FEWEST_LETTERS: Final = 3
_ALIKE: Final = 2
"""From this rank on a member looks like the op code."""
_DELETED: Final = 2.6
"""The rank of a member that says of each row whether it is deleted: an op code says more."""
_PLAIN_HINTS: Final = frozenset({"op", "operation", "opcode", "action", "dml"})
_HINTS: Final = frozenset({"op", "operation", "type", "kind", "action", "event", "dml", "opcode", "cmd", "change"})
_ROW_WORDS: Final = MappingProxyType({
    "insert": "I INSERT INS C CREATE ADD NEW",
    "update": "U UPDATE UPD CHANGE MODIFY MOD M",
    "delete": "D DELETE DEL REMOVE DROP",
    "snapshot": "R READ SNAPSHOT INIT LOAD FULL ROW",
    "upsert": "UPSERT MERGE PUT",
    "update-before": "UPDATEBEFORE UPDATEBEFOR UB BEFORE",
    "update-after": "UPDATEAFTER UA AFTER",
})  # fmt: skip
_OTHER_WORDS: Final = MappingProxyType({
    "ddl": "DDL CREATE ALTER DROP ERASE QUERY RENAME CINDEX DINDEX",
    "truncate": "TRUNCATE T",
    "heartbeat": "HEARTBEAT HB PING MHEARTBEAT H",
    "begin": "BEGIN B TRANSACTIONBEGIN",
    "commit": "COMMIT END TRANSACTIONEND XACOMMIT",
    "rollback": "ROLLBACK XAROLLBACK",
})  # fmt: skip
_STATEMENTS: Final = frozenset({"QUERY", "SQL", "STATEMENT"})
"""Codes of statements of any kind."""
_DEFINED: Final = frozenset({"TABLE", "COLUMN", "DATABASE", "SCHEMA", "INDEX", "VIEW"})
_BY_ROWS: Final = MappingProxyType({
    True: {word: op for op, words in _ROW_WORDS.items() for word in words.split()},
    False: {word: op for op, words in _OTHER_WORDS.items() for word in words.split()},
})  # fmt: skip


@dataclass
class OpCodes:
    """The member with the op code: its codes, what they mean, and those that nothing shows the meaning of."""

    member: ObservedMember
    ops: dict[str, str] = field(default_factory=dict)
    seen: Counter[str] = field(default_factory=Counter)
    guessed: dict[str, str] = field(default_factory=dict)
    """Why an op was taken for a code that does not say it."""
    unknown: set[str] = field(default_factory=set)
    """Those of them that are no known words."""
    ddl_flag: ObservedMember | None = None
    """A boolean that says of each message whether it is DDL."""
    flagged: set[str] = field(default_factory=set)
    """The codes that are of DDL in some messages and not in others, so that only the flag says it."""
    others: list[ObservedMember] = field(default_factory=list)
    """Other members that look like op codes."""
    codeless: list[CodelessKind] = field(default_factory=list)
    """The kinds of messages without a code."""

    @property
    def is_marked(self) -> bool:
        """Whether the name of the member says that it is none of the columns beside it."""
        return self.member.parts[-1].startswith(MARKS)

    @property
    def means(self) -> set[str]:
        """The canonical ops of all messages."""
        flagged = {"ddl"} if self.flagged else set()
        return {*self.ops.values(), *(kind.means for kind in self.codeless)} | flagged

    def without_rows(self) -> list[str]:
        """Return the codes that say insert, update or delete, and have no row in any message."""
        return [code for code, op in self.ops.items() if op == "mark" and _word(code) in _BY_ROWS[True]]

    def may_delete(self, message: SampleMessage) -> bool:
        """Return whether the code of a message is a word for the deletion of a row."""
        return _BY_ROWS[True].get(_word(self.code(message) or "")) == "delete"

    def code(self, message: SampleMessage) -> str | None:
        """Return the code of a message; None if it has none."""
        value = message.at(self.member.parts)
        return value if isinstance(value, str) else None

    def op(self, message: SampleMessage) -> str | None:
        """Return the canonical op of a message."""
        code = self.code(message)
        if code in self.flagged and self.is_flagged(message):
            return "ddl"
        if code is None:
            return next((kind.means for kind in self.codeless if kind.holds(message)), None)
        return self.ops.get(code)

    def is_flagged(self, message: SampleMessage) -> bool:
        """Return whether a message says that it is DDL."""
        return self.ddl_flag is not None and message.at(self.ddl_flag.parts) is True


def find_op(members: Members, places: RowPlaces) -> OpCodes | None:
    """Return the member with the op code, which messages without rows may lack; None if no member looks like one."""
    ranked = [(_rank(one), len(one.texts) > 1, -len(one.parts), one) for one in members if _may_be_op(one, places)]
    everywhere = [one for one in ranked if one[0] > 0 and one[3].held == len(members.messages)]
    best = max(everywhere, key=lambda one: one[:3], default=None)
    least = _ALIKE if best is None else best[0]
    partial = [one for one in ranked if one[0] > least and one[3].held < len(members.messages) and _is_hinted(one[3])]
    if partial:
        return _read_codes(members, max(partial, key=lambda one: (one[0], one[3].held))[3], places)
    if best is None:
        return None
    found = _read_codes(members, best[3], places)
    found.others = [one for rank, *_, one in everywhere if one is not best[3] and rank >= _ALIKE]
    return found


def name_no_op(members: Members, places: RowPlaces) -> OpCodes | None:
    """Return op codes that no message has, where the names of images say which row is the one after a change."""
    after = [parts for parts in places.named if words_of_image(parts) & AFTER]
    before = [parts for parts in places.named if words_of_image(parts) & BEFORE]
    if len(after) != 1 or len(before) > 1:
        return None
    at = (*after[0][:-1], "op")
    if at in members:
        return None
    found = OpCodes(ObservedMember(at, members.messages[0].place))
    found.codeless = find_codeless_rows(members.messages, at, next(iter(before), None), after[0])
    return found


def find_messages_without_code(members: Members, places: RowPlaces, codes: OpCodes) -> None:
    """Find out what messages without an op code are: tests of other members say their op."""
    without = [message for message in members.messages if codes.op(message) is None]
    images = [image for image in places.images if image != places.flattened]
    codes.codeless += find_codeless(without, codes.member.parts, images, places.columns)


def rows_without_code(members: Members, places: RowPlaces, codes: OpCodes) -> list[SampleMessage]:
    """Return the messages with rows that lack an op code; where it is in rows, those with columns of the others.

    These may be the message itself in some messages, and what a schema block describes in others.
    """
    without = [message for message in members.messages if codes.op(message) is None]
    if places.flattened is None:
        return [message for message in without if holding_images(message, places)]
    rows = (message.at(places.flattened) for message in members.messages if codes.code(message) is not None)
    named = {name for row in rows for name in row}
    may_be_rows = {places.flattened, (), *places.described}
    return [
        message for message in without
        if any(isinstance(row := message.at(at), dict) and len(named & row.keys()) * 2 > len(row) for at in may_be_rows)
    ]  # fmt: skip


def op_in_row(members: Members, places: RowPlaces) -> ObservedMember | None:
    """Return a member that looks like an op code, and is in an object that holds a row or may be one."""
    texts = [one for one in members if one.is_only("string") and _is_inside(one.parts, places) and _rank(one) > _ALIKE]
    marked = (one for one in texts if one.parts[-1].startswith(MARKS))
    return next(marked, None) or next((one for one in texts if one.parts[:-1] in places.described), None)


def numeric_op(members: Members, places: RowPlaces) -> ObservedMember | None:
    """Return a member that looks like an op code but holds numbers or booleans, which no contract can map."""
    for member in members:
        hinted = member.is_only("number", "boolean") and {*member.words} & (_HINTS - {"event", "change"})
        if (
            hinted
            and len({number.token for number in member.numbers}) <= _MOST_CODES
            and not _is_inside(member.parts, places)
        ):
            return member
    return None


def _is_inside(parts: Parts, places: RowPlaces) -> bool:
    other = [places.types.parts] if places.types else []
    other += [places.codes] if places.codes else []
    return any(parts[: len(image)] == image for image in (*places.images, *other) if image)


def _may_be_op(member: ObservedMember, places: RowPlaces) -> bool:
    is_text = member.is_only("string") and len(member.texts) <= _MOST_CODES
    return is_text and not _is_of_row(member.parts, places)


def _is_of_row(parts: Parts, places: RowPlaces) -> bool:
    if parts[:-1] in places.described and parts[-1].startswith(MARKS):
        return False  # what a block describes may be a row with its op code among the columns
    in_block = any(parts[: len(block)] == block for block in places.blocks)
    return in_block or _is_inside(parts, places) or places.may_be_column(parts)


def _is_hinted(member: ObservedMember) -> bool:
    return bool({*member.words} & _HINTS)


def _rank(member: ObservedMember) -> float:
    """Return how much a member looks like the op code, 0 if not at all."""
    hinted = _is_hinted(member)
    words = [_word(code) for code in member.texts]
    known = [word in _BY_ROWS[True] or word in _BY_ROWS[False] for word in words]
    if "deleted" in member.words and {*member.texts} <= {"true", "false"}:
        return _DELETED
    if not hinted:  # a letter alone means anything
        return 2 if all(known) and all(len(word) >= _FEWEST_LETTERS for word in words) else 0
    return 1 / 2 + sum(known) / len(known) * 2 + (1 / 4 if {*member.words} & _PLAIN_HINTS else 0)


def _word(code: str) -> str:
    return re.sub(r"[^A-Z]", "", code.upper())


def _read_codes(members: Members, member: ObservedMember, places: RowPlaces) -> OpCodes:
    found = OpCodes(member)
    flags = (one for one in members if one.is_only("boolean") and "ddl" in one.words)
    flags = (one for one in flags if places.name_in_flattened(one.parts) not in places.columns)
    found.ddl_flag = next((one for one in flags if not _is_of_row(one.parts, places)), None)
    for message in members.messages:
        code = found.code(message)
        if code is not None:
            found.seen[code] += 1
    for code in found.seen:
        mine = [message for message in members.messages if found.code(message) == code]
        other = [message for message in mine if not found.is_flagged(message)]
        found.flagged |= {code} if 0 < len(other) < len(mine) else set()
        rows = [holding_images(message, places) for message in other]
        found.ops[code] = _meaning(found, code, rows, places) if other else _of_ddl(code)
        if found.ops[code] == "ddl" and found.ddl_flag is None and _word(code) in _STATEMENTS:
            found.ops[code] = _of_statements(found, code, [*statements_of(members, mine, places)])
    return found


def _of_statements(found: OpCodes, code: str, statements: list[str]) -> str:
    """Return the op of a code of statements of any kind, by their texts: those that change rows are no DDL."""
    others = sum(not defines_tables(statement) for statement in statements)
    if not others:
        return "ddl"
    found.guessed[code] = f"{others:,} of {len(statements):,} statements with it define no table; no member says which"
    return "mark"


def _of_ddl(code: str) -> str:
    """Return the op of a code whose messages all say that they are DDL; a TRUNCATE is, and empties a table."""
    return "truncate" if _BY_ROWS[False].get(_word(code)) == "truncate" else "ddl"


def holding_images(message: SampleMessage, places: RowPlaces) -> list[Parts]:
    """Return the images that hold a row in a message."""
    return [parts for parts in places.images if (value := message.at(parts)) is not ABSENT and places.rows(value)]


def _meaning(found: OpCodes, code: str, rows: list[list[Parts]], places: RowPlaces) -> str:
    word, holds = _word(code), any(rows)
    if "deleted" in found.member.words and code in ("true", "false") and holds:
        return "delete" if code == "true" else "upsert"
    known: Any = _BY_ROWS[holds].get(word)
    parts = {*re.findall("[A-Z]+", code.upper())}
    if parts & _DEFINED and any(_BY_ROWS[False].get(part) == "ddl" for part in parts):  # such as `table-alter`
        known = "ddl"
    if known is None and len(word) >= _FEWEST_LETTERS:
        known = _BY_ROWS[False].get(word)  # a heartbeat stays one, whatever it carries
    if known == "ddl" and found.ddl_flag is not None:
        known = None
        found.guessed[code] = f"{found.ddl_flag.pointer} is false in messages with it"
        if not holds or all(parts == places.flattened for one in rows for parts in one):  # it always has members
            return "mark"
    if known:
        return str(known)
    if word not in _BY_ROWS[True]:
        found.unknown.add(code)
    if not holds:
        found.guessed[code] = "no message with it holds a row"
        return "mark"
    if any(len(one) > 1 for one in rows):
        found.guessed[code] = "a message with it holds two rows"
        return "update"
    early = all(words_of_image(parts) & BEFORE for one in rows for parts in one)
    found.guessed[code] = (
        f"each message with it holds one row, {'before' if early else 'not before'} the change by name"
    )
    return "delete" if early else "insert"
