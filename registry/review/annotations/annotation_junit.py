"""Annotations as JUnit XML, as narrow as the schema that Jenkins checks reports with (junit-10).

A file with findings is a suite and a finding a test: one that fails the run is failed, a lighter one is passed and says
what it saw, an ignored one is skipped. Where nothing was found, one passed test says what was looked at.
"""

from __future__ import annotations

from itertools import groupby
from xml.etree import ElementTree as ET

from cdc_contracts.registry.common.findings import ERROR
from cdc_contracts.registry.common.safe_text import visible
from cdc_contracts.registry.review.annotations.annotation import ORDER, Annotation, Review
from cdc_contracts.registry.review.annotations.annotation_lines import place_of, summarise


def render_junit(review: Review, *, fail_on: str = ERROR) -> str:
    """Return the review as JUnit XML."""
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
    """Return the name of a test; two tests of one name would be one to most readers."""
    return visible(f"{one.rule} {one.name} {place_of(one)} {one.path}".strip(), most=None)


def _case(suite: ET.Element, one: Annotation, name: str, *, heavy: int) -> None:
    case = ET.SubElement(suite, "testcase", {"name": name, "classname": visible(one.file, most=None)})
    message = visible(one.message)
    result = [f"{place_of(one)}: {one.severity}", *one.lines]
    text = "\n".join(visible(line, most=None) for line in result)
    if one.excuse is not None:
        why = f"ignored until {one.excuse.until}: {one.excuse.reason}"
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
