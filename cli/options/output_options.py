"""Output options: where decoded rows are written, and what is printed about them."""

from __future__ import annotations

import errno
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cdc_contracts.cli.output import console, report_output
from cdc_contracts.registry.core.common.errors import UsageError, refused
from cdc_contracts.registry.core.common.exit_codes import DRIFT, EXIT_CODES
from cdc_contracts.registry.core.common.safe_text import visible

if TYPE_CHECKING:
    from msgspec import UnsetType

    from cdc_contracts.registry.core.report.report_model import RepeatedRows
    from cdc_contracts.registry.core.validate.validation_context import Undetected, ValidationContext
    from cdc_contracts.spark_checks.decoding import DecodedRun, Output
    from cdc_contracts.spark_checks.engines.engines import Engine, Input
    from cdc_contracts.spark_checks.runs.run_records import RecordedTable, RunRecord
    from cdc_contracts.spark_checks.tables.typed_tables import TableCommit

SCHEMA = "table:"
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_MOST_TABLES = 20
_MOST_COLUMNS = 10


class TableFormat(StrEnum):
    """The format of typed tables; `spark_checks.tables.table_formats.FORMATS`, a test compares the two."""

    PARQUET = "parquet"
    DELTA = "delta"
    ICEBERG = "iceberg"


class RowLayout(StrEnum):
    """The shape of the rows of typed tables; `table_layouts.SHAPES`, a test compares the two."""

    NESTED = "nested"
    FLAT = "flat"


class Outputs(StrEnum):
    """Which rows of changes are kept."""

    BOTH = "changes,tables"
    TABLES = "tables"


@dataclass(frozen=True)
class OutputOptions:
    """Where rows are written, and under what conditions."""

    target: Annotated[
        str,
        typer.Option("--to", metavar="DIR|table:CATALOG.DB", help="Where to write: a local folder, a URI or a schema."),
    ]
    table_format: Annotated[TableFormat, typer.Option("--table-format", help="The format of the typed tables.")] = (
        TableFormat.PARQUET
    )
    layout: Annotated[
        RowLayout,
        typer.Option("--layout", help="Typed rows with `before` and `after`, or flat: the columns of one image."),
    ] = RowLayout.NESTED
    replace: Annotated[bool, typer.Option("--replace", help="Replace other runs that read the same records.")] = False
    trust_contract: Annotated[
        bool,
        typer.Option(
            "--trust-contract",
            help="Publish as declared even if a record, or many changes together, speak for another version.",
        ),
    ] = False
    drop_duplicates: Annotated[
        bool, typer.Option("--drop-duplicates", help="Leave redelivered rows out of the typed tables.")
    ] = False

    files: Annotated[
        str | None,
        typer.Option("--files", metavar="DIR", help="With --to table:CATALOG.DB: where everything else goes."),
    ] = None
    current: Annotated[
        bool, typer.Option("--current", help="Also maintain the current rows, in tables of their own.")
    ] = False

    outputs: Annotated[
        Outputs,
        typer.Option("--outputs", help="Write changes/ and typed tables, or typed tables only."),
    ] = Outputs.BOTH

    redact: Annotated[
        bool, typer.Option("--redact-quarantine", help="Keep only shapes in the quarantine, no row values.")
    ] = False

    @property
    def directory(self) -> str:
        """The output directory."""
        return self.files or self.target

    def check(self, *, local: bool = False) -> None:
        """Raise UsageError if options are incompatible; `local` means that there is no Spark."""
        if not self.directory:
            raise UsageError("the output directory has no name", hint="Write --to . for the directory you are in.")
        self._check_tables(local=local)
        named = self.target.startswith(SCHEMA)
        needing = next((option for option, given in self._needing_changes() if given), None)
        if self.outputs is Outputs.TABLES and needing is not None:
            raise UsageError(
                f"{needing} needs changes/, which --outputs tables leaves out", hint="Leave out one of the two options."
            )
        if named != (self.files is not None):
            raise UsageError(
                "--files DIR and --to table:CATALOG.DB must be given together",
                hint="DIR is where changes, control, quarantine, ledger and the records of runs go.",
            )
        if named:
            from cdc_contracts.spark_checks.tables.lakehouse.table_identifiers import parse_schema

            parse_schema(self.target.removeprefix(SCHEMA), self.table_format.value)
        path = Path(self.directory)
        file = next((one for one in (path, *path.parents) if one.is_file()), None)
        if file is not None:
            raise UsageError(f"{file} is a file, not a directory", hint="Give a directory; it need not exist yet.")
        if "://" not in self.directory:
            from cdc_contracts.registry.core.common.atomic_files import check_folder

            check_folder(path)

    def _check_tables(self, *, local: bool) -> None:
        """Raise UsageError if the tables cannot be written in this format and shape."""
        parquet, named = self.table_format is TableFormat.PARQUET, self.target.startswith(SCHEMA)
        if local and (named or self.current or not parquet):
            option = "--current" if self.current else self.target if parquet else f"--table-format {self.table_format}"
            raise UsageError(
                f"{option} needs --engine spark",
                hint="Give --engine spark; --engine local writes typed tables as Parquet files in a folder only.",
            )
        if parquet and (named or self.current):
            raise UsageError(
                "--current and table:CATALOG.DB need tables that keep versions",
                hint="Give --table-format delta or --table-format iceberg.",
            )
        if self.current and self.layout is RowLayout.FLAT:
            raise UsageError(
                "--current is made of both images of a change, and flat rows have one",
                hint="Leave out --layout flat, or --current.",
            )
        if not parquet and self.replace:
            raise UsageError(
                f"--replace cannot remove rows from {self.table_format} tables",
                hint="Decode into another directory, or decode only the missing range.",
            )

    def _needing_changes(self) -> Sequence[tuple[str, bool]]:
        """Return options that work on changes/, and whether each was given."""
        lakehouse = self.table_format is not TableFormat.PARQUET
        return [
            ("--drop-duplicates", self.drop_duplicates),
            ("--current", self.current),
            (f"--table-format {self.table_format}", lakehouse),
        ]

    def open(self, validation: ValidationContext | Undetected) -> Output:
        """Return the output that the options describe, for what the validation reads."""
        from cdc_contracts.spark_checks.decoding import Output
        from cdc_contracts.spark_checks.runs.run_directory import RunDirectory
        from cdc_contracts.spark_checks.tables.table_formats import open_tables

        options: dict[str, Any] = {}
        if self.table_format is not TableFormat.PARQUET:
            schema = self.target.removeprefix(SCHEMA) if self.files is not None else None
            options = {
                "directory": RunDirectory(self.directory).root,
                "schema": schema,
                "catalogue": validation.catalogue if self.current else None,
                "options": validation.reading_options,
            }
        return Output(
            self.directory,
            tables=open_tables(self.table_format.value, **options),
            replace=self.replace,
            trust_contract=self.trust_contract,
            redact=self.redact,
            drop_duplicates=self.drop_duplicates,
            keeps_changes=self.outputs is Outputs.BOTH,
            shape=self.layout.value,
        )


@contextmanager
def naming_full_output(directory: str) -> Iterator[None]:
    """Name the directory where there is no room left for a file of which the error does not say the name."""
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL or error.filename:
            raise
        raise refused(error, directory, what="the output cannot be written") from error


def watch_decode(
    engine: Engine, source: Input, validation: ValidationContext | Undetected, output: Output, fail_on: str
) -> DecodedRun:
    """Decode the input with progress on a terminal."""
    from cdc_contracts.cli.output.progress import progress
    from cdc_contracts.spark_checks.decoding import decode_input

    with naming_full_output(output.directory), progress(engine, source.spans) as watch:
        return decode_input(engine, source, validation, output, fail_on=fail_on, watch=watch)


def finish_decode(
    decoded: DecodedRun, *, as_json: bool, targets: Sequence[Path] | None, allow_empty: bool = False
) -> None:
    """Print the report and where the rows are, and end with the exit code of the run."""
    report_output.print_report(decoded.report, as_json=as_json, targets=targets)
    if decoded.withheld is not None:
        console.say(f"error: nothing was published: {decoded.withheld}")
        console.say(
            "  decode the range before and after it under its own version (--versions), or give --trust-contract"
        )
        raise typer.Exit(EXIT_CODES[decoded.report.verdict] or EXIT_CODES[DRIFT])
    changes = decoded.report.ledger.changes
    if decoded.again:
        console.say(f"run {decoded.run} already exists, with {changes:,} changes in {decoded.directory}")
    else:
        console.say(f"published run {decoded.run}: {changes:,} changes in {decoded.directory}")
    print_repeats(decoded.report.repeats)
    print_tables(decoded.record.tables if decoded.record is not None else ())
    print_resets(decoded.record)
    raise typer.Exit(report_output.code_of(decoded.report, allow_empty=allow_empty))


def print_repeats(repeats: RepeatedRows | UnsetType) -> None:
    """Print on stderr how many rows are repeats, and the table of the first."""
    if not repeats or not repeats.rows:
        return
    first = repeats.tables[0]
    where = f"{first.topic}/{first.partition}@{first.offset} repeats @{first.first_offset}"
    kept = "left out of tables" if repeats.dropped else "kept; --drop-duplicates leaves them out of tables"
    console.say(f"  {repeats.rows:,} rows repeat others by position ({visible(first.table)}: {where}): {kept}")


def print_resets(record: RunRecord | None) -> None:
    """Print on stderr the source statements that current rows do not reflect."""
    from cdc_contracts.spark_checks.runs.emptied_tables import describe_unfollowed

    for line in describe_unfollowed(record):
        console.say(f"  {line}")


def print_tables(tables: Sequence[RecordedTable]) -> None:
    """Print on stderr the numbers of rows written to typed tables, and the values kept as text."""
    for one in tables[:_MOST_TABLES]:
        raw = sorted(one.raw.items(), key=lambda entry: (-entry[1], entry[0]))
        kept = ", ".join(f"{visible(column)} {count:,}" for column, count in raw[:_MOST_COLUMNS])
        more = f" and {len(raw) - _MOST_COLUMNS} more columns" if len(raw) > _MOST_COLUMNS else ""
        entry = _format_current(one.commit) if one.commit else ""
        name = visible(one.table) or "(no table is named: --table names it)"
        console.say(f"  {name}: {one.rows:,} rows{entry}" + (f"; as text in _raw: {kept}{more}" if kept else ""))
        for column, types in list((one.differing or {}).items())[:_MOST_COLUMNS]:
            told = ", ".join(map(visible, types[:_MOST_COLUMNS]))
            console.say(f"    {visible(column)} is not of one type in all shards ({told}): text where it does not fit")
    if len(tables) > _MOST_TABLES:
        console.say(f"  and {len(tables) - _MOST_TABLES:,} more tables")


def _format_current(commit: TableCommit) -> str:
    merged = commit.current
    if merged is None:
        return "; no current rows, for no primary key is known (--tables gives one)"
    if not merged:
        return ""
    keyless = f", {merged.keyless:,} changes name no key" if merged.keyless else ""
    emptied = f", {merged.emptied:,} gone with their table" if merged.emptied else ""
    return f"; current: {merged.changed:,} rows new or changed, {merged.deleted:,} deleted{emptied}{keyless}"
