"""Spark tasks: the work inside a task: batches of records in, a tally and the names of written files out."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Protocol

import pyarrow as pa

from cdc_contracts.registry.core.contract.bundle import Bundle, bundle
from cdc_contracts.registry.core.contract.catalogue import Catalogue
from cdc_contracts.registry.core.contract.version_ranges import VersionRanges
from cdc_contracts.registry.core.engine.kernel import Kernel
from cdc_contracts.registry.core.stats.slice_shares import Slices, count_slices
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.validate.described_contexts import open_again
from cdc_contracts.registry.core.validate.validation_context import DetectedSubjects, ValidationContext

Work = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]

RESULT_SCHEMA: Final = "result binary"
_RESULT: Final = pa.schema([pa.field("result", pa.binary())])


@dataclass(frozen=True)
class ScopeSpec:
    """A validation context as a value that can be pickled for the workers."""

    documents: bytes
    declared: str
    detected: DetectedSubjects
    reading_options: bytes
    ranges: VersionRanges | None = None

    def open(self) -> ValidationContext:
        """Return the validation context; a worker caches it, with the layouts its kernel has learnt."""
        reading_options = pickle.loads(self.reading_options)  # noqa: S301  our own bytes
        return open_again(open_bundle(self.documents), self.declared, self.detected, self.ranges, reading_options)


def describe_validation(validation: ValidationContext) -> ScopeSpec:
    """Return a validation context as a value that can be pickled."""
    documents, reading_options = pickle.dumps(bundle(validation.catalogue)), pickle.dumps(validation.reading_options)
    return ScopeSpec(documents, validation.declared, validation.detected, reading_options, validation.ranges)


class TaskCount(Protocol):
    """A counter: a Spark accumulator, or a number in this process."""

    @property
    def value(self) -> int: ...

    def add(self, number: int, /) -> None: ...


@dataclass(frozen=True)
class Watch:
    """Counters that are increased as tasks or batches end, to show the progress of a run."""

    read: TaskCount
    quarantined: TaskCount

    def add(self, tally: Tally) -> None:
        self.read.add(sum(counts.read for counts in tally.partitions.values()))
        self.quarantined.add(sum(counts.quarantined for counts in tally.partitions.values()))


def audit_work(spec: ScopeSpec, watch: Watch | None = None, slices: Slices | None = None) -> Work:
    """Return the work of an audit: one tally per task, with counts by slice if a sample is read in `slices`."""
    opened = pickle.dumps(spec)

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        kernel = open_kernel(opened)
        tally = Tally()
        for records in kernel.gather(batches, joined=slices is None):
            found = kernel.audit(records, ceiling=tally.chains.ceiling)
            if slices is not None:
                count_slices(found, slices)
            tally.merge(found)
        if watch is not None:
            watch.add(tally)
        yield as_result(tally)

    return work


def read_results(rows: Iterable[Any]) -> Iterator[Any]:
    """Yield the results that tasks wrote with `as_result`, from the rows of a DataFrame with `RESULT_SCHEMA`."""
    return (pickle.loads(row[0]) for row in rows)  # noqa: S301  written by our own tasks


def merge_tallies(tallies: Iterable[Tally]) -> Tally:
    """Return the tally of all tasks together."""
    total = Tally()
    for tally in tallies:
        total.merge(tally)
    return total


@lru_cache(maxsize=2)
def open_bundle(documents: bytes) -> Catalogue:
    """Return the catalogue of a pickled `Bundle`; a worker caches it."""
    found: Bundle = pickle.loads(documents)  # noqa: S301  our own bytes
    return found.open()


@lru_cache(maxsize=4)
def open_kernel(spec: bytes) -> Kernel:
    """Return the kernel of a pickled `ScopeSpec`; a worker caches it, with the layouts it has learnt."""
    found: ScopeSpec = pickle.loads(spec)  # noqa: S301  our own bytes
    return Kernel(found.open())


def as_result(result: object) -> pa.RecordBatch:
    """Return the result of a task as a row of `RESULT_SCHEMA`."""
    return pa.RecordBatch.from_arrays([pa.array([pickle.dumps(result)], pa.binary())], schema=_RESULT)


def attempt_name() -> str:
    """Return a name unique to this attempt at a task; work in this process is one task."""
    pyspark = sys.modules.get("pyspark")  # already imported inside Spark tasks; otherwise slow to import and not needed
    context = pyspark.TaskContext.get() if pyspark is not None else None
    if context is None:
        return "00000-0"
    return f"{context.partitionId():05d}-{context.taskAttemptId()}"
