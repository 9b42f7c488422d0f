"""Finding wording: what is said of a finding, the same on the terminal, in Markdown, in HTML and in JUnit."""

from __future__ import annotations

from typing import Final

from msgspec import UNSET

from cdc_contracts.registry.core.common.pointers import split_pointer
from cdc_contracts.registry.core.common.safe_text import list_first, visible
from cdc_contracts.registry.core.contract.table_families import name_together
from cdc_contracts.registry.core.report.report_wording import PROFILE, count_of, list_some, place, places, share
from cdc_contracts.registry.core.report.reported_findings import BeginningSchema, ReportedFinding

_MOST_OPS: Final = 3
_MOST_LINES: Final = 12
_MOST_TABLES: Final = 5


def subject_line(finding: ReportedFinding) -> str:
    """Return where a finding is: table and path."""
    return f"{table_name(finding)} {visible(finding.path) or '(message)'}"


def table_name(finding: ReportedFinding) -> str:
    """Return the table of a finding, or how many it is on, with the name of their family if they have one."""
    if finding.tables:
        several = count_of(len(finding.tables), "table")
        families = {one.family for one in finding.tables}
        family = families.pop() if len(families) == 1 else UNSET
        return f"{visible(family)} ({several})" if family else several
    return "any table" if finding.table is None else visible(finding.table)


def table_words(finding: ReportedFinding) -> str:
    """Return the first of several tables of a finding, new ones if others are known; nothing for other findings.

    Tables of a family are named once, as are those whose names differ in digits only.
    """
    tables = finding.tables or ()
    new = [one for one in tables if not one.known]
    found = name_together((one.table, one.family or None) for one in new)
    names, known = list_first([*map(visible, found)], _MOST_TABLES), len(tables) - len(new)
    return f"new: {names}; {known:,} known" if known else names


def count_words(finding: ReportedFinding) -> str:
    """Return how many messages have a finding, of how many that might."""
    return f"{'at least ' if finding.at_least else ''}{finding.count:,} of {finding.denominator:,}"


def frequency(finding: ReportedFinding) -> str:
    """Return how many of how many, and the share."""
    result = count_words(finding)
    return f"{result} ({share(finding.count, finding.denominator)})" if finding.denominator else result


def onset_words(finding: ReportedFinding) -> str:
    """Return since when: every message since some offsets, sporadic, or once."""
    onset = finding.onset
    if finding.name == PROFILE:
        return "in the messages read, compared with the baseline report"
    if not finding.count:
        return "not seen in the messages read"
    if onset is UNSET:
        return f"first at {place(finding.first)}"
    since = onset.since or (finding.first,)
    if onset.kind == "once":
        return f"once, at {place(since[0])}"
    result = places(since)
    if onset.kind != "every":
        return f"sporadic, since {result}"
    return f"every message of {'these tables' if finding.tables else 'the table'}{_ops_of(finding)} since {result}"


def _ops_of(finding: ReportedFinding) -> str:
    """Return the op codes that have a finding: only messages with these can; nothing if they are many, or not known."""
    ops = finding.ops
    if not 0 < len(ops) <= _MOST_OPS or sum(ops.values()) < finding.count:
        return ""
    *others, last = map(visible, ops)
    return f" with op {', '.join(others)} or {last}" if others else f" with op {last}"


def observed_counts(finding: ReportedFinding) -> list[tuple[str, int | None]]:
    """Return what was seen instead, the most frequent first, with counts where the report has them."""
    if finding.histogram:
        return [(visible(one.observed), one.count) for one in finding.histogram]
    return [(visible(text), None) for text in finding.observed]


def observed_words(finding: ReportedFinding) -> str:
    """Return what was seen instead, with counts where there are several."""
    counted = observed_counts(finding)
    return ", ".join(text if count is None or len(counted) == 1 else f"{text} ({count:,})" for text, count in counted)


def command(finding: ReportedFinding) -> str | None:
    """Return the command that shows a record with the finding again, None if no record has it."""
    return (finding.reproduce or None) if finding.count else None


def explained_words(finding: ReportedFinding) -> str | None:
    """Return the DDL message that explains a finding."""
    ddl = finding.explained_by
    return f"{visible(ddl.text)} at {place(ddl)}" if ddl else None


def began_words(finding: ReportedFinding) -> str | None:
    """Return the id of the writer schema that a finding began with, or those of its tables, and since where."""
    if finding.began_with:
        return _schema_start(finding.began_with)
    starts = [(one.table, one.began_with) for one in finding.tables or () if one.began_with]
    said = [f"{visible(table)}: {_schema_start(start)}" for table, start in starts[:_MOST_TABLES]]
    return list_some(said, len(starts) - _MOST_TABLES, "table") or None


def _schema_start(start: BeginningSchema) -> str:
    return f"schema id {start.number}{' of keys' if start.of == 'key' else ''}, since {place(start)}"


def column_lines(finding: ReportedFinding) -> list[str]:
    """Return what was expected and observed of each column of a finding on several; columns alike are named together.

    At most 12 lines, and how many columns are left out.
    """
    alike: dict[tuple[str, str], dict[str, None]] = {}
    for one in finding.columns or ():
        named = split_pointer(one.path)[-1]
        named = visible(f"{named} ({one.source_type})" if one.source_type else named)
        observed = ", ".join(map(visible, one.observed))
        alike.setdefault((visible(one.expected), observed), {}).setdefault(named)
    lines = [
        f"{', '.join(names)}: expected {expected}, observed {observed}" for (expected, observed), names in alike.items()
    ]
    rest = {name for names in [*alike.values()][_MOST_LINES:] for name in names}
    return [*lines[:_MOST_LINES], *([f"and {count_of(len(rest), 'more column')}"] if rest else [])]


def column_words(finding: ReportedFinding) -> str:
    """Return what was expected and observed of each column of a finding on several; nothing for other findings."""
    return "; ".join(column_lines(finding))


def contrast_words(finding: ReportedFinding) -> str:
    """Return what was expected and what was observed, by column where there are several."""
    return column_words(finding) or f"expected {visible(finding.expected)}, observed {observed_words(finding)}"
