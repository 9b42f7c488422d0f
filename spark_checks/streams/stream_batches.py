"""Stream batches: how a stream is run, the results of its batches, and the interface for observers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from cdc_contracts.registry.core.report.audit_report import Span
from cdc_contracts.registry.core.report.report_model import Report
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.spark_checks.engines.stopping import Stop
from cdc_contracts.spark_checks.spark.jars import Say


@dataclass(frozen=True)
class Pace:
    """How a stream runs: `once` up to the current end, or continuously with a batch every `interval` seconds.

    A batch has at most `max_offsets`; one that is running when the stream has to stop gets `grace` seconds to finish.
    """

    once: bool = False
    interval: float = 10.0
    max_offsets: int | None = None
    grace: float = 30.0


@dataclass(frozen=True)
class StreamBatch:
    """A finished batch: its range, its result, and how long it took."""

    number: int
    spans: Mapping[Source, Span]
    tally: Tally
    seconds: float

    @property
    def read(self) -> int:
        return sum(counts.read for counts in self.tally.partitions.values())


class Observer(Protocol):
    """Observes the progress of a stream."""

    def note_begin(self) -> None:
        """Called when a batch starts."""

    def note_batch(self, batch: StreamBatch, report: Report) -> None:
        """Called with a finished batch, and the report over all batches up to it."""

    def note_latest(self, latest: Mapping[Source, int]) -> None:
        """Called with the current ends of the topics; empty if there is nothing after the last batch."""


@dataclass(frozen=True)
class StreamRun:
    """One run of a stream: its pace, what stops it, who observes it, and where lines for people go."""

    pace: Pace
    stop: Stop
    observer: Observer
    say: Say

    @property
    def wait(self) -> float | None:
        """The seconds after which to look for messages again where there are none yet; None if it does not wait."""
        return None if self.pace.once else self.pace.interval
