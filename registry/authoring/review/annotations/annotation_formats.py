"""Annotation formats of a review: by name for stdout, by file extension for reports."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final
from xml.etree import ElementTree as ET

from cdc_contracts.registry.authoring.review.annotations.annotation import (
    ORDER,
    Annotation,
    Review,
    most_severe_first,
    relative_to_repository,
)
from cdc_contracts.registry.authoring.review.annotations.annotation_lines import place_of, render_lines, summarise
from cdc_contracts.registry.authoring.review.annotations.sarif import render_sarif
from cdc_contracts.registry.core.common.atomic_files import check_place, write_whole
from cdc_contracts.registry.core.common.errors import UnavailableError, UsageError
from cdc_contracts.registry.core.common.findings import ERROR, INFO, WARNING
from cdc_contracts.registry.core.common.safe_text import visible
from cdc_contracts.registry.core.report.json_documents import render_json
from cdc_contracts.registry.core.report.report_markdown import join_parts, literal

_MOST: Final = 20
_MARKS: Final = {ERROR: "❌", WARNING: "⚠️", INFO: "💬"}
_LONGEST_TITLE: Final = 200
_COMMANDS: Final = {ERROR: "error", WARNING: "warning", INFO: "notice"}
_ENDINGS: Final = MappingProxyType({
    ".txt": "text", ".json": "json", ".xml": "junit", ".sarif": "sarif", ".md": "markdown",
})  # fmt: skip


def render_digest(review: Review) -> str:
    """Return the review as GitHub-flavoured Markdown, short enough for a comment."""
    most_severe = min((one.severity for one in review.reported), key=ORDER.__getitem__, default=None)
    mark = _MARKS[most_severe] if most_severe else "✅"
    head = f"### {mark} cdc-contracts {review.command}: {literal(summarise(review))}"
    parts = [head, *(f"> {literal(note)}" for note in review.notes)]
    parts += [_paragraph(one) for one in most_severe_first(review)[:_MOST]]
    if len(review.reported) > _MOST:
        parts.append(f"… and {len(review.reported) - _MOST} more, in the log of the run")
    if review.ignored:
        parts.append("\n".join(["<details><summary>Ignored</summary>\n", *_suppressed(review), "\n</details>"]))
    return join_parts(parts, "… and more, in the JSON report")


def _paragraph(one: Annotation) -> str:
    place = literal(place_of(one, relative_to_repository(one.file)))
    title = literal(f"{one.rule} {one.name} {one.path}".rstrip())
    lines = [f"{_MARKS[one.severity]} **{title}** {place}", f"{literal(one.message)}"]
    if one.proof:
        return "\n".join([*lines, "", *(f"    {visible(line, most=None)}" for line in one.proof)])
    return "\n".join([*lines, literal(one.help)])


def _suppressed(review: Review) -> Iterator[str]:
    for one in review.ignored:
        if one.suppression is not None:
            place = literal(place_of(one, relative_to_repository(one.file)))
            yield f"- {one.rule} {one.name} {place}, until {one.suppression.until}: {literal(one.suppression.reason)}"


def render_junit(review: Review, *, fail_on: str = ERROR) -> str:
    """Return the review as JUnit XML, as narrow as the schema that Jenkins checks reports with (junit-10).

    A file with findings is a suite and a finding a test: one that fails the run is failed, a less severe one passes
    with the finding as its output, an ignored one is skipped. If nothing was found, one passed test says what was
    checked.
    """
    heavy = ORDER[fail_on]
    root = ET.Element("testsuites", {"name": f"cdc-contracts {review.command}"})
    whole = ET.SubElement(root, "testsuite", {"name": f"cdc-contracts {review.command}"})
    case = ET.SubElement(whole, "testcase", {"name": "everything was looked at", "classname": review.command})
    result = "\n".join(visible(line, most=None) for line in (summarise(review), *review.notes))
    ET.SubElement(case, "system-out").text = result
    for file, found in groupby(review.annotations, key=lambda one: one.file):
        suite = ET.SubElement(root, "testsuite", {"name": visible(file, most=None)})
        names: dict[str, int] = {}
        for one in found:
            name = _name(one)
            names[name] = names.get(name, 0) + 1
            _case(suite, one, name if names[name] == 1 else f"{name} ({names[name]})", heavy=heavy)
    for element in (root, *root):
        _count(element)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _name(one: Annotation) -> str:
    """Return the name of a test; most readers merge tests of the same name."""
    return visible(f"{one.rule} {one.name} {place_of(one)} {one.path}".strip(), most=None)


def _case(suite: ET.Element, one: Annotation, name: str, *, heavy: int) -> None:
    case = ET.SubElement(suite, "testcase", {"name": name, "classname": visible(one.file, most=None)})
    message = visible(one.message)
    result = [f"{place_of(one)}: {one.severity}", *one.lines]
    text = "\n".join(visible(line, most=None) for line in result)
    if one.suppression is not None:
        why = f"ignored until {one.suppression.until}: {one.suppression.reason}"
        ET.SubElement(case, "skipped", {"message": visible(why)}).text = text
    elif ORDER[one.severity] <= heavy:
        ET.SubElement(case, "failure", {"type": one.rule, "message": message}).text = text
    else:
        ET.SubElement(case, "system-out").text = text


def _count(element: ET.Element) -> None:
    for name, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error")):
        element.set(name, str(sum(1 for _ in element.iter(tag))))
    if element.tag == "testsuite":
        element.set("skipped", str(sum(1 for _ in element.iter("skipped"))))


def render_workflow(review: Review) -> str:
    """Return a workflow command for each annotation that is not ignored, the most severe first.

    GitHub shows the first ten of a kind that one step writes.
    """
    return "".join(_command(one) + "\n" for one in most_severe_first(review))


def _command(one: Annotation) -> str:
    # a finding about a whole file is shown on its first line
    places = {"file": relative_to_repository(one.file), "line": one.line or 1, "col": one.column}
    given = {**places, "title": visible(f"{one.rule} {one.name} {one.path}".rstrip(), most=_LONGEST_TITLE)}
    result = ",".join(f"{name}={_property(visible(str(value), most=None))}" for name, value in given.items() if value)
    text = "\n".join(visible(line, most=None) for line in one.lines)
    return f"::{_COMMANDS[one.severity]} {result}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def render_document(review: Review) -> str:
    """Return the whole review, ignored annotations apart."""
    return render_json({
        "command": review.command,
        "findings": [_as_data(one) for one in review.reported],
        "ignored": [_as_data(one) for one in review.ignored],
        "checked": dict(review.checked),
        "notes": list(review.notes),
    })  # fmt: skip


def _as_data(one: Annotation) -> dict[str, Any]:
    result = {
        "rule": one.rule, "name": one.name, "severity": one.severity, "file": one.file, "line": one.line,
        "column": one.column, "path": one.path, "message": one.message, "help": one.help, **one.data,
    }  # fmt: skip
    return result | {"ignored": asdict(one.suppression)} if one.suppression else result


_PLAIN: Final[Mapping[str, Callable[[Review], str]]] = MappingProxyType({
    "text": render_lines, "json": render_document, "sarif": render_sarif, "github": render_workflow,
    "markdown": render_digest,
})  # fmt: skip


def render_review(review: Review, form: str, *, fail_on: str = ERROR) -> str:
    """Return the review in the format of a name."""
    return render_junit(review, fail_on=fail_on) if form == "junit" else _PLAIN[form](review)


def check_targets(targets: Sequence[Path]) -> None:
    """Check, before any work is done, that reports can be written.

    Raises UsageError if a file is of no known kind, occurs twice or is a folder, UnavailableError if it cannot
    be written.
    """
    for target in targets:
        if target.suffix not in _ENDINGS:
            raise UsageError(
                f"`{target.suffix or target.name}` is not a report format",
                where=str(target),
                hint="Use .sarif, .json, .xml (JUnit), .md or .txt.",
            )
        check_place(target, kept=[other for other in targets if other is not target])


def write_reports(review: Review, targets: Sequence[Path], *, fail_on: str = ERROR) -> None:
    """Write the review to each file in the kind of its ending; files are written atomically.

    Raises UnavailableError if one cannot be written, after the others.
    """
    failures = []
    for target in targets:
        try:
            write_whole(target, render_review(review, _ENDINGS[target.suffix], fail_on=fail_on))
        except UnavailableError as error:
            failures.append(error)
    if failures:
        raise failures[0]
