"""Connect runs: a worker of Kafka Connect lets a connector of Debezium write what happens in a database to a broker."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from confluent_kafka import Consumer, TopicPartition
from producers.captures import Line, part_of
from producers.database_sessions import Session, free_port
from producers.engine_runs import LAST_TABLE, class_path, connector_properties, converter_properties
from producers.run_plans import OptionSet, Properties, Run
from producers.statements import Statement

from cdc_contracts.spark_checks.spark.jars import fetch_jars, find_java

CONNECT = "3.9.2"
_COORDINATES = (
    f"org.apache.kafka:connect-runtime:{CONNECT}",
    f"org.apache.kafka:connect-json:{CONNECT}",
    "io.debezium:debezium-connector-{}:{}.Final",
)
_PATIENCE = 180
"""Seconds without a record after which a worker is taken to be stuck."""


def run_connect(
    run: Run,
    options: OptionSet,
    session: Session,
    change: Iterable[Statement],
    address: str,
    folder: Path,
    registry: str | None = None,
) -> list[Line]:
    """Return the records that a broker has of a snapshot and of what the statements of `change` do, topic by topic.

    They are as in a capture. `folder` gets the settings and the log of the worker; at `registry` the schemas of framed
    records are registered.
    """
    rows = sum(len(table.rows) for table in session.read_tables().values())
    properties = connector_properties(run, session, 1, options)
    prefix = properties["topic.prefix"]
    converter = converter_properties(options, registry)
    with (
        _running(run, converter, properties, address, folder, framed=options.is_framed),
        closing(_Reader(address, prefix, framed=options.is_framed)) as reader,
    ):
        found: list[Line] = []
        records = reader.records()
        while len(found) < rows:
            found.append(next(records))
        for statement in change:
            session.execute(statement.sql)
        while not any(one["topic"].endswith(f".{LAST_TABLE}") for one in found):
            found.append(next(records))
        while len(found) < reader.written():  # topics are not read in the order in which they are written
            found.append(next(records))
    return sorted(found, key=lambda one: one["topic"])


@contextmanager
def _running(
    run: Run, converter: Properties, properties: Properties, address: str, folder: Path, *, framed: bool
) -> Iterator[subprocess.Popen[bytes]]:
    named = {"" if name == "class" else f".{name}": value for name, value in converter.items()}
    worker = {
        "bootstrap.servers": address,
        "listeners": f"http://127.0.0.1:{free_port()}",
        "offset.storage.file.filename": str(folder / "offsets"),
        "offset.flush.interval.ms": "1000",
        "plugin.discovery": "only_scan",
        **{f"{kind}.converter{name}": value for kind in ("key", "value") for name, value in named.items()},
    }
    connector = {
        **{name: value for name, value in properties.items() if not name.startswith("offset.")},
        "tasks.max": "1",
        "topic.creation.default.partitions": "1",
        "topic.creation.default.replication.factor": "1",
    }
    files = []
    for name, settings in (("worker", worker), ("connector", connector)):
        files.append(folder / f"{name}.properties")
        files[-1].write_text("".join(f"{key}={value}\n" for key, value in settings.items()), encoding="utf-8")
    jars = fetch_jars([one.format(run.connector, run.version) for one in _COORDINATES], say=print)
    main = "org.apache.kafka.connect.cli.ConnectStandalone"
    command = [
        find_java(),
        "-Xmx1g",
        "-Duser.timezone=UTC",
        "-cp",
        class_path(jars, folder, framed=framed),
        main,
        *map(str, files),
    ]
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, cwd=folder) as process,
    ):
        try:
            yield process
        except TimeoutError as error:
            error.add_note((folder / "log").read_text(encoding="utf-8", errors="replace")[-8000:])
            raise
        finally:
            process.kill()


class _Reader:
    """Reads the topics with a prefix from the beginning, those too that are made meanwhile; each has one partition."""

    def __init__(self, address: str, prefix: str, *, framed: bool) -> None:
        self._consumer = Consumer({"bootstrap.servers": address, "group.id": prefix, "enable.auto.commit": False})
        self._prefix = f"{prefix}."
        self._framed = framed
        self._topics: set[str] = set()

    def close(self) -> None:
        self._consumer.close()

    def written(self) -> int:
        """Return how many records the topics have."""
        self._look()
        ends = (self._consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=30) for topic in self._topics)
        return sum(end for _, end in ends)

    def records(self) -> Iterator[Line]:
        """Yield records as they come. Raises TimeoutError if none does for long."""
        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until:
            record = self._consumer.poll(0.5)
            if record is None:
                self._look()
            if record is None or record.error() is not None:
                continue
            until = time.monotonic() + _PATIENCE
            key, value = (part_of(part, framed=self._framed) for part in (record.key(), record.value()))
            yield {"topic": record.topic(), "partition": record.partition(), "key": key, "value": value, "headers": []}
        raise TimeoutError(f"no record came for {_PATIENCE} seconds")

    def _look(self) -> None:
        found = {topic for topic in self._consumer.list_topics(timeout=30).topics if topic.startswith(self._prefix)}
        self._consumer.incremental_assign([TopicPartition(topic, 0, 0) for topic in sorted(found - self._topics)])
        self._topics = found
