"""Validation contexts by their descriptions: of the subjects that were detected, or of ranges that declare versions."""

from __future__ import annotations

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.contract.catalogue import Catalogue
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.version_ranges import VersionRanges
from cdc_contracts.registry.core.validate.validation_context import (
    AUTO,
    DetectedSubjects,
    ValidationContext,
    open_validation,
)


def open_detected(
    catalogue: Catalogue, detected: DetectedSubjects, reading_options: ReadingOptions
) -> ValidationContext:
    """Return the validation context of detected subjects: all versions of each. Raises UsageError as above."""
    first, *beside = detected.subjects
    preferences = tuple(map(catalogue.version, detected.preferences))
    return ValidationContext(
        catalogue, tuple(catalogue.versions(first)), reading_options, AUTO, preferences, tuple(beside)
    )


def open_ranges(catalogue: Catalogue, ranges: VersionRanges, reading_options: ReadingOptions) -> ValidationContext:
    """Return the validation context of ranges that declare versions. Raises UsageError if there is no such."""
    subjects = sorted({catalogue.version(reference).subject for reference in ranges.contracts})
    if not subjects:
        raise UsageError(
            f"no range says which version {', '.join(ranges.topics[:3]) or 'a topic'} is written in",
            where=ranges.where,
            hint="Add one, as in `0: [{contract: SYSTEM/DIALECT@N}]`.",
        )
    first, *beside = subjects
    validated = tuple(catalogue.versions(first))
    return ValidationContext(
        catalogue, validated, reading_options, ", ".join(subjects), beside=tuple(beside), ranges=ranges, left_open=True
    )  # fmt: skip


def open_again(
    catalogue: Catalogue,
    declared: str,
    detected: DetectedSubjects,
    ranges: VersionRanges | None,
    reading_options: ReadingOptions,
) -> ValidationContext:
    """Return the validation context that gave this description of itself. Raises UsageError as those above."""
    if ranges is not None:
        return open_ranges(catalogue, ranges, reading_options)
    return (
        open_detected(catalogue, detected, reading_options)
        if declared == AUTO
        else open_validation(catalogue, declared, reading_options)
    )
