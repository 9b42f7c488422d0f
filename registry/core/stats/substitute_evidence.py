"""Substitute evidence: how often columns have values that their producer also sends in place of others.

A default stands for itself or for NULL, the first of 1970 for itself or for a date that does not exist. No message
tells, so that a run counts them, column by column, and no verdict on a message depends on them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from cdc_contracts.registry.core.stats.column_ways import ColumnWays, WrittenTable
from cdc_contracts.registry.core.stats.position_sequences import Stretch
from cdc_contracts.registry.core.validate.form_selection import NULL_AS_DEFAULT, TypedColumns, zoneless_context
from cdc_contracts.registry.core.values import FORMS, Context, Flag, ValueForm


class SubstituteColumn(NamedTuple):
    """A column some values of which are also sent in place of others, as the context says, and its form."""

    name: str
    form: ValueForm
    context: Context


class Substitute(NamedTuple):
    """A value that is also sent in place of another: what it is, and what for."""

    value: str
    meant: str


class SubstituteEvidence(ColumnWays[Substitute]):
    """The substitutes in each column, with the stretch of the values that are the same one."""

    def add_row(
        self, rows: WrittenTable, row: Mapping[str, Any], columns: Iterable[SubstituteColumn], stretch: Stretch
    ) -> None:
        """Count the values of one row."""
        self.add_ways(
            rows, ((one.name, substitute_in(one, row[one.name])) for one in columns if one.name in row), stretch
        )

    def found(self) -> Iterator[tuple[WrittenTable, str, Substitute, Stretch]]:
        """Yield what each column holds, table by table."""
        for rows in self.tables():
            for name, column in self.seen[rows].items():
                yield from ((rows, name, substitute, stretch) for substitute, stretch in column.items())


def substitute_columns(columns: TypedColumns) -> tuple[SubstituteColumn, ...]:
    """Return the columns of a row some values of which are also sent in place of others."""
    mapping = columns.mapping
    if not (columns.defaults or mapping.document.substitutes):
        return ()
    found = []
    for name, source_type in (columns.types or {}).items():
        form = mapping.form_of(source_type)
        default = columns.default_of(name)
        if form is not None and (default is not None or mapping.substitutes(form)):
            context = zoneless_context(FORMS[form], mapping, columns.types_of(name), default)
            found.append(SubstituteColumn(name, FORMS[form], context))
    return tuple(found)


def substitute_in(column: SubstituteColumn, value: Any) -> Substitute | None:
    """Return which substitute a value of a column is, None if it is none."""
    if isinstance(value, list | dict) or not column.form.reads(value, column.context, (Flag.SUBSTITUTE,)):
        return None
    return substitute_of(column.context, column.form.token_read(value))


def substitute_of(context: Context, token: str) -> Substitute:
    """Return the substitute of a token; a default is not shown, for it may be any value."""
    meant = next(meant for substitute, meant in context.substitutes if substitute == token)
    return Substitute("the default of the column" if meant == NULL_AS_DEFAULT else token, meant)
