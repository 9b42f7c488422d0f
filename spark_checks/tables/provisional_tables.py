"""Provisional tables: typed rows that tasks write while they validate, by the layouts known so far.

They count only if the final layout of the whole run is the same; the driver has the other rows typed again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import pyarrow as pa

from cdc_contracts.registry.core.contract.table_families import TableFamilies
from cdc_contracts.registry.core.engine.write.decoded_rows import UntypedRows
from cdc_contracts.registry.core.tables.canonical.table_layouts import TableLayout, TableName
from cdc_contracts.spark_checks.files.file_sinks import FilePart, SinkPlace
from cdc_contracts.spark_checks.tables.typed_files import TypedFiles
from cdc_contracts.spark_checks.tables.typed_tables import ProvisionalWrite

FIRST_BYTES: Final = 32 * 1024 * 1024
"""The bytes of rows of a table that are examined before its layout is guessed; all of them if there are fewer."""


class ProvisionalTables:
    """The typed rows of one task, as far as layouts that were guessed from its first rows hold for the later ones."""

    def __init__(
        self,
        place: SinkPlace,
        guess: Callable[[TableName], TableLayout],
        above: str,
        attempt: str,
        families: TableFamilies,
    ) -> None:
        self._guess = guess
        self._layouts: dict[TableName, TableLayout] = {}
        self._left: set[TableName] = set()
        self._files = TypedFiles(place, self._layout_of, above, f"{attempt}-0", families=families, patience=FIRST_BYTES)

    def add(self, rows: pa.RecordBatch | UntypedRows) -> None:
        """Add row changes; what they show of layouts is known to `guess` already."""
        self._files.add(rows)

    def close(self, changes: Sequence[FilePart]) -> ProvisionalWrite:
        """Finish all files; `changes` are the files that hold the same rows untyped."""
        for name in list(self._layouts):
            self._layout_of(name)
        write = self._files.close()
        layouts = {name: layout for name, layout in self._layouts.items() if name not in self._left}
        return ProvisionalWrite(tuple(changes), write, layouts, frozenset(self._left))

    def discard(self) -> None:
        """Remove what was written."""
        self._files.discard()

    def _layout_of(self, name: TableName) -> TableLayout | None:
        """Return the layout of a table; None where its rows cannot be typed before the run is over."""
        if name in self._left:
            return None
        layout = self._guess(name)
        known = self._layouts.setdefault(name, layout)
        if known.arrow == layout.arrow:
            return known
        self._left.add(name)
        self._files.refuse(name)
        return None
