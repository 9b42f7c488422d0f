"""Decoding: conforming records as rows of `changes/` and typed tables, the rest accounted for, as one run.

A run pins its contracts, validates and writes, resolves the layouts of tables, types the rows, and publishes its record
last. It is atomic and idempotent: it counts as a whole or not at all, and repeating it changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cdc_contracts.registry.core.common.errors import UnavailableError, UndetectedError
from cdc_contracts.registry.core.detect.detection import hint_undetected
from cdc_contracts.registry.core.detect.topic_samples import ENOUGH
from cdc_contracts.registry.core.report.audit_report import AppliedContract, ReadRange, Span, build_report
from cdc_contracts.registry.core.report.recorded_evidence import decide_again, evidence_of
from cdc_contracts.registry.core.report.report_model import Report
from cdc_contracts.registry.core.stats.partition_tallies import Source
from cdc_contracts.registry.core.stats.run_verdict import decide_run
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.validate.validation_context import Undetected, ValidationContext
from cdc_contracts.spark_checks.detecting import find_input_validation
from cdc_contracts.spark_checks.engines.engines import Engine, Input
from cdc_contracts.spark_checks.inputs.option_samples import SampledOptions, check_sample, take_options
from cdc_contracts.spark_checks.kafka.offsets import bounds_of, describe_spans
from cdc_contracts.spark_checks.runs.finished_runs import PastRun, PastRuns
from cdc_contracts.spark_checks.runs.quarantine_files import begin_replay
from cdc_contracts.spark_checks.runs.run_directory import name_batch, name_run
from cdc_contracts.spark_checks.runs.run_records import RunRecord, enclosing_spans
from cdc_contracts.spark_checks.runs.transactions import REQUESTED, Attempt, Origin, Output
from cdc_contracts.spark_checks.tasks.spark_tasks import Watch


@dataclass(frozen=True)
class DecodedRun:
    """A finished decode: its report, its record, and if nothing was published, why.

    `again` means that the run had been finished before: nothing was done, and there is no tally.
    """

    tally: Tally | None
    report: Report
    run: str
    directory: str
    withheld: str | None = None
    record: RunRecord | None = None
    again: bool = False


def decode_input(
    engine: Engine,
    source: Input,
    validation: ValidationContext | Undetected,
    output: Output,
    *,
    fail_on: str,
    origin: Origin = REQUESTED,
    watch: Watch | None = None,
) -> DecodedRun:
    """Decode every record of the input, read once, into the directory of the output.

    A run that is neither a batch of a stream nor a replay is identified by what it reads and what it validates against.
    The rows count only when the whole run has succeeded. If a record or key chains prove another version
    than the declared one, and the range holds records that the two read differently, nothing is published unless
    `trust_contract`.

    Raises UndetectedError if the contract was not declared and cannot be detected;
    UnavailableError if another run of the directory has read some of the same records, unless `replace`;
    LedgerError if the counts do not add up.
    """
    found, detection = find_input_validation(engine, source, validation)
    if found is None:
        raise UndetectedError(
            "the contract of these messages cannot be detected, so nothing is decoded",
            hint=hint_undetected(detection),
        )
    output.tables.prepare(engine)
    spans, runs = source.spans, output.runs
    past = runs.past()
    runs.begun.check_write_mode(output.write_mode, past)
    past.check_families(found.reading_options.families, output.directory)
    found, sampled = _with_options(engine, source, found, past, origin)
    if not output.replace:
        check_sample(sampled, past.layouts())
    run, topics = _name(engine, source, found, output, origin)
    redacts = origin == REQUESTED
    if (done := _recorded(output, past, run, fail_on, redacts=redacts)) is not None:
        return done
    topics = topics or source.topic_ids(engine)  # the topic of a finished batch may have been deleted
    overlapping = _overlapping(past, run, source, output, topics, found.fingerprint) if origin.replay is None else ()
    attempt = Attempt(engine, source, found, output, run, topics, overlapping, origin)
    runs.begun.check_topics(topics, past, without=attempt.gone)
    runs.begun.check_cut_off(run, spans)
    runs.begun.check_repeats(run, dropped=output.drop_duplicates)
    runs.begun.check_families(run, found.reading_options.families)
    try:
        validated = attempt.validate(watch)
        report = build_report(
            validated.tally,
            AppliedContract(validation.catalogue, validation.declared, detection, found),
            ReadRange(source.describe(validated.tally, spans), spans),
            fail_on=fail_on,
            earlier=origin.earlier,
            taken=sampled.evidence,
        )
        withheld = None if output.trust_contract else decide_run(evidence_of(report), fail_on).withheld
        moved = origin.replay is None or any(one.read > one.quarantined for one in validated.tally.partitions.values())
        record = None
        if withheld is None and moved:
            record, report = attempt.publish(validated, report)
    except BaseException as error:
        engine.halt()
        attempt.discard()
        # Another process may have published the same run, and then removed the files of this attempt.
        if isinstance(error, Exception):
            done = _recorded(output, runs.past(), run, fail_on, redacts=redacts)
            if done is not None:
                return done
        raise
    if record is None:
        attempt.discard()
    return DecodedRun(validated.tally, report, run, output.directory, withheld, record)


def _with_options(
    engine: Engine, source: Input, found: ValidationContext, past: PastRuns, origin: Origin
) -> tuple[ValidationContext, SampledOptions]:
    """Return the context with the options of the producer that are taken before the run, and what a sample says.

    A batch has those of its stream, a replay those of the runs whose quarantine it reads, and a run that is repeated
    those that it had.
    """
    if origin.key is not None:
        return found, SampledOptions()
    if origin.replay is not None:
        kept = [set(one.options.items()) for one in past if one.run in origin.replay.waiting]
        return take_options(found, lambda: (), dict(set.intersection(*kept) if kept else ()))
    for one in past:
        stated = found.reading_options.options.items()
        if one.spans == source.spans and one.options and stated <= one.options.items():
            again = found.stating(one.options)
            if again.fingerprint == one.fingerprint:
                return again, SampledOptions()
    known = {name: value for one in past.before(source.spans) for name, value in one.options.items()}
    return take_options(found, lambda: source.peek(engine, ENOUGH), known)


def _name(
    engine: Engine, source: Input, validation: ValidationContext, output: Output, origin: Origin
) -> tuple[str, Mapping[str, str]]:
    """Return the name of the run, and the topic ids that are part of it."""
    if origin.replay is not None:
        undoable = output.tables.replaceable
        return begin_replay(output.runs, origin.replay, validation.fingerprint, undoable=undoable), {}
    if origin.key is not None:
        return name_batch(origin.key), {}
    topics = source.topic_ids(engine)
    return name_run(source.spans, validation.fingerprint, topics), topics


def _recorded(output: Output, past: PastRuns, run: str, fail_on: str, *, redacts: bool) -> DecodedRun | None:
    """Return the result of a run that is already finished, otherwise None; `fail_on` decides its verdict.

    A run that is to be replaced is not finished. `redacts` says whether the run itself fills its quarantine.
    Raises UnavailableError if it was written differently than the output requires.
    """
    finished = None if output.replace else output.runs.finished(run, past)
    if finished is None:
        return None
    record, report = finished
    repeats = record.repeats
    kept_otherwise = repeats.rows > 0 and (repeats.dropped > 0) != output.drop_duplicates
    if kept_otherwise:
        raise UnavailableError(
            f"run {run} already exists, with {repeats.dropped} of {repeats.rows} repeats dropped",
            where=output.directory,
            hint="Choose another directory"
            + (", or give --replace to write it again." if output.tables.replaceable else "."),
        )
    output.runs.tidy_finished(run)
    done = DecodedRun(None, decide_again(report, fail_on), run, output.directory, record=record, again=True)
    if redacts:
        _check_redaction(done, output)
    return done


def _overlapping(
    past: PastRuns, run: str, source: Input, output: Output, topics: Mapping[str, str], fingerprint: str
) -> Sequence[PastRun]:
    """Return the runs that this one replaces.

    Raises UnavailableError if others have read some of its records, and if those that it replaces have read more.
    """
    found = past.overlapping(run, source.spans)
    if found and not (output.replace and output.tables.replaceable):
        output.runs.begun.check_topics(topics, past)
        unknown = {source.topic for source in found[0].spans} & set(topics) - set(found[0].topics)
        new = _find_new(past, source.spans)
        raise UnavailableError(
            f"run {found[0].run} has decoded some of these records already"
            + ("" if found[0].fingerprint == fingerprint else ", by contracts with another fingerprint")
            + (f", or those of another topic {min(unknown)}: its records do not say which" if unknown else ""),
            where=output.directory,
            hint=(f"Decode what follows: {describe_spans(new)}. Or choose" if new else "Choose")
            + " another range or directory"
            + (", or give --replace to replace it with this run." if output.tables.replaceable else "."),
        )
    _check_reads_all(found, source.spans, topics)
    return found


def _find_new(past: PastRuns, spans: Mapping[Source, Span]) -> dict[Source, Span]:
    """Return what a range has after the ends of the runs; nothing if it ends before one of them, or with them all."""
    ends = {source: max((one.spans[source].end for one in past if source in one.spans), default=0) for source in spans}
    new = {source: Span(max(span.start, ends[source]), span.end) for source, span in spans.items()}
    sizes = [span.end - span.start for span in new.values()]
    return new if min(sizes) >= 0 and max(sizes) > 0 else {}


def _check_reads_all(replaced: Sequence[PastRun], spans: Mapping[Source, Span], topics: Mapping[str, str]) -> None:
    """Raise UnavailableError if runs that are to be replaced have read records that are not in these spans.

    Their rows would be gone, and the topic may not have the records any more. Of a topic that was recreated nothing is
    kept. Captures name topics without their ids, and are still there.
    """
    for past in replaced if topics else ():
        for source, (start, end) in sorted(bounds_of({} if past.replays else past.spans).items()):
            if topics.get(source.topic, past.topics.get(source.topic)) != past.topics.get(source.topic):
                continue
            read = spans.get(source, Span(end, end))
            lost = (start, min(end, read.start)) if start < read.start else (max(start, read.end), end)
            if lost[0] < lost[1]:
                whole = describe_spans(enclosing_spans(past.spans, spans))
                raise UnavailableError(
                    f"run {past.run} has read records that this run would remove, as it does not read them",
                    where=f"{source.topic} partition {source.partition} offsets {lost[0]} to {lost[1] - 1}",
                    hint=f"Read them as well: {whole}. If the topic has lost them, decode into another directory.",
                )


def _check_redaction(done: DecodedRun, output: Output) -> None:
    """Raise UnavailableError if a finished run has redacted its quarantine and this one does not, or vice versa."""
    if (done.record is not None and done.record.redacted) != output.redact:
        kept = "whole" if output.redact else "in shapes only"
        raise UnavailableError(
            f"run {done.run} already exists, and its quarantine is kept {kept}",
            where=output.directory,
            hint="Give --replace to write it again with the new setting.",
        )


__all__ = ["DecodedRun", "Origin", "Output", "decode_input"]
