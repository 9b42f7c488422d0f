"""What a run tells at its end: a summary for a person, the report for a machine."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cdc_contracts.cli import console
from cdc_contracts.registry.errors import UnavailableError, UsageError

_MOST_SHOWN = 20
_KINDS = (".json",)


def check_targets(targets: Sequence[Path] | None) -> None:
    """Raise UsageError where a report file is of a kind that cannot be written."""
    for target in targets or ():
        if target.suffix not in _KINDS:
            raise UsageError(f"`{target.suffix}` is not a kind of report", where=str(target), mend="use a .json file")


def tell(report: Mapping[str, Any], *, as_json: bool, targets: Sequence[Path] | None) -> None:
    """Write the report files, and the report or its summary to stdout."""
    for target in targets or ():
        try:
            target.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        except OSError as error:
            raise UnavailableError(f"the report cannot be written: {error}", where=str(target)) from error
    if as_json:
        console.print_json(report)
    else:
        summarise(report)


def summarise(report: Mapping[str, Any]) -> None:
    """Write what a person wants to know first: the verdict, the ledger, the findings, the switches."""
    ledger = report["ledger"]
    console.print_text(f"{report['verdict'].upper()}: {_sentence(report)}")
    console.print_heading("Ledger")
    names = ("read", "conforming", "control", "tombstone", "quarantined", "gaps")
    rows = [
        [f"{one['topic']} {one['partition']}", f"{one['start']}..{one['end']}", *(one[name] for name in names)]
        for one in ledger["partitions"]
    ]
    if len(rows) > 1:
        gaps = sum(one["gaps"] for one in ledger["partitions"])
        rows.append(["all", "", *(ledger[name] for name in names[:-1]), gaps])
    console.print_table(["partition", "offsets", "read", "conform", "control", "null", "quarantine", "gaps"], rows)
    _tell_versions(report)
    _tell_findings(report)


def _sentence(report: Mapping[str, Any]) -> str:
    ledger = report["ledger"]
    valued = ledger["read"] - ledger["tombstone"]
    if not ledger["read"]:
        return "there was nothing to read"
    if report["verdict"] == "pass":
        return f"all {ledger['read']:,} messages say what {report['contract']} says"
    if ledger["quarantined"]:
        return f"{ledger['quarantined']:,} of {valued:,} messages do not say what {report['contract']} says"
    return f"{len(report['findings'])} finding(s) in {valued:,} messages judged by {report['contract']}"


def _tell_versions(report: Mapping[str, Any]) -> None:
    seen = {reference: count for reference, count in report["versions_seen"].items() if count}
    if not seen and not report["versions_undecided"]:
        return
    console.print_heading("Versions")
    rows: list[list[Any]] = [
        [reference, f"{count:,} messages fit it and no other version"] for reference, count in seen.items()
    ]
    if report["versions_undecided"]:
        rows.append(["undecided", f"{report['versions_undecided']:,} messages fit several versions"])
    rows += [
        [
            f"{one['topic']} {one['partition']}",
            f"{one['from']} up to offset {one['after']}, {one['to']} from {one['at']}",
        ]
        for one in report["switches"][:_MOST_SHOWN]
    ]
    if len(report["switches"]) > _MOST_SHOWN:
        rows.append(["", f"and {len(report['switches']) - _MOST_SHOWN} more switches"])
    console.print_table(["", ""], rows)


def _tell_findings(report: Mapping[str, Any]) -> None:
    findings = report["findings"]
    if not findings:
        return
    console.print_heading("Findings")
    for finding in findings[:_MOST_SHOWN]:
        first = finding["first"]
        place = f"{first['topic']} partition {first['partition']} offset {first['offset']}"
        where = f"{finding['table'] or 'any table'} {finding['path'] or '(message)'}"
        console.print_text(f"{finding['severity']} {finding['class']} ({finding['rule']}) {where}")
        rows = [
            ["  count", f"{finding['count']:,} of {finding['denominator']:,}, first at {place}"],
            ["  expected", finding["expected"]],
            ["  observed", ", ".join(finding["observed"])],
            ["  see", finding["document"]],
            ["  do", finding["action"]],
        ]  # fmt: skip
        console.print_table(["", ""], rows)
    if len(findings) > _MOST_SHOWN:
        console.print_text(f"and {len(findings) - _MOST_SHOWN} more findings: --json or --report shows all")
