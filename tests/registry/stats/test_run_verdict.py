"""The verdict of a run follows from all of its evidence, and from nothing else."""

import pytest

from cdc_contracts.registry.core.stats.run_evidence import FindingsOfClass, RunEvidence, VersionObjection
from cdc_contracts.registry.core.stats.run_verdict import decide_run

KNOWN = "0" * 16
NEW = "f" * 16


def evidence_of(found, **more):
    kinds = tuple(FindingsOfClass(name, severity, (KNOWN,)) for name, severity in found)
    return RunEvidence(**({"valued": 9, "findings": kinds} | more))


@pytest.mark.parametrize(
    ("found", "valued", "ambiguous", "verdict"),
    [([("type-change", "error")], 9, 0, "drift"), ([], 9, 0, "pass"), ([], 0, 0, "inconclusive"),
     ([("ambiguous", "error")], 9, 1, "inconclusive"), ([("type-change", "error"), ("ambiguous", "error")], 9, 1, "drift")],
)  # fmt: skip
def test_the_verdict_of_a_run(found, valued, ambiguous, verdict):
    assert decide_run(evidence_of(found, valued=valued, ambiguous=ambiguous), "warning").verdict == verdict


@pytest.mark.parametrize(("fail_on", "verdict"), [("error", "drift"), ("info", "drift"), ("unknown-field", "pass")])
def test_a_run_that_refused_messages_never_passes_where_errors_fail_it(fail_on, verdict):
    """Of very many findings an earlier release did not keep all, so the one that weighs enough may be gone."""
    evidence = evidence_of([("cross-field", "warning")], unlisted=True)
    assert decide_run(evidence, fail_on).verdict == verdict
    assert decide_run(evidence, fail_on, frozenset([KNOWN])).verdict == verdict


@pytest.mark.parametrize("reported", [True, False])
def test_a_run_of_which_a_decode_would_publish_nothing_never_passes(reported):
    against = VersionObjection("a/b@1", "offset 3 is proven to be a/b@2", 4, reported=reported)
    evidence = evidence_of([("other-version", "error")], objections=(against,))
    assert decide_run(evidence, "unknown-field") == (
        "inconclusive",
        "offset 3 is proven to be a/b@2, and 4 records fit both versions but mean different rows",
    )
    assert decide_run(evidence, "error").verdict == "drift"
    known = decide_run(evidence, "error", frozenset([KNOWN]))
    assert known.verdict == ("pass" if reported else "inconclusive")
    assert known.withheld is not None


def test_what_ended_early_and_what_nobody_proved_is_no_finding_that_can_be_known():
    assert decide_run(evidence_of([], stopped=True), "error", frozenset([KNOWN])).verdict == "inconclusive"
    assert decide_run(evidence_of([], unproven=True), "unproven", frozenset([KNOWN])).verdict == "drift"
    assert decide_run(evidence_of([], unproven=True), "error").verdict == "pass"
