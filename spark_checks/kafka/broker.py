"""Broker: a real Kafka broker on this machine, for the demo and the tests: one node, KRaft, no Docker."""

from __future__ import annotations

import os
import socket
import subprocess
import time
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from cdc_contracts.registry.core.common.errors import UnavailableError
from cdc_contracts.registry.core.common.extras import require_extra
from cdc_contracts.spark_checks.spark.jars import Say, fetch_jars, find_java, java_failure

VERSION: Final = "3.9.1"
KAFKA: Final = ("org.apache.kafka:kafka_2.13:{}", "org.slf4j:slf4j-simple:1.7.36")
# Needed by ZooKeeper, OAuth and the shell tools, but not by a KRaft node: half of the files, half of the download.
UNUSED: Final = (
    *("netty-buffer", "netty-codec", "netty-common", "netty-handler", "netty-resolver", "netty-transport"),
    *("netty-transport-classes-epoll", "netty-transport-native-epoll", "netty-transport-native-unix-common"),
    *("commons-beanutils", "commons-cli", "commons-collections", "commons-digester", "commons-logging"),
    *("jackson-dataformat-csv", "jackson-datatype-jdk8", "jackson-module-scala_2.13", "paranamer", "scala-reflect"),
    *("audience-annotations", "checker-qual", "commons-io", "error_prone_annotations", "jose4j", "zookeeper-jute"),
)
JVM_OPTIONS: Final = (
    # Starts in two thirds of the time; a broker copies bytes and gains little from the second compiler.
    *("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx512m"),
    *("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-Dorg.slf4j.simpleLogger.showDateTime=true"),
    "-Dorg.slf4j.simpleLogger.log.kafka.server.KafkaRaftServer=info",
)
STARTED: Final = b"Kafka Server started"
PATIENCE: Final = 60.0
GRACE: Final = 10.0


@dataclass(frozen=True, slots=True)
class Listener:
    """A further port of a broker: its security protocol, and its properties without the prefix `listener.name.`."""

    protocol: str
    properties: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Broker:
    """A running broker: `bootstrap` is its port without security, `addresses` are those of its further listeners."""

    bootstrap: str
    pid: int
    log: Path
    addresses: Mapping[str, str]

    def create_topic(self, name: str, partitions: int = 1, config: Mapping[str, str] | None = None) -> None:
        """Create a topic, and wait until its partitions have leaders.

        Raises:
            UnavailableError: confluent-kafka is missing, or the broker refuses.

        """
        require_extra("kafka")
        from confluent_kafka import KafkaException
        from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

        topic = NewTopic(name, num_partitions=partitions, replication_factor=1, config=dict(config or {}))
        admin = AdminClient({"bootstrap.servers": self.bootstrap})
        try:
            admin.create_topics([topic])[name].result(timeout=30)
        except KafkaException as error:
            what = f"topic {name} was not created: {error.args[0].str()}"
            raise UnavailableError(what, where=self.bootstrap) from error


@contextmanager
def running_broker(
    directory: Path,
    *,
    say: Say,
    listeners: Mapping[str, Listener] | None = None,
    settings: Mapping[str, str] | None = None,
    version: str = VERSION,
) -> Iterator[Broker]:
    """Run a broker on free ports of 127.0.0.1 inside the block, and stop it afterwards.

    Topics and log stay in `directory`: a broker started there again has them. Each of `listeners`, by name, gets its
    own port. `settings` are added to those of the broker. `version` is one of Kafka: 3.9 or 4.

    Raises:
        UnavailableError: Java is missing or too old, Kafka cannot be fetched, or the broker does not start.

    """
    java = find_java()
    jars = fetch_jars([name.format(version) for name in KAFKA], without=UNUSED, say=say)
    directory.mkdir(parents=True, exist_ok=True)
    named = dict(listeners or {})
    plain, controller, *others = _free_ports(2 + len(named))
    addresses = {name: f"127.0.0.1:{port}" for name, port in zip(named, others, strict=True)}
    file, log = directory / "server.properties", directory / "broker.log"
    file.touch(mode=0o600)
    lines = _properties(directory / "data", plain, controller) | dict(settings or {})
    for name, listener in named.items():
        _add_listener(lines, name.upper(), addresses[name], listener)
    file.write_text("".join(f"{key}={value}\n" for key, value in lines.items()), encoding="utf-8")
    program = [java, *JVM_OPTIONS, "-cp", os.pathsep.join(map(str, jars))]
    with log.open("w+b") as output:
        _format(program, directory, output)
        # In a separate session, so that Ctrl-C reaches only the command, which then stops the broker itself.
        process = subprocess.Popen(  # noqa: S603
            [*program, "kafka.Kafka", str(file)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        try:
            _wait(process, java, log)
            yield Broker(f"127.0.0.1:{plain}", process.pid, log, addresses)
        finally:
            _stop(process)


def _properties(data: Path, plain: int, controller: int) -> dict[str, str]:
    return {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@127.0.0.1:{controller}",
        "controller.listener.names": "CONTROLLER",
        "inter.broker.listener.name": "PLAINTEXT",
        "listeners": f"PLAINTEXT://127.0.0.1:{plain},CONTROLLER://127.0.0.1:{controller}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "log.dirs": data.absolute().as_posix(),
        "auto.create.topics.enable": "false",
        # Samples have the dates of the documents: retention by age would delete them within a minute.
        "log.retention.ms": "-1",
        "offsets.topic.num.partitions": "1",
        "offsets.topic.replication.factor": "1",
        "transaction.state.log.num.partitions": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "group.initial.rebalance.delay.ms": "0",
    }


def _add_listener(lines: dict[str, str], name: str, address: str, listener: Listener) -> None:
    lines["listeners"] += f",{name}://{address}"
    lines["listener.security.protocol.map"] += f",{name}:{listener.protocol}"
    for key, value in listener.properties.items():
        lines[f"listener.name.{name.lower()}.{key}"] = value


def _format(program: Sequence[str], directory: Path, output: IO[bytes]) -> None:
    """Format the data directory for a cluster, unless an earlier start did."""
    if (directory / "data" / "meta.properties").exists():
        return
    identity = urlsafe_b64encode(uuid.uuid4().bytes).rstrip(b"=").decode()
    command = [*program, "kafka.tools.StorageTool", "format", f"--cluster-id={identity}"]
    command += ["--config", str(directory / "server.properties")]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, check=False)  # noqa: S603
    if done.returncode != 0:
        raise java_failure("Kafka could not format its directory", program[0], output)


def _wait(process: subprocess.Popen[bytes], java: str, log: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    with log.open("rb") as output:
        while STARTED not in log.read_bytes():
            if process.poll() is not None:
                raise java_failure(f"Kafka ended with {process.returncode} while it started", java, output)
            if time.monotonic() > deadline:
                raise java_failure(f"Kafka did not start within {PATIENCE:.0f} s", java, output)
            time.sleep(0.05)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _free_ports(count: int) -> list[int]:
    """Return ports that are free at the moment; all are kept open until the last is known, so that they differ."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
