"""Intent log: the range of a run is recorded before it writes to tables whose writes cannot be undone.

Until such a run is finished, some of its rows may be in tables, and only a repetition of the run can tell which.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from typing import Final

import msgspec
from msgspec import UNSET, Struct, field

from cdc_contracts.registry.core.common.errors import UnavailableError
from cdc_contracts.registry.core.common.written_models import Sometimes
from cdc_contracts.registry.core.contract.table_families import TableFamilies
from cdc_contracts.registry.core.report.audit_report import Span
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.tables.canonical.table_layouts import NESTED
from cdc_contracts.spark_checks.files.folders import Folder
from cdc_contracts.spark_checks.kafka.offsets import describe_spans
from cdc_contracts.spark_checks.kafka.topic_ids import is_file
from cdc_contracts.spark_checks.runs.finished_runs import RUNS, PastRuns
from cdc_contracts.spark_checks.runs.run_records import (
    RecordedBatch,
    RecordedRange,
    overlap,
    read_ranges,
)
from cdc_contracts.spark_checks.tables.table_formats import WriteMode

BEGUN: Final = "_begun"


class LoggedReplay(Struct, frozen=True):
    """The input of a replay: the runs whose quarantine it reads, the replays before it, and the topics."""

    of: tuple[str, ...]
    after: tuple[str, ...]
    topics: tuple[str, ...]


class LoggedIntent(Struct, frozen=True, kw_only=True):
    """An intent in the log, of a run or of a `replay`. Earlier releases recorded less about a run."""

    run: str
    contract: Sometimes[str] = UNSET
    stream: Sometimes[RecordedBatch | None] = UNSET
    topics: Sometimes[dict[str, str]] = UNSET
    ranges: Sometimes[tuple[RecordedRange, ...]] = field(name="range", default=UNSET)
    drops_repeats: Sometimes[bool] = UNSET
    compared: Sometimes[tuple[str, ...]] = UNSET
    table_format: Sometimes[str] = UNSET
    table_schema: Sometimes[str | None] = UNSET
    table_layout: Sometimes[str] = UNSET
    current: Sometimes[bool] = UNSET
    families: Sometimes[dict[str, str]] = UNSET
    replay: Sometimes[LoggedReplay] = UNSET

    @property
    def spans(self) -> dict[Source, Span]:
        """What the run reads of each partition."""
        return read_ranges(self.ranges or ())

    @property
    def write_mode(self) -> WriteMode | None:
        """How the run writes; earlier releases did not record it, nor do replays, which write like the runs."""
        if not self.table_format:
            return None
        return WriteMode(
            self.table_format, self.table_schema or None, bool(self.current), shape=self.table_layout or NESTED
        )


class IntentLog:
    """The intents of the unfinished runs of an output directory; `finished` lists the finished runs."""

    def __init__(self, directory: str, folder: Folder, finished: Callable[[], PastRuns]) -> None:
        self._directory = directory
        self._folder = folder
        self._finished = finished

    def notes(self, past: PastRuns | None = None) -> list[LoggedIntent]:
        """Return the intents of unfinished runs; those of finished runs are removed.

        `past` are the finished runs, if they are known already.
        """
        paths = [f"{BEGUN}/{entry.base_name}" for entry in self._folder.files(BEGUN)]
        found = [note for path in paths if path.endswith(".json") and (note := self._read(path))]
        finished = (self._finished() if past is None else past).names if found else frozenset()
        for note in found:
            if note.run in finished:
                self.forget(note.run)
        return [note for note in found if note.run not in finished]

    def replay(self) -> LoggedIntent | None:
        """Return the intent of an unfinished replay, None if there is none."""
        return next((note for note in self.notes() if note.replay), None)

    def add(self, begun: LoggedIntent) -> None:
        """Record the intent of a run before its first write that cannot be undone.

        Raises UnavailableError if it conflicts with other runs: as `check_cut_off`, `check_topics` and
        `check_write_mode` do, and if a finished run has read some of the same records.
        """
        with self._folder.locked(RUNS):
            finished = self._finished()
            self.check_cut_off(begun.run, begun.spans)
            self.check_topics(begun.topics or {}, finished, without=[begun.run])
            self.check_write_mode(begun.write_mode or WriteMode(), finished)
            finished.check_unread(begun.run, begun.spans, self._directory)
            if self.find(begun.run) is None:  # the runs it was first compared with remain the right ones for its rows
                self._note(begun)

    def find(self, run: str) -> LoggedIntent | None:
        """Return the intent of an unfinished run, None if there is none."""
        return self._read(f"{BEGUN}/{run}.json")

    def add_replay(self, run: str, noted: LoggedReplay, check: Callable[[], None]) -> None:
        """Record the intent of a replay before its first write that cannot be undone.

        `check` raises if the quarantine has changed since the replay listed it.
        Raises UnavailableError if another replay is unfinished.
        """
        with self._folder.locked(RUNS):
            other = next((note.run for note in self.notes() if note.replay and note.run != run), None)
            if other is not None:
                raise UnavailableError(
                    f"replay {other} with another contract was started and not finished, or is still running: some "
                    "of its rows may be in tables",
                    where=self._directory,
                    hint="Replay with the contract and table contracts of that time first, then with these.",
                )
            check()
            self._note(LoggedIntent(run=run, replay=noted))

    def forget(self, run: str) -> None:
        """Remove the intent of a run, if there is one."""
        self._folder.remove([f"{BEGUN}/{run}.json"])

    def check_cut_off(self, run: str, spans: Mapping[Source, Span]) -> None:
        """Raise UnavailableError if an interrupted run has read some of the same records.

        Some of its rows may be in tables, and only a repetition of that run can tell which. Replays do not conflict:
        only they read quarantine files.
        """
        for note in self.notes():
            if not note.replay and note.run != run and overlap(note.spans, spans):
                raise UnavailableError(
                    f"run {note.run} was interrupted, or is still running, and has read some of these records: "
                    "some of its rows may be in tables",
                    where=self._directory,
                    hint=_how_to_finish(note),
                )

    def check_repeats(self, run: str, *, dropped: bool) -> None:
        """Raise UnavailableError if an unfinished run treats repeated rows differently."""
        known = self.find(run)
        kept = dropped if known is None or known.drops_repeats is UNSET else known.drops_repeats
        if kept != dropped:
            raise UnavailableError(
                f"run {run} was interrupted, and was started {'with' if kept else 'without'} --drop-duplicates: some "
                "of its rows may be in tables",
                where=self._directory,
                hint=f"Continue {'with' if kept else 'without'} it.",
            )

    def check_families(self, run: str, families: TableFamilies) -> None:
        """Raise UnavailableError if an unfinished run has other families of sharded tables."""
        known = self.find(run)
        if known is not None and not known.replay and (known.families or {}) != families.patterns:
            said = f"with `families: {json.dumps(known.families)}`" if known.families else "without `families`"
            raise UnavailableError(
                f"run {run} was interrupted, and was started {said}: some of its rows may be in other tables",
                where=self._directory,
                hint=f"Continue {said} in cdc-contracts.yaml.",
            )

    def comparable(self, run: str, past: PastRuns) -> PastRuns:
        """Return the finished runs to compare rows of a run with: those at its first start, if it was begun before."""
        known = self.find(run)
        if known is None or known.compared is UNSET:
            return past
        compared = known.compared
        return PastRuns(one for one in past if one.run in compared)

    def check_topics(self, topics: Mapping[str, str], past: PastRuns, *, without: Collection[str] = ()) -> None:
        """Raise UnavailableError if another run has read other topics of the same names; some runs are excepted.

        The same offsets mean other records there, and readers of the rows could not distinguish them.
        """
        begun = ((note.run, note.topics or {}) for note in self.notes(past))
        for run, known in [*((one.run, one.topics) for one in past), *begun]:
            others = sorted(name for name, identity in topics.items() if known.get(name, identity) != identity)
            if not others or run in without:
                continue
            if is_file(topics[others[0]]):
                raise UnavailableError(
                    f"{', '.join(others)} is not the file that run {run} read: its first message is another one",
                    where=self._directory,
                    hint="Rename it, or decode it into another directory: its lines mean other messages.",
                )
            raise UnavailableError(
                f"{', '.join(others)} is not the topic that run {run} read: it was deleted and recreated "
                "since, or belongs to another cluster",
                where=self._directory,
                hint="Decode it into another directory: its offsets mean other records.",
            )

    def check_write_mode(self, write_mode: WriteMode, past: PastRuns) -> None:
        """Raise UnavailableError if other runs, finished or not, write their tables differently."""
        for one in past:
            one.write_mode.check(write_mode, one.run, self._directory)
        for note in self.notes(past):
            if note.write_mode is not None:
                note.write_mode.check(write_mode, note.run, self._directory)

    def _note(self, intent: LoggedIntent) -> None:
        self._folder.write_document(f"{BEGUN}/{intent.run}.json", msgspec.to_builtins(intent))

    def _read(self, path: str) -> LoggedIntent | None:
        """Return the intent in a file. Raises UnavailableError if it is not an intent."""
        document = self._folder.read_document(path)
        try:
            return None if document is None else msgspec.convert(document, LoggedIntent)
        except (msgspec.ValidationError, UnicodeError) as error:
            raise UnavailableError(
                f"this is not an intent record: {error}",
                where=f"{self._directory}/{path}",
                hint="Use the release that wrote it, or another directory.",
            ) from error


def _how_to_finish(note: LoggedIntent) -> str:
    """Return a hint how to finish an interrupted run: repeat it."""
    if note.stream:
        return "Start the stream again with the checkpoint it had, or decode into another directory."
    return (
        f"Decode {describe_spans(note.spans)} under {note.contract} first, with the table contracts and options it had."
    )
