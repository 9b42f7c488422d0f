"""Validation context of a run: its subjects, versions and reading options, and the reference validation of a record."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

from cdc_contracts.registry.core.common.errors import UsageError
from cdc_contracts.registry.core.common.json_messages import Unreadable
from cdc_contracts.registry.core.contract.catalogue import Catalogue, Version
from cdc_contracts.registry.core.contract.model import Meaning
from cdc_contracts.registry.core.contract.reading_options import ReadingOptions
from cdc_contracts.registry.core.contract.value_mappings import known_options
from cdc_contracts.registry.core.contract.version_ranges import Declaration, VersionRanges
from cdc_contracts.registry.core.message.canonical_changes import Change, Control
from cdc_contracts.registry.core.message.framed_values import open_key
from cdc_contracts.registry.core.message.null_values import NullValues
from cdc_contracts.registry.core.message.reading import Reading
from cdc_contracts.registry.core.message.schema_block_types import block_of
from cdc_contracts.registry.core.message.transport import Transport
from cdc_contracts.registry.core.validate.decoded_changes import ColumnKinds
from cdc_contracts.registry.core.validate.form_selection import TypedColumns
from cdc_contracts.registry.core.validate.reference_validator import ReferenceValidator, VersionVerdict
from cdc_contracts.registry.core.validate.verdicts import (
    AMBIGUOUS,
    CONFORMING,
    CONTROL,
    DRIFTED,
    OTHER_DIALECT,
    TOMBSTONE,
    UNREADABLE,
    Case,
    Opinion,
    Same,
    Verdict,
    decide,
    foreign,
    unreadable,
)

AUTO: Final = "auto"
"""What is declared where the contract is to be found out."""

NOT_OF_SUBJECT: Final = frozenset({UNREADABLE, OTHER_DIALECT, DRIFTED})
"""Outcomes of a record that another subject of the same topic may take."""


@dataclass(frozen=True)
class DetectedSubjects:
    """The subjects that messages of topics follow, the most frequent first, and the versions that evidence favours."""

    subjects: tuple[str, ...]
    preferences: tuple[str, ...] = ()


@dataclass(frozen=True)
class Undetected:
    """A validation context that has to be detected from the messages."""

    catalogue: Catalogue
    reading_options: ReadingOptions
    declared: str = AUTO


@dataclass(frozen=True)
class ValidatedMessage:
    """The verdict of one record, with the changes or the control message where it has them, its table and op code.

    `reading` and `columns` are the message as the version of the verdict reads it, where there is one; `kinds` are the
    canonical kinds of its columns where their types decide them. `alternatives` are an ambiguous message as each of the
    versions reads it that it may follow.
    """

    verdict: Verdict
    changes: tuple[Change, ...] = ()
    control: Control | None = None
    table: str | None = None
    code: str | None = None
    reading: Reading | None = field(default=None, compare=False, repr=False)
    columns: TypedColumns | None = field(default=None, compare=False, repr=False)
    kinds: ColumnKinds | None = field(default=None, compare=False, repr=False)
    alternatives: tuple[ValidatedMessage, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True)
class ValidationContext:
    """The versions that a record may follow (`validated`), among all versions of their subject.

    `preferences` are versions that the evidence of other records favours: they decide what is ambiguous by itself.
    `beside` are other subjects in the same topics: a record that is not of the subject is validated against the first
    of them that accepts it. `ranges` declare versions by range. Then this is the context of records that no range
    covers: they belong to no version (`left_open`), and those that would conform are ambiguous.
    """

    catalogue: Catalogue
    validated: tuple[Version, ...]
    reading_options: ReadingOptions
    declared: str
    preferences: tuple[Version, ...] = ()
    beside: tuple[str, ...] = ()
    ranges: VersionRanges | None = None
    left_open: bool = False
    in_topic: bool = False
    """Whether the subject is known to be in the topic: then it claims what its shape alone would not prove."""
    made: dict[Version, ReferenceValidator] = field(default_factory=dict, repr=False, compare=False)
    """The validators created so far; contexts of one catalogue with the same options may share them."""

    def __post_init__(self) -> None:
        if self.reading_options.options:  # mappings are only read where some are given
            mappings = map(self.catalogue.mapping, self.catalogue.mapping_names())
            self.reading_options.check_options(known_options(mappings))

    @property
    def subject(self) -> str:
        return self.validated[0].subject

    @cached_property
    def validators(self) -> tuple[ReferenceValidator, ...]:
        """One reference validator for each version of the subject, lowest version first."""
        return tuple(map(self.validator_of, self.catalogue.versions(self.subject)))

    @cached_property
    def other_subjects(self) -> tuple[ValidationContext, ...]:
        """The validation context of every other subject in the same topics."""
        return tuple(
            replace(self, validated=tuple(self.catalogue.versions(other)), beside=(), ranges=None, in_topic=True)
            for other in self.beside
        )

    @cached_property
    def declared_scopes(self) -> dict[Declaration, ValidationContext]:
        """The validation context of everything that ranges declare; their options go before those of the run."""
        found: dict[Declaration, ValidationContext] = {}
        made: dict[tuple[tuple[str, str], ...], dict[Version, ReferenceValidator]] = {(): self.made}
        for one in self.ranges.declarations if self.ranges is not None else ():
            validated = (self.catalogue.version(one.contract),)
            reading_options = self.reading_options.stating(dict(one.options))
            shared = made.setdefault(one.options, {})
            found[one] = ValidationContext(self.catalogue, validated, reading_options, one.contract, made=shared)
        return found

    def stating(self, options: Mapping[str, str]) -> ValidationContext:
        """Return the same with some options of a producer that a sample decided; the same object without any."""
        if not options:
            return self
        return replace(self, reading_options=self.reading_options.stating(options, sampled=True), made={})

    def with_table(self, name: str) -> ValidationContext:
        """Return the same with a table for messages that name none, if there are any and no option names it."""
        beside = (version for subject in self.beside for version in self.catalogue.versions(subject))
        nameless = any(version.meaning.envelope.takes_table for version in (*self.validated, *beside))
        if not nameless or self.reading_options.table is not None:
            return self
        return replace(self, reading_options=replace(self.reading_options, table=name), made={})

    def at(self, topic: str, partition: int, offset: int, timestamp: int | None) -> ValidationContext:
        """Return the context for the record at these coordinates; `timestamp` is in microseconds."""
        found = self.ranges.find(topic, partition, offset, timestamp) if self.ranges is not None else None
        return self if found is None else self.declared_scopes[found.declaration]

    @property
    def detected(self) -> DetectedSubjects:
        """The subjects that records are validated against, as a value that can be pickled."""
        return DetectedSubjects((self.subject, *self.beside), tuple(version.reference for version in self.preferences))

    @property
    def preferred(self) -> Version | None:
        """The version of the subject that decides what is ambiguous by itself, if there is one."""
        return next((version for version in self.preferences if version.subject == self.subject), None)

    @property
    def wire(self) -> Transport:
        """How messages of the subject are read from values."""
        return self.validators[-1].wire

    @property
    def transport(self) -> str:
        """Whether messages of the subject are JSON texts or Avro records."""
        return self.catalogue.versions(self.subject)[-1].meaning.transport

    @cached_property
    def others(self) -> tuple[ValidationContext, ...]:
        """The validation context of every other subject that might claim a message, in catalogue order."""
        return tuple(
            ValidationContext(
                self.catalogue, tuple(self.catalogue.versions(subject)), self.reading_options, subject, made=self.made
            )
            for subject in self.catalogue.subjects()
            if subject != self.subject
        )

    @cached_property
    def kin(self) -> tuple[ValidationContext, ...]:
        """The other subjects with the same transport as ours."""
        return tuple(validation for validation in self.others if validation.transport == self.transport)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over everything that decides outcomes: contracts, reading options, and the versions validated."""
        parts = [self.declared, self.reading_options.identity()]
        if self.preferences or self.beside:
            parts.append(f"{self.detected}")
        if self.ranges is not None:
            parts.append(self.ranges.identity)
        parts += [version.fingerprint for version in self.catalogue.versions(self.subject)]
        parts += [version.fingerprint for validation in self.others for version in validation.validated]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    @cached_property
    def reads_keys(self) -> bool:
        """Whether some version of the subject reads the keys of Kafka records."""
        return any(validator.meaning.envelope.key_place is not None for validator in self.validators)

    @cached_property
    def null_values(self) -> NullValues | None:
        """How null values are read that are deletions; None if they are tombstones."""
        envelope = self.validated[-1].meaning.envelope
        deletes = self.reading_options.deletes_by_null(envelope.op.null_means)
        if not deletes or envelope.key_place is None or not envelope.op.null_value:
            return None
        beside_block = block_of(self.validated[-1].meaning) is not None
        return NullValues(envelope.key_place, beside_block, envelope.op.at, envelope.op.null_value)

    def message_of(self, value: bytes | None, key: bytes | None) -> bytes | None:
        """Return the message of a record: its value, or what a null value stands for."""
        if self.null_values is None or key is None or not self.null_values.is_null(value):
            return value
        return self.null_values.text_of(value, open_key(key, self.reading_options.schemas, self.validated[-1].meaning))

    @cached_property
    def control_subjects(self) -> tuple[ValidationContext, ...]:
        """The validation context of every other subject whose messages without rows stand among those of ours.

        A subject that has such subjects itself is none.
        """
        named = dict.fromkeys(name for version in self.validated for name in version.meaning.control_of)
        found = {name: tuple(self.catalogue.versions(name)) for name in named if name in self.catalogue.subjects()}
        return tuple(
            ValidationContext(self.catalogue, versions, self.reading_options, name, made=self.made)
            for name, versions in found.items()
            if name not in self.beside and not any(version.meaning.control_of for version in versions)
        )

    def validate(self, value: bytes | None, key: bytes | None = None) -> ValidatedMessage:
        """Return the reference outcome of one record, with its decoded content, under any subject of the topic.

        Which subject takes it, its value alone decides.
        """
        value = self.message_of(value, key)
        validated = self.validator_by_subject(value, key)
        if validated.verdict.outcome not in NOT_OF_SUBJECT:
            return validated
        for other_subject in self.other_subjects:
            if other_subject.claims_value(value):
                return other_subject.validator_by_subject(value, key)
        for other_subject in self.control_subjects:
            if other_subject.claims_value(value):
                taken = other_subject.validator_by_subject(value, key)
                return taken if taken.verdict.outcome == CONTROL else validated
        return validated

    def validator_by_subject(self, value: bytes | None, key: bytes | None = None) -> ValidatedMessage:
        """Return the same by the first subject only."""
        if value is None:
            return ValidatedMessage(Verdict(TOMBSTONE, None, ()))
        try:
            message = self.wire.open(value, key)
        except Unreadable as error:
            return ValidatedMessage(self._unreadable(value, error))
        return self.validate_message(message, value, key)

    def validate_message(self, message: dict[str, Any], value: bytes, key: bytes | None = None) -> ValidatedMessage:
        """Return the same of a value that is parsed already."""
        version_verdicts = self.version_verdicts(message, key)
        result = {one.version: (one.changes, one.control) for one in version_verdicts}
        verdict = decide(
            self.case(
                message,
                [version_verdict.opinion for version_verdict in version_verdicts],
                same=lambda versions: all(result[version] == result[versions[0]] for version in versions),
                claimed_by=self.claimant(message, value),
            )
        )
        read = next((one for one in version_verdicts if one.version is verdict.version), version_verdicts[-1])
        table, code = read.reading.names.text, read.reading.code
        if verdict.outcome in (CONFORMING, CONTROL) and verdict.version is not None:
            return ValidatedMessage(verdict, read.changes, read.control, table, code, read.reading, read.columns)
        alternatives = tuple(
            ValidatedMessage(
                replace(verdict, version=one.version), one.changes, None, table, code, one.reading, one.columns
            )
            for one in version_verdicts
            if verdict.outcome == AMBIGUOUS and one.fits and one.version in self.validated
        )  # fmt: skip
        return ValidatedMessage(
            verdict, table=table, code=code, reading=read.reading, columns=read.columns, alternatives=alternatives
        )

    def _unreadable(self, value: bytes, error: Unreadable) -> Verdict:
        """Return the verdict of a value without a message; one of another transport may be another subject's."""
        others = [validation for validation in self.others if validation.transport != self.transport]
        claimed_by = join_claimants(validation.subject for validation in others if validation.claims_value(value))
        if claimed_by is not None:
            return foreign(self.subject, self.validated[-1], claimed_by)
        return unreadable(error.cause, error.expected or self.wire.expected, error.observed)

    def version_verdicts(self, message: dict[str, Any], key: bytes | None = None) -> list[VersionVerdict]:
        """Return the verdict of each version of the subject on a parsed message."""
        return [validator.validate(message, key) for validator in self.validators]

    def case(self, message: dict[str, Any], opinions: Sequence[Opinion], *, same: Same, claimed_by: str | None) -> Case:
        """Return everything that the outcome of a parsed message depends on."""
        return Case(
            subject=self.subject,
            op_pointer=self.validators[0].meaning.envelope.op.at,
            validated=self.validated,
            opinions=opinions,
            same=same,
            claimed_by=claimed_by,
            members=list(message),
            required=self.validated[-1].schema.get("required", []),
            preferred=self.preferred,
            left_open=self.left_open,
        )

    def claimant(self, message: dict[str, Any], value: bytes) -> str | None:
        """Return the other subjects that claim a message: their discriminators hold, ours do not, and it fits them.

        Each reads the value its own way: Avro subjects differ in what the last part of a time counts, and some subjects
        have images that are texts.
        """
        if any(validator.claims(message) for validator in self.validators):
            return None
        alike = self.transport == "json"
        return join_claimants(
            validation.subject
            for validation in self.kin
            if (
                validation.claims(message)
                if alike and validation.wire.text_images is None
                else validation.claims_value(value)
            )
        )

    def claims(self, message: dict[str, Any]) -> bool:
        """Return whether the subject's discriminators hold and the version they belong to finds no error."""
        return any(
            self.may_claim(validator.meaning) and validator.claims(message) and validator.fits(message)
            for validator in self.validators
        )

    def may_claim(self, meaning: Meaning) -> bool:
        """Return whether a message is claimed by the discriminators of a version alone."""
        return self.in_topic or meaning.claim is None

    def claims_value(self, value: bytes | None) -> bool:
        """Return the same for a value that may not be a message; its key is not known, and may hold its row."""
        images = self.wire.text_images
        try:
            return value is not None and self.claims(self.wire.open(value, images.any_key if images else None))
        except Unreadable:
            return False

    def validator_of(self, version: Version) -> ReferenceValidator:
        """Return the reference validator of any version under the reading options of the context."""
        if version not in self.made:
            self.made[version] = ReferenceValidator(version, self.reading_options)
        return self.made[version]


def join_claimants(subjects: Iterable[str]) -> str | None:
    """Return the subjects that claim a message as one text, None if there are none."""
    return ", ".join(subjects) or None


def open_validation(catalogue: Catalogue, reference: str, reading_options: ReadingOptions) -> ValidationContext:
    """Return the validation context that a reference names.

    Raises UsageError if there is no such contract, or if it has no mapping for the mode of the source.
    """
    if reading_options.deletes_by_null() and not any(
        version.meaning.envelope.op.null_value for version in catalogue.resolve(reference)
    ):
        raise UsageError(
            f"{reference} knows no deletions by a null value",
            where="parameter null_values",
            hint="Leave it out: a null value is a tombstone.",
        )
    mode = reading_options.parameters.get("source_mode")
    for version in catalogue.resolve(reference) if mode is not None else ():
        known = version.meaning.values.modes
        if known and mode not in known:
            raise UsageError(
                f"{version.reference} has no value mapping for source_mode={mode}",
                hint=f"Use {' or '.join(known)}.",
            )
    return ValidationContext(catalogue, tuple(catalogue.resolve(reference)), reading_options, reference)
