"""Finding causes: findings on several columns that come from one change of a table or producer become one finding.

Types that are written in capitals since offset 60 are one change, not one per column and image. Findings belong
together by what they say: the same rule on the same column in another image, or on other columns of the table since the
very same records; and all columns by which a table shows another version.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from cdc_contracts.registry.common.findings import find_cause
from cdc_contracts.registry.report.reported_findings import (
    ColumnFinding,
    FindingExtent,
    FindingOnset,
    ObservedShape,
    ReportedFinding,
    ReportedMoment,
)
from cdc_contracts.registry.validate.drift_rule import drift_rules

_MOST_OBSERVED: Final = 10
_SWITCH: Final = re.compile(r"as (\S+) writes ")

Counting = Callable[[ReportedFinding], int]


def group_by_cause(found: Iterable[tuple[ReportedFinding, str | None]]) -> list[ReportedFinding]:
    """Return findings with those of one cause merged; each is given with the column it is about.

    The first of a cause represents it; each column is listed in `columns`.
    """
    single: list[ReportedFinding] = []
    by_column: dict[tuple[Hashable, ...], list[ReportedFinding]] = {}
    for finding, column in found:
        if column is None or not _is_per_column(finding.rule) or not finding.count:
            single.append(finding)
        else:
            by_column.setdefault((*_kind(finding), column), []).append(finding)
    causes: dict[tuple[Hashable, ...], list[ReportedFinding]] = {}
    for key, findings in by_column.items():
        causes.setdefault((*key[:-1], _since(findings)), []).extend(findings)
    return [*single, *(_join(sorted(findings, key=_order)) for findings in causes.values())]


def fingerprints_of(finding: ReportedFinding) -> list[str]:
    """Return the fingerprints of all findings that a finding represents, its own first."""
    own = [finding.fingerprint] if finding.fingerprint is not UNSET else []
    return list(dict.fromkeys([*own, *(one.fingerprint for one in finding.columns or ())]))


def _is_per_column(rule: str) -> bool:
    """Return whether the findings of a rule are one for each column."""
    cause = find_cause(rule)
    if cause is not None:
        return cause.per_column
    across = drift_rules().get(rule.partition(".")[2])
    return across is not None and across.id == rule and across.per_column


def _kind(finding: ReportedFinding) -> tuple[Hashable, ...]:
    cause = find_cause(finding.rule)
    rule = finding.rule.partition(".")[0] if cause and cause.of_shapes else finding.rule
    return rule, finding.severity, finding.table, finding.contract


def _since(findings: Sequence[ReportedFinding]) -> Hashable:
    """Return what findings on a column have in common with those on others of the same cause."""
    head = findings[0]
    versions = tuple(_SWITCH.findall(" ".join([head.expected, *head.observed])))
    if versions or head.name == "other-version":
        return versions
    firsts: dict[tuple[str, int], int] = {}
    for one in (part for finding in findings for part in finding.partitions):
        place = (one.topic, one.partition)
        firsts[place] = min(one.first_offset, firsts.get(place, one.first_offset))
    return tuple(sorted(firsts.items()))


def _join(findings: Sequence[ReportedFinding]) -> ReportedFinding:
    head = findings[0]
    if len(findings) == 1:
        return head
    ops = _most(finding.ops for finding in findings)
    images = _by_image(findings)
    return replace(
        head,
        op=next(iter(ops)) if len(ops) == 1 else None,
        ops=ops,
        count=_together(images, lambda finding: finding.count),
        last=max((finding.last for finding in findings), key=_place),
        partitions=_partitions(images),
        observed=tuple(dict.fromkeys(text for one in findings for text in one.observed))[:_MOST_OBSERVED],
        onset=_onset(findings),
        histogram=_histogram(findings),
        explained_by=next((one.explained_by for one in findings if one.explained_by), None),
        columns=tuple(map(_column, findings)),
    )


def _column(finding: ReportedFinding) -> ColumnFinding:
    return ColumnFinding(
        rule=finding.rule,
        path=finding.path,
        fingerprint=finding.fingerprint or "",
        expected=finding.expected,
        observed=finding.observed,
        count=finding.count,
        first=finding.first,
    )


def _by_image(findings: Sequence[ReportedFinding]) -> list[list[ReportedFinding]]:
    """Return the findings by the image that their columns are in."""
    images: dict[str, list[ReportedFinding]] = {}
    for finding in findings:
        images.setdefault(finding.path.rpartition("/")[0], []).append(finding)
    return list(images.values())


def _together(images: Sequence[Sequence[ReportedFinding]], count: Counting) -> int:
    """Count records with a finding in some column: the count of the worst column, added up over images of other ops."""
    result = [(set().union(*(one.ops for one in image)), max(map(count, image))) for image in images]
    apart = sum(len(ops) for ops, _ in result) == len(set().union(*(ops for ops, _ in result)))
    counts = [most for _, most in result]
    return sum(counts) if apart else max(counts)


def _partitions(images: Sequence[Sequence[ReportedFinding]]) -> tuple[FindingExtent, ...]:
    held: dict[tuple[str, int], list[FindingExtent]] = {}
    for one in (part for image in images for finding in image for part in finding.partitions):
        held.setdefault((one.topic, one.partition), []).append(one)

    def count_in(place: tuple[str, int]) -> Counting:
        return lambda finding: sum(part.count for part in finding.partitions if (part.topic, part.partition) == place)

    return tuple(
        FindingExtent(
            *place,
            count=_together(images, count_in(place)),
            first_offset=min(part.first_offset for part in parts),
            last_offset=max(part.last_offset for part in parts),
        )
        for place, parts in sorted(held.items())
    )


def _onset(findings: Sequence[ReportedFinding]) -> FindingOnset:
    """Return the onset that all have, each partition from where some column has it; that of the first where not."""
    onsets = [finding.onset for finding in findings if finding.onset is not UNSET]
    kinds = {onset.kind for onset in onsets}
    if len(kinds) > 1:
        return onsets[0]
    firsts: dict[tuple[str, int], ReportedMoment] = {}
    for since in sorted((since for onset in onsets for since in onset.since), key=_place):
        firsts.setdefault((since.topic, since.partition), since)
    return FindingOnset(kinds.pop(), tuple(firsts.values()))


def _most(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    most: dict[str, int] = {}
    for one in counts:
        for name, count in one.items():
            most[name] = max(count, most.get(name, 0))
    return dict(sorted(most.items()))


def _histogram(findings: Sequence[ReportedFinding]) -> tuple[ObservedShape, ...]:
    counts = Counter[str]()
    for entry in (entry for finding in findings for entry in finding.histogram or ()):
        counts[entry.observed] += entry.count
    result = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    return tuple(ObservedShape(text, count) for text, count in result[:_MOST_OBSERVED])


def _order(finding: ReportedFinding) -> tuple[Hashable, ...]:
    return (*finding.first.place, -finding.count, finding.path)


def _place(moment: ReportedMoment) -> tuple[str, int, int]:
    return moment.place
