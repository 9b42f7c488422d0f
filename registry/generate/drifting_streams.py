"""Drifting streams: drift on purpose in what one message cannot show: positions that go back, tables that change.

What is changed are the events, not the bytes: the contract then writes them as the product would.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from cdc_contracts.registry.common.errors import UsageError
from cdc_contracts.registry.contract.catalogue import Version
from cdc_contracts.registry.contract.reading_options import ReadingOptions
from cdc_contracts.registry.generate.source_events import Event, SourceTable
from cdc_contracts.registry.stats.position_sequences import ONCE_EACH
from cdc_contracts.registry.validate.capabilities import capabilities_of

_COLUMN: Final = "added_by_an_upgrade"
_TYPE: Final = "varchar(20)"
_TABLE: Final = "returns"
_BACK: Final = 5


class StreamDrifter:
    """Changes events so that their stream shows one class of drift."""

    def __init__(self, version: Version, reading_options: ReadingOptions, drift: str) -> None:
        """Raise UsageError where a stream of the version cannot show the class."""
        self._version = version
        self._reading_options = reading_options
        self._change = CHANGED[drift]
        self._ops = capabilities_of(version, reading_options).ops
        self._seen: set[str] = set()
        self._tables: dict[SourceTable, SourceTable] = {}
        self._latest: Event | None = None
        place = version.meaning.envelope.position
        self._repeats = place is not None and place.rises == ONCE_EACH
        if drift == "order" and (place is None or place.rises is None):
            raise UsageError(f"nothing is promised of the positions of {version}", where="--drift order")
        if drift == "unknown-table" and not reading_options.tables:
            raise UsageError("no table is known, so none is unknown", where="--drift", hint="list tables with --tables")
        if drift == "unknown-table" and not capabilities_of(version, reading_options).table:
            raise UsageError(f"messages of {version} do not name their table", where="--drift unknown-table")

    def change(self, event: Event, *, wanted: bool) -> Event | None:
        """Return the event as it drifts, or None where it stays as it is; `wanted` where a drift is due."""
        if event.before is None and event.after is None:
            return None
        changed = self._change(self, event, wanted)
        self._latest = changed or event
        if changed is None:
            self._seen.add(self._op_of(event))
        return changed

    def _op_of(self, event: Event) -> str:
        result = self._ops.get(event.op)
        return result.op if result is not None else event.op

    def _put_back(self, event: Event, wanted: bool) -> Event | None:  # noqa: FBT001
        """Give the event the position of an earlier one; exactly that of the event before where that is the drift."""
        if not wanted or self._latest is None or self._latest.position is None or self._op_of(event) == "snapshot":
            return None
        if self._op_of(self._latest) == "snapshot" or event.op.startswith("update-"):
            return None
        return replace(event, position=str(int(self._latest.position) - (0 if self._repeats else _BACK)))

    def _widen(self, event: Event, wanted: bool) -> Event | None:  # noqa: FBT001
        """Give the table one more column, from the first event of a kind that was there without it."""
        op, started = self._op_of(event), bool(self._tables)
        if event.table is None or not (started or (wanted and op in self._seen and op != "snapshot")):
            return None
        table = self._tables.setdefault(event.table, replace(event.table, types={**event.table.types, _COLUMN: _TYPE}))
        before, after = (None if row is None else {**row, _COLUMN: None} for row in (event.before, event.after))
        return replace(event, table=table, before=before, after=after)

    def _rename(self, event: Event, wanted: bool) -> Event | None:  # noqa: FBT001
        """Have the event happen in a table that is not listed."""
        if event.table is None or not wanted:
            return None
        table = self._tables.setdefault(event.table, replace(event.table, name=_TABLE))
        return replace(event, table=table)


CHANGED: Final[Mapping[str, Callable[[StreamDrifter, Event, bool], Event | None]]] = {
    "unknown-table": StreamDrifter._rename,  # noqa: SLF001
    "table-schema": StreamDrifter._widen,  # noqa: SLF001
    "order": StreamDrifter._put_back,  # noqa: SLF001
}
"""The classes that only a stream can show, each with the way its events are changed."""
