"""Parquet tables: typed tables as files, in one folder per table and run."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import lru_cache

import pyarrow as pa

from cdc_contracts.registry.core.contract.table_families import NO_FAMILIES, TableFamilies
from cdc_contracts.registry.core.records.output_schemas import TYPED_FROM
from cdc_contracts.registry.core.tables.canonical.table_layouts import TableLayout, TableName
from cdc_contracts.spark_checks.engines.engines import Engine
from cdc_contracts.spark_checks.files.file_sinks import TABLES, FilePart, SinkPlace
from cdc_contracts.spark_checks.files.part_files import read_part
from cdc_contracts.spark_checks.tables.typed_files import TypedFiles, join_writes, remove_parts
from cdc_contracts.spark_checks.tables.typed_tables import TypedWrite, WriteOrder
from cdc_contracts.spark_checks.tasks.spark_tasks import as_result, attempt_name, read_results


class ParquetTables:
    """Files of typed rows, which count only if the record of their run names them, so writing is repeatable.

    `above` is the folder that holds the folders of the tables.
    """

    name = "parquet"
    replaceable = True
    schema = None
    keeps_current = False

    def __init__(self, above: str = TABLES) -> None:
        self._above = above

    @property
    def typed_above(self) -> str | None:
        return self._above

    def prepare(self, engine: Engine) -> None:
        """Do nothing: files need no settings."""

    def write(self, engine: Engine, order: WriteOrder) -> TypedWrite:
        """Write the rows of the changes files, typed, to the table of each layout: a task for each file.

        What tasks have typed already by the same layouts stays as it is.
        """
        kept, again = keep_provisional(order)
        if not again:
            return join_writes(kept)
        job = pickle.dumps(WriteJob(order.place, tuple(again), dict(order.layouts), self._above, again, order.families))

        def work(numbers: Iterator[int]) -> Iterator[pa.RecordBatch]:
            yield as_result(_open_job(job).run(numbers))

        return join_writes([*kept, *read_results(engine.run_shares(len(again), work))])


def keep_provisional(order: WriteOrder) -> tuple[list[TypedWrite], dict[FilePart, AbstractSet[TableName] | None]]:
    """Return the provisional rows that count, and which tables of which changes files must still be typed.

    None means all of them. Rows that do not count are removed.
    """
    kept: list[TypedWrite] = []
    again: dict[FilePart, AbstractSet[TableName] | None] = dict.fromkeys(order.changes)
    for one in order.provisional:
        outdated = one.outdated(order.layouts)
        gone = {name.text for name in outdated}
        remove_parts(order.place, [part for part in one.write.parts if part.table in gone])
        kept.append(one.write.without(gone))
        for part in one.changes:
            if outdated:
                again[part] = outdated
            else:
                del again[part]
    return kept, again


@dataclass(frozen=True)
class WriteJob:
    """What the tasks of a write share; `wanted` says of which tables the rows of a file are typed, None is all."""

    place: SinkPlace
    changes: tuple[FilePart, ...]
    layouts: Mapping[TableName, TableLayout]
    above: str = TABLES
    wanted: Mapping[FilePart, AbstractSet[TableName] | None] = field(default_factory=dict)
    families: TableFamilies = NO_FAMILIES

    def run(self, numbers: Iterable[int]) -> TypedWrite:
        """Type the rows of some changes files; if that fails, no files are left."""
        files = TypedFiles(self.place, self.layouts.__getitem__, self.above, attempt_name(), families=self.families)
        try:
            for number in numbers:
                part = self.changes[number]
                wanted = self.wanted.get(part)
                for changes in read_part(self.place, part, TYPED_FROM):
                    files.add(changes, wanted)
            return files.close()
        except BaseException:
            files.discard()
            raise


@lru_cache(maxsize=2)
def _open_job(job: bytes) -> WriteJob:
    found: WriteJob = pickle.loads(job)  # noqa: S301  our own bytes
    return found
