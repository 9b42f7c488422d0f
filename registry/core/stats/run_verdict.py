"""Run verdict: drift, pass or inconclusive, and why a decode publishes nothing, all from the same evidence."""

from __future__ import annotations

from typing import Final, NamedTuple

from cdc_contracts.registry.core.common.exit_codes import DRIFT, INCONCLUSIVE, PASS, Verdict
from cdc_contracts.registry.core.common.findings import ERROR
from cdc_contracts.registry.core.common.thresholds import parse_threshold
from cdc_contracts.registry.core.stats.run_evidence import RunEvidence, VersionObjection
from cdc_contracts.registry.core.validate.verdicts import AMBIGUOUS, OTHER_VERSION

NOTHING_KNOWN: Final = frozenset[str]()


class RunVerdict(NamedTuple):
    """The verdict of a run; `withheld` says why its rows are not to be published, None if they may be."""

    verdict: Verdict
    withheld: str | None


def decide_run(evidence: RunEvidence, fail_on: str, known: frozenset[str] = NOTHING_KNOWN) -> RunVerdict:
    """Return the verdict of a run, given what fails it and the fingerprints of known findings.

    Drift if a new finding is severe enough. Inconclusive if messages are ambiguous, if evidence speaks against the
    version that messages were read by, if the run ended early, or if no message has a value. What a finding reports
    does not count if all such findings are known. Raises UsageError if `fail_on` is no threshold.
    """
    threshold = parse_threshold(fail_on)
    new = [one for one in evidence.findings if not known.issuperset(one.fingerprints)]
    failing = any(threshold.fails(one.name, one.severity) for one in new)
    refused = evidence.unlisted and ERROR in threshold.severities
    withheld = next((_reason(one) for one in evidence.objections if one.differing), None)
    if failing or refused or (evidence.unproven and threshold.unproven):
        return RunVerdict(DRIFT, withheld)
    opposed = any(not (one.reported and _is_known(evidence, OTHER_VERSION, known)) for one in evidence.objections)
    ambiguous = evidence.ambiguous and not _is_known(evidence, AMBIGUOUS, known)
    is_open = opposed or ambiguous or evidence.stopped or not evidence.valued
    return RunVerdict(INCONCLUSIVE if is_open else PASS, withheld)


def _is_known(evidence: RunEvidence, name: str, known: frozenset[str]) -> bool:
    """Return whether there are findings of a class, and none is new."""
    found = evidence.fingerprints(name)
    return bool(found) and known.issuperset(found)


def _reason(one: VersionObjection) -> str:
    return f"{one.says}, and {one.differing:,} records fit both versions but mean different rows"
