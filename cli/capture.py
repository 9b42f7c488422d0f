"""`cdc-contracts capture`: a range of a topic as one Parquet file, to be audited again anywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cdc_contracts.cli import console, running

app = typer.Typer(help="Keep a range of a topic as one Parquet file.", no_args_is_help=True)


@app.callback()
def _topics_only() -> None:
    """Keep a range of a topic as one Parquet file."""


@app.command("topic", short_help="Write every record of a range to a file.")
def capture_topic(
    topic: Annotated[str, typer.Argument(metavar="TOPIC", help="The topic.")],
    bootstrap: running.Bootstrap,
    target: Annotated[Path, typer.Option("--output", "-o", metavar="FILE.parquet", help="The file to write.")],
    start: running.From = "earliest",
    end: running.To = "latest",
    replace: Annotated[bool, typer.Option("--replace", help="Write over a file that is there.")] = False,
    kafka_config: running.KafkaConfig = None,
    kafka_options: running.KafkaOptions = None,
    cores: running.Cores = None,
    jars: running.Jars = None,
    packages: running.Packages = None,
) -> None:
    """Write every record of a range with its key, value, headers and coordinates, byte for byte."""
    from cdc_contracts.spark_checks import capture

    capture.check_target(target, replace=replace)
    wanted, properties = running.parse_topic_options(start, end, kafka_config, kafka_options)
    with running.spark_session(kafka=True, cores=cores, jars=jars, packages=packages) as session:
        source = running.open_topics(session, bootstrap, [topic], wanted, properties, headers=True)
        rows = capture.capture_topic(session, source, target, replace=replace)
    console.say(f"captured {rows:,} records in {target}")
