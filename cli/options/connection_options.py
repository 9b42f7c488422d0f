"""Connection options: the brokers that a command talks to, and the client properties for it.

Brokers are taken from the first of these that names them:

    --bootstrap-servers (-b)
    bootstrap.servers in --kafka-opt or --kafka-config
    the environment of --env
    the variable CDC_CONTRACTS_BOOTSTRAP_SERVERS
    cdc-contracts.yaml
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final

import typer

from cdc_contracts.cli.output import console
from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.common.safe_text import visible

BOOTSTRAP_VARIABLE: Final = "CDC_CONTRACTS_BOOTSTRAP_SERVERS"
_PROPERTY: Final = "bootstrap.servers"
_LAST_PORT: Final = 65_535

Bootstrap = Annotated[
    str | None,
    typer.Option(
        "--bootstrap-servers", "--bootstrap", "-b", metavar="HOST:PORT",
        help="The brokers, comma-separated; default: from the settings or the environment.",
    ),
]  # fmt: skip
EnvironmentName = Annotated[
    str | None, typer.Option("--env", metavar="NAME", help="The brokers of an environment in cdc-contracts.yaml.")
]
KafkaConfig = Annotated[
    Path | None,
    typer.Option(
        "--kafka-config", metavar="FILE", help="A client.properties file, for example with security settings."
    ),
]
KafkaOptions = Annotated[
    list[str] | None,
    typer.Option("--kafka-opt", metavar="NAME=VALUE", help="One client property; overrides the file. Repeatable."),
]


@dataclass(frozen=True)
class Connection:
    """The brokers of a command, comma-separated, and the client properties for them."""

    bootstrap: str
    properties: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True)
class ConnectionOptions:
    """Options of the client that reads a topic."""

    bootstrap: Bootstrap = None
    environment: EnvironmentName = None
    kafka_config: KafkaConfig = None
    kafka_options: KafkaOptions = None

    @property
    def given(self) -> dict[str, object]:
        """The options with the values that were given, for commands that also read files."""
        return {
            "--bootstrap": self.bootstrap,
            "--env": self.environment,
            "--kafka-config": self.kafka_config,
            "--kafka-opt": self.kafka_options,
        }

    def open(self) -> Connection:
        """Return the brokers and the client properties, without a request to the broker.

        Raises UsageError if no broker is named anywhere, a broker is not HOST:PORT, or the environment is unknown, and
        as `read_client_properties`.
        """
        from cdc_contracts.registry.core.contract.settings import read_settings
        from cdc_contracts.spark_checks.kafka.client_properties import read_client_properties
        from cdc_contracts.spark_checks.kafka.credentials import is_secret

        if self.bootstrap is not None and not self.bootstrap.strip():
            raise UsageError("the brokers are empty", where="--bootstrap-servers", hint="Give HOST:PORT.")
        settings = read_settings(Path.cwd())
        named = settings if self.environment is None else settings.environment(self.environment)
        kept = read_client_properties(Path(named.kafka_config), ()) if named.kafka_config is not None else {}
        own = read_client_properties(self.kafka_config, self.kafka_options or ())
        for name in read_client_properties(None, self.kafka_options or ()):
            if is_secret(name):
                console.say(f"warning: everyone who can list processes sees {name}: give it in --kafka-config")
        properties = own if self.kafka_config is not None else {**kept, **own}
        stored = named.bootstrap_servers or kept.get(_PROPERTY)
        variable = os.environ.get(BOOTSTRAP_VARIABLE)
        kept_there = [("cdc-contracts.yaml", stored)]
        for place, bootstrap in (
            ("--bootstrap-servers", self.bootstrap),
            (_PROPERTY, own.get(_PROPERTY)),
            *(kept_there if self.environment is not None else [(BOOTSTRAP_VARIABLE, variable), *kept_there]),
        ):
            if bootstrap and bootstrap.strip():
                _refuse_wrong_brokers(bootstrap, place)
                return Connection(bootstrap, properties)
        if self.environment is not None:
            raise UsageError(
                f"the environment `{self.environment}` names no broker",
                where="cdc-contracts.yaml",
                hint=f"Write `environments: {{{self.environment}: {{bootstrap_servers: HOST:PORT}}}}`.",
            )
        raise UsageError(
            "no broker is named",
            hint=f"Give -b HOST:PORT, or set {BOOTSTRAP_VARIABLE}, or write `bootstrap_servers: HOST:PORT` into "
            "cdc-contracts.yaml.",
        )


def _refuse_wrong_brokers(bootstrap: str, place: str) -> None:
    """Raise UsageError if a broker is not HOST:PORT.

    Java's client refuses it only after Spark has started; librdkafka assumes a port.
    """
    for broker in filter(None, (one.strip() for one in bootstrap.split(","))):
        host, colon, port = broker.rpartition("://")[2].rpartition(":")
        if broker.lower().startswith(("http://", "https://")):
            fault = " is an address of the web"
        elif not (colon and port) or port.endswith("]"):
            fault = " has no port"
        elif not host:
            fault = " has no host"
        elif not (port.isascii() and port.isdigit() and 0 < int(port[:6]) <= _LAST_PORT):
            fault = f": {port} is not a port"
        else:
            continue
        raise UsageError(
            visible(f"the broker `{broker}`{fault}"), where=place, hint="Write HOST:PORT, for example kafka1:9092."
        )
