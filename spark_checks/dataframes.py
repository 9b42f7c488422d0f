"""DataFrames of Spark, audited and decoded: any with the columns of the Kafka source in, DataFrames out.

The columns are `value` (binary), `topic`, `partition`, `offset`, and optionally `key`, `timestamp`, `timestampType`
and `headers`. Everything is lazy: nothing is read until Spark computes rows. DataFrames may be batch or streaming; a
stream has a report for each micro-batch.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.common.thresholds import parse_threshold
from cdc_contracts.registry.core.records.output_schemas import CHANGES_SCHEMA, CONTROL_SCHEMA, QUARANTINE_SCHEMA
from cdc_contracts.registry.core.report.audit_report import AppliedContract, ReadRange, build_report
from cdc_contracts.registry.core.report.report_model import ReportSource
from cdc_contracts.registry.core.report.stored_reports import write_document
from cdc_contracts.registry.core.validate.validation_context import ValidationContext
from cdc_contracts.spark_checks.spark.arrow_schemas import spark_schema
from cdc_contracts.spark_checks.spark.spark_session import use_this_python
from cdc_contracts.spark_checks.tables.decode_tasks import rows_work
from cdc_contracts.spark_checks.tasks.spark_tasks import (
    RESULT_SCHEMA,
    Work,
    audit_work,
    describe_validation,
    merge_tallies,
    read_results,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_NEEDED: Final = ("value", "topic", "partition", "offset")
_USED: Final = (*_NEEDED, "key", "timestamp", "timestampType", "headers")
_REPORT: Final = pa.schema([pa.field("report", pa.string())])


def audit_frame(df: DataFrame, validation: ValidationContext, fail_on: str) -> DataFrame:
    """Return a DataFrame of one row whose `report` is the JSON report of `cdc-contracts audit --json`.

    Raises UsageError if it is no DataFrame, a column is missing, or `fail_on` is not known; LedgerError, from Spark, if
    counts do not add up.
    """
    parse_threshold(fail_on)
    frame = _input(df)
    use_this_python()
    results = frame.mapInArrow(audit_work(describe_validation(validation)), RESULT_SCHEMA)
    return results.coalesce(1).mapInArrow(_report_work(validation, fail_on), "report string")


def decode_frame(df: DataFrame, validation: ValidationContext) -> tuple[DataFrame, DataFrame, DataFrame]:
    """Return the rows of `changes/`, `control/` and `quarantine/`; each computes the input anew.

    Records that no range of a versions file covers are in `quarantine`. Evidence against the declared version as a
    whole is not considered: only the command `decode` does that, as it reads every record before it publishes one.
    Raises UsageError if it is no DataFrame, or a column is missing.
    """
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
    return changes, control, quarantine


def _input(df: DataFrame) -> DataFrame:
    if not hasattr(df, "mapInArrow"):
        raise UsageError(
            f"not a DataFrame of Spark, but of the type {type(df).__name__}",
            hint="`Contract.check_batch` and `decode_batch` take messages, pandas and Arrow.",
        )
    missing = [name for name in _NEEDED if name not in df.columns]
    if missing:
        raise UsageError(
            f"the DataFrame has no column `{missing[0]}`",
            hint=f"It needs the columns of the Kafka source: {', '.join(_NEEDED)}.",
        )
    return df.select(*(name for name in _USED if name in df.columns))


def _report_work(validation: ValidationContext, fail_on: str) -> Work:
    spec = describe_validation(validation)

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        tally = merge_tallies(read_results((value,) for batch in batches for value in batch.column(0).to_pylist()))
        source = ReportSource(kind="dataframe", blank_lines=0)
        opened = spec.open()
        applied = AppliedContract(opened.catalogue, opened.declared, validation=opened)
        report = build_report(tally, applied, ReadRange(source, {}), fail_on=fail_on)
        yield pa.RecordBatch.from_arrays(
            [pa.array([json.dumps(write_document(report), ensure_ascii=False)])], schema=_REPORT
        )

    return work
