"""Row types: the text of a Python module with the type of the rows of one table, as `change.row` has them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from keyword import iskeyword
from typing import Final

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.common.identifiers import docstring_text
from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContract
from cdc_contracts.registry.core.contract.value_mappings import ValueMapping
from cdc_contracts.registry.core.schema.message_schemas.table_columns import table_mappings, type_in_messages
from cdc_contracts.registry.core.tables.canonical.python_values import python_type
from cdc_contracts.registry.core.validate.form_selection import FormSelection
from cdc_contracts.registry.core.values import FORMS, ValueForm

_HEAD: Final = '''"""Rows of {table} as `change.row` has them, read under {reference}.

A value that its type cannot hold stays text and is named in `change.kept_as_text`, as `0000-00-00` is: hence `| str`.
A partial image has only the columns that were sent; `after_complete` says whether it is one.
"""

import datetime as dt
import decimal
from typing import TypedDict, cast

from cdc_contracts import Change

'''
_TAIL: Final = '''

def row_of(change: Change) -> Row:
    """Return the row of a change of this table. Raises ValueError for another table."""
    if change.table != {table!r}:
        raise ValueError({refusal!r} + str(change.table))
    return cast(Row, change.row)
'''
_NAMES: Final = {Decimal: "decimal.Decimal", date: "dt.date", datetime: "dt.datetime"}
_ANY: Final = "int | float | decimal.Decimal | bool | bytes | dt.date | dt.datetime | str"
_EXACT: Final = frozenset({int, bytes, bool, str})
"""The types that hold every canonical text of their kinds."""


def row_types_module(version: Version, table: TableContract, reading_options: ReadingOptions) -> str:
    """Return a module with `Row`, a TypedDict with the type of each column, and `row_of`, which gives a row that type.

    A column whose type the dialect writes in words of its own may hold any value.
    """
    columns = dict(_columns(version, table, reading_options))
    if all(name.isidentifier() and not iskeyword(name) and not name.startswith("__") for name in columns):
        body = "".join(f"    {name}: {type_}\n" for name, type_ in columns.items())
        declared = f'\nclass Row(TypedDict):\n    """A row; None is NULL."""\n\n{body}'
    else:
        body = "".join(f"    {name!r}: {type_},\n" for name, type_ in columns.items())
        declared = f'Row = TypedDict("Row", {{\n{body}}})\n'
    name = table.table.rpartition(".")[2]
    head = _HEAD.format(table=docstring_text(table.table), reference=version.reference)
    return head + declared + _TAIL.format(table=name, refusal=f"not a row of {name}: ")


def _columns(version: Version, table: TableContract, reading_options: ReadingOptions) -> Iterator[tuple[str, str]]:
    forms = FormSelection(version, reading_options)
    mapping = _mapping_of(forms, version, table, reading_options)
    types = version.meaning.columns.types
    encoded = types != "none" and types.names_encodings
    for name, source_type in table.types.items():
        sent = type_in_messages(version, mapping, source_type) if encoded else source_type
        form_name = None if sent is None else forms.form_of_type(mapping, sent)
        form = None if form_name is None else FORMS[form_name]
        kept = form is not None and (forms.lenient(form) or forms.context_of(form, table, mapping).keep_invalid)
        # A value is read by the type in its message, which may not be that of the table.
        told = dict.fromkeys((source_type, sent or source_type))
        held = [_ANY] if form is None else [one for type_ in told for one in _types(form, type_, kept=kept)]
        if table.may_be_null(name):
            held.append("None")
        yield name, " | ".join(dict.fromkeys(held))


def _mapping_of(
    forms: FormSelection, version: Version, table: TableContract, reading_options: ReadingOptions
) -> ValueMapping:
    """Return the mapping that rows are read by: that of messages without a kind of source, if it carries the table."""
    try:
        carrying = [one.mapping for one in table_mappings(version, table, reading_options)]
    except UsageError:  # columns that messages cannot carry may hold any value
        return forms.mapping
    return next((one for one in carrying if one.name == forms.mapping.name), carrying[0])


def _types(form: ValueForm, source_type: str, *, kept: bool) -> list[str]:
    """Return the types of the values of a form: what they are read as, and text if some are kept as they were sent."""
    found = python_type(source_type, form.kind)
    narrow = found is int and form.kind in ("decimal", "number")  # a fraction would stay text
    stays = found is not str and (kept or narrow or found not in _EXACT)
    return [_NAMES.get(found, found.__name__), *(["str"] if stays else [])]
