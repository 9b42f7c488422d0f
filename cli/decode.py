"""`cdc-contracts decode`: the conforming messages of a topic or file as one table of changes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cdc_contracts.cli.options import follow_options, output_options, run_options
from cdc_contracts.cli.options.connection_options import ConnectionOptions
from cdc_contracts.cli.options.input_groups import InputGroup
from cdc_contracts.cli.options.shared_options import AsJson, spread
from cdc_contracts.cli.options.validation_options import FailOn
from cdc_contracts.cli.options.version_options import RangedValidationOptions, fit_validation
from cdc_contracts.cli.output import console, report_output
from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.common.exit_codes import EXIT_CODES

app = typer.Typer(cls=InputGroup, help="Decode conforming messages into canonical rows.", no_args_is_help=True)


@app.command("topic", short_help="Decode a range of one or more topics, or follow them.")
@spread
def decode_topic(
    *,
    command: typer.Context,
    topics: Annotated[list[str], typer.Argument(metavar="TOPIC...", help="The topics.")],
    client: ConnectionOptions,
    output: output_options.OutputOptions,
    stream: follow_options.DecodeFollowing,
    validating: RangedValidationOptions,
    start: run_options.From = None,
    end: run_options.Until = "latest",
    fail_on: FailOn = "error",
    report: report_output.ReportFiles = None,
    allow_empty: run_options.AllowEmpty = False,
    as_json: AsJson = False,
    chosen: run_options.EngineOptions,
) -> None:
    """Decode a range of one or more topics into DIR/changes, tables, control, quarantine and ledger."""
    if stream.follow and chosen.local:
        raise UsageError(
            "--follow needs --engine spark",
            hint="Give --engine local, which decodes the records that are there now, and ends.",
        )
    stream.check(refused={"--until": end != "latest"})
    output.check(local=chosen.local)
    report_output.check_targets(report)
    validation = validating.open_validation(topics)
    wanted, connection = run_options.parse_topic_options(start, end, client)
    if stream.follow:
        place = follow_options.StreamPlace(connection, topics, wanted if start else None, chosen)
        ending = report_output.Ending(fail_on, as_json, report, allow_empty=allow_empty)
        follow_options.follow_decode(stream, place, validation, ending, output, command)
        return
    with run_options.start_engine(chosen, kafka=True, formats=[output.table_format]) as engine:
        source = run_options.open_topics(engine, connection, topics, wanted, headers=True)
        fitted = fit_validation(validation, source.spans, some=wanted.names_partitions)
        decoded = output_options.watch_decode(engine, source, fitted, output.open(validation), fail_on)
        output_options.finish_decode(decoded, as_json=as_json, targets=report, allow_empty=allow_empty)


@app.command("file", short_help="Decode the messages of files.")
@spread
def decode_file(
    *,
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH...", help="Files or folders: .jsonl, .ndjson, .parquet, .json, .avro."),
    ],
    output: output_options.OutputOptions,
    validating: RangedValidationOptions,
    start: run_options.From = None,
    end: run_options.Until = "latest",
    whole: Annotated[bool, typer.Option("--whole", help="Each file is one message.")] = False,
    fail_on: FailOn = "error",
    report: report_output.ReportFiles = None,
    as_json: AsJson = False,
    chosen: run_options.EngineOptions,
) -> None:
    """Decode the messages of files into DIR/changes, tables, control, quarantine and ledger."""
    report_output.check_targets(report, kept=paths)
    output.check(local=chosen.local)
    validation = validating.open_validation()
    source = run_options.open_files(paths, start, end, whole=whole)
    validation = fit_validation(validation, source.spans, some=run_options.names_partitions(start, end))
    with run_options.start_engine(chosen, kafka=False, formats=[output.table_format]) as engine:
        decoded = output_options.watch_decode(engine, source, validation, output.open(validation), fail_on)
        output_options.finish_decode(decoded, as_json=as_json, targets=report)


@app.command("join", short_help="Join updates that came as two messages.")
def join(
    directory: Annotated[str, typer.Argument(metavar="DIR", help="The directory of `decode --to`.")],
    as_json: AsJson = False,
    cores: run_options.Cores = None,
) -> None:
    """Join updates that came as two messages, and report unmatched halves."""
    from cdc_contracts.spark_checks.split_updates import join_split_updates

    with run_options.spark_session(run_options.SparkOptions(cores), kafka=False) as session:
        joined = join_split_updates(session, directory)
    if as_json:
        console.print_json(joined.as_document())
    else:
        for half in joined.lone:
            where = f"{half['topic']}/{half['partition']}@{half['offset']}"
            console.print_line(f"{where} {half['update_part']} half of {half['pair_id']!r} is unmatched")
        again = f", {joined.repeated:,} duplicate halves" if joined.repeated else ""
        console.say(
            f"{joined.rows:,} updates joined in {joined.directory}, {len(joined.lone):,} unmatched halves{again}"
        )
    raise typer.Exit(EXIT_CODES[joined.as_document()["verdict"]])


@app.command("files", short_help="Print the files that hold the rows of typed tables.")
def files(
    directory: Annotated[str, typer.Argument(metavar="DIR", help="The directory of `decode --to`.")],
    table: Annotated[str | None, typer.Argument(metavar="[TABLE]", help="DATABASE.TABLE; default: all tables.")] = None,
    as_json: AsJson = False,
) -> None:
    """Print the files that finished runs wrote for a typed table, one per line, for any Parquet reader."""
    from cdc_contracts.spark_checks.table_readers import table_files

    found = table_files(directory, table)
    if as_json:
        console.print_json([one._asdict() for one in found])
        return
    for one in found:
        console.print_line(one.path)
