"""Report as JUnit XML, as narrow as the schema that Jenkins checks reports with (junit-10).

A finding that fails the run is a failed test; one that does not is a passed test that says what it saw. The first test
is the run itself: it is in error where the run could not come to a verdict or was stopped, so that nothing green hides
a topic that nobody read.
"""

from __future__ import annotations

from typing import Final
from xml.etree import ElementTree as ET

from cdc_contracts.registry.common.exits import INCONCLUSIVE
from cdc_contracts.registry.common.safe_text import sentence, visible, visible_lines
from cdc_contracts.registry.common.thresholds import parse_threshold
from cdc_contracts.registry.report.report_wording import (
    COUNTS,
    Document,
    column_words,
    command,
    explained_words,
    frequency,
    headline,
    notes,
    observed_words,
    onset_words,
    source_words,
    subject_line,
)

_RUN: Final = "every message was judged"


def render_junit(report: Document) -> str:
    """Return the report as JUnit XML."""
    threshold = parse_threshold(",".join(report.get("fail_on") or ("warning",)))
    unsettled = report["verdict"] == INCONCLUSIVE or bool(report.get("stopped"))
    failing = [threshold.fails(one["class"], one["severity"]) for one in report["findings"]]
    totals = {
        "tests": str(1 + len(failing)),
        "failures": str(sum(failing)),
        "errors": str(int(unsettled)),
    }
    root = ET.Element("testsuites", {"name": "cdc-contracts audit", **totals})
    suite = ET.SubElement(root, "testsuite", {"name": source_words(report), **totals, "skipped": "0"})
    _properties(suite, report)
    _run(suite, report, unsettled=unsettled)
    for finding, fails in zip(report["findings"], failing, strict=True):
        _finding(suite, finding, fails=fails)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _properties(suite: ET.Element, report: Document) -> None:
    properties = ET.SubElement(suite, "properties")
    ledger = report["ledger"]
    counts = {name: str(ledger[name]) for name in COUNTS if name in ledger}
    for name, value in {
        "tool": report.get("tool"),
        "contract": report["contract"],
        "verdict": report["verdict"],
        **counts,
    }.items():
        if value:
            ET.SubElement(properties, "property", {"name": name, "value": visible(value)})


def _run(suite: ET.Element, report: Document, *, unsettled: bool) -> None:
    case = ET.SubElement(suite, "testcase", {"name": _RUN, "classname": "run"})
    result = "\n".join([headline(report), *notes(report)])
    if unsettled:
        kind = report.get("stopped") or report["verdict"]
        error = ET.SubElement(case, "error", {"type": visible(kind), "message": headline(report)})
        error.text = result
    else:
        ET.SubElement(case, "system-out").text = result


def _finding(suite: ET.Element, finding: Document, *, fails: bool) -> None:
    name = f"{finding['class']} {finding['rule']} {subject_line(finding)}"
    case = ET.SubElement(
        suite,
        "testcase",
        {"name": visible(name, most=None), "classname": visible(finding.get("contract") or finding["class"])},
    )
    result = "\n".join(f"{title}: {text}" for title, text in _facts(finding) if text)
    if fails:
        message = f"{frequency(finding)}: expected {visible(finding['expected'])}, observed {observed_words(finding)}"
        ET.SubElement(case, "failure", {"type": visible(finding["class"]), "message": message}).text = result
    else:
        ET.SubElement(case, "system-out").text = result


def _facts(finding: Document) -> list[tuple[str, str | None]]:
    example = finding.get("example")
    return [
        ("why", sentence(finding.get("explanation") or "")),
        ("count", frequency(finding)),
        ("onset", onset_words(finding)),
        ("columns", column_words(finding)),
        ("expected", visible(finding["expected"])),
        ("observed", observed_words(finding)),
        ("explained by", explained_words(finding)),
        ("like", ", ".join(visible(name) for name in finding.get("similar") or ())),
        ("example", "\n".join(visible_lines(example["message"])) if example else None),
        ("document", visible(finding["document"] or "")),
        ("do", sentence(finding["action"])),
        ("again", visible(command(finding) or "", most=None)),
    ]
