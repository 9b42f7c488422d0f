"""Baseline: the findings that are known, so that a run reports only what is new.

The file is JSON, sorted, one finding a block, so that it reads well in a review and changes little from run to run. A
finding is known by its fingerprint; how often it was met does not matter.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from cdc_contracts.registry.common.errors import UsageError
from cdc_contracts.registry.common.exits import INCONCLUSIVE
from cdc_contracts.registry.common.thresholds import split_words, verdict_of
from cdc_contracts.registry.stats.finding_causes import fingerprints_of

BASELINE_VERSION: Final = 1
_DEFAULT_FAIL_ON: Final = ("warning",)


@dataclass(frozen=True)
class Baseline:
    """The file as it was named, and the fingerprints it holds."""

    file: str
    fingerprints: frozenset[str]


def read_baseline(path: Path) -> Baseline:
    """Return a baseline that an earlier run wrote.

    Raises UsageError where there is none, or where it is something else.
    """
    hint = "write one with --write-baseline"
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        version = document["baseline_version"]
        fingerprints = frozenset(str(one["fingerprint"]) for one in document["findings"])
    except OSError as error:
        raise UsageError(f"the baseline cannot be read: {error.strerror}", where=str(path), hint=hint) from error
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError("this is no baseline", where=str(path), hint=hint) from error
    if version != BASELINE_VERSION:
        raise UsageError(f"this release does not know version {version} of a baseline", where=str(path), hint=hint)
    return Baseline(str(path), fingerprints)


def render_baseline(report: Mapping[str, Any]) -> str:
    """Return the findings of a report as a baseline."""
    keys = ("fingerprint", "class", "rule", "path", "table")
    known = {one["fingerprint"]: {key: one[key] for key in keys} for one in report["findings"]}
    for finding in report["findings"]:
        for one in finding.get("columns", ()):
            known[one["fingerprint"]] = {key: {**finding, **one}[key] for key in keys}
    found = sorted(known.values(), key=_order)
    document = {"baseline_version": BASELINE_VERSION, "findings": found}
    return json.dumps(document, indent=2) + "\n"


def leave_out_known(report: Mapping[str, Any], baseline: Baseline) -> dict[str, Any]:
    """Return the report without the findings of the baseline, with its verdict from those that are left.

    The ledger stays as it is: what was quarantined was quarantined, known or not.
    """
    findings = [one for one in report["findings"] if not baseline.fingerprints.issuperset(fingerprints_of(one))]
    known = len(report["findings"]) - len(findings)
    result = judge_again(report, findings, ",".join(report.get("fail_on") or _DEFAULT_FAIL_ON))
    return {**result, "baseline": {"file": baseline.file, "known": known}}


def judge_again(report: Mapping[str, Any], findings: Sequence[Mapping[str, Any]], fail_on: str) -> dict[str, Any]:
    """Return a report with some of its findings; its verdict follows from them and from what fails a run now."""
    ledger = report["ledger"]
    verdict = verdict_of(
        ((one["class"], one["severity"]) for one in findings),
        valued=ledger["read"] - ledger["tombstone"] - ledger.get("excluded", 0),
        ambiguous=_is_ambiguous(findings) or _is_open(report),
        unproven=bool(report.get("unproven")),
        fail_on=fail_on,
    )
    return {**report, "verdict": verdict, "fail_on": split_words(fail_on), "findings": list(findings)}


def _is_ambiguous(findings: Sequence[Mapping[str, Any]]) -> bool:
    return any(one["class"] == "ambiguous" for one in findings)


def _is_open(report: Mapping[str, Any]) -> bool:
    """Say whether a run came to no verdict for a reason that is no finding and so cannot be known.

    So it is where the contract was found out from a sample, and records of the range prove another version.
    """
    if report["verdict"] == INCONCLUSIVE and not _is_ambiguous(report["findings"]):
        return True
    if any(
        not stretch["proven"] and stretch["links"] > line["torn"] and stretch["contract"] != report["contract"]
        for line in report.get("chains") or () if not line["doubtful"] and report["contract"] in line["links"]
        for stretch in line["stretches"]
    ):  # fmt: skip
        return True
    detection = report.get("detection") or {}
    subject, version = detection.get("subject"), detection.get("version")
    runs = [run["contract"] for line in report.get("timeline") or () for run in line["runs"]]
    return version is not None and any(
        run != f"{subject}@{version}" and run.partition("@")[0] == subject for run in runs
    )


def _order(finding: Mapping[str, Any]) -> tuple[str, str, str, str]:
    return finding["class"], finding["rule"], finding["path"], finding["table"] or ""
