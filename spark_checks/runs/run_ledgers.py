"""Run ledgers: the outcome of the records of each partition, and the check that rows written equal rows counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

import pyarrow as pa

from cdc_contracts.registry.core.common.errors import LedgerError
from cdc_contracts.registry.core.records.output_schemas import LEDGER_SCHEMA
from cdc_contracts.registry.core.report.audit_report import Span
from cdc_contracts.registry.core.stats.partition_tallies import PartitionTally, Source
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.tables.canonical.table_layouts import TableName
from cdc_contracts.spark_checks.files.file_sinks import FilePart

COUNTS: Final = ("read", "conforming", "control", "tombstone", "quarantined", "changes")


def ledger_rows(
    tally: Tally, spans: Mapping[Source, Span], repeated: Counter[Source], *, dropped: bool
) -> pa.RecordBatch:
    """Return the rows of `ledger/`: counts by outcome per partition, and repeated rows."""
    rows = []
    for source in sorted({*spans, *tally.partitions}):
        counts, span = tally.partitions.get(source, PartitionTally()), spans[source]
        rows.append({
            "topic": source.topic,
            "partition": source.partition,
            "start": span.start,
            "end": span.end,
            **{name: getattr(counts, name) for name in COUNTS},
            "gaps": span.end - span.start - counts.read,
            "repeated": repeated[source],
            "dropped": repeated[source] if dropped else 0,
            "first_timestamp": counts.first_timestamp,
            "last_timestamp": counts.last_timestamp,
        })  # fmt: skip
    return pa.RecordBatch.from_pylist(rows, schema=LEDGER_SCHEMA)


def moved_rows(ledger: pa.RecordBatch) -> pa.RecordBatch:
    """Return the ledger of a replay, which reads no record but moves some out of the quarantine.

    So `quarantined` is negative, and the ledger of a directory adds up over all of its runs.
    """
    rows = []
    for row in ledger.to_pylist():
        moved = row["read"] - row["quarantined"]
        rows.append(
            {**row, "read": 0, "quarantined": -moved, "gaps": 0, "first_timestamp": None, "last_timestamp": None}
        )
    return pa.RecordBatch.from_pylist(rows, schema=LEDGER_SCHEMA)


def sum_rows(ledger: pa.RecordBatch) -> dict[str, int]:
    """Return the counts of a ledger over all partitions."""
    return {name: sum(ledger.column(name).to_pylist()) for name in COUNTS}


def check_rows(tally: Tally, parts: Iterable[FilePart], changes: int, *, replay: bool = False) -> None:
    """Raise LedgerError if the rows written are not the rows counted; a replay writes no quarantined rows.

    `changes` is the number of row changes that tasks have counted and written to no file of changes.
    """
    written = {**dict.fromkeys(("control", "quarantine", "replayed"), 0), "changes": changes}
    for part in parts:
        written[part.table] += part.rows
    counted = {
        name: sum(getattr(counts, name) for counts in tally.partitions.values())
        for name in ("read", "changes", "control", "quarantined")
    }
    read, quarantined = counted.pop("read"), counted.pop("quarantined")
    counted |= {"quarantine": 0 if replay else quarantined, "replayed": read - quarantined if replay else 0}
    if written != counted:
        raise _does_not_add_up(f"the rows written ({written}) are not the rows counted ({counted})")


def check_typed(changes: Mapping[TableName, int], dropped: Counter[TableName], typed: Mapping[str, int]) -> None:
    """Raise LedgerError if the typed rows of a table do not equal its rows in `changes/` without those dropped."""
    wanted: Counter[str] = Counter()
    for name, rows in changes.items():
        wanted[name.text] += rows - dropped[name]
    for table in sorted({*wanted, *typed}):
        if wanted[table] != typed.get(table, 0):
            counts = f"{wanted[table]} rows of changes/ that count became {typed.get(table, 0)} typed rows"
            raise _does_not_add_up(f"{counts} of table {table}")


def _does_not_add_up(what: str) -> LedgerError:
    return LedgerError(what, hint="This is a bug in cdc-contracts: please report it with the command you ran.")
