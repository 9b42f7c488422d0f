"""Message output of `why`: the contract of a message, the rules it breaks, its members, and other candidates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from cdc_contracts.cli.output import console
from cdc_contracts.registry.core.validate.verdicts import (
    AMBIGUOUS,
    CONFORMING,
    CONTROL,
    LEFT_OPEN,
    OTHER_DIALECT,
    OTHER_VERSION,
    TOMBSTONE,
    UNREADABLE,
)

if TYPE_CHECKING:
    from cdc_contracts.registry.authoring.explain.annotated_messages import (
        AnnotatedMessage,
        ColumnPart,
        MessagePart,
        RowPart,
    )
    from cdc_contracts.registry.authoring.explain.finding_explanations import Remark
    from cdc_contracts.registry.authoring.explain.message_explanations import MessageExplanation, Other
    from cdc_contracts.registry.core.message.unreadable_bytes import ParseFault
    from cdc_contracts.registry.core.records.record_origins import Found

_MOST_FINDINGS = 20
_MOST_PARTS = 60
_MOST_COLUMNS = 60
_MOST_IMAGES = 4
_LONGEST = 200
_STATES = {"null": "NULL", "broken": "cannot be read", "untyped": "no type", "absent": ""}


def print_explanation(one: MessageExplanation, found: Found) -> None:
    """Print a message explanation, the outcome first."""
    _print_head(one, found)
    if one.fault is not None:
        _print_fault(one.fault, one.findings)
        return
    if one.findings:
        _print_findings(one.findings)
    if one.anatomy is not None:
        _print_annotated(one.anatomy)
    _print_others(one.others)
    if one.anatomy is not None and not one.values_shown:
        console.say(
            "values are shown as shapes (9: a digit, a: a letter, x: another character); --show-values shows them"
        )


def _print_head(one: MessageExplanation, found: Found) -> None:
    console.print_text(f"{one.outcome.upper()}: {_sentence(one)}")
    rows = [
        ("where", f"{found}, {one.bytes:,} bytes"),
        ("key", _format_key(found.key)),
        ("contract", f"{one.contract}: {one.choice}" if one.contract else ""),
        ("looks like", one.wrapping or ""),
        ("inside", f"a message that fits {', '.join(one.inside)}" if one.inside else ""),
    ]
    console.print_table(["", ""], [row for row in rows if row[1]])


def _sentence(one: MessageExplanation) -> str:
    what = _what(one.anatomy)
    match one.outcome:
        case outcome if outcome == TOMBSTONE:
            return "the value is null: the key is deleted in a compacted topic"
        case outcome if outcome == UNREADABLE:
            return "these bytes are not a message"
        case outcome if outcome == CONFORMING:
            return f"{what} that conforms to {_contracts(one)}"
        case outcome if outcome == CONTROL:
            return f"{what} without a row that conforms to {_contracts(one)}"
        case outcome if outcome == AMBIGUOUS and any(remark.rule == LEFT_OPEN for remark in one.findings):
            return f"{what}, outside the ranges of any version"
        case outcome if outcome == AMBIGUOUS:
            return f"{what}; the message alone does not determine its contract"
        case outcome if outcome == OTHER_VERSION:
            subject = f"{(one.contract or '').partition('@')[0]}@"
            fits = " and ".join(
                other.contract for other in one.others if other.fits and other.contract.startswith(subject)
            )
            return f"{what} that conforms to {fits}, not to {one.contract}"
        case outcome if outcome == OTHER_DIALECT and one.declared is None:
            near = f"the closest match is {one.contract}" if one.contract else "no contract comes close"
            return f"the message is not in the catalogue; {near}"
        case outcome if outcome == OTHER_DIALECT:
            return f"the message is not in the dialect of {one.contract}"
    return f"{what} that does not conform to {one.contract}"


def _contracts(one: MessageExplanation) -> str:
    alike = sum(other.fits and other.alike is True for other in one.others)
    if one.declared is not None or not alike:
        return str(one.contract)
    return f"{one.contract}, and to {alike} other{'s' * (alike > 1)} that read{'s' * (alike == 1)} it the same way"


def _what(anatomy: AnnotatedMessage | None) -> str:
    if anatomy is None or anatomy.op is None:
        return "a message" + (f" with the unknown code {anatomy.code}" if anatomy and anatomy.code else "")
    article = "an" if anatomy.op[0] in "aeiou" else "a"
    return f"{article} {anatomy.op}" + (f" of {anatomy.table}" if anatomy.table else "")


def _format_key(key: bytes | None) -> str:
    from cdc_contracts.registry.core.values import describe_shape

    if key is None:
        return ""
    size = f"{len(key):,} byte{'s' * (len(key) != 1)}"
    return f"{describe_shape(key.decode('utf-8', 'replace'))}, {size}"


def _print_fault(fault: ParseFault, findings: Sequence[Remark]) -> None:
    console.print_heading("Where parsing stops")
    at = "no single byte" if fault.position is None else f"byte {fault.position:,}, counted from 0"
    rows = [("at", at), ("because", fault.reason), (f"from {fault.window_at:,}", fault.window)]
    if fault.guess is not None:
        rows.append(("looks like", fault.guess))
    rows += [("rule", f"{finding.name} ({finding.rule})") for finding in findings]
    console.print_table(["", ""], [*rows, ("fix", fault.action)])


def _print_findings(findings: Sequence[Remark]) -> None:
    console.print_heading("Findings")
    for finding in findings[:_MOST_FINDINGS]:
        _print_finding(finding)
    if len(findings) > _MOST_FINDINGS:
        console.print_line(f"and {len(findings) - _MOST_FINDINGS:,} more findings: --json shows all")


def _print_finding(finding: Remark) -> None:
    name = f"{finding.name} ({finding.rule})"
    console.print_text(f"{finding.severity} {name} at {finding.path or 'the message as a whole'}")
    rows = [("  expected", finding.expected), ("  observed", finding.observed), ("  rule", finding.means)]
    rows += [("  contract", saying) for saying in finding.says]
    rows += [("  decided", erratum) for erratum in finding.errata]
    if finding.document is not None:
        rows.append(("  source", finding.document))
    console.print_table(["", ""], [*rows, ("  fix", finding.action)])


def _print_annotated(anatomy: AnnotatedMessage) -> None:
    console.print_heading("The message")
    rows = [(part.at, _cut(part.wire), _format_read(part)) for part in anatomy.parts[:_MOST_PARTS]]
    console.print_table(["MEMBER", "HOLDS", "READ AS"], rows)
    if anatomy.members > len(rows):
        console.print_line(f"and {anatomy.members - len(rows):,} more members")
    for image in anatomy.images[:_MOST_IMAGES]:
        _print_row(image)
    if anatomy.rows > _MOST_IMAGES:
        console.print_line(f"and {anatomy.rows - _MOST_IMAGES:,} more rows")


def _format_read(part: MessagePart) -> str:
    if part.fact is None:
        return "" if part.known else "the contract has no such member"
    return part.fact if part.reads in (None, part.wire.strip('"')) else f"{part.fact}: {_cut(part.reads)}"


def _print_row(image: RowPart) -> None:
    number = f", row {image.row + 1}" if image.row else ""
    place = f" in {image.at}" if image.at else " in the message itself"
    role = f" {image.role}" if image.role else ""
    unread = "" if image.role else ", which is not read"
    console.print_heading(f"Row{role}{place}{number}{unread}")
    rows = [
        (column.name, _format_type(column), _cut(column.wire), _format_text(column, image))
        for column in image.columns[:_MOST_COLUMNS]
    ]
    console.print_table(["COLUMN", "TYPE, WRITTEN AS", "HOLDS", "CANONICAL TEXT"], rows, fixed=0)
    if len(image.columns) > len(rows):
        console.print_line(f"and {len(image.columns) - len(rows):,} more columns")


def _format_type(column: ColumnPart) -> str:
    return "\n".join(part for part in (column.source_type, column.form) if part)


def _format_text(column: ColumnPart, image: RowPart) -> str:
    result = _cut(column.text) if column.text is not None else _STATES.get(column.state, "")
    notes = ["no such time, or two of them: kept as sent"] if column.state == "invalid" else []
    notes += ["with a note"] if column.state == "noted" else []
    notes += ["sent for another value as well"] if column.state == "substitute" else []
    notes += [f"from {column.at}"] if column.at != image.at else []
    return f"{result} ({', '.join(notes)})" if notes else result


def _print_others(others: Sequence[Other]) -> None:
    near = [one for one in others if one.fits or one.members]
    if near:
        console.print_heading("Other contracts")
        console.print_table(["", ""], _join_alike(near), fixed=0)


def _join_alike(others: Sequence[Other]) -> Iterator[tuple[str, str]]:
    """Yield the other contracts, versions of one subject that fit or fail alike on one line."""
    for (subject, result), group in groupby(
        others, key=lambda one: (one.contract.partition("@")[0], _format_other(one))
    ):
        numbers = [f"@{one.contract.partition('@')[2]}" for one in group]
        yield f"{subject}{', '.join(sorted(numbers))}", result


def _format_other(other: Other) -> str:
    if other.fits:
        ways = {None: "fits", True: "fits and reads it the same way", False: "fits, but reads it differently"}
        return ways[other.alike]
    return other.why_not or ""


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text):,} characters)"
