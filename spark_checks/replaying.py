"""Replaying: quarantined records that conform by now are decoded, exactly once.

Records that a replay decodes stay in the quarantine files; `replayed/` lists their coordinates. So the files of a
finished run never change, and a replay can be undone by removing its record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from cdc_contracts.registry.core.common.exit_codes import PASS
from cdc_contracts.registry.core.report.audit_report import AppliedContract, ReadRange, build_report
from cdc_contracts.registry.core.report.report_model import Report
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.validate.validation_context import Undetected, ValidationContext
from cdc_contracts.spark_checks.decoding import DecodedRun, Origin, Output, decode_input
from cdc_contracts.spark_checks.engines.engines import Engine
from cdc_contracts.spark_checks.runs.quarantine_files import QuarantineInput

if TYPE_CHECKING:
    from cdc_contracts.spark_checks.tasks.spark_tasks import Watch


def replay_quarantine(
    engine: Engine,
    source: QuarantineInput,
    validation: ValidationContext | Undetected,
    output: Output,
    *,
    fail_on: str,
    watch: Watch | None = None,
) -> DecodedRun:
    """Validate the quarantined records again, and decode those that conform now. Raises as `decode_input` does.

    A replay that decodes nothing leaves no files; an interrupted one stays in the intent log until it is published,
    since some of its rows may be in tables.
    """
    begun = output.runs.begun.replay()
    decoded = decode_input(
        engine, source, validation, output, fail_on=fail_on, origin=Origin(replay=source), watch=watch
    )
    cut_off = begun is not None and begun.run == decoded.run
    if not (cut_off and decoded.withheld):
        output.runs.begun.forget(decoded.run)
    return decoded


def report_nothing(source: QuarantineInput, validation: ValidationContext | Undetected, fail_on: str) -> Report:
    """Return the report if no record is left in quarantine: the verdict is good."""
    report = build_report(
        Tally(),
        AppliedContract(
            validation.catalogue,
            validation.declared,
            validation=validation if isinstance(validation, ValidationContext) else None,
        ),
        ReadRange(source.describe(Tally(), {}), {}),
        fail_on=fail_on,
    )
    return replace(report, verdict=PASS)
