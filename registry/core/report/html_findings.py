"""HTML findings: one line each, which expands to cause, place, example and solution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from cdc_contracts.registry.core.common.safe_text import sentence
from cdc_contracts.registry.core.report.finding_wording import (
    began_words,
    command,
    frequency,
    observed_counts,
    onset_words,
    subject_line,
    table_name,
    table_words,
)
from cdc_contracts.registry.core.report.html_markup import (
    Markup,
    block,
    cell,
    element,
    heading,
    join,
    more,
    name_of,
    row,
    table,
    with_code,
)
from cdc_contracts.registry.core.report.report_model import PartitionLedger, Report
from cdc_contracts.registry.core.report.report_wording import place
from cdc_contracts.registry.core.report.reported_findings import ReportedFinding
from cdc_contracts.registry.core.report.svg_timeline import bar, extent_strip

_MOST_FINDINGS: Final = 300
_MOST_PARTITIONS: Final = 32
_MOST_COLUMNS: Final = 100

Spans = Mapping[tuple[str, int], PartitionLedger]


def finding_list(report: Report) -> Markup:
    """Return all findings in the order of the report, which is by weight."""
    findings = report.findings
    if not findings:
        validated = bool(report.ledger.partitions)
        return element(
            "p", "Nothing was found." if validated else "Nothing was validated, so nothing was found.", class_="none"
        )
    spans = {(one.topic, one.partition): one for one in report.ledger.partitions}
    shown = [_finding(number, one, spans) for number, one in enumerate(findings[:_MOST_FINDINGS], 1)]
    return join([*shown, more(len(findings) - len(shown), "findings")], "\n")


def facts(pairs: Sequence[tuple[str, str | None]]) -> Markup:
    """Return a definition list of titles and texts; empty texts are left out."""
    entries = [join([element("dt", title), element("dd", text)]) for title, text in pairs if text]
    return element("dl", *entries, class_="facts")


def _finding(number: int, finding: ReportedFinding, spans: Spans) -> Markup:
    summary = element(
        "summary",
        element("span", finding.severity, class_=f"badge {finding.severity}"),
        element(
            "span", element("strong", finding.name), " (", name_of(finding.rule), ") ", _subject(finding), class_="what"
        ),
        element("span", frequency(finding), class_="often"),
        element("span", onset_words(finding), class_="since"),
    )
    body = element(
        "div",
        element("p", with_code(sentence(finding.explanation))) if finding.explanation else None,
        _facts(finding),
        element("div", _columns(finding) or _observed(finding), _extents(finding, spans), class_="tables"),
        _example(finding),
        _command(finding),
        class_="body",
    )
    return element(
        "details", summary, body, class_=f"finding {finding.severity}", id=f"finding-{number}", open=number == 1
    )


def _subject(finding: ReportedFinding) -> Markup:
    path = finding.path
    return element(
        "span",
        name_of(finding.table) if finding.table is not None else table_name(finding),
        " ",
        name_of(path) if path else "(message)",
        class_="subject",
        title=subject_line(finding),
    )


def _facts(finding: ReportedFinding) -> Markup:
    ddl, similar = finding.explained_by, finding.similar or ()
    result: list[tuple[str, str | None]] = [
        ("Fix", with_code(sentence(finding.action))),
        ("Explained by", join([name_of(ddl.text), f" at {place(ddl)}"]) if ddl else None),
        ("Began with", began_words(finding)),
        ("Tables", name_of(table_words(finding)) if finding.tables else None),
        ("Expected", None if finding.columns else name_of(finding.expected)),
        ("Similar to", join([name_of(name) for name in similar], ", ") if similar else None),
        ("Rule", join([name_of(finding.rule), _validated_by(finding)])),
        ("Source", sentence(finding.document or "")),
    ]
    return facts(result)


def _validated_by(finding: ReportedFinding) -> Markup | None:
    contract = finding.contract
    return join([" of ", name_of(contract)]) if contract else None


def _columns(finding: ReportedFinding) -> Markup | None:
    """Return what was expected and observed of each column of a finding on several."""
    columns = finding.columns or ()
    if not columns:
        return None
    rows = [
        row(
            cell(name_of(one.path)),
            cell(name_of(one.source_type) if one.source_type else None),
            cell(name_of(one.expected)),
            cell(join([name_of(text) for text in one.observed], ", ")),
            cell(f"{one.count:,}", "number"),
        )
        for one in columns[:_MOST_COLUMNS]
    ]
    head = [heading(name) for name in ("column", "type", "expected", "observed")]
    shown = table(rows, head=[*head, heading("messages", "number")], caption="Columns", kind="columns")
    return element("div", shown, more(len(columns) - len(rows), "columns"), class_="wide")


def _observed(finding: ReportedFinding) -> Markup:
    counted = observed_counts(finding)
    most = max((count for _, count in counted if count), default=0)
    rows = [
        row(
            cell(name_of(text)),
            cell(f"{count:,}" if count else None, "number"),
            cell(bar(count / most) if count else None, "bar"),
        )
        for text, count in counted
    ]
    return table(rows, caption="Observed", kind="histogram")


def _extents(finding: ReportedFinding, spans: Spans) -> Markup | None:
    if not finding.count:
        return None
    rows = [
        row(
            cell(name_of(f"{one.topic} {one.partition}")),
            cell(f"{one.count:,}", "number"),
            cell(f"offset {one.first_offset} to {one.last_offset}"),
            cell(extent_strip(one, spans.get((one.topic, one.partition))), "bar"),
        )
        for one in finding.partitions[:_MOST_PARTITIONS]
    ]
    return element(
        "div", table(rows, caption="Where", kind="extents"), more(len(finding.partitions) - len(rows), "partitions")
    )


def _example(finding: ReportedFinding) -> Markup | None:
    example = finding.example
    if not example:
        return None
    result = f"Example: {place(example)}, {example.size:,} bytes, SHA-256 {example.sha256[:16]}…"
    return element("figure", element("figcaption", result), block(example.message))


def _command(finding: ReportedFinding) -> Markup | None:
    call = command(finding)
    if not call:
        return None
    return element("figure", element("figcaption", "Reproduce"), block(call, class_="command"))
