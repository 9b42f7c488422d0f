"""Batch tables: which table each record of a decoded batch is of, found for all of them at once.

Where a verdict does not depend on the name of a table, records of many tables share one, and their tables stand here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cdc_contracts.registry.core.common.named_tuples import make_all
from cdc_contracts.registry.core.contract.envelope_model import Envelope
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.table_contracts import table_name
from cdc_contracts.registry.core.engine.layouts.decoded_batches import DecodedBatch
from cdc_contracts.registry.core.message.reading import TableNames, name_table, names_outside, split_names

Codes = NDArray[np.int64]
Names = Sequence[str | None]


@dataclass(frozen=True, eq=False)
class Tables:
    """The tables of some records: `codes` has for each record the place of its table in `names` and in `called`.

    `called` is what findings and table contracts call it: that may be the same for tables with other names.
    """

    codes: Codes
    names: Sequence[TableNames]
    called: Sequence[str | None]

    def numbered(self, known: dict[str | None, int]) -> Codes:
        """Return the table of each record by what it is called, as its number in `known`, which learns new ones."""
        if len(self.called) == 1:
            return np.full(len(self.codes), known.setdefault(self.called[0], len(known)), np.int64)
        held = self.held()
        numbers = np.zeros(len(self.called), np.int64)
        numbers[held] = [known.setdefault(self.called[code], len(known)) for code in held]
        return numbers[self.codes]

    def marked(self, holds: Callable[[str | None], bool]) -> NDArray[np.bool_]:
        """Return for each record whether a condition holds for the name of its table."""
        if len(self.called) == 1:
            return np.full(len(self.codes), holds(self.called[0]), np.bool_)
        held = self.held()
        marks = np.zeros(len(self.called), np.bool_)
        marks[held] = [holds(self.called[code]) for code in held]
        return marks[self.codes]

    def held(self) -> list[int]:
        """Return the places of the tables that some record is of."""
        places: list[int] = np.flatnonzero(np.bincount(self.codes, minlength=len(self.called))).tolist()
        return places

    def each(self) -> list[TableNames]:
        """Return the names of the table of each record."""
        names = self.names
        return [names[code] for code in self.codes.tolist()]

    def totals(self) -> dict[str | None, int]:
        """Return how many records there are of each table."""
        counts = np.bincount(self.codes, minlength=len(self.called)).tolist()
        held = self.held()
        totals = {self.called[code]: counts[code] for code in held}
        if len(totals) < len(held):  # names that differ in the tenant, or in where their dots are, are called the same
            totals = dict.fromkeys(totals, 0)
            for code in held:
                totals[self.called[code]] += counts[code]
        return totals

    def select(self, positions: Any) -> Tables:
        """Return the tables of some of the records."""
        return Tables(self.codes[positions], self.names, self.called)


def table_of_all(names: TableNames, records: int) -> Tables:
    """Return the one table that some records are of."""
    return Tables(np.zeros(records, np.int64), [names], [names.text])


def join_tables(parts: Sequence[Tables]) -> Tables:
    """Return the tables of some records after those of others; those of parts of several tables may be there twice."""
    if len(parts) == 1:
        return parts[0]
    names: list[TableNames] = []
    called: list[str | None] = []
    codes = []
    starts: dict[int | TableNames, int] = {}
    for part in parts:
        start = starts.setdefault(part.names[0] if len(part.names) == 1 else id(part.names), len(names))
        if start == len(names):
            names += part.names
            called += part.called
        codes.append(part.codes + start)
    return Tables(np.concatenate(codes), names, called)


class BatchTables:
    """The tables of a decoded batch as the versions of a subject read them, which has to be the same for all."""

    def __init__(self, decoded_batch: DecodedBatch, meaning: Meaning, options: ReadingOptions) -> None:
        self._decoded_batch, self._meaning, self._options = decoded_batch, meaning, options

    @cached_property
    def tables(self) -> Tables:
        """The table of each record."""
        envelope, total = self._meaning.envelope, len(self._decoded_batch)
        outside = None
        if envelope.table is not None and envelope.table.source is not None:
            outside = names_outside(self._options, self._meaning)
            if envelope.table.at is None:
                return table_of_all(outside.names, total)
        places = (envelope.database, envelope.schema_name, envelope.table, envelope.database_table)
        codes = np.zeros(total, np.int64)
        columns: list[Names] = []
        for place in places:
            values = self._decoded_batch.members.get(place.at or "") if place is not None else None
            own, found = (codes, [None]) if values is None else values.distinct
            texts = [value if type(value) is str else None for value in found]
            codes, columns = _combine(codes, columns, own, texts)
        names = _split(envelope, columns)
        names = names if outside is None else [name_table(said, outside) for said in names]
        if len(known := dict.fromkeys(names)) < len(names):
            numbers = {one: number for number, one in enumerate(known)}
            codes, names = np.array([numbers[one] for one in names])[codes], [*known]
        return Tables(codes, names, _call(names))


def _combine(codes: Codes, columns: list[Names], own: NDArray[Any], found: Names) -> tuple[Codes, list[Names]]:
    """Return combinations of names, a column each, with one name more, and which of them each record has."""
    total = len(columns[0]) if columns else 1
    if len(found) == 1:
        return codes, [*columns, [found[0]] * total]
    if total == 1:
        return own.astype(np.int64), [*([column[0]] * len(found) for column in columns), found]
    both, codes = np.unique(codes * len(found) + own, return_inverse=True)
    left, right = (places.tolist() for places in np.divmod(both, len(found)))
    return codes, [*([column[one] for one in left] for column in columns), [found[one] for one in right]]


def _split(envelope: Envelope, columns: Sequence[Names]) -> list[TableNames]:
    """Return the names of tables; only what a contract splits is looked at name by name."""
    databases, schemas, tables, joined = columns
    if (envelope.database is None or envelope.database.split is None) and envelope.database_table is None:
        return list(make_all(TableNames, zip(repeat(None), databases, schemas, tables)))
    return [
        split_names(envelope.database, database, schema, table, envelope.database_table, both)
        for database, schema, table, both in zip(databases, schemas, tables, joined, strict=True)
    ]


def _call(names: Sequence[TableNames]) -> list[str | None]:
    """Return what findings call each table."""
    _, databases, schemas, tables = zip(*names, strict=True)
    if len(set(databases)) == len(set(schemas)) == 1 and all(tables):
        head = table_name(databases[0], schemas[0], "")
        return [f"{head}.{table}" for table in tables] if head else list(tables)
    return [one.text for one in names]
