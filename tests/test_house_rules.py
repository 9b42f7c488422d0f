"""Lint, formatting, types and layers are part of the tests, so that one command says whether all is well."""

import ast
import os
import re
import signal
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from two_ends import LONGEST, SLOWEST

from cdc_contracts.registry.core.common.errors import UnavailableError
from cdc_contracts.registry.core.contract.catalogue import shipped_catalogue
from cdc_contracts.spark_checks.spark.jars import find_java

ROOT = Path(__file__).parents[1]
TOOLS = Path(sys.executable).parent
LAYERS = ("api", "cli", "registry", "spark_checks", "testing")


@pytest.mark.parametrize(
    "command",
    [["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"], ["lint-imports"]],
    ids=["lint", "format", "types", "layers"],
)
def test_the_house_rules_are_kept(command):
    tool = TOOLS / command[0]
    found = subprocess.run(
        [str(tool), *command[1:]],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT / ".src")}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert found.returncode == 0, found.stdout[-4000:] + found.stderr[-2000:]


def test_no_file_names_a_path_of_a_machine_or_a_registry():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    forbidden = [
        "/" + "work/",
        "/" + "root/",
        "pypi" + ".org",
        "maven" + ".org",
        "maven" + ".apache",
        "python" + "hosted",
    ]
    reported = []
    for name in filter(None, listed):
        path = ROOT / name
        if not path.is_file() or path.is_symlink():
            continue
        text = path.read_bytes().decode("utf-8", "replace")
        reported += [f"{name}: {word}" for word in forbidden if word in text]
    assert reported == []


@cache
def _trees():
    """Return the modules of all layers by path, parsed once for all tests."""
    paths = [path for layer in LAYERS for path in sorted((ROOT / layer).rglob("*.py"))]
    return [(path.relative_to(ROOT), ast.parse(path.read_text(encoding="utf-8"))) for path in paths]


def _literal_ends(node):
    """Yield the first and last literal text of each alternative of a hint; an expression in its place is None."""
    match node:
        case ast.IfExp():
            yield from (*_literal_ends(node.body), *_literal_ends(node.orelse))
        case ast.BinOp(op=ast.Add()):
            for first, _ in _literal_ends(node.left):
                yield from ((first, last) for _, last in _literal_ends(node.right))
        case ast.JoinedStr(values=parts):
            texts = [part.value if isinstance(part, ast.Constant) else None for part in parts]
            yield texts[0], texts[-1]
        case ast.Constant(value=str(text)) if text:
            yield text, text
        case _:
            yield None, None


def _hints(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from (keyword.value for keyword in node.keywords if keyword.arg == "hint")
        elif isinstance(node, ast.Assign) and any(getattr(target, "id", "") == "hint" for target in node.targets):
            yield node.value


def test_every_hint_of_an_error_is_a_sentence():
    reported = []
    for path, tree in _trees():
        for hint in _hints(tree):
            for first, last in _literal_ends(hint):
                begins = first is None or first[0].isupper() or first[0] in "`|\n"
                ends = last is None or last[-1] in ".?:\n" or last.endswith("  | ")
                if not (begins and ends):
                    reported.append(f"{path}:{hint.lineno}: {ast.unparse(hint)}")
    assert reported == [], "a hint begins with a capital letter or a code span, and ends with a full stop"


def test_no_code_compares_with_the_name_of_a_system_or_dialect():
    shipped = shipped_catalogue()
    names = {part for subject in shipped.subjects() for part in (subject, *subject.split("/"))}
    names |= {version.reference for version in shipped.all_versions()} | set(shipped.mapping_names())
    # Dialects of these names there are; and transports, a keyword of schemas, and families of rules of comparison.
    names -= {"json", "avro", "default", "json-schema"}
    found = []
    trees = [(path, tree) for path, tree in _trees() if path.parts[0] in ("registry", "spark_checks", "cli")]
    for path, tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Compare):
                asked = [node.left, *node.comparators]
            elif isinstance(node, ast.MatchValue):
                asked = [node.value]
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                asked = node.args if node.func.attr in ("startswith", "endswith", "get") else []
            elif isinstance(node, ast.Dict):
                asked = [key for key in node.keys if key is not None]
            else:
                continue
            texts = [one.value for part in asked for one in ast.walk(part) if isinstance(one, ast.Constant)]
            found += [f"{path}:{node.lineno} {text}" for text in texts if isinstance(text, str) and text in names]
    assert len(trees) > 40
    assert found == []


MOST_FIELDS = 17
MOST_PARAMETERS = 8
WIDE = {
    "Meaning": "contract.yaml, whose keys are a published format",
    "Report": "the JSON report, whose members are a published format",
    "ReportedFinding": "a finding of the JSON report",
    "RunRecord": "the record of a run, which other releases read",
    "Change": "a row of changes/, a field for each column",
    "Tally": "the counts of a run, which are merged one by one and never passed on in parts",
}
"""Classes with more fields, and why nothing in them travels together."""
INTERFACE = {"api/contracts.py: contract"}
"""Functions for users, whose arguments are named one by one."""


def _classes_and_functions():
    for path, tree in _trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                yield path, node


def _own_fields(node):
    named = [one for one in node.body if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)]
    return [one.target.id for one in named if "ClassVar" not in ast.unparse(one.annotation)]


def _parameters(node):
    given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return [one.arg for one in given if one.arg not in ("self", "cls")]


def _is_command(node):
    """Whether a function is a command, whose parameters are the options that a user reads in its help."""
    return any(name in ast.unparse(node.args) for name in ("typer.Option(", "typer.Argument("))


def test_what_has_many_fields_holds_values_that_belong_together_as_one():
    classes = [(path, node) for path, node in _classes_and_functions() if isinstance(node, ast.ClassDef)]
    options = {node.name for path, node in classes if "typer.Option(" in ast.unparse(node)}
    wide = {
        node.name: f"{path}: {len(names)}"
        for path, node in classes
        if len(names := _own_fields(node)) > MOST_FIELDS and node.name not in options
    }
    assert {name: where for name, where in wide.items() if name not in WIDE} == {}
    assert WIDE.keys() <= wide.keys(), "leave out those that have become smaller"


def test_a_function_takes_values_that_belong_together_as_one():
    wide = [
        f"{path}: {node.name} takes {len(names)}"
        for path, node in _classes_and_functions()
        if not isinstance(node, ast.ClassDef)
        and len(names := _parameters(node)) > MOST_PARAMETERS
        and not _is_command(node)
        and f"{path}: {node.name}" not in INTERFACE
    ]
    assert wide == []


def test_no_test_gives_up_on_a_server_after_the_time_that_a_client_takes_by_itself():
    asks = re.compile(r"httpx\.(get|post|put|delete|patch|head|options|request|stream|Client|AsyncClient)\(")
    tests = ROOT / "tests"
    reported = [path.name for path in tests.rglob("*.py") if asks.search(path.read_text(encoding="utf-8"))]
    assert reported == [], "use tests/patient.py"


def test_what_tests_start_is_stopped_by_ctrl_c_also_where_the_tests_were_started_in_the_background():
    program = """if True:
        import signal, subprocess, sys
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # as a shell's `&` does
        from conftest import take_signals
        take_signals()
        ended = subprocess.run([sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGINT)"])
        print(ended.returncode)
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT / "tests", ROOT / ".src")))}
    reported = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False
    )  # fmt: skip
    assert reported.stdout == f"{-signal.SIGINT}\n", reported.stderr


def test_the_files_that_are_begun_first_are_there():
    assert {*LONGEST, *SLOWEST} <= {path.name for path in (ROOT / "tests").rglob("test_*.py")}


def test_what_does_not_say_that_it_starts_java_finds_none():
    with pytest.raises(UnavailableError, match="Java was not found") as missing:
        find_java()
    assert "needs the mark `java`" in str(missing.value.where)


def test_what_bounds_its_seconds_reads_them_from_the_stopwatch():
    clocks = ["process_" + "time()", "perf_" + "counter"]
    files = [path for path in (ROOT / "tests").rglob("*.py") if path.name != "stopwatch.py"]
    assert [path.name for path in files if any(clock in path.read_text(encoding="utf-8") for clock in clocks)] == []


def test_what_is_offered_to_pre_commit_names_commands_that_exist():
    import yaml

    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    own = [
        hook
        for repo in yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
        for hook in repo["hooks"]
    ]
    assert [hook["entry"] for hook in hooks] == ["cdc-contracts lint", "cdc-contracts breaking"]
    programs = {hook["entry"].split()[0].removeprefix(".venv/bin/") for hook in own}
    assert programs <= {"ruff", "mypy", "cdc-contracts", "python"}
    assert all(hook["language"] == "system" for hook in own)
