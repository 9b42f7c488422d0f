"""Run directory: the runs of an output directory, which are finished, and which files count.

    DIR/{changes,control,quarantine,replayed,ledger,repeats}/run=<id>/part-*.parquet
                                                                                 files of all attempts, counted or not
    DIR/tables/<database>.<table>/run=<id>/part-*.parquet                        typed rows, if kept as Parquet
    DIR/_reports/<id>.json                                                       what the run found
    DIR/_begun/<id>.json                                                         what a run or a replay reads, till it
                                                                                 is done
    DIR/_runs/<id>.json                                                          written last: what counts

Readers trust `_runs` only. A retried task writes files under new names; files that no record names are removed when the
run is finished, but not those of other runs: another process may be writing them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Final

from msgspec.structs import astuple
from pyarrow import fs

from cdc_contracts.registry.core.common.errors import UnavailableError
from cdc_contracts.registry.core.report.audit_report import Span
from cdc_contracts.registry.core.report.report_model import Report
from cdc_contracts.registry.core.report.stored_reports import read_document, write_document
from cdc_contracts.registry.core.stats.observed_columns import TableName
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.spark_checks.engines.repeat_search import REPEATS
from cdc_contracts.spark_checks.files.file_sinks import TABLES, SinkPlace, check_whole, table_folder
from cdc_contracts.spark_checks.files.folders import Folder
from cdc_contracts.spark_checks.runs.deduplicated_changes import UNREPEATED
from cdc_contracts.spark_checks.runs.finished_runs import RUNS, PastRun, PastRuns
from cdc_contracts.spark_checks.runs.intent_log import BEGUN, IntentLog
from cdc_contracts.spark_checks.runs.run_records import RunRecord, read_record, write_record
from cdc_contracts.spark_checks.tables.table_formats import PARQUET
from cdc_contracts.spark_checks.tables.typed_tables import WriteKey

OUTPUTS: Final = ("changes", "control", "quarantine", "replayed", "ledger", REPEATS, UNREPEATED)
REPORTS: Final = "_reports"


class RunDirectory:
    """The runs of an output directory; caches summaries of finished runs."""

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self._folder = Folder(directory)
        self._past: dict[tuple[str, int, Any], PastRun] = {}
        self.begun = IntentLog(directory, self._folder, self.past)

    @property
    def root(self) -> str:
        """The directory as every worker can open it: a local one by its absolute path."""
        return self._folder.root if self._folder.local else self.directory

    def records(self) -> Iterator[RunRecord]:
        """Yield the records of all finished runs that none has replaced, in order of their ids.

        Raises UnavailableError if there is none.
        """
        finished = self.past()
        if not finished:
            raise UnavailableError("no finished run of `decode` there", where=self.directory)
        for past in finished:
            found = self._record(past.run)
            if found is not None:
                yield found

    def find(self, run: str, among: PastRuns | None = None) -> RunRecord | None:
        """Return the record of a run, None if it is not finished or has been replaced.

        `among` are the finished runs where they are known already.
        """
        known = self.past() if among is None else among
        return self._record(run) if run in known.names else None

    def report(self, run: str) -> Report | None:
        """Return the report of a finished run, None if there is none.

        Raises UsageError if the file is not a report, or is from a newer release.
        """
        path = f"{REPORTS}/{run}.json"
        document = self._folder.read_document(path)
        return None if document is None else read_document(document, f"{self.directory}/{path}")

    def finished(self, run: str, among: PastRuns | None = None) -> tuple[RunRecord, Report] | None:
        """Return the record and the report of a finished run; otherwise, and if one of them is gone, None.

        Raises UsageError if the file of the report is not one, or is from a newer release, and UnavailableError if a
        file of the run is incomplete.
        """
        record = self.find(run, among)
        report = None if record is None else self.report(run)
        if record is None or report is None:
            return None
        for part in record.all_files:
            check_whole(self._folder, part.path, part.size, where=f"{self.directory}/{part.path}", whose=f"run {run}")
        return record, report

    def past(self) -> PastRuns:
        """Return the runs that are finished now; records read before are not read again."""
        known, self._past = self._past, {}
        for entry in self._listing(RUNS):
            key = entry.base_name, entry.size, entry.mtime_ns
            if key in known:
                self._past[key] = known[key]
            elif (record := self._record(entry.base_name.removesuffix(".json"))) is not None:
                self._past[key] = PastRun.of(record)
        return PastRuns(past for past in self._past.values() if past.attempt not in self._replaced())

    def commit(
        self,
        record: RunRecord,
        report: Report,
        *,
        replaced: Collection[str] = (),
        check: Callable[[PastRuns], None] | None = None,
    ) -> None:
        """Publish a run: write its record last, then remove files that no record names any more.

        `check` raises if runs that have finished meanwhile conflict with it.
        Raises UnavailableError if another process has published some of the same records meanwhile, or has removed
        a file of this run because it publishes the same run.
        """
        with self._folder.locked(RUNS):
            past = self.past()
            if record.replay is None:
                past.check_unread(record.run, record.spans, self.directory, without=replaced)
            if check is not None:
                check(past)
            self._publish(record, report, replaced)

    def _publish(self, record: RunRecord, report: Report, replaced: Collection[str]) -> None:
        # Otherwise nothing would mark them as replaced once the record that does so is overwritten.
        self._remove_replaced()
        before = self._record(record.run)
        self._finalize_files(record)
        self._folder.write_document(f"{REPORTS}/{record.run}.json", write_document(report))
        self._folder.write_document(f"{RUNS}/{record.run}.json", write_record(record))
        for run in replaced:
            self._remove_run(run)
        self.objects(record)
        self.begun.forget(record.run)
        if before is not None:
            self._remove(before.paths - record.paths)

    def tidy_finished(self, run: str) -> None:
        """Do what `objects` does, if the run is finished, while no other process publishes it afresh."""
        with self._folder.locked(RUNS):
            record = self._record(run)
            if record is not None:
                self.objects(record)

    def objects(self, record: RunRecord) -> None:
        """Remove files left by killed attempts at a finished run, and the runs it replaces."""
        kept = record.paths
        for folder in {*map(_folder, kept), *(f"{one}/run={record.run}" for one in (*OUTPUTS, *_without_rows(record)))}:
            self._remove(self._files(folder) - kept)
            self._folder.remove_if_empty(folder)
        if record.replaces:
            self.past()
            self._remove_replaced()

    def discard(self, place: SinkPlace) -> None:
        """Remove the files that this attempt at a run has written.

        Files that the record of the run names stay: an attempt may be stopped after it was published.
        """
        known = self._record(place.run)
        kept = known.paths if known is not None else set()
        tables = [f"{TABLES}/{name}" for name in self._folder.folders(TABLES)]
        for folder in map(place.folder, [*OUTPUTS, *tables]):
            own = {path for path in self._files(folder) if path.endswith(f"-{place.token}.parquet")}
            self._remove(own - kept)
            self._folder.remove_if_empty(folder)

    def _finalize_files(self, record: RunRecord) -> None:
        """Make sure that the files of a record exist, are complete, and are durable."""
        for part in record.all_files:
            if not self._folder.holds(part.path, part.size):
                raise UnavailableError(
                    "a file that this run wrote is missing: another process may have written the same run",
                    where=f"{self.directory}/{part.path}",
                    hint="Run the command again.",
                )
        for folder in {above for one in record.folders for above in _ancestors(one)}:
            self._folder.bring_to_disk(folder)

    def _replaced(self) -> set[str]:
        """The attempts that others have replaced: one that was killed in between may have left their records."""
        return {attempt for past in self._past.values() for attempt in past.replaces}

    def _remove_replaced(self) -> None:
        gone = self._replaced()
        for past in [one for one in self._past.values() if one.attempt in gone]:
            self._remove_run(past.run)

    def _remove_run(self, run: str) -> None:
        """Remove a replaced run: its record first, so that no record names missing files."""
        record = self._record(run)
        if record is not None:
            self._remove({f"{RUNS}/{run}.json"})
            self._remove({*record.paths, f"{REPORTS}/{run}.json"})

    def _remove(self, paths: Collection[str]) -> None:
        """Remove files, if they exist, and folders that become empty."""
        self._folder.remove(paths)
        for folder in {_folder(path) for path in paths} - {RUNS, REPORTS, BEGUN}:
            self._folder.remove_if_empty(folder)

    def _listing(self, folder: str) -> list[fs.FileInfo]:
        return [entry for entry in self._folder.files(folder) if entry.base_name.endswith(".json")]

    def _record(self, run: str) -> RunRecord | None:
        path = f"{RUNS}/{run}.json"
        document = self._folder.read_document(path)
        if document is None:
            return None
        record = read_record(document, f"{self.directory}/{path}")
        if record.run != run:
            raise UnavailableError(
                f"this is a copy of the record of run {record.run}",
                where=f"{self.directory}/{path}",
                hint="Remove it, or move it elsewhere: otherwise the rows of the run would count twice.",
            )
        return record

    def _files(self, folder: str) -> set[str]:
        return {f"{folder}/{entry.base_name}" for entry in self._folder.files(folder)}


def _without_rows(record: RunRecord) -> list[str]:
    """Return the folders of tables of which an attempt may have left rows, and the run has none."""
    if record.table_format != PARQUET:
        return []
    return [table_folder(TableName(*astuple(one.layout.name))) for one in record.tables if not one.files]


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _ancestors(folder: str) -> Iterator[str]:
    """Yield a folder and its parents, up to the output directory."""
    yield folder
    if folder:
        yield from _ancestors(_folder(folder))


def name_run(spans: Mapping[Source, Span], fingerprint: str, topics: Mapping[str, str]) -> str:
    """Return the name of a run over a range; `fingerprint` is that of its contract and reading options.

    `topics` are the broker's ids of the topics, if it provides them: a recreated topic is another one.
    """
    ranges = [word for source, span in sorted(spans.items()) for word in (*source, span.start, span.end)]
    return _digest([*ranges, *chain.from_iterable(sorted(topics.items())), fingerprint])


def name_batch(key: WriteKey) -> str:
    """Return the name of a batch of a stream, which depends on query and batch number, not on its range."""
    return _digest([key.writer, key.number])


def name_replay(waiting: Iterable[str], topics: Iterable[str], fingerprint: str) -> str:
    """Return the name of a replay, which depends on the runs with quarantined records and the requested topics."""
    return _digest(["quarantine", *waiting, *topics, fingerprint])


def _digest(words: Iterable[object]) -> str:
    return hashlib.sha256("\n".join(map(str, words)).encode()).hexdigest()[:16]
