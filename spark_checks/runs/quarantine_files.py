"""Quarantine files: the quarantined records of finished runs in a directory that no replay has decoded."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import UNSET

from cdc_contracts.registry.core.common.errors import UnavailableError, UsageError
from cdc_contracts.registry.core.records.sample_windows import Window
from cdc_contracts.registry.core.report.audit_report import Span
from cdc_contracts.registry.core.report.report_model import ReportSource
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.tables.canonical.table_layouts import NESTED
from cdc_contracts.spark_checks.files.file_sinks import check_whole
from cdc_contracts.spark_checks.files.folders import Folder
from cdc_contracts.spark_checks.files.part_files import read_columns
from cdc_contracts.spark_checks.kafka.offsets import bounds_of, by_topic, report_ranges
from cdc_contracts.spark_checks.runs.intent_log import LoggedIntent, LoggedReplay
from cdc_contracts.spark_checks.runs.run_directory import RunDirectory, name_replay
from cdc_contracts.spark_checks.runs.run_records import RecordedReplay, RunRecord
from cdc_contracts.spark_checks.spark.cluster_workers import count_slots
from cdc_contracts.spark_checks.tasks.record_coordinates import COORDINATES, Known, gather_coordinates, leave_out
from cdc_contracts.spark_checks.tasks.task_shares import collect_results, hand_out

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

    from cdc_contracts.spark_checks.engines.engines import Engine
    from cdc_contracts.spark_checks.tasks.spark_tasks import Work

_AS_READ: Final = {"kafka_timestamp": "timestamp", "timestamp_type": "timestampType"}
_COLUMNS: Final = ("key", "value", *COORDINATES, "headers", *_AS_READ)
_BATCH_ROWS: Final = 8_192


@dataclass(frozen=True, order=True)
class QuarantineFile:
    """A file of records or of coordinates, written by a run."""

    run: str
    path: str
    size: int


@dataclass(frozen=True)
class QuarantineFiles:
    """The files of quarantined records, and of the coordinates of those that replays have decoded.

    `topics` are those that the runs have read. `redacted` counts by run the records of which only shapes are stored;
    `formats` are those of the runs' tables, `schemas` the catalog schemas of the tables, None for the directory;
    `current` means that there are tables of current rows, `drops` that repeats are left out of the tables, `changes`
    that the runs keep `changes/`; `shape` is that of the rows of their tables. `begun` is the logged intent of an
    unfinished replay.
    """

    files: tuple[QuarantineFile, ...]
    replayed: tuple[QuarantineFile, ...]
    topics: frozenset[str]
    redacted: Mapping[str, int]
    formats: frozenset[str]
    schemas: frozenset[str | None]
    current: bool
    drops: bool
    changes: bool = True
    shape: str = NESTED
    begun: LoggedIntent | None = None

    @property
    def table_format(self) -> str:
        """The format of the typed tables. Raises UsageError if there are several."""
        if len(self.formats) > 1:
            raise UsageError(
                f"the runs keep their tables in several formats: {', '.join(sorted(self.formats))}",
                hint="Decode the ranges of one of them again, into a directory of its own.",
            )
        return next(iter(self.formats))

    def find_schema(self, wanted: str | None) -> str | None:
        """Return the schema that the typed tables are in, None for the directory; old runs do not record it.

        Raises UsageError if they are in several, or not in the requested one.
        """
        if len(self.schemas) > 1:
            raise UsageError(
                f"the runs keep their tables in several places: {', '.join(sorted(map(_name_schema, self.schemas)))}",
                hint="Decode the ranges of one of them again, into a directory of its own.",
            )
        known = next(iter(self.schemas), wanted)
        if wanted not in (None, known):
            raise UsageError(
                f"the runs keep their tables in {_name_schema(known)}, not in {wanted}",
                hint="Leave out --to: rows are written to where the earlier ones are.",
            )
        return known

    def check_topics(self, wanted: Iterable[str], directory: str) -> None:
        """Raise UsageError if no run has read one of these topics."""
        for topic in wanted:
            if topic not in self.topics:
                near = difflib.get_close_matches(topic, sorted(self.topics), 3, 0)
                raise UsageError(
                    f"no run there has read topic {topic}", where=directory, hint=f"Near it are: {', '.join(near)}."
                )


def list_quarantine(runs: RunDirectory) -> QuarantineFiles:
    """Return the quarantine files of the finished runs of a directory. Raises UnavailableError if there are no runs."""
    files: list[QuarantineFile] = []
    replayed: list[QuarantineFile] = []
    redacted: dict[str, int] = {}
    topics: set[str] = set()
    formats: set[str] = set()
    schemas: set[str | None] = set()
    current = drops = False
    changes, shape = True, NESTED
    for record in runs.records():
        topics |= {one.topic for one in record.ranges}
        formats.add(record.table_format)
        if record.table_schema is not UNSET:
            schemas.add(record.table_schema)
        current = (
            current or record.current or any(one.commit and one.commit.current is not UNSET for one in record.tables)
        )
        dropped = record.repeats.dropped > 0 if record.drops_repeats is UNSET else record.drops_repeats
        drops = drops or dropped
        changes, shape = changes and record.keeps_changes, record.shape
        if record.replay is not None:
            replayed += _files(record, "replayed")
        elif record.redacted and record.counts["quarantined"]:
            redacted[record.run] = record.counts["quarantined"]
        else:
            files += _files(record, "quarantine")
    return QuarantineFiles(
        tuple(sorted(files)), tuple(sorted(replayed)), frozenset(topics), redacted, frozenset(formats),
        frozenset(schemas), current, drops, changes, shape, runs.begun.replay(),
    )  # fmt: skip


@dataclass(frozen=True)
class QuarantineInput:
    """The quarantined records of a directory that are not decoded yet; `waiting` counts them by run."""

    directory: str
    root: str
    files: tuple[QuarantineFile, ...]
    replayed: tuple[QuarantineFile, ...]
    spans: Mapping[Source, Span]
    waiting: Mapping[str, int]
    topics: tuple[str, ...]
    tasks: int | None = None
    begun: str | None = None
    """The replay that was begun over just this, and is not finished."""
    sample: None = None

    def slices(self) -> None:
        return None

    @property
    def idle(self) -> dict[Source, Span]:
        return {}

    @property
    def records(self) -> int:
        """The number of records to replay."""
        return sum(self.waiting.values())

    @property
    def read_topics(self) -> list[str]:
        """The topics of the records."""
        return sorted({source.topic for source in self.spans})

    def topic_ids(self, engine: Engine) -> dict[str, str]:
        return {}  # the records of the runs that read the topics have their ids

    def pieces(self, offsets: int | None = None) -> list[QuarantineInput]:
        return [self]

    def describe(self, tally: Tally, spans: Mapping[Source, Span]) -> ReportSource:
        ranges = report_ranges(by_topic(bounds_of(dict(sorted(self.spans.items())))))
        return ReportSource(
            kind="quarantine",
            directory=self.directory,
            runs=len(self.waiting),
            topics=tuple(ranges),
            ranges=ranges,
            blank_lines=0,
        )

    def run(self, session: SparkSession, work: Work, schema: str, *, mergeable: bool = False) -> list[Row]:
        tasks = min(self.tasks or count_slots(session), len(self.files))
        groups = [self.files[number::tasks] for number in range(tasks)]
        read = self._read

        def read_and_work(numbers: Iterator[int]) -> Iterator[pa.RecordBatch]:
            return work(records for number in numbers for records in read(groups[number]))

        frame = hand_out(session, len(groups), read_and_work, schema)
        return collect_results(frame, len(groups), mergeable=mergeable)

    def batches(self) -> Iterator[pa.RecordBatch]:
        yield from self._read(self.files)

    def in_order(self) -> Iterator[pa.RecordBatch]:
        return self.batches()

    def peek(
        self, engine: Engine, most: int, within: Mapping[Source, Window] | None = None
    ) -> Iterator[pa.RecordBatch]:
        # Quarantined records have gaps everywhere, so that windows of offsets would tell nothing more.
        step = max(1, -(-self.records // most))
        for batch in self.batches():
            yield batch.take(pa.array(range(0, batch.num_rows, step), pa.int64()))

    def _read(self, files: Sequence[QuarantineFile]) -> Iterator[pa.RecordBatch]:
        """Yield the records of files with the columns of a source, without those already decoded."""
        known = _read_coordinates(self.root, self.replayed)
        for file in files:
            for rows in _rows_of(self.root, file, _COLUMNS):
                left = _waiting(rows, known, self.topics)
                yield left.rename_columns([_AS_READ.get(name, name) for name in left.schema.names])


def open_quarantine(
    runs: RunDirectory, found: QuarantineFiles, topics: Sequence[str] = (), *, tasks: int | None = None
) -> QuarantineInput:
    """Return the quarantined records to replay, of these topics or of all; their files are listed before validation.

    If a replay was begun and not finished, these are the records that it has read, so that the result is the same.
    Raises UnavailableError if a file of a finished run is lost, or only shapes are stored.
    """
    if found.redacted and not found.files:
        run = next(iter(found.redacted))
        raise UnavailableError(
            f"the quarantine of run {run} keeps shapes only (--redact-quarantine): there is no record to decode",
            where=runs.directory,
            hint="Decode its range again from where it was read, with --replace or into another directory.",
        )
    begun = found.begun
    if begun is not None and begun.replay:
        noted = begun.replay
        files = tuple(file for file in found.files if file.run in noted.of)
        replayed = tuple(file for file in found.replayed if file.run in noted.after)
        found, topics = replace(found, files=files, replayed=replayed), noted.topics
    known = _read_coordinates(runs.root, found.replayed)
    ends: dict[Source, tuple[int, int]] = {}
    counts: Counter[Source] = Counter()
    waiting: Counter[str] = Counter()
    for file in found.files:
        for rows in _rows_of(runs.root, file, COORDINATES):
            left = _waiting(rows, known, topics)
            waiting[file.run] += left.num_rows
            for place, offsets in gather_coordinates([left]).items():
                source = Source(*place)
                low, high = ends.get(source, (int(offsets[0]), int(offsets[-1])))
                ends[source] = min(low, int(offsets[0])), max(high, int(offsets[-1]))
                counts[source] += len(offsets)
    spans = {
        source: Span(low, high + 1, high + 1 - low - counts[source]) for source, (low, high) in sorted(ends.items())
    }
    files = tuple(file for file in found.files if waiting[file.run])
    return QuarantineInput(
        directory=runs.directory, root=runs.root, files=files, replayed=found.replayed, spans=spans,
        waiting=dict(sorted((+waiting).items())), topics=tuple(topics), tasks=tasks,
        begun=begun.run if begun is not None else None,
    )  # fmt: skip


def begin_replay(runs: RunDirectory, source: QuarantineInput, fingerprint: str, *, undoable: bool) -> str:
    """Return the name of a replay, the same for the same quarantined runs validated against the same contract.

    One whose writes cannot be undone is noted in the intent log first. Raises UnavailableError if another replay of the
    directory is unfinished.
    """
    run = name_replay(source.waiting, source.topics, fingerprint)
    if not undoable and runs.find(run) is None:
        after = tuple(sorted({file.run for file in source.replayed}))
        noted = LoggedReplay(of=tuple(source.waiting), after=after, topics=source.topics)
        runs.begun.add_replay(run, noted, partial(check_quarantine, runs, source))
    return run


def record_replay(source: QuarantineInput, tally: Tally) -> RecordedReplay:
    """Return what the record of a run says of the quarantine that it read."""
    counts = tally.partitions.values()
    return RecordedReplay(
        of=tuple(source.waiting),
        validated=sum(one.read for one in counts),
        replayed=sum(one.read - one.quarantined for one in counts),
    )


def check_quarantine(runs: RunDirectory, source: QuarantineInput) -> None:
    """Raise UnavailableError if the quarantine of a directory has changed since it was listed."""
    found = list_quarantine(runs)
    if found.replayed != source.replayed or not {*source.files} <= {*found.files}:
        raise UnavailableError(
            "another run has changed what is in quarantine since this replay began",
            where=runs.directory,
            hint="Run the command again.",
        )


def _name_schema(schema: str | None) -> str:
    return "the directory" if schema is None else f"table:{schema}"


def _waiting(rows: pa.RecordBatch, known: Known, topics: Sequence[str]) -> pa.RecordBatch:
    left = leave_out(rows, known)
    return left.filter(pc.is_in(left.column("topic"), pa.array(topics, pa.string()))) if topics else left


def _read_coordinates(root: str, files: Iterable[QuarantineFile]) -> Known:
    return gather_coordinates(rows for file in files for rows in _rows_of(root, file, COORDINATES))


def _rows_of(root: str, file: QuarantineFile, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Yield columns of a file, in this order."""
    folder = Folder(root)
    path = f"{folder.root}/{file.path}"
    check_whole(folder, file.path, file.size, where=path, whose=f"run {file.run}")
    yield from read_columns(folder.filesystem, path, columns, most=_BATCH_ROWS)


def _files(record: RunRecord, table: str) -> list[QuarantineFile]:
    return [QuarantineFile(record.run, one.path, one.size) for one in record.files_of(table)]
