"""Observed shapes: the shapes of values that break their form, never the values themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from cdc_contracts.registry.core.common.findings import Finding, rule_id
from cdc_contracts.registry.core.common.json_messages import kind_of
from cdc_contracts.registry.core.common.pointers import ABSENT, follow, join_pointer, split_pointer
from cdc_contracts.registry.core.contract.envelope_schemas import show_code
from cdc_contracts.registry.core.engine.group.batch_results import BatchResult, RecordGroup
from cdc_contracts.registry.core.engine.layouts.decoder_kinds import open_tokens
from cdc_contracts.registry.core.message.envelope_times import TIME_UNIT
from cdc_contracts.registry.core.stats.reference_tally import observed_code, observed_of_one
from cdc_contracts.registry.core.validate.table_constraints import NO_INSTANT, NO_SCALE, NO_SUCH_TIME
from cdc_contracts.registry.core.values import FIRST_MISFIT, NOTED_MISFIT, Flag, Number, describe_shape
from cdc_contracts.registry.core.values.fractions import TRAILING_ZEROS

_OFF = (Flag.BROKEN, Flag.NOTED, *range(FIRST_MISFIT + NOTED_MISFIT, FIRST_MISFIT + 2 * NOTED_MISFIT))
_FLAGS_OF_CAUSES = {
    NO_SUCH_TIME: (Flag.INVALID,), NO_INSTANT: (Flag.NO_INSTANT,), NO_SCALE: (Flag.NO_SCALE,),
}  # fmt: skip


def observed_shapes(record_group: RecordGroup, finding: Finding, *, values: bool = False) -> list[str] | None:
    """Return, per record, the shape of the value that a finding is about; None if all records have the same.

    With `values` the values themselves, cut to the length of a shape.
    """
    if values and finding.name == "unknown-enum":
        return _observed_codes(record_group, finding)
    if finding.name != "value-form" or finding.rule == rule_id("value-form", TIME_UNIT):
        return None
    place = _column_at(record_group, finding.path)
    if place is None:
        members = record_group.member(finding.path)
        if members is None:
            return None
        return [show_code(_as_text(one) or "") if values else describe_shape(_as_number(one)) for one in members]
    form = finding.rule.partition(".")[2]
    pointer = place[0]
    rows, column = record_group.decoded_batch.rows[pointer], record_group.columns[place]
    wanted = _FLAGS_OF_CAUSES.get(form, _OFF)
    chunks = [
        column.chunk_of(use)
        for use in rows.image.columns[place[1]].own_uses
        if form == use.form.name or form in _FLAGS_OF_CAUSES or (form == TRAILING_ZEROS and use.context.zeros_left_out)
    ]
    flags = next((chunk.flags for chunk in chunks if chunk.flags is not None), None)
    if flags is None:
        return None
    off = np.isin(flags, wanted)
    off_rows = np.flatnonzero(off)
    records, first = np.unique(rows.record_of_row[off_rows], return_index=True)
    row_of = dict(zip(records.tolist(), off_rows[first].tolist(), strict=True))
    tokens = [
        _as_text(column.tokens[row_of[position]]) if position in row_of else None
        for position in record_group.positions.tolist()
    ]
    describe = show_code if values else describe_shape
    shapes = [one and describe(one) for one in tokens]
    return [finding.observed if shape is None else shape for shape in shapes]


def _observed_codes(record_group: RecordGroup, finding: Finding) -> list[str] | None:
    """Return the unknown code of each record; one that is not read as a member is the same in all of them."""
    codes = record_group.member(finding.path)
    if codes is None or bytes in set(map(type, codes)):
        result = observed_code(record_group.cached_verdict.readings[0], finding)
        return None if result is None else [result] * len(record_group.positions)
    texts = [_as_text(code) if type(code) in (str, int, Number) else None for code in codes]
    return [finding.observed if text is None else show_code(text) for text in texts]


def observed_kinds(record_group: RecordGroup, finding: Finding, *, values: bool = False) -> Counter[str] | None:
    """Count the kinds and shapes of the values of a wrong kind that a finding is about."""
    if finding.name != "type-change" or finding.observed in {"array", "object"}:
        return None
    place = _column_at(record_group, finding.path)
    if place is None:
        found: Iterable[Any] = record_group.member(finding.path) or _members_below(record_group, finding.path)
    else:
        rows, column = record_group.decoded_batch.rows[place[0]], record_group.columns[place]
        mine = np.isin(rows.record_of_row, record_group.positions)
        found = (column.tokens[row] for row in np.flatnonzero(mine).tolist())
    # Most values drift in the same way, so each distinct value is examined once. Without their type, 1, true and 1.0
    # would be one key.
    listed = list(found)
    alike_values = Counter(zip(map(type, listed), listed, strict=True))
    result = [(_as_text(value), n) for (_, value), n in alike_values.items() if _kind_of(value) == finding.observed]
    describe = show_code if values else describe_shape
    counts: Counter[str] = Counter()
    for text, count in result:
        if text is not None:  # a null has no shape
            counts[f"{finding.observed} {text and describe(text)}"] += count
    return counts


def _members_below(record_group: RecordGroup, path: str) -> list[Any]:
    """Return a member inside a member that batches keep unparsed, such as a map of type codes, per record."""
    parts = split_pointer(path)
    for depth in range(len(parts) - 1, 0, -1):
        whole = record_group.member(join_pointer(*parts[:depth]))
        if whole is not None:
            below = [
                follow(value, parts[depth:]) for value in open_tokens([one for one in whole if type(one) is bytes])
            ]
            return [value for value in below if value is not ABSENT]
    return []


def findings_by_record(batch_result: BatchResult, *, values: bool = False) -> list[tuple[int, tuple[Finding, ...]]]:
    """Return the findings of every record that has any, by its number in the batch, each with what it observed.

    That is the shape of a value, with `values` the value itself.
    """
    found: list[tuple[int, tuple[Finding, ...]]] = []
    for group_result in batch_result.group_results:
        findings = group_result.verdict.findings
        if not findings:
            continue
        shapes = [observed_shapes(group_result.record_group, finding, values=values) for finding in findings]
        for at, number in enumerate(group_result.record_group.numbers.tolist()):
            result = (
                finding if shape is None else replace(finding, observed=shape[at])
                for finding, shape in zip(findings, shapes, strict=True)
            )
            found.append((number, tuple(result)))
    found += [
        (number, observed_of_one(validated, values=values))
        for number, validated in batch_result.alone
        if validated.verdict.findings
    ]
    return sorted(found, key=lambda entry: entry[0])


def _column_at(record_group: RecordGroup, path: str) -> tuple[str, int] | None:
    for pointer, rows in record_group.decoded_batch.rows.items():
        for infix in ("/0", ""):
            head = f"{pointer}{infix}/"
            if path.startswith(head):
                for index, column in enumerate(rows.image.columns):
                    if head + join_pointer(column.name)[1:] == path and (pointer, index) in record_group.columns:
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


def _as_number(value: Any) -> Any:
    return Number(str(value)) if type(value) is int else value
