"""What was observed where a value breaks its form: the shape of each value, never the value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from cdc_contracts.registry.findings import Finding
from cdc_contracts.registry.forms import Flag, Number, describe_shape, describe_shapes
from cdc_contracts.registry.kernel.judging import Alike, Bench
from cdc_contracts.registry.messages import kind_of
from cdc_contracts.registry.pointers import join_pointer

_OFF = (Flag.BROKEN, Flag.NOTED)


def observed_shapes(alike: Alike, finding: Finding) -> list[str] | None:
    """Return the shape per record that a finding on a value saw; None where what is observed is the same for all."""
    if finding.name != "value-form":
        return None
    place = _column_at(alike, finding.path)
    if place is None:
        values = alike.member(finding.path)
        return None if values is None else [describe_shape(_as_told(value)) for value in values]
    form = finding.rule.partition(".")[2]
    pointer = place[0]
    rows, column = alike.sheet.rows[pointer], alike.columns[place]
    chunk = next((chunk for use, chunk in column.chunks.items() if use.form.name == form), None)
    if chunk is None or chunk.flags is None:
        return None
    off = np.isin(chunk.flags, _OFF)
    off_rows = np.flatnonzero(off)
    records, first = np.unique(rows.record_of_row[off_rows], return_index=True)
    row_of = dict(zip(records.tolist(), off_rows[first].tolist(), strict=True))
    tokens = [
        _as_text(column.tokens[row_of[position]]) if position in row_of else None
        for position in alike.positions.tolist()
    ]
    shapes: list[str | None] = describe_shapes(pa.array(tokens, pa.string())).to_pylist()
    return [finding.observed if shape is None else shape for shape in shapes]


def observed_kinds(alike: Alike, finding: Finding) -> Counter[str] | None:
    """Count kind and shape of the values that a finding saw which are of another kind than they should be."""
    if finding.name != "type-change":
        return None
    place = _column_at(alike, finding.path)
    if place is None:
        values: Iterable[Any] = alike.member(finding.path) or ()
    else:
        rows, column = alike.sheet.rows[place[0]], alike.columns[place]
        mine = np.isin(rows.record_of_row, alike.positions)
        values = (column.tokens[row] for row in np.flatnonzero(mine).tolist())
    told = [_as_text(value) for value in values if _kind_of(value) == finding.observed]
    shapes = describe_shapes(pa.array(told, pa.string())).value_counts().to_pylist()
    return Counter({f"{finding.observed} {one['values']}": one["counts"] for one in shapes})


def findings_by_record(bench: Bench) -> list[tuple[int, tuple[Finding, ...]]]:
    """Return the findings of every record that has any, by its number in the batch, each with what it observed."""
    found: list[tuple[int, tuple[Finding, ...]]] = []
    for ruling in bench.rulings:
        findings = ruling.verdict.findings
        if not findings:
            continue
        shapes = [observed_shapes(ruling.alike, finding) for finding in findings]
        for at, number in enumerate(ruling.alike.numbers.tolist()):
            told = (
                finding if shape is None else replace(finding, observed=shape[at])
                for finding, shape in zip(findings, shapes, strict=True)
            )
            found.append((number, tuple(told)))
    found += [(number, judged.verdict.findings) for number, judged in bench.alone if judged.verdict.findings]
    return sorted(found, key=lambda entry: entry[0])


def _column_at(alike: Alike, path: str) -> tuple[str, int] | None:
    for pointer, rows in alike.sheet.rows.items():
        for infix in ("/0", ""):
            head = f"{pointer}{infix}/"
            if path.startswith(head):
                for index, column in enumerate(rows.image.columns):
                    if head + join_pointer(column.name)[1:] == path and (pointer, index) in alike.columns:
                        return pointer, index
    return None


def _as_text(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, Number):
        return value.token
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value) if isinstance(value, float) else str(value)


def _kind_of(value: Any) -> str:
    """Return the JSON kind of a value as the parser made it."""
    if isinstance(value, bytes | int | float) and not isinstance(value, bool):
        return "number"
    return kind_of(value)


def _as_told(value: Any) -> Any:
    return Number(str(value)) if type(value) is int else value
