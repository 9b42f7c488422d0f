"""One Spark session: quiet, in UTC, and able to read Kafka.

What the user has set (spark-submit, spark-defaults.conf, environment) wins over what stands here.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final
from xml.sax.saxutils import quoteattr

from cdc_contracts.registry.errors import CdcContractsError, UnavailableError, UsageError

if TYPE_CHECKING:
    from pyspark import SparkConf
    from pyspark.sql import SparkSession

Say = Callable[[str], None]

ARROW_RECORDS: Final = 10_000
ARROW_BYTES: Final = 64 * 1024 * 1024
MEMORY: Final = "2g"
OLDEST_JAVA: Final = 17
MIRROR: Final = "CDCC_MAVEN_MIRROR"
KAFKA_SOURCE: Final = "org.apache.spark.sql.kafka010.KafkaSourceProvider"
LISTING: Final = "LIST"
SILENCE_SECONDS: Final = 10
FIRST_LINES: Final = 4
LAST_LINES: Final = 10


def open_session(
    *,
    kafka: bool,
    cores: int | None = None,
    jars: Sequence[str] = (),
    packages: Sequence[str] = (),
    memory: str = MEMORY,
    say: Say,
    log: Path | None = None,
) -> SparkSession:
    """A session runs that fits the checks; one that was running before is used with the settings it has.

    `log` receives all that the JVM prints; without it that is kept unseen and shown only if the start fails.

    Raises:
        UnavailableError: Java is missing or too old, Spark does not start, a connector cannot be had.
        UsageError: a package is not `group:artifact:version`, a file of `jars` does not exist.

    """
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    files = [_existing(jar) for jar in jars]
    running = SparkContext._active_spark_context  # noqa: SLF001  the only way to ask without starting one
    if running is not None:
        for jar in _equip(running._jvm, running.getConf(), files, packages, kafka=kafka, say=say):  # noqa: SLF001
            running._jsc.addJar(jar.as_uri())  # noqa: SLF001
        return SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()
    java = find_java()
    with log.open("w+b") if log else tempfile.TemporaryFile() as output:
        try:
            gateway = SparkContext._gateway or _launch(output, memory)  # noqa: SLF001  of a session that was stopped
            conf, local = _settings(gateway.jvm, cores, say)
            added = _equip(gateway.jvm, conf, files, packages, kafka=kafka, say=say)
            named = [name for name in (conf.get("spark.jars") or "").split(",") if name]
            conf.set("spark.jars", ",".join(named + [jar.as_uri() for jar in added]))
            # The path of this interpreter means nothing to the machines of a cluster.
            python = os.environ.get("PYSPARK_PYTHON", sys.executable if local else "python3")
            with _environment({"PYSPARK_PYTHON": python}):
                context = SparkContext(gateway=gateway, conf=conf)
        except CdcContractsError:
            raise
        except Exception as error:
            raise java_failure("Spark did not start", java, output, error) from error
    context.setLogLevel("ERROR")
    session = SparkSession(context)
    _sweep(session)
    return session


def kafka_connector() -> str:
    """The coordinates of the Kafka source that belongs to the installed Spark."""
    scala, spark = _spark_versions()
    return f"org.apache.spark:spark-sql-kafka-0-10_{scala}:{spark}"


def find_java() -> str:
    """The `java` that Spark uses: the one of JAVA_HOME, else the first on the PATH.

    Raises:
        UnavailableError: there is none.

    """
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=f"{home}/bin") if home else shutil.which("java")
    if java is None:
        raise UnavailableError(
            "Java was not found",
            where=f"JAVA_HOME={home}" if home else "on the PATH",
            mend=f"Install Java {OLDEST_JAVA} or newer, or set JAVA_HOME to it.",
        )
    return java


def fetch_jars(
    coordinates: Sequence[str],
    *,
    without: Iterable[str] = (),
    settings: str | None = None,
    repositories: Sequence[str] = (),
    say: Say,
) -> list[Path]:
    """The jars of `coordinates` and all they need are in the private cache; only the first call uses the network.

    `without` names artifacts that are not wanted, `settings` an Ivy settings file that replaces the one written
    here, `repositories` addresses to search besides the default one.

    Raises:
        UnavailableError: they could not be fetched.
        UsageError: one of `coordinates` is not `group:artifact:version`.

    """
    module = _ivy_module(coordinates, sorted(set(without)))
    key = hashlib.sha256(module.encode()).hexdigest()[:12]
    place = cache_directory() / "jars" / f"{coordinates[0].split(':')[1]}-{key}"
    if found := _listed_jars(place):
        return found
    find_java()
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="fetch-", dir=place.parent) as scratch:
        work = Path(scratch)
        (work / "ivy.xml").write_text(module, encoding="utf-8")
        (work / "ivysettings.xml").write_text(_ivy_settings(repositories), encoding="utf-8")
        say(f"fetching {', '.join(coordinates)} into {place.parent}; this is done once")
        _run_ivy(work, settings or str(work / "ivysettings.xml"), coordinates, say)
        jars = sorted((work / "jars").glob("*.jar"))
        (work / "jars" / LISTING).write_text("".join(f"{jar.stat().st_size} {jar.name}\n" for jar in jars))
        shutil.rmtree(place, ignore_errors=True)
        try:
            # A download that was cut short never stands under the final name.
            (work / "jars").rename(place)
        except OSError:
            if not _listed_jars(place):  # else another process was faster
                raise
    return [place / jar.name for jar in jars]


def cache_directory() -> Path:
    """Where fetched files are kept from run to run."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cdc-contracts"


def java_failure(what: str, java: str, output: IO[bytes], why: Exception | None = None) -> UnavailableError:
    """The error that quotes how a Java program began and ended, and says so if that Java is too old."""
    printed = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr  # noqa: S603
    version = re.search(r'version "(?:1\.)?(\d+)', printed)
    if version and int(version[1]) < OLDEST_JAVA:
        what = f"{what}: Java {version[1]} is too old, {OLDEST_JAVA} is needed"
    output.seek(0)
    # An address may hold a password.
    words = [re.sub(r"//[^/@\s]+@", "//", line) for line in output.read().decode("utf-8", "replace").splitlines()]
    words = [line for line in words if line.strip() and not line.startswith("\tat ")]
    if len(words) > FIRST_LINES + LAST_LINES:
        words = [*words[:FIRST_LINES], "...", *words[-LAST_LINES:]]
    said = "\n".join(f"  | {line}" for line in words)
    reason = str(why).partition("\n\tat ")[0] if why else ""
    return UnavailableError(what, where=java, mend="\n".join(filter(None, [reason, "It said:" if said else "", said])))


def _launch(output: IO[bytes], memory: str) -> Any:
    """A JVM runs that prints into `output`."""
    from pyspark import java_gateway

    launch: Callable[..., Any] = java_gateway.launch_gateway
    # Here, and not in the conf, because spark-defaults.conf and spark-submit win over the environment.
    settings = {"SPARK_DRIVER_MEMORY": os.environ.get("SPARK_DRIVER_MEMORY", memory)}
    options = os.environ.get("SPARK_SUBMIT_OPTS", "")
    if "Archive" not in options and "-Xshare" not in options:
        settings["SPARK_SUBMIT_OPTS"] = f"{options} {_class_archive()}".strip()
    with _environment(settings):
        return launch(None, {"stdout": output, "stderr": output})


def _class_archive() -> str:
    """The JVM option that maps Spark's classes from an archive: half the time to start, from the second start on."""
    jars = _spark_home() / "jars"
    identity = f"{os.path.realpath(find_java())} {jars} {_spark_versions()} {jars.stat().st_mtime_ns}"
    place = cache_directory() / "jvm" / f"spark-{hashlib.sha256(identity.encode()).hexdigest()[:12]}"
    archive, tried = place.with_suffix(".jsa"), place.with_suffix(".tried")
    if not re.fullmatch(r"[\w/.:-]+", str(place), re.ASCII):
        return ""  # options are cut at spaces
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        tried.touch(exist_ok=False)
    except FileExistsError:
        # The JVM writes the head of the file last; until then the file starts with zeros.
        usable = archive.exists() and _starts(archive)
        return f"-XX:SharedArchiveFile={archive} -Xlog:cds=off -Xlog:cds+dynamic=off" if usable else ""
    except OSError:
        return ""
    return f"-XX:ArchiveClassesAtExit={archive}"


def _starts(archive: Path) -> bool:
    with archive.open("rb") as file:
        return any(file.read(4))


def _settings(jvm: Any, cores: int | None, say: Say) -> tuple[SparkConf, bool]:
    """What the user has set, completed, and whether Spark runs on this machine alone."""
    from pyspark import SparkConf

    conf = SparkConf(_jvm=jvm)
    conf.setIfMissing("spark.master", "local[*]")
    local = re.match(r"local($|\[)", conf.get("spark.master") or "") is not None
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
        # Spark hides passwords in plans and event logs, but not the line that Kafka clients log in with.
        "spark.redaction.regex": "(?i)secret|password|token|access[.]?key|jaas",
        "spark.sql.redaction.options.regex": "(?i)url|secret|password|token|access[.]?key|jaas",
    }
    if local:
        # The name of a laptop often does not resolve.
        defaults |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
        defaults["spark.executorEnv.PYTHONPATH"] = str(Path(__file__).parents[2])
    for name, value in defaults.items():
        conf.setIfMissing(name, value)
    return conf, local


def _fetch_for_spark(coordinates: Sequence[str], conf: SparkConf, say: Say) -> list[Path]:
    shipped = (re.match(r"(.+?)-\d", jar.name) for jar in (_spark_home() / "jars").glob("*.jar"))
    return fetch_jars(
        coordinates,
        without=[match[1] for match in shipped if match],
        settings=conf.get("spark.jars.ivySettings"),
        repositories=[url for url in (conf.get("spark.jars.repositories") or "").split(",") if url],
        say=say,
    )


def _equip(
    jvm: Any, conf: SparkConf, files: Sequence[Path], packages: Sequence[str], *, kafka: bool, say: Say
) -> list[Path]:
    """The driver can load the jars named and, if asked, the Kafka source; returned are those that executors lack."""
    added = list(files)
    _add_to_driver(jvm, files)
    if packages:
        added += _add_to_driver(jvm, _fetch_for_spark(packages, conf, say))
    if kafka and not _loads(jvm, KAFKA_SOURCE):
        added += _add_to_driver(jvm, _fetch_for_spark([kafka_connector()], conf, say))
        if not _loads(jvm, KAFKA_SOURCE):
            mend = f"Start Spark with --packages {kafka_connector()}."
            raise UnavailableError("the Kafka source was fetched, and Spark cannot load it", mend=mend)
    return added


def _add_to_driver(jvm: Any, jars: Sequence[Path]) -> Sequence[Path]:
    """What spark-submit does with `--jars` before it calls the program."""
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    for jar in jars:
        loader.addURL(jvm.java.io.File(str(jar)).toURI().toURL())
    return jars


def _sweep(session: SparkSession) -> None:
    """Remove the directory `artifacts` that Spark 4.0 makes in the working directory, needs not, and leaves there."""
    with suppress(Exception):  # where a later Spark has no such thing, all is well
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
        raise UsageError("there is no such jar file", where=jar, mend="--jars takes files of this machine.")
    return path


def _spark_home() -> Path:
    import pyspark

    return Path(os.environ.get("SPARK_HOME") or pyspark.__path__[0])


def _spark_versions() -> tuple[str, str]:
    """The versions of Scala and Spark: of the jars, for SPARK_HOME need not be what pip installed."""
    for jar in (_spark_home() / "jars").glob("spark-core_*.jar"):
        if match := re.fullmatch(r"spark-core_([\d.]+)-(.+)\.jar", jar.name):
            return match[1], match[2]
    raise UnavailableError("Spark's own jars were not found", where=str(_spark_home()), mend="Install pyspark.")


def _listed_jars(place: Path) -> list[Path]:
    """The jars of an earlier download, or nothing if any of them is missing or cut short."""
    try:
        lines = (place / LISTING).read_text().splitlines()
        sizes = {place / name: int(size) for size, name in (line.split(" ", 1) for line in lines)}
        return list(sizes) if all(jar.stat().st_size == size for jar, size in sizes.items()) else []
    except (OSError, ValueError):
        return []


def _run_ivy(work: Path, settings: str, coordinates: Sequence[str], say: Say) -> None:
    ivy = next((_spark_home() / "jars").glob("ivy-*.jar"))
    command = [find_java(), "-jar", str(ivy), "-settings", settings, "-cache", str(cache_directory() / "ivy")]
    command += ["-ivy", str(work / "ivy.xml"), "-confs", "default", "-types", "jar", "bundle"]
    command += ["-retrieve", f"{work}/jars/[artifact]-[revision](-[classifier]).[ext]"]
    with (
        (work / "ivy.log").open("w+b") as log,
        subprocess.Popen(  # noqa: S603
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        ) as process,
    ):
        done, spoken = 0, time.monotonic()
        try:
            for line in process.stdout or ():
                log.write(line)
                done += line.lstrip().startswith((b"found ", b"[SUCCESSFUL ]"))
                if time.monotonic() - spoken > SILENCE_SECONDS:
                    say(f"still fetching: {done} steps done")
                    spoken = time.monotonic()
        except BaseException:
            process.terminate()
            raise
        if process.wait() != 0 or not list((work / "jars").glob("*.jar")):
            failure = java_failure(f"{', '.join(coordinates)} could not be fetched", command[0], log)
            mend = (
                "On a closed network give the files with --jars or other coordinates with --packages, "
                f"or set {MIRROR} to a repository within reach."
            )
            raise UnavailableError(failure.what, where=command[0], mend=f"{mend}\n{failure.mend}")


def _ivy_module(coordinates: Sequence[str], without: Sequence[str]) -> str:
    lines = ['<ivy-module version="2.0"><info organisation="cdc-contracts" module="jars"/>']
    lines += ['<configurations><conf name="default"/></configurations><dependencies>']
    for coordinate in coordinates:
        group, artifact, version = _parts(coordinate)
        lines += [f'<dependency org={group} name={artifact} rev={version} conf="default"/>']
    lines += [f'<exclude org="*" module={quoteattr(name)}/>' for name in without]
    return "\n".join([*lines, "</dependencies></ivy-module>"])


def _parts(coordinate: str) -> list[str]:
    if not re.fullmatch(r"[\w.-]+:[\w.-]+:[\w.-]+", coordinate):
        raise UsageError("a package is written group:artifact:version", where=coordinate)
    return [quoteattr(part) for part in coordinate.split(":")]


def _ivy_settings(repositories: Sequence[str]) -> str:
    """Remote repositories only: a local Maven repository with descriptions but no files makes Ivy fail."""
    roots = [os.environ.get(MIRROR), *repositories]
    resolvers = "".join(
        f'<ibiblio name="r{number}" m2compatible="true" timeoutConstraint="patient"'
        + (f" root={quoteattr(root)}/>" if root else "/>")
        for number, root in enumerate(roots)
    )
    return (
        '<ivysettings><settings defaultResolver="all"/><caches lockStrategy="artifact-lock-nio"/>'
        '<timeout-constraints><timeout-constraint name="patient" connectionTimeout="10000" readTimeout="60000"/>'
        f'</timeout-constraints><resolvers><chain name="all">{resolvers}</chain></resolvers></ivysettings>'
    )


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    """The variables are set inside the block, and as they were after it."""
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
