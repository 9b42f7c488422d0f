"""`cdc-contracts audit`: whether every message of a topic or file says what its contract says."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from cdc_contracts.cli import following, reports, running, topics
from cdc_contracts.cli.judging import FailOn, ShowValues
from cdc_contracts.cli.options import AsJson, spread
from cdc_contracts.cli.ranging import NewVersions, RangedJudging, check_new_versions, fit_scope, write_versions
from cdc_contracts.registry.errors import UsageError

app = typer.Typer(help="Judge every message of a topic or file against its contract.", no_args_is_help=True)


@app.command("topic", short_help="Judge every message of topics, or of a stream.")
@spread
def audit_topic(
    brokers: running.Brokers,
    reading: running.Reading,
    stream: following.Following,
    judging: RangedJudging,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="TOPIC", help="Topics, or --pattern or --all.", show_default=False)
    ] = None,
    fail_on: FailOn = "warning",
    show_values: ShowValues = False,
    report: reports.ReportFiles = None,
    baseline: reports.KnownFindings = None,
    new_baseline: reports.NewBaseline = None,
    new_versions: NewVersions = None,
    as_json: AsJson = False,
) -> None:
    """Judge every message of a range of one or more topics, read once, or of a stream."""
    reports.check_targets(report, new_baseline=new_baseline, known=baseline, kept=[brokers.since_last])
    check_new_versions(new_versions, [*(report or ()), new_baseline, baseline, brokers.since_last, judging.versions])
    known = reports.open_baseline(baseline)
    judge = partial(judging.open_scope, reading=reading, show_values=show_values)
    if topics.is_followed(stream, reading, brokers):
        if new_versions is not None:
            raise UsageError("--write-versions does not go with --follow", mend="audit what is there now, without it")
        ending = following.Ending(fail_on, as_json, report, known, new_baseline)
        topics.follow_audit(names, reading, brokers, judging.contract, judge, judging.ranged_topics, stream, ending)
        return
    bookmarks = topics.open_bookmarks(brokers)
    opened = topics.open_inputs(names, reading, brokers, judging.contract, judge, bookmarks, judging.ranged_topics)
    with running.open_engine(reading, brokers) as session:
        told, code = running.watch_audit(session, opened(session), fail_on, reading.time_limit)
        if new_versions is not None:
            write_versions(told, new_versions, judging.open_terms()[0])
        running.finish(
            told, code, as_json=as_json, targets=report, known=known, new_baseline=new_baseline,
            bookmarks=bookmarks,
        )  # fmt: skip


@app.command("file", short_help="Judge every message of files or folders.")
@spread
def audit_file(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Files or folders: .jsonl, .ndjson, .parquet, .json, .avro.")
    ],
    reading: running.Reading,
    judging: RangedJudging,
    whole: Annotated[bool, typer.Option("--whole", help="Each file is one message.")] = False,
    fail_on: FailOn = "warning",
    show_values: ShowValues = False,
    report: reports.ReportFiles = None,
    baseline: reports.KnownFindings = None,
    new_baseline: reports.NewBaseline = None,
    new_versions: NewVersions = None,
    as_json: AsJson = False,
) -> None:
    """Judge every message of files: .jsonl (a message a line), .parquet (a capture), .json (one message)."""
    reports.check_targets(report, new_baseline=new_baseline, known=baseline, kept=paths)
    check_new_versions(new_versions, [*(report or ()), new_baseline, baseline, *paths, judging.versions])
    known = reports.open_baseline(baseline)
    scope = judging.open_scope(reading=reading, show_values=show_values)
    source = running.open_files(
        paths, reading.start, reading.end, whole=whole, cores=reading.cores, sample=reading.sample
    )
    fitted = fit_scope(scope, source.spans, some=running.names_partitions(reading.start, reading.end))
    with running.open_engine(reading) as session:
        told, code = running.watch_audit(session, [(source, fitted)], fail_on, reading.time_limit)
        if new_versions is not None:
            write_versions(told, new_versions, judging.open_terms()[0])
        running.finish(told, code, as_json=as_json, targets=report, known=known, new_baseline=new_baseline)
