"""Reports as files: in the format of their suffix, written atomically."""

import json
import os
from pathlib import Path

import pytest
from report_examples import NAMES, example, path_of
from written_reports import document_of, report_of

from cdc_contracts.registry.core.common.errors import UnavailableError, UsageError
from cdc_contracts.registry.core.report.report_formats import KINDS, check_targets, write_reports
from cdc_contracts.registry.core.report.stored_reports import read_report


@pytest.mark.parametrize("name", NAMES)
def test_every_kind_is_written_the_same_twice(tmp_path, name):
    report = read_report(path_of(name))
    targets = [tmp_path / f"out{kind}" for kind in KINDS]
    check_targets(targets)
    write_reports(report, targets)
    first = {target.name: target.read_bytes() for target in targets}
    write_reports(report, targets)
    assert {target.name: target.read_bytes() for target in targets} == first
    assert sorted(first) == ["out.html", "out.json", "out.md", "out.xml"]
    assert json.loads(first["out.json"]) == document_of(report) == example(name)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(first)


@pytest.mark.parametrize(
    ("names", "what"),
    [(["r.pdf"], "`.pdf` is not a report format"), (["report"], "`report` is not a report format"),
     (["a.md", "./a.md"], "two reports would be written to the same file"), (["nowhere/a.md"], "there is no such folder"),
     (["folder.md"], "this is a folder, not a file")],
)  # fmt: skip
def test_a_target_that_cannot_be_is_reported_before_anything_starts(tmp_path, monkeypatch, names, what):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.md").mkdir()
    with pytest.raises(UsageError, match=what):
        check_targets([Path(name) for name in names])


def test_a_folder_that_nothing_can_be_written_to_is_reported_before_anything_starts():
    with pytest.raises(UnavailableError, match="cannot be written"):
        check_targets([Path("/proc/report.json")])


def test_one_file_that_cannot_be_written_does_not_keep_the_others_from_it(tmp_path):
    (tmp_path / "a.md").mkdir()
    with pytest.raises(UnavailableError, match="cannot be written") as error:
        write_reports(report_of(example("pass")), [tmp_path / "a.md", tmp_path / "b.md"])
    assert error.value.where == str(tmp_path / "a.md")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.md", "b.md"]


@pytest.mark.parametrize(
    ("text", "what"),
    [("{", "it is not JSON"), ("[]", "it has no report_version"), ('{"report_version": true}', "it has no report_version"),
     ('{"report_version": 99}', "a newer release wrote this report"),
     (json.dumps(example("pass", verdict="fine")), "'fine' is not one of")],
)  # fmt: skip
def test_a_stored_report_that_is_none_is_reported(tmp_path, text, what):
    path = tmp_path / "r.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=what):
        read_report(path)


def test_no_report_is_written_over_what_is_read_even_by_another_name(tmp_path):
    messages, link = tmp_path / "messages.json", tmp_path / "link.json"
    messages.write_text("{}")
    link.symlink_to(messages)

    for target in (messages, link):
        with pytest.raises(UsageError, match="already used for something else in this run"):
            check_targets([target], kept=[messages])
    assert messages.read_text() == "{}"


def test_a_link_to_itself_and_a_pipe_are_no_places_for_a_report(tmp_path):
    loop, pipe = tmp_path / "loop.json", tmp_path / "pipe.json"
    loop.symlink_to(loop)
    os.mkfifo(pipe)

    with pytest.raises((UnavailableError, UsageError)):
        check_targets([loop])
    with pytest.raises(UsageError, match="a pipe or a device"):
        check_targets([pipe])
