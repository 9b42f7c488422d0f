"""`cdc-contracts tables`: table contracts, generated from DDL or from messages, and checked."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from cdc_contracts.cli import tables_infer
from cdc_contracts.cli.options.finding_formats import (
    Failing,
    FailOn,
    FindingFormat,
    Form,
    ReportFiles,
    check_reports,
    choose_form,
    print_findings,
)
from cdc_contracts.cli.options.shared_options import AsJson, ContractFolders, check_folders
from cdc_contracts.cli.output.table_output import Folder, Replace
from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.common.exit_codes import DRIFT, EXIT_CODES, INCONCLUSIVE, PASS

app = typer.Typer(help="Table contracts: the columns of source tables.", no_args_is_help=True)
app.add_typer(tables_infer.app, name="infer", short_help="Infer them from messages.")

_FOUND = EXIT_CODES[DRIFT]


class Sql(StrEnum):
    """The dialect of SQL."""

    MYSQL = "mysql"
    ORACLE = "oracle"
    POSTGRES = "postgres"


@app.command("from-ddl", short_help="Generate from CREATE TABLE statements.")
def from_ddl(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="DDL as the database prints it; - is stdin.")],
    dialect: Annotated[Sql, typer.Option("--dialect", help="The SQL dialect; OceanBase has both.")],
    database: Annotated[
        str | None, typer.Option("--database", metavar="NAME", help="The database or schema of tables that name none.")
    ] = None,
    output: Folder = None,
    replace: Replace = False,
) -> None:
    """Generate table contracts from CREATE TABLE statements, as SHOW CREATE TABLE or a dump prints them.

    Exits with 1 if something could not be read, or an existing file differs.
    """
    from cdc_contracts.cli.output.table_output import check_output, file_tables, print_definitions, read_ddl

    check_output(output)
    found = [(name, read_ddl(name, dialect.value, database)) for name in files]
    contracts = [contract for _, definitions in found for contract in definitions.tables]
    result = print_definitions(found)
    if not contracts:
        raise UsageError(
            "no table was read", hint="Give CREATE TABLE statements, and their SQL dialect with --dialect."
        )
    done = file_tables([(contract, {}, "") for contract in contracts], output, replace=replace)
    raise typer.Exit(EXIT_CODES[PASS] if done and not result else _FOUND)


@app.command("check", short_help="Check them, or compare two versions of them.")
def check(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[PATH | OLD NEW]", help="A file or folder to check; or two, to compare.", show_default=False
        ),
    ] = None,
    against: Annotated[
        str | None, typer.Option("--against", metavar="REF", help="Compare PATH with its state at this git ref.")
    ] = None,
    form: Form = None,
    reports: ReportFiles = None,
    fail_on: Failing = FailOn.ERROR,
    as_json: AsJson = False,
    contracts: ContractFolders = None,
) -> None:
    """Check table contracts; with two paths or --against, whether rows that fit the old also fit the new.

    Two versions are compared as text or as JSON; --report, --fail-on and other formats are for the check of one.
    Exits with 0 if nothing is wrong or breaks, 1 if something does, 4 if it could not be decided.
    """
    from cdc_contracts.cli.output.table_output import compare, default_folder

    given = paths or []
    if len(given) > 2 or (against is not None and len(given) > 1):  # noqa: PLR2004  an old and a new one
        raise UsageError("one path is checked, two are compared", hint="Give PATH, OLD NEW, or PATH --against REF.")
    chosen = choose_form(form, as_json=as_json, otherwise=FindingFormat.TEXT)
    if against is not None or len(given) == 2:  # noqa: PLR2004
        _refuse_of_comparison(chosen, reports, fail_on)
        verdict = compare(given or [default_folder()], against, as_json=chosen is FindingFormat.JSON)
        raise typer.Exit({True: EXIT_CODES[PASS], False: _FOUND, None: EXIT_CODES[INCONCLUSIVE]}[verdict])
    _lint(given or [default_folder()], chosen, reports, fail_on, contracts)


def _refuse_of_comparison(form: FindingFormat, reports: list[Path] | None, fail_on: FailOn) -> None:
    """Raise UsageError if an option was given that a comparison ignores: CI would wait for its file."""
    unheeded = ["--report"] if reports else []
    unheeded += [f"--format {form}"] if form not in (FindingFormat.TEXT, FindingFormat.JSON) else []
    unheeded += ["--fail-on"] if fail_on is not FailOn.ERROR else []
    if unheeded:
        raise UsageError(
            f"{unheeded[0]} has no effect when two versions are compared",
            hint="Give --json to print the verdict as JSON.",
        )


def _lint(
    paths: list[Path], form: FindingFormat, reports: list[Path] | None, fail_on: FailOn, contracts: list[Path] | None
) -> None:
    from cdc_contracts.registry.authoring.lint import lint
    from cdc_contracts.registry.authoring.review.annotations.lint_annotations import review_lint
    from cdc_contracts.registry.core.contract.table_contracts import table_files

    targets = check_reports(reports)
    report = lint(table_files(paths), beside=check_folders(contracts))
    review = review_lint(report)
    print_findings(review, form, targets, fail_on)
    if review.fails(fail_on):
        raise typer.Exit(_FOUND)
