"""Table examples: messages of one table in a version, one for each op of rows.

A comparison of two bound schemas tries them, and shows the message of one version that the other refuses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContract, TableContracts
from cdc_contracts.registry.core.contract.type_families import family_of
from cdc_contracts.registry.core.generate.event_streams import row_stream
from cdc_contracts.registry.core.generate.message_samples import source_table
from cdc_contracts.registry.core.generate.rendering import Renderer
from cdc_contracts.registry.core.generate.source_events import Event, SourceTable
from cdc_contracts.registry.core.message.canonical_changes import Image
from cdc_contracts.registry.core.message.transport import open_transport
from cdc_contracts.registry.core.schema.message_schemas.message_examples import plain_message, text_of_example
from cdc_contracts.registry.core.schema.message_schemas.table_columns import table_mappings
from cdc_contracts.registry.core.validate.capabilities import capabilities_of
from cdc_contracts.registry.core.values import FORMS

_ENOUGH: Final = 200
"""How many events contain one of each op."""
_GUESSED: Final = ("text", "bytes")
"""Families of types with unknown names, or names that begin like others (BINARY FLOAT)."""


def table_examples(
    version: Version, table: TableContract, reading_options: ReadingOptions, forms: Mapping[str, str]
) -> list[Any]:
    """Return messages of a table in a version as JSON values, one for each op of rows that it can express.

    `forms` has the value form of each column.
    """
    renderer, wire = table_renderer(version, table, reading_options), open_transport(version, reading_options)
    can, known = capabilities_of(version, reading_options).ops, _values_by_form(forms, table)
    messages: list[Any] = []
    for op, event in _first_events(table_in(version, table)).items():
        result = replace(event, before=_put(event.before, known), after=_put(event.after, known))
        message = plain_message(wire.read_sent(renderer.render(result))) if op in can else None
        if message is not None and message not in messages:
            messages.append(message)
    return messages


def _values_by_form(forms: Mapping[str, str], table: TableContract) -> Image:
    """Return values of the columns for whose types the stream of rows knows none but words: those of their forms."""
    families = {name: family_of(table.types[name]) for name in forms}
    strange = [
        name for name, form in forms.items() if families[name] in _GUESSED and FORMS[form].kind != families[name]
    ]
    return {name: text_of_example(forms[name]) for name in strange}


def _put(row: Image | None, known: Image) -> Image | None:
    return None if row is None else {name: known.get(name, text) for name, text in row.items()}


def table_in(version: Version, table: TableContract) -> SourceTable:
    """Return the table that a table contract describes, its names as messages of a version have places for them."""
    result, can = source_table(table), capabilities_of(version)
    if result.schema is None and can.schema and not can.database:
        return replace(result, database=None, schema=result.database)
    return result


def table_renderer(version: Version, table: TableContract, reading_options: ReadingOptions) -> Renderer:
    """Return what renders rows of a table, from a kind of source whose value mapping carries it."""
    own, choice = replace(reading_options, tables=TableContracts([table])), version.meaning.values
    if isinstance(choice.mapping, str) or choice.mapping.by is None:
        return Renderer(version, own)
    carrying = {one.mapping.name for one in table_mappings(version, table, reading_options)}
    kind = next((kind for kind, mapping in choice.mapping.map.items() if mapping in carrying), None)
    return Renderer(version, own, source_kind=kind)


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
