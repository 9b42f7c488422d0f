"""HTML page of a report: verdict first, then the contract, the ledger, the timeline, the findings and the profile.

The page is self-contained: no script, no request, one style sheet inside, and a policy that forbids the rest.
"""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Final

from cdc_contracts.registry.core.common.findings import INFO, SEVERITIES
from cdc_contracts.registry.core.common.safe_text import sentence, visible
from cdc_contracts.registry.core.detect.reported_detection import ReportedDetection
from cdc_contracts.registry.core.report.html_findings import facts, finding_list
from cdc_contracts.registry.core.report.html_markup import (
    Markup,
    cell,
    element,
    fold,
    heading,
    join,
    more,
    name_of,
    row,
    table,
    with_code,
)
from cdc_contracts.registry.core.report.html_profile import profile_section
from cdc_contracts.registry.core.report.html_schemas import schema_section
from cdc_contracts.registry.core.report.report_model import Ledger, PartitionLedger, Report
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
    period,
    source_words,
    switch_words,
)
from cdc_contracts.registry.core.report.reported_findings import ReportedFinding
from cdc_contracts.registry.core.report.svg_timeline import shares_strip, timeline

_MOST_PARTITIONS: Final = 200
_MOST_IN_SIGHT: Final = 12
_MOST_ACTIONS: Final = 3
_MOST_SWITCHES: Final = 100
_NOT_DECLARED: Final = "nothing, so it was detected"
_MOST_TOPICS: Final = 50


def render_page(report: Report) -> str:
    """Return the page."""
    style = files("cdc_contracts.registry.core.report").joinpath("report.css").read_text(encoding="utf-8")
    head = [
        element("meta", charset="utf-8"),
        _policy(style),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", f"{report.verdict.upper()}: {source_words(report)}"),
        element("style", Markup(style)),
    ]
    sections = [
        _section("Contract", contract_facts(report)),
        _section("Ledger", _ledger(report.ledger)),
        _section("Timeline", _timeline(report)),
        _section("Schemas", schema_section(report)),
        _section("Findings", finding_list(report)),
        _section("Profile", profile_section(report)),
    ]
    body = [_header(report), element("main", join(sections, "\n")), _footer(report)]
    page = element("html", element("head", join(head, "\n")), element("body", join(body, "\n")), lang="en")
    return f"<!doctype html>\n{page}\n"


def _policy(style: str) -> Markup:
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    allowed = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return element("meta", http_equiv="Content-Security-Policy", content=allowed)


def _section(title: str, content: Markup | None) -> Markup | None:
    if content is None:
        return None
    return element("section", element("h2", title, id=title.lower()), content, aria_labelledby=title.lower())


def _header(report: Report) -> Markup:
    verdict = report.verdict
    ledger = report.ledger
    result = notes(report)
    severities = Counter(finding.severity for finding in report.findings)
    figures = [
        (f"{ledger.read:,}", "read"),
        (f"{ledger.conforming:,}", "conform"),
        *([(f"{ledger.control:,}", "control")] if ledger.control else []),
        (f"{ledger.quarantined:,}", "quarantined"),
        *([(f"{ledger.contradicted:,}", "contradicted")] if ledger.contradicted else []),
        *((f"{severities[one]:,}", _plural(one, severities[one])) for one in SEVERITIES if severities[one]),
    ]
    return element(
        "header",
        element("p", f"Audit of {source_words(report)}", class_="eyebrow"),
        element("h1", element("span", verdict.upper(), class_=f"verdict {verdict}"), " ", headline(report)),
        element("ul", *(element("li", note) for note in result), class_="notes") if result else None,
        element(
            "dl",
            *(element("div", element("dt", title), element("dd", number)) for number, title in figures),
            class_="figures",
        ),
        _actions(report.findings),
    )


def _plural(severity: str, number: int) -> str:
    return severity if number == 1 or severity == INFO else f"{severity}s"


def _actions(findings: Sequence[ReportedFinding]) -> Markup | None:
    """What to do, in order of weight, each action once with the first finding that asks for it."""
    first: dict[str, int] = {}
    for number, finding in enumerate(findings, 1):
        if finding.severity != "info":
            first.setdefault(finding.action, number)
    if not first:
        return None
    entries = [
        element(
            "li", with_code(sentence(action)), " ", element("a", findings[number - 1].name, href=f"#finding-{number}")
        )
        for action, number in list(first.items())[:_MOST_ACTIONS]
    ]
    return element("section", element("h2", "What to do", id="do"), element("ol", *entries), aria_labelledby="do")


def _ledger(ledger: Ledger) -> Markup:
    partitions, counts = ledger.partitions, counts_of(ledger)
    if not partitions:
        return element("p", "Nothing was validated.", class_="none")
    rows = [_partition_row(one, counts) for one in heaviest(partitions, _MOST_PARTITIONS)]
    whole = [_sum_row(ledger, counts)]
    keys = [element("li", shares_strip([(part, 1)]), part) for part in counts[1:]]
    few = len(rows) <= _MOST_IN_SIGHT
    return join([
        _ledger_table([*rows, *whole] if few and len(rows) > 1 else rows if few else whole, counts),
        None if few else fold(count_of(len(partitions), "partition"), _ledger_table(rows, counts)),
        more(len(partitions) - _MOST_PARTITIONS, "partitions"),
        element("ul", *keys, class_="legend shares"),
    ])  # fmt: skip


def _ledger_table(rows: Sequence[Markup], counts: Sequence[str]) -> Markup:
    numbers = [heading(text, "number") for text in (*counts, "gaps")]
    head = [heading("partition"), heading("offsets"), *numbers, heading("share")]
    return table(rows, head=head, kind="cards ledger")


def _partition_row(one: PartitionLedger, counts: Sequence[str]) -> Markup:
    times = period(one.first_timestamp, one.last_timestamp)
    offsets = join([f"{one.start} to {one.end}", element("span", times, class_="times") if times else None])
    numbers = {name: getattr(one, name) for name in counts}
    return _ledger_row(f"{one.topic} {one.partition}", cell(offsets, label="offsets"), numbers, one.gaps)


def _sum_row(ledger: Ledger, counts: Sequence[str]) -> Markup:
    numbers = {name: getattr(ledger, name) for name in counts}
    return _ledger_row(None, cell(join([""])), numbers, sum(one.gaps for one in ledger.partitions))


def _ledger_row(name: str | None, offsets: Markup, counts: Mapping[str, int], gaps: int) -> Markup:
    return row(
        element("th", name_of(name) if name else "all", scope="row", role="rowheader"),
        offsets,
        *(cell(f"{number:,}", _tone(key, number), label=key) for key, number in {**counts, "gaps": gaps}.items()),
        cell(shares_strip(list(counts.items())[1:]), "bar"),
        kind=None if name else "all",
    )


def _tone(key: str, number: int) -> str:
    if not number:
        return "number zero"
    return "number bad" if key in ("quarantined", "contradicted") else "number"


def _timeline(report: Report) -> Markup | None:
    chart, switches = timeline(report), report.switches
    entries = [
        element("li", name_of(f"{one.topic} {one.partition}"), " ", switch_words(one))
        for one in switches[:_MOST_SWITCHES]
    ]
    if not chart and not entries:
        return None
    listed = join([
        element("ul", *entries, class_="switches") if entries else None,
        more(len(switches) - _MOST_SWITCHES, "switches"),
    ])  # fmt: skip
    few = len(entries) <= _MOST_IN_SIGHT
    return join([listed if few else fold(count_of(len(switches), "switch", "switches"), listed), chart])


def _footer(report: Report) -> Markup:
    tool = report.tool or "cdc-contracts"
    fails = f" Run with --fail-on {','.join(report.fail_on)}." if report.fail_on else ""
    return element("footer", element("p", f"{tool}, report version {report.report_version}.{fails}"))


def contract_facts(report: Report) -> Markup:
    """Return what is known of the contract, or of the contract of each topic."""
    declared = name_of(report.contract) if report.contract != "auto" else element("span", _NOT_DECLARED)
    by_topic = [(topics, name_of(contract)) for topics, contract in contracts_of(report)]
    found = list(detections_of(report))
    proven = [join([name_of(name), f" {count:,}"]) for name, count in report.versions_seen.items() if count]
    undecided = report.versions_undecided
    return join([
        facts([
            *(by_topic or [("Declared", declared)]),
            *(fact for topic, detection in found if topic is None for fact in _found(detection)),
            ("Fit one version only", join(proven, ", ") if proven else None),
            ("Fit several versions", f"{undecided:,}" if undecided else None),
        ]),
        *(_topic(topic, detection) if topic else _support(detection) for topic, detection in found[:_MOST_TOPICS]),
    ])  # fmt: skip


def _topic(topic: str, detection: ReportedDetection) -> Markup:
    return fold(f"{visible(topic)}: {detected(detection)}", facts(_found(detection)), _support(detection))


def _found(detection: ReportedDetection) -> list[tuple[str, str | None]]:
    equivalent, messages = detection.equivalent or (), count_of(detection.messages, "message")
    return [
        ("Found", join([element("strong", detected(detection)), f", from {messages}"])),
        ("To decide", sentence(detection.settle or "")),
        ("Indistinguishable from", join(map(name_of, equivalent), ", ") if equivalent else None),
    ]


def _support(detection: ReportedDetection) -> Markup:
    """Return the evidence, and the support for each candidate."""
    entries = [element("li", says, " ", element("small", support)) for says, support in evidence_list(detection)]
    titles = ("fit", "for it", "against it")
    rows = [
        row(
            cell(name_of(one.contract)),
            *(cell(f"{number:,}", "number") for number in (one.records, one.votes, one.against)),
        )
        for one in detection.candidates
    ]
    head = [heading("candidate"), *(heading(title, "number") for title in titles)]
    return join([
        element("ul", *entries, class_="evidence") if entries else None,
        table(rows, head=head, kind="candidates") if rows else None,
    ])  # fmt: skip
