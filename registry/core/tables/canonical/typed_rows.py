"""Typed rows: the rows of `changes/` as rows of canonical tables.

Everything is done by column over all rows at once. A value stays what it was or stays text: each one of an image is
either in its typed column or, under the name `after.NAME` or `before.NAME`, in `_raw`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cdc_contracts.registry.core.contract.table_families import NO_FAMILIES, TableFamilies
from cdc_contracts.registry.core.engine.native.typed_columns import place_keys, read_texts
from cdc_contracts.registry.core.engine.write.decoded_rows import UntypedRows
from cdc_contracts.registry.core.engine.write.placed_images import PlacedImages
from cdc_contracts.registry.core.stats.observed_columns import TableName
from cdc_contracts.registry.core.tables.canonical.canonical_names import canonical_name
from cdc_contracts.registry.core.tables.canonical.table_layouts import FLAT, METADATA, SHARD, TableLayout
from cdc_contracts.registry.core.tables.canonical.typed_values import ReadColumn, read_column

Mask = NDArray[np.bool_]
Places = NDArray[np.int64]

_NAME: Final = ("database", "schema", "table")
_SIDES: Final = ("before", "after")
_RENAMED: Final = {field_name: field_name.removeprefix("_") for field_name in (*METADATA.names, *SHARD.names)}


def split_by_table(changes: Any, families: TableFamilies = NO_FAMILIES) -> Iterator[tuple[TableName, Any]]:
    """Yield the rows of each typed table, in their order, by the order of the tables' names.

    The rows are those of `changes/` or `UntypedRows`, and so are the parts. Rows that name no table are those of a
    table without a name; those of all shards of a family are of one table, which comes where its first shard does.
    """
    columns = changes.columns if isinstance(changes, UntypedRows) else changes
    if not len(columns):
        return
    alike = isinstance(changes, UntypedRows) and changes.of_one_table
    codes = np.zeros(0, np.int64) if alike else _join_shards(columns, _codes_of_tables(columns), families)
    if _are_alike(codes):
        yield canonical_name(_name_of(columns), families), changes
        return
    order = np.argsort(codes, kind="stable")
    ordered = columns.take(pa.array(order))
    cuts = np.flatnonzero(np.diff(codes[order])) + 1
    for start, end in zip([0, *cuts.tolist()], [*cuts.tolist(), len(order)], strict=True):
        rows = ordered.slice(start, end - start)
        if isinstance(changes, UntypedRows):
            yield canonical_name(_name_of(rows), families), UntypedRows(rows, changes.images.select(order[start:end]))
        else:
            yield canonical_name(_name_of(rows), families), rows


def count_by_table(changes: pa.RecordBatch | UntypedRows) -> Counter[TableName]:
    """Return the number of rows of each source table."""
    columns = changes.columns if isinstance(changes, UntypedRows) else changes
    alike = isinstance(changes, UntypedRows) and changes.of_one_table
    codes = np.zeros(0, np.int64) if alike else _codes_of_tables(columns)
    if _are_alike(codes):
        return Counter({_name_of(columns): len(columns)} if len(columns) else {})
    _, firsts, counts = np.unique(codes, return_index=True, return_counts=True)
    totals = Counter[TableName]()
    for name, count in zip(_names_at(columns, firsts), counts.tolist(), strict=True):
        totals[name] += count
    return totals


def _codes_of_tables(changes: pa.RecordBatch) -> NDArray[np.int64]:
    """Return a code of the table of each row, by the order of the tables' names."""
    codes = np.zeros(changes.num_rows, np.int64)
    for name in _NAME:
        column = changes.column(name).dictionary_encode(null_encoding="encode")
        known = column.dictionary.to_pylist()
        rank = {text: place for place, text in enumerate(sorted(known, key=lambda text: (text is not None, text)))}
        ranks = np.array([rank[text] for text in known], np.int64)
        codes = codes * len(known) + ranks[column.indices.to_numpy(zero_copy_only=False)]
    return codes


def _join_shards(changes: pa.RecordBatch, codes: NDArray[np.int64], families: TableFamilies) -> NDArray[np.int64]:
    """Return a code of the typed table of each row, given one of its source table: shards get that of their first."""
    if not families:
        return codes
    _, firsts, tables = np.unique(codes, return_index=True, return_inverse=True)
    typed: dict[TableName, int] = {}
    numbers = [typed.setdefault(canonical_name(name, families), len(typed)) for name in _names_at(changes, firsts)]
    return np.array(numbers, np.int64)[tables]


def _names_at(changes: pa.RecordBatch, rows: NDArray[np.int64]) -> Iterator[TableName]:
    for name in changes.select(_NAME).take(pa.array(rows)).to_pylist():
        yield TableName.of(*name.values())


def _are_alike(codes: NDArray[np.int64]) -> bool:
    return not len(codes) or bool(codes[0] == codes[-1] and (codes == codes[0]).all())


def _name_of(rows: pa.RecordBatch) -> TableName:
    database, schema, table = (rows.column(name)[0].as_py() for name in _NAME)
    return TableName.of(database, schema, table)


def type_rows(changes: pa.RecordBatch | UntypedRows, layout: TableLayout) -> tuple[pa.RecordBatch, dict[str, int]]:
    """Return rows of one table in its layout, and how many values of each column are in `_raw`.

    The rows are those of `changes/` (`CHANGES_SCHEMA`), or what these are made of. In a flat layout the image before
    the change is that of rows that have none after it.
    """
    rows, columns = len(changes), changes.columns if isinstance(changes, UntypedRows) else changes
    kept_as_text = _kept_as_text(changes, layout)
    raw, named = _Entries(rows), _Entries(rows)
    sides = {side: _held_of(changes, side, layout) for side in _SIDES}
    flat = layout.shape == FLAT
    shown = {"before": sides["before"].there & ~sides["after"].there, "after": sides["after"].there} if flat else {}
    for side, held in sides.items():
        prefix = "" if flat else f"{side}."
        if len(held.other_rows):
            raw.add_all(*held.others(prefix, shown.get(side)))
        for place, column in enumerate(layout.columns):
            lacking = held.lacks(place)
            named.add(prefix, column.name, shown[side] & ~lacking if flat else lacking)
    typed: list[pa.Array] = []
    for place, column in enumerate(layout.columns):
        # Both sides at once: for tables of few rows the calls are what takes time.
        plain = (
            None
            if place in kept_as_text
            else read_texts([(held.items, held.places[place]) for held in sides.values()], column.type)
        )
        if plain is not None:
            typed.append(plain)
            continue
        texts = pa.concat_arrays([held.texts(place) for held in sides.values()])
        values, left = _read(texts, column.type, kept_as_text.get(place))
        if left is not None:
            for side, start in zip(_SIDES, (0, rows), strict=True):
                kept = left[start : start + rows]
                prefix = "" if flat else f"{side}."
                raw.add(prefix, column.name, kept & shown[side] if flat else kept, texts.slice(start, rows))
        typed.append(values)
    if flat:
        images = _one_image(typed, shown)
        made = {"_columns": named.as_lists(shown["before"] | shown["after"]), "_raw": raw.as_maps()}
    else:
        images = [] if not layout.columns else [
            pa.StructArray.from_arrays(
                [values.slice(start, rows) for values in typed], fields=list(layout.image),
                mask=None if held.there.all() else pa.array(~held.there),
            )
            for held, start in zip(sides.values(), (0, rows), strict=True)
        ]  # fmt: skip
        made = {"_absent": named.as_lists(), "_raw": raw.as_maps()}
    metadata = [
        made[one.name] if one.name in made else _as_type(columns.column(_RENAMED[one.name]), one.type)
        for one in layout.metadata
    ]
    return pa.RecordBatch.from_arrays([*metadata, *images], schema=layout.arrow), raw.counts()


def _one_image(typed: list[pa.Array], shown: dict[str, Mask]) -> list[pa.Array]:
    """Return the columns of the image that each row shows, of the values of both: those before, then those after."""
    rows = len(shown["after"])
    if shown["after"].all():
        return [values.slice(rows) for values in typed]
    places = np.arange(rows) + np.where(shown["after"], rows, 0)
    chosen = pa.array(places, mask=~(shown["before"] | shown["after"]))
    return [values.take(chosen) for values in typed]


def _as_type(column: pa.Array, type_: pa.DataType) -> pa.Array:
    return column if column.type == type_ else column.cast(type_)


def _read(texts: pa.Array, type_: pa.DataType, kept_as_text: Mask | None) -> ReadColumn:
    """Read the texts of both sides of a column, but for those that are kept as text."""
    if kept_as_text is None:
        return read_column(texts, type_)
    kept = kept_as_text & texts.is_valid().to_numpy(zero_copy_only=False)
    values, unread = read_column(pc.if_else(pa.array(kept), None, texts), type_)
    return ReadColumn(values, kept if unread is None else kept | unread)


@dataclass
class _Held:
    """The images of one side: where the text of each row and column of a layout is, -1 where there is none."""

    there: Mask
    places: Places
    items: pa.Array
    other_rows: Places
    other_places: Places
    other_names: pa.Array

    @classmethod
    def placed(cls, images: PlacedImages, layout: TableLayout) -> _Held:
        found = images.by_name({column.name: place for place, column in enumerate(layout.columns)})
        names = pa.array(found.other_names, pa.string())
        return cls(found.there, found.places, images.texts, found.other_rows, found.other_places, names)

    @classmethod
    def of(cls, images: pa.MapArray, layout: TableLayout) -> _Held:
        there = images.is_valid().to_numpy(zero_copy_only=False)
        offsets = images.offsets.to_numpy()
        first, last = int(offsets[0]), int(offsets[-1])
        keys, items = images.keys.slice(first, last - first), images.items.slice(first, last - first)
        placed = place_keys(images, [column.name for column in layout.columns])
        if placed is not None:
            others = placed.others
            row_of = np.searchsorted(offsets, others + first, side="right") - 1
            return cls(there, placed.places, items, row_of, others, keys.take(pa.array(others)))
        row_of = np.repeat(np.arange(len(images)), np.diff(offsets))
        encoded = keys.dictionary_encode()
        known = {column.name: place for place, column in enumerate(layout.columns)}
        column_of = np.array([known.get(name, -1) for name in encoded.dictionary.to_pylist()], np.int64)
        columns = column_of[encoded.indices.to_numpy()] if len(keys) else np.zeros(0, np.int64)
        mine = columns >= 0
        if len(there) and not there.all():  # entries under a null do not count
            mine &= there[row_of]
        places = np.full((len(layout.columns), len(images)), -1, np.int64)
        places[columns[mine], row_of[mine]] = np.flatnonzero(mine)
        others = np.flatnonzero((columns < 0) & there[row_of])
        return cls(there, places, items, row_of[others], others, keys.take(pa.array(others)))

    def texts(self, column: int) -> pa.Array:
        places = self.places[column]
        return self.items.take(pa.array(places, mask=places < 0))

    def lacks(self, column: int) -> Mask:
        lacks: Mask = self.there & (self.places[column] < 0)
        return lacks

    def others(self, prefix: str, shown: Mask | None) -> tuple[str, list[str], Places, Places, pa.Array]:
        """Return what the layout has no column for, of rows that are shown (None: all), as `_Entries.add_all` takes it.

        That is names, the name and row of each entry, and texts, NULLs too.
        """
        wanted = np.arange(len(self.other_rows)) if shown is None else np.flatnonzero(shown[self.other_rows])
        encoded = self.other_names.take(pa.array(wanted)).dictionary_encode()
        codes = encoded.indices.to_numpy().astype(np.int64)
        texts = self.items.take(pa.array(self.other_places[wanted]))
        return prefix, encoded.dictionary.to_pylist(), codes, self.other_rows[wanted], texts


@dataclass
class _Entries:
    """Names, or names with texts, that some of the rows have; in the order they were added.

    `names` have the prefix of their image, `columns` not.
    """

    total: int
    columns: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    codes: list[Places] = field(default_factory=list)
    rows: list[Places] = field(default_factory=list)
    texts: list[pa.Array] = field(default_factory=list)

    def add(self, prefix: str, name: str, marked: Mask, texts: pa.Array | None = None) -> None:
        rows = np.flatnonzero(marked)
        if len(rows):
            texts = None if texts is None else texts.take(pa.array(rows))
            self.add_all(prefix, [name], np.zeros(len(rows), np.int64), rows, texts)

    def add_all(self, prefix: str, names: list[str], codes: Places, rows: Places, texts: pa.Array | None) -> None:
        """Add entries; `codes` says which of the names each has."""
        self.codes.append(codes + len(self.names))
        self.columns += names
        self.names += [f"{prefix}{name}" for name in names]
        self.rows.append(rows)
        if texts is not None:
            self.texts.append(texts)

    def counts(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        each = np.bincount(np.concatenate(self.codes), minlength=len(self.names)) if self.codes else ()
        for column, count in zip(self.columns, map(int, each), strict=True):
            counts[column] = counts.get(column, 0) + count
        return counts

    def as_lists(self, there: Mask | None = None) -> pa.Array:
        """Return the names of each row; null where `there` says that it has none."""
        offsets, order, names = self._laid_out()
        missing = None if there is None or there.all() else pa.array(~there)
        return pa.ListArray.from_arrays(offsets, names.take(order), mask=missing)

    def as_maps(self) -> pa.Array:
        offsets, order, names = self._laid_out()
        texts = pa.concat_arrays(self.texts) if self.texts else pa.array([], pa.string())
        return pa.MapArray.from_arrays(offsets, names.take(order), texts.take(order))

    def _laid_out(self) -> tuple[pa.Array, pa.Array, pa.Array]:
        """Return the offsets of the rows, the order that brings the entries there, and the name of each entry."""
        rows = np.concatenate(self.rows) if self.rows else np.zeros(0, np.int64)
        counts = np.bincount(rows, minlength=self.total)
        offsets = pa.array(np.concatenate([[0], np.cumsum(counts)]).astype(np.int32))
        codes = np.concatenate(self.codes) if self.codes else np.zeros(0, np.int64)
        names = pa.array(self.names, pa.string()).take(pa.array(codes))
        return offsets, pa.array(np.argsort(rows, kind="stable")), names


def _held_of(changes: pa.RecordBatch | UntypedRows, side: str, layout: TableLayout) -> _Held:
    if isinstance(changes, UntypedRows):
        return _Held.placed(changes.images.side(side), layout)
    return _Held.of(changes.column(side), layout)


def _kept_as_text(changes: pa.RecordBatch | UntypedRows, layout: TableLayout) -> dict[int, Mask]:
    """Return which values of each column, those before and then those after, are text whatever they look like.

    These are what does not have its form and, in columns of bytes, what has no type: any four letters may be Base64.
    """
    found = _invalid(changes.columns if isinstance(changes, UntypedRows) else changes, layout)
    binary = [place for place, column in enumerate(layout.columns) if pa.types.is_binary(column.type)]
    if binary:
        have_type = _typed_rows(changes, layout)
        for place in binary:
            untyped = np.tile(~have_type(place), len(_SIDES))
            if untyped.any():
                found[place] = untyped | found[place] if place in found else untyped
    return found


def _typed_rows(changes: pa.RecordBatch | UntypedRows, layout: TableLayout) -> Callable[[int], Mask]:
    """Return what says of which rows a column has a type."""
    if isinstance(changes, UntypedRows):
        return lambda place: changes.images.have_type(layout.columns[place].name)
    places = _Held.of(changes.column("column_types"), layout).places
    return lambda place: places[place] >= 0


def _invalid(changes: pa.RecordBatch, layout: TableLayout) -> dict[int, Mask]:
    """Return which values of each column, those before and then those after, do not have their form.

    Files of earlier releases do not say on which side a column has such a value: there it is both.
    """
    columns, values = changes.column("invalid"), changes.column("invalid_values")
    if not len(columns.flatten()):
        return {}
    result = np.tile(values.is_valid().to_numpy(zero_copy_only=False), len(_SIDES))
    found = {}
    for place, column in enumerate(layout.columns):
        either = _rows_naming(columns, column.name)
        if either.any():
            each = np.concatenate([_rows_naming(values, f"{side}.{column.name}") for side in _SIDES])
            found[place] = np.where(result, each, np.tile(either, len(_SIDES)))
    return found


def _rows_naming(lists: pa.ListArray, name: str) -> Mask:
    """Return the rows whose list holds a name."""
    found = np.zeros(len(lists), np.bool_)
    named = pc.equal(lists.flatten(), name).to_numpy(zero_copy_only=False)
    found[pc.list_parent_indices(lists).to_numpy()[named]] = True
    return found
