"""`cdc-contracts decode`: the conforming messages of a topic or file as one table of changes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cdc_contracts.cli import console, following, judging, reports, running
from cdc_contracts.cli.options import AsJson, ContractFolders, spread
from cdc_contracts.registry.exits import EXIT_CODES

app = typer.Typer(help="Decode conforming messages into canonical rows.", no_args_is_help=True)

Target = Annotated[str, typer.Option("--to", metavar="DIR", help="Where the rows go; a local folder or a URI.")]
Replace = Annotated[
    bool, typer.Option("--replace", help="Put this run in the place of others that read the same records.")
]
NewEpoch = Annotated[
    bool,
    typer.Option("--new-epoch", help="Follow with a new checkpoint, from where the runs of DIR end or --from says."),
]
TrustContract = Annotated[
    bool, typer.Option("--trust-contract", help="Publish as declared although a record proves another version.")
]


@app.command("topic", short_help="Decode a range of one or more topics, or follow them.")
@spread
def decode_topic(
    topics: Annotated[list[str], typer.Argument(metavar="TOPIC...", help="The topics.")],
    bootstrap: running.Bootstrap,
    target: Target,
    stream: following.Following,
    contract: judging.Contract = None,
    start: running.From = None,
    end: running.Until = "latest",
    replace: Replace = False,
    trust_contract: TrustContract = False,
    tables: judging.Tables = None,
    table: judging.Table = None,
    parameters: judging.Parameters = None,
    severities: judging.Raised = None,
    fail_on: judging.FailOn = "error",
    report: reports.ReportFiles = None,
    as_json: AsJson = False,
    kafka_config: running.KafkaConfig = None,
    kafka_options: running.KafkaOptions = None,
    folders: ContractFolders = None,
    max_bytes: judging.MaxBytes = judging.MOST_BYTES,
    strict_json: judging.StrictJson = False,
    cores: running.Cores = None,
    jars: running.Jars = None,
    packages: running.Packages = None,
    new_epoch: NewEpoch = False,
) -> None:
    """Decode a range of one or more topics into DIR/changes, control, quarantine and ledger."""
    stream.check(refused={"--until": end != "latest"})
    reports.check_targets(report)
    scope = judging.open_run(
        contract, folders=folders, tables=tables, parameters=parameters, severities=severities, fail_on=fail_on,
        max_bytes=max_bytes, strict_json=strict_json, topics=topics, table=table,
    )  # fmt: skip
    wanted, properties = running.parse_topic_options(start, end, kafka_config, kafka_options)
    options = running.DecodeOptions(target, fail_on, replace=replace, trust_contract=trust_contract)
    if stream.follow:
        place = following.Place(bootstrap, topics, wanted if start else None, properties, cores, jars, packages)
        following.follow_decode(
            stream, place, scope, following.Ending(fail_on, as_json, report), options, new_epoch=new_epoch
        )
        return
    with running.spark_session(kafka=True, cores=cores, jars=jars, packages=packages) as session:
        source = running.open_topics(session, bootstrap, topics, wanted, properties, headers=True)
        running.finish_decode(running.watch_decode(session, source, scope, options), as_json=as_json, targets=report)


@app.command("file", short_help="Decode the messages of files.")
def decode_file(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Files or folders: .jsonl, .ndjson, .parquet, .json, .avro.")
    ],
    target: Target,
    contract: judging.Contract = None,
    start: running.From = None,
    end: running.Until = "latest",
    whole: Annotated[bool, typer.Option("--whole", help="Each file is one message.")] = False,
    replace: Replace = False,
    trust_contract: TrustContract = False,
    tables: judging.Tables = None,
    table: judging.Table = None,
    parameters: judging.Parameters = None,
    severities: judging.Raised = None,
    fail_on: judging.FailOn = "error",
    report: reports.ReportFiles = None,
    as_json: AsJson = False,
    folders: ContractFolders = None,
    max_bytes: judging.MaxBytes = judging.MOST_BYTES,
    strict_json: judging.StrictJson = False,
    cores: running.Cores = None,
) -> None:
    """Decode the messages of files into DIR/changes, control, quarantine and ledger."""
    reports.check_targets(report, kept=paths)
    scope = judging.open_run(
        contract, folders=folders, tables=tables, parameters=parameters, severities=severities, fail_on=fail_on,
        max_bytes=max_bytes, strict_json=strict_json, table=table,
    )  # fmt: skip
    source = running.open_files(paths, start, end, whole=whole, cores=cores)
    with running.spark_session(kafka=False, cores=cores, jars=None, packages=None) as session:
        options = running.DecodeOptions(target, fail_on, replace=replace, trust_contract=trust_contract)
        running.finish_decode(running.watch_decode(session, source, scope, options), as_json=as_json, targets=report)


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
        console.say(f"{joined.rows:,} updates joined in {joined.directory}, {len(joined.lone):,} halves alone")
    raise typer.Exit(EXIT_CODES[joined.as_document()["verdict"]])
