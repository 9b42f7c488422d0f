"""The audit: every record of a range judged once, and the report of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cdc_contracts.registry.combination import combine_reports
from cdc_contracts.registry.detection.samples import ENOUGH, find_scope
from cdc_contracts.registry.kernel.kernel import Kernel, paced
from cdc_contracts.registry.report import build_report
from cdc_contracts.registry.scope import Scope, Undetected
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
    session: SparkSession | None, source: Input, scope: Scope | Undetected, *, fail_on: str, watch: Watch | None = None
) -> Audited:
    """Judge every record of the input, read once, and return the report; without a session in this process.

    Where the contract is to be found out, a small sample is read before. Where it cannot be told, nothing is judged.
    Raises LedgerError where the counts do not add up.
    """
    found, detection = find_scope(scope, lambda: source.sample(session, ENOUGH))
    if found is None:
        tally = Tally()
    elif session is None:
        tally = _audit_here(source, found, watch)
    else:
        tally = _audit_in_tasks(session, source, found, watch)
    report = build_report(
        tally,
        catalogue=scope.catalogue,
        contract=scope.declared,
        source=source.describe(tally),
        spans=source.spans if found is not None else {},
        fail_on=fail_on,
        detection=detection,
    )
    return Audited(tally, report)


def audit_inputs(
    session: SparkSession | None,
    inputs: Sequence[tuple[Input, Scope | Undetected]],
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
