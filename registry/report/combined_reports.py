"""Combined reports: topics validated against different contracts are one run with one verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cdc_contracts.registry.common.exits import DRIFT, INCONCLUSIVE, PASS
from cdc_contracts.registry.report.audit_report import weight

Report = Mapping[str, Any]


def combine_reports(reports: Sequence[Report]) -> dict[str, Any]:
    """Return the report of a whole run from those of its parts, each of other partitions with a contract of its own.

    What was counted is added; findings stay apart by contract, each with its own denominator.
    """
    if len(reports) == 1:
        return dict(reports[0])
    contracts = list(dict.fromkeys(report["contract"] for report in reports))
    return {
        **reports[0],
        "source": _source(reports),
        "contract": ", ".join(contracts),
        "verdict": _verdict(reports),
        "detection": None,
        "coverage": {**reports[0]["coverage"], **_sum(report["coverage"] for report in reports)},
        "stopped": next((report["stopped"] for report in reports if report["stopped"]), None),
        "ledger": {
            **_sum(report["ledger"] for report in reports),
            "partitions": _joined(reports, lambda report: report["ledger"]["partitions"]),
        },
        "findings": sorted((finding for report in reports for finding in report["findings"]), key=weight),
        "findings_cut": any(report["findings_cut"] for report in reports),
        "findings_other": _others(reports),
        "versions_seen": _sum(report["versions_seen"] for report in reports),
        "versions_undecided": sum(report["versions_undecided"] for report in reports),
        "unproven": [one for report in reports for one in report.get("unproven", ())],
        "chains": _joined(reports, lambda report: report.get("chains", ())),
        "chains_left_out": sum(report.get("chains_left_out", 0) for report in reports),
        "timeline": _joined(reports, lambda report: report["timeline"]),
        "switches": _joined(reports, lambda report: report["switches"]),
        **_ranges(reports),
    }


def _ranges(reports: Sequence[Report]) -> dict[str, Any]:
    """Return the ranges that declare versions, where some part of the run was validated by them."""
    ranges = [one for report in reports for one in report.get("versions", ())]
    return {"versions": ranges} if any("versions" in report for report in reports) else {}


def _verdict(reports: Sequence[Report]) -> str:
    """Drift anywhere is drift; a topic without values among others says nothing, ambiguous records do."""
    if any(report["verdict"] == DRIFT for report in reports):
        return DRIFT
    ledgers = [report["ledger"] for report in reports]
    valued = [
        report
        for report, ledger in zip(reports, ledgers, strict=True)
        if ledger["read"] > ledger["tombstone"] + ledger["excluded"]
    ]
    return PASS if valued and all(report["verdict"] == PASS for report in valued) else INCONCLUSIVE


def _source(reports: Sequence[Report]) -> dict[str, Any]:
    sources = [report["source"] for report in reports]
    topics = [topic for source in sources for topic in source["topics"]]
    by_topic = {topic: report for report in reports for topic in report["source"]["topics"]}
    found = {topic: report["detection"] for topic, report in by_topic.items() if report["detection"]}
    return {
        **sources[0],
        "topics": topics,
        "ranges": {topic: found for source in sources for topic, found in source["ranges"].items()},
        "contracts": {topic: _spoken(report) for topic, report in by_topic.items()},
        **({"detections": found} if found else {}),
    }


def _spoken(report: Report) -> str:
    """Return the contract of a topic; of one that was found out, what was found."""
    found = report["detection"]
    if found is None:
        return str(report["contract"])
    named = found["subject"] if found["version"] is None else f"{found['subject']}@{found['version']}"
    return f"{report['contract']}: {named or found['verdict']}"


def _others(reports: Sequence[Report]) -> dict[str, int | None]:
    others = [report["findings_other"] for report in reports]
    unknown = any(one["findings"] is None for one in others)
    return {
        "findings": None if unknown else sum(one["findings"] for one in others),
        "records": sum(one["records"] for one in others),
    }


def _sum(counts: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Add what is a number in each of them."""
    total: Counter[str] = Counter()
    for one in counts:
        for name, value in one.items():
            if isinstance(value, int):
                total[name] += value
    return dict(total)


def _joined(reports: Sequence[Report], part: Any) -> list[Any]:
    found = [one for report in reports for one in part(report)]
    return sorted(found, key=lambda one: (one["topic"], one["partition"]))
