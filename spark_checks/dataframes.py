"""DataFrames, the checks as a library: any DataFrame with the columns of the Kafka source in, DataFrames out.

The columns are `value` (binary), `topic`, `partition`, `offset`, and optionally `key`, `timestamp`, `timestampType`
and `headers`. Everything is lazy: nothing is read until Spark computes rows. DataFrames may be batch or streaming; a
stream has a report for each micro-batch.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from cdc_contracts.registry.common.errors import UsageError
from cdc_contracts.registry.common.findings import Severities
from cdc_contracts.registry.contract.catalogue import Catalogue, shipped_catalogue
from cdc_contracts.registry.contract.reading_options import ReadingOptions
from cdc_contracts.registry.contract.table_contracts import TableContracts, read_table_contracts
from cdc_contracts.registry.contract.version_files import read_versions
from cdc_contracts.registry.records.output_schemas import CHANGES_SCHEMA, CONTROL_SCHEMA, QUARANTINE_SCHEMA
from cdc_contracts.registry.report.audit_report import build_report
from cdc_contracts.registry.report.report_model import ReportSource
from cdc_contracts.registry.report.stored_reports import write_document
from cdc_contracts.registry.validate.validation_context import AUTO, ValidationContext, open_ranges, open_validation
from cdc_contracts.spark_checks.decode_tasks import rows_work
from cdc_contracts.spark_checks.spark_session import use_this_python
from cdc_contracts.spark_checks.spark_tasks import (
    RESULT_SCHEMA,
    Work,
    audit_work,
    describe_validation,
    merge_tallies,
    open_bundle,
    read_results,
)
from cdc_contracts.spark_checks.tables.arrow_schemas import spark_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_NEEDED: Final = ("value", "topic", "partition", "offset")
_USED: Final = (*_NEEDED, "key", "timestamp", "timestampType", "headers")
_REPORT: Final = pa.schema([pa.field("report", pa.string())])


@dataclass(frozen=True)
class Decoded:
    """The rows of a decode. Each frame reads the input when it is computed; cache the input to read it once."""

    changes: DataFrame
    control: DataFrame
    quarantine: DataFrame


def audit(
    df: DataFrame,
    contract: str | None = None,
    *,
    versions: str | Path | None = None,
    tables: str | Path | TableContracts | None = None,
    parameters: Mapping[str, str] | None = None,
    severities: Mapping[str, str] | None = None,
    fail_on: str = "warning",
    catalogue: Catalogue | None = None,
) -> DataFrame:
    """Return a DataFrame of one row whose `report` is the JSON report of `cdc-contracts audit --json`.

    Either `contract` or `versions` declares the contract of the messages; `versions` is a versions file, as for
    `--versions`. Raises UsageError if a column, or the contract of the messages, is missing; LedgerError, from Spark,
    if counts do not add up.
    """
    return audit_frame(df, _scope(contract, versions, tables, parameters, severities, catalogue), fail_on)


def audit_frame(df: DataFrame, validation: ValidationContext, fail_on: str) -> DataFrame:
    """Return the report of an audit as `audit` does. Raises UsageError if a column is missing."""
    frame = _input(df)
    use_this_python()
    results = frame.mapInArrow(audit_work(describe_validation(validation)), RESULT_SCHEMA)
    return results.coalesce(1).mapInArrow(_report_work(validation, fail_on), "report string")


def decode(
    df: DataFrame,
    contract: str | None = None,
    *,
    versions: str | Path | None = None,
    tables: str | Path | TableContracts | None = None,
    parameters: Mapping[str, str] | None = None,
    severities: Mapping[str, str] | None = None,
    catalogue: Catalogue | None = None,
) -> Decoded:
    """Return the decoded records as DataFrames of `changes/`, `control/` and `quarantine/`.

    `contract` and `versions` are as for `audit`; records that no range of a versions file covers are in `quarantine`.
    Evidence against the declared version as a whole is not considered: only `cdc-contracts decode` does that, as it
    reads every record before it publishes one.
    Raises UsageError if a column, or the contract of the messages, is missing.
    """
    return decode_frame(df, _scope(contract, versions, tables, parameters, severities, catalogue))


def decode_frame(df: DataFrame, validation: ValidationContext) -> Decoded:
    """Return the decoded records as `decode` does. Raises UsageError if a column is missing."""
    frame, spec = _input(df), describe_validation(validation)
    use_this_python()
    changes, control, quarantine = (
        frame.mapInArrow(rows_work(spec, table), spark_schema(schema))
        for table, schema in (
            ("changes", CHANGES_SCHEMA),
            ("control", CONTROL_SCHEMA),
            ("quarantine", QUARANTINE_SCHEMA),
        )
    )
    return Decoded(changes, control, quarantine)


def _scope(
    contract: str | None,
    versions: str | Path | None,
    tables: str | Path | TableContracts | None,
    parameters: Mapping[str, str] | None,
    severities: Mapping[str, str] | None,
    catalogue: Catalogue | None,
) -> ValidationContext:
    if (contract is None) == (versions is None):
        raise UsageError(
            "a DataFrame needs either a contract or a versions file", hint="`audit(df, 'dts/canal@2')`, for example"
        )
    if contract == AUTO:
        raise UsageError(
            "the contract of a DataFrame must be given", hint="`cdc-contracts detect` detects it from the source"
        )
    found = read_table_contracts(Path(tables)) if isinstance(tables, str | Path) else tables or TableContracts()
    reading_options = ReadingOptions(dict(parameters or {}), found, Severities(severities))
    known = catalogue or shipped_catalogue()
    if versions is not None:
        return open_ranges(known, read_versions(Path(versions), known), reading_options)
    return open_validation(known, contract or "", reading_options)


def _input(df: DataFrame) -> DataFrame:
    missing = [name for name in _NEEDED if name not in df.columns]
    if missing:
        raise UsageError(
            f"the DataFrame has no column `{missing[0]}`",
            hint="it needs the columns of the Kafka source: " + ", ".join(_NEEDED),
        )
    return df.select(*(name for name in _USED if name in df.columns))


def _report_work(validation: ValidationContext, fail_on: str) -> Work:
    spec = describe_validation(validation)

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        tally = merge_tallies(read_results((value,) for batch in batches for value in batch.column(0).to_pylist()))
        source = ReportSource(kind="dataframe", blank_lines=0)
        found = open_bundle(spec.documents)
        report = build_report(tally, catalogue=found, contract=spec.declared, source=source, spans={}, fail_on=fail_on)
        yield pa.RecordBatch.from_arrays(
            [pa.array([json.dumps(write_document(report), ensure_ascii=False)])], schema=_REPORT
        )

    return work
