"""The models of a report and its JSON: nothing is lost or invented on the way, and what is no report is refused."""

import json

import pytest
from jsonschema import Draft202012Validator
from msgspec import structs
from report_examples import NAMES, example, path_of
from written_reports import report_of

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.report.report_model import ReportSource
from cdc_contracts.registry.core.report.stored_reports import (
    read_document,
    read_report,
    render_report,
    report_schema,
    write_document,
)


@pytest.mark.parametrize("name", NAMES)
def test_a_report_that_was_read_is_written_again_as_it_was_to_the_last_member_and_in_its_order(name):
    document = json.loads(path_of(name).read_bytes())
    report = read_report(path_of(name))
    assert json.dumps(write_document(report)) == json.dumps(document)
    assert read_document(json.loads(render_report(report)), name) == report


@pytest.mark.parametrize(
    ("change", "path"),
    [
        (lambda report: report["ledger"].pop("read"), ".ledger"),
        (lambda report: report["ledger"]["partitions"][1].update(read="many"), ".ledger.partitions[1].read"),
        (lambda report: report["findings"][2].update(count=-1), ".findings[2].count"),
        (lambda report: report["findings"][0]["first"].update(offset=1.5), ".findings[0].first.offset"),
        (lambda report: report["findings"][0].update(invented=1), ".findings[0]"),
        (lambda report: report.update(verdict="fine"), ".verdict"),
    ],
    ids=["missing", "type", "bound", "no integer", "unknown member", "word"],
)
@pytest.mark.parametrize("name", ["drift", "version-1"])
def test_a_broken_report_is_refused_with_the_path_of_what_is_wrong(name, change, path):
    document = example(name)
    change(document)
    with pytest.raises(UsageError, match="this is not a report") as refused:
        read_document(document, "r.json")
    assert refused.value.where == f"r.json{path}"


def test_members_that_came_with_version_2_are_asked_for_in_version_2_alone():
    document = example("drift")
    for member in ("tool", "coverage", "findings_other", "timeline"):
        without = {key: value for key, value in document.items() if key != member}
        with pytest.raises(UsageError, match=f"'{member}' is a required property"):
            read_document(without, "r.json")
    assert "tool" not in write_document(read_report(path_of("version-1")))


def test_a_member_of_the_source_that_this_release_does_not_know_is_read_over():
    document = example("pass")
    document["source"]["cluster"] = "blue"
    assert read_document(document, "r.json") == read_report(path_of("pass"))


def test_half_a_pair_of_surrogates_in_a_report_is_kept():
    report = report_of({"contract": "a\ud800"})
    text = render_report(report)
    text.encode()
    assert read_document(json.loads(text), "r.json") == report


def test_the_report_of_a_dataframe_is_one_by_the_published_schema():
    report = structs.replace(report_of({}), source=ReportSource(kind="dataframe", blank_lines=0))
    Draft202012Validator(report_schema()).validate(json.loads(render_report(report)))
