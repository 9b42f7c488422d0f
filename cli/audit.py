"""`cdc-contracts audit`: whether every message of a topic or file conforms to its contract."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from cdc_contracts.cli.options import follow_options, run_options, topic_options
from cdc_contracts.cli.options.input_groups import InputGroup
from cdc_contracts.cli.options.profile_options import ProfileOptions
from cdc_contracts.cli.options.shared_options import AsJson, spread
from cdc_contracts.cli.options.validation_options import FailOn, ShowValues
from cdc_contracts.cli.options.version_options import (
    NewVersions,
    RangedValidationOptions,
    check_new_versions,
    fit_validation,
    write_versions,
)
from cdc_contracts.cli.output import report_output
from cdc_contracts.registry.core.common.errors import UsageError

app = typer.Typer(cls=InputGroup, help="Validate every message of a topic or file.", no_args_is_help=True)


@app.command("topic", short_help="Validate a range of topics, or follow them.")
@spread
def audit_topic(
    brokers: run_options.Brokers,
    reading: run_options.RunOptions,
    stream: follow_options.Following,
    validating: RangedValidationOptions,
    profiling: ProfileOptions,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="TOPIC", help="Topics, or --pattern or --all.", show_default=False)
    ] = None,
    fail_on: FailOn = "warning",
    show_values: ShowValues = False,
    report: report_output.ReportFiles = None,
    baseline: report_output.KnownFindings = None,
    new_baseline: report_output.NewBaseline = None,
    new_versions: NewVersions = None,
    allow_empty: run_options.AllowEmpty = False,
    as_json: AsJson = False,
) -> None:
    """Validate every message in a range of one or more topics, or follow them."""
    kept = [brokers.since_last, profiling.against]
    report_output.check_targets(report, new_baseline=new_baseline, known=baseline, kept=kept)
    check_new_versions(new_versions, [*(report or ()), new_baseline, baseline, *kept, validating.versions])
    known = report_output.open_baseline(baseline)
    against = profiling.open_baseline(validating.open_severities())
    open_validation = profiling.with_profile(
        partial(validating.open_validation, reading=reading, show_values=show_values), against
    )
    ending = report_output.Ending(fail_on, as_json, report, known, new_baseline, against, allow_empty)
    if topic_options.is_followed(stream, reading, brokers):
        if new_versions is not None:
            raise UsageError(
                "--write-versions cannot be combined with --follow",
                hint="Leave out --follow to audit what is there now.",
            )
        topic_options.follow_audit(
            names, reading, brokers, validating.contract, open_validation, validating.ranged_topics, stream, ending
        )
        return
    bookmarks = topic_options.open_bookmarks(brokers)
    opened = topic_options.open_inputs(
        names, reading, brokers, validating.contract, open_validation, bookmarks, validating.ranged_topics
    )
    with run_options.open_engine(reading, brokers) as engine:
        result, code = run_options.watch_audit(engine, opened(engine), fail_on, reading.time_limit)
        if new_versions is not None:
            catalogue, reading_options, _ = validating.open_reading_options()
            write_versions(result, new_versions, catalogue, reading_options.options)
        run_options.finish(result, code, ending, bookmarks)


@app.command("file", short_help="Validate messages of files or folders.")
@spread
def audit_file(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH...|-", help="Files or folders: .jsonl, .ndjson, .parquet, .json, .avro; - for standard input."
        ),
    ],
    reading: run_options.RunOptions,
    validating: RangedValidationOptions,
    profiling: ProfileOptions,
    whole: Annotated[bool, typer.Option("--whole", help="Each file is one message.")] = False,
    fail_on: FailOn = "warning",
    show_values: ShowValues = False,
    report: report_output.ReportFiles = None,
    baseline: report_output.KnownFindings = None,
    new_baseline: report_output.NewBaseline = None,
    new_versions: NewVersions = None,
    as_json: AsJson = False,
) -> None:
    """Validate every message of files: .jsonl (one per line), .parquet (a capture), .json (one message)."""
    kept = [*paths, profiling.against]
    report_output.check_targets(report, new_baseline=new_baseline, known=baseline, kept=kept)
    check_new_versions(new_versions, [*(report or ()), new_baseline, baseline, *kept, validating.versions])
    known = report_output.open_baseline(baseline)
    against = profiling.open_baseline(validating.open_severities())
    validation = profiling.with_profile(validating.open_validation, against)(reading=reading, show_values=show_values)
    source = run_options.open_files(paths, reading.start, reading.end, whole=whole, sample=reading.sample, stdin=True)
    fitted = fit_validation(validation, source.spans, some=run_options.names_partitions(reading.start, reading.end))
    with run_options.open_engine(reading) as engine:
        result, code = run_options.watch_audit(engine, [(source, fitted)], fail_on, reading.time_limit)
        if new_versions is not None:
            catalogue, reading_options, _ = validating.open_reading_options()
            write_versions(result, new_versions, catalogue, reading_options.options)
        run_options.finish(result, code, report_output.Ending(fail_on, as_json, report, known, new_baseline, against))
