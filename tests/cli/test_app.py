"""How a call ends: exit codes, what is said where, and that starting costs little."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from cdc_contracts.cli import app
from cdc_contracts.cli.app import main
from cdc_contracts.cli.command_table import CommandTable
from cdc_contracts.registry.core.common.errors import LedgerError, UnavailableError

pytestmark = pytest.mark.usefixtures("first_versions")

ROOT = Path(__file__).parents[2]
SLOW = {"pyspark", "pyarrow", "numpy", "pandas", "jsonschema", "deepdiff", "fastavro", "msgspec", "confluent_kafka"}
SAMPLE = "contracts/dts/canal/v2/samples/insert-every-type.json"


def run(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "cdc_contracts.cli.app", *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT / ".src"), "COLUMNS": "80", **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["show", "dts/cana"], 2, "error: there is no contract `dts/cana`\n  Did you mean dts/canal?\n"),
        (
            ["show", "dts"],
            2,
            "error: `dts` is not a reference to a contract\n  Write SYSTEM/DIALECT or SYSTEM/DIALECT@N.\n",
        ),
        (["diff", "dts/canal@1", "dts/canal@9"], 2, "error: dts/canal has no version 9\n  Did you mean dts/canal@2?\n"),
        (["rules", "show", "L99"], 2, "error: there is no rule `L99`\n"),
        (["lint", "no/such/folder"], 2, "error: there is no file or folder no/such/folder\n"),
        (
            ["list", "--contracts", "no/such"],
            2,
            "error: there is no folder no/such\n  A folder of contracts is needed.\n",
        ),
    ],
)
def test_an_error_is_printed_on_stderr_with_its_exit_code(arguments, code, told, capsys):
    assert main(arguments) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(told)
    assert "Traceback" not in err


def test_a_value_that_an_option_does_not_take_is_reported_with_those_it_takes(capsys):
    assert main(["audit", "file", "a.jsonl", "--engine", "lcal"]) == 2
    assert "Invalid value for '--engine': 'lcal' is not one of 'spark', 'local'." in capsys.readouterr().err


def test_a_file_of_client_properties_that_is_not_there_is_named(capsys):
    given = ["audit", "topic", "orders", "-b", "localhost:1", "--engine", "local", "--contract", "dts/canal@2"]
    assert main([*given, "--kafka-config", "none.properties"]) == 3
    assert capsys.readouterr().err == "error: cannot be read: No such file or directory (none.properties)\n"


def options(command, *names):
    """Yield every option of a command and of those below it, with the names that lead to it."""
    for one in command.params:
        if one.param_type_name == "option":
            yield " ".join([*names, one.opts[0]]), one
    for name, below in getattr(command, "commands", {}).items():
        yield from options(below, *names, name)


def test_the_help_of_every_option_that_may_stand_again_says_so():
    found = list(options(get_command(app.app)))
    assert len(found) > 100
    assert [name for name, one in found if one.multiple and not one.help.endswith("Repeatable.")] == []


def test_no_line_about_a_command_is_cut_off(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["audit", "--help"]) == 0
    assert "..." not in capsys.readouterr().out.partition("Commands:")[2]


@pytest.mark.parametrize(
    "arguments",
    [[], ["nonsense"], ["show"], ["show", "dts/canal", "more"], ["list", "--nonsense"], ["lint", "--format", "xml"],
     ["lint", "--fail-on", "info"], ["show", "dts/canal", "--schema", "xml"], ["diff", "dts/canal@1"]],
)  # fmt: skip
def test_a_call_that_is_wrong_ends_with_2_and_leaves_stdout_empty(arguments, capsys):
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "Usage: cdc-contracts" in err


@pytest.mark.parametrize(
    "arguments", [["--help"], ["-h"], ["lint", "--help"], ["rules", "show", "--help"], ["--version"]]
)
def test_help_and_version_are_data(arguments, capsys):
    assert main(arguments) == 0
    out, err = capsys.readouterr()
    assert "cdc-contracts" in out
    assert err == ""


@pytest.mark.parametrize(
    ("failure", "code", "told"),
    [
        (
            UnavailableError("no answer", where="broker:9092", hint="start it"),
            3,
            "error: no answer (broker:9092)\n  start it\n",
        ),
        (LedgerError("1 is not 2"), 5, "error: 1 is not 2\n"),
        (
            ZeroDivisionError("oh"),
            3,
            "error: ZeroDivisionError: oh (this is a bug in cdc-contracts)\n  Run again with --debug",
        ),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_every_failure_is_reported_in_one_message(failure, code, told, capsys, monkeypatch):
    def fail(*_):
        raise failure

    monkeypatch.setattr("cdc_contracts.cli.list_contracts.open_catalogue", fail)
    assert main(["list"]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(told)
    assert "Traceback" not in err


@pytest.mark.parametrize("arguments", [["--debug", "show", "x"], ["show", "--debug", "x"], ["show", "x", "--debug"]])
def test_debug_shows_the_traceback_wherever_it_stands(arguments, capsys):
    assert main(arguments) == 2
    err = capsys.readouterr().err
    assert "Traceback" in err
    assert err.endswith("Write SYSTEM/DIALECT or SYSTEM/DIALECT@N.\n")


def test_behind_two_dashes_debug_is_an_argument(capsys):
    assert main(["show", "--", "--debug"]) == 2
    assert "`--debug` is not a reference" in capsys.readouterr().err


def test_a_process_ends_with_the_code_of_its_error():
    ended = run("show", "dts/cana")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == "error: there is no contract `dts/cana`\n  Did you mean dts/canal?\n"


def test_a_reader_that_goes_away_is_no_error():
    process = subprocess.Popen(
        [sys.executable, "-m", "cdc_contracts.cli.app", "rules"],
        env={**os.environ, "PYTHONPATH": str(ROOT / ".src")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.close()
    error = process.stderr.read().decode()
    process.stderr.close()
    assert process.wait(300) == 141
    assert "Traceback" not in error
    assert "error" not in error.lower().replace("severity", "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
@pytest.mark.parametrize(
    "arguments",
    [["list", "--json"], ["--help"], ["sample", "dts/canal@2", "-n", "2000"], ["sample", "dts/canal@2", "-n", "3"],
     *(pytest.param(one, marks=pytest.mark.nightly) for one in (["list"], ["rules"], ["--version"], ["show", "dts/canal"]))],
    ids=" ".join,
)  # fmt: skip
def test_a_full_standard_output_is_reported_and_is_no_bug(arguments):
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "cdc_contracts.cli", *arguments],
            env={**os.environ, "PYTHONPATH": str(ROOT / ".src")},
            stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=300,
        )  # fmt: skip
    what = "standard output, or a file, cannot be written or read"
    if "--help" not in arguments:  # that is written by typer
        what = "standard output cannot be written"
    told = f"error: {what}: No space left on device\n  Free some space there, or choose another location.\n"
    assert (ended.returncode, ended.stderr) == (3, told)


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet"])
def test_a_file_that_cannot_be_written_whole_is_reported_and_removed(name, tmp_path):
    """A limit to the length of files stands for a disk that is full; Python may not cut its own files by it."""
    command = f"ulimit -f 8; exec {sys.executable} -m cdc_contracts.cli sample dts/canal@2 -n 2000 -o {name}"
    ended = subprocess.run(
        ["sh", "-c", command], cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / ".src"), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert (ended.returncode, ended.stdout, list(tmp_path.iterdir())) == (3, "", [])
    assert ended.stderr.startswith("error: it cannot be written: ")
    assert "File too large" in ended.stderr
    assert f"({name})\n  The file is too large" in ended.stderr


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="there is no folder here that nobody may write to")
@pytest.mark.parametrize(
    "arguments",
    [["decode", "file", "a.jsonl", "--contract", "dts/canal@2", "--to", "/proc/out"],
     ["capture", "topic", "t", "-b", "127.0.0.1:9", "-o", "/proc/out/a.parquet"],
     ["audit", "topic", "t", "-b", "127.0.0.1:9", "--contract", "dts/canal", "--follow", "--checkpoint", "/proc/out"],
     ["tables", "infer", "file", "a.jsonl", "--contract", "dts/canal@2", "-o", "/proc/out"],
     ["tables", "infer", "topic", "t", "-b", "127.0.0.1:9", "--contract", "dts/canal@2", "-o", "/proc/out"],
     ["tables", "from-ddl", "a.jsonl", "--dialect", "mysql", "-o", "/proc/out"],
     ["registry", "dump", "/proc/out", "--url", "http://127.0.0.1:9"]],
    ids=lambda given: " ".join(given[:2]),
)  # fmt: skip
def test_a_folder_that_cannot_be_written_to_is_reported_before_any_work(arguments, tmp_path, monkeypatch, capsys):
    """No Java is found in this test: there was no Spark yet."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.jsonl").write_bytes(b"{}")
    assert main(arguments) == 3
    assert capsys.readouterr().err.startswith("error: nothing can be written there: ")


def test_a_command_goes_on_if_stderr_cannot_be_written():
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "cdc_contracts.cli", "lint", "tests/registry/lint/contracts"],
            env={**os.environ, "PYTHONPATH": str(ROOT / ".src")}, cwd=ROOT,
            stdout=subprocess.PIPE, stderr=full, text=True, check=False, timeout=300,
        )  # fmt: skip
    assert ended.returncode == 0


@pytest.mark.nightly
def test_an_encoding_without_the_character_does_not_end_the_run():
    ended = run("diff", "dts/canal@1", "dts/canal@2", PYTHONIOENCODING="ascii")
    assert ended.returncode == 0
    assert "\\u2192" in ended.stdout
    ended = run("diff", "dts/canal@1", "dts/canal@2", "--json", PYTHONIOENCODING="ascii")
    assert json.loads(ended.stdout)["left"] == "dts/canal@1"


def test_nothing_is_coloured_where_it_is_piped_or_not_wanted():
    assert "\x1b" not in run("list").stdout
    assert "\x1b[1m" in run("list", FORCE_COLOR="1", TERM="xterm").stdout
    assert "\x1b[3" not in run("list", FORCE_COLOR="1", NO_COLOR="1", TERM="xterm").stdout


def modules_of(arguments):
    """The modules that a command has imported at its end."""
    told = (
        "import sys\n"
        "from cdc_contracts.cli.app import main\n"
        f"main({arguments!r})\n"
        "print(*[name for name, module in sys.modules.items() if module is not None], file=sys.stderr)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", told],
        env={**os.environ, "PYTHONPATH": str(ROOT / ".src")},
        capture_output=True, text=True, check=True, timeout=300, cwd=ROOT,
    )  # fmt: skip
    return set(ended.stderr.rpartition("\n\n")[2].split())


def imported_by(arguments):
    """The packages that a command has imported at its end."""
    return {name.split(".")[0] for name in modules_of(arguments)}


def commands_in(modules):
    """The modules of commands among some modules."""
    commands = {f"cdc_contracts.cli.{command.module}" for command in app.COMMANDS.values()}
    return {name.removeprefix("cdc_contracts.cli.") for name in modules & commands}


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["list"], ["audit", "--help"], ["show", "dts/canal", "--resolved"]]
)
def test_what_starts_often_imports_nothing_slow(arguments):
    loaded = imported_by(arguments)
    assert "cdc_contracts" in loaded
    assert loaded & SLOW == set()


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["nonsense"]])
def test_what_calls_no_command_imports_none(arguments):
    assert commands_in(modules_of(arguments)) == set()


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (["list"], "list_contracts"),
        (["list", "--help"], "list_contracts"),
        (["rules", "show", "L01"], "rules"),
        (["check", "--help"], "check"),
    ],
)
def test_a_command_is_imported_alone(arguments, command):
    assert commands_in(modules_of(arguments)) == {command}


@pytest.mark.parametrize(
    "arguments",
    [
        ["lint", "contracts/dts/canal"],
        *(
            pytest.param(one, marks=pytest.mark.nightly)
            for one in (["lint"], ["show", "dts/canal"], ["diff", "dts/canal@1", "dts/canal@2"], ["rules"])
        ),
    ],
)
def test_commands_that_read_no_topic_do_without_spark_and_lint_without_arrays(arguments):
    loaded = imported_by(arguments)
    assert {"pyspark", "py4j", "confluent_kafka"} & loaded == set()
    assert arguments[0] != "lint" or "pyarrow" not in loaded


@pytest.mark.parametrize(
    "arguments",
    [*(pytest.param(one, marks=pytest.mark.nightly) for one in (
        ["check", SAMPLE, "--contract", "dts/canal@2"], ["why", SAMPLE, "--contract", "dts/canal@2"], ["detect", SAMPLE],
     )), ["why", SAMPLE], ["audit", "file", SAMPLE, "--contract", "dts/canal@2", "--engine", "local"]],
    ids=lambda given: " ".join(word for word in given if word != SAMPLE),
)  # fmt: skip
def test_commands_that_read_one_message_in_this_process_do_without_pandas_and_spark(arguments):
    loaded = imported_by(arguments)
    assert "cdc_contracts" in loaded
    assert {"pandas", "pyspark", "py4j", "confluent_kafka"} & loaded == set()


def test_a_message_that_conforms_needs_neither_jsonschema_nor_arrays():
    loaded = modules_of(["check", SAMPLE, "--contract", "dts/canal@2"])
    assert {"jsonschema", "pyarrow", "numpy", "fastavro"} & loaded == set()


@pytest.mark.parametrize(("arguments", "collects"), [(["--version"], True), (["lint", "--help"], False)])
def test_a_process_of_a_command_looks_for_garbage_rarely_and_not_at_its_end(arguments, collects):
    told = (
        "import gc; from cdc_contracts.cli.__main__ import main; main();"
        "print(gc.get_threshold()[0] >= 50_000, gc.isenabled(), gc.get_freeze_count() > 1_000)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", told, *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT / ".src")},
        capture_output=True, text=True, check=True, timeout=300,
    )  # fmt: skip
    assert ended.stdout.splitlines()[-1] == f"True {collects} True"


def test_the_table_of_commands_is_the_help_of_each():
    group = get_command(app.app)
    assert isinstance(group, CommandTable)
    assert list(group.commands) == group.list_commands(None) == list(app.COMMANDS)
    assert {name: command.short_help for name, command in group.commands.items()} == {
        name: command.help for name, command in app.COMMANDS.items()
    }
    assert group.get_command(None, "nonsense") is None


def test_the_constant_that_is_kept_apart_for_speed_is_the_same():
    from cdc_contracts.cli.options import validation_options
    from cdc_contracts.registry.core.common import json_messages

    assert validation_options.MOST_BYTES == json_messages.MAX_BYTES


def test_the_entry_point_is_there():
    assert app.PROGRAM == "cdc-contracts"
    assert callable(app.main)


def test_an_audit_in_one_process_imports_no_parquet_writer_no_http_client_and_no_format_of_reports():
    sample = "contracts/dts/canal/v2/samples/delete.json"
    loaded = modules_of(["audit", "file", sample, "--contract", "dts/canal@2", "--engine", "local"])
    assert {"pyarrow", "cdc_contracts.spark_checks.engines.local_engine"} <= loaded
    report = {f"cdc_contracts.registry.core.report.{one}" for one in ("html_page", "report_markdown", "report_junit")}
    assert loaded & {"pyarrow.parquet", "http.client", "urllib.request", *report} == set()
