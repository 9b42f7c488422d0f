"""The report of an audit: the tally of a run as the document that other tools read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from itertools import pairwise
from typing import Any, Final

from cdc_contracts.registry.catalogue import Catalogue
from cdc_contracts.registry.errors import LedgerError
from cdc_contracts.registry.exits import DRIFT, INCONCLUSIVE, PASS
from cdc_contracts.registry.findings import CLASSES, SEVERITIES
from cdc_contracts.registry.settling import settle
from cdc_contracts.registry.tally import FindingKey, FindingTally, Moment, PartitionTally, Source, Tally
from cdc_contracts.registry.verdicts import AMBIGUOUS

REPORT_VERSION: Final = 1

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MOST_OBSERVED: Final = 10
_MOST_SWITCHES: Final = 100


@dataclass(frozen=True)
class Span:
    """What was to be read of a partition: from `start` up to, but not including, `end`."""

    start: int
    end: int


Spans = Mapping[Source, Span]


def build_report(
    tally: Tally, *, catalogue: Catalogue, contract: str, source: Mapping[str, Any], spans: Spans, fail_on: str
) -> dict[str, Any]:
    """Return the report of a run as plain data.

    Raises LedgerError where the counts do not add up.
    """
    settle(tally, catalogue)
    tally.bound()
    findings = _findings(tally, catalogue)
    return {
        "report_version": REPORT_VERSION,
        "source": dict(source),
        "contract": contract,
        "verdict": judge_run(tally, fail_on),
        "ledger": _ledger(tally, spans),
        "findings": findings,
        "findings_cut": tally.dropped,
        "versions_seen": _versions_seen(tally, catalogue, contract),
        "versions_undecided": tally.undecided,
        "switches": _switches(tally),
    }


def report_schema() -> dict[str, Any]:
    """Return the JSON Schema of a report."""
    text = files("cdc_contracts.registry").joinpath("report.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def judge_run(tally: Tally, fail_on: str) -> str:
    """Return the verdict of a run: drift where a finding weighs enough, inconclusive where nothing can be told."""
    heavy = SEVERITIES.index(fail_on)
    for key, finding in tally.findings.items():
        if key.name != "ambiguous" and SEVERITIES.index(finding.severity) <= heavy:
            return DRIFT
    valued = sum(partition.read - partition.tombstone for partition in tally.partitions.values())
    return INCONCLUSIVE if not valued or tally.outcomes[AMBIGUOUS] else PASS


def check_ledger(tally: Tally, spans: Spans) -> None:
    """Make sure that every record read is counted once, and no more than the range holds.

    Raises LedgerError where it is not so.
    """
    for source, counts in sorted(tally.partitions.items()):
        parts = counts.conforming + counts.control + counts.tombstone + counts.quarantined
        span = spans.get(source)
        if counts.read != parts or (span is not None and counts.read > span.end - span.start):
            raise LedgerError(
                f"the ledger does not add up: read {counts.read}, accounted for {parts}",
                where=f"{source.topic} partition {source.partition}",
                mend="This is a bug in cdc-contracts: please report it with the command you ran.",
            )


def instant(micros: int | None) -> str | None:
    """Return microseconds since 1970 UTC as ISO 8601 text with milliseconds."""
    if micros is None:
        return None
    moment = _EPOCH + timedelta(microseconds=micros)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def _ledger(tally: Tally, spans: Spans) -> dict[str, Any]:
    check_ledger(tally, spans)
    partitions = []
    for source in sorted({*tally.partitions, *spans}):
        counts = tally.partitions.get(source, PartitionTally())
        span = spans.get(source) or Span(counts.first_offset or 0, (counts.last_offset or -1) + 1)
        partitions.append({
            "topic": source.topic,
            "partition": source.partition,
            "start": span.start,
            "end": span.end,
            **_counts(counts),
            "gaps": span.end - span.start - counts.read,
            "first_timestamp": instant(counts.first_timestamp),
            "last_timestamp": instant(counts.last_timestamp),
        })  # fmt: skip
    total = PartitionTally()
    for counts in tally.partitions.values():
        total.merge(counts)
    return {**_counts(total), "partitions": partitions}


def _counts(counts: PartitionTally) -> dict[str, int]:
    return {
        name: getattr(counts, name) for name in ("read", "conforming", "control", "tombstone", "quarantined", "changes")
    }


def _findings(tally: Tally, catalogue: Catalogue) -> list[dict[str, Any]]:
    valued = sum(counts.read - counts.tombstone for counts in tally.partitions.values())
    documents = [
        _finding(key, finding, tally.readable[key.table] if key.table is not None else valued, catalogue)
        for key, finding in tally.findings.items()
    ]
    return sorted(
        documents,
        key=lambda one: (
            SEVERITIES.index(one["severity"]), -one["count"], one["class"], one["rule"], one["path"],
            one["table"] or "",
        ),
    )  # fmt: skip


def _finding(key: FindingKey, finding: FindingTally, denominator: int, catalogue: Catalogue) -> dict[str, Any]:
    extents = [finding.extents[source] for source in sorted(finding.extents)]
    ops = dict(sorted(finding.ops.items()))
    return {
        "rule": key.rule,
        "class": key.name,
        "severity": finding.severity,
        "path": key.path,
        "table": key.table,
        "op": next(iter(ops)) if len(ops) == 1 else None,
        "ops": ops,
        "count": finding.count,
        "denominator": denominator,
        "first": _moment(min((extent.first for extent in extents), key=_place)),
        "last": _moment(max((extent.last for extent in extents), key=_place)),
        "partitions": [
            {
                "topic": extent.first.topic,
                "partition": extent.first.partition,
                "count": extent.count,
                "first_offset": extent.first.offset,
                "last_offset": extent.last.offset,
            }
            for extent in extents
        ],
        "expected": " / ".join(sorted(finding.expected)),
        "observed": [text for text, _ in sorted(finding.observed.items(), key=_by_count)][:_MOST_OBSERVED],
        "document": _document(finding, catalogue),
        "action": CLASSES[key.name].action,
    }


def _document(finding: FindingTally, catalogue: Catalogue) -> str | None:
    """Name the source document of the contract that most of the records were judged by."""
    if not finding.contracts:
        return None
    reference, _ = min(finding.contracts.items(), key=_by_count)
    provenance = catalogue.version(reference).resolved.get("provenance", {})
    parts = [provenance.get("document"), provenance.get("section")]
    return ", ".join(part for part in parts if part) or None


def _versions_seen(tally: Tally, catalogue: Catalogue, contract: str) -> dict[str, int]:
    subject = contract.partition("@")[0]
    references = [version.reference for version in catalogue.versions(subject)]
    return {reference: tally.seen[reference] for reference in references}


def _switches(tally: Tally) -> list[dict[str, Any]]:
    switches = []
    for source in sorted(tally.runs):
        runs = tally.runs[source]
        for before, after in list(pairwise(runs))[:_MOST_SWITCHES]:
            switches.append({
                "topic": source.topic,
                "partition": source.partition,
                "from": before.version,
                "to": after.version,
                "after": before.last,
                "at": after.first,
            })  # fmt: skip
    return switches


def _moment(moment: Moment) -> dict[str, Any]:
    return {
        "topic": moment.topic,
        "partition": moment.partition,
        "offset": moment.offset,
        "timestamp": instant(moment.timestamp),
    }


def _place(moment: Moment) -> tuple[str, int, int]:
    return moment[:3]


def _by_count(entry: tuple[str, int]) -> tuple[int, str]:
    return -entry[1], entry[0]
