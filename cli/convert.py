"""`cdc-contracts convert`: messages of a JSON dialect in their Avro form, and back."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from cdc_contracts.cli.options import run_options
from cdc_contracts.cli.options.connection_options import ConnectionOptions
from cdc_contracts.cli.options.remote_options import Remote, open_remote
from cdc_contracts.cli.options.shared_options import ContractFolders, open_catalogue, spread
from cdc_contracts.cli.output import console
from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.common.exit_codes import EXIT_CODES
from cdc_contracts.registry.core.records.conversion.conversion_forms import Framing, MessageForm

if TYPE_CHECKING:
    from cdc_contracts.registry.core.contract.catalogue import Version
    from cdc_contracts.registry.core.records.conversion.converted_records import Counts
    from cdc_contracts.registry.core.records.conversion.converter import Conversion
    from cdc_contracts.registry.core.stats.partition_tallies import Source

app = typer.Typer(help="Convert JSON messages to Avro and back, losslessly.", no_args_is_help=True)
_STDOUT = "-"


Quarantine = Annotated[
    Path | None,
    typer.Option("--quarantine", metavar="FILE.parquet", help="Save refused messages to this file, with the reasons."),
]
Replace = Annotated[bool, typer.Option("--replace", help="Overwrite existing files.")]


@dataclass(frozen=True)
class Converting:
    """Options for the input and output of a conversion."""

    to: Annotated[MessageForm, typer.Option("--to", help="The form to write.")]
    contract: Annotated[
        str | None, typer.Option("--contract", metavar="REF", help="SYSTEM/DIALECT@N; default: the topic's binding.")
    ] = None
    folders: ContractFolders = None
    framing: Annotated[
        Framing | None,
        typer.Option(
            "--framing", help="Framing: a container with the schema (default for .avro), a registry frame, or bare."
        ),
    ] = None
    schema_id: Annotated[
        int | None,
        typer.Option("--schema-id", metavar="N", help="The schema id; default: that of ids.lock.", min=1,
                     max=2**31 - 1),
    ] = None  # fmt: skip
    registry: Annotated[str | None, typer.Option("--registry", metavar="URL", help="Registry to get the id from.")] = (
        None
    )
    subject: Annotated[
        str | None, typer.Option("--subject", metavar="NAME", help="The subject; default: DIALECT's own.")
    ] = None
    user: Annotated[
        str | None, typer.Option("--user", metavar="NAME", help="Registry user; see `registry push --user`.")
    ] = None
    ca: Annotated[Path | None, typer.Option("--ca", metavar="FILE", help="CA certificates (PEM) for the registry.")] = (
        None
    )

    strict_json: Annotated[
        bool, typer.Option("--strict-json", help="Refuse duplicate member names; by default the last one counts.")
    ] = False

    def open(self, framing: Framing | None, topic: str | None = None) -> Conversion:
        """Return the conversion that the options describe, with the framing.

        Raises UsageError if there is no single version of a JSON dialect, or an option has no effect.
        """
        from cdc_contracts.registry.core.records.conversion.converter import Conversion
        from cdc_contracts.registry.core.schema.message_schemas.message_avro_schema import avro_message_schema

        version = self._version(topic)
        framed = framing in (None, Framing.CONFLUENT)
        if not framed and (self.schema_id is not None or self.registry is not None):
            raise UsageError(
                "only schema registry framing has an id", hint="Use --framing confluent, which writes and reads it."
            )
        conversion = Conversion(
            avro_message_schema(version),
            self.to,
            framing,
            self._id(version) if framed else None,
            strict_json=self.strict_json,
        )
        conversion.check()
        return conversion

    def _version(self, topic: str | None) -> Version:
        from cdc_contracts.registry.core.contract.settings import read_settings

        settings = read_settings(Path.cwd())
        reference = self.contract or settings.contract_of([topic] if topic else [])
        if reference is None or reference == "auto":
            raise UsageError("a conversion needs a contract", hint="Give --contract SYSTEM/DIALECT@N.")
        catalogue = open_catalogue(self.folders)
        version = catalogue.version(reference)
        if version.meaning.transport == "avro":
            raise UsageError(
                f"{version} is Avro already, not a JSON dialect",
                hint="`cdc-contracts decode` reads its messages; `schema --format avro` prints its schema.",
            )
        return version

    def _id(self, version: Version) -> int | None:
        from cdc_contracts.registry.authoring.sync.schema_ids import locked_id, registered_id

        if self.schema_id is not None:
            if self.registry is not None:
                raise UsageError("--schema-id and --registry both set the id", hint="Give one of them.")
            return self.schema_id
        if self.registry is None:
            return locked_id(version)
        with open_remote(Remote(self.registry, self.user, self.ca)) as client:
            return registered_id(client, version, self.subject)


@app.command("file", short_help="Convert files or standard input.")
@spread
def convert_file(
    paths: Annotated[list[str], typer.Argument(metavar="PATH...|-", help="Files, folders, or - for standard input.")],
    converting: Converting,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Output: .avro, .parquet, .jsonl, .json; - is stdout.")
    ] = _STDOUT,
    quarantine: Quarantine = None,
    replace: Replace = False,
    whole: Annotated[bool, typer.Option("--whole", help="Each file, or the input, is one message.")] = False,
    engine: Annotated[
        run_options.EngineName, typer.Option("--engine", help="local: files are converted without Spark.")
    ] = run_options.EngineName.LOCAL,
) -> None:
    """Convert the messages of files or standard input into one file.

    JSON is read from .jsonl, .json and .parquet files, Avro from .avro containers and .parquet captures. A message that
    the schema cannot hold exactly is refused: reported on stderr, saved with --quarantine, and the exit code is 1.
    """
    from cdc_contracts.registry.core.common.atomic_files import check_new_place
    from cdc_contracts.registry.core.records.conversion.converted_files import (
        check_target,
        convert_files,
        convert_input,
        default_framing,
        open_sink,
        write_records,
    )
    from cdc_contracts.registry.core.records.input_files import STDIN, plan_files

    if engine is not run_options.EngineName.LOCAL:
        raise UsageError("files are converted without Spark", where=f"--engine {engine}", hint="Leave it out.")
    kept = [Path(path) for path in paths if path != STDIN]
    framing = converting.framing
    if converting.to is MessageForm.AVRO and framing is None:
        framing = default_framing(output)
    conversion = converting.open(framing)
    check_target(output, conversion.form, conversion.framing)
    if output != _STDOUT:
        check_new_place(Path(output), kept=kept, replace=replace)
        kept.append(Path(output))
    _check_quarantine(quarantine, kept, replace=replace)
    plan = None if paths == [STDIN] else plan_files([Path(path) for path in paths], whole=whole)
    found = (
        convert_input(sys.stdin.buffer.read(), conversion, whole=whole)
        if plan is None
        else convert_files(plan, conversion)
    )
    with _open_output(output) as file, open_sink(file, output, conversion) as sink:
        counts = write_records(found, sink, quarantine)
    if not output.endswith(".parquet") and (lost := counts.keyed + counts.tombstones):
        console.say(f"{lost:,} records have a key, headers or no value: only a .parquet file keeps these")
    _finish(counts, plan.line_partitions if plan is not None else None, quarantine)


@app.command("topic", short_help="Convert a range of a topic into another topic.")
@spread
def convert_topic(
    *,
    topic: Annotated[str, typer.Argument(metavar="TOPIC", help="The topic to read.")],
    client: ConnectionOptions,
    target: Annotated[str, typer.Option("--output-topic", metavar="TOPIC", help="The topic to write; must exist.")],
    converting: Converting,
    start: run_options.From = None,
    end: run_options.Until = "latest",
    engine_name: Annotated[
        run_options.EngineName,
        typer.Option("--engine", help="spark, or local: the same in one process, without a JVM."),
    ] = run_options.EngineName.SPARK,
    quarantine: Quarantine = None,
    replace: Replace = False,
    spark: run_options.SparkOptions,
) -> None:
    """Convert every record of a range into another topic; partitions and order stay the same.

    Keys, headers and times stay; null values stay null. Nothing is committed. A record that the schema cannot hold
    exactly is refused: reported on stderr, saved with --quarantine, and the exit code is 1.
    """
    from cdc_contracts.spark_checks import topic_conversion as topics

    framing = converting.framing or Framing.CONFLUENT
    if framing is Framing.CONTAINER:
        raise UsageError("a Kafka record cannot be an Avro container", hint="Give --framing confluent or bare.")
    conversion = converting.open(framing, topic)
    _check_quarantine(quarantine, [], replace=replace)
    wanted, connection = run_options.parse_topic_options(start, end, client)
    chosen = run_options.EngineOptions(**vars(spark), engine=engine_name)
    with run_options.start_engine(chosen, kafka=True) as engine:
        source = run_options.open_topics(engine, connection, [topic], wanted, headers=True)
        topics.check_topic(source, target)
        counts = topics.convert_topic(engine, source, target, conversion, quarantine)
    _finish(counts, set(), quarantine)


@contextmanager
def _open_output(output: str) -> Iterator[IO[bytes]]:
    from cdc_contracts.registry.core.common.atomic_files import put_whole

    if output == _STDOUT:
        yield sys.stdout.buffer
        return
    with put_whole(Path(output)) as aside, aside.open("wb") as file:
        yield file


def _check_quarantine(quarantine: Path | None, others: list[Path], *, replace: bool) -> None:
    from cdc_contracts.registry.core.common.atomic_files import check_new_place

    if quarantine is None:
        return
    if quarantine.suffix != ".parquet":
        raise UsageError("a quarantine is a .parquet file", where=str(quarantine))
    check_new_place(quarantine, kept=others, replace=replace)


def _finish(counts: Counts, lines: set[Source] | None, quarantine: Path | None) -> None:
    """Tell what was refused, and what became of all, and end with the exit code."""
    for source, offset, reason in counts.examples:
        of_a_line = lines is None or source in lines
        where = f"{source.topic}:{offset + 1}" if of_a_line else f"{source.topic}/{source.partition}@{offset}"
        console.say(f"{where} refused: {reason}")
    if (more := counts.refused - len(counts.examples)) > 0:
        console.say(f"and {more:,} more that are refused")
    if counts.refused:
        console.say(f"kept in {quarantine}" if quarantine else "--quarantine FILE.parquet keeps refused messages")
    console.say(counts.describe())
    raise typer.Exit(EXIT_CODES[counts.verdict])
