"""Intent log: what a run reads is recorded before it writes where writes cannot be undone.

As long as such a run is not finished, some of its rows may be in tables, and only the same run again knows which.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from cdc_contracts.registry.common.errors import UnavailableError
from cdc_contracts.registry.report.audit_report import Span
from cdc_contracts.registry.stats.partition_tallies import Source
from cdc_contracts.spark_checks.folders import Folder
from cdc_contracts.spark_checks.kafka.offsets import bounds_of, by_topic, range_words
from cdc_contracts.spark_checks.runs.finished_runs import RUNS, PastRuns
from cdc_contracts.spark_checks.runs.run_records import RecordedRange, overlap, read_ranges, write_ranges, write_stream
from cdc_contracts.spark_checks.runs.write_modes import WriteMode
from cdc_contracts.spark_checks.tables.typed_tables import WriteKey

BEGUN: Final = "_begun"


@dataclass(frozen=True)
class Intent:
    """The intent of a run: what it validates against, what it reads, and how it writes.

    `key` is given for a batch of a stream. `compared` are the finished runs that its rows were compared with, to find
    those that repeat others.
    """

    run: str
    contract: str
    key: WriteKey | None
    spans: Mapping[Source, Span]
    topics: Mapping[str, str]
    write_mode: WriteMode
    drops_repeats: bool = False
    compared: frozenset[str] = frozenset()

    def as_document(self) -> dict[str, Any]:
        return {
            "contract": self.contract,
            "stream": msgspec.to_builtins(write_stream(self.key)),
            "topics": dict(self.topics),
            "range": msgspec.to_builtins(write_ranges(self.spans)),
            "drops_repeats": self.drops_repeats,
            "compared": sorted(self.compared),
            **self.write_mode.as_document(),
        }


class IntentLog:
    """The intents of runs of an output directory that are not finished; `finished` lists finished runs."""

    def __init__(self, directory: str, folder: Folder, finished: Callable[[], PastRuns]) -> None:
        self._directory = directory
        self._folder = folder
        self._finished = finished

    def notes(self, past: PastRuns | None = None) -> list[dict[str, Any]]:
        """Return the intents of runs that are not finished; those of finished ones are removed.

        `past` are the finished runs where they are known already.
        """
        paths = [f"{BEGUN}/{entry.base_name}" for entry in self._folder.files(BEGUN)]
        found = [note for path in paths if path.endswith(".json") and (note := self._folder.read_document(path))]
        finished = (self._finished() if past is None else past).names if found else frozenset()
        for note in found:
            if note["run"] in finished:
                self.forget(note["run"])
        return [note for note in found if note["run"] not in finished]

    def replay(self) -> dict[str, Any] | None:
        """Return the intent of a replay that is not finished, None where there is none."""
        return next((note for note in self.notes() if "replay" in note), None)

    def add(self, begun: Intent) -> None:
        """Record what a run reads and how it writes, before it writes where writes cannot be undone.

        Raises UnavailableError where others were first: as `check_cut_off`, `check_topics` and `check_write_mode` do,
        and where a finished run has read some of the same records.
        """
        with self._folder.locked(RUNS):
            finished = self._finished()
            self.check_cut_off(begun.run, begun.spans)
            self.check_topics(begun.topics, finished, without=[begun.run])
            self.check_write_mode(begun.write_mode, finished)
            finished.check_unread(begun.run, begun.spans, self._directory)
            if self.find(begun.run) is None:  # what it was compared with when it began stays true of its rows
                self._note(begun.run, begun.as_document())

    def find(self, run: str) -> dict[str, Any] | None:
        """Return the intent of a run that is not finished, None where it was not begun."""
        return self._folder.read_document(f"{BEGUN}/{run}.json")

    def add_replay(self, run: str, noted: Mapping[str, Any], check: Callable[[], None]) -> None:
        """Record what a replay reads, before it writes where writes cannot be undone.

        `check` raises where the quarantine is not what the replay has found.
        Raises UnavailableError where another was begun and is not finished.
        """
        with self._folder.locked(RUNS):
            other = next((note["run"] for note in self.notes() if "replay" in note and note["run"] != run), None)
            if other is not None:
                raise UnavailableError(
                    f"replay {other} with another contract was started and not finished, or is still running: some "
                    "of its rows may be in tables",
                    where=self._directory,
                    hint="replay with the contract and table contracts of that time first, then with these",
                )
            check()
            self._note(run, {"replay": dict(noted)})

    def forget(self, run: str) -> None:
        """Remove the intent of a run, if there is one."""
        self._folder.remove([f"{BEGUN}/{run}.json"])

    def check_cut_off(self, run: str, spans: Mapping[Source, Span]) -> None:
        """Raise UnavailableError where an interrupted run has read some of the same records.

        Some of its rows may be in tables, and only the same run again knows which. A replay reads quarantine files, and
        nobody else does.
        """
        for note in self.notes():
            if "replay" not in note and note["run"] != run and overlap(_spans_of(note), spans):
                raise UnavailableError(
                    f"run {note['run']} was interrupted, or is still running, and has read some of these records: "
                    "some of its rows may be in tables",
                    where=self._directory,
                    hint=_how_to_finish(note),
                )

    def check_repeats(self, run: str, *, dropped: bool) -> None:
        """Raise UnavailableError where an unfinished run treats rows which repeat others differently."""
        kept = (self.find(run) or {}).get("drops_repeats", dropped)
        if kept != dropped:
            raise UnavailableError(
                f"run {run} was interrupted, and was started {'with' if kept else 'without'} --drop-duplicates: some "
                "of its rows may be in tables",
                where=self._directory,
                hint=f"continue {'with' if kept else 'without'} it",
            )

    def comparable(self, run: str, past: PastRuns) -> PastRuns:
        """Return the finished runs that rows of a run are compared with: those of then, where it was begun before."""
        compared = (self.find(run) or {}).get("compared")
        return past if compared is None else PastRuns(one for one in past if one.run in compared)

    def check_topics(self, topics: Mapping[str, str], past: PastRuns, *, without: Collection[str] = ()) -> None:
        """Raise UnavailableError where another run, but for some, has read other topics of the same names.

        The same offsets mean other records there, and whoever reads the rows could not tell them apart.
        """
        begun = ((note["run"], note.get("topics", {})) for note in self.notes(past))
        for run, known in [*((one.run, one.topics) for one in past), *begun]:
            others = sorted(name for name, identity in topics.items() if known.get(name, identity) != identity)
            if others and run not in without:
                raise UnavailableError(
                    f"{', '.join(others)} is not the topic that run {run} read: it was deleted and recreated "
                    "since, or belongs to another cluster",
                    where=self._directory,
                    hint="Decode it into another directory: its offsets mean other records.",
                )

    def check_write_mode(self, write_mode: WriteMode, past: PastRuns) -> None:
        """Raise UnavailableError where other runs, finished or not, write their tables differently."""
        for one in past:
            one.write_mode.check(write_mode, one.run, self._directory)
        for note in self.notes(past):
            if "table_format" in note:  # earlier releases recorded less, and so do replays, which write like the runs
                WriteMode.of(note).check(write_mode, note["run"], self._directory)

    def _note(self, run: str, document: Mapping[str, Any]) -> None:
        self._folder.write_document(f"{BEGUN}/{run}.json", {"run": run, **document})


def _spans_of(note: Mapping[str, Any]) -> dict[Source, Span]:
    return read_ranges(msgspec.convert(note["range"], tuple[RecordedRange, ...]))


def _how_to_finish(note: Mapping[str, Any]) -> str:
    """Return what finishes an interrupted run: the same run."""
    if note["stream"]:
        return "start the stream again with the checkpoint it had, or decode into another directory"
    ranges = range_words(by_topic(bounds_of(_spans_of(note))))
    result = [f"{topic} --from '{words['from']}' --until '{words['to']}'" for topic, words in sorted(ranges.items())]
    return f"decode {', '.join(result)} under {note['contract']} first, with the table contracts and options it had"
