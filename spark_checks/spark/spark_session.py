"""Spark session: quiet, in UTC, with the connectors for Kafka and table formats.

The user's settings (spark-submit, spark-defaults.conf, environment) override those here.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from cdc_contracts.registry.core.common import signals
from cdc_contracts.registry.core.common.errors import CdcContractsError, UnavailableError, UsageError
from cdc_contracts.spark_checks.spark.connectors import CONNECTORS, Connector
from cdc_contracts.spark_checks.spark.jars import (
    Say,
    cache_directory,
    check_java,
    fetch_jars,
    find_java,
    java_failure,
    kafka_connector,
    spark_home,
    spark_versions,
)
from cdc_contracts.spark_checks.spark.reminders import reminding

if TYPE_CHECKING:
    from pyspark import SparkConf
    from pyspark.sql import SparkSession


ARROW_RECORDS: Final = 10_000
ARROW_BYTES: Final = 64 * 1024 * 1024
MEMORY: Final = "2g"
KAFKA_SOURCE: Final = "org.apache.spark.sql.kafka010.KafkaSourceProvider"
WORKER_DAEMON: Final = "cdc_contracts.spark_checks.worker_daemon"
_SECRETS: Final = "(?i)secret|password|token|access[.]?key"
_KAFKA_SECRETS: Final = "(?i:jaas|keystore[.]key)"
_KEPT: Final = 4
_PACKED: Final = "spark.submit.pyFiles"
_WRITTEN_AT_EXIT: Final = "-XX:ArchiveClassesAtExit="


def open_session(
    *,
    kafka: bool,
    cores: int | None = None,
    jars: Sequence[str] = (),
    packages: Sequence[str] = (),
    formats: Sequence[str] = (),
    master: str | None = None,
    settings: Mapping[str, str] | None = None,
    say: Say,
) -> SparkSession:
    """Open a session suitable for the checks; a running one is used with its settings.

    `formats` are the table formats to be written, of those in `CONNECTORS`. `master` and `settings`, named as Spark
    names them, win over those that Spark is configured with. The output of the JVM is shown only if the start fails.

    Raises:
        UnavailableError: Java is missing, too old or too new, Spark does not start, a connector cannot be fetched, or a
            running session lacks settings that a format needs.
        UsageError: a package is not `group:artifact:version`, a file of `jars` does not exist, or a user setting
            conflicts with a format.

    """
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    files = [_existing(jar) for jar in jars]
    connectors = [CONNECTORS[name] for name in formats if name in CONNECTORS]
    running = SparkContext._active_spark_context  # noqa: SLF001  the only way to ask without starting one
    if running is not None:
        session = SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()
        for connector in connectors:
            connector.check(partial(session.conf.get, default=None))
        for jar in _equip(running._jvm, running.getConf(), files, packages, connectors, kafka=kafka, say=say):  # noqa: SLF001
            running._jsc.addJar(jar.as_uri())  # noqa: SLF001
        return session
    java = find_java()
    with tempfile.TemporaryFile() as output, reminding(say, "still starting Spark"):
        try:
            if SparkContext._gateway is None:  # noqa: SLF001  as below
                say(f"starting Spark {spark_versions()[1]} with {java}")
            gateway = SparkContext._gateway or _launch(output)  # noqa: SLF001  of a session that was stopped
            check_java(java, gateway.jvm.java.lang.System.getProperty("java.specification.version"))
            given = dict(settings or {}) | ({} if master is None else {"spark.master": master})
            packed = given.pop(_PACKED, "")
            conf, local = _settings(gateway.jvm, given, cores, say)
            for connector in connectors:
                connector.prepare(conf)
            added = _equip(gateway.jvm, conf, files, packages, connectors, kafka=kafka, say=say)
            named = [name for name in (conf.get("spark.jars") or "").split(",") if name]
            conf.set("spark.jars", ",".join(named + [jar.as_uri() for jar in added]))
            # The path of this interpreter means nothing to the machines of a cluster.
            python = os.environ.get("PYSPARK_PYTHON", sys.executable if local else "python3")
            # Spark's handler of Ctrl-C would call the JVM in the middle of another call.
            with _environment({"PYSPARK_PYTHON": python}), signals.kept():
                context = SparkContext(gateway=gateway, conf=conf)
                for path in filter(None, packed.split(",")):  # only spark-submit would send them to the executors
                    context.addPyFile(path)
        except CdcContractsError:
            raise
        except Exception as error:
            raise java_failure("Spark did not start", java, output, error) from error
    context.setLogLevel("ERROR")
    session = SparkSession(context)
    _sweep(session)
    return session


def use_this_python() -> None:
    """Let the workers of a running session on this machine be this interpreter, unless the user names another.

    Spark would start the first `python3` of the path, which may be of another version and lack the package.
    """
    from pyspark import SparkContext

    context = SparkContext._active_spark_context  # noqa: SLF001  the only way to ask without starting one
    if context is None or "PYSPARK_PYTHON" in os.environ or not is_local(context.master or ""):
        return
    if context.getConf().get("spark.pyspark.python") is None and context.pythonExec == "python3":
        context.pythonExec = sys.executable


def is_local(master: str) -> bool:
    """Return whether Spark with this master runs in one process of this machine."""
    return re.match(r"local($|\[)", master) is not None


def _launch(output: IO[bytes]) -> Any:
    """Start a JVM that prints to `output`."""
    from pyspark import java_gateway

    launch: Callable[..., Any] = java_gateway.launch_gateway
    # Here and not in the conf, because spark-defaults.conf and spark-submit override the environment.
    settings = {"SPARK_DRIVER_MEMORY": os.environ.get("SPARK_DRIVER_MEMORY", MEMORY)}
    options, archive = os.environ.get("SPARK_SUBMIT_OPTS", ""), ""
    if "Archive" not in options and "-Xshare" not in options:
        archive = archive_option()
        settings["SPARK_SUBMIT_OPTS"] = f"{options} {archive}".strip()
    try:
        with _environment(settings):
            return launch(None, {"stdout": output, "stderr": output})
    except BaseException as error:
        _kill_started(error)
        if archive.startswith(_WRITTEN_AT_EXIT):  # by the next one that ends
            _tried(Path(archive.removeprefix(_WRITTEN_AT_EXIT))).unlink(missing_ok=True)
        raise


def _kill_started(error: BaseException) -> None:
    """Kill the JVM that was being started when this was raised; only the frames of the launch refer to it.

    Left alone, it would find the directory removed in which it is to write its port, and run for ever.
    """
    for frame, _ in traceback.walk_tb(error.__traceback__):
        for value in list(frame.f_locals.values()):
            if isinstance(value, subprocess.Popen) and getattr(value, "pid", None):
                value.kill()


def _settings(jvm: Any, given: Mapping[str, str], cores: int | None, say: Say) -> tuple[SparkConf, bool]:
    """Return the user's settings, completed, and whether Spark runs on this machine only."""
    from pyspark import SparkConf

    conf = SparkConf(_jvm=jvm)
    for name, value in given.items():
        conf.set(name, value)
    conf.setIfMissing("spark.master", "local[*]")
    local = is_local(conf.get("spark.master") or "")
    if cores is not None and local:
        conf.setMaster(f"local[{cores}]")
    elif cores is not None:
        say(f"the number of cores is left to {conf.get('spark.master')}")
    conf.set("spark.ui.showConsoleProgress", "false")
    if conf.get("spark.app.name") in (None, "pyspark-shell"):
        conf.setAppName("cdc-contracts")
    defaults = {
        "spark.ui.enabled": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(ARROW_RECORDS),
        "spark.sql.execution.arrow.maxBytesPerBatch": str(ARROW_BYTES),
    }
    # Spark redacts passwords in plans, event logs and logs, but not the JAAS line and the PEM key of Kafka clients.
    for name, usual in (("spark.redaction.regex", _SECRETS), ("spark.sql.redaction.options.regex", f"{_SECRETS}|url")):
        conf.set(name, f"{conf.get(name) or usual}|{_KAFKA_SECRETS}")
    if local:
        # The name of a laptop often does not resolve.
        defaults |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
        defaults["spark.executorEnv.PYTHONPATH"] = str(Path(__file__).parents[3])
        # Workers of a cluster may not find the package before a task has come.
        defaults["spark.python.daemon.module"] = WORKER_DAEMON
        # By default 200 tasks sort the rows of one machine, and 50 read the log of each Delta table.
        defaults["spark.sql.shuffle.partitions"] = "8"
        defaults["spark.databricks.delta.snapshotPartitions"] = "2"
    for name, value in defaults.items():
        conf.setIfMissing(name, value)
    return conf, local


def _fetch_for_spark(coordinates: Sequence[str], conf: SparkConf, say: Say) -> list[Path]:
    shipped = (re.match(r"(.+?)-\d", jar.name) for jar in (spark_home() / "jars").glob("*.jar"))
    return fetch_jars(
        coordinates,
        without=[match[1] for match in shipped if match],
        settings=conf.get("spark.jars.ivySettings"),
        repositories=[url for url in (conf.get("spark.jars.repositories") or "").split(",") if url],
        say=say,
    )


def _equip(
    jvm: Any,
    conf: SparkConf,
    files: Sequence[Path],
    packages: Sequence[str],
    connectors: Sequence[Connector],
    *,
    kafka: bool,
    say: Say,
) -> list[Path]:
    """Make jars and connectors available to the driver; return the jars that executors lack."""
    added = list(files)
    _add_to_driver(jvm, files)
    if packages:
        added += _add_to_driver(jvm, _fetch_for_spark(packages, conf, say))
    wanted = [(KAFKA_SOURCE, kafka_connector)] if kafka else []
    wanted += [(connector.provider, connector.package) for connector in connectors]
    for provider, package in wanted:
        if not _loads(jvm, provider):
            say(f"loading {package()}")
            added += _add_to_driver(jvm, _fetch_for_spark([package()], conf, say))
            if not _loads(jvm, provider):
                hint = f"Start Spark with --packages {package()}."
                raise UnavailableError(
                    "a connector was downloaded, but Spark cannot load it", where=provider, hint=hint
                )
    return added


def _add_to_driver(jvm: Any, jars: Sequence[Path]) -> Sequence[Path]:
    """Do the same as spark-submit does with `--jars` before it starts the program."""
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    for jar in jars:
        loader.addURL(jvm.java.io.File(str(jar)).toURI().toURL())
    return jars


def _sweep(session: SparkSession) -> None:
    """Remove the unused directory `artifacts` that Spark 4.0 creates in the working directory."""
    with suppress(Exception):  # later Spark versions may not have it
        made = Path(session._jsparkSession.artifactManager().artifactRootPath().toString())  # noqa: SLF001
        if made.parent == Path.cwd() / "artifacts":
            made.rmdir()
            made.parent.rmdir()


def _loads(jvm: Any, name: str) -> bool:
    try:
        jvm.java.lang.Thread.currentThread().getContextClassLoader().loadClass(name)
    except Exception as error:
        if "ClassNotFoundException" in str(error):
            return False
        raise
    return True


def _existing(jar: str) -> Path:
    path = Path(jar).absolute()
    if not path.is_file():
        raise UsageError("there is no such jar file", where=jar, hint="Give --jars local files.")
    return path


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    """Set environment variables inside the block, and restore them after it."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def archive_option() -> str:
    """Return the JVM option that uses the class archive of this Spark, or that writes it; empty if neither works.

    A JVM maps a class data archive instead of loading classes: from the second start on, this halves the time. There is
    one per Java and installed Spark, of 140 to 250 MB, written by the first JVM when it ends. An empty file `.tried`
    next to it records that one was to be written, and when it was last used.
    """
    jars = spark_home() / "jars"
    identity = f"{os.path.realpath(find_java())} {jars} {spark_versions()} {jars.stat().st_mtime_ns}"
    place = cache_directory() / "jvm" / f"spark-{hashlib.sha256(identity.encode()).hexdigest()[:12]}"
    archive, tried = _archive(place), _tried(place)
    if not re.fullmatch(r"[\w/.:-]+", str(place), re.ASCII):
        return ""  # options are split at spaces
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        tried.touch(exist_ok=False)
    except FileExistsError:
        with suppress(OSError):
            tried.touch()
        usable = archive.exists() and _starts(archive)
        return f"-XX:SharedArchiveFile={archive} -Xlog:cds=off -Xlog:cds+dynamic=off" if usable else ""
    except OSError:
        return ""
    _forget_others(place.parent)
    return f"{_WRITTEN_AT_EXIT}{archive}"


def _starts(archive: Path) -> bool:
    """Return whether an archive is complete: the JVM writes its header last; until then it starts with zeros."""
    with archive.open("rb") as file:
        return any(file.read(4))


def _forget_others(folder: Path) -> None:
    """Remove the least recently used archives; JVMs that have mapped one keep it."""
    with suppress(OSError):
        last_asked = {one.with_suffix(""): one.stat().st_mtime_ns for one in folder.glob("*.tried")}
        for place in sorted(last_asked, key=lambda one: -last_asked[one])[_KEPT:]:
            _archive(place).unlink(missing_ok=True)
            _tried(place).unlink(missing_ok=True)


def _archive(place: Path) -> Path:
    return place.with_suffix(".jsa")


def _tried(place: Path) -> Path:
    return place.with_suffix(".tried")
