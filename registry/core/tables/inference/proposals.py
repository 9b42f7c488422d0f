"""Proposals: the table contract that evidence supports, and in words the evidence for each column."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from cdc_contracts.registry.core.contract.catalogue import Catalogue
from cdc_contracts.registry.core.contract.table_contracts import TableColumn, TableContract
from cdc_contracts.registry.core.contract.type_families import PROTOCOL_TYPES
from cdc_contracts.registry.core.contract.value_mappings import ValueMapping
from cdc_contracts.registry.core.tables.inference.column_evidence import (
    ColumnEvidence,
    InferenceEvidence,
    Seen,
    TableEvidence,
)
from cdc_contracts.registry.core.values import FORMS
from cdc_contracts.registry.core.values.type_bounds import bound_of
from cdc_contracts.registry.core.values.type_ranges import NARROWER, OTHER, UNKNOWN, compare_types, read_range

_MOST_INTEGER_DIGITS: Final = 18
"""How many digits every BIGINT holds."""
_MOST_DIGITS, _MOST_SCALE, _MOST_FLOAT_DIGITS = 65, 30, 17
"""The most digits of exact types in any database, and of floats: larger numbers get a type without digits."""
_DECIMAL_BY_NUMBER: Final = PROTOCOL_TYPES["decimal"]
_TYPES: Final = {
    "integer": ("bigint", "NUMBER(19,0)"),
    "decimal": ("decimal({precision},{scale})", "NUMBER({precision},{scale})", "double"),
    "float": ("double", "BINARY_DOUBLE", "decimal", "NUMBER"),
    "number": ("decimal", "NUMBER", "double"),
    "text": ("varchar({longest})", "VARCHAR2({longest})"),
    "boolean": ("boolean", "tinyint(1)", "NUMBER(1,0)"),
}
"""The proposed type where messages state none: the first whose values are written like those of the messages."""


@dataclass(frozen=True)
class ProposedColumn:
    """A column as it is proposed. `declared` is whether messages state its type, `rests_on` the evidence in words.

    `conflicts` are the types that messages gave, where they gave several.
    """

    name: str
    column: TableColumn
    declared: bool
    rests_on: str
    evidence: ColumnEvidence
    conflicts: tuple[tuple[str, Seen], ...] = ()


@dataclass(frozen=True)
class Proposal:
    """A proposed table contract, and its open questions."""

    contract: TableContract
    columns: tuple[ProposedColumn, ...]
    evidence: TableEvidence
    remarks: tuple[str, ...]


def propose(evidence: InferenceEvidence, catalogue: Catalogue) -> list[Proposal]:
    """Return the table contracts that evidence supports, in order of the tables."""
    found: dict[str, Proposal] = {}
    for name in sorted(evidence.tables, key=lambda one: one.order):
        table = evidence.tables[name]
        order = dict.fromkeys([*evidence.observed.columns(name), *sorted(table.columns)])
        mappings = [catalogue.mapping(one) for one in sorted(table.mappings)]
        if table.columns and name.text not in found:
            found[name.text] = _propose_table(name.text, table, order, mappings)
    return list(found.values())


def _propose_table(name: str, table: TableEvidence, order: Iterable[str], mappings: Sequence[ValueMapping]) -> Proposal:
    key, remarks = _key_of(table)
    columns = tuple(
        _propose_column(column, table.columns[column], key, mappings) for column in order if column in table.columns
    )
    if not all(one.declared for one in columns):
        remarks += ("messages give no types; these are proposed from the values seen",)
    elif _by_number(mappings):
        remarks += ("types are given as numbers of the MySQL protocol; `tables from-ddl` gives their names",)
    for one in columns:
        if one.conflicts:
            remarks += (f"messages give several types for {one.name}: {_conflict(one)}",)
    contract = TableContract(table=name, columns={one.name: one.column for one in columns}, primary_key=key)
    return Proposal(contract, columns, table, remarks)


def _key_of(table: TableEvidence) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the key that most messages give, and what is to be said of it."""
    result = {key: seen for key, seen in table.keys.items() if key and all(name in table.columns for name in key)}
    if not result:
        silent = "messages give no primary key" if not table.keys else "messages say that there is no primary key"
        return (), (silent,)
    ordered = sorted(result, key=lambda key: (-result[key].count, key))
    if len(ordered) == 1:
        return ordered[0], ()
    others = "; ".join(f"{', '.join(key)} in {count_rows(result[key].count)}" for key in ordered[1:4])
    return ordered[0], (f"messages give several primary keys; the others: {others}",)


def _propose_column(
    name: str, seen: ColumnEvidence, key: tuple[str, ...], mappings: Sequence[ValueMapping]
) -> ProposedColumn:
    result = _widest(seen.types) if seen.types else None
    if result == _DECIMAL_BY_NUMBER and _by_number(mappings):
        result = "decimal"
    named = (
        _type_of_values(seen, mappings) if result is None else _wide_enough(_with_digits(result, seen), seen, mappings)
    )
    conflicts = tuple((one, seen.types[one]) for one in sorted(seen.types)) if len(seen.types) > 1 else ()
    column = TableColumn(type=named, nullable=name not in key or seen.nulls > 0)
    rests_on = ", ".join(_words(seen, result, named))
    return ProposedColumn(name, column, result is not None, rests_on, seen, conflicts)


def _widest(types: dict[str, Seen]) -> str:
    """Return the type that holds the values of all others, else the most frequent one."""
    for one in sorted(types):
        if all(compare_types(other, one) not in (NARROWER, OTHER, UNKNOWN) for other in types):
            return one
    return min(types, key=lambda one: (-types[one].count, one))


def _with_digits(declared: str, seen: ColumnEvidence) -> str:
    """Return a type of exact numbers that says no digits with those that were seen."""
    read = read_range(declared)
    if read is None or read.family != "decimal" or "(" in declared or not seen.numbers:
        return declared
    base, blank, rest = declared.partition(" ")
    return f"{base}({max(seen.whole, 1) + seen.scale},{seen.scale}){blank}{rest}"


def _wide_enough(declared: str, seen: ColumnEvidence, mappings: Sequence[ValueMapping]) -> str:
    """Return a type that holds all values that were seen: the given one, or the next that does.

    Messages may leave out UNSIGNED, or declare fewer digits than they send.
    """
    read = read_range(declared)
    if read is None or _holds(declared, declared, seen, mappings):
        return declared
    base, blank, rest = declared.partition("(")
    whole, scale = max(read.whole or 0, seen.whole, 1), max(read.scale or 0, seen.scale)
    after = f"){rest.partition(')')[2]}" if blank else ")"
    offered = [f"{declared} unsigned", "bigint", "bigint unsigned"] if read.family == "integer" else []
    if read.family == "decimal":
        offered += [f"{base}({whole + scale},{scale}{after}", base]
    elif read.family == "bit":
        offered += [f"{base}({max(seen.most.bit_length(), 1)}{after}", base]
    elif read.family in ("TIMESTAMP", "DATETIME") and blank:
        offered += [f"{base}({seen.second_digits}{after}"]
    else:
        offered += [f"decimal({whole + scale},{scale})", "decimal"]
    return next((one for one in offered if _holds(one, declared, seen, mappings)), declared)


def _holds(offered: str, declared: str, seen: ColumnEvidence, mappings: Iterable[ValueMapping]) -> bool:
    """Return whether a type holds the values of a column, which are written like those of the given type."""
    forms = (mapping.form_of(declared) for mapping in mappings)
    bounds = (bound_of(offered, FORMS[form].kind) for form in forms if form is not None)
    return not any(bound.misfit_of(text) for bound in bounds if bound is not None for text in _extremes(seen))


def _extremes(seen: ColumnEvidence) -> Iterator[str]:
    """Yield texts that only a type takes which takes all of a column: its least and most, and its most digits."""
    if seen.second_digits:
        yield f"2000-01-01T00:00:00.{'9' * seen.second_digits}"
        return
    if not seen.numbers:
        return
    for whole in (seen.least, seen.most, *(["9" * seen.whole] if seen.whole > len(str(seen.most)) + 1 else [])):
        yield f"{whole}.{'9' * seen.scale}" if seen.scale else f"{whole}"


def _by_number(mappings: Sequence[ValueMapping]) -> bool:
    return any("code" in mapping.document.names for mapping in mappings)


def _type_of_values(seen: ColumnEvidence, mappings: Sequence[ValueMapping]) -> str:
    """Return a type for values whose messages give none."""
    kind = "text"
    if seen.kinds == {"boolean"}:
        kind = "boolean"
    elif seen.kinds == {"number"} and seen.numbers == seen.values - seen.nulls:
        kind = _kind_of_numbers(seen)
    sizes = {"precision": max(seen.whole, 1) + seen.scale, "scale": seen.scale, "longest": max(seen.longest, 1)}
    offered = [one.format(**sizes) for one in _TYPES[kind]]
    fitting = (one for one in offered if all(_takes(mapping, one, seen.kinds) for mapping in mappings))
    return next(fitting, offered[0])


def _kind_of_numbers(seen: ColumnEvidence) -> str:
    """Return what numbers are by their digits; those of an exponent were a float's."""
    if not seen.scale and seen.whole <= _MOST_INTEGER_DIGITS:
        return "integer"
    if seen.whole + seen.scale <= _MOST_DIGITS and seen.scale <= _MOST_SCALE:
        return "decimal"
    return "number" if seen.beyond_floats or seen.digits > _MOST_FLOAT_DIGITS else "float"


def _takes(mapping: ValueMapping, source_type: str, kinds: Collection[str]) -> bool:
    form = mapping.form_of(source_type)
    return form is not None and FORMS[form].wire.issuperset(kinds)


def _words(seen: ColumnEvidence, declared: str | None, named: str) -> Iterator[str]:
    """Yield what a column rests on: its values, and the type that messages gave where it is not the one proposed."""
    values = seen.values - seen.nulls
    yield f"{values:,} value{'s' if values != 1 else ''}"
    yield f"{seen.nulls:,} NULL" if seen.nulls else "no NULL seen"
    digits = f"{seen.whole}+{seen.scale} digits" if seen.scale else f"{seen.whole} digits"
    if declared is not None and declared != named:
        completed = named == _with_digits(declared, seen)
        yield (
            f"up to {digits}; messages give none"
            if completed
            else f"messages give {declared}, which does not hold all values"
        )
    if declared is not None:
        return
    if not values:
        yield "proposed: nothing but NULL was seen"
    elif seen.kinds == {"number"}:
        yield f"proposed: numbers of up to {digits}"
    elif seen.kinds == {"boolean"}:
        yield "proposed: true and false"
    else:
        mixed = f" ({' and '.join(sorted(seen.kinds))})" if len(seen.kinds) > 1 else ""
        yield f"proposed: text of up to {seen.longest:,} characters{mixed}; times and bytes look like it"


def _conflict(one: ProposedColumn) -> str:
    return "; ".join(
        f"{result} in {count_rows(seen.count)}, from {show_place(seen)} on"
        for result, seen in sorted(one.evidence.types.items())[:4]
    )


def count_rows(count: int) -> str:
    """Return a number of rows, in the singular for one."""
    return f"{count:,} row{'s' if count != 1 else ''}"


def show_place(seen: Seen) -> str:
    """Return where something was first seen."""
    return f"{seen.first.topic} {seen.first.partition}@{seen.first.offset}"
