"""Report as Markdown for a pull request: a summary, with details to expand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import UnsetType

from cdc_contracts.registry.core.common.safe_text import sentence, visible, visible_lines
from cdc_contracts.registry.core.detect.reported_detection import ReportedDetection
from cdc_contracts.registry.core.report.finding_wording import (
    began_words,
    column_lines,
    command,
    explained_words,
    frequency,
    observed_counts,
    onset_words,
    table_name,
    table_words,
)
from cdc_contracts.registry.core.report.report_model import Ledger, Report, VersionSwitch
from cdc_contracts.registry.core.report.report_wording import (
    contracts_of,
    counts_of,
    detected,
    detections_of,
    evidence_list,
    headline,
    heaviest,
    notes,
    place,
    source_words,
    switch_words,
)
from cdc_contracts.registry.core.report.reported_findings import ExampleMessage, ReportedFinding
from cdc_contracts.registry.core.report.reported_schemas import ReportedSchemas
from cdc_contracts.registry.core.report.schema_wording import SchemaRow, changed_lines, schema_rows, schemas_headline

MOST_CHARACTERS: Final = 60_000
"""Comments of code hosts end at 65,536 characters."""
_MOST_ROWS: Final = 30
_MOST_PARTITIONS: Final = 20
_MOST_SCHEMA_LINES: Final = 10
_MARKS: Final = {"drift": "❌", "pass": "✅", "inconclusive": "⚠️"}
_SPECIAL: Final = re.compile(
    r"""[\\`*\[\]<>&|~$\#]            # marks up, ends a cell, or names an issue
    | (?<!\w)[_@] | _(?!\w)          # marks up or notifies, unless inside a word
    | :(?=[a-z/+_-]) | (?<=www)\.     # a link or an emoji
    | ^[-+=] | (?<=^\d)[.)]           # a list, where it stands first
    """,
    re.VERBOSE | re.IGNORECASE,
)
_LONGEST_FENCE: Final = re.compile(r"`{3,}")


def render_markdown(report: Report) -> str:
    """Return the report as GitHub-flavoured Markdown, short enough for a comment."""
    mark = _MARKS.get(report.verdict, "")
    parts = [
        f"### {mark} {report.verdict.upper()}: {literal(headline(report))}",
        literal(f"Audit of {source_words(report)}."),
        *(f"> {literal(note)}" for note in notes(report)),
        *_contracts(contracts_of(report)),
        *(part for topic, found in list(detections_of(report))[:_MOST_ROWS] for part in _detection(topic, found)),
        _ledger(report.ledger),
        *_switches(report.switches),
        *_schemas(report.schemas or None),
        *_findings(report.findings),
    ]
    return join_parts(filter(None, parts), "*The rest is in the JSON report: this comment would be too long.*")


def join_parts(parts: Iterable[str], rest: str) -> str:
    """Return paragraphs as one comment; `rest` replaces those that do not fit."""
    result, left = [], MOST_CHARACTERS
    for part in parts:
        left -= len(part) + 2
        if left < 0:
            result.append(rest)
            break
        result.append(part)
    return "\n\n".join(result) + "\n"


def literal(text: str) -> str:
    """Return text that Markdown shows literally: every special character is a character reference."""
    return _SPECIAL.sub(lambda found: f"&#{ord(found[0])};", visible(text, most=None))


def code(text: str) -> str:
    """Return a name as code; in a code element, code hosts neither notify users nor create links."""
    return f"<code>{literal(visible(text))}</code>" if text else ""


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], *, names: int) -> str:
    """Return a table whose first columns are names and whose others are numbers."""
    rule = ["---" if number < names else "--:" for number in range(len(head))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [head, rule, *rows])


def _contracts(contracts: Sequence[tuple[str, str]]) -> list[str]:
    """Say which topics are validated against which contract, where there are several topics."""
    rows = [[code(topics), code(contract)] for topics, contract in contracts[:_MOST_ROWS]]
    left = len(contracts) - len(rows)
    more = [f"and {left:,} more contract{'s' if left > 1 else ''}"] if left else []
    return [_table(("topics", "contract"), rows, names=2), *more] if rows else []


def _detection(topic: str | None, detection: ReportedDetection) -> list[str]:
    of = "" if topic is None else f" of {code(topic)}"
    result = [f"**Contract{of}:** {literal(detected(detection))}"]
    if detection.equivalent:
        result.append(f"equal on every message: {', '.join(code(one) for one in detection.equivalent)}")
    if detection.settle:
        result.append(f"to decide it: {literal(sentence(detection.settle))}")
    evidence = [f"- {literal(says)} ({literal(support)})" for says, support in evidence_list(detection)]
    return ["; ".join(result), *(["\n".join(evidence)] if evidence else [])]


def _ledger(ledger: Ledger) -> str:
    names = (*counts_of(ledger), "gaps")
    partitions = ledger.partitions
    if not partitions:
        return ""
    rows = [
        [
            code(f"{one.topic} {one.partition}"),
            f"{one.start}..{one.end}",
            *(f"{getattr(one, name):,}" for name in names),
        ]
        for one in heaviest(partitions, _MOST_PARTITIONS)
    ]
    if len(partitions) > 1:
        gaps = sum(one.gaps for one in partitions)
        rows.append(["all", "", *(f"{getattr(ledger, name):,}" for name in names[:-1]), f"{gaps:,}"])
    more = len(partitions) - _MOST_PARTITIONS
    rest = f"\n\nand {more:,} more partitions" if more > 0 else ""
    return _table(("partition", "offsets", *names), rows, names=2) + rest


def _switches(switches: Sequence[VersionSwitch]) -> list[str]:
    result = [
        f"- {code(one.topic + ' ' + str(one.partition))} {literal(switch_words(one))}" for one in switches[:_MOST_ROWS]
    ]
    if len(switches) > _MOST_ROWS:
        result.append(f"- and {len(switches) - _MOST_ROWS:,} more switches")
    return ["\n".join(["**Switches of version**", "", *result])] if result else []


def _schemas(schemas: ReportedSchemas | None) -> list[str]:
    """Show the writer schemas of the tables that have several."""
    if schemas is None:
        return []
    lines = changed_lines(schemas)
    rows = [
        [code(one.table), code(one.number), literal(one.since), literal(one.changed), _readers(one), one.records]
        for line in lines[:_MOST_SCHEMA_LINES]
        for one in schema_rows(line)
    ]
    more = len(lines) - _MOST_SCHEMA_LINES
    rest = [f"and {more:,} more tables"] if more > 0 else []
    head = ("table", "id", "since", "changed", "readers", "records")
    shown = [_table(head, rows, names=5)] if rows else []
    return [f"**Writer schemas:** {literal(schemas_headline(schemas))}", *shown, *rest]


def _readers(one: SchemaRow) -> str:
    return literal(": ".join(filter(None, [one.readers, one.reasons])))


def _findings(findings: Sequence[ReportedFinding]) -> list[str]:
    if not findings:
        return []
    rows = [
        [one.severity, _class_of(one), _tables(one), code(one.path), f"{one.count:,}"] for one in findings[:_MOST_ROWS]
    ]
    more = len(findings) - _MOST_ROWS
    rest = f"\n\nand {more:,} more findings" if more > 0 else ""
    table = _table(("", "finding", "table", "path", "messages"), rows, names=4) + rest
    return [table, *(_details(one) for one in findings[:_MOST_ROWS])]


def _tables(finding: ReportedFinding) -> str:
    return table_name(finding) if finding.tables else code(finding.table or "")


def _class_of(finding: ReportedFinding) -> str:
    return f"{literal(finding.name)} {code(finding.rule)}"


def _details(finding: ReportedFinding) -> str:
    ddl, began, document = explained_words(finding), began_words(finding), finding.document
    where = " ".join(filter(None, [_tables(finding), code(finding.path)]))
    facts = [
        literal(f"{frequency(finding)}; {onset_words(finding)}"),
        f"tables {code(table_words(finding))}" if finding.tables else "",
        *(f"column {code(line)}" for line in column_lines(finding)),
        "" if finding.columns else f"expected {code(finding.expected)}, observed {_observed(finding)}",
        f"explained by {literal(ddl)}" if ddl else "",
        f"began with {literal(began)}" if began else "",
        f"similar to {', '.join(code(one) for one in finding.similar)}" if finding.similar else "",
        f"**fix:** {literal(sentence(finding.action))}",
        f"source: {literal(visible(document))}" if document else "",
    ]
    parts = [
        f"<details><summary>{finding.severity}: {_class_of(finding)} {where}</summary>",
        literal(sentence(finding.explanation or "")),
        "\n".join(f"- {fact}" for fact in facts if fact),
        _example(finding.example),
        _fence("sh", command(finding) or "") if command(finding) else "",
        "</details>",
    ]
    return "\n\n".join(filter(None, parts))


def _observed(finding: ReportedFinding) -> str:
    return ", ".join(
        code(text) if count is None else f"{code(text)} ({count:,})" for text, count in observed_counts(finding)
    )


def _example(example: ExampleMessage | UnsetType | None) -> str:
    return f"{literal(place(example))}:\n\n{_fence('json', example.message)}" if example else ""


def _fence(language: str, text: str) -> str:
    """Return text in a fence that is longer than any inside."""
    lines = "\n".join(visible_lines(text))
    fence = "`" * max([3, *(len(found) + 1 for found in _LONGEST_FENCE.findall(lines))])
    return f"{fence}{language}\n{lines}\n{fence}"
