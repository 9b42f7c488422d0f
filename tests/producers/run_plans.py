"""Run plans: which releases are run on which database, and which option sets of connectors and converters they have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from producers.captures import Capture

RUNS = Path(__file__).with_name("runs.yaml")
Properties = dict[str, str]


@dataclass(frozen=True, slots=True)
class OptionSet:
    """Options by which a producer writes: those of its connector, and those of the converter of keys and values."""

    name: str
    properties: Properties
    converter: Properties
    format: str
    """What the converter writes: `json`, or `avro` framed by the id of its schema in a registry."""

    @property
    def is_framed(self) -> bool:
        return self.format == "avro"


@dataclass(frozen=True, slots=True)
class Run:
    """One release of a product on one database, with all its option sets."""

    product: str
    version: str
    database: str
    connector: str
    options: tuple[OptionSet, ...]

    @property
    def name(self) -> str:
        return f"{self.product}-{self.version}-{self.database}"

    def captures(self) -> list[Capture]:
        return [Capture(self.product, self.version, self.database, one.name) for one in self.options]


@cache
def list_runs() -> tuple[Run, ...]:
    """List all runs of `runs.yaml`, in its order."""
    text = yaml.load(RUNS.read_text(encoding="utf-8"), yaml.BaseLoader)
    return tuple(_runs(text["releases"], text["options"]))


def options_of(capture: Capture) -> OptionSet:
    """Return the option set that a capture was written with."""
    run = (capture.product, capture.version, capture.database)
    (found,) = (
        one
        for each in list_runs()
        for one in each.options
        if (each.product, each.version, each.database) == run and one.name == capture.options
    )
    return found


def _runs(releases: dict[str, Any], options: dict[str, Any]) -> Iterator[Run]:
    for product, databases in releases.items():
        for database, connectors in databases.items():
            for connector, versions in connectors.items():
                for version in versions:
                    sets = tuple(_option_sets(options, product, version, database))
                    yield Run(product, version, database, connector, sets)


def _option_sets(options: dict[str, Any], product: str, version: str, database: str) -> Iterator[OptionSet]:
    for name, given in options.items():
        products, databases = given.get("products", ["debezium"]), given.get("databases", [database])
        if product in products and database in databases and version in given.get("releases", [version]):
            properties, converter = given.get("properties", {}), given.get("converter", {})
            yield OptionSet(name, properties, converter, given.get("format", "json"))
