"""Table comparison of versions of table contracts: whether rows that conform to the old one conform to the new."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.resources.abc import Traversable
from typing import Any, Final

from cdc_contracts.registry.common.pointers import join_pointer
from cdc_contracts.registry.compat.compatibility_rule import CompatibilityRule
from cdc_contracts.registry.compat.compatibility_verdict import (
    BREAKING,
    NOTE,
    UNDECIDED,
    CompatibilityFinding,
    CompatibilityVerdict,
    TextPlace,
    conclude,
)
from cdc_contracts.registry.compat.levels import BACKWARD, Level, Policy
from cdc_contracts.registry.compat.tables import table_rules
from cdc_contracts.registry.compat.text_places import find_positions
from cdc_contracts.registry.contract.table_contracts import TableColumn, TableContract
from cdc_contracts.registry.values.type_ranges import NARROWER, OTHER, SHORTER, UNKNOWN, WIDER, compare_types

_SEVERITIES: Final = (BREAKING, UNDECIDED, NOTE)
_BY_TYPE: Final[Mapping[str, CompatibilityRule]] = {
    OTHER: table_rules.TYPE_CHANGED,
    NARROWER: table_rules.TYPE_NARROWED,
    SHORTER: table_rules.LENGTH_SHORTENED,
    WIDER: table_rules.TYPE_WIDENED,
    UNKNOWN: table_rules.TYPE_UNDECIDED,
}


@dataclass(frozen=True)
class FiledTable:
    """A table contract and the file it stands in, if it stands in one."""

    contract: TableContract
    file: Traversable | None = None


def compare_tables(old: Iterable[FiledTable], new: Iterable[FiledTable]) -> CompatibilityVerdict:
    """Return whether rows that kept to the old contracts keep to the new ones; tables are found by their names.

    The path of a finding begins with the name of its table.
    """
    before = {one.contract.table: one for one in old}
    after = {one.contract.table: one for one in new}
    found: list[CompatibilityFinding] = []
    for name in dict.fromkeys([*before, *after]):
        one, other = before.get(name), after.get(name)
        if one is not None and other is not None:
            found += _located(compare_table(one.contract, other.contract), one, other)
        elif one is not None:
            found += _located([_finding(table_rules.TABLE_REMOVED, one.contract, None, "", name, None)], one, None)
        elif other is not None:
            found += _located([_finding(table_rules.TABLE_ADDED, None, other.contract, "", None, name)], None, other)
    ordered = tuple(sorted(found, key=lambda finding: _SEVERITIES.index(finding.severity)))
    return conclude(Level.BACKWARD, Policy.CDC, ordered)


def compare_table(old: TableContract, new: TableContract) -> list[CompatibilityFinding]:
    """Return how two contracts of one table differ; comments do not count."""
    found = [_finding(rule, old, new, *rest) for rule, *rest in _differences(old, new)]
    numbered = old.version is not None and new.version is not None
    if numbered and (new.version < old.version or (new.version == old.version and found)):  # type: ignore[operator]
        found.append(_finding(table_rules.VERSION_KEPT, old, new, "/version", old.version, new.version))
    return found


def _differences(old: TableContract, new: TableContract) -> Iterator[tuple[CompatibilityRule, str, Any, Any]]:
    for name, column in old.columns.items():
        path = join_pointer("columns", name)
        if name in new.columns:
            yield from _column_differences(path, name, old, new)
        else:
            yield table_rules.COLUMN_REMOVED, path, _said(column), None
    for name, column in new.columns.items():
        if name not in old.columns:
            rule = table_rules.COLUMN_ADDED if new.may_be_null(name) else table_rules.REQUIRED_ADDED
            yield rule, join_pointer("columns", name), None, _said(column)
    if old.primary_key != new.primary_key:
        yield table_rules.KEY_CHANGED, "/primary_key", _listed(old.primary_key), _listed(new.primary_key)
    if old.zone != new.zone:  # Z and +00:00 are one
        yield table_rules.ZONE_CHANGED, "/source_time_zone", old.source_time_zone, new.source_time_zone


def _column_differences(
    path: str, name: str, old: TableContract, new: TableContract
) -> Iterator[tuple[CompatibilityRule, str, Any, Any]]:
    before, after = old.types[name], new.types[name]
    rule = _BY_TYPE.get(compare_types(before, after))
    if rule is not None:
        yield rule, f"{path}/type", before, after
    if old.may_be_null(name) != new.may_be_null(name):
        rule = table_rules.NOW_NULLABLE if new.may_be_null(name) else table_rules.NOT_NULL
        yield rule, f"{path}/nullable", old.may_be_null(name), new.may_be_null(name)


def _finding(
    rule: CompatibilityRule, old: TableContract | None, new: TableContract | None, path: str, said: Any, says: Any
) -> CompatibilityFinding:
    either = old or new
    assert either is not None  # noqa: S101  a finding is about one of them
    before, after = (one.reference if one is not None else either.table for one in (old, new))
    return CompatibilityFinding(
        rule=rule.id, name=rule.name, severity=rule.severity, direction=BACKWARD,
        path=join_pointer(either.table) + path,
        old=said, new=says, old_version=before, new_version=after,
        old_place=None if said is None else TextPlace(path), new_place=None if says is None else TextPlace(path),
        says=rule.says, action=rule.action,
    )  # fmt: skip


def _located(
    findings: Iterable[CompatibilityFinding], old: FiledTable | None, new: FiledTable | None
) -> Iterator[CompatibilityFinding]:
    """Yield findings with the line and column in the files that the contracts stand in."""
    findings = tuple(findings)
    olds = _positions(old, {one.old_place.pointer for one in findings if one.old_place})
    news = _positions(new, {one.new_place.pointer for one in findings if one.new_place})
    for finding in findings:
        yield replace(
            finding, old_place=_placed(finding.old_place, old, olds), new_place=_placed(finding.new_place, new, news)
        )


def _positions(table: FiledTable | None, pointers: set[str]) -> Mapping[str, tuple[int, int]]:
    if table is None or table.file is None:
        return {}
    return find_positions(table.file.read_text(encoding="utf-8"), pointers)


def _placed(
    place: TextPlace | None, table: FiledTable | None, known: Mapping[str, tuple[int, int]]
) -> TextPlace | None:
    if place is None or table is None or table.file is None:
        return place
    line, column = known.get(place.pointer, (None, None))
    return TextPlace(place.pointer, str(table.file), line, column)


def _said(column: TableColumn) -> dict[str, Any]:
    return column.model_dump(exclude={"comment"})


def _listed(names: tuple[str, ...]) -> list[str] | None:
    return list(names) or None
