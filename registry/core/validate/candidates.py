"""Candidates: every version of the catalogue compared with one message: which fit it, and why others do not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from cdc_contracts.registry.core.common.findings import ERROR, Finding
from cdc_contracts.registry.core.common.json_messages import Unreadable
from cdc_contracts.registry.core.contract.catalogue import Catalogue, Version
from cdc_contracts.registry.core.contract.discriminators import holds
from cdc_contracts.registry.core.contract.phrases import describe_test
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.message.transport import JsonTransport
from cdc_contracts.registry.core.validate.reference_validator import ReferenceValidator, VersionVerdict
from cdc_contracts.registry.core.validate.validation_context import ValidationContext


@dataclass(frozen=True)
class Candidate:
    """The result of one version for one value.

    `marks` are the discriminators that do not hold, in words. `message` is None if the version's transport cannot read
    the value. `members` is the share of the required top-level members that are present; where none is
    required, 1 if the schema describes at least half of the message's own, else 0.
    """

    validator: ReferenceValidator
    marks: tuple[str, ...]
    message: dict[str, Any] | None = field(repr=False)
    members: float

    @property
    def version(self) -> Version:
        return self.validator.version

    @cached_property
    def version_verdict(self) -> VersionVerdict | None:
        """The verdict of the version, None if it cannot read the value; found when asked for, as that takes longest."""
        return None if self.message is None else self.validator.validate(self.message)

    @property
    def marked(self) -> bool:
        """Whether all discriminators hold, and holding them means that the subject claims the message."""
        return self.message is not None and not self.marks and self.version.meaning.claim is None

    @property
    def on_request(self) -> bool:
        """Whether the version would accept the message, but only if the user declares it."""
        return self.conforms and not self.marks and self.version.meaning.claim is not None

    @property
    def conforms(self) -> bool:
        return self.version_verdict is not None and self.version_verdict.fits

    @property
    def fits(self) -> bool:
        return self.marked and self.conforms

    @property
    def errors(self) -> tuple[Finding, ...]:
        if self.version_verdict is None:
            return ()
        return tuple(finding for finding in self.version_verdict.findings if finding.severity == ERROR)

    @property
    def distance(self) -> tuple[int, int, int]:
        """How far the message is from the version: errors, then missing discriminators, then other findings."""
        findings = self.version_verdict.findings if self.version_verdict is not None else ()
        return len(self.errors), len(self.marks), len(findings)

    @property
    def why_not(self) -> str | None:
        """Why the message is not of this version: the first missing discriminator, or the first finding."""
        if self.message is None:
            return f"the value cannot be read as {self.version.meaning.transport}"
        if self.marks:
            more = f", and {len(self.marks) - 1} more" if self.marks[1:] else ""
            return f"requires that {self.marks[0]}{more}"
        if self.errors:
            first, *rest = self.errors
            more = f" (and {len(rest)} more)" if rest else ""
            at = first.path or "the message"
            return f"{first.rule} at {at}: expected {first.expected}, observed {first.observed}{more}"
        return None if self.version.meaning.claim is None else "any product may write such messages: declare it"


def weigh(value: bytes, validations: Sequence[ValidationContext], key: bytes | None = None) -> list[Candidate]:
    """Return the result of every version of some subjects for a record, in catalogue order."""
    shared = (_open(value, key, validation) for validation in validations if _reads_text(validation))
    text = next(shared, None)
    return [
        candidate
        for validation in validations
        for candidate in _weigh_subject(text if _reads_text(validation) else _open(value, key, validation), validation)
    ]


def open_validations(
    catalogue: Catalogue, reading_options: ReadingOptions, validators: dict[Version, ReferenceValidator] | None = None
) -> list[ValidationContext]:
    """Return a validation context per subject, with all its versions; they share validators, also existing ones."""
    made = {} if validators is None else validators
    return [
        ValidationContext(catalogue, tuple(catalogue.versions(subject)), reading_options, subject, made=made)
        for subject in catalogue.subjects()
    ]


def find_nearest(candidates: Sequence[Candidate]) -> Candidate | None:
    """Return the candidate with the fewest errors among those whose discriminators hold; None if there is none.

    If no discriminators hold, at least half of the required members have to be present.
    """
    marked = [one for one in candidates if one.marked]
    near = marked or [
        one
        for one in candidates
        if one.message is not None and one.version.meaning.claim is None and 2 * one.members >= 1
    ]
    return min(near, key=lambda one: (*one.distance, -one.version.number), default=None)


def is_near(value: bytes, validations: Sequence[ValidationContext]) -> bool:
    """Return whether a value resembles a message of some version, also of one that has to be declared."""
    candidates = weigh(value, validations)
    return find_nearest(candidates) is not None or any(one.message is not None and not one.marks for one in candidates)


def read_alike(candidates: Sequence[Candidate]) -> bool:
    """Return whether some candidates that fit a message all read the same from it."""
    result = [
        (one.version_verdict.changes, one.version_verdict.control)
        for one in candidates
        if one.version_verdict is not None
    ]
    return all(one == result[0] for one in result)


def _reads_text(validation: ValidationContext) -> bool:
    """Return whether a subject reads a message as its JSON text is: most do."""
    return isinstance(validation.wire, JsonTransport) and validation.wire.text_images is None


def _open(value: bytes, key: bytes | None, validation: ValidationContext) -> dict[str, Any] | None:
    try:
        return validation.wire.open(value, key)
    except Unreadable:
        return None


def _weigh_subject(message: dict[str, Any] | None, validation: ValidationContext) -> Iterator[Candidate]:
    """Yield the result of each version for a message; None if its value cannot be read."""
    for validator in validation.validators:
        if message is None:
            yield Candidate(validator, (), None, 0.0)
            continue
        present = _share_of_members(message, validator.version.schema)
        result = zip(validator.meaning.discriminators, validator.version.resolved["discriminators"], strict=True)
        marks = tuple(describe_test(words) for test, words in result if not holds(test, message))
        yield Candidate(validator, marks, message, present)


def _share_of_members(message: dict[str, Any], schema: Mapping[str, Any]) -> float:
    """Return the share of the required top-level members that are present.

    Where none is required, 1 if the schema describes at least half of those that are present, else 0.
    """
    required = schema.get("required", ())
    if required:
        return round(sum(name in message for name in required) / len(required), 2)
    return float(bool(message) and 2 * sum(name in schema.get("properties", {}) for name in message) >= len(message))
