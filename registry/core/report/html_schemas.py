"""HTML schemas: the writer schemas of each table that has several, in the order of their first records."""

from __future__ import annotations

from typing import Final

from cdc_contracts.registry.core.report.html_markup import (
    Markup,
    cell,
    element,
    fold,
    heading,
    join,
    more,
    name_of,
    row,
    table,
)
from cdc_contracts.registry.core.report.report_model import Report
from cdc_contracts.registry.core.report.report_wording import count_of
from cdc_contracts.registry.core.report.schema_wording import SchemaRow, changed_lines, schema_rows, schemas_headline

_MOST_LINES: Final = 100
_MOST_IN_SIGHT: Final = 6


def schema_section(report: Report) -> Markup | None:
    """Return the section of the writer schemas; None if no record is framed for a schema registry."""
    if not report.schemas:
        return None
    lines = changed_lines(report.schemas)
    rows = [[_row(one) for one in schema_rows(line)] for line in lines[:_MOST_LINES]]
    first, rest = rows[:_MOST_IN_SIGHT], rows[_MOST_IN_SIGHT:]
    return join([
        element("p", schemas_headline(report.schemas)),
        _table(first) if first else None,
        fold(f"{count_of(len(rest), 'more table')}", _table(rest)) if rest else None,
        more(len(lines) - len(rows), "tables"),
    ])  # fmt: skip


def _table(lines: list[list[Markup]]) -> Markup:
    head = [heading("table"), heading("id"), heading("since"), heading("changed"), heading("readers")]
    return table(
        [one for rows in lines for one in rows], head=[*head, heading("records", "number")], kind="cards schemas"
    )


def _row(one: SchemaRow) -> Markup:
    return row(
        element("th", name_of(one.table) if one.table else "", scope="row", role="rowheader"),
        cell(one.number, label="id"),
        cell(one.since, label="since"),
        cell(one.changed, label="changed"),
        cell(join([_readers(one), element("small", one.reasons) if one.reasons else None]), label="readers"),
        cell(one.records, "number", label="records"),
    )


def _readers(one: SchemaRow) -> Markup | str:
    return element("span", one.readers, class_="bad") if one.breaks else one.readers
