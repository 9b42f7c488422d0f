"""`cdc-contracts decode`: the conforming messages of a topic or file as one table of changes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cdc_contracts.cli import console, following, outputs, reports, running
from cdc_contracts.cli.judging import FailOn
from cdc_contracts.cli.options import AsJson, spread
from cdc_contracts.cli.ranging import RangedJudging, fit_scope
from cdc_contracts.registry.exits import EXIT_CODES

app = typer.Typer(help="Decode conforming messages into canonical rows.", no_args_is_help=True)


@app.command("topic", short_help="Decode a range of one or more topics, or follow them.")
@spread
def decode_topic(
    topics: Annotated[list[str], typer.Argument(metavar="TOPIC...", help="The topics.")],
    bootstrap: running.Bootstrap,
    output: outputs.OutputOptions,
    stream: following.DecodeFollowing,
    judging: RangedJudging,
    start: running.From = None,
    end: running.Until = "latest",
    fail_on: FailOn = "error",
    report: reports.ReportFiles = None,
    as_json: AsJson = False,
    kafka_config: running.KafkaConfig = None,
    kafka_options: running.KafkaOptions = None,
    cores: running.Cores = None,
    jars: running.Jars = None,
    packages: running.Packages = None,
) -> None:
    """Decode a range of one or more topics into DIR/changes, tables, control, quarantine and ledger."""
    stream.check(refused={"--until": end != "latest"})
    output.check()
    reports.check_targets(report)
    scope = judging.open_scope(topics)
    wanted, properties = running.parse_topic_options(start, end, kafka_config, kafka_options)
    if stream.follow:
        place = following.Place(bootstrap, topics, wanted if start else None, properties, cores, jars, packages)
        following.follow_decode(stream, place, scope, following.Ending(fail_on, as_json, report), output)
        return
    with running.spark_session(
        kafka=True, cores=cores, jars=jars, packages=packages, formats=[output.table_format]
    ) as session:
        source = running.open_topics(session, bootstrap, topics, wanted, properties, headers=True)
        fitted = fit_scope(scope, source.spans, some=wanted.names_partitions)
        decoded = outputs.watch_decode(session, source, fitted, output.open(scope.catalogue), fail_on)
        outputs.finish_decode(decoded, as_json=as_json, targets=report)


@app.command("file", short_help="Decode the messages of files.")
@spread
def decode_file(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Files or folders: .jsonl, .ndjson, .parquet, .json, .avro.")
    ],
    output: outputs.OutputOptions,
    judging: RangedJudging,
    start: running.From = None,
    end: running.Until = "latest",
    whole: Annotated[bool, typer.Option("--whole", help="Each file is one message.")] = False,
    fail_on: FailOn = "error",
    report: reports.ReportFiles = None,
    as_json: AsJson = False,
    cores: running.Cores = None,
    jars: running.Jars = None,
    packages: running.Packages = None,
) -> None:
    """Decode the messages of files into DIR/changes, tables, control, quarantine and ledger."""
    reports.check_targets(report, kept=paths)
    output.check()
    scope = judging.open_scope()
    source = running.open_files(paths, start, end, whole=whole, cores=cores)
    scope = fit_scope(scope, source.spans, some=running.names_partitions(start, end))
    with running.spark_session(
        kafka=False, cores=cores, jars=jars, packages=packages, formats=[output.table_format]
    ) as session:
        decoded = outputs.watch_decode(session, source, scope, output.open(scope.catalogue), fail_on)
        outputs.finish_decode(decoded, as_json=as_json, targets=report)


@app.command("join", short_help="Join updates that came as two messages.")
def join(
    directory: Annotated[str, typer.Argument(metavar="DIR", help="What `decode --to` has written.")],
    as_json: AsJson = False,
    cores: running.Cores = None,
) -> None:
    """Join updates that came as two messages, and tell the halves whose other half is not there."""
    from cdc_contracts.spark_checks.halves import join_halves

    with running.spark_session(kafka=False, cores=cores, jars=None, packages=None) as session:
        joined = join_halves(session, directory)
    if as_json:
        console.print_json(joined.as_document())
    else:
        for half in joined.lone:
            where = f"{half['topic']}/{half['partition']}@{half['offset']}"
            console.print_line(f"{where} {half['update_part']} half of {half['pair_id']!r} is alone")
        again = f", {joined.repeated:,} halves sent again" if joined.repeated else ""
        console.say(f"{joined.rows:,} updates joined in {joined.directory}, {len(joined.lone):,} halves alone{again}")
    raise typer.Exit(EXIT_CODES[joined.as_document()["verdict"]])


@app.command("files", short_help="Print the files that hold the rows of typed tables.")
def files(
    directory: Annotated[str, typer.Argument(metavar="DIR", help="What `decode --to` has written.")],
    table: Annotated[str | None, typer.Argument(metavar="[TABLE]", help="DATABASE.TABLE; else all tables.")] = None,
    as_json: AsJson = False,
) -> None:
    """Print the files that finished runs have written of a typed table, a line each, for any reader of Parquet."""
    from cdc_contracts.spark_checks.readers import table_files

    found = table_files(directory, table)
    if as_json:
        console.print_json([one._asdict() for one in found])
        return
    for one in found:
        console.print_line(one.path)
