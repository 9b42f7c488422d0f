"""The runs of an output directory: which are finished, and which files count.

    DIR/{changes,control,quarantine,replayed,ledger}/run=<id>/part-*.parquet      files of all attempts, counted or not
    DIR/tables/<database>.<table>/run=<id>/part-*.parquet                typed rows, where the format is Parquet
    DIR/_reports/<id>.json                                               what the run found
    DIR/_replays/<id>.json                                               what a replay reads that is not finished
    DIR/_runs/<id>.json                                                  written last: what counts

A reader trusts `_runs` alone. A task that is tried again writes other names; files that no record names are removed
when the run is done, and those of other runs are left alone: another process may be writing them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from pyarrow import fs

from cdc_contracts.registry.canonical.layouts import Layouts
from cdc_contracts.registry.errors import UnavailableError
from cdc_contracts.registry.report import Span
from cdc_contracts.registry.tally import Source
from cdc_contracts.spark_checks.run_records import PastRun, RunRecord, grown_layouts
from cdc_contracts.spark_checks.sinks import Part, Place, TableWriter, bring_to_disk, open_directory

OUTPUTS: Final = ("changes", "control", "quarantine", "replayed", "ledger")
RUNS: Final = "_runs"
REPORTS: Final = "_reports"
BEGUN: Final = "_replays"


class RunDirectory:
    """The runs of an output directory; what it has read of finished runs it keeps, in short."""

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self._filesystem, self._root = open_directory(directory)
        self._past: dict[tuple[str, int, Any], PastRun] = {}

    @property
    def root(self) -> str:
        """The directory as every worker finds it: a local one by its absolute path."""
        return self._root if isinstance(self._filesystem, fs.LocalFileSystem) else self.directory

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield the records of all finished runs, in order of their ids."""
        for entry in self._listing():
            yield self._read(entry.path)

    def find(self, run: str) -> dict[str, Any] | None:
        """Return the record of a run, None where it is not finished."""
        return self._read_if_there(f"{self._root}/{RUNS}/{run}.json")

    def report(self, run: str) -> dict[str, Any] | None:
        """Return the report of a finished run, None where there is none."""
        return self._read_if_there(f"{self._root}/{REPORTS}/{run}.json")

    def past(self) -> list[PastRun]:
        """Return all finished runs in short; a record that was read before is not read again."""
        known, self._past = self._past, {}
        for entry in self._listing():
            key = entry.path, entry.size, entry.mtime_ns
            self._past[key] = known.get(key) or PastRun.of(self._read(entry.path))
        return list(self._past.values())

    def overlapping(self, run: str, spans: Mapping[Source, Span]) -> list[str]:
        """Return the other runs that read some of the same records, and the replays of those and of the run itself."""
        others = [past for past in self.past() if past.run != run]
        found = [past.run for past in others if past.overlaps(spans)]
        return [*found, *(past.run for past in others if past.replays & {run, *found})]

    def layouts(self) -> Layouts:
        """Return what the finished runs have fixed of the layouts of tables."""
        return grown_layouts(self.past())

    def write_part(self, place: Place, table: str, rows: pa.RecordBatch) -> Iterator[Part]:
        """Write a table that the driver holds; yields the file."""
        writer = TableWriter(place, table, rows.schema, "00000")
        writer.write(rows)
        yield from writer.close()

    def commit(self, record: RunRecord, report: Mapping[str, Any], *, replaced: Iterable[str] = ()) -> None:
        """Make a run count: write its record last, then remove what no record names any more.

        Raises UnavailableError where a file of the run is not there any more.
        """
        before = [found for run in {record.run, *replaced} if (found := self.find(run)) is not None]
        self._settle_files(record)
        self._write_whole(f"{REPORTS}/{record.run}.json", report)
        self._write_whole(f"{RUNS}/{record.run}.json", record.as_document())
        for run in replaced:
            self._filesystem.delete_file(f"{self._root}/{RUNS}/{run}.json")
        kept = {part.path for part in record.files}
        for folder in {*record.folders, *(f"{one}/run={record.run}" for one in OUTPUTS)}:
            self._sweep(folder, kept)
        for document in before:
            self._remove_replaced(document, record.run, kept)

    def note_begun(self, run: str, document: Mapping[str, Any]) -> None:
        """Note what a replay reads, before it writes where nothing can be taken back."""
        self._write_whole(f"{BEGUN}/{run}.json", {"run": run, **document})

    def begun(self) -> dict[str, Any] | None:
        """Return what was noted of a replay that is not finished; notes of finished ones are removed."""
        for entry in self._listing(BEGUN):
            found = self._read(entry.path)
            if self.find(found["run"]) is None:
                return found
            self.forget_begun(found["run"])
        return None

    def forget_begun(self, run: str) -> None:
        """Remove what was noted of a replay, if anything was."""
        path = f"{self._root}/{BEGUN}/{run}.json"
        if self._filesystem.get_file_info(path).type == fs.FileType.File:
            self._filesystem.delete_file(path)

    def discard(self, place: Place, folders: Iterable[str] = ()) -> None:
        """Remove the files that this attempt at a run has written, in `folders` besides its outputs."""
        for folder in [*map(place.folder, OUTPUTS), *map(place.folder, folders)]:
            for path in self._files(folder):
                if path.endswith(f"-{place.token}.parquet"):
                    self._filesystem.delete_file(path)
            self._remove_if_empty(folder)

    def _settle_files(self, record: RunRecord) -> None:
        """Make sure that the files a record is to name are there, whole, and stay there."""
        for part in record.files:
            info = self._filesystem.get_file_info(f"{self._root}/{part.path}")
            if info.type != fs.FileType.File or info.size != part.size:
                raise UnavailableError(
                    "a file that this run has written is gone: another process may have written the same run",
                    where=f"{self.directory}/{part.path}",
                    mend="run the command again",
                )
        for folder in {f"{self._root}/{above}" for one in record.folders for above in (one, one.rpartition("/")[0])}:
            bring_to_disk(self._filesystem, folder)

    def _remove_replaced(self, document: Mapping[str, Any], run: str, kept: set[str]) -> None:
        for part in [*document["files"], *(part for one in document.get("tables", ()) for part in one["files"])]:
            info = self._filesystem.get_file_info(f"{self._root}/{part['path']}")
            if part["path"] not in kept and info.type == fs.FileType.File:
                self._filesystem.delete_file(info.path)
            self._remove_if_empty(part["path"].rpartition("/")[0])
        report = f"{self._root}/{REPORTS}/{document['run']}.json"
        if document["run"] != run and self._filesystem.get_file_info(report).type == fs.FileType.File:
            self._filesystem.delete_file(report)

    def _sweep(self, folder: str, kept: set[str]) -> None:
        for path in self._files(folder):
            if path.removeprefix(f"{self._root}/") not in kept:
                self._filesystem.delete_file(path)
        self._remove_if_empty(folder)

    def _listing(self, folder: str = RUNS) -> list[fs.FileInfo]:
        listing = self._filesystem.get_file_info(fs.FileSelector(f"{self._root}/{folder}", allow_not_found=True))
        found = [entry for entry in listing if entry.base_name.endswith(".json")]
        return sorted(found, key=lambda entry: entry.base_name)

    def _read(self, path: str) -> dict[str, Any]:
        with self._filesystem.open_input_stream(path) as file:
            document: dict[str, Any] = json.loads(file.readall())
        return document

    def _read_if_there(self, path: str) -> dict[str, Any] | None:
        return self._read(path) if self._filesystem.get_file_info(path).type == fs.FileType.File else None

    def _files(self, folder: str) -> list[str]:
        selector = fs.FileSelector(f"{self._root}/{folder}", allow_not_found=True)
        return [entry.path for entry in self._filesystem.get_file_info(selector) if entry.type == fs.FileType.File]

    def _remove_if_empty(self, folder: str) -> None:
        info = self._filesystem.get_file_info(f"{self._root}/{folder}")
        if info.type == fs.FileType.Directory and not self._files(folder):
            self._filesystem.delete_dir(f"{self._root}/{folder}")

    def _write_whole(self, path: str, document: Mapping[str, Any]) -> None:
        """A reader sees the whole file or none: written aside, brought to disk, then renamed."""
        data = (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode()
        target = f"{self._root}/{path}"
        self._filesystem.create_dir(target.rpartition("/")[0], recursive=True)
        if isinstance(self._filesystem, fs.LocalFileSystem):
            aside = Path(f"{target}.tmp")
            with aside.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            aside.replace(target)
            bring_to_disk(self._filesystem, target.rpartition("/")[0])
            return
        with self._filesystem.open_output_stream(target) as file:
            file.write(data)
