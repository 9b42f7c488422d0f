"""`cdc-contracts demo`: audit and decode of a generated topic whose producer is upgraded midway."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cdc_contracts.cli.options import output_options, run_options
from cdc_contracts.cli.options.connection_options import Connection
from cdc_contracts.cli.options.shared_options import open_catalogue
from cdc_contracts.cli.output import console, report_output
from cdc_contracts.registry.core.common.extras import require_extra

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from cdc_contracts.registry.core.report.report_model import Report, VersionSwitch
    from cdc_contracts.registry.core.validate.validation_context import ValidationContext
    from cdc_contracts.spark_checks.decoding import DecodedRun
    from cdc_contracts.spark_checks.engines.engines import Input


def demo(
    kafka: Annotated[bool, typer.Option("--kafka", help="Start a real broker and audit the topic in it.")] = False,
    target: Annotated[Path, typer.Option("--to", metavar="DIR", help="The output directory.")] = Path(
        "cdc-contracts-demo"
    ),
    contract: Annotated[
        str | None, typer.Option("--contract", metavar="REF", help="The dialect; default: oms-community/canal.")
    ] = None,
    messages: Annotated[int, typer.Option("--messages", min=400, help="How many messages.")] = 20_000,
    seed: Annotated[int, typer.Option("--seed", help="The same seed gives the same messages.")] = 7,
    cores: run_options.Cores = None,
) -> None:
    """Generate a topic whose producer is upgraded midway, audit and decode it, and say where to look."""
    require_extra("spark")
    from cdc_contracts.spark_checks import demo_topic
    from cdc_contracts.spark_checks.engines.spark_engine import SparkEngine

    version = open_catalogue(None).version(contract or demo_topic.SUBJECT)
    subject = version.subject
    declared = _open(version.reference)
    capture = target / "capture.parquet"
    tables = demo_topic.demo_messages(declared.catalogue, seed=seed, messages=messages, subject=subject)
    made = demo_topic.write_capture(tables, capture)
    console.say(f"wrote {made:,} messages of {demo_topic.TOPIC} to {capture}")
    with ExitStack() as stack:
        session = stack.enter_context(run_options.spark_session(run_options.SparkOptions(cores), kafka=kafka))
        source = _topic(session, capture, target, stack) if kafka else run_options.open_files(
            [capture], "earliest", "latest", whole=False)  # fmt: skip
        console.say(f"\nDoes every message conform to {declared.declared}, the contract that was declared?\n")
        report, code = run_options.watch_audit(SparkEngine(session), [(source, declared)], "warning")
        if report.stopped:
            raise typer.Exit(code)
        report_output.print_report(report, as_json=False, targets=[target / "report.json", target / "report.html"])
        decoded = _decode(session, source, subject, target)
    _print_where_to_look(report, decoded, target)


def _topic(session: SparkSession, capture: Path, target: Path, stack: ExitStack) -> Input:
    from cdc_contracts.spark_checks import demo_topic
    from cdc_contracts.spark_checks.engines.spark_engine import SparkEngine
    from cdc_contracts.spark_checks.kafka.broker import running_broker
    from cdc_contracts.spark_checks.kafka.offsets import parse_range

    broker = stack.enter_context(running_broker(target / "broker", say=console.note))
    topic = f"{demo_topic.TOPIC}.{broker.pid}"
    demo_topic.produce(session, broker, capture, topic)
    console.say(f"sent them to topic {topic} of the broker at {broker.bootstrap}")
    return run_options.open_topics(
        SparkEngine(session), Connection(broker.bootstrap, {}), [topic], parse_range(), headers=True
    )


def _open(reference: str) -> ValidationContext:
    from cdc_contracts.registry.core.contract.catalogue import shipped_catalogue
    from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
    from cdc_contracts.registry.core.validate.validation_context import open_validation

    return open_validation(shipped_catalogue(), reference, ReadingOptions(table="shop.orders"))


def _decode(session: SparkSession, source: Input, subject: str, target: Path) -> DecodedRun:
    from cdc_contracts.spark_checks.engines.spark_engine import SparkEngine

    both = _open(subject)
    output = output_options.OutputOptions(str(target / "decoded"), replace=True)
    return output_options.watch_decode(SparkEngine(session), source, both, output.open(both), "error")


def _switch_of(switch: VersionSwitch) -> str:
    exact = switch.at == switch.after + 1
    return f"upgraded at offset {switch.at}" if exact else f"upgraded between offsets {switch.after} and {switch.at}"


def _print_where_to_look(report: Report, decoded: DecodedRun, target: Path) -> None:
    ledger = decoded.report.ledger
    console.print_heading("What happened")
    rows: list[list[Any]] = [[f"partition {one.partition}", _switch_of(one)] for one in report.switches]
    console.print_table(["", ""], rows or [["no version switch was found", ""]])
    console.print_heading("Where to look")
    console.print_table(["", ""], [
        [str(target / "capture.parquet"), "the messages as received"],
        [str(target / "report.html"), "the report of the audit, for a browser"],
        [str(target / "report.json"), "the same report as JSON"],
        [f"{target}/decoded/changes/run={decoded.run}", f"{ledger.changes:,} row changes of both versions"],
        *([f"{target}/decoded/tables/{one.table}", f"{one.rows:,} of them, with typed columns"]
          for one in (decoded.record.tables if decoded.record is not None else ())),
        [f"{target}/decoded/quarantine/run={decoded.run}", f"{ledger.quarantined:,} messages that conform to neither"],
    ])  # fmt: skip
