"""Stream resumption: how a stream begins, or continues from its checkpoint."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from msgspec import structs

from cdc_contracts.registry.core.common.errors import UnavailableError, UndetectedError, UsageError
from cdc_contracts.registry.core.detect.detection import Detection, hint_undetected, read_detection
from cdc_contracts.registry.core.detect.topic_samples import find_validation
from cdc_contracts.registry.core.validate.described_contexts import open_detected
from cdc_contracts.registry.core.validate.validation_context import DetectedSubjects, Undetected, ValidationContext
from cdc_contracts.spark_checks.detecting import name_table
from cdc_contracts.spark_checks.engines.spark_engine import SparkEngine
from cdc_contracts.spark_checks.inputs.option_samples import open_options
from cdc_contracts.spark_checks.inputs.sources import read_topics
from cdc_contracts.spark_checks.kafka.bookmarks import Offsets
from cdc_contracts.spark_checks.kafka.offsets import by_topic, parse_range
from cdc_contracts.spark_checks.kafka.spark_source import topic_ids
from cdc_contracts.spark_checks.runs.finished_runs import PastRun
from cdc_contracts.spark_checks.streams.checkpoints import Checkpoint, StreamSetup
from cdc_contracts.spark_checks.streams.stream_batches import StreamRun
from cdc_contracts.spark_checks.streams.stream_samples import (
    DECODE,
    Backlog,
    TopicStream,
    Wanted,
    sleep,
    take_stream_options,
)

AUDIT: Final = "audit"


@dataclass(frozen=True)
class Epoch:
    """A stream ready to start: its setup, what it is validated against, and where it begins the first time."""

    wanted: Wanted
    setup: StreamSetup
    validation: ValidationContext
    detection: Detection | None
    starts: Mapping[str, Mapping[int, int]] | None


def check_checkpoint(checkpoint: Checkpoint, wanted: Wanted, contract: str) -> StreamSetup | None:
    """Return the setup in the checkpoint; None if the stream was never started.

    Raises UsageError if it is the checkpoint of another stream.
    """
    known = checkpoint.setup()
    if known is None:
        if checkpoint.query is not None:
            raise _other_checkpoint(checkpoint, "it was not written by cdc-contracts")
        return None
    if known.command != wanted.command:
        raise _other_checkpoint(checkpoint, f"it belongs to a stream of `{known.command}`")
    if set(known.topics) != set(wanted.topics):
        raise _other_checkpoint(checkpoint, f"its stream reads {', '.join(known.topics)}")
    if known.contract != contract:
        raise _other_checkpoint(
            checkpoint, f"its stream is validated against {known.contract}, this one against {contract}"
        )
    return known


def check_output(
    checkpoint: Checkpoint, wanted: Wanted, finished: Iterable[PastRun], directory: str,
    *, known: StreamSetup | None, new_epoch: bool,
) -> tuple[tuple[str, ...], Offsets]:  # fmt: skip
    """Return the other queries with rows of these topics in the output, and where its runs end by partition.

    Raises UnavailableError if the output has rows of the topics from streams with other checkpoints, without the
    user's consent; or if the checkpoint has finished batches and the output has none of them.
    """
    query = checkpoint.query
    queries: set[str] = set()
    ends: dict[str, dict[int, int]] = {}
    for past in finished:
        read = {source: span.end for source, span in past.spans.items() if source.topic in wanted.topics}
        if past.query is not None and read:
            queries.add(past.query)
        for source, end in read.items():
            partitions = ends.setdefault(source.topic, {})
            partitions[source.partition] = max(end, partitions.get(source.partition, 0))
    beside = tuple(sorted(queries - {query}))
    agreed = set(known.beside) if known else set()
    if set(beside) - agreed and not new_epoch:
        raise UnavailableError(
            "the output holds rows of these topics from a stream with another checkpoint",
            where=f"output {directory}, checkpoint {checkpoint.directory}",
            hint="Without its checkpoint it is unknown where that stream ended. Give the checkpoint that belongs to "
            "the output (--checkpoint), or another output; --new-epoch continues where the runs of the output end.",
        )
    if checkpoint.finished is not None and query not in queries:
        raise UnavailableError(
            "the checkpoint belongs to a stream that wrote elsewhere: the output has none of its batches",
            where=f"output {directory}, checkpoint {checkpoint.directory}",
            hint="Give the output that belongs to the checkpoint, or start with a new checkpoint.",
        )
    return beside, ends


def open_epoch(
    stream: TopicStream,
    validation: ValidationContext | Undetected,
    run: StreamRun,
    *,
    beside: tuple[str, ...] = (),
    since: Offsets | None = None,
    taken: Offsets | None = None,
    earlier: Mapping[str, str] | None = None,
) -> Epoch | None:
    """Return the stream to start, recorded in the checkpoint; `since` is where it begins by default.

    `taken` is where the runs of the output end: a new stream has to begin after that. `earlier` are the options of the
    producer that these were read by. If the contract has to be
    detected, this is done before the first batch, from the records in the topics, and recorded. If it cannot be
    detected yet, detection is retried after a while; if the run does not wait, that is an UndetectedError. None if the
    run was stopped meanwhile. Raises UsageError if the checkpoint is of another stream, UnavailableError if topics or
    offsets are not available.
    """
    checkpoint, wanted = stream.checkpoint, stream.wanted
    known = check_checkpoint(checkpoint, wanted, validation.declared)
    setup = known or StreamSetup(wanted.command, wanted.topics, validation.declared)
    if beside:
        setup = structs.replace(setup, beside=beside)
    setup = structs.replace(setup, topic_ids=_same_topics(stream, setup))
    starts = None
    if checkpoint.last is None:
        setup, starts = _begin(stream, setup, since)
        _refuse_read_offsets(starts, taken or {})
    elif wanted.start is not None:
        run.say(f"--from {wanted.start.start.word} is ignored: the stream continues from its checkpoint")
    found = _finalize_validation(validation, Backlog(stream, setup, starts or {}), run)
    if found is None:
        return None
    validated, detection = found
    if isinstance(validation, Undetected) and detection is not None and setup.detected is None:
        detected = {"subjects": list(validated.detected.subjects), "preferences": list(validated.detected.preferences)}
        setup = structs.replace(setup, detected=detected, detection=detection.report())
    if wanted.command == DECODE and open_options(validated):
        since = starts if checkpoint.last is None else by_topic(checkpoint.ends(checkpoint.last))
        with_options = take_stream_options(validated, Backlog(stream, setup, since or {}), run, earlier or {})
        if with_options is None:
            return None
        validated, setup = with_options
    if setup != known:
        checkpoint.keep_setup(setup)
    return Epoch(wanted, setup, validated, detection, starts)


def _same_topics(stream: TopicStream, setup: StreamSetup) -> Mapping[str, str]:
    """Return the ids of the topics. Raises UnavailableError if a topic was recreated since it was read."""
    wanted = stream.wanted
    found = topic_ids(stream.session, wanted.bootstrap, wanted.topics, wanted.properties)
    known = (setup.topic_ids or found) if stream.checkpoint.last is not None else found
    anew = [topic for topic, identity in found.items() if known.get(topic, identity) != identity]
    if anew:
        raise UnavailableError(
            "the topic was deleted and recreated since the stream began: its offsets now mean other records",
            where=", ".join(anew),
            hint="Follow it with a new checkpoint and into another output.",
        )
    return {**known, **found}


def _begin(
    stream: TopicStream, setup: StreamSetup, since: Offsets | None
) -> tuple[StreamSetup, dict[str, dict[int, int]]]:
    """Return the stream with the named partitions, and the offsets at which it begins."""
    wanted = stream.wanted
    start = wanted.start or parse_range()
    resolved = read_topics(
        SparkEngine(stream.session), wanted.bootstrap, wanted.topics, start, wanted.properties,
        since=since if wanted.start is None else None,
    )  # fmt: skip
    starts = {topic: {one: first for one, (first, _) in found.items()} for topic, found in resolved.selected.items()}
    named = {topic: sorted(found) for topic, found in starts.items()} if start.start.kind == "offsets" else None
    return structs.replace(setup, partitions=named), starts


def _refuse_read_offsets(starts: Offsets, taken: Offsets) -> None:
    """Refuse to begin a stream with a batch that could never be published but would stay in Spark's checkpoint."""
    for topic, partitions in starts.items():
        for partition, first in partitions.items():
            end = taken.get(topic, {}).get(partition, 0)
            if first < end:
                raise UnavailableError(
                    f"the stream would begin at offset {first}, and runs of the output have read up to {end}",
                    where=f"{topic} partition {partition}",
                    hint="Give --new-epoch to continue where the runs end, or --from, or another output.",
                )


def _finalize_validation(
    validation: ValidationContext | Undetected, backlog: Backlog, run: StreamRun
) -> tuple[ValidationContext, Detection | None] | None:
    if isinstance(validation, ValidationContext):
        return validation, None
    setup = backlog.setup
    if setup.detected is not None and setup.detection is not None:
        detected = DetectedSubjects(tuple(setup.detected["subjects"]), tuple(setup.detected["preferences"]))
        opened = open_detected(validation.catalogue, detected, validation.reading_options)
        validated = name_table(opened, backlog.stream.wanted.topics)
        return validated, read_detection(setup.detection, validation.catalogue, detected)
    result = False
    while run.stop.reason is None:
        found, detection = find_validation(validation, backlog.peek())
        if found is not None:
            return name_table(found, backlog.stream.wanted.topics), detection
        if run.wait is None:
            raise UndetectedError(
                "the contract of these messages cannot be detected, so nothing is read",
                where=", ".join(backlog.stream.wanted.topics),
                hint=hint_undetected(detection),
            )
        if not result:
            run.say("the contract cannot be detected yet: waiting for more messages")
            result = True
        sleep(max(run.wait, 1.0), run.stop)
    return None


def _other_checkpoint(checkpoint: Checkpoint, why: str) -> UsageError:
    return UsageError(
        f"the checkpoint belongs to another stream: {why}",
        where=checkpoint.directory,
        hint="Give this stream its own checkpoint (--checkpoint DIR).",
    )
