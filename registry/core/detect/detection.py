"""Detection: the contract that messages follow, how certain that is, and the evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from cdc_contracts.registry.core.contract.catalogue import Catalogue, Version
from cdc_contracts.registry.core.contract.version_ranges import VersionRanges
from cdc_contracts.registry.core.detect.reported_detection import (
    DetectionVerdict,
    ReportedCandidate,
    ReportedDetection,
    ReportedEvidence,
)
from cdc_contracts.registry.core.validate.described_contexts import open_detected, open_ranges
from cdc_contracts.registry.core.validate.validation_context import DetectedSubjects, Undetected, ValidationContext

CERTAIN: Final = "certain"
LIKELY: Final = "likely"
AMBIGUOUS: Final = "ambiguous"
NOT_IN_CATALOGUE: Final = "not-in-catalogue"
MIXED: Final = "mixed"
DRAFT: Final = "`cdc-contracts contract new SYSTEM/DIALECT FILE` drafts a contract of your own from messages."
"""What to do next with messages that are not in the catalogue."""


@dataclass(frozen=True)
class Detection:
    """The contract that messages follow.

    `version` is set if one version of the subject is left; `equivalent` names contracts with the same reading of every
    message, `detected` the contracts to validate against, the most frequent first; `nearest` is the nearest contract if
    none fits, `finalize` says what would resolve an open question. `preferences` are the versions to prefer for
    messages that several read differently, `ranges` where versions are proven, if the producer switched. It is
    `settled` if every message that fits has one reading, so that an audit is not inconclusive.
    """

    verdict: DetectionVerdict
    subject: str | None
    version: Version | None
    candidates: tuple[ReportedCandidate, ...]
    equivalent: tuple[str, ...]
    detected: tuple[Version, ...]
    nearest: str | None
    evidence: tuple[ReportedEvidence, ...]
    messages: int
    finalize: str | None = None
    preferences: tuple[Version, ...] = ()
    settled: bool = True
    ranges: VersionRanges | None = None

    def open_validation(self, asked: Undetected) -> ValidationContext | None:
        """Return the validation context for the messages; None if no contract was detected."""
        if not self.detected:
            return None
        if self.ranges is not None:
            return open_ranges(asked.catalogue, self.ranges, asked.reading_options)
        subjects = tuple(dict.fromkeys(version.subject for version in self.detected))
        preferences = tuple(version.reference for version in self.preferences)
        return open_detected(asked.catalogue, DetectedSubjects(subjects, preferences), asked.reading_options)

    def report(self) -> ReportedDetection:
        """Return the detection in the form of `detect --json`, reports and checkpoints."""
        return ReportedDetection(
            verdict=self.verdict,
            subject=self.subject,
            version=self.version.number if self.version else None,
            candidates=self.candidates,
            equivalent=self.equivalent,
            nearest=self.nearest,
            evidence=self.evidence,
            messages=self.messages,
            settle=self.finalize,
            settled=self.settled,
        )


def read_detection(reported: ReportedDetection, catalogue: Catalogue, detected: DetectedSubjects) -> Detection:
    """Return the detection from its reported form.

    Raises UsageError if the catalogue lacks a contract that it names.
    """
    subject, number = reported.subject, reported.version
    return Detection(
        verdict=reported.verdict,
        subject=subject,
        version=catalogue.version(f"{subject}@{number}") if number is not None else None,
        candidates=reported.candidates,
        equivalent=reported.equivalent,
        detected=tuple(catalogue.versions(one)[-1] for one in detected.subjects),
        nearest=reported.nearest,
        evidence=reported.evidence,
        messages=reported.messages,
        finalize=reported.settle,
        preferences=tuple(map(catalogue.version, detected.preferences)),
        settled=reported.settled is not False,
    )


def hint_undetected(detection: Detection | None) -> str:
    """Return what to do next where the contract of messages cannot be detected."""
    hint = "`cdc-contracts detect` shows the evidence; declare it with --contract SYSTEM/DIALECT@N."
    return f"{hint}\n  {DRAFT}" if detection is not None and detection.verdict == NOT_IN_CATALOGUE else hint
