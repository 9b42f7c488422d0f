"""Spark frames: DataFrames with the columns of Spark's Kafka source, audited and decoded."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cdc_contracts.api.arguments import Tables, as_text
from cdc_contracts.api.audit_reports import read_report
from cdc_contracts.api.contracts import Contract, Folders, open_options, validation_of
from cdc_contracts.api.results import AuditReport
from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.common.extras import require_extra
from cdc_contracts.registry.core.contract.version_files import read_versions
from cdc_contracts.registry.core.validate.described_contexts import open_ranges
from cdc_contracts.registry.core.validate.validation_context import AUTO, ValidationContext, open_validation

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_EXAMPLE = 'Write `cdc_contracts.audit(df, "dts/canal@2")`, for example.'


@dataclass(frozen=True)
class FrameAudit:
    """The audit of a DataFrame, which is read when `report()` is called or rows of `frame` are computed."""

    frame: DataFrame
    """One row with the JSON report in the column `report`; of a streaming DataFrame one for each micro-batch."""

    def report(self) -> AuditReport:
        """Read the whole DataFrame and return the report. Raises UsageError for a streaming one."""
        if self.frame.isStreaming:
            raise UsageError(
                "a streaming DataFrame has no end, and a report for each micro-batch",
                hint="Write `.frame` with `writeStream`; its column `report` holds the JSON reports.",
            )
        (row,) = self.frame.collect()
        return read_report(json.loads(row["report"]))


@dataclass(frozen=True)
class DecodedFrames:
    """The rows of a DataFrame. Each frame reads the input when it is computed: cache the input to read it once."""

    changes: DataFrame
    """A row for each row change, with both images as maps from column to canonical text."""
    control: DataFrame
    """A row for each message without a row: DDL, heartbeats, transaction marks."""
    quarantine: DataFrame
    """A row for each message that does not conform, whole, with its findings."""


def audit(
    df: DataFrame,
    contract: str | Contract | None = None,
    *,
    versions: str | Path | None = None,
    tables: Tables | None = None,
    parameters: Mapping[str, str] | None = None,
    severities: Mapping[str, str] | None = None,
    contracts: Folders | None = None,
    fail_on: str = "warning",
) -> FrameAudit:
    """Validate a batch or streaming DataFrame with the columns of Spark's Kafka source. Needs the extra `spark`.

    The columns are `value`, `topic`, `partition`, `offset`, and optionally `key`, `timestamp`, `timestampType` and
    `headers`. `contract` is a reference or an open contract; alternatively, `versions` is a versions file, which says
    which version applies to which offsets of which partition. The other arguments are those of
    `contract()`. Workers on this machine run this interpreter unless `PYSPARK_PYTHON` names another.
    Raises UsageError if a column or the contract is missing, or an argument is wrong; UnavailableError without the
    extra.
    """
    require_extra("spark")
    from cdc_contracts.spark_checks.dataframes import audit_frame

    validation = _open(contract, versions, tables, parameters, severities, contracts)
    return FrameAudit(audit_frame(df, validation, as_text("fail_on", fail_on, "warning")))


def decode(
    df: DataFrame,
    contract: str | Contract | None = None,
    *,
    versions: str | Path | None = None,
    tables: Tables | None = None,
    parameters: Mapping[str, str] | None = None,
    severities: Mapping[str, str] | None = None,
    contracts: Folders | None = None,
) -> DecodedFrames:
    """Decode a batch or streaming DataFrame into DataFrames of changes, control messages and quarantine.

    Arguments and errors are those of `audit`. Rows are not withheld if all messages together contradict the
    contract: only the command `decode` reads every record before it publishes one. `audit` reports such evidence.
    """
    require_extra("spark")
    from cdc_contracts.spark_checks.dataframes import decode_frame

    return DecodedFrames(*decode_frame(df, _open(contract, versions, tables, parameters, severities, contracts)))


def _open(
    contract: str | Contract | None,
    versions: str | Path | None,
    tables: Tables | None,
    parameters: Mapping[str, str] | None,
    severities: Mapping[str, str] | None,
    contracts: Folders | None,
) -> ValidationContext:
    if (contract is None) == (versions is None):
        raise UsageError("a DataFrame needs either a contract or a versions file", hint=_EXAMPLE)
    if isinstance(contract, Contract):
        if any((tables, parameters, severities, contracts)):
            raise UsageError("an open contract has its own tables and parameters", hint="Give them to `contract()`.")
        return validation_of(contract)
    catalogue, options = open_options(tables, None, parameters, severities, contracts)
    if versions is not None:
        return open_ranges(catalogue, read_versions(Path(versions), catalogue), options)
    if not isinstance(contract, str) or contract == AUTO:
        raise UsageError("the contract of a DataFrame must be given", hint=_EXAMPLE)
    return open_validation(catalogue, contract, options)
