"""`cdc-contracts tables infer`: table contracts from the messages of a topic or file, with the evidence."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cdc_contracts.cli import console, running, topics
from cdc_contracts.cli.judging import Contract, Judging, Parameters, Table
from cdc_contracts.cli.options import AsJson, ContractFolders, spread
from cdc_contracts.cli.table_files import Folder, Replace, check_output, file_tables
from cdc_contracts.registry.exits import DRIFT, EXIT_CODES, INCONCLUSIVE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from cdc_contracts.registry.inference.evidence import Evidence
    from cdc_contracts.registry.inference.proposals import Proposal
    from cdc_contracts.registry.scope import Scope, Undetected
    from cdc_contracts.spark_checks.sources import Input

_LONGEST_NAME = 30
"""So much of the name of a column is shown beside what is known of it; the files have all of it."""

app = typer.Typer(help="Make table contracts from what messages show.", no_args_is_help=True)


@app.command("topic", short_help="From the messages of topics.")
@spread
def infer_topic(
    brokers: running.Brokers,
    reading: running.Reading,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="TOPIC", help="Topics, or --pattern or --all.", show_default=False)
    ] = None,
    contract: Contract = None,
    table: Table = None,
    parameters: Parameters = None,
    output: Folder = None,
    replace: Replace = False,
    as_json: AsJson = False,
    folders: ContractFolders = None,
) -> None:
    """Make a contract for each table that the messages of topics have rows of, and show what it rests on."""
    check_output(output)
    judging = Judging(contract=contract, folders=folders, table=table, parameters=parameters)
    judge = partial(judging.open_scope, reading=reading)
    opened = topics.open_inputs(names, reading, brokers, contract, judge, topics.open_bookmarks(brokers))
    with running.open_engine(reading, brokers) as session:
        _infer(session, opened(session), reading, output, replace=replace, as_json=as_json)


@app.command("file", short_help="From the messages of files or folders.")
@spread
def infer_file(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Files or folders: .jsonl, .ndjson, .parquet, .json, .avro.")
    ],
    reading: running.Reading,
    contract: Contract = None,
    whole: Annotated[bool, typer.Option("--whole", help="Each file is one message.")] = False,
    table: Table = None,
    parameters: Parameters = None,
    output: Folder = None,
    replace: Replace = False,
    as_json: AsJson = False,
    folders: ContractFolders = None,
) -> None:
    """Make a contract for each table that the messages of files have rows of, and show what it rests on."""
    check_output(output)
    judging = Judging(contract=contract, folders=folders, table=table, parameters=parameters)
    scope = judging.open_scope(reading=reading)
    source = running.open_files(
        paths, reading.start, reading.end, whole=whole, cores=reading.cores, sample=reading.sample
    )
    with running.open_engine(reading) as session:
        _infer(session, [(source, scope)], reading, output, replace=replace, as_json=as_json)


def _infer(
    session: SparkSession | None, inputs: Sequence[tuple[Input, Scope | Undetected]], reading: running.Reading,
    output: Path | None, *, replace: bool, as_json: bool,
) -> None:  # fmt: skip
    from cdc_contracts.registry.inference.accounts import head_of, notes_of, write_account
    from cdc_contracts.registry.inference.evidence import Evidence
    from cdc_contracts.registry.inference.proposals import propose
    from cdc_contracts.spark_checks.inferring import infer_input
    from cdc_contracts.spark_checks.stopping import stopping

    total = Evidence()
    with stopping(reading.time_limit) as stop:
        for source, scope in inputs:
            total.merge(infer_input(session, source, scope, stop))
    proposals = propose(total, inputs[0][1].catalogue) if inputs else []
    if as_json:
        console.print_json(write_account(total, proposals))
    else:
        _tell(proposals)
    _tell_rest(total)
    if not proposals:
        raise typer.Exit(EXIT_CODES[INCONCLUSIVE])
    if output is not None:
        made = [(one.contract, notes_of(one), head_of(one)) for one in proposals]
        if not file_tables(made, output, replace=replace):
            raise typer.Exit(EXIT_CODES[DRIFT])


def _tell(proposals: Sequence[Proposal]) -> None:
    from cdc_contracts.registry.inference.accounts import head_of
    from cdc_contracts.registry.visible import visible

    for number, one in enumerate(proposals):
        console.print_heading(one.contract.table, first=number == 0)
        for line in head_of(one).splitlines():
            console.print_text(line)
        key = one.contract.primary_key
        rows = [
            (
                visible(column.name[:_LONGEST_NAME]) + "…" * (len(column.name) > _LONGEST_NAME),
                column.column.type,
                "key" if column.name in key else "NULL" if column.evidence.nulls else "",
                column.rests_on,
            )
            for column in one.columns
        ]
        console.print_table(["COLUMN", "TYPE", "", "SEEN"], rows)


def _tell_rest(evidence: Evidence) -> None:
    """Say what of the messages is in no contract."""
    if evidence.left_out:
        console.say(
            f"{evidence.left_out:,} of {evidence.read:,} messages do not conform and were left out; `audit` says why"
        )
    if evidence.nameless:
        console.say(f"{evidence.nameless:,} rows name no table: --table names it")
    if evidence.cut:
        console.say("there was more than is kept: of tables, columns or types only the first by name are told;")
        console.say("  --include and --exclude choose tables")
    if not evidence.tables:
        console.say("no row of a table was read: there is nothing to infer from")
