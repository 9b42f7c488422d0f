"""Finding causes: findings that come from one change of a table or producer belong together.

Types that are written in capitals since offset 60 are one change, not one per column and image. Findings belong
together by what they say: the same rule on the same column in another image, or on other columns of the table since the
very same records; and all columns by which a table shows another version. What is alike on several tables is one cause.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from cdc_contracts.registry.core.common.findings import find_cause
from cdc_contracts.registry.core.report.drift_findings import FindingContext, column_of, contract_of
from cdc_contracts.registry.core.stats.finding_overlaps import Fault, is_per_column
from cdc_contracts.registry.core.stats.finding_tallies import FindingKey, FindingTally

_SWITCH: Final = re.compile(r"as (\S+) writes ")

Place = tuple[str, int, int]


class Cause(NamedTuple):
    """The findings of one cause, by what they are about and by table; every fault is found in each of the tables.

    The faults are in the order of their first records, the tables in that of their names.
    """

    tables: tuple[str | None, ...]
    findings: Mapping[Fault, Mapping[str | None, FindingTally]]

    def of_table(self, table: str | None) -> dict[Fault, FindingTally]:
        """Return the findings on one of the tables."""
        return {fault: by_table[table] for fault, by_table in self.findings.items()}


class _Column(NamedTuple):
    """Which findings can have a cause in common, and the column that these are about."""

    kind: tuple[Hashable, ...]
    table: str | None
    column: str


def find_causes(context: FindingContext) -> list[Cause]:
    """Return all findings of a run by their cause; those of a cause in the order of their first records."""
    single: list[Cause] = []
    by_column: dict[_Column, dict[FindingKey, FindingTally]] = {}
    for key, finding in context.tally.findings.items():
        column = column_of(context, key, finding) if is_per_column(key.rule) and finding.count else None
        if column is None:
            single.append(_on_table({key: finding}))
        else:
            by_column.setdefault(_Column(_kind(key, finding), key.table, column), {})[key] = finding
    causes: dict[Hashable, dict[FindingKey, FindingTally]] = {}
    for place, findings in by_column.items():
        causes.setdefault((place.kind, place.table, _since(findings)), {}).update(findings)
    return _join_tables([*single, *(_on_table(findings) for findings in causes.values())])


def _join_tables(causes: Iterable[Cause]) -> list[Cause]:
    """Return causes that are alike on several tables as one: what changes a producer changes each of its tables."""
    alike: dict[Hashable, list[Cause]] = {}
    result: list[Cause] = []
    for one in causes:
        if one.tables == (None,):
            result.append(one)
        else:
            alike.setdefault(_likeness(one), []).append(one)
    for joined in alike.values():
        ordered = sorted(joined, key=lambda one: one.tables[0] or "")
        first = ordered[0] if len(ordered) == 1 else _joined(ordered)
        result.append(first)
    return result


def _likeness(cause: Cause) -> Hashable:
    """Return what causes on different tables have in common: the same faults of the same severity and contract."""
    faults = []
    for fault, by_table in cause.findings.items():
        (finding,) = by_table.values()
        faults.append((fault, finding.severity, contract_of(finding), frozenset(finding.expected)))
    return frozenset(faults)


def _joined(causes: Sequence[Cause]) -> Cause:
    """Return causes with the same faults on different tables, in the order of the first records with each fault."""
    found = {fault: {one.tables[0]: _only(one.findings[fault]) for one in causes} for fault in causes[0].findings}
    places = {
        fault: (min(map(first_place, found[fault].values())), -sum(one.count for one in found[fault].values()))
        for fault in found
    }
    ordered = sorted(found, key=lambda fault: (*places[fault], fault.path))
    return Cause(tuple(one.tables[0] for one in causes), {fault: found[fault] for fault in ordered})


def _only(by_table: Mapping[str | None, FindingTally]) -> FindingTally:
    (finding,) = by_table.values()
    return finding


def first_place(finding: FindingTally) -> Place:
    """Return where the first record with a finding is."""
    return min(extent.first[:3] for extent in finding.extents.values())


def _kind(key: FindingKey, finding: FindingTally) -> tuple[Hashable, ...]:
    cause = find_cause(key.rule)
    rule = key.rule.partition(".")[0] if cause and cause.of_shapes else key.rule
    return rule, finding.severity, contract_of(finding)


def _since(findings: Mapping[FindingKey, FindingTally]) -> Hashable:
    """Return what findings on a column have in common with those on others of the same cause."""
    key = min(findings, key=lambda one: one.order)
    head = findings[key]
    versions = tuple(_SWITCH.findall(" ".join([*sorted(head.expected), *sorted(head.observed)])))
    if versions or key.name == "other-version":
        return versions
    firsts: dict[tuple[str, int], int] = {}
    for finding in findings.values():
        for source, extent in finding.extents.items():
            firsts[source] = min(extent.first.offset, firsts.get(source, extent.first.offset))
    return tuple(sorted(firsts.items()))


def _on_table(findings: Mapping[FindingKey, FindingTally]) -> Cause:
    """Return findings on one table as a cause."""
    ordered = sorted(findings.items(), key=_order) if len(findings) > 1 else [*findings.items()]
    table = ordered[0][0].table
    return Cause((table,), {Fault(*key[:3]): {table: finding} for key, finding in ordered})


def _order(entry: tuple[FindingKey, FindingTally]) -> tuple[Place, int, str]:
    key, finding = entry
    return first_place(finding), -finding.count, key.path
