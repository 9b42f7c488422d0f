"""Detection: which contract the messages follow, how certain that is, and on what evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from cdc_contracts.registry.contract.catalogue import Catalogue, Version
from cdc_contracts.registry.detect.message_evidence import RecordPlace
from cdc_contracts.registry.validate.validation_context import (
    DetectedSubjects,
    Undetected,
    ValidationContext,
    open_detected,
)

CERTAIN: Final = "certain"
LIKELY: Final = "likely"
AMBIGUOUS: Final = "ambiguous"
NOT_IN_CATALOGUE: Final = "not-in-catalogue"
MIXED: Final = "mixed"


@dataclass(frozen=True)
class DetectionCandidate:
    """A contract that accepts some of the messages: how many, how many support it alone, and what contradicts it."""

    contract: str
    records: int
    votes: int
    against: int


@dataclass(frozen=True)
class EvidenceItem:
    """One piece of evidence."""

    kind: str
    says: str
    winner: str
    loser: str | None
    count: int
    contradicting: int
    first: RecordPlace | None

    def as_document(self) -> dict[str, Any]:
        """Return the evidence as reports write it."""
        return {
            "kind": self.kind,
            "says": self.says,
            "for": self.winner,
            "against": self.loser,
            "count": self.count,
            "contradicting": self.contradicting,
            "first": self.first._asdict() if self.first else None,
        }


@dataclass(frozen=True)
class Detection:
    """Which contract messages follow.

    `version` is set where one version of the subject is left, `equivalent` names contracts that say the same of every
    message, `detected` the contracts to validate against, the most frequent first; `nearest` is the nearest where none
    is followed, `settle` what would resolve an open question. `preferences` are the versions to read by what several
    read differently. It is `settled` where every message that fits has one reading: an audit of them is not
    inconclusive.
    """

    verdict: str
    subject: str | None
    version: Version | None
    candidates: tuple[DetectionCandidate, ...]
    equivalent: tuple[str, ...]
    detected: tuple[Version, ...]
    nearest: str | None
    evidence: tuple[EvidenceItem, ...]
    messages: int
    finalize: str | None = None
    preferences: tuple[Version, ...] = ()
    settled: bool = True

    def open_validation(self, asked: Undetected) -> ValidationContext | None:
        """Return the validation context for the messages; None where they are of no contract that can be named."""
        if not self.detected:
            return None
        subjects = tuple(dict.fromkeys(version.subject for version in self.detected))
        preferences = tuple(version.reference for version in self.preferences)
        return open_detected(asked.catalogue, DetectedSubjects(subjects, preferences), asked.reading_options)

    def as_document(self) -> dict[str, Any]:
        """Return the detection as `detect --json` and reports write it."""
        return {
            "verdict": self.verdict,
            "subject": self.subject,
            "version": self.version.number if self.version else None,
            "candidates": [
                {"contract": one.contract, "records": one.records, "votes": one.votes, "against": one.against}
                for one in self.candidates
            ],
            "equivalent": list(self.equivalent),
            "nearest": self.nearest,
            "evidence": [one.as_document() for one in self.evidence],
            "messages": self.messages,
            "settle": self.finalize,
            "settled": self.settled,
        }


def read_detection(document: Mapping[str, Any], catalogue: Catalogue, detected: DetectedSubjects) -> Detection:
    """Return the detection that a document of `as_document` describes.

    Raises UsageError where the catalogue lacks a contract that it names.
    """
    subject, number = document["subject"], document["version"]
    return Detection(
        verdict=document["verdict"],
        subject=subject,
        version=catalogue.version(f"{subject}@{number}") if number is not None else None,
        candidates=tuple(DetectionCandidate(**one) for one in document["candidates"]),
        equivalent=tuple(document["equivalent"]),
        detected=tuple(catalogue.versions(one)[-1] for one in detected.subjects),
        nearest=document["nearest"],
        evidence=tuple(_read_evidence(one) for one in document["evidence"]),
        messages=document["messages"],
        finalize=document["settle"],
        preferences=tuple(map(catalogue.version, detected.preferences)),
        settled=document.get("settled", True),
    )


def _read_evidence(document: Mapping[str, Any]) -> EvidenceItem:
    first = document["first"]
    return EvidenceItem(
        kind=document["kind"],
        says=document["says"],
        winner=document["for"],
        loser=document["against"],
        count=document["count"],
        contradicting=document["contradicting"],
        first=RecordPlace(**first) if first else None,
    )
