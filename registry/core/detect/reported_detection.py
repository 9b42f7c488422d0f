"""Reported detection: which contract messages follow, and why, as `detect --json`, reports and checkpoints keep it."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, Struct, field

from cdc_contracts.registry.core.common.written_models import Count, Sometimes, Weight

DetectionVerdict = Literal["certain", "likely", "ambiguous", "not-in-catalogue", "mixed"]


class ReportedCandidate(Struct, frozen=True, forbid_unknown_fields=True):
    """One contract."""

    contract: str
    """Its reference."""
    records: Count
    """Messages that fit it."""
    votes: Weight
    """Evidence for it."""
    against: Weight
    """Evidence against it."""


class EvidencePlace(Struct, frozen=True, forbid_unknown_fields=True):
    """One record."""

    topic: str
    """Topic."""
    partition: Count
    """Partition."""
    offset: Count
    """Offset."""


class ReportedEvidence(Struct, frozen=True, forbid_unknown_fields=True):
    """One kind of evidence."""

    kind: str
    """Kind of evidence."""
    says: str
    """What was seen."""
    winner: str = field(name="for")
    """The contract it supports."""
    loser: str | None = field(name="against")
    """The contract it contradicts."""
    count: Count
    """Messages that say so."""
    contradicting: Count
    """Messages that say the opposite."""
    first: EvidencePlace | None
    """The first of them."""


class ReportedDetection(Struct, frozen=True, forbid_unknown_fields=True):
    """The contract that was detected from the messages, with the evidence; null if one was declared."""

    verdict: DetectionVerdict
    """How certain the detection is."""
    subject: str | None
    """The subject, null if none is found."""
    version: int | None
    """Its version, null if it is not decided."""
    candidates: tuple[ReportedCandidate, ...]
    """The candidate contracts, the best first."""
    equivalent: tuple[str, ...]
    """Contracts that read every one of these messages the same."""
    nearest: str | None
    """The contract that comes closest, where none fits."""
    evidence: tuple[ReportedEvidence, ...]
    """The evidence that distinguishes the contracts."""
    messages: Count
    """Messages that were examined."""
    settle: str | None
    """What would decide between the contracts that are left."""
    settled: Sometimes[bool] = UNSET
    """Whether every message that fits can be read in only one way."""

    @property
    def reference(self) -> str | None:
        """The contract that was found, by its version if that is decided; None if none was."""
        return self.subject if self.subject is None or self.version is None else f"{self.subject}@{self.version}"
