"""What follows from the evidence of a run, by the way that every command takes."""

from cdc_contracts.registry.core.report.audit_report import AppliedContract, ReadRange, build_report
from cdc_contracts.registry.core.report.report_model import ReportSource
from cdc_contracts.registry.core.stats.run_verdict import decide_run


def why_withheld(tally, validation, earlier=None):
    """Why nothing of a decode is published, None if its rows are."""
    report = build_report(
        tally,
        AppliedContract(validation.catalogue, validation.declared, validation=validation),
        ReadRange(ReportSource(kind="kafka"), {}),
        fail_on="error",
        earlier=earlier,
    )
    return decide_run(report.evidence, "error").withheld
