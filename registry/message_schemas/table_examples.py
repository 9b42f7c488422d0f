"""Table examples: messages of one table in a version, one for each op of rows.

A comparison of two bound schemas tries them, and shows the message of one version that the other refuses.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from cdc_contracts.registry.carrying import carries
from cdc_contracts.registry.catalogue import Version
from cdc_contracts.registry.message_schemas.examples import plain_message
from cdc_contracts.registry.rendering import Event, Renderer, SourceTable
from cdc_contracts.registry.sampling import source_table
from cdc_contracts.registry.streams import row_stream
from cdc_contracts.registry.tables import TableContract, TableContracts
from cdc_contracts.registry.terms import Terms
from cdc_contracts.registry.wire.transport import open_wire

_ENOUGH: Final = 200
"""Among so many events there is one of each op."""


def table_examples(version: Version, table: TableContract, terms: Terms) -> list[Any]:
    """Return messages of a table in a version as JSON values, one for each op of rows that it can say."""
    renderer, wire = table_renderer(version, table, terms), open_wire(version, terms)
    can = carries(version, terms).ops
    messages: list[Any] = []
    for op, event in _first_events(table_in(version, table)).items():
        message = plain_message(wire.open(renderer.render(event))) if op in can else None
        if message is not None and message not in messages:
            messages.append(message)
    return messages


def table_in(version: Version, table: TableContract) -> SourceTable:
    """Return the table that a table contract describes, its names as messages of a version have places for them."""
    told, can = source_table(table), carries(version)
    if told.schema is None and can.schema and not can.database:
        return replace(told, database=None, schema=told.database)
    return told


def table_renderer(version: Version, table: TableContract, terms: Terms) -> Renderer:
    """Return what renders rows of a table, from a kind of source whose value mapping has its types."""
    own, choice = replace(terms, tables=TableContracts([table])), version.meaning.values
    if isinstance(choice.mapping, str) or choice.mapping.by is None:
        return Renderer(version, own)
    for kind in choice.mapping.map:
        mapping = version.catalogue.mapping(choice.mapping_for(kind, None))
        if all(mapping.form_of(told) is not None for told in table.types.values()):
            return Renderer(version, own, source_kind=kind)
    return Renderer(version, own)


def _first_events(table: SourceTable) -> dict[str, Event]:
    """Return the first event of each op; rows that hold fewer NULLs first, for they show more."""
    first: dict[str, Event] = {}
    for event in row_stream(1, _ENOUGH, table=table, snapshot=_ENOUGH // 10):
        known = first.get(event.op)
        if known is None or _nulls(event) < _nulls(known):
            first[event.op] = event
    return first


def _nulls(event: Event) -> int:
    return sum(value is None for row in (event.before, event.after) for value in (row or {}).values())
