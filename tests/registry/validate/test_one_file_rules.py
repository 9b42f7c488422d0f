"""A rule is one file: those that CONTRIBUTING shows, written beside the others, are all that a new rule takes."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from rule_violations import ONE_MESSAGE_SHOWS_NOTHING
from topics import CATALOGUE

from cdc_contracts.registry.authoring.lint.lint_rule import lint_rules
from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.common.findings import CLASSES
from cdc_contracts.registry.core.common.rule_modules import (
    CONTRACT_SECTIONS,
    DRIFT_CLASSES,
    DRIFT_NOTES,
    DRIFT_RULES,
    LINT_RULES,
    find_records,
    rule_names,
)
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.generate.message_samples import sample_messages
from cdc_contracts.registry.core.validate.drift_rule import DriftRule, drift_rules, rules_of
from cdc_contracts.registry.core.validate.validation_context import open_validation

ROOT = Path(__file__).parents[3]
EXAMPLES = re.findall(
    r"would be `([a-z0-9_]+\.py)`:\n\n```python\n(.+?)```",
    (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"),
    re.DOTALL,
)
PACKAGES = {
    "processed_after_event.py": DRIFT_RULES,
    "l32_title_given.py": LINT_RULES,
    "title_section.py": CONTRACT_SECTIONS,
}
HEAD = """
import importlib, json, sys
for package, folder in json.loads(sys.argv[1]).items():
    importlib.import_module(package).__path__.append(folder)
"""
COMMAND = (
    HEAD
    + """
from cdc_contracts.cli.app import main
sys.exit(main(sys.argv[2:]))
"""
)
BOTH_PATHS = (
    HEAD
    + """
from pathlib import Path
from cdc_contracts.cli.options.shared_options import open_catalogue
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.engine.fast_validator import FastValidator
from cdc_contracts.registry.core.validate.validation_context import open_validation

catalogue = open_catalogue([Path(sys.argv[2])])
validation = open_validation(catalogue, "acme/plain@1", ReadingOptions())
told = []
for turn in (1, -1):
    values = [line.encode() for line in json.loads(sys.argv[3])[::turn]]
    batch = FastValidator(validation).validate(values, texts=True)
    verdicts = {number: group.verdict for group in batch.group_results for number in group.record_group.numbers.tolist()}
    fast = [[finding.rule for finding in verdicts[number].findings] for number in range(len(values))]
    reference = [[finding.rule for finding in validation.validate(value).verdict.findings] for value in values]
    told.append({"fast": fast[::turn], "reference": reference[::turn], "alone": len(batch.alone)})
print(json.dumps(told))
"""
)


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    """Where the examples of CONTRIBUTING lie, by the package that they are put beside."""
    found = {}
    for name, text in EXAMPLES:
        folder = tmp_path_factory.mktemp("rules")
        (folder / name).write_text(text, encoding="utf-8")
        found[PACKAGES[name]] = str(folder)
    assert sorted(found) == sorted(PACKAGES.values())
    return json.dumps(found)


@pytest.fixture(scope="module")
def contracts(tmp_path_factory):
    """A contract of our own that is dts/canal@2 and has the new rule."""
    folder = tmp_path_factory.mktemp("contracts")
    version = folder / "acme/plain/v1"
    version.mkdir(parents=True)
    shutil.copy(ROOT / "contracts/dts/canal/v2/envelope.schema.json", version)
    rules = "image-present-for-op, columns-typed, primary-key-in-image, processed-after-event"
    (version / "contract.yaml").write_text(
        f"contract: acme/plain@1\nbased_on: dts/canal@2\nrules: [{rules}]\nversion_evidence: []\n"
        "applies: {since: '1', until: , counted_from: product-version}\nstatus: current\n",
        encoding="utf-8",
    )
    return folder


def run(script, paths, *arguments, code=0):
    done = subprocess.run(
        [sys.executable, "-c", script, paths, *map(str, arguments)],
        capture_output=True, text=True, check=False, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == code, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


GOOD = (
    '{"id":7,"database":"shop","table":"orders","type":"INSERT","isDdl":false,"sql":"","gtid":null,"pkNames":["id"],'
    '"es":1609344671000,"ts":1609344671123,"sqlType":{"id":4},"mysqlType":{"id":"int"},"data":[{"id":"7"}],"old":null}'
)
BAD = GOOD.replace('"ts":1609344671123', '"ts":1609344670999')


def test_a_rule_of_drift_is_judged_by_both_paths_whichever_record_comes_first(paths, contracts):
    for reported in json.loads(run(BOTH_PATHS, paths, contracts, json.dumps([GOOD, BAD, GOOD, BAD]))):
        assert reported["alone"] == 0
        assert reported["fast"] == reported["reference"] == [[], ["D09.processed-after-event"]] * 2


def test_a_rule_of_drift_is_listed_and_explained(paths, contracts, tmp_path):
    listed = {one["id"]: one for one in json.loads(run(COMMAND, paths, "rules", "--json"))}
    assert listed["D09.processed-after-event"]["family"] == "cross-field"
    shown = run(COMMAND, paths, "rules", "show", "processed-after-event")
    assert shown.startswith("D09.processed-after-event processed-after-event  warning\n")
    assert "The product handles a change after it happened." in shown
    (tmp_path / "bad.json").write_text(BAD, encoding="utf-8")
    asked = ("why", tmp_path / "bad.json", "--contract", "acme/plain@1", "--contracts", contracts, "--json")
    reported = json.loads(run(COMMAND, paths, *asked, code=1))
    assert [(one["rule"], one["means"]) for one in reported["findings"]] == [
        ("D09.processed-after-event", "The product handles a change after it happened.")
    ]


def test_a_rule_of_drift_is_sampled(paths, contracts):
    asked = ("sample", "acme/plain", "--contracts", contracts, "-n", "20", "--drift", "processed-after-event")
    messages = [json.loads(line) for line in run(COMMAND, paths, *asked).splitlines()]
    assert [one["ts"] - one["es"] for one in messages if one["ts"] < one["es"]] == [-1, -1]


@pytest.mark.parametrize(
    ("message", "missing"), [(GOOD, False), (GOOD.replace('"ts":1609344671123', '"ts":null'), True)]
)
def test_a_rule_of_drift_is_counted_as_exercised_or_not(paths, contracts, message, missing, tmp_path):
    (tmp_path / "messages.jsonl").write_text(message + "\n", encoding="utf-8")
    asked = ("check", tmp_path / "messages.jsonl", "--contract", "acme/plain@1", "--contracts", contracts, "--json")
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, paths, *map(str, asked)], capture_output=True, text=True, check=False, cwd=ROOT
    )
    found = {one["rule"] for one in json.loads(done.stdout)["findings"]}
    assert ("D15.processed-after-event" in found) == missing


def test_a_rule_of_lint_is_listed_explained_and_found(paths, contracts):
    listed = [one["id"] for one in json.loads(run(COMMAND, paths, "rules", "--json")) if one["family"] == "lint"]
    assert listed.index("L32") == listed.index("L31") + 1
    assert run(COMMAND, paths, "rules", "show", "title-given").startswith("L32 title-given  warning\n")
    contract = contracts / "acme/plain/v1/contract.yaml"
    untitled = contract.read_text(encoding="utf-8").replace("based_on", "title: acme/plain\nbased_on")
    contract.write_text(untitled, encoding="utf-8")
    reported = json.loads(run(COMMAND, paths, "lint", contracts, "--format", "json", code=1))["findings"]
    assert [(one["severity"], one["line"], one["observed"]) for one in reported if one["rule"] == "L32"] == [
        ("warning", 2, "acme/plain")
    ]


def test_a_rule_of_compatibility_is_listed_explained_and_found(paths, contracts):
    listed = [one["id"] for one in json.loads(run(COMMAND, paths, "rules", "--json")) if one["family"] == "meaning"]
    assert listed[-2:] == ["C372", "C373"]
    assert run(COMMAND, paths, "rules", "show", "C373").startswith("C373 title  note\n")
    second = contracts / "acme/plain/v2"
    second.mkdir()
    shutil.copy(contracts / "acme/plain/v1/envelope.schema.json", second)
    (second / "contract.yaml").write_text(
        "contract: acme/plain@2\nbased_on: acme/plain@1\ntitle: Acme, plain\napplies: {since: '2', until: }\n",
        encoding="utf-8",
    )
    asked = ("compat", "acme/plain@1", "acme/plain@2", "--contracts", contracts, "--json")
    reported = json.loads(run(COMMAND, paths, *asked))["findings"]
    assert [(one["rule"], one["severity"], one["new"]) for one in reported if one["rule"] == "C373"] == [
        ("C373", "note", "Acme, plain")
    ]
    shutil.rmtree(second)


def test_without_its_file_there_is_no_such_rule(contracts):
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, "{}", "show", "acme/plain", "--contracts", str(contracts)],
        capture_output=True, text=True, check=False, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 2
    assert "processed-after-event" in done.stdout + done.stderr or "rules" in done.stderr


def test_a_file_is_called_after_its_rule():
    for package in (DRIFT_RULES, DRIFT_NOTES):
        assert tuple(rule.name for rule in find_records(package, DriftRule)) == rule_names(package)
    assert [f"{one.id.lower()}-{one.name}" for one in CLASSES.values()] == list(rule_names(DRIFT_CLASSES))
    assert [f"{one.id.lower()}-{one.name}" for one in lint_rules()] == list(rule_names(LINT_RULES))


@pytest.mark.parametrize(
    ("package", "file", "twin", "called"),
    [
        (LINT_RULES, "authoring/lint/lint_rules/l21_op_sampled.py", "l21_op_shown.py", "L21"),
        pytest.param(
            DRIFT_CLASSES,
            "core/common/drift_classes/d04_unknown_field.py",
            "d04_unknown_member.py",
            "D04",
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            DRIFT_NOTES,
            "core/validate/drift_rules/columns_typed.py",
            "typed_columns.py",
            "D09.columns-typed",
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            CONTRACT_SECTIONS,
            "authoring/compat/meaning/contract_sections/ddl_section.py",
            "statement_section.py",
            "C334",
            marks=pytest.mark.nightly,
        ),
    ],
    ids=["lint", "class", "rule", "compatibility"],
)
def test_two_rules_of_one_id_are_refused(package, file, twin, called, tmp_path):
    (tmp_path / twin).write_text((ROOT / "registry" / file).read_text(encoding="utf-8"), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, json.dumps({package: str(tmp_path)}), "rules", "--json"],
        capture_output=True, text=True, check=False, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode != 0
    assert f"two rules have the id {called}" in done.stdout + done.stderr


@pytest.mark.parametrize("rule", drift_rules().values(), ids=lambda rule: rule.name)
def test_a_rule_is_broken_by_the_edits_of_its_own_record(rule):
    """In some contract that has it, and the broken message breaks this rule."""
    shown = set()
    for version in CATALOGUE.all_versions():
        if rule in rules_of(version.meaning):
            try:
                messages = sample_messages(version, 20, seed=3, reading_options=ReadingOptions(), drift=rule.name)
                validation = open_validation(CATALOGUE, version.reference, ReadingOptions())
                found = {one.rule for value in messages for one in validation.validate(value).verdict.findings}
                shown |= {rule.id} & found
            except UsageError:
                continue
        if shown:
            break
    assert bool(shown) == (rule.name not in ONE_MESSAGE_SHOWS_NOTHING)
