"""`cdc-contracts audit`: whether every message of a topic or file says what its contract says."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cdc_contracts.cli import judging, reports, running
from cdc_contracts.cli.options import AsJson, ContractFolders

app = typer.Typer(help="Judge every message of a topic or file against its contract.", no_args_is_help=True)

ReportFiles = Annotated[
    list[Path] | None, typer.Option("--report", metavar="FILE.json", help="Also write the report here. Repeatable.")
]


@app.command("topic")
def audit_topic(
    topics: Annotated[list[str], typer.Argument(metavar="TOPIC...")],
    bootstrap: running.Bootstrap,
    contract: judging.Contract = None,
    start: running.From = "earliest",
    end: running.To = "latest",
    tables: judging.Tables = None,
    table: judging.Table = None,
    parameters: judging.Parameters = None,
    severities: judging.Raised = None,
    fail_on: judging.FailOn = "warning",
    report: ReportFiles = None,
    as_json: AsJson = False,
    kafka_config: running.KafkaConfig = None,
    kafka_options: running.KafkaOptions = None,
    folders: ContractFolders = None,
    max_bytes: judging.MaxBytes = judging.MOST_BYTES,
    strict_json: judging.StrictJson = False,
    show_values: judging.ShowValues = False,
    cores: running.Cores = None,
    jars: running.Jars = None,
    packages: running.Packages = None,
) -> None:
    """Judge every message of a range of one or more topics, read once with Spark."""
    reports.check_targets(report)
    scope = judging.open_run(
        contract, folders=folders, tables=tables, parameters=parameters, severities=severities, fail_on=fail_on,
        max_bytes=max_bytes, strict_json=strict_json, topics=topics, table=table,
        show_values=show_values,
    )  # fmt: skip
    wanted, properties = running.parse_topic_options(start, end, kafka_config, kafka_options)
    with running.spark_session(kafka=True, cores=cores, jars=jars, packages=packages) as session:
        source = running.open_topics(session, bootstrap, topics, wanted, properties, headers=False)
        running.finish(running.watch_audit(session, source, scope, fail_on), as_json=as_json, targets=report)


@app.command("file")
def audit_file(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...")],
    contract: judging.Contract = None,
    start: running.From = "earliest",
    end: running.To = "latest",
    whole: Annotated[bool, typer.Option("--whole", help="Each file is one message.")] = False,
    tables: judging.Tables = None,
    table: judging.Table = None,
    parameters: judging.Parameters = None,
    severities: judging.Raised = None,
    fail_on: judging.FailOn = "warning",
    report: ReportFiles = None,
    as_json: AsJson = False,
    folders: ContractFolders = None,
    max_bytes: judging.MaxBytes = judging.MOST_BYTES,
    strict_json: judging.StrictJson = False,
    show_values: judging.ShowValues = False,
    cores: running.Cores = None,
) -> None:
    """Judge every message of files: .jsonl (a message a line), .parquet (a capture), .json (one message)."""
    reports.check_targets(report)
    scope = judging.open_run(
        contract, folders=folders, tables=tables, parameters=parameters, severities=severities, fail_on=fail_on,
        max_bytes=max_bytes, strict_json=strict_json, table=table, show_values=show_values,
    )  # fmt: skip
    source = running.open_files(paths, start, end, whole=whole, cores=cores)
    with running.spark_session(kafka=False, cores=cores, jars=None, packages=None) as session:
        running.finish(running.watch_audit(session, source, scope, fail_on), as_json=as_json, targets=report)
