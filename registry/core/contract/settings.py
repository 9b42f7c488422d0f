"""Settings (`cdc-contracts.yaml`): defaults of a project for command-line options."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from pydantic import Field

from cdc_contracts.registry.core.common import yaml_documents
from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.contract.document_model import Document

FILE: Final = "cdc-contracts.yaml"


class Environment(Document):
    """The brokers of an environment, such as production, and how to connect to them."""

    bootstrap_servers: str | None = None
    """The bootstrap brokers, as HOST:PORT, comma-separated."""
    kafka_config: str | None = None
    """A client.properties file, which may name the brokers as well."""


class Settings(Environment):
    """Which contract each topic follows, where contracts, table contracts and brokers are, and parameters.

    `versions` is a file that says which version holds in which part of a topic; it goes before what `topics` says.
    """

    topics: dict[str, str] = Field(default_factory=dict)
    """The contract of each topic, as SYSTEM/DIALECT@N."""
    contracts: tuple[str, ...] = ()
    """Folders of contracts that are added to the catalogue."""
    tables: str | None = None
    """The file or folder of table contracts."""
    parameters: dict[str, str] = Field(default_factory=dict)
    """What no message says, by the name of the parameter."""
    versions: str | None = None
    """The file that says which version holds in which part of a topic."""
    schema_registry: str | None = None
    """Where the schemas of framed records are: the URL of a registry, or a folder as `registry dump` writes it."""
    families: dict[str, str] = Field(default_factory=dict)
    """Sharded tables: the name of the table that `decode` writes for all shards, and by which reports name them
    together, and a regular expression of the shards' names."""
    environments: dict[str, Environment] = Field(default_factory=dict)
    """Brokers by the name that `--env` gives; each is complete, and takes nothing from the keys outside it."""

    def environment(self, name: str) -> Environment:
        """Return the environment of a name. Raises UsageError if there is none."""
        found = self.environments.get(name)
        if found is not None:
            return found
        names = sorted(self.environments)
        near = get_close_matches(name, names, n=1)
        example = "Write `environments: {NAME: {bootstrap_servers: HOST:PORT}}`."
        known = f"There are {', '.join(names)}." if names else example
        raise UsageError(
            f"there is no environment `{name}`", where=FILE, hint=f"Did you mean {near[0]}? {known}" if near else known
        )

    def bindings(self, topics: Sequence[str]) -> dict[str | None, list[str]]:
        """Return the topics by the contract they are bound to, None for those that are bound to none."""
        bound: dict[str | None, list[str]] = {}
        for topic in topics:
            bound.setdefault(self.topics.get(topic), []).append(topic)
        return bound

    def contract_of(self, topics: list[str]) -> str | None:
        """Return the contract that these topics are bound to, or None if one of them is not bound.

        Raises UsageError if they are bound to different contracts.
        """
        bound = {self.topics.get(topic) for topic in topics}
        if len(bound) > 1 and None not in bound:
            raise UsageError("the topics are bound to different contracts", where=FILE, hint="Process them separately.")
        return bound.pop() if len(bound) == 1 else None


def read_settings(folder: Path) -> Settings:
    """Return the settings of a folder; empty ones without a file, or where it is empty.

    Raises ContractError if the file is not as it should be.
    """
    path = folder / FILE
    if not path.exists():
        return Settings()
    document = yaml_documents.read_document(path, may_be_empty=True)
    return Settings.checked(yaml_documents.without_nulls(document), str(path))
