from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cdc_contracts.registry.core.common.errors import UnavailableError
from cdc_contracts.registry.core.common.extras import install_command
from cdc_contracts.spark_checks.kafka.broker import running_broker

if TYPE_CHECKING:
    from cdc_contracts.spark_checks.kafka.broker import Broker


def can_connect(address: str) -> bool:
    host, port = address.split(":")
    with socket.socket() as client:
        return client.connect_ex((host, int(port))) == 0


def test_a_broker_answers_and_makes_topics(broker: Broker) -> None:
    from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType

    broker.create_topic("settings", 3, {"cleanup.policy": "compact"})
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    assert len(admin.list_topics("settings", timeout=300).topics["settings"].partitions) == 3
    resource = ConfigResource(ResourceType.TOPIC, "settings")
    settings = admin.describe_configs([resource])[resource].result(10)
    assert settings["cleanup.policy"].value == "compact"
    assert settings["retention.ms"].value == "-1"


def test_a_topic_that_exists_is_an_error(broker: Broker) -> None:
    broker.create_topic("twice")
    with pytest.raises(UnavailableError, match="Topic 'twice' already exists"):
        broker.create_topic("twice")


def test_without_its_client_the_broker_says_what_to_install(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "confluent_kafka", None)
    with pytest.raises(UnavailableError) as failure:
        broker.create_topic("never")
    assert install_command("kafka") in failure.value.hint


@pytest.mark.nightly
def test_a_broker_is_gone_after_its_block_and_finds_its_topics_when_started_again(
    tmp_path: Path, broker: Broker
) -> None:
    from confluent_kafka.admin import AdminClient

    del broker  # Kafka is in the cache
    with running_broker(tmp_path, say=print) as first:
        first.create_topic("kept", 2)
        assert can_connect(first.bootstrap)
        assert first.addresses == {}
    with pytest.raises(ProcessLookupError):
        os.kill(first.pid, 0)
    assert not can_connect(first.bootstrap)
    with running_broker(tmp_path, say=print) as second:
        topics = AdminClient({"bootstrap.servers": second.bootstrap}).list_topics(timeout=300).topics
        assert len(topics["kept"].partitions) == 2


def test_a_broker_that_cannot_start_shows_its_last_words(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file where the directory of the data belongs")
    with (
        pytest.raises(UnavailableError, match="Kafka could not format") as failure,
        running_broker(tmp_path, say=print),
    ):
        pass
    assert str(tmp_path / "data") in failure.value.hint


def test_a_java_that_is_too_old_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broker: Broker) -> None:
    del broker  # Kafka is in the cache
    java = tmp_path / "jdk" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text("#!/bin/sh\necho 'openjdk version \"1.8.0_392\"' >&2\nexit 1\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    with (
        pytest.raises(UnavailableError, match="Java 8 is too old, 17 is needed"),
        running_broker(tmp_path / "b", say=print),
    ):
        pass


def test_what_holds_the_password_is_for_the_owner_only(broker: Broker) -> None:
    assert (broker.log.parent / "server.properties").stat().st_mode & 0o077 == 0
    assert "correcthorse" not in broker.log.read_text()
