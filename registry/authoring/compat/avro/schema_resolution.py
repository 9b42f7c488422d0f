"""Schema resolution: every mismatch between a reader's schema and the data of a writer's schema.

Pairs of types are compared in the order of a queue, so that deep ones need no stack. A pair of records is compared
once, so that recursive records terminate.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from cdc_contracts.registry.authoring.compat.avro.schema_mismatches import Mismatch, SchemaSide, Spot, TypePath
from cdc_contracts.registry.authoring.compat.avro.type_matching import (
    Branches,
    loses_digits,
    mixes_bytes_and_text,
    same_kind,
    same_name,
    written_field,
)
from cdc_contracts.registry.authoring.compat.compatibility_rule import BREAKING, CompatibilityRule
from cdc_contracts.registry.core.common.safe_text import list_first
from cdc_contracts.registry.core.schema.avro_types.logical_types import DECIMAL
from cdc_contracts.registry.core.schema.avro_types.type_graph import NAMED, PRIMITIVES, AvroField, AvroType

NAME: Final = CompatibilityRule(
    id="C201", name="avro-name", severity=BREAKING,
    says="A record, enum or fixed type was renamed, and the reader has the writer's name neither as its name nor as "
    "an alias.",
    action="Keep the name, or give the reader's type the writer's full name as an alias.",
    good='{"type": "record", "name": "Order", "aliases": ["shop.Purchase"], …}',
    bad='{"type": "record", "name": "Order", …} for what was named Purchase',
    confluent="NAME_MISMATCH",
)  # fmt: skip

FIXED_SIZE: Final = CompatibilityRule(
    id="C202", name="avro-fixed-size", severity=BREAKING,
    says="A fixed type has a different size.",
    action="Keep the size; add a field with a separate type for values of another size.",
    good='{"type": "fixed", "name": "Key", "size": 16} in both', bad='"size": 16 in one and "size": 20 in the other',
    confluent="FIXED_SIZE_MISMATCH",
)  # fmt: skip

ENUM_SYMBOLS: Final = CompatibilityRule(
    id="C203", name="avro-enum-symbols", severity=BREAKING,
    says="The writer's enum has a symbol that the reader's enum lacks, and the reader's enum has no default.",
    action="Keep every symbol that was ever written, and upgrade readers before a new one is written.",
    good='"symbols": ["INSERT", "UPDATE", "DELETE"] in both', bad='"symbols": ["INSERT", "UPDATE"] in the reader',
    confluent="MISSING_ENUM_SYMBOLS",
)  # fmt: skip

FIELD_WITHOUT_DEFAULT: Final = CompatibilityRule(
    id="C204", name="avro-field-default", severity=BREAKING,
    says="The reader's record has a field that the writer does not write, and it has no default.",
    action="Give the field a default; a field that is no longer written needs one in the readers that still have it.",
    good='{"name": "note", "type": ["null", "string"], "default": null}', bad='{"name": "note", "type": "string"}',
    confluent="READER_FIELD_MISSING_DEFAULT_VALUE",
)  # fmt: skip

TYPE: Final = CompatibilityRule(
    id="C205", name="avro-type", severity=BREAKING,
    says="The reader's type differs, and Avro does not promote the writer's type to it.",
    action="Keep the type. Avro promotes int to long, float and double, long to float and double, float to double.",
    good='"long" where the writer has "int"', bad='"int" where the writer has "long"',
    confluent="TYPE_MISMATCH",
)  # fmt: skip

UNION_BRANCH: Final = CompatibilityRule(
    id="C206", name="avro-union-branch", severity=BREAKING,
    says="The writer may write a type that no branch of the reader's union accepts.",
    action="Keep every branch that was ever written, and upgrade readers before a new one is written.",
    good='["null", "string"] in both', bad='["null", "string"] in the reader where the writer has "long" as well',
    confluent="MISSING_UNION_BRANCH",
)  # fmt: skip

DECIMAL_CHANGED: Final = CompatibilityRule(
    id="C207", name="avro-decimal", severity=BREAKING,
    says="A decimal has a different precision or scale: decimals match only if both are equal.",
    action="Keep precision and scale; add a separate field for decimals with others.",
    good='"precision": 12, "scale": 2 in both', bad='"scale": 2 in one and "scale": 3 in the other',
)  # fmt: skip

LOGICAL_CHANGED: Final = CompatibilityRule(
    id="C208", name="avro-logical-type", severity=BREAKING,
    says="The same number or string has another meaning: another unit of time, another logical type.",
    action="Keep the logical type; add a separate field for values with another meaning.",
    good='"logicalType": "timestamp-millis" in both',
    bad='"timestamp-millis" in one and "timestamp-micros" in the other',
)  # fmt: skip

LOGICAL_GAINED_OR_LOST: Final = CompatibilityRule(
    id="C209", name="avro-logical-type-gained-or-lost", severity=BREAKING,
    says="A value has a logical type in one version and is a plain number, string or bytes in the other.",
    action="Set the logical type in both versions or in neither.",
    good='{"type": "long", "logicalType": "timestamp-micros"} in both', bad='"long" in one of them',
)  # fmt: skip

FIELD_READ_AS_DEFAULT: Final = CompatibilityRule(
    id="C210", name="avro-field-read-as-default", severity=BREAKING,
    says="A field is no longer written, and readers of the old version use its default as if it had been sent.",
    action="Keep writing the field, or inform its readers before it is removed.",
    good="the field is there in both", bad="the field is removed, and the old version has a default for it",
)  # fmt: skip

SYMBOL_READ_AS_DEFAULT: Final = CompatibilityRule(
    id="C211", name="avro-symbol-read-as-default", severity=BREAKING,
    says="The writer's enum has a symbol that the reader's enum lacks; it is read as the enum's default.",
    action="Upgrade readers before a symbol is written, and keep every symbol that was ever written.",
    good='"symbols": ["INSERT", "UPDATE"] in both', bad='"symbols": ["INSERT"], "default": "INSERT" in the reader',
)  # fmt: skip

DIGITS_LOST: Final = CompatibilityRule(
    id="C212", name="avro-digits-lost", severity=BREAKING,
    says="An integer is read as a floating-point number that cannot hold all its digits.",
    action="Keep the integer type, or use double if the numbers stay below 2^53.",
    good='"double" where the writer has "int"', bad='"double" where the writer has "long"',
)  # fmt: skip

BYTES_AND_TEXT: Final = CompatibilityRule(
    id="C213", name="avro-bytes-and-text", severity=BREAKING,
    says="Bytes are read as a string or a string as bytes: bytes that are not UTF-8 cannot be read as a string.",
    action="Keep the type; add a separate field for the other one.",
    good='"bytes" in both', bad='"string" where the writer has "bytes"',
)  # fmt: skip


MAX_FIELDS: Final = 200_000
"""Pairs of fields compared for one pair of schemas. With aliases there may be many, but hardly ever are."""

_SETTLED: Final = frozenset(PRIMITIVES)
"""Kinds of types that can differ in logical types only."""

_NAMED_SYMBOLS: Final = 5
"""Symbols that a sentence names."""


class TooManyFields(Exception):
    """Two schemas have too many pairs of records to compare."""


@dataclass(frozen=True, slots=True, eq=False)
class _Pair:
    reader: AvroType
    writer: AvroType
    reader_at: Spot
    """Where the reader's schema uses its type, which is not where a named one is defined."""
    writer_at: Spot
    trail: TypePath | None
    under_union: bool


def resolve(reader: AvroType, writer: AvroType) -> Iterator[Mismatch]:
    """Yield what a reader's schema does not read, or reads as something else, of a writer's schema.

    Raises TooManyFields after the mismatches found so far.
    """
    seen: set[tuple[AvroType, AvroType]] = set()
    fields = 0
    branches = Branches()
    waiting = deque([_Pair(reader, writer, Spot(""), Spot(""), None, under_union=False)])
    while waiting:
        pair = waiting.popleft()
        if pair.reader.kind == pair.writer.kind == "record":
            if (pair.reader, pair.writer) in seen:
                continue
            seen.add((pair.reader, pair.writer))
            fields += len(pair.reader.fields) + len(pair.writer.fields)
            if fields > MAX_FIELDS:
                raise TooManyFields
        for found in _look(pair, branches):
            if isinstance(found, Mismatch):
                yield found
            elif found.reader.kind != found.writer.kind or found.writer.kind not in _SETTLED or _has_meaning(found):
                waiting.append(found)


def _has_meaning(pair: _Pair) -> bool:
    return pair.reader.logical is not None or pair.writer.logical is not None


def _look(pair: _Pair, branches: Branches) -> Iterator[Mismatch | _Pair]:
    """Yield what is wrong between two types, and the pairs of types that meet inside them."""
    reader, writer, under_union = pair.reader, pair.writer, pair.under_union
    if writer.kind == "union":
        for at, branch in enumerate(writer.branches):
            trail = TypePath(pair.trail, writer, at, under_union)
            yield _Pair(reader, branch, pair.reader_at, _inside(writer, str(at)), trail, under_union)
        return
    if reader.kind == "union":
        place = branches.taker(reader, writer)
        if place is None:
            yield _of_types(pair, UNION_BRANCH, f"no branch of the union of {{reader}} takes {writer}")
        else:
            taker = reader.branches[place]
            yield _Pair(taker, writer, _inside(reader, str(place)), pair.writer_at, pair.trail, under_union=True)
        return
    if not same_kind(reader, writer):
        yield _of_types(pair, TYPE, f"{{writer}} writes {writer}, and {{reader}} reads {reader}")
        return
    yield from _of_values(pair)
    if writer.kind in NAMED:
        yield from _of_named(pair)
    if writer.kind == "record":
        yield from _of_fields(pair)
    elif reader.items is not None and writer.items is not None:
        key = "items" if writer.kind == "array" else "values"
        trail = TypePath(pair.trail, writer, 0, under_union)
        yield _Pair(reader.items, writer.items, _inside(reader, key), _inside(writer, key), trail, under_union)


def _inside(type_: AvroType, step: str) -> Spot:
    return Spot(f"{type_.pointer}/{step}", type_.source)


def _of_values(pair: _Pair) -> Iterator[Mismatch]:
    """Yield how values of one kind are read as something else."""
    reader, writer = pair.reader, pair.writer
    change = f"{{writer}} writes {writer}, and {{reader}} reads it as {reader}"
    if loses_digits(reader, writer):
        yield _of_types(pair, DIGITS_LOST, f"{change}, which keeps fewer digits")
    if mixes_bytes_and_text(reader, writer):
        yield _of_types(pair, BYTES_AND_TEXT, change)
    if reader.logical != writer.logical:
        yield _of_logical(pair)


def _of_named(pair: _Pair) -> Iterator[Mismatch]:
    reader, writer = pair.reader, pair.writer
    if not same_name(reader, writer):
        fact = f"{{writer}} writes {writer}, and {{reader}} has `{reader.name}` without that alias"
        yield _of_part(pair, NAME, fact, "name", (reader.name, writer.name))
    if reader.size != writer.size:
        fact = f"{{writer}} writes {writer.size} bytes, and {{reader}} reads {reader.size}"
        yield _of_part(pair, FIXED_SIZE, fact, "size", (reader.size, writer.size))
    if writer.kind == "enum":
        yield from _of_symbols(pair)


def _of_symbols(pair: _Pair) -> Iterator[Mismatch]:
    reader, writer = pair.reader, pair.writer
    known = set(reader.symbols)
    missing = [symbol for symbol in writer.symbols if symbol not in known]
    if not missing:
        return
    names = list_first([f"`{symbol}`" for symbol in missing], _NAMED_SYMBOLS)
    rule, read = ENUM_SYMBOLS, "has no such symbol"
    if reader.default is not None:
        rule, read = SYMBOL_READ_AS_DEFAULT, f"reads that as `{reader.default}`"
    fact = f"{{writer}} writes {names}, and {{reader}} {read}"
    yield replace(
        _of_part(pair, rule, fact, "symbols", (list(reader.symbols), list(writer.symbols))), symbol=missing[0]
    )


def _of_fields(pair: _Pair) -> Iterator[Mismatch | _Pair]:
    reader, writer = pair.reader, pair.writer
    written = {field.name: field for field in writer.fields}
    places = {field.name: at for at, field in enumerate(writer.fields)}
    for field in reader.fields:
        source = written_field(field, written)
        if source is None:
            yield _of_field(pair, field)
            continue
        trail = TypePath(pair.trail, writer, places[source.name], pair.under_union)
        ends = (Spot(f"{field.pointer}/type", reader.source), Spot(f"{source.pointer}/type", writer.source))
        yield _Pair(field.type, source.type, *ends, trail, pair.under_union)


def _of_field(pair: _Pair, field: AvroField) -> Mismatch:
    default = "goes on with its default" if field.has_default else "has no default for it"
    return Mismatch(
        FIELD_READ_AS_DEFAULT if field.has_default else FIELD_WITHOUT_DEFAULT,
        f"{{writer}} does not write `{field.name}`, and {{reader}} {default}",
        SchemaSide(pair.reader, outline(field.type), Spot(field.pointer, pair.reader.source)),
        SchemaSide(pair.writer, None, None),
        pair.trail,
        pair.under_union,
        field=field,
    )


def _of_logical(pair: _Pair) -> Mismatch:
    reader, writer = pair.reader, pair.writer
    if reader.logical is None or writer.logical is None:
        rule = LOGICAL_GAINED_OR_LOST
    elif reader.logical.name == writer.logical.name == DECIMAL:
        rule = DECIMAL_CHANGED
    else:
        rule = LOGICAL_CHANGED
    means, reads = writer.logical or f"a bare {writer.kind}", reader.logical or f"a bare {reader.kind}"
    return _of_types(pair, rule, f"{{writer}} writes {means}, and {{reader}} reads {reads}")


def _of_part(pair: _Pair, rule: CompatibilityRule, fact: str, key: str, held: tuple[Any, Any]) -> Mismatch:
    """Return the mismatch of what two types, the reader's and the writer's, have under a key."""
    reader, writer = (
        SchemaSide(one, value, _inside(one, key)) for one, value in zip((pair.reader, pair.writer), held, strict=True)
    )
    return Mismatch(rule, fact, reader, writer, pair.trail, pair.under_union)


def _of_types(pair: _Pair, rule: CompatibilityRule, fact: str) -> Mismatch:
    reader, writer = pair.reader, pair.writer
    mine, theirs = (
        SchemaSide(reader, outline(reader), pair.reader_at),
        SchemaSide(writer, outline(writer), pair.writer_at),
    )
    return Mismatch(rule, fact, mine, theirs, pair.trail, pair.under_union)


def outline(type_: AvroType) -> Any:
    """Return a type as JSON with the names of named types in place of what is in them."""
    if type_.kind == "union":
        return [outline(branch) for branch in type_.branches]
    if type_.items is not None:
        return {"type": type_.kind, "items" if type_.kind == "array" else "values": outline(type_.items)}
    if type_.logical is None:
        return type_.label
    result = {"type": type_.label, "logicalType": type_.logical.name}
    if type_.logical.precision is not None:
        return result | {"precision": type_.logical.precision, "scale": type_.logical.scale}
    return result
