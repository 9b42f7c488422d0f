"""Edge rows: changes of rows with the values on which consumers fail: NULL, empty, zero, the ends of each type."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cache
from itertools import count
from typing import Final

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.type_families import family_of
from cdc_contracts.registry.core.generate.rendering import Renderer
from cdc_contracts.registry.core.generate.source_events import Event, SourceTable
from cdc_contracts.registry.core.message.canonical_changes import Image
from cdc_contracts.registry.core.validate.capabilities import capabilities_of
from cdc_contracts.registry.core.validate.validation_context import open_validation
from cdc_contracts.registry.core.validate.verdicts import CONFORMING
from cdc_contracts.registry.core.values import FORMS
from cdc_contracts.registry.core.values.type_bounds import bound_of

_FIRST_KEY: Final = 90_000
_FIRST_EVENT: Final = 1_718_000_000_000_000


def edge_texts(source_type: str) -> tuple[str, ...]:
    """Return canonical texts at the edges of a source type."""
    family = family_of(source_type)
    bound = bound_of(source_type, family)
    edges = _edges_of(family) or _edges_of("text")
    return tuple(text for text in edges if bound is None or not bound.misfit_of(text))


@cache
def _edges_of(kind: str) -> tuple[str, ...]:
    """Return the canonical texts at the edges of a canonical kind."""
    return tuple(edge for form in FORMS.values() if form.kind == kind for edge in form.examples.edges)


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
            if validation.validate(message).verdict.outcome == CONFORMING:
                yield message
