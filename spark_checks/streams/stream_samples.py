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
from cdc_contracts.spark_checks.streams.checkpoints import Checkpoint, StreamSetup
from cdc_contracts.spark_checks.streams.stream_batches import StreamRun

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


@dataclass(frozen=True)
class TopicStream:
    """A stream of topics: the session that follows them, and the checkpoint that records how far it has come."""

    session: SparkSession
    checkpoint: Checkpoint
    wanted: Wanted


@dataclass(frozen=True)
class Backlog:
    """The messages that are in the topics now, from where the stream begins."""

    stream: TopicStream
    setup: StreamSetup
    starts: Offsets

    def input(self) -> TopicInput:
        """Return them as an input that ends where its topics end now."""
        wanted, named = self.stream.wanted, self.setup.partitions
        source = read_topics(
            SparkEngine(self.stream.session), wanted.bootstrap, wanted.topics, parse_range(), wanted.properties,
            since=self.starts,
        )  # fmt: skip
        return source if named is None else replace(source, selected=_named(source.selected, named))

    def peek(self) -> Callable[[], Iterable[Any]]:
        """Return what reads a sample of them."""
        source = self.input()
        return lambda: source.peek(SparkEngine(self.stream.session), ENOUGH)


def take_stream_options(
    validated: ValidationContext, backlog: Backlog, run: StreamRun, earlier: Mapping[str, str]
) -> tuple[ValidationContext, StreamSetup] | None:
    """Return the context with the options of the producer that a sample decides, and the setup that keeps them.

    `earlier` are those that runs of the output over what comes before were read by: they hold unless the sample rules
    them out. Once options are kept, every start of the stream reads by the same. Without a message there is no sample
    yet: it is waited for, or, if the run does not wait, taken at the next start. None if the run was stopped meanwhile.
    """
    setup = backlog.setup
    if setup.options is not None:
        asked = open_options(validated)
        return validated.stating({name: value for name, value in setup.options.items() if name in asked}), setup
    said = False
    while run.stop.reason is None:
        found, sampled = take_options(validated, backlog.peek(), earlier)
        if sampled.read:
            stated = ", ".join(f"{name}={value}" for name, value in sorted(sampled.taken.items())) or "none"
            run.say(f"options of the producer that a sample of {sampled.read:,} messages decides: {stated}")
            return found, structs.replace(setup, options=dict(sampled.taken))
        if run.wait is None:
            return validated, setup
        if not said:
            run.say("there is no message that could tell the options of the producer: waiting for the first")
            said = True
        sleep(max(run.wait, 1.0), run.stop)
    return None


def _named(selected: Mapping[str, Mapping[int, Any]], named: Mapping[str, list[int]]) -> dict[str, dict[int, Any]]:
    return {topic: {one: found[one] for one in named[topic]} for topic, found in selected.items()}


def sleep(seconds: float, stop: Stop) -> None:
    """Wait for some seconds, or until the run is stopped."""
    until = time.monotonic() + seconds
    while stop.reason is None and time.monotonic() < until:
        time.sleep(_ASK_SECONDS)
