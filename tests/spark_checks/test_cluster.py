"""Clusters of real processes: outputs are those of one machine, and what workers lack is said before anything is read."""

import json
import os
import subprocess
import sys
import tarfile
import zipfile
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from canonical_outputs import read_output
from packaging.requirements import Requirement
from site_pages import blocks_of
from spark_cluster import SPARK_HOME, running_cluster, running_connect
from topics import rendered

import cdc_contracts
from cdc_contracts.cli.app import main

ROOT = Path(cdc_contracts.__file__).parents[1]
PACKAGE = ROOT / "cdc_contracts"
REPOSITORY = Path(__file__).parents[2]
CONTRACT = ("--contract", "dts/canal@2")
ON_THIS_MACHINE = ("--conf", "spark.driver.host=127.0.0.1", "--conf", "spark.executor.memory=600m")
INSTALLED = {"PYTHONPATH": str(ROOT), "PYSPARK_PYTHON": sys.executable}
"""As if the package were installed on the workers: the same Python, which imports it from the same place."""


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    """A file of 3,000 messages, some of which drift."""
    values = rendered("dts/canal@2", 3_000, controls=97)
    values[700:720] = [b'{"shard":3,' + value[1:] for value in values[700:720]]
    values[2_500] = values[2_500][:-9]
    path = tmp_path_factory.mktemp("lines") / "shop.jsonl"
    path.write_bytes(b"\n".join(values) + b"\n")
    return path


@pytest.fixture(scope="module")
def topic(broker, make_topic, lines):
    return make_topic(
        [(number % 3, value) for number, value in enumerate(lines.read_bytes().splitlines())], partitions=3
    )


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with running_cluster(tmp_path_factory.mktemp("cluster")) as url:
        yield url


@pytest.fixture(scope="module")
def connect(tmp_path_factory):
    pytest.importorskip("grpc", reason="Spark Connect is of use only with the extra 'connect'")
    from cdc_contracts.spark_checks.spark.jars import fetch_jars, kafka_connector

    jars = fetch_jars([kafka_connector()], without=shipped_jars(), say=print)
    settings = {"spark.jars": ",".join(map(str, jars)), "spark.executorEnv.PYTHONPATH": str(ROOT)}
    folder = tmp_path_factory.mktemp("connect")
    with running_connect(folder, settings, python=sys.executable) as url:
        yield url


def shipped_jars():
    """The names of the jars that Spark has itself."""
    return [jar.name.rpartition("-")[0] for jar in (SPARK_HOME / "jars").glob("*.jar")]


def run(*arguments, cwd, command=(sys.executable, "-m", "cdc_contracts.cli"), **environment):
    """A command in a process of its own: exit code, stdout, stderr."""
    given = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "PYSPARK_PYTHON"}}
    given |= {"PYTHONPATH": str(ROOT)} | environment
    done = subprocess.run([*command, *arguments], cwd=cwd, env=given, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def audit_there(*arguments, report=None, **options):
    """The report of the same audit by the command line: what it prints, or a file of it; and what it told on stderr."""
    code, out, err = run(
        "audit", *arguments, *(("--json",) if report is None else ("--report", str(report))), **options
    )
    assert code == 1, out + err
    return json.loads(out if report is None else report.read_text()), err


def audit_here(capsys, *arguments):
    """The report of the same audit in this process, without Spark."""
    capsys.readouterr()
    assert main(["audit", *arguments, "--engine", "local", "--json"]) == 1
    return json.loads(capsys.readouterr().out)


def decode_here(out, *arguments):
    assert main(["decode", *arguments, "--engine", "local", "--to", str(out)]) == 1
    return outputs_of(out)


def outputs_of(directory):
    return {name: read_output(directory, name) for name in ("changes", "control", "quarantine", "ledger")}


def test_executors_of_their_own_report_what_one_process_reports(tmp_path, capsys, lines):
    short = ("--conf", "spark.executor.extraJavaOptions=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    master = ("--master", "local-cluster[1,2,1024]", "--conf", "spark.executor.memory=1g", *short, *ON_THIS_MACHINE[:2])
    call = ("file", str(lines), *CONTRACT)
    reported, _ = audit_there(*call, *master, cwd=tmp_path, SPARK_HOME=str(SPARK_HOME), **INSTALLED)
    assert reported == audit_here(capsys, *call)


@pytest.mark.nightly
def test_a_cluster_audits_and_decodes_topics_and_files_as_one_process_does(
    tmp_path, capsys, cluster, broker, topic, lines
):
    master = ("--master", cluster, *ON_THIS_MACHINE)
    of_topic, of_file = ("topic", topic, "-b", broker.bootstrap, *CONTRACT), ("file", str(lines), *CONTRACT)
    for call in (of_topic, of_file):
        reported, _ = audit_there(*call, *master, cwd=tmp_path, **INSTALLED)
        assert reported == audit_here(capsys, *call)
        there = tmp_path / f"there-{call[0]}"
        code, _, err = run("decode", *call, "--to", str(there), *master, cwd=tmp_path, **INSTALLED)
        assert code == 1, err
        assert outputs_of(there) == decode_here(tmp_path / f"here-{call[0]}", *call)


@pytest.mark.nightly
def test_spark_submit_runs_a_command(tmp_path, capsys, cluster, lines):
    program = tmp_path / "contracts.py"
    program.write_text("import sys\nfrom cdc_contracts.cli.__main__ import main\nsys.exit(main())\n")
    submit = (str(SPARK_HOME / "bin" / "spark-submit"), "--master", cluster, *ON_THIS_MACHINE, str(program))
    call = ("file", str(lines), *CONTRACT)
    report = tmp_path / "report.json"  # spark-submit mixes stderr into stdout
    reported, _ = audit_there(
        *call, report=report, cwd=tmp_path, command=submit, SPARK_HOME=str(SPARK_HOME), **INSTALLED
    )
    assert reported == audit_here(capsys, *call)


@pytest.mark.nightly
def test_workers_that_have_nothing_installed_are_sent_an_environment(tmp_path, capsys, cluster, lines):
    archive = pack_environment(tmp_path / "environment.tar.gz")
    shipped = ("--conf", f"spark.archives={archive}#environment")
    call = ("file", str(lines), *CONTRACT)
    reported, err = audit_there(
        *call, "--master", cluster, *ON_THIS_MACHINE, *shipped,
        cwd=tmp_path, PYSPARK_PYTHON="./environment/bin/python", PYSPARK_DRIVER_PYTHON=sys.executable,
    )  # fmt: skip
    assert reported == audit_here(capsys, *call)
    assert "fast validator" not in err  # the native part goes along


@pytest.mark.nightly
def test_the_commands_of_the_page_pack_an_environment_and_submit_a_command(tmp_path, capsys, cluster, lines):
    """To the letter, but for the address of the cluster; the release is a wheel in a folder until it is published."""
    wheels = tmp_path / "wheels"
    pip = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(wheels), str(REPOSITORY)]
    subprocess.run(pip, check=True)
    blocks = [one.text for one in blocks_of(REPOSITORY / "docs/how-to/cluster.md")]
    (packing,) = [one for one in blocks if "venv-pack -p" in one]
    (submitting,) = [one for one in blocks if "> contracts.py" in one]
    values = [line for line in lines.read_bytes().splitlines() if line]
    columns = {"topic": ["t"] * len(values), "partition": pa.array([0] * len(values), pa.int32()),
               "offset": list(range(len(values))), "value": pa.array(values, pa.binary())}  # fmt: skip
    pq.write_table(pa.table(columns), tmp_path / "messages.parquet")
    submit = submitting.replace("spark://head:7077", cluster).replace(
        "spark-submit ", f"spark-submit --conf {ON_THIS_MACHINE[1]} --conf {ON_THIS_MACHINE[3]} "
        "--conf spark.archives=environment.tar.gz#environment ",
    )  # fmt: skip
    assert submit.count(cluster) == 1
    found = f"{wheels} {os.environ.get('PIP_FIND_LINKS', '')}".strip()
    folders = [Path(sys.executable).parent, SPARK_HOME / "bin", os.environ["PATH"]]
    code, _, err = run(
        "-e", "-c", f"{packing}\n{submit.rstrip()} || test $? = 1", cwd=tmp_path, command=("sh",), PIP_FIND_LINKS=found,
        PIP_CONSTRAINT=str(REPOSITORY / "requirements.lock"), PATH=os.pathsep.join(map(str, folders)),
        SPARK_HOME=str(SPARK_HOME),
    )  # fmt: skip
    assert code == 0, err
    reported = json.loads((tmp_path / "report.json").read_text())
    here = audit_here(capsys, "file", str(tmp_path / "messages.parquet"), *CONTRACT)
    assert reported["ledger"] == here["ledger"]
    assert reported["findings"]
    assert [one["fingerprint"] for one in reported["findings"]] == [one["fingerprint"] for one in here["findings"]]


@pytest.mark.nightly
def test_workers_that_have_the_dependencies_are_sent_the_wheel(tmp_path, capsys, cluster, lines):
    wheel = pack_package(tmp_path / "cdc_contracts.zip")
    bare = bare_python(tmp_path / "bare")
    call = ("file", str(lines), *CONTRACT, "--master", cluster, *ON_THIS_MACHINE)
    reported, err = audit_there(
        *call, "--conf", f"spark.submit.pyFiles={wheel}", cwd=tmp_path, PYSPARK_PYTHON=str(bare)
    )
    assert reported == audit_here(capsys, *call[:4])
    assert "fast validator" not in err  # the library in the zip is used; without one it would be said


@pytest.mark.nightly
def test_workers_that_cannot_import_the_package_are_reported_before_anything_is_read(tmp_path, cluster, lines):
    bare = bare_python(tmp_path / "bare")
    code, out, err = run(
        "audit", "file", str(lines), *CONTRACT, "--master", cluster, *ON_THIS_MACHINE,
        cwd=tmp_path, PYSPARK_PYTHON=str(bare),
    )  # fmt: skip
    assert (code, out) == (3, "")
    assert "the workers cannot import cdc_contracts" in err
    assert "docs/how-to/cluster.md" in err
    assert "Traceback" not in err


@pytest.mark.nightly
def test_a_cluster_without_workers_is_not_waited_for_without_end(tmp_path, lines):
    """The limit is shortened; everything else is as a person has it whose workers are all gone."""
    program = (
        "import sys\n"
        "from cdc_contracts.cli.__main__ import main\n"
        "from cdc_contracts.spark_checks.spark import cluster_workers, reminders\n"
        "cluster_workers.WAITING_SECONDS, reminders.EVERY_SECONDS = 16, 2\n"
        "sys.exit(main())\n"
    )
    with running_cluster(tmp_path, workers=0) as url:
        code, out, err = run(
            "audit", "file", str(lines), *CONTRACT, "--master", url, *ON_THIS_MACHINE,
            cwd=tmp_path, command=(sys.executable, "-c", program), **INSTALLED,
        )  # fmt: skip
    assert (code, out) == (3, "")
    assert "waiting for workers: none has run a first task yet; the wait ends after 16 s" in err
    assert "still waiting for workers …" in err
    assert "no worker gives cores: no task has started in 16 s" in err
    assert "spark.executor.memory" in err


@pytest.mark.nightly
def test_spark_connect_audits_and_decodes_what_one_process_does(tmp_path, capsys, connect, broker, topic, lines):
    of_topic, of_file = ("topic", topic, "-b", broker.bootstrap, *CONTRACT), ("file", str(lines), *CONTRACT)
    for call in (of_topic, of_file):
        reported, _ = audit_there(*call, "--remote", connect, cwd=tmp_path)
        assert reported == audit_here(capsys, *call)
        there = tmp_path / f"there-{call[0]}"
        code, _, err = run("decode", *call, "--to", str(there), "--remote", connect, cwd=tmp_path)
        assert code == 1, err
        assert outputs_of(there) == decode_here(tmp_path / f"here-{call[0]}", *call)


@pytest.mark.nightly
def test_a_dataframe_of_spark_connect_is_audited_and_decoded(tmp_path, connect):
    program = (
        "import json\n"
        "from pyspark.sql import SparkSession\n"
        "from topics import rendered\n"
        "from cdc_contracts import audit, decode\n"
        f"spark = SparkSession.builder.remote({connect!r}).getOrCreate()\n"
        "rows = [(bytearray(value), 't', 0, number) for number, value in enumerate(rendered('dts/canal@2', 60))]\n"
        "frame = spark.createDataFrame(rows, 'value binary, topic string, partition int, offset bigint')\n"
        "report = json.loads(audit(frame, 'dts/canal@2').frame.first().report)\n"
        "decoded = decode(frame, 'dts/canal@2')\n"
        "print(report['verdict'], report['ledger']['read'], decoded.changes.count(), decoded.quarantine.count())\n"
    )
    paths = os.pathsep.join([str(ROOT), str(Path(__file__).parents[1])])
    code, out, err = run("-c", program, command=[sys.executable], cwd=tmp_path, PYTHONPATH=paths)
    assert (code, out.split()) == (0, ["pass", "60", "60", "0"]), err


def test_what_spark_connect_cannot_do_is_refused_in_a_sentence(tmp_path, capsys, lines):
    connect = ("--remote", "sc://127.0.0.1:1")
    assert (
        main(
            [
                "audit",
                "topic",
                "t",
                "-b",
                "127.0.0.1:1",
                *CONTRACT,
                "--follow",
                "--checkpoint",
                str(tmp_path / "c"),
                *connect,
            ]
        )
        == 2
    )
    assert "this needs a Spark session of its own, not one of Spark Connect" in capsys.readouterr().err
    assert main(["audit", "file", str(lines), *CONTRACT, "--cores", "2", *connect]) == 2
    assert "--cores cannot be combined with --remote" in capsys.readouterr().err
    assert main(["audit", "file", str(lines), *CONTRACT, "--engine", "local", *connect]) == 2
    assert "--remote is for Spark, and --engine local works without it" in capsys.readouterr().err


def pack_environment(target):
    """A relocatable environment of this package and what it needs but Spark, as `venv-pack` makes one."""
    site = f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
    with tarfile.open(target, "w:gz", compresslevel=1) as archive:
        for name in needed("cdc-contracts", ["spark"]):
            for file in distribution(name).files or ():
                if ".." not in file.parts and "__pycache__" not in file.parts:
                    archive.add(file.locate(), f"{site}/{file}")
        for file in package_files():
            archive.add(file.resolve(), f"{site}/{file.relative_to(ROOT)}")
        archive.add(Path(sys.executable).parents[1] / "pyvenv.cfg", "pyvenv.cfg")
        link = tarfile.TarInfo("bin/python")
        link.type, link.linkname = tarfile.SYMTYPE, os.path.realpath(sys.executable)
        archive.addfile(link)
    return target


def pack_package(target):
    """The package alone, as in its wheel: a zip, for `spark.submit.pyFiles` takes no other ending."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in package_files():
            archive.write(file, file.relative_to(ROOT))
    return target


def package_files():
    found = (Path(folder) / name for folder, _, names in os.walk(PACKAGE, followlinks=True) for name in names)
    return [file for file in found if "__pycache__" not in file.parts]


def needed(name, extras=(), known=frozenset()):
    """The distributions that a distribution and some of its extras need, without Spark."""
    found = set(known)
    for text in distribution(name).requires or ():
        wanted = Requirement(text)
        if wanted.marker and not any(wanted.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            continue
        if wanted.name == name:  # an extra that includes another
            found |= needed(name, wanted.extras, found)
        elif wanted.name not in found | {"pyspark"}:
            try:
                distribution(wanted.name)
            except PackageNotFoundError:
                continue
            found |= {wanted.name} | needed(wanted.name, wanted.extras, found | {wanted.name})
    return found


def bare_python(target):
    """A Python that finds the dependencies but not this package: one of the workers' own."""
    site = next(path for path in sys.path if path.endswith("site-packages"))
    target.write_text(
        f'#!/bin/sh\nexport PYTHONPATH="{site}:$PYTHONPATH"\nexec {os.path.realpath(sys.executable)} -S "$@"\n'
    )
    target.chmod(0o755)
    return target
