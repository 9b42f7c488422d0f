"""Run evidence: everything that the verdict of a run depends on, collected before any list is cut for display."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, cast

from msgspec import UNSET, Struct, field

from cdc_contracts.registry.core.common.findings import ERROR
from cdc_contracts.registry.core.common.written_models import Count, Sometimes
from cdc_contracts.registry.core.stats.folded_findings import FoldedFindings
from cdc_contracts.registry.core.stats.tally import Tally
from cdc_contracts.registry.core.validate.verdicts import AMBIGUOUS

Severity = Literal["error", "warning", "info"]


class FindingsOfClass(Struct, frozen=True, forbid_unknown_fields=True):
    """All findings of one class and severity."""

    name: str = field(name="class")
    """Class of drift."""
    severity: Severity
    """Severity."""
    fingerprints: tuple[str, ...]
    """The findings, in order."""


class DoubtedRange(Struct, frozen=True, forbid_unknown_fields=True):
    """Offsets that evidence against the version they were read by is about: nothing between proves that version."""

    topic: str
    """Topic."""
    partition: Count
    """Partition."""
    start: Count = field(name="from")
    """The offset after the last record before the evidence that is proven to be of that version, else 0."""
    end: Count | None = field(name="to")
    """The first offset after the evidence that is proven to be of that version; null if there is none."""
    contract: str | None
    """The version that the evidence supports, where it is known."""
    proven: bool
    """Whether the evidence is enough to prove it."""


class VersionObjection(Struct, frozen=True, forbid_unknown_fields=True):
    """Evidence that messages were read by the wrong version."""

    contract: str
    """The version that they were read by; where it depends on the range, that of the range."""
    says: str
    """The evidence."""
    differing: Count
    """How many messages fit another version too, which reads other rows from them."""
    reported: bool
    """Whether findings of the class other-version report the same."""
    doubted: Sometimes[DoubtedRange] = UNSET
    """The offsets that it is about."""


class RunEvidence(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What the verdict of a run follows from."""

    valued: Count
    """Validated messages with a value."""
    findings: tuple[FindingsOfClass, ...] = ()
    """All findings, also those that the report does not list."""
    ambiguous: Count = 0
    """Messages that versions read differently."""
    unlisted: bool = False
    """Whether messages were quarantined for errors that are not among the findings: earlier releases dropped some."""
    unproven: bool = False
    """Whether no message distinguishes a declared version from another."""
    objections: tuple[VersionObjection, ...] = ()
    """Evidence against the versions that messages were read by."""
    stopped: bool = False
    """Whether the run ended before the end of the range."""

    def fingerprints(self, name: str | None = None) -> frozenset[str]:
        """Return the fingerprints of all findings, or of those of one class."""
        return frozenset(one for kind in self.findings if name in (None, kind.name) for one in kind.fingerprints)


def collect_evidence(
    tally: Tally, objections: Iterable[VersionObjection], *, unproven: bool, stopped: bool
) -> RunEvidence:
    """Return the evidence of a run, given the tally with all of its findings."""
    findings = tally.folded.copy()
    for key, finding in tally.findings.items():
        findings.add(key, finding.severity)
    kinds = _kinds(findings)
    quarantined = sum(counts.quarantined for counts in tally.partitions.values())
    return RunEvidence(
        valued=sum(counts.valued for counts in tally.partitions.values()),
        findings=kinds,
        ambiguous=tally.outcomes[AMBIGUOUS],
        unlisted=quarantined > tally.outcomes[AMBIGUOUS] and not any(one.severity == ERROR for one in kinds),
        unproven=unproven,
        objections=tuple(dict.fromkeys(objections)),
        stopped=stopped,
    )


def join_evidence(parts: Sequence[RunEvidence]) -> RunEvidence:
    """Return the evidence of a run of several parts, whatever their order; a part without messages says nothing."""
    return RunEvidence(
        valued=sum(part.valued for part in parts),
        findings=join_findings(one for part in parts for one in part.findings),
        ambiguous=sum(part.ambiguous for part in parts),
        unlisted=any(part.unlisted for part in parts),
        unproven=any(part.unproven for part in parts),
        objections=tuple(dict.fromkeys(one for part in parts for one in part.objections)),
        stopped=any(part.stopped for part in parts),
    )


def join_findings(kinds: Iterable[FindingsOfClass]) -> tuple[FindingsOfClass, ...]:
    """Return findings once for each class and severity, each finding under its highest severity."""
    findings = FoldedFindings()
    for one in kinds:
        findings.take((one.name, one.severity), one.fingerprints)
    return _kinds(findings)


def _kinds(findings: FoldedFindings) -> tuple[FindingsOfClass, ...]:
    return tuple(
        FindingsOfClass(name, cast("Severity", severity), tuple(fingerprints))
        for (name, severity), fingerprints in findings.by_kind()
    )
