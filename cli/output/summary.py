"""Summary of a run on a terminal: the verdict first, then contract, ledger, versions and findings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET

from cdc_contracts.cli.output import console
from cdc_contracts.cli.output.profile_output import print_profile
from cdc_contracts.registry.core.common.safe_text import sentence, visible
from cdc_contracts.registry.core.detect.reported_detection import ReportedDetection
from cdc_contracts.registry.core.report.finding_wording import (
    began_words,
    column_lines,
    command,
    count_words,
    explained_words,
    observed_words,
    onset_words,
    subject_line,
    table_words,
)
from cdc_contracts.registry.core.report.report_model import Ledger, Report
from cdc_contracts.registry.core.report.report_wording import (
    contracts_of,
    count_of,
    counts_of,
    detected,
    detections_of,
    evidence_list,
    headline,
    heaviest,
    notes,
    switch_words,
)
from cdc_contracts.registry.core.report.reported_findings import ReportedFinding
from cdc_contracts.registry.core.report.schema_wording import (
    changed_lines,
    line_name,
    row_lines,
    schema_rows,
    schemas_headline,
)

_MOST_SHOWN = 20
_MOST_EVIDENCE = 8
_MOST_LINES = 8
_SHORT = {"conforming": "conform", "tombstone": "null", "quarantined": "quarantine"}
_STYLES = {
    "drift": "bold red", "pass": "bold green", "inconclusive": "bold yellow",
    "error": "red", "warning": "yellow", "info": "cyan",
}  # fmt: skip


def summarise(report: Report) -> None:
    """Print the verdict, the contract, the ledger, the versions and the findings."""
    console.print_text(f"{report.verdict.upper()}: {headline(report)}", first=_STYLES.get(report.verdict, "bold"))
    for note in notes(report):
        console.print_text(note)
    _print_contracts(contracts_of(report))
    for topic, detection in list(detections_of(report))[:_MOST_SHOWN]:
        console.print_heading("Contract" if topic is None else f"Contract of {visible(topic)}")
        _print_detection(detection)
    _print_ledger(report.ledger)
    _print_versions(report)
    _print_schemas(report)
    _print_findings(report.findings)
    if report.profile:
        print_profile(report.profile)


def _print_contracts(contracts: Sequence[tuple[str, str]]) -> None:
    """Print each contract with its topics, if there are several topics."""
    if not contracts:
        return
    console.print_heading("Contracts")
    console.print_table(["", ""], [[visible(contract), topics] for topics, contract in contracts])


def _print_detection(detection: ReportedDetection) -> None:
    rows = [["found", f"{detected(detection)}, from {count_of(detection.messages, 'message')}"]]
    if detection.equivalent:
        rows.append(["equal", ", ".join(map(visible, detection.equivalent))])
    result = evidence_list(detection)
    rows += [["because", f"{says} ({support})"] for says, support in result[:_MOST_EVIDENCE]]
    if len(result) > _MOST_EVIDENCE:
        rows.append(["", f"and {len(result) - _MOST_EVIDENCE} more: --json shows all"])
    if detection.settle:
        rows.append(["to decide", sentence(detection.settle)])
    console.print_table(["", ""], rows)


def _print_ledger(ledger: Ledger) -> None:
    if not ledger.partitions:
        return
    console.print_heading("Ledger")
    names = (*counts_of(ledger), "gaps")
    rows = [
        [visible(f"{one.topic} {one.partition}"), f"{one.start}..{one.end}", *(getattr(one, name) for name in names)]
        for one in heaviest(ledger.partitions, _MOST_SHOWN)
    ]
    more = len(ledger.partitions) - len(rows)
    if more:
        rows.append([f"and {more:,} more", "", *[""] * len(names)])
    if len(rows) > 1:
        gaps = sum(one.gaps for one in ledger.partitions)
        rows.append(["all", "", *(getattr(ledger, name) for name in names[:-1]), gaps])
    console.print_table(["partition", "offsets", *(_SHORT.get(name, name) for name in names)], rows)


def _print_versions(report: Report) -> None:
    seen = {reference: count for reference, count in report.versions_seen.items() if count}
    if not seen and not report.versions_undecided:
        return
    console.print_heading("Versions")
    rows: list[list[Any]] = [
        [visible(reference), f"{_messages(count)} it and no other version"] for reference, count in seen.items()
    ]
    if report.versions_undecided:
        rows.append(["undecided", f"{_messages(report.versions_undecided)} several versions"])
    rows += [[visible(f"{one.topic} {one.partition}"), switch_words(one)] for one in report.switches[:_MOST_SHOWN]]
    if len(report.switches) > _MOST_SHOWN:
        rows.append(["", f"and {len(report.switches) - _MOST_SHOWN} more switches"])
    console.print_table(["", ""], rows)


def _print_schemas(report: Report) -> None:
    """Print the writer schemas of the tables that have several."""
    if not report.schemas:
        return
    console.print_heading("Writer schemas")
    console.print_text(schemas_headline(report.schemas))
    lines = changed_lines(report.schemas)
    for line in lines[:_MOST_LINES]:
        console.print_text(line_name(line))
        rows = [
            ["" if place else f"  id {one.number}", text]
            for one in schema_rows(line)
            for place, text in enumerate(row_lines(one))
        ]
        console.print_table(["", ""], rows)
    if len(lines) > _MOST_LINES:
        console.print_text(f"and {len(lines) - _MOST_LINES:,} more tables: --json or --report shows them")


def _messages(count: int) -> str:
    return "1 message fits" if count == 1 else f"{count:,} messages fit"


def _print_findings(findings: Sequence[ReportedFinding]) -> None:
    if not findings:
        return
    console.print_heading("Findings")
    above: ReportedFinding | None = None
    for finding in findings[:_MOST_SHOWN]:
        result = f"{finding.severity} {finding.name} ({finding.rule}) {subject_line(finding)}"
        console.print_text(result, first=_STYLES.get(finding.severity, ""))
        rows = [*_facts(finding), *_advice(finding, above)]
        if again := visible(command(finding) or "", most=None):
            widest = max((f"  {title}" for title, text in (*rows, ("reproduce", again)) if text), key=len)
            rows.append(("reproduce", console.continued(again, beside=widest)))
        console.print_table(["", ""], [[f"  {title}", text] for title, text in rows if text])
        above = finding
    if len(findings) > _MOST_SHOWN:
        console.print_text(f"and {len(findings) - _MOST_SHOWN} more findings: --json or --report shows all")


def _facts(finding: ReportedFinding) -> list[tuple[str, str | None]]:
    early = finding.onset is UNSET  # a report of a release without onsets
    count = count_words(finding)
    return [
        ("count", f"{count}, {onset_words(finding)}" if early else count),
        ("onset", None if early else onset_words(finding)),
        ("tables", table_words(finding)),
        *(("" if number else "columns", line) for number, line in enumerate(column_lines(finding))),
        ("expected", None if finding.columns else visible(finding.expected)),
        ("observed", None if finding.columns else observed_words(finding)),
        ("similar", ", ".join(map(visible, finding.similar or ()))),
        ("because", explained_words(finding)),
        ("began with", began_words(finding)),
    ]


def _advice(finding: ReportedFinding, above: ReportedFinding | None) -> list[tuple[str, str | None]]:
    """Return cause and action of a finding, unless the finding above has the same."""
    means = finding.explanation or ""
    known = above is not None and means == above.explanation
    if above is not None and finding.action == above.action and finding.document == above.document:
        return [("why", None if known else sentence(means)), ("fix", "as above")]
    return [("why", sentence(means)), ("source", visible(finding.document or "")), ("fix", sentence(finding.action))]
