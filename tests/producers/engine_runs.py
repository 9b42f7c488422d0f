"""Engine runs: a release of Debezium or Canal reads what a session does to its database, until the last row."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any

from producers.database_sessions import DATABASE, Session
from producers.run_plans import OptionSet, Properties, Run
from producers.statements import Statement

from cdc_contracts.spark_checks.spark.jars import fetch_jars, find_java

Wait = Callable[[], None]
"""Waits until a producer has sent what has happened so far, where it needs that before a table is changed."""
ENGINE = Path(__file__).with_name("engine")
_RESOLVER = "ConfluentRegistryResolver"
LAST_TABLE = "the_end"
"""Its first row ends each SQL file."""
PREFIX = "cdc"
"""What names of topics begin with, before the name of the option set: engines of one process need different ones."""
_COORDINATES = {
    "debezium": ("io.debezium:debezium-embedded:{}.Final", "io.debezium:debezium-connector-{}:{}.Final"),
    "canal": ("com.alibaba.otter:canal.server:{}", "com.alibaba.otter:connector.core:{}"),
}
_CONVERTERS: dict[str, Properties] = {
    "json": {"class": "org.apache.kafka.connect.json.JsonConverter", "schemas.enable": "false"},
    "avro": {
        "class": "io.apicurio.registry.utils.converter.AvroConverter",
        "apicurio.registry.headers.enabled": "false",
        "apicurio.registry.as-confluent": "true",
        "apicurio.registry.schema-resolver": _RESOLVER,
    },
}
_AVRO = "io.apicurio:apicurio-registry-utils-converter:2.6.2.Final"
_NOT_ON_MAVEN_CENTRAL = "org.everit.json.schema"
"""A dependency of it that is for JSON Schema only."""
_CHANGING_TABLES = frozenset({"create", "alter", "drop", "rename", "truncate"})
_OPTIONS = ("-Xmx1g", "-XX:+UseSerialGC", "-Duser.timezone=UTC", "-Dfile.encoding=UTF-8")
_CONNECTORS: dict[str, Properties] = {
    "postgres": {
        "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
        "database.dbname": DATABASE,
        "plugin.name": "pgoutput",
        "publication.name": "producers",
    },
    "mysql": {"connector.class": "io.debezium.connector.mysql.MySqlConnector"},
    "mariadb": {"connector.class": "io.debezium.connector.mariadb.MariaDbConnector"},
}
_BINLOG: Properties = {
    "database.include.list": DATABASE,
    # Named `database.history` up to 1.9.
    "database.history": "io.debezium.relational.history.MemoryDatabaseHistory",
    "schema.history.internal": "io.debezium.relational.history.MemorySchemaHistory",
}


def run_engines(
    run: Run, session: Session, change: Iterable[Statement], registries: dict[str, str], folder: Path
) -> dict[str, Path]:
    """Let a release read what the statements of `change` do, and return a file of records for each option set.

    Where the release has snapshots it reads one before the first statement. Option sets of framed records register
    their schemas at their address of `registries`. `folder` gets the files and the log.
    """
    files = {one.name: folder / f"{one.name}.jsonl" for one in run.options}
    if run.product == "canal":
        started = _start_canal(run, session, files, folder)
    else:
        started = _start_debezium(run, _plan(run, session, files, registries), folder)
    with started as wait:
        for statement in change:
            if statement.kind in _CHANGING_TABLES:
                wait()
            session.execute(statement.sql)
    return files


@contextmanager
def _start_debezium(run: Run, plan: dict[str, Any], folder: Path) -> Iterator[Wait]:
    file = folder / "plan.json"
    file.write_text(json.dumps(plan), encoding="utf-8")
    with _running(run, "DebeziumRun", [str(file)], folder) as lines:
        for _ in _engines(run.options):
            _read_until(lines, "snapshot ")
        yield lambda: None


@contextmanager
def _start_canal(run: Run, session: Session, files: dict[str, Path], folder: Path) -> Iterator[Wait]:
    """Canal asks the database for the columns of a table, so that it has to keep up with changes of tables."""
    (file,) = files.values()
    _, reached = begin = session.log_position()
    arguments = [str(session.port), "registry", "registry", *begin, LAST_TABLE, str(file)]
    with _running(run, "CanalRun", arguments, folder) as lines:
        _read_until(lines, "started")

        def wait() -> None:
            nonlocal reached
            _, written = session.log_position()
            while int(reached) < int(written):
                reached = _read_until(lines, "position ")

        yield wait


def _read_until(lines: Iterator[str], beginning: str) -> str:
    """Return what follows `beginning` in the next line that begins so."""
    for line in lines:
        if line.startswith(beginning):
            return line.removeprefix(beginning).strip()
    raise EOFError(f"the producer ended before it said {beginning}")


@contextmanager
def _running(run: Run, program: str, arguments: list[str], folder: Path) -> Iterator[Iterator[str]]:
    """Run a program of `engine/` around the block, which reads the lines that it prints; it ends by itself."""
    jars = fetch_jars([one.format(*_parts(run, one)) for one in _COORDINATES[run.product]], say=print)
    path = class_path(jars, folder, framed=any(one.is_framed for one in run.options), program=program)
    command = [find_java(), *_OPTIONS, "-cp", path, program, *arguments]
    with (
        (folder / "log").open("w", encoding="utf-8") as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, encoding="utf-8", cwd=folder) as process,
    ):
        try:
            assert process.stdout is not None
            yield process.stdout
            said = process.stdout.read()
            assert process.wait() == 0, f"{run.name} did not see the last row\n{said}\n{_end_of(folder / 'log')}"
        except EOFError as error:
            error.add_note(_end_of(folder / "log"))
            raise
        finally:
            process.kill()


def class_path(jars: Sequence[Path], folder: Path, *, framed: bool, program: str | None = None) -> str:
    """Return a class path of jars, of a program of `engine/` and, for framed records, of their converter.

    The given jars come first, so that a release runs with those of its own. `folder` gets the classes.
    """
    jars = [*jars, *(fetch_jars([_AVRO], without=[_NOT_ON_MAVEN_CENTRAL], say=print) if framed else ())]
    sources = [str(ENGINE / f"{name}.java") for name in (program, _RESOLVER if framed else None) if name]
    path = os.pathsep.join(map(str, [folder, *jars]))
    if sources:
        compiler = [str(Path(find_java()).resolve().with_name("javac")), "-d", str(folder), "-cp", path]
        subprocess.run([*compiler, "-proc:none", "-nowarn", *sources], check=True)
    return path


def _end_of(log: Path) -> str:
    return log.read_text(encoding="utf-8")[-8000:]


def _parts(run: Run, coordinate: str) -> tuple[str, ...]:
    return (run.connector, run.version) if coordinate.count("{}") > 1 else (run.version,)


def _engines(options: Sequence[OptionSet]) -> list[list[OptionSet]]:
    """Group option sets by their connectors: what differs by the converter only is written by one engine."""
    properties = lambda one: sorted(one.properties.items())  # noqa: E731
    return [list(group) for _, group in groupby(sorted(options, key=properties), properties)]


def _plan(run: Run, session: Session, files: dict[str, Path], registries: dict[str, str]) -> dict[str, Any]:
    """Return what the program in Java reads."""
    engines = [
        {
            "name": group[0].name,
            "properties": connector_properties(run, session, number, group[0]),
            "captures": [_capture(one, files[one.name], registries.get(one.name)) for one in group],
        }
        for number, group in enumerate(_engines(run.options), 1)
    ]
    rows = sum(len(table.rows) for table in session.read_tables().values())
    return {"snapshot_rows": rows, "last_table": LAST_TABLE, "engines": engines}


def _capture(options: OptionSet, file: Path, registry: str | None) -> dict[str, Any]:
    properties = converter_properties(options, registry)
    name = properties.pop("class")
    return {"file": str(file), "class": name, "properties": properties, "base64": options.is_framed}


def converter_properties(options: OptionSet, registry: str | None) -> Properties:
    """Return the `class` of the converter of an option set and its properties; `registry` is for framed records."""
    address = {} if registry is None else {"apicurio.registry.url": registry}
    return _CONVERTERS[options.format] | address | options.converter


def connector_properties(run: Run, session: Session, number: int, options: OptionSet) -> Properties:
    """Return the properties of a connector of its own number, with the options of its set."""
    prefix = f"{PREFIX}-{options.name}"
    return {
        "name": f"producers-{number}",
        "offset.storage": "org.apache.kafka.connect.storage.MemoryOffsetBackingStore",
        "offset.flush.interval.ms": "1000",
        "database.hostname": "127.0.0.1",
        "database.port": str(session.port),
        "database.user": "registry",
        "database.password": "registry",
        # Named `database.server.name` up to 1.9.
        "topic.prefix": prefix,
        "database.server.name": prefix,
        **({"slot.name": f"producers_{number}"} if run.database == "postgresql" else _BINLOG),
        **({} if run.database == "postgresql" else {"database.server.id": str(5000 + number)}),
        **_CONNECTORS[run.connector],
        **options.properties,
    }
