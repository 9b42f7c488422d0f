"""Edge rows: changes of rows with the values on which consumers fail: NULL, empty, zero, the ends of each type."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import count
from typing import Final

from cdc_contracts.registry.common.errors import UsageError
from cdc_contracts.registry.contract.catalogue import Version
from cdc_contracts.registry.contract.reading_options import ReadingOptions
from cdc_contracts.registry.contract.type_families import family_of
from cdc_contracts.registry.generate.rendering import Renderer
from cdc_contracts.registry.generate.source_events import Event, SourceTable
from cdc_contracts.registry.message.canonical_changes import Image
from cdc_contracts.registry.validate.capabilities import capabilities_of
from cdc_contracts.registry.validate.validation_context import open_validation
from cdc_contracts.registry.validate.verdicts import CONFORMING
from cdc_contracts.registry.values.type_bounds import bound_of

_EDGES: Final[Mapping[str, tuple[str, ...]]] = {
    "integer": (
        "0", "1", "-1", "127", "-128", "255", "32767", "65535", "2147483647", "-2147483648", "4294967295",
        "9007199254740993", "9223372036854775807", "-9223372036854775808", "18446744073709551615",
    ),
    "decimal": ("0.00", "0.10", "-0.01", "12345678901234567.89", "99999999999999999.99", "0"),
    "float": ("0", "-0.5", "0.1", "1e-7", "1e+21"),
    "boolean": ("true", "false"),
    "bit": ("0", "1", "255"),
    "year": ("1901", "2155", "2024"),
    "bytes": ("", "AA==", "/w==", "eyJhIjoxfQ=="),
    "date": ("1970-01-01", "2024-02-29", "9999-12-31", "1000-01-01"),
    "time": ("00:00:00", "23:59:59", "838:59:59", "-838:59:59"),
    "datetime": ("1970-01-01T00:00:00", "2024-02-29T23:59:59", "9999-12-31T23:59:59"),
    "timestamp": ("1970-01-01T00:00:01Z", "2024-02-29T23:59:59Z", "2038-01-19T03:14:07Z"),
    "json": ("{}", "null", '{"a": [1.0, null, ""]}'),
}  # fmt: skip
_TEXTS: Final = (
    "", " ", "NULL", "null", "0", "0000-00-00", 'say "yes"', "back\\slash", "it's", "line\nbreak", "tab\there", "苹果",
    "\U0001f34e", "é", "e\u0301", "<b>&amp;</b>", "{}", "a,b;c", "%s", "\u2028",
)  # fmt: skip
_FIRST_KEY: Final = 90_000
_FIRST_EVENT: Final = 1_718_000_000_000_000


def edge_texts(source_type: str) -> tuple[str, ...]:
    """Return canonical texts at the edges of a source type."""
    family = family_of(source_type)
    bound = bound_of(source_type, family)
    return tuple(text for text in _EDGES.get(family, _TEXTS) if bound is None or not bound.judge(text))


def edge_events(table: SourceTable, *, not_null: Collection[str] = ()) -> Iterator[Event]:
    """Yield inserts of rows of edge values, updates from and to NULL, a change of the key, and deletes.

    Columns in `not_null` are never NULL. The events follow each other: before images are the rows as they are then.
    """
    texts = {name: edge_texts(type_) or ("0",) for name, type_ in table.types.items()}
    others = [name for name in table.types if name not in table.primary_key]
    places = count(1)

    def event(op: str, before: Image | None, after: Image | None) -> Event:
        place = next(places)
        time = _FIRST_EVENT + place * 1_000_000
        return Event(op, table, before, after, time, time + 250_000, str(place), f"{{tid:{place}, part:0}},311,0,0")

    def keyed(key: int, row: Image) -> Image:
        keys = {name: texts[name][0] for name in table.primary_key}
        return {**keys, **dict.fromkeys(table.primary_key[:1], str(key)), **row}

    def nothing(key: int) -> Image:
        return keyed(key, {name: texts[name][0] if name in not_null else None for name in others})

    rows = [
        keyed(_FIRST_KEY + number, {name: texts[name][number % len(texts[name])] for name in others})
        for number in range(max(map(len, texts.values())))
    ]
    for row in rows:
        yield event("insert", None, row)
    last = _FIRST_KEY + len(rows)
    yield event("insert", None, nothing(last))
    full = keyed(last, {name: rows[0][name] for name in others})
    yield event("update", nothing(last), full)
    yield event("update", full, nothing(last))
    for number, row in enumerate(rows[:2]):
        emptied = nothing(_FIRST_KEY + number)
        yield event("update", row, emptied)
        yield event("update", emptied, row)
    if table.primary_key:
        moved = keyed(last + 1, {name: rows[0][name] for name in others})
        yield event("update", rows[0], moved)
        yield event("delete", moved, None)
    yield event("delete", nothing(last), None)
    yield event("delete", rows[-1], None)


def edge_messages(version: Version, table: SourceTable, reading_options: ReadingOptions) -> Iterator[bytes]:
    """Yield the edge rows of a table as messages of a version, as far as it can carry them.

    A message that its contract refuses is left out: an undocumented value would be no test of a consumer.
    """
    validation = open_validation(version.catalogue, version.reference, reading_options)
    can, renderer = capabilities_of(version, reading_options).ops, Renderer(version, reading_options)
    contract = reading_options.tables.of(table.database, table.schema, table.name)
    not_null = [name for name in table.types if contract is not None and not contract.may_be_null(name)]
    for event in edge_events(table, not_null=not_null):
        if event.op in can:
            try:
                message = renderer.render(event)
            except UsageError:
                continue
            if validation.judge(message).verdict.outcome == CONFORMING:
                yield message
