"""Table comparison of versions of table contracts: whether rows that conform to the old one conform to the new."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.resources.abc import Traversable
from typing import Any, Final

from cdc_contracts.registry.authoring.compat.compatibility_rule import (
    BREAKING,
    NOTE,
    SEVERITIES,
    UNDECIDED,
    CompatibilityRule,
)
from cdc_contracts.registry.authoring.compat.compatibility_verdict import (
    CompatibilityFinding,
    CompatibilityVerdict,
    TextPlace,
    conclude,
)
from cdc_contracts.registry.authoring.compat.levels import BACKWARD, Level, Policy
from cdc_contracts.registry.authoring.compat.text_places import find_lines
from cdc_contracts.registry.core.common.pointers import join_pointer
from cdc_contracts.registry.core.contract.table_contracts import TableColumn, TableContract
from cdc_contracts.registry.core.values.type_ranges import NARROWER, OTHER, SHORTER, UNKNOWN, WIDER, compare_types

_NEW_TABLE: Final = "Keep the column and add a new one, or decode into another folder from now on."

TABLE_REMOVED: Final = CompatibilityRule(
    id="T201", name="table-removed", severity=BREAKING,
    says="A table contract was removed: its rows are reported as an unknown table, and in dialects without types "
    "they become untyped.",
    action="Restore it as long as messages of the table are read, including old ranges.",
    good="shop.orders in both", bad="shop.orders gone",
)  # fmt: skip
COLUMN_REMOVED: Final = CompatibilityRule(
    id="T202", name="column-removed", severity=BREAKING,
    says="A column was removed: readers of the table miss it, and messages that have it drift.",
    action="Keep it, nullable, as long as messages have it.",
    good="note in both", bad="note gone",
)  # fmt: skip
TYPE_CHANGED: Final = CompatibilityRule(
    id="T203", name="type-changed", severity=BREAKING,
    says="A column has values of another kind: they are read, typed and compared differently.",
    action=_NEW_TABLE,
    good="int, then bigint", bad="int, then varchar(20)",
)  # fmt: skip
TYPE_NARROWED: Final = CompatibilityRule(
    id="T204", name="type-narrowed", severity=BREAKING,
    says="A column accepts fewer values than before: messages with the others are quarantined.",
    action="Narrow it only when no message with such a value will be read again.",
    good="decimal(10,2), then decimal(12,2)", bad="decimal(12,2), then decimal(10,2)",
)  # fmt: skip
NOT_NULL: Final = CompatibilityRule(
    id="T205", name="column-not-null", severity=BREAKING,
    says="A nullable column became NOT NULL: earlier rows may have NULL there.",
    action="Keep it nullable as long as such rows are read.",
    good="nullable: false, then nullable", bad="nullable, then nullable: false",
)  # fmt: skip
REQUIRED_ADDED: Final = CompatibilityRule(
    id="T206", name="required-column-added", severity=BREAKING,
    says="A new column is NOT NULL: earlier rows have no value for it.",
    action="Add it nullable.",
    good="note: {type: text} is new", bad="note: {type: text, nullable: false} is new",
)  # fmt: skip
KEY_CHANGED: Final = CompatibilityRule(
    id="T207", name="primary-key-changed", severity=BREAKING,
    says="Other columns identify a row: what was one row is now several, or the other way round.",
    action="Rebuild tables that hold the latest state of each row, under the new key.",
    good="primary_key: [id] in both", bad="primary_key: [id], then primary_key: [id, shop]",
)  # fmt: skip
ZONE_CHANGED: Final = CompatibilityRule(
    id="T208", name="zone-changed", severity=BREAKING,
    says="Timestamps without a zone denote other instants: rows from before and after the change cannot be compared.",
    action="Correct it only where it was wrong from the beginning, and decode the range again.",
    good='source_time_zone: "+08:00" in both', bad='source_time_zone: "+08:00", then none',
)  # fmt: skip
TYPE_UNDECIDED: Final = CompatibilityRule(
    id="T209", name="type-undecided", severity=UNDECIDED,
    says="A column changed to or from an unknown type: it cannot be decided whether it accepts the same values.",
    action="Check the manual of the database.",
    good="int, then bigint", bad="point, then geometry",
)  # fmt: skip
VERSION_KEPT: Final = CompatibilityRule(
    id="T210", name="version-not-raised", severity=BREAKING,
    says="A contract changed without a higher version number: `NAME@N` now has two meanings.",
    action="Raise `version`.",
    good="version: 1, then version: 2 with a new column", bad="version: 1 in both, one with a new column",
)  # fmt: skip
TABLE_ADDED: Final = CompatibilityRule(
    id="T221", name="table-added", severity=NOTE,
    says="A table is new.",
    action="Nothing: it is not in use yet.",
    good="shop.visits is new", bad="shop.visits takes the place of shop.orders",
)  # fmt: skip
COLUMN_ADDED: Final = CompatibilityRule(
    id="T222", name="column-added", severity=NOTE,
    says="A new column is nullable. Typed tables get it; earlier rows do not have it.",
    action="Nothing.",
    good="note: {type: text} is new", bad="note: {type: text, nullable: false} is new",
)  # fmt: skip
TYPE_WIDENED: Final = CompatibilityRule(
    id="T223", name="type-widened", severity=NOTE,
    says="A column accepts more values than before.",
    action="An existing typed table keeps its type and stores values that do not fit as text in `_raw`: decode into "
    "a new folder if you need them typed.",
    good="decimal(10,2), then decimal(12,2)", bad="decimal(12,2), then decimal(10,2)",
)  # fmt: skip
LENGTH_SHORTENED: Final = CompatibilityRule(
    id="T224", name="length-shortened", severity=NOTE,
    says="A text or binary column became shorter. Longer values are still kept in full.",
    action="Check whether earlier rows have longer values, and whether readers rely on the length.",
    good="varchar(20), then varchar(40)", bad="varchar(40), then varchar(20)",
)  # fmt: skip
NOW_NULLABLE: Final = CompatibilityRule(
    id="T225", name="column-nullable", severity=NOTE,
    says="A NOT NULL column became nullable.",
    action="Check whether readers of the table handle NULL.",
    good="nullable: false in both", bad="nullable: false, then nullable",
)  # fmt: skip
_BY_TYPE: Final[Mapping[str, CompatibilityRule]] = {
    OTHER: TYPE_CHANGED,
    NARROWER: TYPE_NARROWED,
    SHORTER: LENGTH_SHORTENED,
    WIDER: TYPE_WIDENED,
    UNKNOWN: TYPE_UNDECIDED,
}


@dataclass(frozen=True)
class FiledTable:
    """A table contract and its file, if it has one."""

    contract: TableContract
    file: Traversable | None = None


def compare_tables(old: Iterable[FiledTable], new: Iterable[FiledTable]) -> CompatibilityVerdict:
    """Return whether rows that conform to the old contracts conform to the new ones; tables are found by their names.

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
            found += _located([_finding(TABLE_REMOVED, one.contract, None, "", name, None)], one, None)
        elif other is not None:
            found += _located([_finding(TABLE_ADDED, None, other.contract, "", None, name)], None, other)
    ordered = tuple(sorted(found, key=lambda finding: SEVERITIES.index(finding.severity)))
    return conclude(Level.BACKWARD, Policy.CDC, ordered)


def compare_table(old: TableContract, new: TableContract) -> list[CompatibilityFinding]:
    """Return how two contracts of one table differ; comments do not count."""
    found = [_finding(rule, old, new, *rest) for rule, *rest in _differences(old, new)]
    numbered = old.version is not None and new.version is not None
    if numbered and (new.version < old.version or (new.version == old.version and found)):  # type: ignore[operator]
        found.append(_finding(VERSION_KEPT, old, new, "/version", old.version, new.version))
    return found


def _differences(old: TableContract, new: TableContract) -> Iterator[tuple[CompatibilityRule, str, Any, Any]]:
    for name, column in old.columns.items():
        path = join_pointer("columns", name)
        if name in new.columns:
            yield from _column_differences(path, name, old, new)
        else:
            yield COLUMN_REMOVED, path, _said(column), None
    for name, column in new.columns.items():
        if name not in old.columns:
            rule = COLUMN_ADDED if new.may_be_null(name) else REQUIRED_ADDED
            yield rule, join_pointer("columns", name), None, _said(column)
    if old.primary_key != new.primary_key:
        yield KEY_CHANGED, "/primary_key", _listed(old.primary_key), _listed(new.primary_key)
    if old.zone != new.zone:  # Z and +00:00 are one
        yield ZONE_CHANGED, "/source_time_zone", old.source_time_zone, new.source_time_zone


def _column_differences(
    path: str, name: str, old: TableContract, new: TableContract
) -> Iterator[tuple[CompatibilityRule, str, Any, Any]]:
    before, after = old.types[name], new.types[name]
    rule = _BY_TYPE.get(compare_types(before, after))
    if rule is not None:
        yield rule, f"{path}/type", before, after
    if old.may_be_null(name) != new.may_be_null(name):
        rule = NOW_NULLABLE if new.may_be_null(name) else NOT_NULL
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
    olds = _places_in(old, [one.old_place for one in findings])
    news = _places_in(new, [one.new_place for one in findings])
    for finding, here, there in zip(findings, olds, news, strict=True):
        yield replace(finding, old_place=here, new_place=there)


def _places_in(table: FiledTable | None, places: list[TextPlace | None]) -> list[TextPlace | None]:
    if table is None or table.file is None:
        return places
    file = str(table.file)
    filed = [replace(place, file=file) if place is not None else None for place in places]
    return find_lines(file, table.file.read_text(encoding="utf-8"), filed)


def _said(column: TableColumn) -> dict[str, Any]:
    return column.model_dump(exclude={"comment"})


def _listed(names: tuple[str, ...]) -> list[str] | None:
    return list(names) or None
