"""The audit: every record of a range judged once, and the report of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cdc_contracts.registry.combination import combine_reports
from cdc_contracts.registry.kernel.kernel import Kernel, paced
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
    session: SparkSession | None, source: Input, scope: Scope, *, fail_on: str, watch: Watch | None = None
) -> Audited:
    """Judge every record of the input, read once, and return the report; without a session in this process.

    Raises LedgerError where the counts do not add up.
    """
    tally = _audit_here(source, scope, watch) if session is None else _audit_in_tasks(session, source, scope, watch)
    report = build_report(
        tally,
        catalogue=scope.catalogue,
        contract=scope.declared,
        source=source.describe(tally),
        spans=source.spans,
        fail_on=fail_on,
    )
    return Audited(tally, report)


def audit_inputs(
    session: SparkSession | None,
    inputs: Sequence[tuple[Input, Scope]],
    *,
    fail_on: str,
    watch: Watch | None = None,
) -> dict[str, Any]:
    """Judge inputs of different topics, each within its own scope, and return the one report of all. Raises so too."""
    return combine_reports([
        audit_input(session, source, scope, fail_on=fail_on, watch=watch).report for source, scope in inputs
    ])  # fmt: skip


def _audit_in_tasks(session: SparkSession, source: Input, scope: Scope, watch: Watch | None) -> Tally:
    rows = source.run(session, audit_work(describe_scope(scope), watch), RESULT_SCHEMA)
    return merge_tallies(collect_results(rows))


def _audit_here(source: Input, scope: Scope, watch: Watch | None) -> Tally:
    kernel, total = Kernel(scope), Tally()
    for records in paced(source.batches()):
        tally = kernel.audit(records)
        if watch is not None:
            watch.add(tally)
        total.merge(tally)
    return total
