"""Streaming: a stream of topics, batch by batch, each validated as a run over its range.

Spark plans a batch and records its range in the checkpoint before the batch is read. The range is then read like that
of any run, so batches have the same properties: exact starts and ends, gaps, and an error if records are gone.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from cdc_contracts.registry.core.common.errors import UnavailableError, WithheldError
from cdc_contracts.registry.core.common.exit_codes import DRIFT, EXIT_CODES
from cdc_contracts.registry.core.report.audit_report import Span
from cdc_contracts.registry.core.report.contradicted_runs import describe_contradicted
from cdc_contracts.registry.core.report.report_model import RepeatedRows, Report
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.stats.row_changes import RowChanges
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.validate.pinned_contracts import digest_pin, open_pin, write_pin
from cdc_contracts.registry.core.validate.validation_context import ValidationContext
from cdc_contracts.spark_checks.inputs.sources import TopicInput
from cdc_contracts.spark_checks.kafka.failures import RecordsGone, raise_stream_failure
from cdc_contracts.spark_checks.kafka.offsets import bounds_of, by_topic
from cdc_contracts.spark_checks.kafka.spark_source import client_options, list_topics
from cdc_contracts.spark_checks.streams.checkpoints import read_offsets
from cdc_contracts.spark_checks.streams.rolling_totals import Rolling, read_rolling, write_rolling
from cdc_contracts.spark_checks.streams.stream_batches import StreamBatch, StreamRun
from cdc_contracts.spark_checks.streams.stream_resumption import Epoch
from cdc_contracts.spark_checks.streams.stream_samples import DECODE, TopicStream
from cdc_contracts.spark_checks.tables.typed_tables import WriteKey

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

_ASK_SECONDS: Final = 0.2
_LAG_SECONDS: Final = 5.0
_COMMIT_SECONDS: Final = 5.0
_TIMEOUT_SECONDS: Final = 20.0
_HOW_TO_GO_ON: Final = (
    "To go on with another contract, follow with --new-epoch and a new --checkpoint.",
    "--trust-contract publishes everything as declared.",
)


class ValidatedBatch(NamedTuple):
    """The tally of a batch, the repeated rows if rows are kept, and if nothing was published, why."""

    tally: Tally
    repeats: RepeatedRows | None = None
    withheld: str | None = None


BatchValidation = Callable[[TopicInput, ValidationContext, WriteKey, RowChanges], ValidatedBatch]
"""Does the work of a batch, unless it is done already; it gets the row changes of the earlier batches."""
Annotate = Callable[[Report, Mapping[Source, Span], int | None], Report]
"""Adds to a report of a stream what its output holds of the ranges read, given the batch that was withheld."""


class Follow:
    """One start of a stream. `whole` has the totals since the stream began, `own` those of this start."""

    def __init__(
        self, stream: TopicStream, epoch: Epoch, validate: BatchValidation, run: StreamRun,
        *, fail_on: str, annotate: Annotate | None = None,
    ) -> None:  # fmt: skip
        self._session, self._checkpoint = stream.session, stream.checkpoint
        self._epoch = epoch
        self._validate = validate
        self._run, self._observer, self._say = run, run.observer, run.say
        self._fail_on = fail_on
        self._annotate = annotate
        self._withheld: int | None = None
        self._named: frozenset[str] = frozenset()
        self._pin = write_pin(epoch.validation)
        self._lock = threading.Lock()
        self._idle = threading.Event()
        self._idle.set()
        self._ending = self._abandoned = False
        self._failure: BaseException | None = None
        self._done = -1
        self.own = Rolling()
        self.whole = Rolling()
        checkpoint, last = stream.checkpoint, stream.checkpoint.last
        if last is not None:
            kept = next((number for number in (last, last - 1) if checkpoint.rolling(number)), -1)
            self.whole, self._done = self._rolling_up_to(kept), kept

    def run(self) -> None:
        """Process batches until there are no more, if it runs once, or until it has to stop.

        Raises what a batch raises; UnavailableError if the topics cannot be read any more.
        """
        query = self._start()
        asked = 0.0
        while True:
            if self._has_ended(query):
                if not self._ended_in_metrics(query):
                    break
                query = self._start()
            if self._run.stop.reason is not None:
                self._end(query)
                break
            if time.monotonic() - asked > _LAG_SECONDS:
                asked = time.monotonic()
                self._note_latest(query)
        if self._failure is not None and not self._abandoned:
            raise self._failure
        if not self._ending:
            self._note_latest(query)
            self._report_failure(query)

    @property
    def contradicts_published(self) -> bool:
        """Whether batches of this start speak against what the stream has published."""
        return bool(self._named)

    @property
    def stream(self) -> str:
        """The id of the stream: the same for as long as its checkpoint exists."""
        return str(self._checkpoint.query)

    def report_batch(self, batch: StreamBatch) -> Report:
        """Return the report of one batch alone."""
        alone = Rolling()
        alone.add(batch.number, batch.tally, batch.spans)
        return self.report(alone)

    def report(self, account: Rolling) -> Report:
        """Return the report of rolling totals."""
        source = self._epoch.wanted.input({}, headers=False)
        report = account.report(source, self._epoch.validation, self._epoch.detection, self._fail_on)
        return report if self._annotate is None else self._annotate(report, account.spans, self._withheld)

    # --- Spark's side

    def _start(self) -> StreamingQuery:
        wanted, setup, pace = self._epoch.wanted, self._epoch.setup, self._run.pace
        options = client_options(wanted.bootstrap, wanted.properties)
        if setup.partitions is None:
            options["subscribe"] = ",".join(setup.topics)
        else:
            options["assign"] = json.dumps(setup.partitions)
        if self._epoch.starts is not None:
            starts = {topic: {str(one): at for one, at in found.items()} for topic, found in self._epoch.starts.items()}
            options["startingOffsets"] = json.dumps(starts)
        if pace.max_offsets is not None:
            options["maxOffsetsPerTrigger"] = str(pace.max_offsets)
        stream = self._session.readStream.format("kafka").options(**options).load().writeStream
        stream = stream.foreachBatch(self._take).option("checkpointLocation", self._checkpoint.location)
        if pace.once:
            return stream.trigger(availableNow=True).start()
        return stream.trigger(processingTime=f"{pace.interval} seconds").start()

    def _has_ended(self, query: StreamingQuery) -> bool:
        try:
            return bool(query.awaitTermination(_ASK_SECONDS))  # type: ignore[arg-type]  # parts of a second
        except Exception:  # noqa: BLE001  reported by `_report_failure`
            return True

    def _ended_in_metrics(self, query: StreamingQuery) -> bool:
        """Return whether Spark has committed a batch and failed in its metrics after it.

        Spark 4.1.0 and 4.1.1 do so if the first batch after a start is a repeated one (SPARK-57438). The next start has
        no such batch.
        """
        ended = query._jsq.exception()  # noqa: SLF001  as below
        cause = None if self._failure is not None or ended.isEmpty() else ended.get().getCause()
        if cause is None or "KafkaMicroBatchStream$.metrics" not in str(next(iter(cause.getStackTrace()), "")):
            return False
        return self._done >= 0 and self._checkpoint.committed(self._done)

    def _end(self, query: StreamingQuery) -> None:
        """Let the running batch finish, or abandon it after a time limit, and stop the stream."""
        grace = self._run.pace.grace
        with self._lock:
            self._ending = True
        if not self._idle.is_set():
            self._say(f"finishing batch {self._done + 1}, for {grace:g} s at most; a second signal ends at once")
        until = time.monotonic() + grace
        while not self._idle.is_set() and time.monotonic() < until:
            time.sleep(_ASK_SECONDS)
        if self._idle.is_set():
            until = time.monotonic() + _COMMIT_SECONDS
            while self._done >= 0 and not self._checkpoint.committed(self._done) and time.monotonic() < until:
                if self._has_ended(query):
                    break
        else:
            self._abandoned = True
            self._say(f"batch {self._done + 1} is abandoned, and read again at the next start")
            until = time.monotonic() + _TIMEOUT_SECONDS
            while not self._idle.is_set() and time.monotonic() < until:
                self._session.sparkContext.cancelAllJobs()
                time.sleep(_ASK_SECONDS)
        if self._idle.is_set():  # otherwise it would wait for the batch
            with suppress(Exception):
                query.stop()

    def _report_failure(self, query: StreamingQuery) -> None:
        """Raise the failure of Spark or Kafka that ended the stream."""
        ended = query._jsq.exception()  # noqa: SLF001  the only way to Kafka's own errors
        if ended.isEmpty():
            return
        wanted = self._epoch.wanted
        raise_stream_failure(
            ended.get().getCause(), lambda: list_topics(self._session, wanted.bootstrap, wanted.properties),
            wanted.properties, bootstrap=wanted.bootstrap, topic=", ".join(wanted.topics),
            checkpoint=self._checkpoint.directory,
        )  # fmt: skip

    def _note_latest(self, query: StreamingQuery) -> None:
        progress = query._jsq.lastProgress()  # noqa: SLF001  the public one asks the JVM for every field of it
        sources = progress.sources() if progress is not None else []
        result = sources[0].latestOffset() if sources else None
        latest = (json.loads(result) if result else None) or {}  # null if there is nothing new
        self._observer.note_latest(read_offsets(latest))

    # --- a batch

    def _take(self, frame: DataFrame, number: int) -> None:
        """Process a batch; Spark calls this in a separate thread, so errors are kept for the waiting thread."""
        with self._lock:
            if self._ending:
                raise _NotNow
            self._idle.clear()
        try:
            self._validate_batch(number)
        except BaseException as error:  # noqa: BLE001
            self._failure = error
            raise _Failed from None  # Spark would write the error to its log
        finally:
            self._idle.set()

    def _validate_batch(self, number: int) -> None:
        begun, wanted = time.monotonic(), self._epoch.wanted
        self._observer.note_begin()
        spans = self._checkpoint.spans(number)
        validation = self._pinned(number, spans)
        if self._done != number - 1:
            self.whole = self._rolling_up_to(number - 1)
        key = WriteKey(str(self._checkpoint.query), number)
        idle = {source: span for source, span in spans.items() if span.start == span.end}
        there = bounds_of({source: span for source, span in spans.items() if source not in idle})
        # The first batch of empty topics is an empty run, which the output has to record.
        headers = wanted.command == DECODE or validation.reading_options.reads_headers
        source = wanted.input(by_topic(there or bounds_of(spans)), headers=headers)
        source = replace(source, idle=idle)
        try:
            validated = self._validate(source, validation, key, self.whole.tally.chains)
        except RecordsGone as error:
            raise RecordsGone(
                error.what, where=error.where, hint="Follow with a new checkpoint --from earliest, and with "
                "--new-epoch where rows are kept; and let the topic keep its records longer (retention.ms).",
            ) from error  # fmt: skip
        self.whole.add(number, validated.tally, spans, validated.repeats)
        if validated.withheld is not None:
            raise self._withhold(number, validated.withheld)
        self._checkpoint.keep_rolling(number, write_rolling(self.whole))
        self.own.add(number, validated.tally, spans, validated.repeats)
        self._done = number
        batch, report = StreamBatch(number, spans, validated.tally, time.monotonic() - begun), self.report(self.whole)
        self._observer.note_batch(batch, report)
        self._name_contradicted(report)

    def _withhold(self, number: int, why: str) -> WithheldError:
        """Return the error of a batch that is not published; the totals have it until the stream ends."""
        self._withheld = number
        report = self.report(self.whole)
        contradicted = describe_contradicted(report.contradicted) if report.contradicted else ()
        lines = [*contradicted, *_HOW_TO_GO_ON]
        error = WithheldError(
            f"nothing of batch {number} was published: {why}",
            where=self._checkpoint.directory,
            hint="\n  ".join(lines),
        )
        error.exit_code = EXIT_CODES[report.verdict] or EXIT_CODES[DRIFT]
        return error

    def _name_contradicted(self, report: Report) -> None:
        """Say which published batches evidence is about, once for each."""
        runs = frozenset(one.run for one in report.contradicted.runs) if report.contradicted else frozenset[str]()
        if report.contradicted and not runs <= self._named:
            for line in describe_contradicted(report.contradicted):
                self._say(line)
        self._named |= runs

    def _pinned(self, number: int, spans: Mapping[Source, Span]) -> ValidationContext:
        """Return the validation context of a batch: the same as before, if it is repeated."""
        checkpoint, digest = self._checkpoint, digest_pin(self._pin)
        known = checkpoint.pin_of(number)
        if known is None:
            checkpoint.keep_pin(digest, self._pin)
            checkpoint.keep_batch(number, digest, self._epoch.validation.fingerprint, spans)
            before = checkpoint.pin_of(number - 1)
            if before not in (None, digest):
                self._say(f"contracts, table contracts or options have changed: they apply from batch {number} on")
            return self._epoch.validation
        if known == digest:
            return self._epoch.validation
        self._say(f"batch {number} is retried with the contracts of its first attempt; the next one uses the new ones")
        text = checkpoint.pin(known)
        if text is None:
            raise UnavailableError(
                f"what batch {number} was validated against is missing",
                where=checkpoint.directory,
                hint="Restore the folder `_cdc` of the checkpoint, or follow with a new checkpoint.",
            )
        return open_pin(text, checkpoint.directory, self._epoch.validation.reading_options.schemas)

    def _rolling_up_to(self, number: int) -> Rolling:
        """Return the totals of all batches up to this one, or empty ones if they were not kept."""
        if number < 0:
            return Rolling()
        kept = read_rolling(self._checkpoint.rolling(number) or b"")
        if kept is None:
            self._say(f"the totals up to batch {number} cannot be read: the report begins after it")
        return kept or Rolling()


class _NotNow(Exception):
    """A batch that is not started because the stream has to stop."""


class _Failed(Exception):
    """A batch whose error the thread that waits for the stream raises."""
