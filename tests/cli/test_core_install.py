"""Without the extras: the commands about contracts and single messages run with the core dependencies alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SAMPLES = "contracts/dts/canal/v2/samples"
SAMPLE = f"{SAMPLES}/insert-every-type.json"
AVRO = "contracts/dts/avro/v1/samples"
REFUSING = """
import sys

class Refusing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"numpy", "pyarrow", "pandas", "pyspark", "confluent_kafka"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Refusing())
"""
MAIN = "from cdc_contracts.cli.__main__ import main\nsys.exit(main())\n"


def run(*arguments, code=REFUSING + MAIN, folder=ROOT):
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT / ".src"), "COLUMNS": "80"},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@pytest.mark.parametrize(
    ("arguments", "exit_code"),
    [
        (["--version"], 0),
        (["list"], 0),
        (["show", "dts/canal@2"], 0),
        (["schema", "dts/canal@2"], 0),
        (["diff", "dts/canal@1", "dts/canal@2"], 0),
        (["compat", "dts/canal@1", "dts/canal@2"], 1),
        (["rules"], 0),
        (["sample", "dts/canal@2", "-n", "3"], 0),
        (["lint", "contracts/dts/avro", "contracts/dts/canal/v2"], 0),
        (["detect", SAMPLE], 0),
        (["why", SAMPLE, "--contract", "dts/canal@2"], 0),
        (["breaking", "--against", "contracts", "contracts"], 0),
        (["registry", "plan", "--help"], 0),
    ],
    ids=lambda given: given[0] if isinstance(given, list) else "",
)
def test_a_command_runs_without_arrays_spark_and_kafka(arguments, exit_code):
    ended = run(*arguments)
    assert (ended.returncode, ended.stderr.count("Traceback")) == (exit_code, 0), ended.stderr
    assert ended.stdout or "no findings" in ended.stderr


@pytest.mark.parametrize("file", [SAMPLE, f"{SAMPLES}/drift", f"{AVRO}"])
def test_detection_finds_the_same_with_and_without_arrays(file):
    paths = [file] if file.endswith(".json") else sorted(
        str(one.relative_to(ROOT)) for one in (ROOT / file).iterdir()
        if one.suffix in {".json", ".avro"} and not one.name.endswith((".change.json", ".findings.json"))
    )  # fmt: skip
    assert paths
    without, fully = (run("detect", "--json", *paths, code=code) for code in (REFUSING + MAIN, "import sys\n" + MAIN))
    assert without.stdout == fully.stdout
    assert (without.returncode, without.stderr) == (fully.returncode, fully.stderr)
    assert json.loads(without.stdout)["messages"] == len(paths)


def test_a_line_is_explained_alike_with_and_without_arrays(tmp_path):
    lines = run("sample", "dts/canal@2", "-n", "20", "--drift", "unknown-enum", code="import sys\n" + MAIN).stdout
    (tmp_path / "orders.jsonl").write_text(lines, encoding="utf-8")
    given = ["why", "orders.jsonl", "--contract", "dts/canal@2", "--json", "--line", "10"]
    without, fully = (run(*given, code=code, folder=tmp_path) for code in (REFUSING + MAIN, "import sys\n" + MAIN))
    assert (without.returncode, without.stdout) == (fully.returncode, fully.stdout)
    assert '"line": 10' in without.stdout
