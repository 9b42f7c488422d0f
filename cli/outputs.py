"""Options of where decoded rows go, and what is told of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cdc_contracts.cli import console, reports
from cdc_contracts.registry.exits import DRIFT, EXIT_CODES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from cdc_contracts.registry.scope import Scope, Undetected
    from cdc_contracts.spark_checks.decoding import Decoded, Output
    from cdc_contracts.spark_checks.sources import Input

_MOST_TABLES = 20
_MOST_COLUMNS = 10


class TableFormat(StrEnum):
    """What typed tables are kept as; `spark_checks.table_formats.FORMATS`, a test compares the two."""

    PARQUET = "parquet"


@dataclass(frozen=True)
class OutputOptions:
    """Where rows go, and on what conditions."""

    target: Annotated[str, typer.Option("--to", metavar="DIR", help="Where the rows go; a local folder or a URI.")]
    table_format: Annotated[TableFormat, typer.Option("--table-format", help="What the typed tables are kept as.")] = (
        TableFormat.PARQUET
    )
    replace: Annotated[
        bool, typer.Option("--replace", help="Put this run in the place of others that read the same records.")
    ] = False
    trust_contract: Annotated[
        bool, typer.Option("--trust-contract", help="Publish as declared although a record proves another version.")
    ] = False
    drop_duplicates: Annotated[
        bool, typer.Option("--drop-duplicates", help="Keep rows that a source sent again out of the typed tables.")
    ] = False

    def open(self) -> Output:
        """Return the output that the options stand for."""
        from cdc_contracts.spark_checks.decoding import Output
        from cdc_contracts.spark_checks.table_formats import open_tables

        return Output(
            self.target,
            tables=open_tables(self.table_format.value),
            replace=self.replace,
            trust_contract=self.trust_contract,
            drop_duplicates=self.drop_duplicates,
        )


def watch_decode(
    session: SparkSession, source: Input, scope: Scope | Undetected, output: Output, fail_on: str
) -> Decoded:
    """Decode the input with progress on a terminal."""
    from cdc_contracts.cli.progress import progress
    from cdc_contracts.spark_checks.decoding import decode_input

    with progress(session, source.spans) as watch:
        return decode_input(session, source, scope, output, fail_on=fail_on, watch=watch)


def finish_decode(decoded: Decoded, *, as_json: bool, targets: Sequence[Path] | None) -> None:
    """Tell the report and where the rows are, and end with the exit code of the run."""
    reports.tell(decoded.report, as_json=as_json, targets=targets)
    if decoded.withheld is not None:
        console.say(f"error: nothing was published: {decoded.withheld}")
        console.say("  decode the range before and after it under its own version, or give --trust-contract")
        raise typer.Exit(EXIT_CODES[DRIFT])
    changes = decoded.report["ledger"]["changes"]
    if decoded.again:
        console.say(f"run {decoded.run} is there already, with {changes:,} changes in {decoded.directory}")
    else:
        console.say(f"published run {decoded.run}: {changes:,} changes in {decoded.directory}")
    tell_repeats(decoded.report.get("repeats") or {"rows": 0})
    tell_tables((decoded.record or {}).get("tables", ()))
    raise typer.Exit(EXIT_CODES[decoded.report["verdict"]])


def tell_repeats(repeats: Mapping[str, Any]) -> None:
    """Tell on stderr how many rows were sent again, and of which table the first is."""
    if not repeats["rows"]:
        return
    first = repeats["tables"][0]
    where = f"{first['topic']}/{first['partition']}@{first['offset']} repeats @{first['first_offset']}"
    kept = "left out of tables" if repeats["dropped"] else "kept; --drop-duplicates leaves them out of tables"
    console.say(f"  {repeats['rows']:,} rows repeat others by position ({first['table']}: {where}): {kept}")


def tell_tables(tables: Sequence[Mapping[str, Any]]) -> None:
    """Tell on stderr how many rows typed tables have got, and which values of them are kept as text."""
    for one in tables[:_MOST_TABLES]:
        texts = sorted(one["raw"].items(), key=lambda told: (-told[1], told[0]))
        kept = ", ".join(f"{column} {count:,}" for column, count in texts[:_MOST_COLUMNS])
        more = f" and {len(texts) - _MOST_COLUMNS} more columns" if len(texts) > _MOST_COLUMNS else ""
        console.say(f"  {one['table']}: {one['rows']:,} rows" + (f"; as text in _raw: {kept}{more}" if kept else ""))
    if len(tables) > _MOST_TABLES:
        console.say(f"  and {len(tables) - _MOST_TABLES:,} more tables")
