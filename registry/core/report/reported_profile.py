"""Reported profile: what the rows of a topic hold, as integers; readers compute the shares."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

from cdc_contracts.registry.core.common.written_models import Count


class ReportedColumn(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A column."""

    name: str
    """Name of the column."""
    absent: Count
    """Rows of the table that lack it."""
    nulls: Count
    """Rows in which it is NULL."""
    texts: Count
    """Values that were sent as text, empty ones included; numbers and booleans have no length."""
    empty: Count
    """Values that are an empty text."""
    replaced: Count
    """Texts that contain U+FFFD, which software writes in place of what it could not read."""
    shortest: Count | None
    """Characters of the shortest text; null if there is none."""
    longest: Count | None
    """Characters of the longest text; null if there is none."""
    characters: Count
    """Characters of all texts: divided by `texts`, their mean length."""


class ReportedTable(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A table, as one version of its contract writes it."""

    table: str | None
    """Table, null if a message has none."""
    contract: str
    """The version."""
    rows: Count
    """Rows in conforming messages."""
    ops: dict[str, int]
    """The same by op."""
    columns: tuple[ReportedColumn, ...]
    """The columns of the rows after a change, of a delete before it, in order of their names."""
    other_values: Count
    """Values of columns that are not listed, because there are too many."""


class LagBucket(Struct, frozen=True, forbid_unknown_fields=True):
    """A bucket."""

    below: Count | None = field(name="below_ms")
    """Milliseconds that its lags are below, and not below half of; 0 for lags below zero, null for the last bucket."""
    messages: Count
    """Messages."""


class ReportedLag(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How long after the change messages were made or stored."""

    until: Literal["process-time", "kafka-timestamp"]
    """When the message was made, as it says itself, or when Kafka stored it."""
    messages: Count
    """Conforming messages with a row."""
    unknown: Count
    """Messages of which one of both times is not known."""
    least: int | None = field(name="least_us")
    """The least lag in microseconds; null if none is known."""
    most: int | None = field(name="most_us")
    """The greatest."""
    buckets: tuple[LagBucket, ...]
    """Messages by lag, in powers of two of a millisecond; empty buckets are left out."""


class ReportedResends(Struct, frozen=True, forbid_unknown_fields=True):
    """Messages sent again, by the positions in the source; null if the contract promises no order of them."""

    repeated: Count
    """Messages with the position of the message before."""
    back: Count
    """Messages whose position is lower than that of the message before: something is sent again from there."""


class ReportedTopic(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A topic."""

    topic: str
    """Topic."""
    rows: Count
    """Rows in conforming messages."""
    other_rows: Count
    """Rows of tables that are not listed, because there are too many."""
    tables: tuple[ReportedTable, ...]
    """The tables in order of their names, each version by itself."""
    lag: tuple[ReportedLag, ...]
    """The lag of messages; several where versions differ in what they say."""
    resends: ReportedResends | None
