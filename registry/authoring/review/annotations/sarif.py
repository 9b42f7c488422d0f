"""SARIF 2.1.0: annotations for code scanning and for editors."""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import PurePath
from typing import Any, Final
from urllib.parse import quote

from cdc_contracts.registry.authoring.compat.compatibility_rule import BREAKING, NOTE, UNDECIDED
from cdc_contracts.registry.authoring.explain.rulebook import RuleEntry, find_rule
from cdc_contracts.registry.authoring.review.annotations.annotation import (
    Annotation,
    Review,
    Suppression,
    relative_to_repository,
)
from cdc_contracts.registry.core.common.findings import ERROR, INFO, WARNING
from cdc_contracts.registry.core.report.json_documents import render_json

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS: Final = {ERROR: "error", WARNING: "warning", INFO: "note"}
_RULE_LEVELS: Final = {**_LEVELS, BREAKING: "error", UNDECIDED: "warning", NOTE: "note"}
_ROOT: Final = "SRCROOT"
_FINGERPRINT: Final = "cdcContracts/v1"


def render_sarif(review: Review) -> str:
    """Return the review as a SARIF log: the rules it names, and a result for each annotation, ignored ones too."""
    from cdc_contracts import __version__

    rules = sorted({one.rule for one in review.annotations})
    seen: Counter[str] = Counter()
    results = [_result(one, rules.index(one.rule), seen) for one in review.annotations]
    driver = {"name": "cdc-contracts", "version": __version__, "rules": [_rule(find_rule(rule)) for rule in rules]}
    notifications = [{"level": "note", "message": {"text": note}} for note in review.notes]
    return render_json({
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": driver},
            "automationDetails": {"id": f"cdc-contracts/{review.command}/"},
            "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": notifications}],
            "originalUriBaseIds": {_ROOT: {"description": {"text": "The top of the repository."}}},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })  # fmt: skip


def _rule(rule: RuleEntry) -> dict[str, Any]:
    why = [rule.why] if rule.why else []
    text = "\n\n".join([rule.says, *why, f"Good: {rule.good}", f"Bad: {rule.bad}", f"What to do: {rule.action}"])
    return {
        "id": rule.id,
        "name": "".join(part.capitalize() for part in rule.name.split("-")),
        "shortDescription": {"text": rule.says},
        "fullDescription": {"text": " ".join([rule.says, *why])},
        "help": {"text": text},
        "defaultConfiguration": {"level": _RULE_LEVELS[rule.severity]},
    }


def _result(one: Annotation, index: int, seen: Counter[str]) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": one.rule,
        "ruleIndex": index,
        "level": _LEVELS[one.severity],
        "message": {"text": "\n".join(one.lines)},
        "locations": [{"physicalLocation": _place(one.file, one.line, one.column)}],
        "partialFingerprints": {_FINGERPRINT: _fingerprint(one, seen)},
    }
    if one.path:
        result["locations"][0]["logicalLocations"] = [{"fullyQualifiedName": one.path, "kind": "member"}]
    if one.suppression is not None:
        result["suppressions"] = [_suppression(one.suppression)]
    return result


def _suppression(suppression: Suppression) -> dict[str, Any]:
    return {
        "kind": "inSource",
        "status": "accepted",
        "justification": f"{suppression.reason} (until {suppression.until})",
        "location": {"physicalLocation": _place(suppression.file, suppression.line, None)},
    }


def _place(file: str, line: int | None, column: int | None) -> dict[str, Any]:
    result = relative_to_repository(file)
    outside = PurePath(result).is_absolute()
    uri = PurePath(result).as_uri() if outside else quote(result)
    place: dict[str, Any] = {"artifactLocation": {"uri": uri} if outside else {"uri": uri, "uriBaseId": _ROOT}}
    if line is not None:
        place["region"] = {"startLine": line} | ({"startColumn": column} if column else {})
    return place


def _fingerprint(one: Annotation, seen: Counter[str]) -> str:
    """Return what identifies a result, and stays when lines move: the line is no part of it."""
    text = "\n".join((one.rule, relative_to_repository(one.file), one.path, one.message))
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    seen[digest] += 1
    return f"{digest}:{seen[digest]}"
