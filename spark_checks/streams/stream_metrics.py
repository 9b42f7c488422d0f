"""Stream metrics for Prometheus: figures of the totals as text, in a file or at an address of this machine."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from wsgiref.simple_server import WSGIRequestHandler, make_server

from prometheus_client import CollectorRegistry, generate_latest, make_wsgi_app
from prometheus_client.exposition import ThreadingWSGIServer
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric

from cdc_contracts.registry.core.common.atomic_files import write_whole
from cdc_contracts.registry.core.common.errors import UnavailableError
from cdc_contracts.registry.core.report.report_model import PartitionLedger, Report
from cdc_contracts.registry.core.report.reported_findings import ReportedFinding
from cdc_contracts.registry.core.stats.partition_tallies import Source

if TYPE_CHECKING:
    from cdc_contracts.spark_checks.streams.stream_batches import StreamBatch

PREFIX: Final = "cdc_contracts_follow"
MOST_PARTITIONS: Final = 1_000
"""The number of partitions with series of their own; the others share one."""
OTHERS: Final = ("(others)", "")
MOST_DRIFTS: Final = 500
"""The number of combinations of class, severity, table and contract with series of their own; the others share one per
class and severity."""
UNDECIDED: Final = "(undecided)"
_OUTCOMES: Final = ("conforming", "control", "tombstone", "quarantined", "excluded")
LOOPBACK: Final = "127.0.0.1"
_PATH: Final = "/metrics"
TIMEOUT_SECONDS: Final = 10.0
"""For how long a client may send or read nothing."""
_PARTITION: Final = ("topic", "partition")

LabelValues = tuple[str, ...]


class StreamMetrics:
    """The metrics of one stream. Counters count since the stream began, over all its starts."""

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
        self._deliveries: dict[str, Mapping[str, int]] = {}
        self.registry = CollectorRegistry()
        """Collects these figures alone, not those of the process."""
        self.registry.register(self)

    def count_deliveries(self, target: str, counts: Mapping[str, int]) -> None:
        """Publish counts, which go on, of what is sent to a target, by what came of it."""
        with self._lock:
            self._deliveries[target] = counts

    def note_account(self, report: Report, ends: Mapping[Source, int]) -> None:
        """Record the report of all batches, and where they end."""
        with self._lock:
            self._report = report
            self._ends |= ends

    def note_begin(self) -> None:
        """Record that a batch has started: until it is finished, lag and counters do not change."""
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
        """Record a batch whose counts do not add up."""
        with self._lock:
            self._unreconciled += 1

    @property
    def lag(self) -> dict[Source, int]:
        """The number of offsets that each topic has after the last batch."""
        with self._lock:
            return {source: max(0, self._latest.get(source, end) - end) for source, end in self._ends.items()}

    def text(self) -> str:
        """Return all figures in Prometheus's text format."""
        return generate_latest(self.registry).decode()

    def collect(self) -> Iterator[Metric]:
        """Yield all metrics, for a registry of collectors."""
        lag = self.lag
        with self._lock:
            partitions = self._report.ledger.partitions if self._report else ()
            findings = self._report.findings if self._report else ()
            changes = _by_partition(((one.topic, one.partition), one.changes) for one in partitions)
            gaps = _by_partition(((one.topic, one.partition), one.gaps) for one in partitions)
            figures = [
                _counter(
                    "records", "Records read, by what came of them.", _records(partitions), *_PARTITION, "outcome"
                ),
                _counter("changes", "Row changes in conforming records.", changes, *_PARTITION),
                _counter("offset_gaps", "Offsets without a record.", gaps, *_PARTITION),
                _gauge("drift_records", "Records that have findings, by class.", _drift(findings), "class", "severity"),
                _gauge(
                    "table_drift_records",
                    "Records that have findings, by class, table and contract.",
                    _drift_by_table(findings),
                    "class",
                    "severity",
                    "table",
                    "contract",
                ),
                _counter(
                    "version_records", "Records by the only version they fit.", _versions(self._report), "contract"
                ),
                _counter(
                    "deliveries",
                    "Deliveries to other systems since this start, by what came of them.",
                    {
                        (target, what): count
                        for target, counts in self._deliveries.items()
                        for what, count in counts.items()
                    },
                    "target",
                    "outcome",
                ),
                _gauge("ledger_unreconciled", "Batches whose counts do not add up.", _one(self._unreconciled)),
                _gauge("lag_offsets", "Offsets behind the last batch.", _by_partition(lag.items()), *_PARTITION),
                _counter("batches", "Batches done since this start.", _one(self._batches)),
                _counter("batch_seconds", "Time that batches took.", _one(self._seconds)),
                _gauge("last_batch_seconds", "Time of the last batch.", _one(self._last_seconds)),
                _gauge("start_timestamp_seconds", "When this start was.", _one(self._start_time)),
                _gauge(
                    "batch_begin_timestamp_seconds",
                    "When the batch began that is under way, 0 between batches.",
                    _one(self._begin_time),
                ),
            ]
            if self._last_time is not None:
                words = "When the last batch was done."
                figures.append(_gauge("last_batch_timestamp_seconds", words, _one(self._last_time)))
        yield from figures


def write_metrics(metrics: StreamMetrics, target: Path) -> None:
    """Write the metrics to a file atomically. Raises UnavailableError if it cannot be written."""
    write_whole(target, metrics.text())


@contextmanager
def serving_metrics(metrics: StreamMetrics, port: int | None, address: str = LOOPBACK) -> Iterator[int | None]:
    """Serve the metrics at /metrics of an address of this machine; port 0 means any free port.

    Raises UnavailableError if the port is taken, or the address is not one of this machine.
    """
    if port is None:
        yield None
        return
    page = make_wsgi_app(metrics.registry)

    def answer(request: dict[str, Any], start: Any) -> Iterable[bytes]:
        if request["PATH_INFO"] == _PATH:
            found: Iterable[bytes] = page(request, start)
            return found
        start("404 Not Found", [])
        return []

    try:
        server = make_server(address, port, answer, ThreadingWSGIServer, _Connection)
    except OSError as error:
        raise UnavailableError(
            f"metrics cannot be served there: {error.strerror}",
            where=f"{address}:{port}",
            hint="Name another port or address.",
        ) from error
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Connection(WSGIRequestHandler):
    """One request, without logging. A client that keeps the server waiting is disconnected."""

    timeout = TIMEOUT_SECONDS

    def handle(self) -> None:
        with suppress(TimeoutError, ConnectionError):
            super().handle()

    def log_message(self, *_: Any) -> None: ...


def _counter(name: str, words: str, counts: Mapping[LabelValues, float], *labels: str) -> Metric:
    return _fill(CounterMetricFamily(f"{PREFIX}_{name}", words, labels=labels), counts)


def _gauge(name: str, words: str, values: Mapping[LabelValues, float], *labels: str) -> Metric:
    return _fill(GaugeMetricFamily(f"{PREFIX}_{name}", words, labels=labels), values)


def _fill(family: CounterMetricFamily | GaugeMetricFamily, samples: Mapping[LabelValues, float]) -> Metric:
    for labels, value in sorted(samples.items()):
        family.add_metric(labels, value)
    return family


def _one(value: float) -> dict[LabelValues, float]:
    return {(): round(value, 3)}


def _records(partitions: Iterable[PartitionLedger]) -> Counter[LabelValues]:
    counts: Counter[LabelValues] = Counter()
    for number, one in enumerate(partitions):
        for outcome in _OUTCOMES:
            counts[*_place(number, one.topic, one.partition), outcome] += getattr(one, outcome)
        # A counter never falls: a record that later ones contradict was counted as conforming before.
        counts[*_place(number, one.topic, one.partition), "conforming"] += one.contradicted or 0
    return counts


def _by_partition(counts: Iterable[tuple[tuple[str, int], int]]) -> Counter[LabelValues]:
    counted: Counter[LabelValues] = Counter()
    for number, ((topic, partition), count) in enumerate(sorted(counts)):
        counted[_place(number, topic, partition)] += count
    return counted


def _drift(findings: Iterable[ReportedFinding]) -> Counter[LabelValues]:
    counts: Counter[LabelValues] = Counter()
    for one in findings:
        counts[one.name, one.severity] += one.count
    return counts


def _drift_by_table(findings: Iterable[ReportedFinding]) -> Counter[LabelValues]:
    counts: Counter[LabelValues] = Counter()
    for one in findings:
        by_table = {of.table: of.count for of in one.tables} if one.tables else {one.table or "": one.count}
        for table, count in by_table.items():
            counts[one.name, one.severity, table, one.contract or ""] += count
    bounded: Counter[LabelValues] = Counter()
    for number, (labels, count) in enumerate(sorted(counts.items(), key=lambda item: (-item[1], item[0]))):
        bounded[labels if number < MOST_DRIFTS else (*labels[:2], OTHERS[0], "")] += count
    return bounded


def _versions(report: Report | None) -> dict[LabelValues, float]:
    if report is None:
        return {}
    counts: dict[LabelValues, float] = {(contract,): count for contract, count in report.versions_seen.items()}
    return {**counts, (UNDECIDED,): report.versions_undecided}


def _place(number: int, topic: str, partition: int) -> LabelValues:
    return (topic, str(partition)) if number < MOST_PARTITIONS else OTHERS
