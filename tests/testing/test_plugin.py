"""The pytest plugin, in runs of pytest of its own."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from cdc_contracts.testing import assert_conforms, messages
from cdc_contracts.testing.contract_cases import ContractCase
from cdc_contracts.testing.sent_messages import MessageSender

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[2]
PLUGIN = "cdc_contracts.testing.plugin"
ALONE = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
"""Runs of their own load no plugins of others, which takes longer than the tests."""


@pytest.fixture(autouse=True, scope="module")
def loaded():
    """Import here what the runs import: a run of pytester drops the modules that were first imported in it."""
    case = ContractCase(MessageSender("dts/canal@1"), n=5)
    assert_conforms(case.messages, "dts/canal@1")
    assert case.rows


@pytest.fixture
def run(pytester, monkeypatch):
    for name, value in ALONE.items():
        monkeypatch.setenv(name, value)

    def run(text, *arguments, start=pytester.runpytest_inprocess):
        pytester.makepyfile(text)
        return start("-p", PLUGIN, "-p", "no:cacheprovider", *arguments)

    return run


def test_a_fixture_gives_messages_of_a_contract_and_findings_are_the_failure(run):
    ended = run("""
        from cdc_contracts.testing import assert_conforms

        def test_messages(cdc_messages):
            found = cdc_messages("dts/canal@2", n=9, seed=7)
            assert len(found) == 9
            assert found == cdc_messages("dts/canal@2", n=9, seed=7) != cdc_messages("dts/canal@2", n=9, seed=8)
            assert_conforms(found, "dts/canal@2")

        def test_drift(cdc_messages):
            assert_conforms(cdc_messages("dts/canal@2", n=10, drift="unknown-enum"), "dts/canal@2")
    """)
    ended.assert_outcomes(passed=1, failed=1)
    ended.stdout.fnmatch_lines([
        "E*AssertionError: 1 of 10 messages does not conform to dts/canal@2",
        "E*message 9: error D08.op: unknown-enum at /type: expected one of INSERT, UPDATE, DELETE, INIT, DDL, observed *",
    ])  # fmt: skip
    assert "message_assertions.py" not in ended.stdout.str()


def test_a_mark_runs_a_test_for_every_version_and_kind(run):
    ended = run("""
        import pytest

        @pytest.mark.cdc_contract("dts/canal", n=6, drift=["unknown-enum", "unknown-field"])
        def test_case(cdc_case):
            assert bool(cdc_case.drifting) == (cdc_case.kind == "unknown-enum")
            assert len(cdc_case.messages) == len(cdc_case.decoded)
    """, "-v")  # fmt: skip
    kinds = ("", "-unknown-enum", "-unknown-field")
    ended.assert_outcomes(passed=6)
    for version in (1, 2):
        ended.stdout.fnmatch_lines_random([f"*test_case[[]dts/canal@{version}{kind}[]] PASSED*" for kind in kinds])


@pytest.mark.nightly
def test_a_version_that_cannot_show_a_drift_is_skipped_with_the_reason(run):
    ended = run("""
        import pytest

        @pytest.mark.cdc_contract("oms-community/default@2", drift="other-version")
        def test_case(cdc_case): ...
        """, "-rs")  # fmt: skip
    assert ended.parseoutcomes() in ({"passed": 2}, {"passed": 1, "skipped": 1})


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('@pytest.mark.cdc_contract("dts/canal")\ndef test_it(): ...', "*is marked cdc_contract but does not use*"),
        (
            '@pytest.mark.cdc_contract("dts/canal", drift="unknown-enm")\ndef test_it(cdc_case): ...',
            "*mean unknown-enum?*",
        ),
        (
            '@pytest.mark.cdc_contract("dts/canal", edge=True)\ndef test_it(cdc_case): ...',
            "*no argument `edge`; *edges*",
        ),
        (
            '@pytest.mark.cdc_contract("dts/canal", n=0)\ndef test_it(cdc_case): ...',
            "*test_it: @pytest.mark.cdc_contract: n is a whole number from 1, not 0*",
        ),
        ("@pytest.mark.cdc_contract\ndef test_it(cdc_case): ...", "*it takes one reference; *"),
        ("def test_it(cdc_case): ...", '*`cdc_case` needs a mark, such as @pytest.mark.cdc_contract("dts/canal")*'),
        ('@pytest.mark.cdc_contract("dts/cannal")\ndef test_it(cdc_case): ...', "*Did you mean dts/canal?*"),
    ],
    ids=["no case", "no class", "no argument", "no messages", "no reference", "no mark", "no contract"],
)
def test_a_wrong_use_says_what_to_do(run, text, what):
    run("import pytest\n\n" + text).stdout.fnmatch_lines([what])


def test_a_golden_file_is_written_when_asked_and_compared_from_then_on(run, pytester):
    text = """
        from decimal import Decimal

        def test_values(cdc_golden):
            cdc_golden({"total": Decimal("12.10"), "note": None})
            cdc_golden("a\\nb\\n", "text")
            cdc_golden(b"\\x00", "bytes")
    """
    missing = run(text)
    missing.assert_outcomes(failed=1)
    missing.stdout.fnmatch_lines(["*there is no golden file *test_values.json", "*--cdc-update writes it"])
    run(text, "--cdc-update").assert_outcomes(passed=1)
    golden = pytester.path / "golden"
    assert {path.name for path in golden.iterdir()} == {"test_values.json", "text.txt", "bytes.bin"}
    assert (golden / "test_values.json").read_text() == '{\n "total": "Decimal(\'12.10\')",\n "note": null\n}\n'
    run(text).assert_outcomes(passed=1)
    changed = run(text.replace("12.10", "12.1"))
    changed.assert_outcomes(failed=1)
    changed.stdout.fnmatch_lines(["*- \"total\": \"Decimal('12.10')\",", "*+ \"total\": \"Decimal('12.1')\",",
                                  "*--cdc-update accepts it"])  # fmt: skip


def test_strategies_draw_conforming_messages(run, pytester, monkeypatch):
    """In a process of its own: Hypothesis does not find its own random numbers among objects that `gc.freeze` has hidden."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT / ".src"))
    ended = run(
        """
        from hypothesis import given, settings
        import cdc_contracts as cdc
        from cdc_contracts.testing import strategies

        ORDERS = cdc.contract("dts/canal@2")

        @settings(max_examples=5, deadline=None, database=None)
        @given(strategies.messages("dts/canal@2"))
        def test_a_message(message):
            assert ORDERS.check(message).ok
    """,
        start=pytester.runpytest_subprocess,
    )
    ended.assert_outcomes(passed=1)


def run_example(folder, **changed):
    """Run the example project in a folder, with more of its test files changed; return the output and what failed."""
    for path in (ROOT / "docs/examples/consumer").glob("*.py"):
        (folder / path.name).write_text(path.read_text())
    for name, text in changed.items():
        (folder / f"{name}.py").write_text(text)
    (folder / "pytest.ini").write_text("[pytest]\n")
    plugins = ["-p", PLUGIN, "-p", "no:cacheprovider"]
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *plugins, "."],
        cwd=folder, env={**os.environ, **ALONE, "PYTHONPATH": str(ROOT / ".src")}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return ended.stdout, [line.split(" ")[1] for line in ended.stdout.splitlines() if line.startswith("FAILED")]


def test_the_example_project_passes(tmp_path):
    out, failed = run_example(tmp_path)
    assert (failed, "5 passed" in out) == ([], True), out[-3000:]


@pytest.mark.nightly
def test_a_consumer_of_one_side_fails_on_the_other(tmp_path):
    whole = (ROOT / "docs/examples/consumer/test_order_totals.py").read_text()
    _, failed = run_example(tmp_path, test_one_side=whole.replace("swapped=cdc_case.version == 1", ""))
    assert failed == [
        f"test_one_side.py::test_both_sides_of_2022_03_20_lead_to_the_same_totals[dts/canal@1{kind}]"
        for kind in ("", "-edges")
    ]


def test_messages_of_a_table_contract_have_its_columns():
    table = {"table": "crm.people", "columns": {"id": {"type": "bigint"}, "name": {"type": "varchar(20)", "nullable": False}},
             "primary_key": ["id"]}  # fmt: skip
    case = ContractCase(MessageSender("oms-community/default@2", table=table), kind="edges")
    assert {tuple(change.row) for change in case.changes} == {("id", "name")}
    assert {change.table for change in case.changes} == {"people"}
    assert all(change.row["name"] is not None for change in case.changes)
    assert len(messages("oms-community/default@2", 5, table=table)) == 5


def blocks_of(page):
    text = (ROOT / "docs/how-to" / page).read_text(encoding="utf-8")
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def test_the_guide_shows_the_test_of_the_example_project():
    tested = (ROOT / "docs/examples/consumer/test_order_totals.py").read_text()
    read = (ROOT / "docs/examples/consumer/order_totals.py").read_text()
    assert {tested, read} <= set(blocks_of("test-a-consumer.md"))


@pytest.mark.nightly
def test_the_examples_of_the_guide_pass(run, pytester, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT / ".src"))  # in a process of its own, as above
    blocks = [block for block in blocks_of("test-a-consumer.md") if "order_totals" not in block and "def test" in block]
    ended = run("\n".join(block.replace("@given", "@__import__('hypothesis').settings(max_examples=3)\n@given")
                          for block in blocks), "--cdc-update", start=pytester.runpytest_subprocess)  # fmt: skip
    ended.assert_outcomes(passed=4)


def test_pytest_finds_the_plugin_by_the_name_of_its_module():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    assert declared["pytest11"] == {PLUGIN: PLUGIN}


def test_a_failing_case_says_what_its_version_is(run):
    ended = run("""
        import pytest

        @pytest.mark.cdc_contract("dts/canal", n=5)
        def test_case(cdc_case):
            assert cdc_case.version == 3

        @pytest.mark.parametrize("cdc_case", [1])
        def test_of_its_own(cdc_case):
            assert cdc_case == 2
    """)
    ended.assert_outcomes(failed=3)
    ended.stdout.fnmatch_lines([
        "cdc_case = <dts/canal@1: instances created or restarted before 2022-03-20 (UTC+08:00); 5 messages, seed 1>",
        "-* contract version -*",
        "dts/canal@1: instances created or restarted before 2022-03-20 (UTC+08:00)",
        "-* contract version -*",
        "dts/canal@2: instances created or restarted from 2022-03-20 (UTC+08:00)",
    ])  # fmt: skip


@pytest.mark.parametrize("version", ["dts/avro@1", "oms-community/canal@2"])
def test_a_version_is_described_by_what_it_applies_to_or_else_by_its_title(version):
    described = {
        "dts/avro@1": "dts/avro@1: Alibaba Cloud DTS, Avro",
        "oms-community/canal@2": "oms-community/canal@2: projects created from 3.3.0",
    }
    assert ContractCase(MessageSender(version)).describe() == described[version]


def test_errors_of_fixtures_show_the_call_and_no_frames_below_it(run):
    ended = run("""
        import pytest
        import cdc_contracts as cdc

        def test_messages(cdc_messages):
            cdc_messages("dts/cannal@2")

        def test_caught(cdc_messages):
            with pytest.raises(cdc.UsageError, match="Did you mean dts/canal"):
                cdc_messages("dts/cannal@2")

        @pytest.mark.cdc_contract("dts/canal@2", table="nowhere.yaml", n=5)
        def test_case(cdc_case):
            pass
    """)
    ended.assert_outcomes(failed=1, passed=1, errors=1)
    text = ended.stdout.str()
    assert "there is no contract `dts/cannal`" in text
    assert "dts/canal@2: there is no file or folder nowhere.yaml" in text
    assert re.search(r"^(?!.*test_errors).*\.py:\d+: ", text, re.MULTILINE) is None, text
    assert "functools" not in text
