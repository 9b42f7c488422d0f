"""Witness: the evidence in records as the kernel judges them, read once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa

from cdc_contracts.registry.canonical.sightings import TableName
from cdc_contracts.registry.collection import put_off_collection
from cdc_contracts.registry.forms import Number
from cdc_contracts.registry.inference.evidence import Evidence
from cdc_contracts.registry.inference.observation import observe
from cdc_contracts.registry.kernel.batches import Batch, cut
from cdc_contracts.registry.kernel.emission import write_changes
from cdc_contracts.registry.kernel.exclusion import exclude
from cdc_contracts.registry.kernel.judging import Bench, Ruling
from cdc_contracts.registry.kernel.kernel import Kernel
from cdc_contracts.registry.kernel.opening import open_wrapped
from cdc_contracts.registry.kernel.sighting import sight
from cdc_contracts.registry.reading import Reading
from cdc_contracts.registry.scope import Judged
from cdc_contracts.registry.verdicts import CONFORMING, QUARANTINED

_KINDS: Final = {str: "text", bool: "boolean", int: "number", float: "number", bytes: "number", Number: "number"}


def witness(kernel: Kernel, records: pa.RecordBatch) -> Evidence:
    """Return what a batch of records shows of the tables whose rows it has."""
    terms = kernel.scope.terms
    evidence = Evidence(read=records.num_rows)
    with put_off_collection():
        for batch in cut(records):
            if terms.wrapping is not None:
                batch, closed, _ = open_wrapped(batch, terms.wrapping)  # noqa: PLW2901  what it holds
                evidence.left_out += len(closed)
            for part, bench in kernel.benches(batch.records):
                chosen = exclude(bench, part, terms.selection)[0] if terms.selection else bench
                _take(evidence, part, chosen)
    return evidence


def _take(evidence: Evidence, batch: Batch, bench: Bench) -> None:
    evidence.merge(observe(write_changes(bench, batch)))
    evidence.sightings.merge(sight(bench))
    evidence.left_out += len(bench.having(QUARANTINED))
    for table, mapping in _mappings_in(bench):
        if table in evidence.tables:
            evidence.tables[table].mappings.add(mapping)
    for table, column, kind in _kinds_in(bench):
        if table in evidence.tables and column in evidence.tables[table].columns:
            evidence.tables[table].columns[column].kinds.add(kind)


def _mappings_in(bench: Bench) -> Iterator[tuple[TableName, str]]:
    """Yield the value mapping that the rows of each table are read by."""
    for ruling in bench.rulings:
        if ruling.verdict.outcome == CONFORMING:
            precedent = ruling.alike.precedent
            for opinion, reading in zip(precedent.opinions, precedent.readings, strict=True):
                if opinion.version is ruling.verdict.version:
                    yield _name_of(reading), reading.mapping_name
    for _, judged in bench.alone:
        if judged.changes and judged.reading is not None:
            yield _name_of(judged.reading), judged.reading.mapping_name


def _kinds_in(bench: Bench) -> Iterator[tuple[TableName, str, str]]:
    """Yield the JSON kinds of the values of columns that messages tell no type of."""
    for ruling in bench.rulings:
        if ruling.verdict.outcome == CONFORMING:
            yield from _kinds_of_ruling(ruling)
    for _, judged in bench.alone:
        if judged.changes and judged.reading is not None and judged.reading.meaning.columns.types == "none":
            yield from _kinds_of_one(judged, judged.reading)


def _kinds_of_ruling(ruling: Ruling) -> Iterator[tuple[TableName, str, str]]:
    alike = ruling.alike
    table = _name_of(alike.precedent.readings[0])
    for (pointer, index), values in alike.columns.items():
        column = alike.sheet.rows[pointer].image.columns[index]
        if column.by_kind:
            for kind in {_KINDS[one] for one in set(map(type, values.values)) if one in _KINDS}:
                yield table, column.name, kind


def _kinds_of_one(judged: Judged, reading: Reading) -> Iterator[tuple[TableName, str, str]]:
    sides = reading.meaning.images.of(reading.op or "")
    for side in (sides.before, sides.after) if sides else ():
        source = reading.source(side) if side is not None else None
        for row in (reading.rows(source) or ()) if source is not None else ():
            for name, value in row.items():
                if type(value) in _KINDS:
                    yield _name_of(reading), name, _KINDS[type(value)]


def _name_of(reading: Reading) -> TableName:
    names: Any = reading.names
    return TableName.of(names.database, names.schema, names.table)
