"""Jars: those that Spark and the broker need besides what pip installs, fetched once with the Ivy bundled in Spark."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import IO, Final

from cdc_contracts.registry.core.common.errors import UnavailableError, UsageError

Say = Callable[[str], None]

OLDEST_JAVA: Final = 17
TOO_NEW_JAVA: Final = {"4.0": 24, "4.1": 24}
"""The first Java on which a Spark does not run, by its minor version; none is known for later versions of Spark."""
MIRROR: Final = "CDCC_MAVEN_MIRROR"
LISTING: Final = "LIST"
SILENCE_SECONDS: Final = 10
FIRST_LINES: Final = 4
LAST_LINES: Final = 10


def kafka_connector() -> str:
    """Return the coordinates of the Kafka source for the installed Spark."""
    scala, spark = spark_versions()
    return f"org.apache.spark:spark-sql-kafka-0-10_{scala}:{spark}"


def fetch_jars(
    coordinates: Sequence[str],
    *,
    without: Iterable[str] = (),
    settings: str | None = None,
    repositories: Sequence[str] = (),
    say: Say,
) -> list[Path]:
    """Fetch the jars of `coordinates` and their dependencies; only the first call uses the network, then the cache.

    `without` names artifacts to leave out, `settings` an Ivy settings file that replaces the one written here,
    `repositories` addresses to search besides the default one.

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
            # An incomplete download never has the final name.
            (work / "jars").rename(place)
        except OSError:
            if not _listed_jars(place):  # otherwise another process was faster
                raise
    return [place / jar.name for jar in jars]


def cache_directory() -> Path:
    """Return the directory of the cache of fetched files."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cdc-contracts"


def find_java() -> str:
    """Return the `java` that Spark uses: the one of JAVA_HOME, otherwise the first on the PATH.

    Raises:
        UnavailableError: there is none.

    """
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=f"{home}/bin") if home else shutil.which("java")
    if java is None:
        raise UnavailableError(
            "Java was not found",
            where=f"JAVA_HOME={home}" if home else "on the PATH",
            hint=f"Install Java {OLDEST_JAVA} or newer, or set JAVA_HOME to it.",
        )
    return java


def check_java(java: str, version: str) -> None:
    """Raise UnavailableError if the installed Spark does not run on a Java of this version, such as `25`.

    Spark itself starts on some of them, and fails in the middle of a job.
    """
    spark = spark_versions()[1]
    too_new = TOO_NEW_JAVA.get(".".join(spark.split(".")[:2]))
    if too_new and int(version) >= too_new:
        raise UnavailableError(
            f"Spark {spark} does not run on Java {version}",
            where=java,
            hint=f"Set JAVA_HOME to Java {OLDEST_JAVA} or 21, install a later pyspark, or use --engine local.",
        )


def java_failure(what: str, java: str, output: IO[bytes], why: Exception | None = None) -> UnavailableError:
    """Return an error that quotes the first and last lines of a Java program, and says so if Java is too old."""
    printed = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr  # noqa: S603
    version = re.search(r'version "(?:1\.)?(\d+)', printed)
    if version and int(version[1]) < OLDEST_JAVA:
        what = f"{what}: Java {version[1]} is too old, {OLDEST_JAVA} is needed"
    output.seek(0)
    # An address may contain a password.
    words = [re.sub(r"//[^/@\s]+@", "//", line) for line in output.read().decode("utf-8", "replace").splitlines()]
    words = [line for line in words if line.strip() and not line.startswith("\tat ")]
    if len(words) > FIRST_LINES + LAST_LINES:
        words = [*words[:FIRST_LINES], "...", *words[-LAST_LINES:]]
    said = "\n".join(f"  | {line}" for line in words)
    reason = str(why).partition("\n\tat ")[0] if why else ""
    return UnavailableError(what, where=java, hint="\n".join(filter(None, [reason, "It said:" if said else "", said])))


def spark_home() -> Path:
    """Return the directory of the installed Spark."""
    import pyspark

    return Path(os.environ.get("SPARK_HOME") or pyspark.__path__[0])


def spark_versions() -> tuple[str, str]:
    """Return the versions of Scala and Spark, by the jars, since SPARK_HOME may differ from what pip installed."""
    for jar in (spark_home() / "jars").glob("spark-core_*.jar"):
        if match := re.fullmatch(r"spark-core_([\d.]+)-(.+)\.jar", jar.name):
            return match[1], match[2]
    raise UnavailableError("Spark's own jars were not found", where=str(spark_home()), hint="Install pyspark.")


def _listed_jars(place: Path) -> list[Path]:
    """Return the jars of an earlier download, or nothing if any of them is missing or incomplete."""
    try:
        lines = (place / LISTING).read_text().splitlines()
        sizes = {place / name: int(size) for size, name in (line.split(" ", 1) for line in lines)}
        return list(sizes) if all(jar.stat().st_size == size for jar, size in sizes.items()) else []
    except (OSError, ValueError):
        return []


def _run_ivy(work: Path, settings: str, coordinates: Sequence[str], say: Say) -> None:
    ivy = next((spark_home() / "jars").glob("ivy-*.jar"))
    command = [find_java(), "-jar", str(ivy), "-settings", settings, "-cache", str(cache_directory() / "ivy")]
    command += ["-ivy", str(work / "ivy.xml"), "-confs", "default", "-types", "jar", "bundle"]
    command += ["-retrieve", f"{work}/jars/[artifact]-[revision](-[classifier]).[ext]"]
    with (
        (work / "ivy.log").open("w+b") as log,
        subprocess.Popen(  # noqa: S603
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        ) as process,
    ):
        resolved, fetched, detected = 0, 0, time.monotonic()
        try:
            for line in process.stdout or ():
                log.write(line)
                resolved += line.lstrip().startswith(b"found ")
                fetched += line.lstrip().startswith(b"[SUCCESSFUL ]")
                if time.monotonic() - detected > SILENCE_SECONDS:
                    say(f"still fetching: {resolved} jars resolved, {fetched} fetched")
                    detected = time.monotonic()
        except BaseException:
            process.terminate()
            raise
        if process.wait() != 0 or not list((work / "jars").glob("*.jar")):
            failure = java_failure(f"{', '.join(coordinates)} could not be fetched", command[0], log)
            hint = (
                "On a closed network give the files with --jars or other coordinates with --packages, "
                f"or set {MIRROR} to a repository within reach."
            )
            raise UnavailableError(failure.what, where=command[0], hint=f"{hint}\n{failure.hint}")


def _ivy_module(coordinates: Sequence[str], without: Sequence[str]) -> str:
    from xml.sax.saxutils import quoteattr  # imported here, as it imports HTTP clients

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
    from xml.sax.saxutils import quoteattr

    return [quoteattr(part) for part in coordinate.split(":")]


def _ivy_settings(repositories: Sequence[str]) -> str:
    """Return Ivy settings with remote repositories only: a local Maven repository without jars makes Ivy fail."""
    from xml.sax.saxutils import quoteattr

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
