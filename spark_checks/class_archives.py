"""Class archives of Spark, which a JVM maps instead of loading classes: from the second start on, half the time.

There is one for each Java and each installed Spark, of 140 to 250 MB, written by the first JVM when it ends. An empty
file `.tried` beside it says that one was to be written, and when it was last asked for.
"""

from __future__ import annotations

import hashlib
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Final

from cdc_contracts.spark_checks.jars import cache_directory, find_java, spark_home, spark_versions

_KEPT: Final = 4


def archive_option() -> str:
    """Return the JVM option that maps the archive of this Spark, or that writes it; empty if neither can be done."""
    jars = spark_home() / "jars"
    identity = f"{os.path.realpath(find_java())} {jars} {spark_versions()} {jars.stat().st_mtime_ns}"
    place = cache_directory() / "jvm" / f"spark-{hashlib.sha256(identity.encode()).hexdigest()[:12]}"
    archive, tried = _archive(place), _tried(place)
    if not re.fullmatch(r"[\w/.:-]+", str(place), re.ASCII):
        return ""  # options are cut at spaces
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
    return f"-XX:ArchiveClassesAtExit={archive}"


def _starts(archive: Path) -> bool:
    """Return whether an archive is whole: the JVM writes its head last, and until then it starts with zeros."""
    with archive.open("rb") as file:
        return any(file.read(4))


def _forget_others(folder: Path) -> None:
    """Remove the archives that were not asked for the longest; a JVM that has mapped one keeps what it has."""
    with suppress(OSError):
        last_asked = {one.with_suffix(""): one.stat().st_mtime_ns for one in folder.glob("*.tried")}
        for place in sorted(last_asked, key=lambda one: -last_asked[one])[_KEPT:]:
            _archive(place).unlink(missing_ok=True)
            _tried(place).unlink(missing_ok=True)


def _archive(place: Path) -> Path:
    return place.with_suffix(".jsa")


def _tried(place: Path) -> Path:
    return place.with_suffix(".tried")
