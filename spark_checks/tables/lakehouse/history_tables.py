"""History tables: tables of all changes, to which each write is appended exactly once."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.tables.canonical.table_layouts import TableName
from cdc_contracts.spark_checks.tables.typed_tables import TableCommit, WriteKey

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

WRITER: Final = "cdc-contracts.writer"
NUMBER: Final = "cdc-contracts.number"
_NEWEST: Final = 50
"""The number of versions that are searched for one of ours: a repeated write is the last of its writer."""


@dataclass(frozen=True)
class Commit:
    """The table version that a write made, and its number of rows; None if no longer known."""

    version: TableCommit | None
    rows: int | None


class History(Protocol):
    """Appends rows exactly once, in the way of a format."""

    def append(
        self, session: SparkSession, identifier: str, table: TableName, rows: DataFrame, key: WriteKey
    ) -> Commit:
        """Append the rows, unless the same or a later write of the writer exists; return the existing commit."""


class DeltaHistory:
    """By transaction number: Delta itself skips a repeated write."""

    def append(
        self, session: SparkSession, identifier: str, table: TableName, rows: DataFrame, key: WriteKey
    ) -> Commit:
        note = json.dumps({WRITER: key.writer, NUMBER: key.number})
        options = {"txnAppId": f"{key.writer}:{table.text}", "txnVersion": str(key.number), "userMetadata": note}
        rows.writeTo(identifier).options(**options).append()
        versions = session.sql(f"DESCRIBE HISTORY {identifier} LIMIT {_NEWEST}")
        for found in versions.where(versions.userMetadata == note).collect():
            return Commit(TableCommit(version=found.version), int(found.operationMetrics["numOutputRows"]))
        return Commit(None, None)


class IcebergHistory:
    """By snapshot properties, looked up first. Two processes with the same writer id are not distinguished."""

    def append(
        self, session: SparkSession, identifier: str, table: TableName, rows: DataFrame, key: WriteKey
    ) -> Commit:
        snapshots = self._snapshots(session, identifier, key)
        if not any(number >= key.number for number in snapshots):
            own = {f"snapshot-property.{WRITER}": key.writer, f"snapshot-property.{NUMBER}": str(key.number)}
            rows.writeTo(identifier).options(**own).append()
            snapshots = self._snapshots(session, identifier, key)
        return snapshots.get(key.number, Commit(None, None))

    def _snapshots(self, session: SparkSession, identifier: str, key: WriteKey) -> dict[int, Commit]:
        """Return the snapshots of a writer by number that have not expired."""
        own = session.table(f"{identifier}.snapshots").where(f"summary['{WRITER}'] = '{key.writer}'")
        return {
            int(found.summary[NUMBER]): Commit(
                TableCommit(snapshot=found.snapshot_id), int(found.summary.get("added-records", 0))
            )
            for found in own.select("snapshot_id", "summary").collect()
        }


def open_history(table_format: str) -> History:
    """Return the history writer of a format. Raises UsageError if there is no such format."""
    if table_format == "delta":
        return DeltaHistory()
    if table_format == "iceberg":
        return IcebergHistory()
    raise UsageError("there is no such table format", where=table_format, hint="Use one of parquet, delta and iceberg.")
