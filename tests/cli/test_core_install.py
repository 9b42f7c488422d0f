"""Without the extras: the commands about contracts and single messages run with the core dependencies alone."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from site_pages import blocks_of

from cdc_contracts.cli.check import _FEW
from cdc_contracts.registry.core.common.extras import EXTRAS, install_command, installed_as

ROOT = Path(__file__).parents[2]
SAMPLES = "contracts/dts/canal/v2/samples"
SAMPLE = f"{SAMPLES}/insert-every-type.json"
AVRO = "contracts/dts/avro/v1/samples"
MOST_BYTES = 115_000_000
"""In blocks of the disk, as `du` counts, without pip and setuptools: 104 MB in November 2026."""
NOT_OURS = re.compile(r"(pip|setuptools|pkg_resources|_distutils_hack|distutils-precedence)\b")
REFUSING = """
import sys

class Refusing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"numpy", "pyarrow", "pandas", "pyspark", "confluent_kafka"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Refusing())
"""
INSTALLED = "an installed wheel"
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
        pytest.param(["list"], 0, marks=pytest.mark.nightly),
        pytest.param(["show", "dts/canal@2"], 0, marks=pytest.mark.nightly),
        pytest.param(["schema", "dts/canal@2"], 0, marks=pytest.mark.nightly),
        pytest.param(["diff", "dts/canal@1", "dts/canal@2"], 0, marks=pytest.mark.nightly),
        pytest.param(["compat", "dts/canal@1", "dts/canal@2"], 1, marks=pytest.mark.nightly),
        pytest.param(["rules"], 0, marks=pytest.mark.nightly),
        pytest.param(["sample", "dts/canal@2", "-n", "3"], 0, marks=pytest.mark.nightly),
        pytest.param(["lint", "contracts/dts/avro", "contracts/dts/canal/v2"], 0, marks=pytest.mark.nightly),
        (["detect", SAMPLE], 0),
        (["why", SAMPLE, "--contract", "dts/canal@2"], 0),
        (["check", SAMPLE, "--contract", "dts/canal@2"], 0),
        (["breaking", "--against", "contracts", "contracts"], 0),
        pytest.param(["registry", "plan", "--help"], 0, marks=pytest.mark.nightly),
    ],
    ids=lambda given: given[0] if isinstance(given, list) else "",
)
def test_a_command_runs_without_arrays_spark_and_kafka(arguments, exit_code):
    ended = run(*arguments)
    assert (ended.returncode, ended.stderr.count("Traceback")) == (exit_code, 0), ended.stderr
    assert ended.stdout or re.search("no findings|pass: 1 read", ended.stderr)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "file",
    [
        pytest.param(SAMPLE, marks=pytest.mark.nightly),
        pytest.param(f"{SAMPLES}/drift", marks=pytest.mark.nightly),
        f"{AVRO}",
    ],
)
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


@pytest.mark.nightly
def test_a_line_is_explained_alike_with_and_without_arrays(tmp_path):
    lines = run("sample", "dts/canal@2", "-n", "20", "--drift", "unknown-enum", code="import sys\n" + MAIN).stdout
    (tmp_path / "orders.jsonl").write_text(lines, encoding="utf-8")
    given = ["why", "orders.jsonl", "--contract", "dts/canal@2", "--json", "--line", "10"]
    without, fully = (run(*given, code=code, folder=tmp_path) for code in (REFUSING + MAIN, "import sys\n" + MAIN))
    assert (without.returncode, without.stdout) == (fully.returncode, fully.stdout)
    assert '"line": 10' in without.stdout


@pytest.mark.nightly
def test_a_check_prints_the_same_bytes_with_and_without_arrays(tmp_path):
    lines = run("sample", "dts/canal@2", "-n", "80", "--drift", "value-form", code="import sys\n" + MAIN).stdout
    (tmp_path / "orders.jsonl").write_text(lines + "\nno message\n", encoding="utf-8")
    assert lines.count("\n") > _FEW  # fewer are checked one by one in any case
    given = ["check", "orders.jsonl", "--contract", "dts/canal@1"]
    without, fully = (run(*given, code=code, folder=tmp_path) for code in (REFUSING + MAIN, "import sys\n" + MAIN))
    assert (without.returncode, without.stdout, without.stderr) == (fully.returncode, fully.stdout, fully.stderr)
    assert without.returncode == 1
    assert "value-form" in without.stdout


@pytest.mark.parametrize(
    ("arguments", "package", "extra"),
    [
        (["check", "orders.parquet"], "numpy", "arrow"),
        pytest.param(["audit", "file", "orders.jsonl"], "pyarrow", "arrow", marks=pytest.mark.nightly),
        (["audit", "file", "orders.jsonl", "--engine", "local"], "pyarrow", "arrow"),
        pytest.param(["audit", "topic", "orders", "-b", "localhost:1"], "numpy", "arrow", marks=pytest.mark.nightly),
        pytest.param(["decode", "file", "orders.jsonl", "--engine", "local", "--to", "out"], "pyarrow", "arrow", marks=pytest.mark.nightly),
        pytest.param(["tables", "infer", "file", "orders.jsonl"], "pyarrow", "arrow", marks=pytest.mark.nightly),
        pytest.param(["replay", "quarantine", "out"], "pyarrow", "arrow", marks=pytest.mark.nightly),
        pytest.param(["detect", "orders.parquet"], "numpy", "arrow", marks=pytest.mark.nightly),
        (["detect", "topic", "orders", "-b", "localhost:1"], "confluent-kafka", "kafka"),
        (["why", "topic", "orders", "-b", "localhost:1", "--partition", "0", "--offset", "1"],
         "confluent-kafka", "kafka"),
        (["demo"], "pandas", "spark"),
    ],
    ids=lambda given: " ".join(given[:2]) if isinstance(given, list) else given,
)  # fmt: skip
def test_a_command_without_its_extra_names_the_command_that_installs_it(arguments, package, extra, tmp_path):
    for name in ("orders.jsonl", "orders.parquet"):
        (tmp_path / name).write_text("{}\n", encoding="utf-8")
    ended = run(*arguments, "-q", folder=tmp_path)
    beside = ", or with [spark] in place of [arrow] to run Spark" if extra == "arrow" else ""
    assert (ended.returncode, ended.stdout) == (3, "")
    assert ended.stderr == (
        f"error: this needs {package}, which is not installed\n  {install_command(extra)}{beside}\n"
    )
    assert sorted(one.name for one in tmp_path.iterdir()) == ["orders.jsonl", "orders.parquet"]


def test_without_spark_a_run_names_the_engine_that_needs_none(tmp_path):
    (tmp_path / "orders.jsonl").write_text("{}\n", encoding="utf-8")
    without = REFUSING.replace('"numpy", "pyarrow", "pandas"', '"pandas"')
    ended = run("audit", "file", "orders.jsonl", "-q", code=without + MAIN, folder=tmp_path)
    assert (ended.returncode, ended.stdout) == (3, "")
    assert ended.stderr == (
        f"error: Spark is not installed\n  Add --engine local, which needs no Spark, or run `{install_command('spark')}`.\n"
    )


def test_every_package_of_an_extra_is_declared_for_it():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {
        name: {re.split(r"[^a-z0-9-]", one)[0] for one in needed}
        for name, needed in declared["optional-dependencies"].items()
    }
    core = {re.split(r"[^a-z0-9-]", one)[0] for one in declared["dependencies"]}
    for package, extra in EXTRAS.items():
        assert installed_as(package) in extras[extra]
        assert package.replace("_", "-") not in core


@pytest.mark.nightly
def test_the_core_takes_little_room_and_runs_by_itself(tmp_path):
    wheel, venv = tmp_path / "wheel", tmp_path / "venv"
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(wheel), str(ROOT)], check=True, timeout=600
    )
    subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True, timeout=300)
    (built,) = wheel.glob("*.whl")
    locked = ["-c", str(ROOT / "requirements.lock")]
    subprocess.run([str(venv / "bin/pip"), "install", "-q", *locked, str(built)], check=True, timeout=600)
    (packages,) = venv.glob("lib/python*/site-packages")
    size = sum(
        one.lstat().st_blocks * 512
        for one in packages.rglob("*")
        if not NOT_OURS.match(one.relative_to(packages).parts[0])
    )
    assert 50_000_000 < size <= MOST_BYTES, f"{size:,} bytes"
    sample = str(ROOT / SAMPLE)
    for arguments in (
        ["list"],
        ["rules"],
        ["lint"],
        ["detect", sample],
        ["why", sample],
        ["check", sample],
        ["contract", "new", "acme/plain", sample],
    ):
        ended = subprocess.run(
            [str(venv / "bin/cdc-contracts"), *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=300,
            check=False,
        )  # fmt: skip
        assert ended.returncode == 0, ended.stderr
    (unpacking,) = [one.text for one in blocks_of(ROOT / "docs/how-to/without-spark.md") if one.needs == INSTALLED]
    path = f"{venv / 'bin'}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(["sh", "-e"], input=unpacking, text=True, cwd=tmp_path, env={**os.environ, "PATH": path}, check=True)
    unpacked = {one.relative_to(tmp_path / "samples"): one for one in (tmp_path / "samples").rglob("*.*")}
    assert {at: one.read_bytes() for at, one in unpacked.items()} == {
        one.relative_to(ROOT / SAMPLES): one.read_bytes() for one in (ROOT / SAMPLES).rglob("*.*")
    }


@pytest.mark.nightly
@pytest.mark.parametrize("by_name", [True, False], ids=["by name", "by the path of the wheel"])
def test_the_command_that_a_hint_names_installs_the_extra(by_name, tmp_path):
    """With nothing but a folder of wheels, as long as no release is published."""
    wheels, venv = tmp_path / "wheels", tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(wheels), str(ROOT)], check=True)
    subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
    found = " ".join([*([str(wheels)] if by_name else []), os.environ.get("PIP_FIND_LINKS", "")]).strip()
    environment = {
        **{name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "PIP_FIND_LINKS"}},
        **({"PIP_FIND_LINKS": found} if found else {}),
        "PIP_CONSTRAINT": str(ROOT / "requirements.lock"),
        "PATH": f"{venv / 'bin'}{os.pathsep}{os.environ['PATH']}",
    }

    def type_in(command):
        return subprocess.run(
            ["sh", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )

    (wheel,) = wheels.glob("*.whl")
    assert type_in(f"pip install -q {'cdc-contracts' if by_name else wheel}").returncode == 0
    audit = f"cdc-contracts audit -q file {ROOT / SAMPLE} --contract dts/canal@2 --engine local"
    refused = type_in(audit)
    assert refused.returncode == 3
    hint = refused.stderr.splitlines()[1].strip().split(", or with")[0]
    assert hint == f"pip install 'cdc-contracts[arrow]{'' if by_name else f' @ {wheel.as_uri()}'}'"
    installed = type_in(hint)
    assert installed.returncode == 0, installed.stderr
    audited = type_in(audit)
    assert (audited.returncode, audited.stdout.startswith("PASS")) == (0, True), audited.stderr
