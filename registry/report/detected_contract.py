"""Detected contract on a page: what was declared, what was detected, and the evidence for it."""

from __future__ import annotations

from typing import Final

from cdc_contracts.registry.common.safe_text import sentence, visible
from cdc_contracts.registry.detect.reported_detection import ReportedDetection
from cdc_contracts.registry.report.html_findings import facts
from cdc_contracts.registry.report.html_markup import (
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
)
from cdc_contracts.registry.report.report_model import Report
from cdc_contracts.registry.report.report_wording import count_of, detected, detections_of, evidence_list

_NOT_DECLARED: Final = "nothing, so it was found out"
_MOST_TOPICS: Final = 50


def contract_facts(report: Report) -> Markup:
    """Return what is known of the contract, or of the contract of each topic."""
    contracts = list((report.source.contracts or {}).items())
    declared = name_of(report.contract) if report.contract != "auto" else element("span", _NOT_DECLARED)
    by_topic = [(visible(topic), name_of(contract)) for topic, contract in contracts[:_MOST_TOPICS]]
    found = list(detections_of(report))
    proven = [join([name_of(name), f" {count:,}"]) for name, count in report.versions_seen.items() if count]
    undecided = report.versions_undecided
    return join([
        facts([
            *(by_topic or [("Declared", declared)]),
            *(fact for topic, detection in found if topic is None for fact in _found(detection)),
            ("Fit one version", join(proven, ", ") if proven else None),
            ("Fit several", f"{undecided:,}" if undecided else None),
        ]),
        more(len(contracts) - _MOST_TOPICS, "topics"),
        *(_topic(topic, detection) if topic else _support(detection) for topic, detection in found[:_MOST_TOPICS]),
    ])  # fmt: skip


def _topic(topic: str, detection: ReportedDetection) -> Markup:
    return fold(f"{visible(topic)}: {detected(detection)}", facts(_found(detection)), _support(detection))


def _found(detection: ReportedDetection) -> list[tuple[str, str | None]]:
    equivalent, messages = detection.equivalent or (), count_of(detection.messages, "message")
    return [
        ("Found", join([element("strong", detected(detection)), f", from {messages}"])),
        ("To settle it", sentence(detection.settle or "")),
        ("Equal to it", join(map(name_of, equivalent), ", ") if equivalent else None),
    ]


def _support(detection: ReportedDetection) -> Markup:
    """Return the evidence, and how the candidates stand."""
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
