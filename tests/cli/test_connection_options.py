"""Which brokers a command talks to, and with which client properties: options, variable, settings, environments."""

from __future__ import annotations

from pathlib import Path

import pytest

from cdc_contracts.cli.app import main
from cdc_contracts.cli.options.connection_options import BOOTSTRAP_VARIABLE, Connection, ConnectionOptions
from cdc_contracts.registry.core.common.errors import UsageError

SETTINGS = """
bootstrap_servers: settings:1
kafka_config: settings.properties
environments:
  prod: {bootstrap_servers: 'prod:1', kafka_config: prod.properties}
  file: {kafka_config: named.properties}
  bare: {}
"""


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(BOOTSTRAP_VARIABLE, raising=False)
    for name in ("settings", "prod"):
        (tmp_path / f"{name}.properties").write_text(f"client.id={name}\n")
    (tmp_path / "named.properties").write_text("bootstrap.servers=named:1\n")


def settings(text=SETTINGS):
    Path("cdc-contracts.yaml").write_text(text)


def opened(bootstrap=None):
    return ConnectionOptions(bootstrap).open()


def test_brokers_are_taken_from_the_first_place_that_names_them(monkeypatch):
    settings()
    given = {"bootstrap": "option:1", "environment": "prod", "kafka_config": Path("named.properties")}
    monkeypatch.setenv(BOOTSTRAP_VARIABLE, "variable:1")
    assert ConnectionOptions(**given).open().bootstrap == "option:1"
    del given["bootstrap"]
    assert ConnectionOptions(**given).open().bootstrap == "named:1"
    assert ConnectionOptions(kafka_options=["bootstrap.servers=property:1"]).open().bootstrap == "property:1"
    del given["kafka_config"]
    assert ConnectionOptions(**given).open().bootstrap == "prod:1"
    assert ConnectionOptions().open().bootstrap == "variable:1"
    monkeypatch.setenv(BOOTSTRAP_VARIABLE, "")
    assert ConnectionOptions().open().bootstrap == "settings:1"


def test_an_environment_is_complete_and_takes_nothing_from_outside_it(monkeypatch):
    settings()
    monkeypatch.setenv(BOOTSTRAP_VARIABLE, "variable:1")
    assert ConnectionOptions(environment="prod").open() == Connection("prod:1", {"client.id": "prod"})
    assert ConnectionOptions(environment="file").open() == Connection("named:1", {"bootstrap.servers": "named:1"})
    with pytest.raises(UsageError, match="the environment `bare` names no broker"):
        ConnectionOptions(environment="bare").open()


def test_a_properties_file_on_the_command_line_replaces_that_of_the_settings_and_single_properties_are_added():
    settings()
    assert ConnectionOptions().open().properties == {"client.id": "settings"}
    assert ConnectionOptions(kafka_config=Path("prod.properties")).open().properties == {"client.id": "prod"}
    added = ConnectionOptions(kafka_options=["retries=3"]).open().properties
    assert added == {"client.id": "settings", "retries": "3"}


def test_a_password_on_the_command_line_is_warned_of_without_showing_it(capsys):
    options = ["sasl.password=hunter2", "sasl.username=reader", "ssl.key.location=k.pem"]
    ConnectionOptions(bootstrap="b:1", kafka_options=options).open()
    assert capsys.readouterr().err == (
        "warning: everyone who can list processes sees sasl.password: give it in --kafka-config\n"
    )


def test_an_unknown_environment_is_reported_with_the_known_ones(capsys):
    settings()
    assert main(["audit", "topic", "orders", "--env", "prd", "--contract", "dts/canal@2"]) == 2
    assert capsys.readouterr().err == (
        "error: there is no environment `prd` (cdc-contracts.yaml)\n  Did you mean prod? There are bare, file, prod.\n"
    )
    Path("cdc-contracts.yaml").unlink()
    assert main(["audit", "topic", "orders", "--env", "prod", "--contract", "dts/canal@2"]) == 2
    assert "  Write `environments: {NAME: {bootstrap_servers: HOST:PORT}}`.\n" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    [
        ["audit", "topic", "orders", "--contract", "dts/canal@2"],
        ["decode", "topic", "orders", "--contract", "dts/canal@2", "--to", "out"],
        ["capture", "topic", "orders", "-o", "a.parquet"],
        ["tables", "infer", "topic", "orders", "--contract", "dts/canal@2"],
        ["detect", "topic", "orders"],
        ["why", "topic", "orders", "--partition", "0", "--offset", "1"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_a_topic_without_brokers_is_refused_before_anything_starts_and_three_ways_are_named(command, capsys):
    assert main(command) == 2
    assert capsys.readouterr().err == (
        f"error: no broker is named\n  Give -b HOST:PORT, or set {BOOTSTRAP_VARIABLE}, or write "
        "`bootstrap_servers: HOST:PORT` into cdc-contracts.yaml.\n"
    )
    assert main([*command, "-b", ""]) == 2
    assert "the brokers are empty" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("brokers", "says"),
    [
        ("kafka1", "`kafka1` has no port"),
        ("http://kafka1:9092", "`http://kafka1:9092` is an address of the web"),
        ("kafka1:9092, kafka2", "`kafka2` has no port"),
        ("SASL_SSL://kafka1", "`SASL_SSL://kafka1` has no port"),
        ("[::1]", "`[::1]` has no port"),
        ("kafka1:", "`kafka1:` has no port"),
        (":9092", "`:9092` has no host"),
        ("kafka1:kafka", "`kafka1:kafka`: kafka is not a port"),
        ("kafka1:99999", "`kafka1:99999`: 99999 is not a port"),
        ("kafka1\u202e:x", "`kafka1\\u202e:x`: x is not a port"),
    ],
)
def test_a_broker_without_a_usable_port_is_refused_in_one_sentence(brokers, says, capsys):
    assert main(["audit", "topic", "orders", "--contract", "dts/canal@2", "-b", brokers]) == 2
    assert capsys.readouterr().err.removeprefix("audit: loading contracts\n") == (
        f"error: the broker {says} (--bootstrap-servers)\n  Write HOST:PORT, for example kafka1:9092.\n"
    )


@pytest.mark.parametrize(
    "brokers",
    ["kafka1:9092", "kafka1:9092,kafka2:9092, kafka3:9092,", "[::1]:9092", "SSL://k-1.example.com:9093", "k_1:1"],
)
def test_brokers_are_taken_in_every_form_that_both_clients_read(brokers):
    assert opened(brokers).bootstrap == brokers


def test_the_place_of_a_broker_without_a_port_is_named(monkeypatch):
    settings("bootstrap_servers: stored\n")
    with pytest.raises(UsageError, match=r"`stored` has no port \(cdc-contracts\.yaml\)"):
        opened()
    monkeypatch.setenv(BOOTSTRAP_VARIABLE, "variable")
    with pytest.raises(UsageError, match=rf"`variable` has no port \({BOOTSTRAP_VARIABLE}\)"):
        opened()


def test_a_topic_is_audited_at_the_brokers_of_an_environment(broker, make_topic, capsys):
    from topics import rendered

    topic = make_topic([(0, value) for value in rendered("dts/canal@2", 20)])
    settings(f"topics: {{{topic}: dts/canal@2}}\nenvironments: {{test: {{bootstrap_servers: '{broker.bootstrap}'}}}}\n")
    assert main(["audit", "topic", topic, "--env", "test", "--engine", "local"]) == 0, capsys.readouterr().err
