"""JUnit XML: valid by the schema of Jenkins, and what fails."""

import re
from xml.etree import ElementTree as ET

import pytest
from junit_schema import check_by_the_schema
from report_examples import NAMES, example
from written_reports import render_junit


def cases_of(report):
    """Of every test its name and how it ended."""
    root = ET.fromstring(render_junit(report))
    return {
        case.get("name"): next((child.tag for child in case if child.tag in ("failure", "error")), "passed")
        for case in root.iter("testcase")
    }


@pytest.mark.parametrize("name", NAMES)
def test_a_report_is_valid_and_its_counts_add_up(name):
    root = ET.fromstring(render_junit(example(name)))
    check_by_the_schema(root)
    (suite,) = root
    for counted in (root, suite):
        assert int(counted.get("tests")) == len(list(root.iter("testcase")))
        assert int(counted.get("failures")) == len(list(root.iter("failure")))
        assert int(counted.get("errors")) == len(list(root.iter("error")))
    names = [(case.get("classname"), case.get("name")) for case in root.iter("testcase")]
    assert len(set(names)) == len(names)


def test_a_finding_that_fails_the_run_is_a_failure():
    assert cases_of(example("drift", fail_on=["error"])) == {
        "every message was validated": "passed",
        "other-version D03.value-form shop.orders /data/0/made": "failure",
        "type-change D06 shop.orders /data/0/total": "failure",
        "unknown-enum D08 shop.orders /type": "failure",
        "unknown-field D04 shop.orders /shard": "passed",
        "table-schema D11 shop.orders /data/0/vip_levle": "passed",
        "not-exercised D15 any table (message)": "passed",
    }


def test_a_class_that_fails_the_run_is_a_failure_whatever_it_weighs():
    found = cases_of(example("drift", fail_on=["unknown-field"]))
    assert [name.split()[0] for name, end in found.items() if end == "failure"] == ["unknown-field"]


def test_a_failure_says_what_to_do():
    root = ET.fromstring(render_junit(example("drift")))
    failure = root.findall(".//failure")[1]
    assert (
        failure.get("message")
        == "120 of 19,984 (0.6 %): expected string, observed number (90), object (20), array (10)"
    )
    assert "\nfix: Compare the product version and its serialization options with the contract.\n" in failure.text


def test_a_report_without_findings_is_one_passed_test():
    assert cases_of(example("pass")) == {"every message was validated": "passed"}


@pytest.mark.parametrize("name", ["empty", "interrupted"])
def test_what_came_to_no_verdict_is_never_green(name):
    assert cases_of(example(name)) == {"every message was validated": "error"}


def test_what_xml_cannot_hold_is_written_as_an_escape():
    text = render_junit(example("attack"))
    assert "\\x1b[31mred\\x1b[0m\\x07\\x00\\ufffe\\ud800" in text
    assert "&lt;script&gt;" in text
    assert "<script" not in text
    assert not re.search("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", text)
