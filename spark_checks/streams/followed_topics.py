"""Followed topics: an audit or a decode of a stream: opening the stream, and processing each batch."""

from __future__ import annotations

from dataclasses import fields
from functools import partial
from operator import itemgetter

from msgspec.structs import replace

from cdc_contracts.registry.core.records.redacted_quarantine import forget_examples
from cdc_contracts.registry.core.report.report_model import RepeatedRows, Report
from cdc_contracts.registry.core.stats.partition_tallies import PartitionTally, Source
from cdc_contracts.registry.core.stats.row_changes import RowChanges
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.validate.validation_context import Undetected, ValidationContext
from cdc_contracts.spark_checks.auditing import audit_input
from cdc_contracts.spark_checks.decoding import Origin, Output, decode_input
from cdc_contracts.spark_checks.engines.spark_engine import SparkEngine
from cdc_contracts.spark_checks.inputs.sources import TopicInput
from cdc_contracts.spark_checks.kafka.failures import RecordsGone
from cdc_contracts.spark_checks.runs.emptied_tables import describe_unfollowed
from cdc_contracts.spark_checks.runs.finished_runs import PastRun, PastRuns
from cdc_contracts.spark_checks.runs.repeats import NO_REPEATS
from cdc_contracts.spark_checks.streams.checkpoints import Checkpoint
from cdc_contracts.spark_checks.streams.contradicted_batches import Reread, with_contradicted
from cdc_contracts.spark_checks.streams.stream_batches import StreamRun
from cdc_contracts.spark_checks.streams.stream_resumption import check_checkpoint, check_output, open_epoch
from cdc_contracts.spark_checks.streams.stream_samples import TopicStream, Wanted
from cdc_contracts.spark_checks.streams.streaming import Follow, ValidatedBatch
from cdc_contracts.spark_checks.tables.typed_tables import WriteKey


def open_audit(
    stream: TopicStream, validation: ValidationContext | Undetected, run: StreamRun, *, fail_on: str
) -> Follow | None:
    """Return an audit of a stream, ready to run; None if it was stopped before. Raises as `open_epoch` does."""

    def validate(source: TopicInput, within: ValidationContext, key: WriteKey, _earlier: RowChanges) -> ValidatedBatch:
        return ValidatedBatch(audit_input(engine, source, within, fail_on=fail_on).tally)

    engine = SparkEngine(stream.session)
    epoch = open_epoch(stream, validation, run)
    return None if epoch is None else Follow(stream, epoch, validate, run, fail_on=fail_on)


def _options_of(past: PastRuns, wanted: Wanted) -> dict[str, str]:
    """Return the options of the producer that runs over some topics were read by, of the run that read furthest."""
    ends = [
        (
            max((span.end for source, span in one.spans.items() if source.topic in wanted.topics), default=-1),
            one.options,
        )
        for one in past
        if not one.replays
    ]
    return {
        name: value for end, options in sorted(ends, key=itemgetter(0)) for name, value in options.items() if end >= 0
    }


def open_decode(
    stream: TopicStream,
    validation: ValidationContext | Undetected,
    run: StreamRun,
    *,
    output: Output,
    new_epoch: bool,
    fail_on: str,
    reread: Reread,
) -> Follow | None:
    """Return a decode of a stream, ready to run; None if it was stopped before.

    `reread` gives the commands that read again what was published before evidence turned against its version.
    Raises UnavailableError if output and checkpoint do not belong together, unless `new_epoch`, and as `open_epoch`
    does.
    """

    def validate(source: TopicInput, within: ValidationContext, key: WriteKey, earlier: RowChanges) -> ValidatedBatch:
        decoded = decode_input(engine, source, within, output, fail_on=fail_on, origin=Origin(key, earlier))
        for line in describe_unfollowed(decoded.record):
            run.say(f"batch {key.number}: {line}")
        tally = decoded.tally or audit_again(source, within, key, decoded.report)
        if output.redact:  # the totals of a stream are stored with its rows
            forget_examples(tally)
        if not output.keeps_changes or decoded.withheld is not None:
            return ValidatedBatch(tally, None, decoded.withheld)
        return ValidatedBatch(tally, _repeats_besides(decoded.report.repeats or NO_REPEATS, output, key))

    def audit_again(source: TopicInput, within: ValidationContext, key: WriteKey, report: Report) -> Tally:
        try:
            return audit_input(engine, source, within, fail_on=fail_on).tally
        except RecordsGone:
            run.say(f"batch {key.number} is done, and its records are gone: the report lacks its findings")
            return _counted(report)

    engine, checkpoint, wanted = SparkEngine(stream.session), stream.checkpoint, stream.wanted
    known = check_checkpoint(checkpoint, wanted, validation.declared)
    past = output.runs.past()
    beside, ends = check_output(checkpoint, wanted, past, output.directory, known=known, new_epoch=new_epoch)
    epoch = open_epoch(
        stream, validation, run,
        beside=beside, since=ends if new_epoch else None, taken={} if output.replace else ends,
        earlier={} if output.replace else _options_of(past, wanted),
    )  # fmt: skip
    if epoch is None:
        return None
    output.runs.begun.check_topics(epoch.setup.topic_ids or {}, output.runs.past())
    annotate = partial(with_contradicted, published=partial(_published, checkpoint, output), reread=reread)
    trusted = output.trust_contract
    return Follow(stream, epoch, validate, run, fail_on=fail_on, annotate=None if trusted else annotate)


def _published(checkpoint: Checkpoint, output: Output) -> dict[int, PastRun]:
    """Return the published batches of a stream by number."""
    query = checkpoint.query
    return {past.batch: past for past in output.runs.past() if past.query == query and past.batch is not None}


def _repeats_besides(repeats: RepeatedRows, output: Output, key: WriteKey) -> RepeatedRows:
    """Return the repeats for a report, which does not list batches of the same stream as other runs."""
    if not repeats.compared_with:
        return repeats
    own = {past.run for past in output.runs.past() if past.query == key.writer}
    return replace(repeats, compared_with=tuple(run for run in repeats.compared_with if run not in own))


def _counted(report: Report) -> Tally:
    """Return the counts of a report as a tally without findings."""
    names = [one.name for one in fields(PartitionTally)]
    counts = {
        Source(one.topic, one.partition): {
            name: count for name in names if isinstance(count := getattr(one, name, None), int)
        }
        | {"conforming": one.conforming + (one.contradicted or 0)}
        for one in report.ledger.partitions
    }
    return Tally({source: PartitionTally(**result) for source, result in counts.items()})
