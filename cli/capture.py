"""`cdc-contracts capture`: a range of a topic as one Parquet file, to be audited again anywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cdc_contracts.cli.options import run_options
from cdc_contracts.cli.options.connection_options import ConnectionOptions
from cdc_contracts.cli.options.shared_options import spread
from cdc_contracts.cli.output import console

app = typer.Typer(help="Save a range of a topic as one Parquet file.", no_args_is_help=True)


@app.command("topic", short_help="Write every record of a range to a file.")
@spread
def capture_topic(
    *,
    topic: Annotated[str, typer.Argument(metavar="TOPIC", help="The topic.")],
    client: ConnectionOptions,
    target: Annotated[Path, typer.Option("--output", "-o", metavar="FILE.parquet", help="The file to write.")],
    start: run_options.From = "earliest",
    end: run_options.To = "latest",
    replace: Annotated[bool, typer.Option("--replace", help="Overwrite an existing file.")] = False,
    spark: run_options.SparkOptions,
) -> None:
    """Write every record of a range with its key, value, headers and coordinates, byte for byte."""
    from cdc_contracts.spark_checks import topic_capture

    topic_capture.check_target(target, replace=replace)
    wanted, connection = run_options.parse_topic_options(start, end, client)
    with run_options.spark_engine(spark, kafka=True) as engine:
        source = run_options.open_topics(engine, connection, [topic], wanted, headers=True)
        rows = topic_capture.capture_topic(engine.session, source, target, replace=replace)
    console.say(f"captured {rows:,} records in {target}")
