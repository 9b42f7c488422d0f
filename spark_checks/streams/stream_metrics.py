"""Stream metrics for Prometheus: figures of the totals as text, in a file or at an address of this machine."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from cdc_contracts.registry.common.atomic_files import write_whole
from cdc_contracts.registry.common.errors import UnavailableError
from cdc_contracts.registry.report.report_model import PartitionLedger, Report
from cdc_contracts.registry.report.reported_findings import ReportedFinding
from cdc_contracts.registry.stats.partition_tallies import Source

if TYPE_CHECKING:
    from cdc_contracts.spark_checks.streams.stream_batches import StreamBatch

PREFIX: Final = "cdc_contracts_follow"
MOST_PARTITIONS: Final = 1_000
"""So many partitions have series of their own; the others are one together."""
OTHERS: Final = ("(others)", "")
MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_OUTCOMES: Final = ("conforming", "control", "tombstone", "quarantined", "excluded")
_ADDRESS: Final = "127.0.0.1"

Labels = tuple[tuple[str, str], ...]


class StreamMetrics:
    """The figures of one stream. What is counted is counted since the stream began, over all its starts."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._report: Report | None = None
        self._ends: dict[Source, int] = {}
        self._latest: Mapping[Source, int] = {}
        self._batches = 0
        self._seconds = 0.0
        self._last_seconds = 0.0
        self._last_time: float | None = None
        self._start_time = time.time()
        self._begin_time = 0.0
        self._unreconciled = 0

    def note_account(self, report: Report, ends: Mapping[Source, int]) -> None:
        """Note the report of all batches, and where they end."""
        with self._lock:
            self._report = report
            self._ends |= ends

    def note_begin(self) -> None:
        """Take note that a batch has begun: until it is done, lag and counts stand still."""
        with self._lock:
            self._begin_time = time.time()

    def note_batch(self, batch: StreamBatch, report: Report) -> None:
        self.note_account(report, {source: span.end for source, span in batch.spans.items()})
        with self._lock:
            self._batches += 1
            self._seconds += batch.seconds
            self._last_seconds, self._last_time, self._begin_time = batch.seconds, time.time(), 0.0

    def note_latest(self, latest: Mapping[Source, int]) -> None:
        with self._lock:
            self._latest = latest

    def note_unreconciled(self) -> None:
        """Note a batch whose counts do not add up."""
        with self._lock:
            self._unreconciled += 1

    @property
    def lag(self) -> dict[Source, int]:
        """How many offsets each topic has after the last batch."""
        with self._lock:
            return {source: max(0, self._latest.get(source, end) - end) for source, end in self._ends.items()}

    def text(self) -> str:
        """Return all figures in Prometheus's text format."""
        lag = self.lag
        with self._lock:
            partitions = self._report.ledger.partitions if self._report else ()
            findings = self._report.findings if self._report else ()
            figures = [
                _figure("records_total", "counter", "Records read, by what came of them.", _records(partitions)),
                _figure(
                    "changes_total",
                    "counter",
                    "Row changes in conforming records.",
                    _by_partition(((one.topic, one.partition), one.changes) for one in partitions),
                ),
                _figure(
                    "offset_gaps_total",
                    "counter",
                    "Offsets without a record.",
                    _by_partition(((one.topic, one.partition), one.gaps) for one in partitions),
                ),
                _figure("drift_records", "gauge", "Records that have findings, by class.", _drift(findings)),
                _figure(
                    "ledger_unreconciled", "gauge", "Batches whose counts do not add up.", _one(self._unreconciled)
                ),
                _figure("lag_offsets", "gauge", "Offsets behind the last batch.", _by_partition(lag.items())),
                _figure("batches_total", "counter", "Batches done since this start.", _one(self._batches)),
                _figure("batch_seconds_total", "counter", "Time that batches took.", _one(round(self._seconds, 3))),
                _figure("last_batch_seconds", "gauge", "Time of the last batch.", _one(round(self._last_seconds, 3))),
                _figure("start_timestamp_seconds", "gauge", "When this start was.", _one(round(self._start_time, 3))),
                _figure(
                    "batch_begin_timestamp_seconds",
                    "gauge",
                    "When the batch began that is under way, 0 between batches.",
                    _one(round(self._begin_time, 3)),
                ),
            ]
            if self._last_time is not None:
                last = _one(round(self._last_time, 3))
                figures.append(_figure("last_batch_timestamp_seconds", "gauge", "When the last batch was done.", last))
        return "".join(figures)


def write_metrics(metrics: StreamMetrics, target: Path) -> None:
    """Put the figures into a file at once. Raises UnavailableError where it cannot be written."""
    write_whole(target, metrics.text())


@contextmanager
def serving_metrics(metrics: StreamMetrics, port: int | None) -> Iterator[int | None]:
    """The figures can be had at /metrics of this machine; the port is one that is free where it is 0.

    Raises UnavailableError where the port is taken.
    """
    if port is None:
        yield None
        return

    class Handler(BaseHTTPRequestHandler):
        timeout = 10

        def do_GET(self) -> None:
            if self.path.partition("?")[0] != "/metrics":
                self.send_error(404)
                return
            body = metrics.text().encode()
            self.send_response(200)
            self.send_header("Content-Type", MEDIA_TYPE)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the name is the library's
            """Say nothing: stderr is for the stream."""

    try:
        server = ThreadingHTTPServer((_ADDRESS, port), Handler)
    except OSError as error:
        raise UnavailableError(
            f"metrics cannot be served there: {error.strerror}", where=f"{_ADDRESS}:{port}", hint="name another port"
        ) from error
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _figure(name: str, kind: str, words: str, samples: Mapping[Labels, float]) -> str:
    head = f"# HELP {PREFIX}_{name} {words}\n# TYPE {PREFIX}_{name} {kind}\n"
    return head + "".join(f"{PREFIX}_{name}{_write(labels)} {value}\n" for labels, value in sorted(samples.items()))


def _write(labels: Labels) -> str:
    result = ",".join(f'{name}="{_escape(value)}"' for name, value in labels)
    return f"{{{result}}}" if result else ""


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _one(value: float) -> dict[Labels, float]:
    return {(): value}


def _records(partitions: Iterable[PartitionLedger]) -> Counter[Labels]:
    counts: Counter[Labels] = Counter()
    for number, one in enumerate(partitions):
        for outcome in _OUTCOMES:
            counts[*_place(number, one.topic, one.partition), ("outcome", outcome)] += getattr(one, outcome)
    return counts


def _by_partition(counts: Any) -> Counter[Labels]:
    counted: Counter[Labels] = Counter()
    for number, ((topic, partition), count) in enumerate(sorted(counts)):
        counted[_place(number, topic, partition)] += count
    return counted


def _drift(findings: Iterable[ReportedFinding]) -> Counter[Labels]:
    counts: Counter[Labels] = Counter()
    for one in findings:
        counts[("class", one.name), ("severity", one.severity)] += one.count
    return counts


def _place(number: int, topic: str, partition: int) -> Labels:
    result = (topic, str(partition)) if number < MOST_PARTITIONS else OTHERS
    return ("topic", result[0]), ("partition", result[1])
