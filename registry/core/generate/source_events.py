"""Source events: changes in a source database in canonical form, from which messages of every dialect are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cdc_contracts.registry.core.message.canonical_changes import Image


@dataclass(frozen=True, eq=False)
class SourceTable:
    """A table as its database has it: names, source types by column, names of the key columns."""

    name: str
    types: Mapping[str, str]
    primary_key: tuple[str, ...] = ()
    tenant: str | None = None
    database: str | None = None
    schema: str | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """What happened in the source, in canonical terms: ops of the vocabulary, images in canonical text.

    Times are microseconds since 1970 UTC. `before` and `after` are whole rows; the contract decides which of their
    columns are sent.
    """

    op: str
    table: SourceTable | None = None
    before: Image | None = None
    after: Image | None = None
    event_time: int | None = None
    process_time: int | None = None
    position: str | None = None
    transaction: str | None = None
    ddl_text: str | None = None
    ddl_type: str | None = None
