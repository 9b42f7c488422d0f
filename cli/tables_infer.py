"""`cdc-contracts tables infer`: table contracts from the messages of a topic or file, with the evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cdc_contracts.cli.options import run_options, topic_options
from cdc_contracts.cli.options.shared_options import AsJson, ContractFolders, spread
from cdc_contracts.cli.options.validation_options import Contract, Parameters, Table, ValidationOptions
from cdc_contracts.cli.output import console
from cdc_contracts.cli.output.table_output import Folder, Replace, check_output, file_tables
from cdc_contracts.registry.core.common import signals
from cdc_contracts.registry.core.common.errors import UndetectedError
from cdc_contracts.registry.core.common.exit_codes import DRIFT, EXIT_CODES, INCONCLUSIVE

if TYPE_CHECKING:
    from cdc_contracts.registry.core.tables.inference.column_evidence import InferenceEvidence
    from cdc_contracts.registry.core.tables.inference.proposals import Proposal
    from cdc_contracts.registry.core.validate.validation_context import Undetected, ValidationContext
    from cdc_contracts.spark_checks.engines.engines import Engine, Input
    from cdc_contracts.spark_checks.engines.stopping import Stop

_LONGEST_NAME = 30
"""How much of a column's name is shown beside its evidence; the files have all of it."""

app = typer.Typer(help="Infer table contracts from messages.", no_args_is_help=True)


@dataclass(frozen=True)
class InferenceOptions:
    """Options of what is read as a row, and of where the table contracts go."""

    contract: Contract = None
    table: Table = None
    parameters: Parameters = None
    output: Folder = None
    replace: Replace = False
    as_json: AsJson = False
    folders: ContractFolders = None

    @property
    def validating(self) -> ValidationOptions:
        """The options of how messages are validated."""
        return ValidationOptions(self.contract, self.folders, table=self.table, parameters=self.parameters)


@app.command("topic", short_help="From the messages of topics.")
@spread
def infer_topic(
    brokers: run_options.Brokers,
    reading: run_options.RunOptions,
    inferring: InferenceOptions,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="TOPIC", help="Topics, or --pattern or --all.", show_default=False)
    ] = None,
) -> None:
    """Infer a contract for each table with rows in the messages of topics, and show the evidence."""
    check_output(inferring.output)
    open_validation = partial(inferring.validating.open_validation, reading=reading)
    opened = topic_options.open_inputs(
        names, reading, brokers, inferring.contract, open_validation, topic_options.open_bookmarks(brokers)
    )
    with run_options.open_engine(reading, brokers) as engine:
        _infer(engine, opened(engine), reading, inferring)


@app.command("file", short_help="From the messages of files or folders.")
@spread
def infer_file(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Files or folders: .jsonl, .ndjson, .parquet, .json, .avro.")
    ],
    reading: run_options.RunOptions,
    inferring: InferenceOptions,
    whole: Annotated[bool, typer.Option("--whole", help="Each file is one message.")] = False,
) -> None:
    """Infer a contract for each table with rows in the messages of files, and show the evidence."""
    check_output(inferring.output)
    validation = inferring.validating.open_validation(reading=reading)
    source = run_options.open_files(paths, reading.start, reading.end, whole=whole, sample=reading.sample)
    with run_options.open_engine(reading) as engine:
        _infer(engine, [(source, validation)], reading, inferring)


def _infer(
    engine: Engine,
    inputs: Sequence[tuple[Input, ValidationContext | Undetected]],
    reading: run_options.RunOptions,
    inferring: InferenceOptions,
) -> None:
    from cdc_contracts.registry.core.tables.inference.proposal_reports import head_of, notes_of, write_account
    from cdc_contracts.registry.core.tables.inference.proposals import propose
    from cdc_contracts.spark_checks.engines.stopping import stopping

    with stopping(reading.time_limit) as stop:
        total = _collect(engine, inputs, stop)
    stopped = stop.reason
    proposals = propose(total, inputs[0][1].catalogue) if inputs else []
    if inferring.as_json:
        console.print_json(write_account(total, proposals))
    else:
        _print_result(proposals)
    _print_rest(total)
    if stopped is not None:
        console.say(f"stopped before the end ({stopped}): the result covers what was read until then")
    if stop.signal is not None:
        if inferring.output is not None:
            console.say("no file was written; use --time-limit or --to for files from part of the messages")
        raise typer.Exit(signals.code_of(stop.signal))
    if not proposals:
        raise typer.Exit(EXIT_CODES[INCONCLUSIVE])
    if inferring.output is not None:
        made = [(one.contract, notes_of(one), head_of(one)) for one in proposals]
        if not file_tables(made, inferring.output, replace=inferring.replace):
            raise typer.Exit(EXIT_CODES[DRIFT])


def _collect(
    engine: Engine, inputs: Sequence[tuple[Input, ValidationContext | Undetected]], stop: Stop
) -> InferenceEvidence:
    """Return the evidence of the inputs, or of what was read when the run had to stop."""
    from cdc_contracts.registry.core.detect.detection import hint_undetected
    from cdc_contracts.registry.core.tables.inference.column_evidence import InferenceEvidence
    from cdc_contracts.spark_checks.detecting import find_input_validation

    total = InferenceEvidence()
    for source, validation in inputs:
        found, detection = find_input_validation(engine, source, validation)
        if found is None:
            raise UndetectedError(
                "the contract of the messages cannot be detected",
                hint=hint_undetected(detection),
            )
        total.merge(engine.infer(source, found, stop))
        if stop.reason is not None:
            break
    return total


def _print_result(proposals: Sequence[Proposal]) -> None:
    from cdc_contracts.registry.core.common.safe_text import visible
    from cdc_contracts.registry.core.tables.inference.proposal_reports import head_of

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


def _print_rest(evidence: InferenceEvidence) -> None:
    """Print which messages are in no contract."""
    if evidence.left_out:
        console.say(
            f"{evidence.left_out:,} of {evidence.read:,} messages do not conform and were left out; `audit` says why"
        )
    if evidence.nameless:
        rows = f"{evidence.nameless:,} row{'s name' if evidence.nameless != 1 else ' names'}"
        console.say(f"{rows} no table: --table names it")
    if evidence.cut:
        console.say("there is more than can be kept: of tables, columns or types only the first by name are listed;")
        console.say("  use --include and --exclude to choose tables")
    if not evidence.tables:
        console.say("no row of a table was read: there is nothing to infer from")
