"""Table columns in a message schema: what each value looks like by the declared type of its column."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.common.exact_number import JSON_NUMBER
from cdc_contracts.registry.core.common.identifiers import distinct_names
from cdc_contracts.registry.core.common.pointers import join_pointer
from cdc_contracts.registry.core.contract.catalogue import Version
from cdc_contracts.registry.core.contract.column_model import ColumnTypes
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import TableContract
from cdc_contracts.registry.core.contract.type_families import type_name_in
from cdc_contracts.registry.core.contract.value_mappings import ValueMapping
from cdc_contracts.registry.core.message.reading import non_column_members
from cdc_contracts.registry.core.schema.message_schemas.clauses import Clause, all_of, any_of, when, within
from cdc_contracts.registry.core.schema.message_schemas.conditions import mapping_choices
from cdc_contracts.registry.core.schema.message_schemas.form_definitions import (
    entry_of_type,
    listed_types,
    names_of_form,
    refer,
    type_columns,
)
from cdc_contracts.registry.core.schema.message_schemas.image_placement import image_of, no_row
from cdc_contracts.registry.core.values import FORMS, JSON_KINDS, Context, ValueForm
from cdc_contracts.registry.core.values.civil_time import DAY, LAST_DAY
from cdc_contracts.registry.core.values.day_times import MOST_MICROS, MOST_MILLIS, MOST_NANOS
from cdc_contracts.registry.core.values.source_types import Digits, parse_source_type
from cdc_contracts.registry.core.values.timestamps import LAST_MICRO, LAST_MILLI, LAST_NANO
from cdc_contracts.registry.core.values.type_bounds import TypeBound, bound_of

_COLUMN: Final = "column"
_EXACT_DIGITS: Final = 15
"""How many decimal digits a binary fraction of 53 bits distinguishes."""
_EXPONENT: Final = "[eE]"
"""A text with an exponent is not bounded by its digits, which do not show how many there are."""
_BOUNDED: Final = ("integer", "decimal", "number", "bit")
_LAST: Final[Mapping[str, int]] = {
    "days-since-epoch": LAST_DAY,
    "millis-of-day": MOST_MILLIS, "micros-of-day": MOST_MICROS, "nanos-of-day": MOST_NANOS,
    "millis-wallclock": LAST_MILLI, "micros-wallclock": LAST_MICRO, "nanos-wallclock": LAST_NANO,
    "epoch-millis-instant": LAST_MILLI, "epoch-micros-instant": LAST_MICRO, "epoch-nanos-instant": LAST_NANO,
    "epoch-seconds-integer": (LAST_DAY + 1) * DAY - 1, "uint64-as-int64": 2**63 - 1,
}  # fmt: skip
"""The greatest number of a form whose numbers are not the values of its column.

Where they count to a moment, it is the end of the year 9999, or of 838 hours and 59 minutes where it is a time.
"""


@dataclass(frozen=True)
class TableMapping:
    """A value mapping that has a form for every column of a table, and the messages it holds for."""

    condition: Clause
    mapping: ValueMapping
    forms: dict[str, str]
    """The form of each column."""
    unlisted: int
    """How many of the columns only have the default of the mapping."""


def table_mappings(version: Version, table: TableContract, reading_options: ReadingOptions) -> tuple[TableMapping, ...]:
    """Return the mappings under which messages of a version carry a table.

    A mapping with a default carries every table: those count that list the most types of this one.
    Raises UsageError if it has a column that none of them carries.
    """
    found: list[TableMapping] = []
    lacking: list[tuple[str, ValueMapping]] = []
    for choice in mapping_choices(version):
        mapping = choice.mappings[0]
        if len(choice.mappings) > 1:  # messages do not say which: a parameter does
            mode = reading_options.parameters.get("source_mode")
            mapping = version.catalogue.mapping(version.meaning.values.mapping_for(None, mode))
        mapping = mapping.given(reading_options.parameters)
        named = {name: type_in_messages(version, mapping, declared) or "" for name, declared in table.types.items()}
        forms = {name: form for name, one in named.items() if one and (form := mapping.form_of(one)) is not None}
        lacking += [(name, mapping) for name in named if name not in forms][:1]
        if len(forms) == len(named):
            unlisted = sum(not mapping.lists(one) for one in named.values())
            found.append(TableMapping(choice.condition, mapping, forms, unlisted))
    if not found:
        name, mapping = lacking[0]
        way = "give --parameter source_mode=, " if "source_mode" in version.meaning.parameters else ""
        raise UsageError(
            f"{version} cannot carry the type {table.types[name]} of column {name}",
            where=f"table contract {table.table}, value mapping {mapping.name}",
            hint=f"{way}correct the type, or add it to the mapping in your own contract.",
        )
    least = min(one.unlisted for one in found)
    return tuple(one for one in found if one.unlisted == least)


def type_in_messages(version: Version, mapping: ValueMapping, declared: str) -> str | None:
    """Return the type that messages name for a declared one, or the declared one where they name none."""
    types = version.meaning.columns.types
    if types == "none":
        return declared
    return type_name_in(mapping, declared, types.table, names_encodings=types.names_encodings)


def column_definitions(version: Version, table: TableContract, mappings: tuple[TableMapping, ...]) -> dict[str, Any]:
    """Return a definition of each column under each mapping."""
    return {
        key: _define(version, table, one, name)
        for one in mappings
        for name, key in _keys(table, one, mappings).items()
    }  # fmt: skip


def column_values(
    version: Version, table: TableContract, mappings: tuple[TableMapping, ...]
) -> Iterator[dict[str, Any]]:
    """Yield what the images of a message of rows hold by column, for each mapping that may hold.

    Where messages hold types, a value is required to be as the contract says only where the message has such a type
    too: the type in the message is what it is read by.
    """
    for one in mappings:
        values = {name: {"$ref": f"#/$defs/{key}"} for name, key in _keys(table, one, mappings).items()}
        if version.meaning.columns.types == "none":
            yield when(one.condition, _in_images(version, values))
            continue
        names = {name: names_of_form(one.mapping, form) for name, form in one.forms.items()}
        clauses = [
            when(_has_type(version, name, names[name]), _in_images(version, {name: result}))
            for name, result in values.items()
        ]
        yield when(one.condition, all_of(clauses))


def _define(version: Version, table: TableContract, one: TableMapping, name: str) -> dict[str, Any]:
    column, form = table.columns[name], FORMS[one.forms[name]]
    result: dict[str, Any] = {"description": f"`{column.type}`" + (f": {column.comment}" if column.comment else "")}
    comments = [] if table.may_be_null(name) else ["D11.not-null (a warning): NOT NULL."]
    if version.meaning.leaves_open(form.kind):
        comments.append(f"D07.{form.name} (a warning): {form.says}")
        result["type"] = [*sorted(JSON_KINDS[wire] for wire in form.wire), "null"]
    else:
        every = [version.catalogue.mapping(mapping) for mapping in version.mapping_names()]
        context = Context(None, one.mapping.keeps_invalid(form.name), one.mapping.invalid_literals(form.name))
        known = form.name in one.mapping.forms  # the form of all other types has no definition
        result |= refer(one.mapping, form.name, every) if known else form.schema_in(context)
        result |= value_bounds(column.type, form, context)
    return result | ({"$comment": " ".join(comments)} if comments else {})


def _in_images(version: Version, values: Mapping[str, Clause]) -> dict[str, Any]:
    clauses = []
    for pointer in version.meaning.images.pointers():
        excluded = non_column_members(version.meaning, pointer)
        row = {"properties": {name: result for name, result in values.items() if name not in excluded}}
        clauses.append(within(pointer, image_of(version.meaning, row), required=False))
    return all_of(clauses)


def _has_type(version: Version, column: str, names: Clause) -> dict[str, Any]:
    """Return the condition that a message has one of some types for a column."""
    types = type_columns(version.meaning)
    if types.at is None:
        return _has_type_in_images(version, types, column, names)
    if not types.is_listed:
        return within(types.at + _path_to_type(types, column), names)
    named = {"properties": {types.name_member: {"const": column}}, "required": [types.name_member]}
    listed = {"type": "array", "contains": named, "items": when(named, entry_of_type(types, names))}
    return within(types.at, listed_types(types, listed))


def _has_type_in_images(version: Version, types: ColumnTypes, column: str, names: Clause) -> dict[str, Any]:
    """Return the same where each image has its own types: none of those with a row has another."""
    meaning = version.meaning
    path = join_pointer(types.in_image or "") + _path_to_type(types, column)
    result = {pointer: within(pointer + path, names) for pointer in meaning.images.pointers()}
    each = [
        any_of([within(pointer, no_row(meaning, pointer), required=False), one]) for pointer, one in result.items()
    ]  # fmt: skip
    return all_of([*each, any_of(result.values())])


def _path_to_type(types: ColumnTypes, column: str) -> str:
    return join_pointer(column) + (join_pointer(types.type) if types.type is not None else "")


def _keys(table: TableContract, one: TableMapping, mappings: tuple[TableMapping, ...]) -> dict[str, str]:
    """Return the name of the definition of each column, of letters that every code generator takes."""
    several = len({other.mapping.name for other in mappings}) > 1
    head = f"{_COLUMN}-of-{one.mapping.name}" if several else _COLUMN
    return {name: f"{head}-{plain}" for name, plain in distinct_names(table.columns).items()}


def value_bounds(declared: str, form: ValueForm, context: Context) -> dict[str, Any]:
    """Return the keywords that bound the values of a form in a column of a declared type; none if it has no bound.

    Number keywords hold for numbers, the pattern for texts. Many validators read a JSON number as a binary fraction of
    53 bits: a keyword stands here only where no value that the type holds is refused by such a one either; how many
    digits stand after the point of a number, none can say.
    """
    if form.name in _LAST:
        return {"maximum": max((_LAST[form.name], *form.numbers_kept(context)))}
    bound = bound_of(declared, form.kind) if form.kind in _BOUNDED and not form.records else None
    if bound is None:
        return {}
    digits = parse_source_type(declared).digits
    result: dict[str, Any] = {}
    if "number" in form.wire:
        result |= _of_decimals(digits) if digits is not None else _of_integers(bound)
    if "text" in form.wire and form.kind != "bit" and _writes_digits(form):
        whole = _text_of_decimals(digits) if digits is not None else _text_of_integers(bound)
        result["pattern"] = f"{whole}|{_EXPONENT}" if form.kind != "integer" else whole
    return result


def _writes_digits(form: ValueForm) -> bool:
    """Return whether the texts of a form are digits: some numbers travel as bytes."""
    example = json.loads(form.example)
    return not isinstance(example, str) or JSON_NUMBER.fullmatch(example) is not None


def pattern_up_to(most: int) -> str:
    """Return the pattern of the whole numbers from 1 to `most`, without leading zeros."""
    digits = str(most)
    ways = [f"[1-9][0-9]{{0,{len(digits) - 2}}}"] if len(digits) > 1 else []
    for place, digit in enumerate(digits):
        least, left = (0 if place else 1), len(digits) - place - 1
        if int(digit) > least:
            rest = f"[0-9]{{{left}}}" if left else ""
            ways.append(f"{digits[:place]}[{least}-{int(digit) - 1}]{rest}")
    return f"(?:{'|'.join([*ways, digits])})"


def _of_integers(bound: TypeBound) -> dict[str, Any]:
    return {} if bound.least is None else {"minimum": bound.least, "maximum": bound.most}


def _text_of_integers(bound: TypeBound) -> str:
    least, most = bound.least or 0, bound.most or 0
    negative = f"|-{pattern_up_to(-least)}" if least < 0 else ""
    return rf"^(?:-?0|{pattern_up_to(most)}{negative})(?:\.0*)?$"


def _of_decimals(digits: Digits) -> dict[str, Any]:
    """Return what bounds a number by its digits before the point.

    A value next to the first that is too large may be read as that one: it is taken, where digits are many.
    """
    beyond = 10**digits.whole
    if digits.whole + digits.fraction <= _EXACT_DIGITS:
        return {"exclusiveMinimum": -beyond, "exclusiveMaximum": beyond}
    return {"minimum": -beyond, "maximum": beyond}


def _text_of_decimals(digits: Digits) -> str:
    head = f"(?:0|[1-9][0-9]{{0,{digits.whole - 1}}})" if digits.whole else "0"
    return rf"^-?{head}(?:\.[0-9]{{0,{digits.fraction}}}0*)?$"
