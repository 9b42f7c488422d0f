"""Follow options: options of a stream (`--follow`), and its output while it runs and at its end."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cdc_contracts.cli.options import output_options, run_options
from cdc_contracts.cli.options.notification_options import NotificationOptions, Notifier
from cdc_contracts.cli.options.reread_commands import commands_of
from cdc_contracts.cli.output import console, report_output
from cdc_contracts.registry.core.common.errors import (
    CdcContractsError,
    LedgerError,
    UnavailableError,
    UsageError,
    WithheldError,
)
from cdc_contracts.registry.core.common.exit_codes import EXIT_CODES, INTERRUPTED, TERMINATED
from cdc_contracts.registry.core.common.findings import INFO

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from cdc_contracts.cli.options.connection_options import Connection
    from cdc_contracts.registry.core.report.report_model import Report
    from cdc_contracts.registry.core.stats.partition_tallies import Source
    from cdc_contracts.registry.core.validate.validation_context import Undetected, ValidationContext
    from cdc_contracts.spark_checks.engines.stopping import Stop
    from cdc_contracts.spark_checks.kafka.offsets import Range
    from cdc_contracts.spark_checks.streams.stream_batches import Pace, StreamBatch
    from cdc_contracts.spark_checks.streams.stream_metrics import StreamMetrics
    from cdc_contracts.spark_checks.streams.stream_samples import Wanted
    from cdc_contracts.spark_checks.streams.streaming import Follow


@dataclass(frozen=True)
class Following(NotificationOptions):
    """Options of a stream."""

    follow: Annotated[bool, typer.Option("--follow", help="Process new records, batch by batch.")] = False
    once: Annotated[bool, typer.Option("--once", help="Process what is there now, then exit.")] = False
    checkpoint: Annotated[
        str | None, typer.Option("--checkpoint", metavar="DIR", help="Where a stream records its progress.")
    ] = None
    interval: Annotated[
        float, typer.Option("--interval", metavar="SECONDS", help="The minimum between batch starts.", min=0.1)
    ] = 10.0
    max_offsets: Annotated[
        int | None, typer.Option("--max-offsets", metavar="N", help="The maximum number of offsets in a batch.", min=1)
    ] = None
    grace: Annotated[
        float,
        typer.Option("--grace", metavar="SECONDS", help="How long a batch may take to finish after a signal.", min=0),
    ] = 30.0
    metrics_file: Annotated[
        Path | None, typer.Option("--metrics-file", metavar="FILE", help="Write Prometheus metrics to FILE.")
    ] = None
    metrics_port: Annotated[
        int | None,
        typer.Option(
            "--metrics-port", metavar="PORT", help="Serve Prometheus metrics at ADDRESS:PORT/metrics.", min=0, max=65535
        ),
    ] = None
    metrics_address: Annotated[
        str,
        typer.Option("--metrics-address", metavar="ADDRESS", help="The address to serve metrics at; 0.0.0.0 for all."),
    ] = "127.0.0.1"

    def check(self, *, refused: Mapping[str, bool]) -> None:
        """Raise UsageError if stream options are given without `--follow`, or with incompatible options.

        Raises UnavailableError if the folder of the checkpoint is not writable.
        """
        if not self.follow:
            for one in fields(self):
                if getattr(self, one.name) != one.default:
                    raise UsageError(f"--{one.name.replace('_', '-')} needs --follow")
            return
        for option, given in refused.items():
            if given:
                raise UsageError(
                    f"{option} cannot be combined with --follow",
                    hint="A stream reads every record with Spark until it is stopped; --once stops at the current end.",
                )
        if self.checkpoint is not None and "://" not in self.checkpoint:
            from cdc_contracts.registry.core.common.atomic_files import check_folder

            check_folder(Path(self.checkpoint))

    @property
    def pace(self) -> Pace:
        from cdc_contracts.spark_checks.streams.stream_batches import Pace

        return Pace(once=self.once, interval=self.interval, max_offsets=self.max_offsets, grace=self.grace)


@dataclass(frozen=True)
class DecodeFollowing(Following):
    """Options of a stream that writes rows."""

    new_epoch: Annotated[
        bool, typer.Option("--new-epoch", help="Start a new checkpoint where the runs of DIR end, or at --from.")
    ] = False


@dataclass(frozen=True)
class StreamPlace:
    """The topics to follow, with checkpoint; `start` is where the first start begins, None if not given."""

    connection: Connection
    topics: Sequence[str]
    start: Range | None
    spark: run_options.SparkOptions

    def wanted(self, session: SparkSession, command: str) -> Wanted:
        from cdc_contracts.spark_checks.spark.cluster_workers import count_slots
        from cdc_contracts.spark_checks.streams.stream_samples import Wanted

        tasks = count_slots(session)
        brokers = self.connection
        return Wanted(command, brokers.bootstrap, tuple(self.topics), brokers.properties, self.start, tasks)


@dataclass
class ProgressReporter:
    """Writes the progress of a stream after each batch: a line, the report files, and metrics."""

    ending: report_output.Ending
    metrics: StreamMetrics
    metrics_file: Path | None
    notifier: Notifier
    follow: Follow | None = None
    failures: set[str] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, follow: Follow) -> None:
        """Print the totals of the stream before this start."""
        self.follow = follow
        for queue in self.notifier.queues:
            self.metrics.count_deliveries(queue.target.partition(" ")[0], queue.counts)
        if follow.whole.batches:
            ends = {source: span.end for source, span in follow.whole.spans.items()}
            self.metrics.note_account(follow.report(follow.whole), ends)
        self._write_metrics()

    def note_begin(self) -> None:
        self.metrics.note_begin()
        self._write_metrics()

    def note_batch(self, batch: StreamBatch, report: Report) -> None:
        from cdc_contracts.registry.core.report.report_formats import write_reports

        self.metrics.note_batch(batch, report)
        result = self.ending.compare(report)
        self._try(lambda: write_reports(result, self.ending.targets or ()))
        if self.notifier.wanted and self.follow is not None:
            alone = self.ending.compare(self.follow.report_batch(batch))
            self.notifier.notify(self.follow.stream, batch, alone, self._try)
        self._write_metrics()
        console.note(_line(batch, result, sum(self.metrics.lag.values())))

    def note_latest(self, latest: Mapping[Source, int]) -> None:
        self.metrics.note_latest(latest)
        self._write_metrics()

    def _write_metrics(self) -> None:
        from cdc_contracts.spark_checks.streams.stream_metrics import write_metrics

        if (target := self.metrics_file) is not None:
            self._try(lambda: write_metrics(self.metrics, target))

    def _try(self, write: Callable[[], None]) -> None:
        """Write a file; if that fails, report it once, and let the stream continue."""
        try:
            with self.lock:  # batches and lag are printed by two threads
                write()
        except UnavailableError as error:
            if str(error) not in self.failures:
                console.say(f"warning: {error}")
            self.failures.add(str(error))


def follow_audit(
    following: Following, place: StreamPlace, validation: ValidationContext | Undetected, ending: report_output.Ending
) -> None:
    """Validate every message of topics, existing and new ones."""
    from cdc_contracts.spark_checks.streams.followed_topics import open_audit
    from cdc_contracts.spark_checks.streams.stream_resumption import AUDIT

    if following.checkpoint is None:
        raise UsageError("a stream needs a checkpoint", hint="Give --checkpoint DIR, the same one at every start.")
    _follow(following, following.checkpoint, place, AUDIT, validation, ending, open_audit)


def follow_decode(
    following: DecodeFollowing,
    place: StreamPlace,
    validation: ValidationContext | Undetected,
    ending: report_output.Ending,
    output: output_options.OutputOptions,
    command: typer.Context,
) -> None:
    """Decode the messages of topics, existing and new ones."""
    from cdc_contracts.spark_checks.streams.followed_topics import open_decode
    from cdc_contracts.spark_checks.streams.stream_samples import DECODE

    checkpoint = following.checkpoint or f"{output.directory.rstrip('/')}/_checkpoint"
    opened = partial(
        open_decode, output=output.open(validation), new_epoch=following.new_epoch,
        reread=commands_of(command, output),
    )  # fmt: skip
    _follow(following, checkpoint, place, DECODE, validation, ending, opened, [output.table_format])


def _follow(
    following: Following,
    checkpoint: str,
    place: StreamPlace,
    command: str,
    validation: ValidationContext | Undetected,
    ending: report_output.Ending,
    open_stream: Callable[..., Follow | None],
    formats: Sequence[str] = (),
) -> None:
    """Follow topics until their current end, or a signal, and end with the exit code."""
    from cdc_contracts.registry.core.common.atomic_files import check_place
    from cdc_contracts.spark_checks.engines.stopping import stopping
    from cdc_contracts.spark_checks.streams.checkpoints import Checkpoint
    from cdc_contracts.spark_checks.streams.stream_batches import StreamRun
    from cdc_contracts.spark_checks.streams.stream_metrics import StreamMetrics, serving_metrics
    from cdc_contracts.spark_checks.streams.stream_samples import TopicStream

    if following.metrics_file is not None:
        check_place(following.metrics_file, kept=ending.targets or ())
    with ExitStack() as stack:
        notifier = stack.enter_context(following.open(command, place.connection.bootstrap, place.topics))
        reporter = ProgressReporter(ending, StreamMetrics(), following.metrics_file, notifier)
        port = stack.enter_context(serving_metrics(reporter.metrics, following.metrics_port, following.metrics_address))
        if port is not None:
            console.say(f"metrics: http://{following.metrics_address}:{port}/metrics")
        session = stack.enter_context(run_options.spark_session(place.spark, kafka=True, formats=formats))
        stop = stack.enter_context(stopping())
        follow = open_stream(
            TopicStream(session, Checkpoint(checkpoint), place.wanted(session, command)), validation,
            StreamRun(following.pace, stop, reporter, console.say), fail_on=ending.fail_on,
        )  # fmt: skip
        if follow is not None:
            reporter.begin(follow)
            _run(follow, reporter)
        notifier.interrupted = stop.signal is not None
    _finish(follow, stop, ending)


def one_validation(
    assigned: Sequence[tuple[ValidationContext | Undetected, list[str]]],
) -> tuple[ValidationContext | Undetected, list[str]]:
    """Return the one validation context of all topics. Raises UsageError if there are several."""
    if len(assigned) != 1:
        raise UsageError(
            "a stream has one contract, but these topics have several",
            hint="Follow each topic separately, with its own checkpoint.",
        )
    return assigned[0]


def _run(follow: Follow, reporter: ProgressReporter) -> None:
    """Run the stream; an error that ends it is raised after the report of the records read."""
    try:
        follow.run()
    except CdcContractsError as error:
        if isinstance(error, LedgerError):
            reporter.metrics.note_unreconciled()
            reporter.note_latest({})
        if follow.own.batches or isinstance(error, WithheldError):
            _print_end(follow, reporter.ending)
        raise


def _finish(follow: Follow | None, stop: Stop, ending: report_output.Ending) -> None:
    if follow is None:
        console.say("stopped before anything was read")
        raise typer.Exit(TERMINATED if stop.signal == signal.SIGTERM else INTERRUPTED)
    whole = _print_end(follow, ending)
    if stop.signal is not None:
        raise typer.Exit(TERMINATED if stop.signal == signal.SIGTERM else INTERRUPTED)
    if follow.contradicts_published:
        raise typer.Exit(EXIT_CODES[whole.verdict])
    own = ending.compare(follow.report(follow.own))
    if own.verdict != whole.verdict:
        read = f"{own.ledger.read:,} records" if follow.own.batches else "nothing new"
        console.say(f"this run: {own.verdict}, {read}; the report covers everything since the stream began")
    raise typer.Exit(report_output.code_of(own, allow_empty=ending.allow_empty))


def _print_end(follow: Follow, ending: report_output.Ending) -> Report:
    report = ending.compare(follow.report(follow.whole), ending.new_baseline)
    report_output.print_report(report, as_json=ending.as_json, targets=ending.targets)
    output_options.print_repeats(report.repeats)
    return report


def _line(batch: StreamBatch, report: Report, lag: int) -> str:
    """Return one line about a batch and the stream so far."""
    rate = batch.read / max(batch.seconds, 1e-3)
    ledger = report.ledger
    behind = f", {lag:,} behind" if lag else ""
    grave = sum(one.severity != INFO for one in report.findings)  # without coverage gaps
    return (
        f"batch {batch.number}: {batch.read:,} records in {batch.seconds:.1f} s ({rate:,.0f} a second){behind}; "
        f"so far {ledger.read:,} records, {ledger.quarantined:,} quarantined, "
        f"{grave:,} findings"
    )
