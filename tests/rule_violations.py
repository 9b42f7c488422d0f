"""Violations of each rule of a contract: mutations of its good samples, derived from the contract."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any, Final

from both_paths import CATALOGUE, by_reference, samples, terms_of
from mutations import DROP, Members, Mutant, Token, get, put, to_bytes, walk, written

from cdc_contracts.registry.core.common.json_messages import Unreadable
from cdc_contracts.registry.core.common.pointers import ABSENT, split_pointer
from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.message.reading import Reading
from cdc_contracts.registry.core.validate.drift_rule import drift_rules
from cdc_contracts.registry.core.validate.validation_context import ValidationContext, open_validation
from cdc_contracts.registry.core.validate.verdicts import CONFORMING, CONTROL
from cdc_contracts.registry.core.values import Number

Breaker = Callable[[Reading], Iterator[Mutant]]


# --- what breaks each rule


def _images(reading: Reading) -> Iterator[tuple[tuple[str, ...], Any, dict[str, Any]]]:
    """Yield each image that holds rows: its place, its value, its first row."""
    for pointer in reading.meaning.images.pointers():
        rows = reading.rows(pointer)
        if rows:
            yield split_pointer(pointer), reading.at(pointer), rows[0]


def _with_row(value: Any, row: dict[str, Any]) -> Any:
    return [row, *value[1:]] if isinstance(value, list) else row


def other_images(reading: Reading) -> Iterator[Mutant]:
    places = [split_pointer(pointer) for pointer in reading.meaning.images.pointers()]
    for place, value, row in _images(reading):
        for other in (DROP, None, _with_row(value, {}), [row, row]) if place else ():
            yield put(reading.message, {place: other})
        for beside in places:
            if beside != place:
                yield put(reading.message, {beside: value})
                yield put(reading.message, {beside: value, place: DROP})


def other_columns(reading: Reading) -> Iterator[Mutant]:
    for place, value, row in _images(reading):
        yield put(reading.message, {place: _with_row(value, {**row, "zz_new": "1"})})
        yield put(reading.message, {place: _with_row(value, {})})
        for name in list(row)[:2]:
            yield put(reading.message, {place: _with_row(value, {one: row[one] for one in row if one != name})})
    for at in reading.types_at:
        types = reading.at(at)
        if isinstance(types, dict) and types:
            yield put(reading.message, {(*split_pointer(at), next(iter(types))): DROP})
        elif isinstance(types, list) and types:
            yield put(reading.message, {split_pointer(at): types[1:]})


def other_codes(reading: Reading) -> Iterator[Mutant]:
    codes = reading.meaning.columns.codes
    told = reading.at(codes.at) if codes else None
    for name in list(told)[:4] if isinstance(told, dict) else ():
        for code in ("12", "-5", "93"):
            yield put(reading.message, {(*split_pointer(codes.at), name): Number(code)})


def other_keys(reading: Reading) -> Iterator[Mutant]:
    place = reading.meaning.envelope.primary_key
    for key in (["nope"], [*(reading.primary_key or ()), "nope"]) if place and place.at else ():
        told: Any = key
        if place.reading == "joined-u0001":
            told = "\u0001".join(key)
        elif place.reading == "json-text-groups":
            told = json.dumps({place.member: key})
        yield put(reading.message, {split_pointer(place.at): told})


def other_key_values(reading: Reading) -> Iterator[Mutant]:
    place, names = reading.meaning.envelope.primary_key_values, reading.primary_key or ()
    told = reading.place(place)
    if place is None or place.at is None or not isinstance(told, str):
        return
    yield put(reading.message, {split_pointer(place.at): told + "0"})
    for at, value, row in _images(reading):
        if len(names) != 1 or names[0] not in row:
            continue
        for other, text in WIRE_TEXTS:
            for joined in dict.fromkeys((text, text.lower(), f"{text}0")):
                whole = {at: _with_row(value, {**row, names[0]: other}), split_pointer(place.at): joined}
                yield put(reading.message, whole)


WIRE_TEXTS: Final[Sequence[tuple[Any, str]]] = (
    ("Ab", "Ab"), ("", ""), (True, "true"), (None, "null"), (Number("7"), "7"), (Number("-0"), "0"),
    (Number("1.50"), "1.50"), (Number("1E2"), "1E2"),
)  # fmt: skip
"""Values of every kind, and how each is written where the values of a key are joined."""


def other_partial_rows(reading: Reading) -> Iterator[Mutant]:
    sides = reading.meaning.images.of(reading.op or "")
    for side in (sides.before, sides.after) if sides else ():
        if (
            side is None
            or side.completed_from is None
            or not reading.rows(side.at)
            or not reading.rows(side.completed_from)
        ):
            continue
        place, value, row = split_pointer(side.at), reading.at(side.at), reading.rows(side.at)[0]
        under, full = reading.at(side.completed_from), reading.rows(side.completed_from)[0]
        yield put(reading.message, {place: _with_row(value, {**row, "zz_new": "1"})})
        yield put(reading.message, {place: _with_row(value, {})})
        yield put(
            reading.message, {place: _with_row(value, {}), split_pointer(side.completed_from): _with_row(under, {})}
        )
        for name in list(row)[:1]:
            less = {one: full[one] for one in full if one != name}
            yield put(reading.message, {split_pointer(side.completed_from): _with_row(under, less)})
            yield put(reading.message, {place: _with_row(value, {"zz_new": row[name]})})


def images_out_of_place(reading: Reading) -> Iterator[Mutant]:
    for place, _, row in _images(reading):
        yield put(reading.message, {place: list(row.values())[1:]})


def other_flags(reading: Reading) -> Iterator[Mutant]:
    flag = reading.at("/isDdl")
    if isinstance(flag, bool):
        for other in (not flag, None, "true"):
            yield put(reading.message, {("isDdl",): other})


def other_statements(reading: Reading) -> Iterator[Mutant]:
    ddl = reading.meaning.ddl
    if ddl and ddl.text and ddl.text.at:
        for text in ("DROP TABLE t", "", None):
            yield put(reading.message, {split_pointer(ddl.text.at): text})


def columns_beside_statements(reading: Reading) -> Iterator[Mutant]:
    ddl = reading.meaning.ddl
    if ddl and ddl.text and ddl.text.at:
        *above, _ = split_pointer(ddl.text.at)
        if above and isinstance(reading.at(ddl.text.at.rpartition("/")[0]), dict):
            for value in (Number("1"), "x", None):
                yield put(reading.message, {(*above, "beside"): value})


def other_indexes(reading: Reading) -> Iterator[Mutant]:
    transaction = reading.meaning.envelope.transaction
    if transaction is not None and transaction.index and transaction.size:
        for at in (f"{transaction.index.rpartition('/')[0]}/idx", transaction.index, transaction.size):
            for other in ("7/70", Number("70"), None):
                yield put(reading.message, {split_pointer(at): other})


def other_row_ids(reading: Reading) -> Iterator[Mutant]:
    place = reading.meaning.envelope.primary_key_values
    if place is not None and place.at is not None:
        for other in ("other-1", "", None):
            yield put(reading.message, {split_pointer(place.at): other})


def other_patterns(reading: Reading) -> Iterator[Mutant]:
    for pointer in reading.meaning.patterns:
        for other in ("nope", "7@", None):
            yield put(reading.message, {split_pointer(pointer): other})


def other_times(reading: Reading) -> Iterator[Mutant]:
    place = reading.meaning.envelope.event_time
    value = reading.place(place)
    if place is not None and place.at is not None and isinstance(value, Number):
        for token in (f"{value.token[:-3]}123", f"{value.token[:-3]}000", f"{value.token[:-1]}1"):
            yield put(reading.message, {split_pointer(place.at): Number(token)})


def other_parameters(reading: Reading) -> Iterator[Mutant]:
    for name, told in list((reading.types or {}).items())[:1]:
        yield put(reading.message, {(*split_pointer(reading.types_at[0]), name): f"{told}(20)"})


def other_blocks(reading: Reading) -> Iterator[Mutant]:
    schema_block = reading.meaning.columns.schema_block
    members = reading.at(f"{schema_block.at}/fields") if schema_block else None
    for number, member in enumerate(members if isinstance(members, list) else ()):
        described = member.get("fields")
        if isinstance(described, list) and described:
            at = (*split_pointer(schema_block.at), "fields", number, "fields")
            yield put(reading.message, {at: described[1:]})
            yield put(reading.message, {at: [{**described[0], "type": "boolean"}, *described[1:]]})


def nothing(reading: Reading) -> Iterator[Mutant]:
    yield from ()


BREAKERS: Final[Mapping[str, Breaker]] = {
    "image-present-for-op": other_images,
    "columns-typed": other_columns,
    "codes-match-types": other_codes,
    "primary-key-in-image": other_keys,
    "primary-key-values-agree": other_key_values,
    "old-keys-in-data": other_partial_rows,
    "data-keys-in-key": other_partial_rows,
    "images-match-fields": images_out_of_place,
    "ddl-flag-agrees": other_flags,
    "ddl-text-only-if-ddl": other_statements,
    "ddl-text-alone": columns_beside_statements,
    "idx-is-seq-of-size": other_indexes,
    "rowid-starts-with-table": other_row_ids,
    "position-matches": other_patterns,
    "split-updates-complete": nothing,
    "types-without-parameters": other_parameters,
    "event-time-whole-seconds": other_times,
    "schema-block-matches-image": other_blocks,
}


def breaker_of(rule: str) -> Breaker:
    """Return the ways here to break a rule; those of its record where there are none here."""
    return BREAKERS.get(rule) or partial(by_record, rule)


def by_record(rule: str, reading: Reading) -> Iterator[Mutant]:
    for edits in drift_rules()[rule].breaks(reading):
        yield put(reading.message, {path: DROP if value is ABSENT else value for path, value in edits.items()})


ONE_MESSAGE_SHOWS_NOTHING: Final = {"split-updates-complete", "kafka-key-agrees"}


def neighbours(reading: Reading) -> Iterator[Mutant]:
    """Yield the message with each member of the envelope, and two columns where it has many, a little different."""
    columns, codes = reading.meaning.columns, reading.meaning.columns.codes
    types = () if columns.types == "none" or columns.types.at is None else (columns.types.at,)
    wide = [split_pointer(at) for at in (*reading.meaning.images.pointers(), *types, *([codes.at] if codes else ()))]
    for parts, _, value in walk(reading.message):
        inside = next((place for place in wide if place and parts[: len(place)] == place), None)
        if not parts or (
            inside is not None and parts[-1] not in (*inside, *_some_columns(get(reading.message, inside)))
        ):
            continue
        yield put(reading.message, {parts: DROP})
        for other in _beside(value):
            yield put(reading.message, {parts: other})


UNREADABLE_TOKENS: Final = {
    "utf8": '"\udcff"', "utf8-below": '[{"a":"\udcff"}]', "depth": "[" * 129 + "]" * 129,
    "depth-of-objects": '{"a":' * 140 + "1" + "}" * 140, "surrogate": '"\\ud800"',
}  # fmt: skip
"""What may stand where nobody looks, since a second member of the name follows it; `udcff` is written as byte FF."""
READABLE_TOKENS: Final = {
    "brackets in a text": '"' + "[{" * 200 + '"',
    "escaped": r'"\\\"[[[["',
    "pair": r'"\ud83d\ude00"',
}


def hiding(reading: Reading, every: int) -> Iterator[tuple[bytes, str]]:
    """Yield a good JSON message with a member of a name that follows once more, and what it has to come to.

    What may stand there is tried in every so many-th of the members, each in others.
    """
    members = [(parts, parent) for parts, parent, _ in walk(reading.message) if parts and isinstance(parent, dict)]
    for place, (parts, parent) in enumerate(members):
        for number, (cause, token) in enumerate((UNREADABLE_TOKENS | READABLE_TOKENS).items()):
            if (place + number) % every == 0:
                pairs = Members(parent.items())
                pairs.insert(0, (parts[-1], Token(token)))
                outcome = "unreadable" if cause in UNREADABLE_TOKENS else "conforming"
                yield to_bytes(put(reading.message, {parts[:-1]: pairs})), outcome


def _some_columns(image: Any) -> Sequence[Any]:
    row = image[0] if isinstance(image, list) and image else image
    return list(row)[:2] if isinstance(row, dict) else ()


def alike_drifts(reading: Reading) -> Iterator[Mutant]:
    """Yield the message of one row with a member more, and with a column more or of another kind in one image."""
    if any(isinstance(value, list) and len(value) > 1 for _, value, _ in _images(reading)):
        return  # rows that differ in their columns are validated by themselves
    yield put(reading.message, {("zz_new",): Number("1")})
    for place, value, row in _images(reading):
        yield put(reading.message, {place: _with_row(value, {**row, "zz_new": "1"})})
        for name in list(row)[:1]:
            for other in ("x", Number("7"), None):
                yield put(reading.message, {place: _with_row(value, {**row, name: other})})


def absent_and_null_images(version: Version) -> Iterator[list[bytes]]:
    """Yield good records without an image and with null in its place: so often that neither is an exception any more."""
    wire = scope_of(version.reference).wire
    for reading in good_records(version):
        for place in filter(None, map(split_pointer, reading.meaning.images.pointers())):
            absent, null = (written(wire, put(reading.message, {place: other})) for other in (DROP, None))
            if absent is not None and null is not None:
                yield [*[absent] * 12, *[null] * 12, absent, null]


def in_blocks(good: bytes, others: Sequence[bytes]) -> tuple[bytes, ...]:
    """Return a record so often that it fills whole blocks of what is decoded at once, with others among its like."""
    return (*[good] * 600, *others, *[good] * 400)


def _beside(value: Any) -> tuple[Any, ...]:
    match value:
        case bool():
            return (not value, None, Number("0"))
        case Number():
            return (
                Number("0"),
                Number("-7"),
                Number(f"7{value.token.lstrip('-')}"),
                Number("1.5"),
                str(value.token),
                None,
            )
        case str():
            return ("", f"{value}x", f"x{value}", None, Number("7"), value.lower(), value.upper())
        case None:
            return ("x", Number("7"), False, [], {})
        case list():
            return ([], None, {}, "x")
    return ({}, None, [], "x")


# --- good records, and what they are broken into


@cache
def scope_of(declared: str) -> ValidationContext:
    return open_validation(CATALOGUE, declared, terms_of("with tables"))


@cache
def good_records(version: Version) -> list[Reading]:
    """Return a good sample of each op, the longest."""
    validation = scope_of(version.reference)
    by_op: dict[str | None, tuple[int, Reading]] = {}
    for _, value in samples()[version.reference]:
        try:
            message = validation.wire.open(value)
        except Unreadable:
            continue
        if by_reference([validation], value)[0].outcome in (CONFORMING, CONTROL):
            reading = Reading(version.meaning, message, ReadingOptions())
            if len(value) > by_op.get(reading.op, (0,))[0]:
                by_op[reading.op] = (len(value), reading)
    return [reading for _, reading in by_op.values()]


def pairs_of(version: Version, breaker: Breaker, every: int = 1) -> tuple[list[bytes], list[bytes]]:
    """Return the good records that a breaker can break, and every so many-th of what it makes of them."""
    wire = scope_of(version.reference).wire
    goods: dict[bytes | None, None] = {}
    mutants: dict[bytes | None, None] = {}
    for reading in good_records(version):
        broken = [written(wire, mutant) for mutant in list(breaker(reading))[::every]]
        if broken:
            goods[written(wire, partial(lambda message: message, reading.message))] = None
            mutants |= dict.fromkeys(broken)
    return [value for value in goods if value is not None], [value for value in mutants if value is not None]
