"""The constraints of Jenkins' schema (junit-10), written again as rules."""

import re

OUTCOME = ({"type", "message"}, set(), set())
ALLOWED = {  # element: attributes it may have, attributes it must have, elements it may hold
    "testsuites": ({"name", "time", "tests", "failures", "errors"}, set(), {"testsuite"}),
    "testsuite": (
        {"name", "tests", "failures", "errors", "group", "time", "skipped", "timestamp", "hostname", "id", "package", "file",
         "log", "url"},
        {"name", "tests", "failures", "errors"},
        {"testsuite", "properties", "testcase", "system-out", "system-err"},
    ),
    "properties": (set(), set(), {"property"}),
    "property": ({"name", "value"}, {"name", "value"}, set()),
    "testcase": (
        {"name", "time", "classname", "group"}, {"name"}, {"skipped", "error", "failure", "system-out", "system-err"},
    ),
    "failure": OUTCOME, "error": OUTCOME, "skipped": OUTCOME,
    "system-out": (set(), set(), set()), "system-err": (set(), set(), set()),
}  # fmt: skip
MAY_HOLD_TEXT = {"failure", "error", "skipped", "system-out", "system-err"}


def check_by_the_schema(element):
    attributes, needed, children = ALLOWED[element.tag]
    assert needed <= set(element.attrib) <= attributes, element.tag
    assert {child.tag for child in element} <= children, element.tag
    assert element.tag in MAY_HOLD_TEXT or not (element.text or "").strip(), element.tag
    assert not (element.tail or "").strip(), element.tag
    assert re.fullmatch(r"(\d{0,3}(,\d{3})*)?(\.\d{0,3})?", element.get("time", "")), element.get("time")
    for child in element:
        check_by_the_schema(child)
