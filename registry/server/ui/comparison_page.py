"""Comparison page of two versions: the verdict, what breaks and its proof, then the documents side by side."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from cdc_contracts.registry.authoring.compat.compatibility_verdict import (
    CompatibilityFinding,
    CompatibilityProof,
    CompatibilityVerdict,
    TextPlace,
)
from cdc_contracts.registry.authoring.compat.levels import Level, Policy
from cdc_contracts.registry.authoring.explain.contract_differences import ContractDifferences
from cdc_contracts.registry.core.common.safe_text import visible
from cdc_contracts.registry.core.report.html_markup import Markup, element, fold, join, name_of, with_code
from cdc_contracts.registry.server.service.builtin_subjects import name_of_file
from cdc_contracts.registry.server.ui.page_frame import listing, section

_MOST_FINDINGS: Final = 100
_LONGEST_VALUE: Final = 4_000
_LONGEST_IN_SIGHT: Final = 300
_LONGEST_PROOF: Final = 1_000
_WORDS: Final = {True: "compatible", False: "incompatible", None: "undecided"}
_KINDS: Final = {
    "refused-by-new": "The old version accepts this message, the new one rejects it.",
    "refused-by-old": "The new version accepts this message, the old one rejects it.",
    "read-differently": "Both accept this message and read it differently.",
}


def verdict_line(verdict: CompatibilityVerdict) -> Markup:
    """Return the verdict, with the policy and level that it was reached by."""
    word = _WORDS[verdict.compatible]
    asked = "" if verdict.policy is Policy.CDC else f" at {verdict.level}"
    return element(
        "p",
        element("span", word.upper(), class_=f"verdict {word}"),
        f" by policy {verdict.policy}{asked}",
        class_="lead",
    )


def finding_section(verdict: CompatibilityVerdict) -> Markup | None:
    """Return the findings of a comparison, each with its proof."""
    findings = verdict.findings[:_MOST_FINDINGS]
    listed = element("ul", *map(_finding, findings), class_="ruled") if findings else None
    left = len(verdict.findings) - len(findings)
    return section(
        "Compatibility findings", listed, element("p", f"and {left:,} more", class_="more") if left else None
    )


def difference_section(found: ContractDifferences) -> Markup | None:
    """Return the facts that differ between two contracts."""
    rows = [(name_of(one.what), one.group, one.left or "-", one.right or "-") for one in found.meaning]
    return section("Differences between the contracts", listing(("fact", "about", found.left, found.right), rows))


def question_form(hidden: dict[str, str], verdict: CompatibilityVerdict) -> Markup:
    """Return the form for choosing another policy or level."""
    return element(
        "form",
        *(element("input", type="hidden", name=name, value=value) for name, value in hidden.items()),
        _choice("policy", [one.value for one in Policy], verdict.policy),
        _choice("level", [one.value for one in Level], verdict.level),
        element("button", "Compare", type="submit"),
        method="get",
        class_="filter",
    )


def _choice(name: str, values: Sequence[str], chosen: str) -> Markup:
    options = [element("option", value, value=value, selected=value == chosen) for value in values]
    return element("label", name, element("select", *options, name=name))


def _finding(finding: CompatibilityFinding) -> Markup:
    facts: list[tuple[str, Markup | str | None]] = [
        ("path", name_of(finding.path or "/")),
        (finding.old_version, join([_value(finding.old, finding.old_place), _place(finding.old_place)])),
        (finding.new_version, join([_value(finding.new, finding.new_place), _place(finding.new_place)])),
        ("fix", with_code(visible(finding.action, most=None))),
        ("Confluent", finding.confluent_rule),
    ]
    entries = [part for name, text in facts if text for part in (element("dt", visible(name)), element("dd", text))]
    return element(
        "li",
        element(
            "h3",
            element("span", finding.severity, class_=f"badge {finding.severity}"),
            f" {finding.rule} {finding.name}",
        ),
        element("p", with_code(finding.says)),
        element("dl", *entries, class_="facts"),
        _proof(finding.proof),
        class_=finding.severity,
    )


def _proof(proof: CompatibilityProof | None) -> Markup | None:
    if proof is None:
        return None
    entries = [("message", proof.message), ("old version", proof.old), ("new version", proof.new)]
    parts = [
        part
        for name, value in entries
        for part in (element("dt", name), element("dd", _text(value, most=_LONGEST_PROOF)))
    ]
    return element(
        "div",
        element("p", f"{_KINDS.get(proof.kind, proof.kind)} Checked by {proof.checked_by}."),
        element("dl", *parts, class_="facts"),
        class_="proof",
    )


def _value(value: Any, place: TextPlace | None) -> Markup | str:
    return "absent" if place is None and value is None else _text(value)


def _place(place: TextPlace | None) -> Markup | None:
    if place is None or place.file is None:
        return None
    at = "" if place.line is None else f":{place.line}"
    return element("small", f" {name_of_file(place.file)}{at}")


def _text(value: Any, *, most: int = _LONGEST_IN_SIGHT) -> Markup:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    shown = element("code", visible(text, most=_LONGEST_VALUE))
    return shown if len(text) <= most else fold(visible(text, most=most), shown)
