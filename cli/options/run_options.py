"""Run options: options of commands that read topics or files with an execution engine, and the start of engines."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cdc_contracts.cli.options.arrow_start import start_arrow
from cdc_contracts.cli.options.connection_options import Connection, ConnectionOptions
from cdc_contracts.cli.options.shared_options import parse_pairs
from cdc_contracts.cli.output import console, report_output
from cdc_contracts.registry.core.common.errors import UnavailableError, UsageError
from cdc_contracts.registry.core.common.exit_codes import EXIT_CODES, INTERRUPTED, TERMINATED
from cdc_contracts.registry.core.common.extras import has_extra, install_command, require_extra

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from cdc_contracts.registry.core.report.report_model import Report
    from cdc_contracts.registry.core.validate.validation_context import Undetected, ValidationContext
    from cdc_contracts.spark_checks.engines.engines import Engine, Input
    from cdc_contracts.spark_checks.engines.spark_engine import SparkEngine
    from cdc_contracts.spark_checks.inputs.file_inputs import FileInput
    from cdc_contracts.spark_checks.inputs.sources import TopicInput
    from cdc_contracts.spark_checks.kafka.bookmarks import Bookmarks, Offsets
    from cdc_contracts.spark_checks.kafka.offsets import Range

From = Annotated[
    str | None,
    typer.Option(
        "--from", metavar="WHERE", help="earliest, offset:N, last:N, a time, or JSON.", show_default="earliest"
    ),
]
To = Annotated[
    str, typer.Option("--to", "--until", metavar="WHERE", help="latest, offset:N, a time, or JSON: the end, exclusive.")
]
Until = Annotated[
    str, typer.Option("--until", metavar="WHERE", help="latest, offset:N, a time, or JSON: the end, exclusive.")
]
Cores = Annotated[int | None, typer.Option("--cores", help="How many cores to use; default: all.", min=1)]
Jars = Annotated[list[Path] | None, typer.Option("--jars", metavar="JAR", help="A connector on disk. Repeatable.")]
Packages = Annotated[
    list[str] | None,
    typer.Option("--packages", metavar="G:A:V", help="A connector by its Maven coordinates. Repeatable."),
]
Master = Annotated[
    str | None,
    typer.Option(
        "--master",
        metavar="URL",
        help="The cluster: spark://HOST:PORT, yarn, k8s://URL; default: as Spark is configured.",
    ),
]
Remote = Annotated[
    str | None, typer.Option("--remote", metavar="URL", help="A Spark Connect server instead: sc://HOST:PORT.")
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--conf", metavar="NAME=VALUE", help="A Spark property, such as spark.archives=FILE. Repeatable."),
]


_MOST_TOPICS = 20
"""The most topics that are named one by one."""
_STOP_SECONDS = 10
"""A JVM that does not stop its session in this time ends with this process."""
_MOST_PARTITIONS = 8
"""The most partitions of a topic whose range is printed in full; that of more is too long to read."""


class EngineName(StrEnum):
    """The execution engine."""

    SPARK = "spark"
    LOCAL = "local"


class Wrapping(StrEnum):
    """What another tool wrapped messages in: `registry.core.message.unwrapping.WRAPPINGS`, a slow import."""

    BASE64 = "base64"
    CONNECT_JSON = "connect-json"


Engines = Annotated[
    EngineName, typer.Option("--engine", help="spark, or local: the same in one process, without a JVM.")
]
AllowEmpty = Annotated[
    bool, typer.Option("--allow-empty", help="Exit with 0, not 4, if there is no record to read, as on a quiet topic.")
]
Unwrap = Annotated[Wrapping | None, typer.Option("--unwrap", help="Extract messages that another tool has wrapped.")]


@dataclass(frozen=True)
class SparkOptions:
    """Options of a Spark session."""

    cores: Cores = None
    jars: Jars = None
    packages: Packages = None
    master: Master = None
    remote: Remote = None
    conf: Settings = None

    def check(self, *, local: bool = False) -> None:
        """Raise UsageError if options exclude each other, or are for Spark and there is none (`local`)."""
        given = {"--master": self.master, "--remote": self.remote, "--conf": self.conf}
        if local and (named := [name for name, value in given.items() if value]):
            raise UsageError(f"{named[0]} is for Spark, and --engine local works without it", hint="Leave out one.")
        mine = given | {"--cores": self.cores, "--jars": self.jars, "--packages": self.packages}
        if self.remote and (named := [name for name, value in mine.items() if value and name != "--remote"]):
            raise UsageError(
                f"{named[0]} cannot be combined with --remote",
                hint="A Spark Connect server is started with its own settings, jars and packages.",
            )

    @property
    def settings(self) -> dict[str, str]:
        """The settings of Spark. Raises UsageError if one is not NAME=VALUE."""
        return parse_pairs(self.conf, "--conf")


@dataclass(frozen=True)
class EngineOptions(SparkOptions):
    """Options of the execution engine: a Spark session, or this process."""

    engine: Engines = EngineName.SPARK

    @property
    def local(self) -> bool:
        return self.engine is EngineName.LOCAL


@dataclass(frozen=True)
class RunOptions:
    """Options of the input and the execution engine."""

    start: From = None
    end: To = "latest"
    engine: Engines = EngineName.SPARK
    cores: Cores = None
    master: Master = None
    remote: Remote = None
    conf: Settings = None
    unwrap: Unwrap = None
    sample: Annotated[
        str | None, typer.Option("--sample", metavar="1/10|0.1", help="Read only this part, in slices of the range.")
    ] = None
    time_limit: Annotated[
        float | None,
        typer.Option(
            "--time-limit", metavar="SECONDS", help="Stop after this time and report what was read.", min=0.001
        ),
    ] = None
    include: Annotated[
        list[str] | None,
        typer.Option("--include", metavar="GLOB", help="Read only these tables: [DATABASE.]TABLE. Repeatable."),
    ] = None
    exclude: Annotated[
        list[str] | None, typer.Option("--exclude", metavar="GLOB", help="Exclude these tables. Repeatable.")
    ] = None

    def engine_options(self, brokers: Brokers | None = None) -> EngineOptions:
        """Return the options of what does the work; the jars of a connector stand among those of the brokers."""
        jars, packages = (brokers.jars, brokers.packages) if brokers else (None, None)
        return EngineOptions(self.cores, jars, packages, self.master, self.remote, self.conf, self.engine)


@dataclass(frozen=True)
class Brokers(ConnectionOptions):
    """Options of the topics, their brokers, and the connection."""

    pattern: Annotated[
        str | None,
        typer.Option("--pattern", metavar="REGEX", help=r"All topics whose whole name matches, e.g. 'shop\..*'."),
    ] = None
    every: Annotated[bool, typer.Option("--all", help="All topics that cdc-contracts.yaml binds to contracts.")] = False
    since_last: Annotated[
        Path | None,
        typer.Option(
            "--since-last", metavar="FILE", help="Read what is new since the run that wrote FILE, then update it."
        ),
    ] = None
    jars: Jars = None
    packages: Packages = None


@contextmanager
def open_engine(reading: RunOptions, brokers: Brokers | None = None) -> Iterator[Engine]:
    """Start the execution engine of a run."""
    with start_engine(reading.engine_options(brokers), kafka=brokers is not None) as engine:
        yield engine


@contextmanager
def start_engine(chosen: EngineOptions, *, kafka: bool, formats: Sequence[str] = ()) -> Iterator[Engine]:
    """Start the chosen engine, able to read topics, if `kafka`, and to write tables of these formats."""
    chosen.check(local=chosen.local)
    if chosen.local:
        require_extra("arrow")
        from cdc_contracts.spark_checks.engines.local_engine import LOCAL

        start_arrow()
        yield LOCAL
        return
    if not has_extra("spark"):
        hint = f"Add --engine local, which needs no Spark, or run `{install_command('spark')}`."
        raise UnavailableError("Spark is not installed", hint=hint)
    with spark_engine(chosen, kafka=kafka, formats=formats) as engine:
        yield engine


@contextmanager
def spark_engine(spark: SparkOptions, *, kafka: bool, formats: Sequence[str] = ()) -> Iterator[SparkEngine]:
    """Start the engine of a Spark session, its own or one of a Spark Connect server."""
    spark.check()
    if spark.remote is None:
        from cdc_contracts.spark_checks.engines.spark_engine import SparkEngine

        with spark_session(spark, kafka=kafka, formats=formats) as session:
            yield SparkEngine(session)
        return
    from cdc_contracts.spark_checks.engines.connect_engine import ConnectEngine, open_remote

    session = open_remote(spark.remote, formats=formats, say=console.note)
    try:
        yield ConnectEngine(session)
    finally:
        session.stop()


@contextmanager
def spark_session(spark: SparkOptions, *, kafka: bool, formats: Sequence[str] = ()) -> Iterator[SparkSession]:
    """Open a Spark session; one that was started for it is stopped. Raises UsageError if a remote one is wanted."""
    from pyspark import SparkContext

    from cdc_contracts.spark_checks.engines.stopping import give_time
    from cdc_contracts.spark_checks.kafka.failures import outliving
    from cdc_contracts.spark_checks.spark.cluster_workers import check_workers
    from cdc_contracts.spark_checks.spark.spark_session import open_session

    if spark.remote is not None:
        raise UsageError("this needs a Spark session of its own, not one of Spark Connect", hint="Give --master.")
    own = SparkContext._active_spark_context is None  # noqa: SLF001  there is no other way to know
    with outliving():
        session = open_session(
            kafka=kafka, cores=spark.cores, jars=[str(jar) for jar in spark.jars or ()],
            packages=spark.packages or (), formats=formats, master=spark.master, settings=spark.settings,
            say=console.note,
        )  # fmt: skip
        try:
            check_workers(session, console.note)
            yield session
        finally:
            if own:
                give_time(session.stop, _STOP_SECONDS)


def parse_topic_options(start: str | None, end: str, client: ConnectionOptions) -> tuple[Range, Connection]:
    """Return the range, and the brokers with their client properties, without a request to them."""
    from cdc_contracts.spark_checks.kafka.offsets import parse_range

    return parse_range(start or "earliest", end), client.open()


def names_partitions(start: str | None, end: str) -> bool:
    """Return whether a range reads only the partitions that it names."""
    from cdc_contracts.spark_checks.kafka.offsets import parse_range

    return parse_range(start or "earliest", end).names_partitions


def refuse_for_files(given: Mapping[str, object]) -> None:
    """Raise UsageError if options of topics were given for a file: they would have no effect."""
    for option, value in given.items():
        if value:
            raise UsageError(
                f"{option} is for topics, not for files", hint="To read a topic give `topic` and its name."
            )


def open_topics(
    engine: Engine, connection: Connection, topics: Sequence[str], wanted: Range, *, headers: bool,
    since: Offsets | None = None,
) -> TopicInput:  # fmt: skip
    """Return the current range of the topics, and print it on stderr so that the run can be repeated."""
    from cdc_contracts.spark_checks.inputs.sources import read_topics

    named = ", ".join(topics) if len(topics) <= _MOST_TOPICS else f"{len(topics):,} topics"
    console.note(f"asking {connection.bootstrap} for the offsets of {named}")
    source = read_topics(
        engine, connection.bootstrap, topics, wanted, connection.properties,
        tasks=engine.tasks, headers=headers, since=since,
    )  # fmt: skip
    _print_ranges(source)
    return source


def open_files(
    paths: Sequence[Path], start: str | None, end: str, *, whole: bool, sample: str | None = None, stdin: bool = False
) -> FileInput:
    """Return the messages of files in a range, and print it on stderr so that the run can be repeated.

    `stdin` says whether `-` is standard input: not for runs that are known by what they have read.
    """
    from cdc_contracts.registry.core.records.input_files import STDIN, keep_input
    from cdc_contracts.spark_checks.inputs.file_inputs import read_files
    from cdc_contracts.spark_checks.inputs.range_slices import parse_fraction
    from cdc_contracts.spark_checks.kafka.offsets import parse_range

    fraction = parse_fraction(sample) if sample is not None else None
    given = [keep_input()] if stdin and list(map(str, paths)) == [STDIN] else paths
    source = read_files(given, parse_range(start or "earliest", end), whole=whole)
    _print_ranges(source)
    return replace(source, paths=tuple(map(str, paths)), sample=fraction)


def watch_audit(
    engine: Engine,
    inputs: Sequence[tuple[Input, ValidationContext | Undetected]],
    fail_on: str,
    seconds: float | None = None,
) -> tuple[Report, int]:
    """Audit the inputs with progress on a terminal; return the report of all, and its exit code.

    Ctrl-C, SIGTERM, or a time limit end the run with a report of the records read.
    """
    from cdc_contracts.cli.output.progress import progress
    from cdc_contracts.spark_checks.auditing import audit_inputs
    from cdc_contracts.spark_checks.engines.stopping import stopping

    spans = {place: span for source, _ in inputs for place, span in source.spans.items()}
    with stopping(seconds) as stop:
        with progress(engine, spans) as watch:
            report = audit_inputs(engine, inputs, fail_on=fail_on, watch=watch, stop=stop)
        if stop.signal is not None and report.stopped:
            return report, TERMINATED if stop.signal == signal.SIGTERM else INTERRUPTED
    return report, EXIT_CODES[report.verdict]


def finish(report: Report, code: int, ending: report_output.Ending, bookmarks: Bookmarks | None = None) -> None:
    """Print the report without known findings, write `bookmarks`, and end with the exit code."""
    result = ending.compare(report, ending.new_baseline)
    if code == EXIT_CODES[report.verdict]:
        code = report_output.code_of(result, allow_empty=ending.allow_empty)
    report_output.print_report(result, as_json=ending.as_json, targets=ending.targets)
    if bookmarks is not None:
        bookmarks.write(report.ledger)
    raise typer.Exit(code)


def _print_ranges(source: TopicInput | FileInput) -> None:
    from cdc_contracts.registry.core.common.safe_text import visible
    from cdc_contracts.spark_checks.kafka.offsets import bounds_of, by_topic, range_words

    found = by_topic(bounds_of(source.spans))
    if len(found) > _MOST_TOPICS:
        read = sum(span.end - span.start for span in source.spans.values())
        console.note(f"{read:,} offsets of {len(found):,} topics, listed in the report")
        return
    for topic, words in range_words(found).items():
        bounds = found[topic].values()
        if len(bounds) <= _MOST_PARTITIONS:
            console.note(f"{visible(topic)}: --from '{words['from']}' --until '{words['to']}'")
        else:
            read = sum(end - start for start, end in bounds)
            console.note(f"{visible(topic)}: {read:,} offsets of {len(bounds):,} partitions, listed in the report")
