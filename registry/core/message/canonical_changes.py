"""Canonical changes: one row change of any dialect, in canonical text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cdc_contracts.registry.core.message.envelope_times import format_micros

Image = dict[str, str | None]


@dataclass(frozen=True, slots=True)
class Change:
    """One row change. Times are microseconds since 1970 UTC; images map column names to canonical text or None.

    `invalid` names the columns kept as text in an image, `invalid_values` each such value: `before.NAME`, `after.NAME`.
    """

    op: str
    tenant: str | None
    database: str | None
    schema: str | None
    table: str | None
    primary_key: list[str] | None
    before: Image | None
    after: Image | None
    before_complete: bool | None
    after_complete: bool | None
    changed: list[str] | None
    column_types: dict[str, str] | None
    types_from: str
    invalid: list[str]
    invalid_values: list[str]
    event_time: int | None
    process_time: int | None
    event_time_text: str | None
    position: str | None
    transaction: str | None
    update_part: str | None
    pair_id: str | None

    def as_document(self, *, undecided: bool) -> dict[str, Any]:
        """Return the change as `.change.json` writes it: the names of `canonical/change`, `undecided` first."""
        document: dict[str, Any] = {"undecided": undecided}
        for name in self.__slots__:
            if name == "invalid_values":
                continue  # a column of `changes/` alone: the contract of the canonical change does not have it
            value = getattr(self, name)
            if name in ("event_time", "process_time") and value is not None:
                value = format_micros(value)
            document[name] = value
        return document


@dataclass(frozen=True, slots=True)
class Control:
    """A message that holds no row: DDL, heartbeat, transaction mark."""

    kind: str
    tenant: str | None
    database: str | None
    schema: str | None
    table: str | None
    ddl_text: str | None
    ddl_type: str | None
    event_time: int | None
    process_time: int | None
    position: str | None
    transaction: str | None
