from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import cdc_contracts
from cdc_contracts.registry.core.common.errors import UnavailableError, UsageError
from cdc_contracts.spark_checks.spark import jars
from cdc_contracts.spark_checks.spark.jars import check_java, fetch_jars, find_java, kafka_connector
from cdc_contracts.spark_checks.spark.spark_session import open_session

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa
    from pyspark.sql import SparkSession

ROOT = Path(cdc_contracts.__file__).parents[1]
POM = (
    "<project><modelVersion>4.0.0</modelVersion><groupId>com.example</groupId><artifactId>{0}</artifactId>"
    "<version>1.0</version><dependencies>{1}</dependencies></project>"
)
NEEDS = "<dependency><groupId>com.example</groupId><artifactId>{0}</artifactId><version>1.0</version></dependency>"


def run(program: str, directory: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """The program ran in a Python of its own, which knows no session yet."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | environment
    command = [sys.executable, "-c", program]
    return subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Maven repository on disk: `app` needs `lib` and `spare`. The cache is empty."""
    for artifact, needs in (("app", ("lib", "spare")), ("lib", ()), ("spare", ())):
        place = tmp_path / "repository" / "com" / "example" / artifact / "1.0"
        place.mkdir(parents=True)
        (place / f"{artifact}-1.0.pom").write_text(POM.format(artifact, "".join(map(NEEDS.format, needs))))
        (place / f"{artifact}-1.0.jar").write_bytes(artifact.encode() * 100)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv(jars.MIRROR, (tmp_path / "repository").as_uri())
    return tmp_path / "repository"


def test_the_session_is_quiet_and_set_up_for_the_checks(spark: SparkSession) -> None:
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
    assert spark.conf.get("spark.ui.enabled") == "false"
    assert spark.conf.get("spark.ui.showConsoleProgress") == "false"
    assert spark.sparkContext.master == "local[2]"
    assert spark.sparkContext.uiWebUrl is None


def test_workers_run_this_interpreter_and_import_the_package_from_the_same_place(spark: SparkSession) -> None:
    def look(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import sys

        import pyarrow as pa

        import cdc_contracts

        for _ in batches:
            yield pa.RecordBatch.from_pydict({"python": [sys.executable], "package": [cdc_contracts.__file__]})

    rows = spark.range(1).mapInArrow(look, "python string, package string").collect()
    assert {(row.python, row.package) for row in rows} == {(sys.executable, cdc_contracts.__file__)}


def test_batches_are_bounded_in_records_and_in_bytes(spark: SparkSession) -> None:
    def measure(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        for batch in batches:
            yield pa.RecordBatch.from_pydict({"records": [batch.num_rows], "bytes": [batch.nbytes]})

    many = spark.range(0, 25_000, 1, 1).mapInArrow(measure, "records long, bytes long").collect()
    assert [row.records for row in many] == [10_000, 10_000, 5_000]
    wide = spark.range(0, 150, 1, 1).selectExpr("repeat('x', 1 << 20) AS value")
    assert [row.records for row in wide.mapInArrow(measure, "records long, bytes long").collect()] == [64, 64, 22]


def test_a_session_that_runs_already_is_used_as_it_is(spark: SparkSession) -> None:
    assert open_session(kafka=True, cores=1, say=print).sparkContext is spark.sparkContext
    assert spark.sparkContext.master == "local[2]"


@pytest.mark.nightly
def test_the_start_says_what_is_started_leaves_nothing_and_what_the_user_has_set_wins(
    spark: SparkSession, tmp_path: Path
) -> None:
    reported = run(
        "from cdc_contracts.spark_checks.spark.spark_session import open_session\n"
        "spark = open_session(kafka=False, say=print)\n"
        "print(spark.sparkContext.master, spark.conf.get('spark.sql.session.timeZone'),"
        " spark.sparkContext.getConf().get('spark.driver.memory'), spark.range(3).count())\n"
        "spark = open_session(kafka=True, say=print)\n"
        "try: spark.read.format('kafka').load()\n"
        "except Exception as error: print(error)\n",
        tmp_path,
        PYSPARK_SUBMIT_ARGS="--master local[1] --conf spark.sql.session.timeZone=Asia/Tokyo --driver-memory 700m "
        "pyspark-shell",
    )
    begun, started, *fetching, loaded = reported.stdout.splitlines()
    assert begun.startswith("starting Spark ")
    assert [line for line in fetching if not line.startswith(("loading org.", "fetching ", "still "))] == []
    assert started == "local[1] Asia/Tokyo 700m 3"
    assert loaded.startswith("One of the following options must be specified for Kafka source")
    assert (reported.stderr, reported.returncode) == ("", 0)
    assert list(tmp_path.iterdir()) == []


def test_a_start_that_fails_shows_what_spark_said(tmp_path: Path) -> None:
    reported = run(
        "from cdc_contracts.registry.core.common.errors import UnavailableError\n"
        "from cdc_contracts.spark_checks.spark.spark_session import open_session\n"
        "try: open_session(kafka=False, say=print)\n"
        "except UnavailableError as error: print(error)\n",
        PYSPARK_SUBMIT_ARGS="--no-such-option pyspark-shell",
        XDG_CACHE_HOME=str(tmp_path),
    )
    assert "Spark did not start" in reported.stdout
    assert "--no-such-option" in reported.stdout
    assert reported.stderr == ""


def test_a_missing_java_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(UnavailableError, match="Java was not found") as failure:
        find_java()
    assert failure.value.where == f"JAVA_HOME={tmp_path}"


@pytest.mark.parametrize("version", ["24", "25"])
def test_a_java_that_is_too_new_for_the_installed_spark_is_refused(
    monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    monkeypatch.setattr(jars, "spark_versions", lambda: ("2.13", "4.1.1"))
    with pytest.raises(UnavailableError, match=rf"^Spark 4\.1\.1 does not run on Java {version}") as failure:
        check_java("/opt/java/bin/java", version)
    assert "Java 17 or 21" in failure.value.hint


@pytest.mark.parametrize(("spark", "version"), [("4.0.0", "17"), ("4.1.1", "21"), ("4.2.0", "25"), ("5.0.0", "33")])
def test_no_other_java_is_too_new(monkeypatch: pytest.MonkeyPatch, spark: str, version: str) -> None:
    monkeypatch.setattr(jars, "spark_versions", lambda: ("2.13", spark))
    check_java("/opt/java/bin/java", version)


def test_a_jar_that_does_not_exist_is_refused() -> None:
    reported = run(
        "from cdc_contracts.spark_checks.spark.spark_session import open_session\n"
        "open_session(kafka=True, jars=['no-such.jar'], say=print)\n"
    )
    assert "UsageError: there is no such jar file (no-such.jar)" in reported.stderr


def test_the_connector_is_that_of_the_installed_spark() -> None:
    import pyspark

    assert kafka_connector() == f"org.apache.spark:spark-sql-kafka-0-10_2.13:{pyspark.__version__}"


def test_jars_are_fetched_once_with_all_they_need(repository: Path) -> None:
    said: list[str] = []
    jars = fetch_jars(["com.example:app:1.0"], without=["spare"], say=said.append)
    assert [jar.name for jar in jars] == ["app-1.0.jar", "lib-1.0.jar"]
    assert jars[1].read_bytes() == b"lib" * 100
    assert len(said) == 1
    repository.rename(repository.with_name("gone"))
    assert fetch_jars(["com.example:app:1.0"], without=["spare"], say=said.append) == jars
    assert len(said) == 1


def test_jars_that_were_cut_short_are_fetched_again(repository: Path) -> None:
    assert repository.exists()
    first = fetch_jars(["com.example:lib:1.0"], say=print)
    first[0].write_bytes(b"half")
    assert fetch_jars(["com.example:lib:1.0"], say=print)[0].read_bytes() == b"lib" * 100


def test_jars_out_of_reach_are_an_error_that_says_what_to_do_and_leaves_nothing(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(jars.MIRROR, "http://user:batterystaple@127.0.0.1:1/maven")
    with pytest.raises(UnavailableError, match=r"com\.example:none:1\.0 could not be fetched") as failure:
        fetch_jars(["com.example:none:1.0"], say=print)
    assert "--jars" in failure.value.hint
    assert "batterystaple" not in str(failure.value)
    assert list((repository.parent / "cache" / "cdc-contracts" / "jars").iterdir()) == []


@pytest.mark.parametrize("coordinate", ["app", "com.example:app", "a:b:c:d", "a:b:", 'a:b:"/>', "a:b:c d"])
def test_a_package_that_is_no_coordinate_is_refused(coordinate: str) -> None:
    with pytest.raises(UsageError, match="group:artifact:version"):
        fetch_jars([coordinate], say=print)
