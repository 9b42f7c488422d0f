"""Stream samples: messages that are in the topics when a stream begins, and the options of their producer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from msgspec import structs

from cdc_contracts.registry.core.detect.topic_samples import ENOUGH
from cdc_contracts.registry.core.validate.validation_context import ValidationContext
from cdc_contracts.spark_checks.engines.spark_engine import SparkEngine
from cdc_contracts.spark_checks.engines.stopping import Stop
from cdc_contracts.spark_checks.inputs.option_samples import open_options, take_options
from cdc_contracts.spark_checks.inputs.sources import TopicInput, read_topics
from cdc_contracts.spark_checks.kafka.bookmarks import Offsets
from cdc_contracts.spark_checks.kafka.offsets import Range, parse_range
from cdc_contracts.spark_checks.spark.jars import Say
from cdc_contracts.spark_checks.streams.checkpoints import StreamSetup

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DECODE: Final = "decode"
_ASK_SECONDS: Final = 0.2


@dataclass(frozen=True)
class Wanted:
    """The topics to follow, their brokers, and where to begin at the first start; None if not given."""

    command: str
    bootstrap: str
    topics: tuple[str, ...]
    properties: Mapping[str, str] = field(repr=False)
    start: Range | None = None
    tasks: int | None = None

    def input(self, selected: Mapping[str, Mapping[int, tuple[int, int]]], *, headers: bool) -> TopicInput:
        """Return a range of the topics."""
        return TopicInput(self.bootstrap, selected, self.properties, self.tasks, headers)


def take_stream_options(
    session: SparkSession,
    wanted: Wanted,
    validated: ValidationContext,
    setup: StreamSetup,
    starts: Offsets,
    wait: float | None,
    stop: Stop,
    say: Say,
    earlier: Mapping[str, str],
) -> tuple[ValidationContext, StreamSetup] | None:
    """Return the context with the options of the producer that a sample decides, and the setup that keeps them.

    `earlier` are those that runs of the output over what comes before were read by: they hold unless the sample rules
    them out. Once options are kept, every start of the stream reads by the same. Without a message there is no sample
    yet: it is waited for, or, without `wait`, taken at the next start. None if the run was stopped meanwhile.
    """
    if setup.options is not None:
        asked = open_options(validated)
        return validated.stating({name: value for name, value in setup.options.items() if name in asked}), setup
    said = False
    while stop.reason is None:
        source = messages_so_far(session, wanted, setup, starts)
        found, sampled = take_options(validated, peek(session, source), earlier)
        if sampled.read:
            stated = ", ".join(f"{name}={value}" for name, value in sorted(sampled.taken.items())) or "none"
            say(f"options of the producer that a sample of {sampled.read:,} messages decides: {stated}")
            return found, structs.replace(setup, options=dict(sampled.taken))
        if wait is None:
            return validated, setup
        if not said:
            say("there is no message that could tell the options of the producer: waiting for the first")
            said = True
        sleep(max(wait, 1.0), stop)
    return None


def messages_so_far(session: SparkSession, wanted: Wanted, setup: StreamSetup, starts: Offsets) -> TopicInput:
    """Return all messages from where the stream begins to the end of its topics now."""
    source = read_topics(
        SparkEngine(session), wanted.bootstrap, wanted.topics, parse_range(), wanted.properties, headers=False,
        since=starts,
    )  # fmt: skip
    return source if setup.partitions is None else replace(source, selected=_named(source.selected, setup.partitions))


def _named(selected: Mapping[str, Mapping[int, Any]], named: Mapping[str, list[int]]) -> dict[str, dict[int, Any]]:
    return {topic: {one: found[one] for one in named[topic]} for topic, found in selected.items()}


def peek(session: SparkSession, source: TopicInput) -> Callable[[], Iterable[Any]]:
    """Return what reads a sample of an input."""
    return lambda: source.peek(SparkEngine(session), ENOUGH)


def sleep(seconds: float, stop: Stop) -> None:
    """Wait for some seconds, or until the run is stopped."""
    until = time.monotonic() + seconds
    while stop.reason is None and time.monotonic() < until:
        time.sleep(_ASK_SECONDS)
