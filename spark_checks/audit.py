"""The audit: every record of a range judged once, and the report of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cdc_contracts.registry.report import build_report
from cdc_contracts.registry.scope import Scope
from cdc_contracts.registry.tally import Tally
from cdc_contracts.spark_checks.sources import Input
from cdc_contracts.spark_checks.tasks import (
    RESULT_SCHEMA,
    Watch,
    audit_work,
    collect_results,
    describe_scope,
    merge_tallies,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Audited:
    """A finished audit: the tally and its report."""

    tally: Tally
    report: Mapping[str, Any]


def audit_input(
    session: SparkSession, source: Input, scope: Scope, *, fail_on: str, watch: Watch | None = None
) -> Audited:
    """Judge every record of the input, read once, and return the report.

    Raises LedgerError where the counts do not add up.
    """
    rows = source.run(session, audit_work(describe_scope(scope), watch), RESULT_SCHEMA)
    tally = merge_tallies(collect_results(rows))
    report = build_report(
        tally,
        catalogue=scope.catalogue,
        contract=scope.declared,
        source=source.describe(tally),
        spans=source.spans,
        fail_on=fail_on,
        show_values=scope.terms.show_values,
    )
    return Audited(tally, report)
