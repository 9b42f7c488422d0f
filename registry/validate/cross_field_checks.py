"""Cross-field checks: what one member of a message says about another. One function per name of the vocabulary."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from cdc_contracts.registry.common.findings import INFO, WARNING
from cdc_contracts.registry.common.json_messages import kind_of
from cdc_contracts.registry.common.linear_patterns import compile_pattern
from cdc_contracts.registry.common.pointers import ABSENT, join_pointer, split_pointer
from cdc_contracts.registry.contract.connect_schemas import described_columns, differs_from_block
from cdc_contracts.registry.contract.envelope_model import Place
from cdc_contracts.registry.contract.envelope_schemas import is_integer
from cdc_contracts.registry.contract.image_model import Side
from cdc_contracts.registry.contract.model import Meaning
from cdc_contracts.registry.contract.relations import Relation, relation_of_index, relation_of_row
from cdc_contracts.registry.contract.value_mappings import ValueMapping, drop_parameters
from cdc_contracts.registry.message.envelope_times import unit_observed
from cdc_contracts.registry.message.reading import Reading, Row, column_path, may_hold_rows, members_beside
from cdc_contracts.registry.validate.rule_inputs import DeclareReads, Reads, join_reads, read_nothing
from cdc_contracts.registry.values import Number, describe_shape

_DDL_FLAG: Final = "/isDdl"


@dataclass(frozen=True, slots=True)
class Breach:
    """A rule that one message breaks; `severity` is None where the class decides."""

    path: str
    expected: str
    observed: str
    severity: str | None = None


@dataclass(frozen=True)
class RuleView:
    """What a rule may look at: the message as read, its sides, and the mapping of its types."""

    reading: Reading
    mapping: ValueMapping

    def sides(self) -> Iterator[Side]:
        """Yield the sides that the message's op names, before first."""
        images = self.reading.meaning.images.of(self.reading.op or "")
        if images:
            yield from (side for side in (images.before, images.after) if side)

    def full_rows(self) -> Iterator[tuple[Row, ...]]:
        """Yield the rows of each side, completed."""
        for side in self.sides():
            yield tuple(complete_rows(self.reading, side) or ())


@dataclass(frozen=True, slots=True)
class CrossFieldCheck:
    """How a rule is checked, and what it reads: a check may look at nothing that is not declared (`test_rules`)."""

    check: Callable[[RuleView], Iterator[Breach]]
    reads: DeclareReads


def complete_rows(reading: Reading, side: Side) -> list[Row] | None:
    """Return the rows of a side, each with the columns present put over the row it completes; None where none."""
    source = reading.source(side)
    if source is None:
        return None
    rows = reading.rows(source) or []
    if side.over is not None and source == side.at:
        below = reading.rows(side.over) or []
        rows = [(below[index] if index < len(below) else {}) | row for index, row in enumerate(rows)]
    return rows


def image_present_for_op(view: RuleView) -> Iterator[Breach]:
    """Sides named for the op hold rows, as many on each; the other images are null or absent.

    A member of another JSON kind is not checked here: its kind is the finding.
    """
    reading, named, counts = view.reading, set[str](), dict[str, int]()
    for side in view.sides():
        named |= {at for at in (side.at, side.over, side.either) if at is not None}
        source = reading.source(side)
        if source is not None:
            counts[source] = len(reading.rows(source) or ())
            if side.either is not None and source == side.at and reading.rows(side.either) is not None:
                yield Breach(side.either, "no row", "a row")
        elif not side.optional and may_hold_rows(reading, side.at):
            yield Breach(side.at, "a row", "no row")
    if len(set(counts.values())) > 1:
        yield Breach(next(iter(counts)), "as many rows in each image", "another number of rows")
    ddl = reading.meaning.ddl
    statement = ddl.text.at if ddl and ddl.text and ddl.text.at and reading.op == "ddl" else ""
    for pointer in reading.meaning.images.pointers():
        if pointer not in named and not statement.startswith(pointer + "/") and reading.rows(pointer) is not None:
            yield Breach(pointer, "no row", "a row")


def columns_typed(view: RuleView) -> Iterator[Breach]:
    """Every column of an image has a type, and a full image has every typed column (E85: a warning)."""
    reading, types = view.reading, view.reading.types
    if types is None:
        return
    where = " and ".join(reading.types_at)
    for side in view.sides():
        source = reading.source(side)
        rows = reading.rows(source) if source else None
        for row in rows or ():
            for name in row:
                if name not in types:
                    yield Breach(column_path(reading, source, name), f"a type in {where}", "untyped")
            if side.over is None:
                for name in types:
                    if name not in row:
                        yield Breach(column_path(reading, source, name), "present", "absent", WARNING)


def types_without_parameters(view: RuleView) -> Iterator[Breach]:
    """A type is given without its length, precision or members (a warning: the row is read all the same)."""
    for name, result in (view.reading.types or {}).items():
        if drop_parameters(result) != result:
            path = join_pointer(*split_pointer(view.reading.types_at[0]), name)
            yield Breach(path, "a type without parameters", "a type with parameters", WARNING)


def codes_match_types(view: RuleView) -> Iterator[Breach]:
    """The numeric code of a column fits its type name."""
    reading, codes = view.reading, view.reading.meaning.columns.codes
    if codes is None or codes.table == "any" or reading.types is None:
        return
    found = reading.at(codes.at)
    for name, code in found.items() if isinstance(found, dict) else ():
        known = _JDBC_CODES.get(view.mapping.normalise(reading.types.get(name, "")))
        if known is None or not is_integer(code):
            continue
        of = view.mapping.normalise(reading.types[name])
        own = codes.table == "drs-codes" and of == "DATETIME" and code.token == _DRS_DATETIME
        if code.token not in known and not own:
            shown = code.token if is_type_code(code.token) else describe_shape(code)
            yield Breach(join_pointer(*codes.at[1:].split("/"), name), f"a code of {of}", shown)


def is_type_code(token: str) -> bool:
    """Say whether a number is the code of some type."""
    return token == _DRS_DATETIME or any(token in known for known in _JDBC_CODES.values())


def primary_key_in_image(view: RuleView) -> Iterator[Breach]:
    """Key names are columns of the completed image (a warning: the row can be read without)."""
    key = view.reading.primary_key
    place = view.reading.meaning.envelope.primary_key
    if key and place and place.at:
        absent = any(name not in row for rows in view.full_rows() for row in rows for name in key)
        if absent:
            yield Breach(place.at, "columns of the image", "absent column", WARNING)


def primary_key_values_agree(view: RuleView) -> Iterator[Breach]:
    """The joined key values are the wire text of the key columns of an image (a warning)."""
    reading, key = view.reading, view.reading.primary_key
    place = reading.meaning.envelope.primary_key_values
    joined = reading.place(place)
    if not key or place is None or place.at is None or not isinstance(joined, str):
        return
    rows = [row for rows in view.full_rows() for row in rows if all(name in row for name in key)]
    if rows and all("\u0001".join(_wire_text(row[name]) for name in key) != joined for row in rows):
        yield Breach(place.at, "the values of the key columns", "other values", WARNING)


def partial_keys_in_full(view: RuleView) -> Iterator[Breach]:
    """A changed-columns image has no column that the image it is put over lacks (a warning)."""
    reading = view.reading
    for side in view.sides():
        below = reading.rows(side.over) if side.over else None
        for index, row in enumerate(reading.rows(side.at) or ()) if below else ():
            full = below[index] if below and index < len(below) else {}
            for name in row:
                if name not in full:
                    yield Breach(column_path(reading, side.at, name), f"a column of {side.over}", "absent", WARNING)


def old_keys_in_data(view: RuleView) -> Iterator[Breach]:
    """The same of `old` and `data`; where versions exchange the two, `data` holds the whole row if either does."""
    yield from partial_keys_in_full(view)
    reading, types = view.reading, view.reading.types
    if not types or not any(entry.key_chain for entry in reading.meaning.version_evidence):
        return
    for side in view.sides():
        below = reading.rows(side.over) if side.over else None
        pairs = zip(reading.rows(side.at) or (), below or (), strict=False)
        if any(types.keys() <= row.keys() and not types.keys() <= full.keys() for row, full in pairs):
            yield Breach(side.over or "", "the whole row", "changed columns")


def images_match_fields(view: RuleView) -> Iterator[Breach]:
    """A positional image has one value for each field, and each field has a name of its own.

    An image that does not cannot be put in order and stays a list.
    """
    for pointer in view.reading.meaning.images.pointers():
        if isinstance(view.reading.at(pointer), list):
            yield Breach(pointer, "one value for each field", "another number of values, or a name twice")


def ddl_flag_agrees(view: RuleView) -> Iterator[Breach]:
    """`isDdl` is true exactly where the op code is the one of DDL."""
    flag = view.reading.at(_DDL_FLAG)
    mapped = view.reading.meaning.ops.get(view.reading.code or "")
    if isinstance(flag, bool) and mapped is not None and flag != (mapped == "ddl"):
        yield Breach(_DDL_FLAG, str(not flag).lower(), str(flag).lower())


def ddl_text_only_if_ddl(view: RuleView) -> Iterator[Breach]:
    """A statement stands only in a DDL message, or in one that empties a table (a warning)."""
    ddl = view.reading.meaning.ddl
    if ddl and ddl.text and ddl.text.at and view.reading.op not in ("ddl", "truncate") and view.reading.ddl_text:
        yield Breach(ddl.text.at, "empty", "text", WARNING)


def ddl_text_alone(view: RuleView) -> Iterator[Breach]:
    """A statement in the place of a row has no column beside it (a warning: only the statement is read)."""
    meaning = view.reading.meaning
    if view.reading.op != "ddl" or meaning.ddl is None or meaning.ddl.text is None or meaning.ddl.text.at is None:
        return
    *above, name = split_pointer(meaning.ddl.text.at)
    image = join_pointer(*above)
    held = view.reading.at(image) if image in meaning.images.pointers() else ABSENT
    if isinstance(held, dict) and name in held and held.keys() - members_beside(meaning, image) - {name}:
        yield Breach(image, f"{name} alone", "other columns beside it", WARNING)


def index_is_place_of_size(view: RuleView) -> Iterator[Breach]:
    """The index within a transaction is written place/size (a warning: nothing is read from it)."""
    yield from _related(view, relation_of_index(view.reading.meaning), "place/size")


def row_id_starts_with_table(view: RuleView) -> Iterator[Breach]:
    """The id of a row starts with the name of its table (a warning: the key columns are in the image)."""
    yield from _related(view, relation_of_row(view.reading.meaning), "the table, then -")


def positions_match(view: RuleView) -> Iterator[Breach]:
    """Members with a pattern of their own match it."""
    for pointer, pattern in view.reading.meaning.patterns.items():
        value = view.reading.at(pointer)
        if isinstance(value, str) and not compile_pattern(pattern)(value):
            yield Breach(pointer, pattern, "another text")


def halves_paired(view: RuleView) -> Iterator[Breach]:
    """Both parts of a split update arrive: one message cannot show it; the step that joins them reports it."""
    return iter(())


def schema_block_matches_image(view: RuleView) -> Iterator[Breach]:
    """The schema block names the columns of the images with the kinds of their values (a note, E48)."""
    hints = view.reading.meaning.columns.hints
    block = view.reading.at(hints.at) if hints else ABSENT
    if hints is None or not isinstance(block, dict) or not block:  # an empty block says nothing
        return
    described = described_columns(block)
    for side in view.sides():
        known = described.get(split_pointer(side.at)[-1], {})
        for row in view.reading.rows(side.at) or ():
            if any(differs_from_block(known, name, kind_of(value)) for name, value in row.items()):
                yield Breach(hints.at, "the columns of the image", "other columns or types", INFO)


def _related(view: RuleView, relation: Relation | None, expected: str) -> Iterator[Breach]:
    if relation is not None and relation.holds(*map(view.reading.at, relation.places)) is False:
        yield Breach(relation.places[0], expected, "another text", WARNING)


def event_time_whole_seconds(view: RuleView) -> Iterator[Breach]:
    """The event time counts whole seconds (a note, E94)."""
    place = view.reading.meaning.envelope.event_time
    value = view.reading.place(place)
    counted = place is not None and unit_observed(value, place) is None
    if counted and place and place.at and is_integer(value) and value.token[-3:].strip("-0"):
        yield Breach(place.at, "whole seconds", "milliseconds", INFO)


def _key(meaning: Meaning) -> Reads:
    return Reads(values=_places(meaning.envelope.primary_key))


def _key_values(meaning: Meaning) -> Reads:
    return Reads(values=_places(meaning.envelope.primary_key), joined=_places(meaning.envelope.primary_key_values))


def _codes(meaning: Meaning) -> Reads:
    return Reads(values=(meaning.columns.codes.at,) if meaning.columns.codes else ())


def _statement(meaning: Meaning) -> Reads:
    return Reads(filled=_places(meaning.ddl.text) if meaning.ddl else ())


def _whole_seconds(meaning: Meaning) -> Reads:
    return Reads(seconds=_places(meaning.envelope.event_time))


def _block(meaning: Meaning) -> Reads:
    return Reads(blocks=(meaning.columns.hints.at,) if meaning.columns.hints else ())


def _relation(relation_of: Callable[[Meaning], Relation | None]) -> DeclareReads:
    def declare(meaning: Meaning) -> Reads:
        found = relation_of(meaning)
        return Reads(relations=(found,) if found is not None else ())

    return declare


def _places(place: Place | None) -> tuple[str, ...]:
    return () if place is None or place.at is None else (place.at,)


RULES: Final[Mapping[str, CrossFieldCheck]] = MappingProxyType(
    {
        "image-present-for-op": CrossFieldCheck(image_present_for_op, read_nothing),
        "columns-typed": CrossFieldCheck(columns_typed, read_nothing),
        "codes-match-types": CrossFieldCheck(codes_match_types, _codes),
        "primary-key-in-image": CrossFieldCheck(primary_key_in_image, _key),
        "primary-key-values-agree": CrossFieldCheck(primary_key_values_agree, _key_values),
        "old-keys-in-data": CrossFieldCheck(old_keys_in_data, read_nothing),
        "data-keys-in-key": CrossFieldCheck(partial_keys_in_full, read_nothing),
        "images-match-fields": CrossFieldCheck(images_match_fields, read_nothing),
        "ddl-flag-agrees": CrossFieldCheck(ddl_flag_agrees, lambda meaning: Reads(values=(_DDL_FLAG,))),
        "ddl-text-only-if-ddl": CrossFieldCheck(ddl_text_only_if_ddl, _statement),
        "ddl-text-alone": CrossFieldCheck(ddl_text_alone, read_nothing),
        "idx-is-seq-of-size": CrossFieldCheck(index_is_place_of_size, _relation(relation_of_index)),
        "rowid-starts-with-table": CrossFieldCheck(row_id_starts_with_table, _relation(relation_of_row)),
        "position-matches": CrossFieldCheck(
            positions_match, lambda meaning: Reads(patterns=tuple(meaning.patterns.items()))
        ),
        "halves-paired": CrossFieldCheck(halves_paired, read_nothing),
        "types-without-parameters": CrossFieldCheck(types_without_parameters, read_nothing),
    }
)
NOTES: Final[Mapping[str, CrossFieldCheck]] = MappingProxyType({
    "event-time-whole-seconds": CrossFieldCheck(event_time_whole_seconds, _whole_seconds),
    "schema-block-matches-image": CrossFieldCheck(schema_block_matches_image, _block),
})  # fmt: skip


def reads_of(meaning: Meaning) -> Reads:
    """Return what the rules and notes of a contract read between them."""
    rules = (*(RULES[name] for name in meaning.rules), *(NOTES[name] for name in meaning.notes))
    return join_reads(rule.reads(meaning) for rule in rules)


_DRS_DATETIME: Final = "94"
_TEXT_CODES: Final = frozenset({"1", "12", "-1", "-9", "-15", "-16", "2005", "2011"})
_BYTES_CODES: Final = frozenset({"-2", "-3", "-4", "2004"})
# java.sql.Types, with the neighbours that drivers use for the same MySQL type.
_JDBC_CODES: Final[Mapping[str, frozenset[str]]] = MappingProxyType({
    "TINYINT": frozenset({"-6", "-7", "16"}),
    "SMALLINT": frozenset({"5"}),
    "MEDIUMINT": frozenset({"4"}),
    "INT": frozenset({"4", "-5"}),
    "BIGINT": frozenset({"-5", "3"}),
    "BOOLEAN": frozenset({"16", "-7", "-6"}),
    "YEAR": frozenset({"4", "5", "91"}),
    "DECIMAL": frozenset({"3", "2"}),
    "FLOAT": frozenset({"6", "7", "8"}),
    "DOUBLE": frozenset({"8", "6"}),
    "BIT": frozenset({"-7", "-2", "-3"}),
    "DATE": frozenset({"91"}),
    "TIME": frozenset({"92"}),
    "DATETIME": frozenset({"93"}),
    "TIMESTAMP": frozenset({"93", "2014"}),
    **dict.fromkeys(("CHAR", "VARCHAR", "TINYTEXT", "TEXT", "MEDIUMTEXT", "LONGTEXT", "ENUM", "SET"), _TEXT_CODES),
    **dict.fromkeys(("BINARY", "VARBINARY", "TINYBLOB", "BLOB", "MEDIUMBLOB", "LONGBLOB"), _BYTES_CODES),
})  # fmt: skip


def _wire_text(value: Any) -> str:
    if isinstance(value, Number):
        return "0" if value.token == "-0" else value.token  # noqa: S105  a JSON token
    if isinstance(value, bool):
        return str(value).lower()
    return "null" if value is None else str(value)
