"""Schema wording: what is said of writer schemas, the same on the terminal, in Markdown and in HTML."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from msgspec import UNSET

from cdc_contracts.registry.core.common.safe_text import visible
from cdc_contracts.registry.core.report.report_wording import clock, count_of, list_some
from cdc_contracts.registry.core.report.reported_schemas import (
    ReportedMemberChange,
    ReportedSchema,
    ReportedSchemaLine,
    ReportedSchemas,
)

_MOST_RANGES: Final = 4
_MOST_CHANGES: Final = 8


class SchemaRow(NamedTuple):
    """One writer schema in words; `reasons` say why readers do not read it, which it `breaks` then.

    The row of ids that are not listed has no records.
    """

    table: str
    number: str
    total: int
    since: str
    changed: str
    readers: str
    reasons: str
    breaks: bool

    @property
    def records(self) -> str:
        """How many records name the schema, for a table."""
        return f"{self.total:,}" if self.total else ""


def schemas_headline(schemas: ReportedSchemas) -> str:
    """Return how many tables have several schemas, by their values and by their keys."""
    counted = [
        ("values", schemas.tables_changed, schemas.tables),
        ("keys", schemas.key_tables_changed, schemas.key_tables),
    ]
    said = [f"{of} of {changed:,} of {count_of(whole, 'table')}" for of, changed, whole in counted if whole]
    cut = ". Of very many ids, the lowest were kept" if schemas.cut else ""
    return f"Several schema ids: {', '.join(said)}{cut}."


def changed_lines(schemas: ReportedSchemas) -> list[ReportedSchemaLine]:
    """Return the tables with several ids, those whose readers break first."""
    several = [line for line in schemas.lines if line.ids > 1]
    return sorted(several, key=lambda line: not any(one.breaks for one in line.schemas))


def line_name(line: ReportedSchemaLine) -> str:
    """Return the table of some schemas, and whether they are those of its keys."""
    table = f"{visible(line.topic)}, any table" if line.table is None else visible(line.table)
    return f"{table} (keys)" if line.of == "key" else table


def schema_rows(line: ReportedSchemaLine) -> Iterator[SchemaRow]:
    """Yield the schemas of a table, each in words; the name of the table stands at the first."""
    for place, one in enumerate(line.schemas):
        reasons = "; ".join(map(visible, one.reasons or ()))
        yield SchemaRow(
            "" if place else line_name(line), str(one.number), one.records, _since(one), _changed(one),
            _readers(one), reasons, one.breaks,
        )  # fmt: skip
        if not place and line.left_out:
            yield SchemaRow("", "…", 0, f"{count_of(line.left_out, 'more id')}, not listed", "", "", "", breaks=False)


def row_lines(row: SchemaRow) -> list[str]:
    """Return one writer schema as lines of text, without table and id."""
    if not row.total:
        return [row.since]
    lines = [f"since {row.since}, {count_of(row.total, 'record')}"]
    if not row.readers:
        return lines
    return [*lines, f"changed: {row.changed}", ": ".join(filter(None, [row.readers, row.reasons]))]


def _since(schema: ReportedSchema) -> str:
    places = [f"partition {one.partition} offset {one.first_offset}" for one in schema.partitions[:_MOST_RANGES]]
    if schema.partitions[0].first_timestamp:
        places[0] += f" ({clock(schema.partitions[0].first_timestamp)})"
    said = ", ".join(places)
    more = len(schema.partitions) + (schema.partitions_left_out or 0) - _MOST_RANGES
    said += f" and in {count_of(more, 'more partition')}" if more > 0 else ""
    overlap = schema.overlap
    if overlap:
        until = f"partition {overlap.partition} offset {overlap.last_offset}"
        said += f"; id {schema.before} is written beside it up to {until}"
    return said


def _changed(schema: ReportedSchema) -> str:
    if schema.before is UNSET:
        return "the first"
    if not isinstance(schema.changes, tuple):
        return "unknown"
    said = [_change(one) for one in schema.changes[:_MOST_CHANGES]]
    more = len(schema.changes) + (schema.changes_left_out or 0) - _MOST_CHANGES
    return list_some(said, more, "change") or "no column"


def _change(one: ReportedMemberChange) -> str:
    name = ".".join(map(visible, one.path)) or "the record"
    old, new = (None if text is None else visible(text) for text in (one.old, one.new))
    match one.change:
        case "added":
            return f"{name} added ({new})"
        case "dropped":
            return f"{name} dropped ({old})"
        case "type":
            return f"{name} is {new}, was {old}"
        case "nullable":
            return f"{name} may be NULL" if one.new == "true" else f"{name} is never NULL"
    return f"default of {name} {'added' if old is None else 'removed' if new is None else 'changed'}"


def _readers(schema: ReportedSchema) -> str:
    """Return who reads whose records."""
    if schema.before is UNSET:
        return ""
    before, now = f"id {schema.before}", f"id {schema.number}"
    if schema.reads_before is True and schema.read_by_before is True:
        return f"readers of {before} and {now} read each other's records"
    if schema.reads_before is False and schema.read_by_before is False:
        return f"readers of {before} and {now} do not read each other's records, or misread them"
    if schema.read_by_before is False:
        return f"readers of {before} do not read records of {now}, or misread them"
    if schema.reads_before is False:
        return f"readers of {now} do not read records of {before}, or misread them"
    return "undecided whether readers read them"
