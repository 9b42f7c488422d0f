"""`cdc-contracts replay`: quarantined records that conform by now are decoded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cdc_contracts.cli.options import output_options, run_options
from cdc_contracts.cli.options.shared_options import AsJson, spread
from cdc_contracts.cli.options.validation_options import FailOn
from cdc_contracts.cli.options.version_options import RangedValidationOptions
from cdc_contracts.cli.output import console, report_output
from cdc_contracts.registry.core.common.exit_codes import EXIT_CODES

if TYPE_CHECKING:
    from cdc_contracts.spark_checks.decoding import DecodedRun
    from cdc_contracts.spark_checks.runs.quarantine_files import QuarantineFiles, QuarantineInput

app = typer.Typer(help="Decode quarantined records that now conform.", no_args_is_help=True)


@app.command("quarantine", short_help="Re-validate and decode the quarantine of a directory.")
@spread
def replay_quarantine(
    *,
    directory: Annotated[str, typer.Argument(metavar="DIR", help="The directory of `decode --to`.")],
    validating: RangedValidationOptions,
    topics: Annotated[
        list[str] | None, typer.Option("--topic", metavar="TOPIC", help="Replay only this topic. Repeatable.")
    ] = None,
    schema: Annotated[
        str | None,
        typer.Option(
            "--to", metavar="table:CATALOG.DB", help="Where the typed tables are, if the runs do not record this."
        ),
    ] = None,
    trust_contract: Annotated[
        bool, typer.Option("--trust-contract", help="Publish as declared even if a record proves another version.")
    ] = False,
    fail_on: FailOn = "error",
    report: report_output.ReportFiles = None,
    as_json: AsJson = False,
    chosen: run_options.EngineOptions,
) -> None:
    """Re-validate the quarantined records of DIR and decode those that now conform, exactly once."""
    from cdc_contracts.cli.output.progress import progress
    from cdc_contracts.spark_checks import replaying

    report_output.check_targets(report)
    found, source = _open(directory, topics or ())
    output = _options(found, directory, schema, trust_contract=trust_contract)
    output.check(local=chosen.local)
    validation = validating.open_validation(source.read_topics)
    if not source.waiting:
        report_output.print_report(
            replaying.report_nothing(source, validation, fail_on), as_json=as_json, targets=report
        )
        return
    with (
        run_options.start_engine(chosen, kafka=False, formats=[output.table_format]) as engine,
        output_options.naming_full_output(directory),
        progress(engine, source.spans) as watch,
    ):
        opened = output.open(validation)
        decoded = replaying.replay_quarantine(engine, source, validation, opened, fail_on=fail_on, watch=watch)
    _finish(decoded, source, as_json=as_json, targets=report)


def _open(directory: str, topics: Sequence[str]) -> tuple[QuarantineFiles, QuarantineInput]:
    """Return the quarantine files and the records to replay, and print their counts on stderr."""
    from cdc_contracts.registry.core.report.report_wording import count_of
    from cdc_contracts.spark_checks.runs.quarantine_files import list_quarantine, open_quarantine
    from cdc_contracts.spark_checks.runs.run_directory import RunDirectory

    runs = RunDirectory(directory)
    found = list_quarantine(runs)
    found.check_topics(topics, directory)
    source = open_quarantine(runs, found, topics)
    console.say(
        f"to validate: {count_of(source.records, 'record')} of {count_of(len(source.waiting), 'run')} in {directory}"
    )
    if found.redacted:
        console.say(f"  and {sum(found.redacted.values()):,} that were redacted to shapes and cannot be replayed")
    if source.begun is not None:
        console.say(f"replay {source.begun} was interrupted and is finished first; run the command again for the rest")
    return found, source


def _options(
    found: QuarantineFiles, directory: str, schema: str | None, *, trust_contract: bool
) -> output_options.OutputOptions:
    """Return the output options: the same directory and format as those of the runs."""
    known = found.find_schema(None if schema is None else schema.removeprefix(output_options.SCHEMA))
    return output_options.OutputOptions(
        target=directory if known is None else f"{output_options.SCHEMA}{known}",
        table_format=output_options.TableFormat(found.table_format),
        trust_contract=trust_contract,
        files=None if known is None else directory,
        current=found.current,
        drop_duplicates=found.drops,
        outputs=output_options.Outputs.BOTH if found.changes else output_options.Outputs.TABLES,
        layout=output_options.RowLayout(found.shape),
    )


def _finish(decoded: DecodedRun, source: QuarantineInput, *, as_json: bool, targets: Sequence[Path] | None) -> None:
    """Print the outcome of the replay, and end with the exit code of the run."""
    if decoded.withheld is not None:
        output_options.finish_decode(decoded, as_json=as_json, targets=targets)
    report_output.print_report(decoded.report, as_json=as_json, targets=targets)
    if decoded.record is None:
        console.say("none of them conforms; all stay in quarantine")
    else:
        replay = decoded.record.replay
        validated, replayed = (replay.validated, replay.replayed) if replay is not None else (0, 0)
        does = "already exists" if decoded.again else "is published"
        console.say(f"replay {decoded.run} {does}: {replayed:,} decoded, {validated - replayed:,} stay in quarantine")
        output_options.print_tables(decoded.record.tables)
    raise typer.Exit(EXIT_CODES[decoded.report.verdict])
