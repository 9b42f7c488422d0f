"""The formats of findings: each tells the same, on the same line, and nothing in a name breaks out of it."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree as ET

import pytest
from jsonschema import Draft7Validator, Draft202012Validator
from junit_schema import check_by_the_schema

from cdc_contracts.registry.authoring.lint import lint
from cdc_contracts.registry.authoring.review.annotations.annotation import Annotation, Review, Suppression
from cdc_contracts.registry.authoring.review.annotations.annotation_formats import (
    check_targets,
    render_digest,
    render_review,
    write_reports,
)
from cdc_contracts.registry.authoring.review.annotations.lint_annotations import review_lint
from cdc_contracts.registry.core.common.errors import UsageError

HERE = Path(__file__).parent
OWN = HERE.parent / "lint" / "contracts"
HOSTILE = 'a,b:c%d\r\n::error::e <script> & "f" \x1b[31m \ud800'


def make_repository(folder, monkeypatch):
    """Make a repository whose contracts break rules, and its folder `data` the working directory."""
    (folder / ".git").mkdir()
    root = shutil.copytree(OWN, folder / "data" / "contracts")
    spoil(root, "acme/plain/v1/contract.yaml", "errata: [E9001]", "errata: [E9002]")
    mark = "  # cdc-contracts: ignore L10 until 2999-12-31 because the vendor promises it\n"
    spoil(root, "acme/plain/v1/contract.yaml", "  event_time:", mark + "  transaction: {at: /tx}\n  event_time:")
    for name in ("beat.json", "beat.change.json"):
        (root / "acme/plain/v2/samples" / name).unlink()
    monkeypatch.chdir(folder / "data")
    return folder


@pytest.fixture
def repository(tmp_path, monkeypatch):
    return make_repository(tmp_path, monkeypatch)


@pytest.fixture(scope="module")
def review_of_any(tmp_path_factory):
    """What linting says of each such repository: files are named from the working directory."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        make_repository(tmp_path_factory.mktemp("reviewed"), monkeypatch)
        return review_lint(lint([Path("contracts")]))


@pytest.fixture
def review(repository, review_of_any):
    return review_of_any


def spoil(root, name, old, new):
    file = root / name
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new, 1))


def hostile_review():
    file = "contracts/a,b:c%d é/x y.yaml"
    suppression = Suppression(HOSTILE, "2027-01-31", file, 3)
    found = {
        "rule": "L10",
        "name": "place-exists",
        "file": file,
        "message": HOSTILE,
        "help": HOSTILE,
        "path": "/" + HOSTILE,
    }
    return Review(
        "lint",
        (
            Annotation(severity="error", line=3, column=7, proof=(HOSTILE, "second"), **found),
            Annotation(severity="error", line=3, column=7, **found),
            Annotation(severity="info", line=None, **found),
            Annotation(severity="warning", line=5, suppression=suppression, **found),
        ),
        notes=(HOSTILE,),
    )


def test_text_has_place_severity_rule_and_message(review):
    assert render_review(review, "text") == (
        "contracts/acme/plain/v1/contract.yaml:8:12: error L15 erratum-exists /provenance/errata/0: "
        "expected an entry of errata.yaml; found E9002\n"
        "contracts/acme/plain/v2/contract.yaml:1:1: warning L21 op-sampled /ops: "
        "expected a sample of every op; found none of heartbeat\n"
    )


def test_json_has_what_is_ignored_apart_with_the_reason(review):
    told = json.loads(render_review(review, "json"))
    assert [one["rule"] for one in told["findings"]] == ["L15", "L21"]
    (ignored,) = told["ignored"]
    assert (ignored["rule"], ignored["line"], ignored["observed"]) == ("L10", 14, "/tx")
    assert ignored["ignored"] == {
        "reason": "the vendor promises it", "until": "2999-12-31",
        "file": "contracts/acme/plain/v1/contract.yaml", "line": 13,
    }  # fmt: skip


@pytest.mark.parametrize("fail_on", ["error", "warning"])
def test_junit_fails_what_fails_and_skips_what_is_ignored(review, fail_on):
    root = ET.fromstring(render_review(review, "junit", fail_on=fail_on))
    check_by_the_schema(root)
    ended = {
        case.get("name").split(maxsplit=1)[0]: next(
            (child.tag for child in case if child.tag != "system-out"), "passed"
        )
        for case in root.iter("testcase")
    }
    light = "failure" if fail_on == "warning" else "passed"
    assert ended == {"everything": "passed", "L10": "skipped", "L15": "failure", "L21": light}
    assert root.get("failures") == str(list(ended.values()).count("failure"))


def test_sarif_names_rules_places_and_reasons(review):
    log = json.loads(render_review(review, "sarif"))
    check_sarif(log)
    (run,) = log["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["L10", "L15", "L21"]
    mistake, ignored, missing = run["results"]
    assert ignored["suppressions"][0]["justification"] == "the vendor promises it (until 2999-12-31)"
    assert mistake["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "data/contracts/acme/plain/v1/contract.yaml", "uriBaseId": "SRCROOT"},
        "region": {"startLine": 8, "startColumn": 12},
    }
    assert missing["locations"][0]["physicalLocation"]["region"] == {"startLine": 1, "startColumn": 1}
    assert [one["level"] for one in run["results"]] == ["error", "error", "warning"]


def test_a_fingerprint_of_sarif_stays_when_lines_move(review, repository):
    before = fingerprints(review)
    spoil(repository / "data/contracts", "acme/plain/v1/contract.yaml", "contract:", "# one more line\ncontract:")
    assert fingerprints(review_lint(lint([Path("contracts")]))) == before
    assert len(set(before)) == 3


def fingerprints(review):
    results = json.loads(render_review(review, "sarif"))["runs"][0]["results"]
    return [one["partialFingerprints"]["cdcContracts/v1"] for one in results]


def test_github_gets_paths_from_the_top_of_the_repository(review):
    assert render_review(review, "github").splitlines() == [
        "::error file=data/contracts/acme/plain/v1/contract.yaml,line=8,col=12,title=L15 erratum-exists /provenance/errata/0::expected an entry of errata.yaml; found E9002%0A`cdc-contracts rules show L15` explains it",
        "::warning file=data/contracts/acme/plain/v2/contract.yaml,line=1,col=1,title=L21 op-sampled /ops::expected a sample of every op; found none of heartbeat%0A`cdc-contracts rules show L21` explains it",
    ]


def test_markdown_folds_what_is_ignored(review):
    told = render_digest(review)
    assert told.startswith(
        "### ❌ cdc-contracts lint: 2 contracts, 10 samples, 2 mappings: 1 error, 1 warning, 1 ignored\n"
    )
    assert "❌ **L15 erratum-exists /provenance/errata/0** data/contracts/acme/plain/v1/contract.yaml:8:12\n" in told
    assert "<details><summary>Ignored</summary>\n\n- L10 place-exists " in told


def test_nothing_in_a_name_breaks_out_of_a_line_of_text():
    lines = render_review(hostile_review(), "text").splitlines()
    assert [bool(line.startswith(("contracts/", "    "))) for line in lines] == [True] * 5
    assert not any("\x1b" in line for line in lines)


def test_nothing_in_a_name_breaks_out_of_a_command_of_github():
    lines = render_review(hostile_review(), "github").splitlines()
    assert [re.match(r"::(error|notice) file=", line)[1] for line in lines] == ["error", "error", "notice"]
    told, text = re.fullmatch(r"::error ([^:]*)::(.*)", lines[0]).groups()
    places = dict(one.split("=", 1) for one in told.split(","))
    assert [*places] == ["file", "line", "col", "title"]
    assert places["file"] == "contracts/a%2Cb%3Ac%25d é/x y.yaml"
    assert places["title"].startswith("L10 place-exists /a%2Cb%3Ac%25d\\r\\n%3A%3Aerror%3A%3Ae")
    assert text.split("%0A")[1].startswith("a,b:c%25d\\r\\n")


def test_nothing_in_a_name_breaks_junit():
    root = ET.fromstring(render_review(hostile_review(), "junit"))
    check_by_the_schema(root)
    names = [(case.get("classname"), case.get("name")) for case in root.iter("testcase")]
    assert len(set(names)) == len(names) == 5


def test_nothing_in_a_name_breaks_sarif():
    log = json.loads(render_review(hostile_review(), "sarif"))
    check_sarif(log)
    places = [one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in log["runs"][0]["results"]]
    assert {unquote(uri) for uri in places} == {"contracts/a,b:c%d é/x y.yaml"}
    assert len(set(fingerprints(hostile_review()))) == 4


def test_nothing_in_a_name_breaks_markdown():
    told = render_digest(hostile_review())
    assert "<script>" not in told.replace("    a,b:c%d\\r\\n::error::e <script>", "")
    assert "\x1b" not in told


@pytest.mark.parametrize(
    ("count", "length", "end"),
    [(5_000, 200, "… and 4980 more, in the log of the run\n"), (20, 9_000, "… and more, in the JSON report\n")],
)
def test_a_review_of_any_size_is_short_enough_for_a_comment(count, length, end):
    one = Annotation("L10", "place-exists", "error", "contract.yaml", "x" * length, "y" * 200)
    told = render_digest(Review("lint", (one,) * count))
    assert len(told) < 65_536
    assert told.endswith(end)


def test_a_report_is_written_in_the_kind_of_its_ending(review, tmp_path):
    targets = [tmp_path / f"out{ending}" for ending in (".txt", ".json", ".xml", ".sarif", ".md")]
    check_targets(targets)
    write_reports(review, targets)
    texts = [target.read_text(encoding="utf-8") for target in targets]
    assert texts == [render_review(review, form) for form in ("text", "json", "junit", "sarif", "markdown")]


@pytest.mark.parametrize("names", [["out.pdf"], ["out.json", "./out.json"], ["missing/out.json"]])
def test_a_report_that_cannot_be_written_is_refused_before_any_work(names, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError):
        check_targets([Path(name) for name in names])
    assert list(tmp_path.iterdir()) == []


def check_sarif(log):
    """By the part of the standard that is written; by the standard's own schema where the environment names a copy."""
    Draft202012Validator(json.loads((HERE / "sarif.schema.json").read_text())).validate(log)
    whole = os.environ.get("CDC_CONTRACTS_SARIF_SCHEMA")
    if whole:
        Draft7Validator(json.loads(Path(whole).read_text())).validate(log)
    rules = log["runs"][0]["tool"]["driver"]["rules"]
    assert all(rules[one["ruleIndex"]]["id"] == one["ruleId"] for one in log["runs"][0]["results"])
