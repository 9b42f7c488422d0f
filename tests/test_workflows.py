"""The workflows of the project are ones, and run what there is."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
CHECK = Path(sys.executable).with_name("check-jsonschema")


def steps_of(workflow):
    jobs = yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"].values()
    return [step for job in jobs for step in job["steps"]]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_has_the_form_that_github_reads(workflow):
    found = subprocess.run(
        [str(CHECK), "--builtin-schema", "vendor.github-workflows", str(workflow)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert found.returncode == 0, found.stdout + found.stderr


def test_the_recipes_that_workflows_and_contributors_run_exist():
    recipes = re.findall(r"^(\w+)(?: \*ARGS)?:", (ROOT / "justfile").read_text(encoding="utf-8"), re.MULTILINE)
    texts = [step["run"] for workflow in WORKFLOWS for step in steps_of(workflow) if "run" in step]
    texts.append((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    named = {name for text in texts for name in re.findall(r"(?:^|`)just (\w+)", text, re.MULTILINE)}
    assert {"nightly", "setup", "test"} <= named
    assert named <= set(recipes)


def test_tests_run_on_the_oldest_python_that_is_promised():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    oldest = project["requires-python"].removeprefix(">=")
    jobs = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text(encoding="utf-8"))["jobs"]
    assert jobs["tests"]["strategy"]["matrix"]["python"][0] == oldest


@pytest.mark.parametrize("document", ["CONTRIBUTING.md", "SECURITY.md"])
def test_the_files_that_a_document_names_are_there(document):
    text = (ROOT / document).read_text(encoding="utf-8")
    linked = [(ROOT / document).parent / target for target in re.findall(r"\]\(([^):#]+)\)", text)]
    named = [ROOT / name for name in re.findall(r"`((?:tests|docs|registry|cli)/[\w/.-]+)`", text)]
    assert linked or named
    assert [str(path) for path in (*linked, *named) if not path.exists()] == []
