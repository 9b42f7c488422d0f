"""Drifting streams: drift on purpose in what one message cannot show: positions that go back, tables that change.

What is changed are the events, not the bytes: the contract then writes them as the product would.
"""

from __future__ import annotations

from typing import Any

from cdc_contracts.registry.common.findings import CLASSES
from cdc_contracts.registry.contract.catalogue import Version
from cdc_contracts.registry.contract.reading_options import ReadingOptions
from cdc_contracts.registry.generate.source_events import Event, SourceTable
from cdc_contracts.registry.stats.position_sequences import ONCE_EACH
from cdc_contracts.registry.validate.capabilities import capabilities_of


def drifts_in_streams(drift: str) -> bool:
    """Return whether only a stream can show a class of drift."""
    return drift in CLASSES and CLASSES[drift].drifts is not None


class StreamDrifter:
    """Changes events so that their stream shows one class of drift."""

    def __init__(self, version: Version, reading_options: ReadingOptions, drift: str) -> None:
        """Raise UsageError if a stream of the version cannot show the class."""
        self.version = version
        self.seen: set[str] = set()
        self.tables: dict[SourceTable, SourceTable] = {}
        self.latest: Event | None = None
        self._capabilities = capabilities_of(version, reading_options)
        self._place = version.meaning.envelope.position
        self.lists_tables = bool(reading_options.tables)
        self._class = CLASSES[drift]
        self._class.refuse(self)

    @property
    def rises(self) -> bool:
        """Whether positions are promised to rise in some way."""
        return self._place is not None and self._place.rises is not None

    @property
    def repeats(self) -> bool:
        """Whether positions may fall, and only a repeated one breaks the promise."""
        return self._place is not None and self._place.rises == ONCE_EACH

    @property
    def names_table(self) -> bool:
        """Whether messages name their table."""
        return bool(self._capabilities.table)

    def change(self, event: Event, *, wanted: bool) -> Event | None:
        """Return the event as it drifts, or None if it stays as it is; `wanted` where a drift is due."""
        if event.before is None and event.after is None:
            return None
        changed: Any = self._class.drifts(self, event, wanted) if self._class.drifts else None
        self.latest = changed or event
        if changed is None:
            self.seen.add(self.op_of(event))
        return changed  # type: ignore[no-any-return]

    def op_of(self, event: Event) -> str:
        """Return the op of an event as the contract has it."""
        result = self._capabilities.ops.get(event.op)
        return result.op if result is not None else event.op
