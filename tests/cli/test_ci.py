"""A person forks the catalogue, changes it, and opens a pull request: the annotation sits on the line and says why."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from repositories import commit, edit, git, line_of
from site_pages import blocks_of
from topics import VERSION_FOLDERS

from cdc_contracts.cli.app import main

ROOT = Path(__file__).parents[2]
PAGE = blocks_of(ROOT / "docs/how-to/ci.md")
OWN = ROOT / "tests" / "registry" / "lint" / "contracts"
FORMS = "contracts/oms-community/types/oms-mysql.yaml"
IMAGES = "contracts/dts/canal/v2/contract.yaml"
OFFLINE = """
import socket, sys
def refuse(*given, **options): raise SystemExit("a socket was opened")
socket.socket.__init__ = socket.create_connection = socket.getaddrinfo = refuse
from cdc_contracts.cli.app import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture(scope="module")
def fork(tmp_path_factory):
    """A repository with the whole catalogue in ./contracts on its branch main; a branch `change` is checked out."""
    folder = tmp_path_factory.mktemp("fork")
    shutil.copytree(ROOT / "contracts", folder / "contracts", ignore=shutil.ignore_patterns("__pycache__"))
    git(folder, "init", "-q", "-b", "main")
    commit(folder, "the catalogue")
    git(folder, "checkout", "-q", "-b", "change")
    return folder


@pytest.fixture
def small(tmp_path, monkeypatch):
    """The same with two small contracts; it is the working directory."""
    shutil.copytree(OWN, tmp_path / "contracts")
    git(tmp_path, "init", "-q", "-b", "main")
    commit(tmp_path, "published")
    git(tmp_path, "checkout", "-q", "-b", "change")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(autouse=True)
def _no_host(monkeypatch):
    """Wherever these tests run, the only code host in the environment is that of the test."""
    for name in ("GITHUB_ACTIONS", "GITHUB_BASE_REF", "GITHUB_STEP_SUMMARY", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME"):
        monkeypatch.delenv(name, raising=False)


def run_offline(folder, *arguments, **environment):
    """Run a command in a process that has no program but git on its PATH, and that ends when it opens a socket."""
    tools = folder / ".git" / "tools"
    tools.mkdir(exist_ok=True)
    if not (tools / "git").exists():
        (tools / "git").symlink_to(shutil.which("git"))
    given = {"PATH": str(tools), "HOME": str(folder), "LANG": "C.UTF-8", **environment}
    return subprocess.run(
        [sys.executable, "-c", OFFLINE, *arguments], cwd=folder, env=given, capture_output=True, text=True, check=False
    )


def annotations(text):
    """Of every workflow command the kind, the place and title, and the lines of its text."""
    found = []
    for line in text.splitlines():
        kind, properties, reported = re.fullmatch(r"::(\w+) ([^:]*)::(.*)", line).groups()
        found.append((kind, dict(one.split("=", 1) for one in properties.split(",")), reported.split("%0A")))
    return found


@pytest.mark.parametrize("command", [["ci"], ["breaking", "--against", "main"]])
def test_without_contracts_of_ones_own_nothing_passes(tmp_path, monkeypatch, capsys, command):
    (tmp_path / "contracts").mkdir()
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "notes.txt").write_text("nothing yet\n")
    commit(tmp_path, "begun")
    monkeypatch.chdir(tmp_path)
    assert main(command) == 2
    out, err = capsys.readouterr()
    assert (out, err) == ("", "error: no contracts in ./contracts\n  Name the folder that contains them.\n")


def test_a_changed_value_form_is_reported_on_its_line_with_a_message_that_proves_it(fork):
    edit(fork / FORMS, "epoch-seconds.fraction: [TIMESTAMP]", "iso-datetime-minutes: [TIMESTAMP]")
    commit(fork, "another form")
    done = run_offline(fork, "ci", GITHUB_ACTIONS="true", GITHUB_BASE_REF="main", GITHUB_STEP_SUMMARY=".git/summary.md")
    git(fork, "reset", "-q", "--hard", "main")
    assert done.returncode == 1, done.stderr
    kind, place, reported = annotations(done.stdout)[0]
    assert kind == "error"
    assert place == {
        "file": FORMS, "line": str(line_of(fork / FORMS, "[TIMESTAMP]")), "col": "26",
        "title": "C401 published-meaning /values/TIMESTAMP",
    }  # fmt: skip
    assert reported[0] == "`epoch-seconds.fraction` became `iso-datetime-minutes`"
    proof = dict(re.split("  +", line, maxsplit=1) for line in reported[1:])
    assert proof["contracts"] == "oms-community/canal@2, oms-community/dataworks@2, oms-community/default@2 and 9 more"
    assert proof["why"].startswith("The meaning of a published version changed: consumers that pinned it now read")
    assert json.loads(proof["message"])["data"] == [{"id": 7, "value": "1609344671.123456"}]
    assert (proof["published"], proof["now"].split(":")[0]) == ("accepted", "D07.iso-datetime-minutes at /data/0/value")
    summary = (fork / ".git" / "summary.md").read_text()
    assert summary.startswith(f"### ❌ cdc-contracts ci: {len(VERSION_FOLDERS)} contracts, ")
    assert "**C401 published-meaning /values/TIMESTAMP** contracts/oms-community/types/oms-mysql.yaml:30:26" in summary


@pytest.mark.nightly
def test_a_moved_image_is_reported_on_its_line_with_a_message_that_is_refused_now(fork):
    edit(fork / IMAGES, "update: {before: {at: /old, completed_from: /data}, after: {at: /data, completed_from: }}",
         "update: {before: {at: /data}, after: {at: /old, completed_from: /data}}")  # fmt: skip
    number = line_of(fork / IMAGES, "update: {before")
    done = run_offline(fork, "ci", "--base", "main", "--format", "github")
    git(fork, "reset", "-q", "--hard", "main")
    assert done.returncode == 1, done.stderr
    _, place, reported = annotations(done.stdout)[0]
    assert (place["file"], place["line"], place["title"]) == (
        IMAGES,
        str(number),
        "C401 published-meaning /images/update",
    )
    proof = dict(re.split("  +", line, maxsplit=1) for line in reported[1:])
    message = json.loads(proof["message"])
    assert (message["type"], message["data"], message["old"]) == (
        "UPDATE",
        [{"id": "7", "value": "green"}],
        [{"value": "red"}],
    )
    now = "D09.old-keys-in-data at /old: expected the whole row, observed changed columns"
    assert (proof["published"], proof["now"]) == ("accepted", now)


def test_the_workflow_of_the_page_on_ci_has_all_that_is_needed():
    workflow = next(block.text for block in PAGE if block.language == "yaml")
    job = yaml.safe_load(workflow)["jobs"]["contracts"]
    checkout, check = job["steps"]
    assert checkout["with"]["fetch-depth"] == 0
    assert check["with"].keys() <= defaults_of_the_action().keys()


def test_a_change_that_breaks_nothing_passes(small, capsys):
    edit(small / "contracts/acme/plain/v1/contract.yaml", "section: Plain messages", "section: Messages")
    assert main(["ci"]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(
        r"2 contracts, 11 samples, 2 mappings, 2 published: no findings; compared with main \(\w{10}\), which is checked out\n",
        err,
    )


@pytest.mark.nightly
def test_what_changes_with_another_base_is_reported_where_that_is_named(small, capsys):
    file = small / "contracts/acme/canal/v1/contract.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(
        'contract: acme/canal@1\napplies: {since: "1.0", counted_from: product-version}\nbased_on: dts/canal@2\n'
        "provenance: {document: messages.jsonl, errata: []}\n"
    )
    commit(small, "based on another")
    git(small, "branch", "-f", "main")
    edit(file, "dts/canal@2", "dts/canal@1")
    assert main(["breaking", "--against", "main"]) == 1
    out = capsys.readouterr().out
    found = [line for line in out.splitlines() if not line.startswith(" ")]
    assert len(found) > 8
    meaning = [line for line in found if " C401 " in line]
    assert meaning == [line for line in meaning if line.startswith("contracts/acme/canal/v1/contract.yaml:3:1: error ")]
    assert out.count("A cross-field rule was removed") == 1  # said in the first line, and not again
    assert "/images/delete: `before: the row in /data` became `before: the row in /old`" in out


BREAKING = ["breaking", "--against", "main"]
TABLE = """table: shop.orders
columns:
  id: {type: bigint, nullable: false}
  total: {type: "decimal(12,2)"}
primary_key: [id]
"""


@pytest.fixture
def table(small):
    """The file of a table contract beside the contracts, published on main."""
    file = small / "contracts/tables/shop.orders.yaml"
    file.parent.mkdir()
    file.write_text(TABLE)
    commit(small, "a table")
    git(small, "branch", "-f", "main")
    return file


def test_a_table_contract_that_takes_fewer_rows_fails(table, capsys):
    assert main(BREAKING) == 0
    capsys.readouterr()
    edit(table, "decimal(12,2)", "decimal(10,2)")
    assert main(BREAKING) == 1
    first, *_ = capsys.readouterr().out.splitlines()
    assert first == (
        "contracts/tables/shop.orders.yaml:4:11: error T204 type-narrowed /shop.orders/columns/total/type: "
        "`decimal(12,2)` became `decimal(10,2)`"
    )
    edit(
        table,
        '"decimal(10,2)"}',
        '"decimal(10,2)"} # cdc-contracts: ignore T204 until 2999-01-01 because no row is larger',
    )
    assert main(BREAKING) == 0
    edit(table, "because no row is larger", "because no row is larger, says the shop")
    edit(table, "decimal(10,2)", "decimal(12,2)")
    assert main(BREAKING) == 0
    assert "L28 ignore-needed" in capsys.readouterr().out


def test_a_removed_table_contract_and_a_removed_column_fail(table, small, capsys):
    edit(table, '  total: {type: "decimal(12,2)"}\n', "")
    assert main(BREAKING) == 1
    assert capsys.readouterr().out.startswith("contracts/tables/shop.orders.yaml: error T202 column-removed ")
    table.unlink()
    assert main(BREAKING) == 1
    assert capsys.readouterr().out.startswith("contracts: error T201 table-removed /shop.orders")


def test_a_part_of_the_contracts_is_compared_without_tables(table, capsys):
    edit(table, "decimal(12,2)", "decimal(10,2)")
    assert main(["breaking", "contracts/acme", "--against", "main"]) == 0


def test_lint_and_breaking_are_reported_together(small, capsys):
    edit(small / "contracts/acme/plain/v1/contract.yaml", "errata: [E9001]", "errata: [E9002]")
    edit(small / "contracts/acme/plain/v1/contract.yaml", 'until: "2.0"', 'until: "1.0"')
    edit(small / "contracts/acme/plain/v2/contract.yaml", 'since: "2.0"', 'since: "1.0"')
    assert main(["ci", "--format", "json", "--report", "out.xml"]) == 1
    reported = json.loads(capsys.readouterr().out)
    assert sorted({one["rule"] for one in reported["findings"]}) == ["C406", "L15"]
    assert reported["checked"]["published"] == 2
    assert (small / "out.xml").exists()


def test_on_github_the_format_is_that_of_github_unless_another_is_asked_for(small, capsys, monkeypatch):
    edit(small / "contracts/acme/plain/v1/contract.yaml", "errata: [E9001]", "errata: [E9002]")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert main(["ci"]) == 1
    assert capsys.readouterr().out.startswith("::error file=contracts/acme/plain/v1/contract.yaml,line=8,")
    assert main(["ci", "--format", "text"]) == 1
    assert capsys.readouterr().out.startswith("contracts/acme/plain/v1/contract.yaml:8:12: error L15")


def test_the_summary_of_other_steps_stays(small, monkeypatch):
    (small / "summary.md").write_text("# Another step\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    assert main(["ci"]) == 0
    assert (small / "summary.md").read_text().startswith("# Another step\n### ✅ cdc-contracts ci: 2 contracts, ")


@pytest.mark.parametrize(
    ("base", "code", "why"), [("nowhere", 2, "git cannot find commit `nowhere`"), (None, 3, "not a git repository")]
)
def test_what_could_not_be_compared_never_passes_and_is_linted_all_the_same(base, code, why, small, capsys):
    if base is None:
        shutil.rmtree(small / ".git")
    assert main(["ci", *(["--base", base] if base else [])]) == code
    assert why in capsys.readouterr().err
    edit(small / "contracts/acme/plain/v1/contract.yaml", "errata: [E9001]", "errata: [E9002]")
    assert main(["ci", *(["--base", base] if base else [])]) == 1
    assert "error L15" in capsys.readouterr().out


def test_the_first_contracts_of_a_repository_have_nothing_to_be_compared_with(small, capsys):
    git(small, "checkout", "-q", "--orphan", "first")
    git(small, "rm", "-rq", "--cached", ".")
    git(small, "commit", "-q", "--allow-empty", "-m", "nothing")
    git(small, "branch", "-qD", "main")
    git(small, "branch", "main")
    git(small, "checkout", "-q", "-b", "contracts-are-added")
    commit(small, "contracts")
    assert main(["ci"]) == 0
    assert "there are no contracts yet in main (" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["ci"], ["breaking", "--against", "main"]])
def test_before_the_first_commit_nothing_is_published(tmp_path, monkeypatch, capsys, command):
    shutil.copytree(OWN, tmp_path / "contracts")
    git(tmp_path, "init", "-q", "-b", "main")
    monkeypatch.chdir(tmp_path)
    assert main(command) == 0
    assert capsys.readouterr().err.endswith(
        "there are no contracts yet in main (no commit yet), so nothing was compared\n"
    )
    commit(tmp_path, "first")
    assert main(["breaking", "--against", "nowhere"]) == 2
    assert "git cannot find commit `nowhere`" in capsys.readouterr().err


def steps_of_the_action():
    return yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]


def run_step(step, folder, inputs, **environment):
    """Run the shell of a step as GitHub does: every expression in its environment is an input."""
    expressions = {f"${{{{ inputs.{name} }}}}": value for name, value in inputs.items()}
    expressions["${{ github.action_path }}"] = str(ROOT)
    given = {name: expressions[text] for name, text in step["env"].items()}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=folder, env={**os.environ, **given, **environment}, capture_output=True, text=True, check=False,
    )  # fmt: skip


def defaults_of_the_action(**given):
    inputs = yaml.safe_load((ROOT / "action.yml").read_text())["inputs"]
    assert given.keys() <= inputs.keys()
    return {name: one["default"] for name, one in inputs.items()} | given


@pytest.fixture
def runner(tmp_path):
    """The folder for what steps leave behind, in which the first step has installed this package."""
    (tmp_path / "runner").mkdir()
    (tmp_path / "runner" / "cdc-contracts").symlink_to(Path(sys.prefix))
    return str(tmp_path / "runner")


def test_the_action_checks_a_pull_request(small, runner):
    (_, check, upload) = steps_of_the_action()
    edit(
        small / "contracts/acme/types/acme-two.yaml",
        "epoch-seconds.fraction: [TIMESTAMP]",
        "iso-datetime-minutes: [TIMESTAMP]",
    )
    inputs = defaults_of_the_action(sarif="contracts.sarif")
    done = run_step(check, small, inputs, RUNNER_TEMP=runner, GITHUB_ACTIONS="true", GITHUB_BASE_REF="main")
    assert done.returncode == 1
    assert done.stdout.startswith("::error file=contracts/acme/types/acme-two.yaml,line=")
    results = json.loads((small / "contracts.sarif").read_text())["runs"][0]["results"]
    assert results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uriBaseId"] == "SRCROOT"
    assert upload["with"]["sarif_file"] == "${{ inputs.sarif }}"


def test_nothing_that_is_given_to_the_action_is_run(small, runner):
    (_, check, _) = steps_of_the_action()
    inputs = defaults_of_the_action(path="$(touch run)", base="--help; touch run", sarif='"; touch run; ".sarif')
    assert run_step(check, small, inputs, RUNNER_TEMP=runner).returncode == 2
    assert not list(small.glob("**/run"))


@pytest.mark.skipif(
    "CDC_CONTRACTS_INSTALL" not in os.environ, reason="installing takes minutes: CDC_CONTRACTS_INSTALL=1"
)
def test_the_action_installs_what_it_runs(small, tmp_path):
    (install, check, _) = steps_of_the_action()
    (tmp_path / "temp").mkdir()
    for step in (install, check):
        done = run_step(
            step, small, defaults_of_the_action(), RUNNER_TEMP=str(tmp_path / "temp"), GITHUB_BASE_REF="main"
        )
        assert done.returncode == 0, done.stderr
    pip = tmp_path / "temp/cdc-contracts/bin/pip"
    frozen = subprocess.run([pip, "freeze", "--exclude", "cdc-contracts"], capture_output=True, text=True, check=True)
    assert set(frozen.stdout.split("\n")) <= {*(ROOT / "requirements.lock").read_text().split("\n")}


@pytest.mark.skipif(
    "CDC_CONTRACTS_INSTALL" not in os.environ, reason="installing takes minutes: CDC_CONTRACTS_INSTALL=1"
)
@pytest.mark.timeout(900)
def test_pre_commit_runs_the_hooks(small, tmp_path):
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "tools"], check=True)
    subprocess.run([tmp_path / "tools/bin/pip", "install", "-q", "pre-commit"], check=True)
    edit(small / "contracts/acme/plain/v1/contract.yaml", 'until: "2.0"', 'until: "1.0"')
    edit(small / "contracts/acme/plain/v2/contract.yaml", 'since: "2.0"', 'since: "1.0"')
    git(small, "add", "-A")
    environment = os.environ | {"PRE_COMMIT_HOME": str(tmp_path / "hooks")}
    for hook, code, says in (
        ("cdc-contracts-lint", 0, "no findings"),
        ("cdc-contracts-breaking", 1, "C406"),
    ):
        done = subprocess.run(
            [tmp_path / "tools/bin/pre-commit", "try-repo", str(ROOT), hook, "--all-files", "--verbose"],
            cwd=small, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (done.returncode, says in done.stdout) == (code, True), done.stdout + done.stderr
